//! The theme that is shown, and what it is made of: a name, the person's own themes, and the terminal.

use super::colour::Rgb;
use super::surface::Surface;
use super::{Theme, ThemeProblem, load};

/// The theme in use. The default is without colours, until there is a terminal.
#[derive(Clone, Debug, Default)]
pub struct Looks {
    name: String,
    own: Vec<(String, String)>,
    surface: Option<Surface>,
    pub theme: Theme,
}

impl Looks {
    /// The theme `name`, of `own` (name and YAML) or built in, on this terminal.
    pub fn new(name: &str, own: Vec<(String, String)>, surface: Surface) -> (Self, Vec<ThemeProblem>) {
        let mut looks = Self { name: name.to_owned(), own, surface: Some(surface), theme: Theme::default() };
        let problems = looks.resolve();
        (looks, problems)
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Every name that can be shown.
    pub fn names(&self) -> Vec<String> {
        load::names(&self.own)
    }

    /// The terminal can be asked for its background.
    pub fn asks(&self) -> bool {
        self.surface.is_some_and(|surface| surface.answers)
    }

    pub fn show(&mut self, name: &str) -> Vec<ThemeProblem> {
        name.clone_into(&mut self.name);
        self.resolve()
    }

    /// The person's themes are these now. With a problem in the one that is shown, it stays as it was.
    pub fn reload(&mut self, own: Vec<(String, String)>) -> Vec<ThemeProblem> {
        self.own = own;
        let before = self.theme.clone();
        let problems = self.resolve();
        if !problems.is_empty() {
            self.theme = before;
        }
        problems
    }

    /// The terminal answered.
    pub fn on(&mut self, background: Rgb) {
        if let Some(surface) = &mut self.surface {
            surface.background = Some(background);
            self.resolve();
        }
    }

    fn resolve(&mut self) -> Vec<ThemeProblem> {
        let Some(surface) = self.surface else { return Vec::new() };
        let (theme, problems) = Theme::load(&self.name, &self.own, surface);
        self.theme = theme;
        problems
    }
}

#[cfg(test)]
mod tests {
    use super::super::role::Role;
    use super::super::surface::Depth;
    use super::*;

    #[test]
    fn the_answer_of_the_terminal_changes_what_is_shown() {
        let surface = Surface { depth: Depth::True, background: None, answers: true };
        let (mut looks, problems) = Looks::new("auto", Vec::new(), surface);
        assert_eq!(problems, []);
        let ansi = looks.theme.style(Role::Accent);
        let shown = [[0x10; 3], [0xff; 3]].map(|background| {
            looks.on(background);
            looks.theme.style(Role::Accent)
        });
        assert!(shown[0] != shown[1] && !shown.contains(&ansi), "{shown:?}");
    }
}
