//! How a ticket stands: the words and signs of its tab.

use crate::domain::phase::Mark;
use crate::tui::marks::{Glyphs, Sign};
use crate::tui::theme::role::Role;

/// How a ticket stands, for its tab, its line in the tree and the footer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TabStatus {
    NotStarted,
    /// Another run works in the folder.
    Waiting,
    /// Nothing can be stored, and the run waits for that.
    Unstored,
    /// Claude works, or we do.
    Running,
    Checking,
    /// Runs until the end of the iteration.
    Pausing,
    /// The same; then the run ends.
    Stopping,
    /// Waits for a limit; goes on by itself.
    Parked,
    /// Waits for the person to go on.
    Paused,
    /// A chat waits for the person's next message.
    YourTurn,
    /// Something waits for the person's answer.
    NeedsYou,
    /// Ended, not by the person: a guard, a limit, an error.
    Halted,
    Complete,
    /// Complete, and part of it by Claude's word alone.
    Unverified,
    Stopped,
    Gone,
}

impl TabStatus {
    /// A phase of a run that stands so: one that waits for the person does not run, and at its end nobody reviews.
    pub fn of_phase(self, mark: Mark, glyphs: Glyphs) -> Sign {
        match (mark, self) {
            (Mark::Running, Self::NeedsYou) => self.sign(glyphs),
            (Mark::Checked(_), Self::Halted | Self::Stopped) => Sign { word: "not reviewed", ..glyphs.phase(mark) },
            _ => glyphs.phase(mark),
        }
    }

    /// Glyph, word and role.
    pub fn sign(self, glyphs: Glyphs) -> Sign {
        let (unicode, ascii, word, role) = match self {
            Self::NotStarted => ("○", ".", "ready", Role::PhasePending),
            Self::Waiting => ("⊘", "-", "queued", Role::PhasePending),
            Self::Unstored => ("⊘", "x", "no storage", Role::Danger),
            Self::Running => ("▶", ">", "running", Role::PhaseRunning),
            Self::Checking => ("◐", "~", "checking", Role::PhaseClaimed),
            Self::Pausing => ("▶", ">", "pausing", Role::PhaseRunning),
            Self::Stopping => ("▶", ">", "stopping", Role::PhaseRunning),
            Self::Parked => ("◷", "t", "parked", Role::Warning),
            Self::Paused => ("‖", "p", "paused", Role::Warning),
            Self::YourTurn => ("○", ".", "your turn", Role::PhasePending),
            Self::NeedsYou => ("!", "!", "needs you", Role::TabAttention),
            Self::Halted => ("!", "!", "stopped", Role::TabAttention),
            Self::Complete => ("✓", "v", "done", Role::PhaseDone),
            Self::Unverified => ("?", "?", "done, not verified", Role::Warning),
            Self::Stopped => ("■", "#", "stopped", Role::Dim),
            Self::Gone => ("⊘", "x", "file gone", Role::Danger),
        };
        Sign { glyph: glyphs.pick(unicode, ascii), word, role }
    }
}
