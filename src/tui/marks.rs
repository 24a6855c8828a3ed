//! The glyphs of the screen, in two sets, and the standing of phases as glyph, word and role.
//!
//! Does not own the standing of whole tickets: that is `tui::tab`.

use crate::domain::breaker::Circuit;
use crate::domain::outcome::DoneHow;
use crate::domain::phase::Mark;
use crate::tui::theme::role::Role;

/// Which characters the screen may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Glyphs {
    /// Box drawing, blocks and symbols that are one cell wide.
    #[default]
    Unicode,
    /// Nothing above 0x7e.
    Ascii,
}

/// A standing as it is shown: never by colour alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sign {
    pub glyph: &'static str,
    pub word: &'static str,
    pub role: Role,
}

impl Glyphs {
    /// The one of two forms that this set has.
    pub fn pick(self, unicode: &'static str, ascii: &'static str) -> &'static str {
        match self {
            Self::Unicode => unicode,
            Self::Ascii => ascii,
        }
    }

    /// A phase's standing.
    pub fn phase(self, mark: Mark) -> Sign {
        let (unicode, ascii, word, role) = match mark {
            Mark::Pending => ("○", ".", "pending", Role::PhasePending),
            Mark::Running => ("▶", ">", "running", Role::PhaseRunning),
            Mark::Claimed => ("◐", "~", "claimed", Role::PhaseClaimed),
            Mark::Checked(_) => ("◑", "c", "in review", Role::PhaseClaimed),
            Mark::Rejected => ("✎", "f", "to be fixed", Role::PhaseDisputed),
            Mark::Done(DoneHow::Verified) => ("✓", "v", "verified", Role::PhaseDone),
            Mark::Done(DoneHow::Approved) => ("✓", "v", "approved", Role::PhaseDone),
            Mark::Done(DoneHow::TickedByPerson) => ("✓", "v", "done", Role::PhaseDone),
            Mark::Done(DoneHow::ClaimedUnchecked) => ("?", "?", "not verified", Role::PhaseUnchecked),
            Mark::Done(DoneHow::ClaimedNoChange) => ("✓", "v", "no change", Role::PhaseUnchecked),
            Mark::Disputed => ("≠", "=", "disputed", Role::PhaseDisputed),
            Mark::Skipped => ("↷", "s", "skipped", Role::PhaseSkipped),
            Mark::Blocked => ("■", "#", "blocked", Role::PhaseBlocked),
        };
        Sign { glyph: self.pick(unicode, ascii), word, role }
    }

    /// That of one that counts as done, and whose work a restore has taken back.
    pub fn taken_back(self) -> Sign {
        Sign { glyph: self.pick("↶", "<"), word: "taken back", role: Role::Warning }
    }

    /// The circuit breaker's lamp: glyph and word, and their role.
    pub fn lamp(self, circuit: Circuit) -> (String, Role) {
        let (glyph, role) = match circuit {
            Circuit::Closed => (self.pick("●", "*"), Role::GaugeFill),
            Circuit::HalfOpen => (self.pick("◐", "~"), Role::GaugeWarning),
            Circuit::Open => (self.pick("○", "o"), Role::GaugeDanger),
        };
        (format!("{glyph} {}", circuit.told()), role)
    }

    /// A nested checkbox.
    pub fn task(self, done: bool) -> &'static str {
        if done { self.pick("☑", "x") } else { self.pick("☐", "-") }
    }
}

/// What a symbol of ours is where nothing above 0x7e may be drawn; `None` for what stays (also the words of others, in
/// whatever script they are).
pub fn ascii(symbol: &str) -> Option<&'static str> {
    Some(match symbol {
        "─" | "−" | "–" | "—" | "·" | "☐" | "▾" => "-",
        "“" | "”" => "\"",
        "’" => "'",
        "…" | "◐" | "≈" => "~",
        "●" | "•" => "*",
        "│" | "▎" => "|",
        "◷" => "t",
        "▸" | "›" | "↳" | "▶" | "→" => ">",
        "←" | "↶" => "<",
        "↑" | "⇧" => "^",
        "✓" | "↓" => "v",
        "◑" => "c",
        "✎" => "f",
        "✗" | "×" | "☑" => "x",
        "≠" => "=",
        "↷" => "s",
        "■" => "#",
        "█" => "_",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use unicode_width::UnicodeWidthStr;

    #[test]
    fn every_mark_is_one_cell_in_both_sets() {
        for mark in [
            Mark::Pending,
            Mark::Running,
            Mark::Claimed,
            Mark::Done(DoneHow::Verified),
            Mark::Done(DoneHow::ClaimedUnchecked),
            Mark::Disputed,
            Mark::Skipped,
            Mark::Blocked,
        ] {
            assert_eq!(Glyphs::Unicode.phase(mark).glyph.width(), 1, "{mark:?}");
            let ascii = Glyphs::Ascii.phase(mark).glyph;
            assert!(ascii.len() == 1 && ascii.is_ascii(), "{mark:?}");
        }
    }
}
