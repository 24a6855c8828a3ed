//! Styles by role. The only place of the screen that knows colours.
//!
//! Themes are YAML (`themes/*.yaml`, embedded; a person's own are handed in as text). Reading one
//! never fails whole: what cannot be understood is a [`ThemeProblem`] with its line. What a terminal cannot show is
//! replaced here, role by role.

pub mod colour;
pub mod load;
pub mod looks;
pub mod role;
pub mod surface;

pub use load::ThemeProblem;

use colour::{LEGIBLE, Rgb, contrast, indexed, rgb, tinted};
use ratatui::style::{Color, Modifier, Style};
use role::Role;
use surface::{Depth, Surface};

/// A resolved theme: one style a role. The default has the terminal's own colours.
#[derive(Clone, Debug)]
pub struct Theme {
    styles: [Style; Role::ALL.len()],
}

impl Default for Theme {
    fn default() -> Self {
        Self { styles: [Style::new(); Role::ALL.len()] }
    }
}

impl Theme {
    /// Every role in the terminal's own colours.
    pub fn plain() -> Self {
        Self::default()
    }

    pub fn style(&self, role: Role) -> Style {
        self.styles[role as usize]
    }

    /// The same with one role to be told from all others.
    #[must_use]
    pub fn marked(&self, role: Role, mark: Modifier) -> Self {
        let mut theme = self.clone();
        theme.styles[role as usize] = theme.style(role).add_modifier(mark);
        theme
    }

    /// Reads the theme `name`: one of `own` (name and YAML), else an embedded one, as this terminal can show it.
    pub fn load(name: &str, own: &[(String, String)], surface: Surface) -> (Self, Vec<ThemeProblem>) {
        let name = if surface.depth == Depth::None { load::MONO } else { name };
        let found = load::resolve(name, own, surface);
        let mut theme = Self { styles: found.styles };
        if found.follows
            && let Some(background) = surface.background
        {
            theme.lay_on(background);
        }
        match surface.depth {
            Depth::True => {}
            Depth::Indexed => {
                for style in &mut theme.styles {
                    (style.fg, style.bg) = (style.fg.map(nearest), style.bg.map(nearest));
                }
            }
            Depth::Sixteen | Depth::None => theme.take_sixteen(surface),
        }
        (theme, found.problems)
    }

    /// Leaves the terminal its own background, if all that stands on it can be read.
    fn lay_on(&mut self, background: Rgb) {
        let text = self.style(Role::Text);
        let (Some(painted), Some(letters)) = (text.bg, text.fg.and_then(rgb)) else { return };
        let own_selected = self.style(Role::Selection).bg;
        let selected = tinted(background, letters);
        let legible = Role::ALL.iter().filter(|role| !role.is_line()).all(|role| {
            let style = self.style(*role);
            let on_it = style.bg.is_none_or(|bg| bg == painted);
            let letters = style.fg.and_then(rgb).filter(|_| on_it);
            letters.is_none_or(|fg| contrast(fg, background).min(contrast(fg, selected)) >= LEGIBLE)
        });
        if !legible {
            return;
        }
        for style in &mut self.styles {
            if style.bg == Some(painted) {
                style.bg = None;
            } else if style.bg.is_some() && style.bg == own_selected {
                style.bg = Some(Color::Rgb(selected[0], selected[1], selected[2]));
            }
        }
    }

    /// A style with a colour beyond the sixteen is that of the role in the theme for sixteen.
    fn take_sixteen(&mut self, surface: Surface) {
        let beyond = |colour: Option<Color>| colour.is_some_and(|colour| rgb(colour).is_some());
        for (style, instead) in self.styles.iter_mut().zip(load::resolve(load::ANSI, &[], surface).styles) {
            if beyond(style.fg) || beyond(style.bg) {
                *style = instead;
            }
        }
    }
}

fn nearest(colour: Color) -> Color {
    match colour {
        Color::Rgb(r, g, b) => Color::Indexed(indexed([r, g, b])),
        other => other,
    }
}
