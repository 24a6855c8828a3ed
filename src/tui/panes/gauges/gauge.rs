//! One number with its limit.

use crate::tui::marks::Glyphs;
use crate::tui::theme::role::Role;
use crate::tui::widgets::bar::bar;

/// Cells of a bar.
pub(super) const BAR: usize = 8;

/// One number.
pub(super) struct Gauge {
    pub(super) label: &'static str,
    /// The word in the one-line form.
    pub(super) brief: &'static str,
    pub(super) picture: (String, String),
    /// How full the picture's bar is; `None`: the picture is no bar.
    pub(super) share: Option<f64>,
    pub(super) value: String,
    pub(super) role: Role,
    /// What the role says, for those who do not see colours.
    pub(super) word: &'static str,
}

impl Gauge {
    pub(super) fn new(label: &'static str, brief: &'static str, value: String) -> Self {
        Self {
            label,
            brief,
            picture: (String::new(), String::new()),
            share: None,
            value,
            role: Role::GaugeFill,
            word: "",
        }
    }

    pub(super) fn share(mut self, glyphs: Glyphs, share: f64, warn: f64, danger: f64) -> Self {
        self.role = role_of(share, warn, danger);
        self.filled(glyphs, share)
    }

    pub(super) fn filled(mut self, glyphs: Glyphs, share: f64) -> Self {
        self.picture = bar(glyphs, share, BAR);
        self.share = Some(share);
        self
    }

    /// Value and word in one: `91 % high`, `blocked until 04:07`.
    pub(super) fn told(&self) -> String {
        match (self.word, self.value.starts_with(char::is_alphabetic)) {
            ("", _) => self.value.clone(),
            (word, true) => format!("{word} {}", self.value),
            (word, false) => format!("{} {word}", self.value),
        }
    }

    /// It wants to be looked at.
    pub(super) fn warns(&self) -> bool {
        matches!(self.role, Role::GaugeWarning | Role::GaugeDanger)
    }

    /// Says the role as a word too.
    pub(super) fn in_words(mut self) -> Self {
        self.word = match self.role {
            Role::GaugeWarning => "high",
            Role::GaugeDanger => "tight",
            _ => "",
        };
        self
    }
}

pub(super) fn role_of(share: f64, warn: f64, danger: f64) -> Role {
    if share >= danger {
        Role::GaugeDanger
    } else if share >= warn {
        Role::GaugeWarning
    } else {
        Role::GaugeFill
    }
}
