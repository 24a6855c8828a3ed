//! Styles by role. The only place of the screen that knows colours.
//!
//! Themes are YAML (`themes/*.yaml`, embedded; a person's own are handed in as text). Reading one
//! never fails whole: what cannot be understood is a [`ThemeProblem`] with its line.

pub mod load;
pub mod role;

pub use load::ThemeProblem;

use ratatui::style::Style;
use role::Role;

/// A resolved theme: one style a role.
#[derive(Clone, Debug)]
pub struct Theme {
    styles: [Style; Role::ALL.len()],
}

/// The theme without colours, for `NO_COLOR`.
pub const MONO: &str = "mono";

impl Theme {
    /// Every role in the terminal's own colours.
    pub fn plain() -> Self {
        Self { styles: [Style::new(); Role::ALL.len()] }
    }

    pub fn style(&self, role: Role) -> Style {
        self.styles[role as usize]
    }

    /// Reads the theme `name`: one of `own` (name and YAML), else an embedded one. `no_color` is the
    /// value of the environment's `NO_COLOR`; set and not empty, it gives the mono theme.
    pub fn load(name: &str, own: &[(String, String)], no_color: Option<&str>) -> (Self, Vec<ThemeProblem>) {
        let name = match no_color {
            Some(value) if !value.is_empty() => MONO,
            _ => name,
        };
        let (found, problems) = load::resolve(name, own);
        let mut theme = Self::plain();
        for (role, style) in found {
            theme.styles[role as usize] = style;
        }
        (theme, problems)
    }
}
