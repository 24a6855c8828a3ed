//! Styles by role. The only place of the screen that knows colours.

pub mod role;

use ratatui::style::Style;
use role::Role;

/// A resolved theme: one style a role.
#[derive(Clone, Debug)]
pub struct Theme {
    styles: [Style; Role::ALL.len()],
}

impl Theme {
    /// Every role in the terminal's own colours.
    pub fn plain() -> Self {
        Self {
            styles: [Style::new(); Role::ALL.len()],
        }
    }

    /// The style of a role.
    pub fn style(&self, role: Role) -> Style {
        self.styles[role as usize]
    }
}
