//! What Home remembers: where its cursor is and what is left out. Shared, for the ticket under the cursor is the one that
//! the keys of the whole screen mean while Home is shown.

use crate::base::time::Timestamp;
use crate::domain::finding::Finding;
use crate::domain::ticket::TicketKey;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The pane's name.
pub const NAME: &str = "home";

/// By what tickets are sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// Who waits longest is first.
    Attention,
    Age,
    Cost,
    Title,
    Progress,
}

impl Sort {
    /// The next way.
    #[must_use]
    pub fn next(self) -> Self {
        match self {
            Self::Attention => Self::Age,
            Self::Age => Self::Cost,
            Self::Cost => Self::Title,
            Self::Title => Self::Progress,
            Self::Progress => Self::Attention,
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::Attention => "attention",
            Self::Age => "age",
            Self::Cost => "cost",
            Self::Title => "title",
            Self::Progress => "progress",
        }
    }
}

/// Which tickets are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shows {
    /// All but those that are archived.
    Table,
    Archive,
}

/// What is known of the place that is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Tickets and runs are being told.
    Reading,
    /// Every ticket and run has been told.
    Listed,
    /// There was no ticket: what a first run would fail for.
    Checked(Vec<Finding>),
}

/// Whether some row says how old something is, so that it must be drawn again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ages {
    Told,
    None,
}

/// Home's own state.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each is a thing of its own")]
pub struct Home {
    /// The selected ticket; `None`: there is no row.
    pub cursor: Option<TicketKey>,
    /// The person chose it; else it is the first row, whichever that is.
    pub is_chosen: bool,
    /// Since when Home is shown.
    pub shown: Timestamp,
    /// Only rows with these words are shown.
    pub filter: String,
    /// Runs of other directories are shown too.
    pub everywhere: bool,
    /// The project has validation commands of its own, which are ignored: nobody trusts it.
    pub ignores_checks: bool,
    /// The preview has most of the screen.
    pub peeks: bool,
    /// How many tickets each group of the table has.
    pub counts: [usize; 5],
    /// By what the tickets of a group are sorted.
    pub sort: Sort,
    /// Those that the person has selected, for what is done with several at once.
    pub marked: BTreeSet<TicketKey>,
    /// What is known of the place itself.
    pub place: Place,
    /// The archive is shown, or all else.
    pub shows: Shows,
    /// The ticket files that are archived.
    pub archived: Arc<BTreeSet<String>>,
    /// Those that were archived last, to be taken back.
    pub undo: Vec<TicketKey>,
    /// Files of the tickets folder that cannot be read, and why.
    pub unread: Arc<BTreeMap<String, String>>,
    /// What the rows that are seen say of ages.
    pub ages: Ages,
}

impl Home {
    /// Home as it is at the start.
    pub fn new(now: Timestamp) -> Self {
        Self {
            cursor: None,
            is_chosen: false,
            shown: now,
            filter: String::new(),
            everywhere: false,
            ignores_checks: false,
            peeks: false,
            counts: [0; 5],
            sort: Sort::Attention,
            marked: BTreeSet::new(),
            place: Place::Reading,
            shows: Shows::Table,
            archived: Arc::default(),
            undo: Vec::new(),
            unread: Arc::default(),
            ages: Ages::None,
        }
    }
}
