//! Every way between the parts of the program: what goes through it, how much it holds, and what happens when it is full.

use crate::base::id::RunId;
use crate::domain::news::News;
use crate::domain::ticket::TicketKey;

/// World → ticket task ([`Input`](crate::orchestrator::input::Input)s). Full: the sender waits; facts must not
/// be lost, and their sources can wait.
pub const INPUTS: usize = 256;

/// Agent → translation ([`AgentEvent`](crate::adapters::agent::AgentEvent)s). Full: the agent's own task waits; the
/// drain of stdout never does. Stream text does not go this way.
pub const AGENT_EVENTS: usize = 256;

/// Runs → each front end ([`News`]), by its own [subscription](crate::runtime::reporter::Subscription). Full: see
/// [`kept`]. Nobody waits for a front end, and none for another.
pub const NEWS: usize = 1_024;

/// Front ends → service ([`Request`](crate::domain::request::Request)s). Full: the screen says so; a person does not type
/// that fast.
pub const ASKS: usize = 64;

/// File watch → follower of a ticket, or of the rules. Full: dropped; the reader reads the whole file anyway.
pub const CHANGES: usize = 4;

/// What becomes of a piece of news that a front end has not taken yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept<'a> {
    /// Nothing is lost: the store has it. Full: the front end is given the whole run again, read from there when it comes
    /// for it.
    Stored(RunId),
    /// Nothing is lost: it is kept even where there is no room. There is one for each run or start at most.
    Always,
    /// The latest only: a later one about the same takes its place.
    Latest(About<'a>),
    /// Full: it is dropped. The log has it.
    IfRoom,
}

/// What the latest of several pieces of news is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About<'a> {
    Ticket(&'a TicketKey),
    /// Why it waits to be started.
    Queue(&'a TicketKey),
    /// How a run stands.
    Run(RunId),
    Archived,
    Unread,
    Own,
    Branch,
    Spent,
    /// Whether a run can store.
    Storage(RunId),
    /// What Claude prints in a run.
    Stream(RunId),
}

pub fn kept(news: &News) -> Kept<'_> {
    match news {
        News::RunOpened { run, .. } => Kept::Stored(*run),
        News::Recorded(stored) => Kept::Stored(stored.run),
        News::RunLeft(_) | News::NotStarted(_) => Kept::Always,
        News::TicketRead(ticket, _) | News::TicketGone(ticket) => Kept::Latest(About::Ticket(ticket)),
        News::Queued(ticket, _) => Kept::Latest(About::Queue(ticket)),
        News::RunSeen(run) => Kept::Latest(About::Run(run.run)),
        News::ArchivedSeen(_) => Kept::Latest(About::Archived),
        News::UnreadSeen(_) => Kept::Latest(About::Unread),
        News::OwnSeen(_) => Kept::Latest(About::Own),
        News::BranchSeen(_) => Kept::Latest(About::Branch),
        News::SpentToday(_) => Kept::Latest(About::Spent),
        News::StorageAwaited(waiting) => Kept::Latest(About::Storage(waiting.run)),
        News::StreamGrew(run) => Kept::Latest(About::Stream(*run)),
        News::Trouble { .. } | News::SourceReplied { .. } => Kept::IfRoom,
    }
}
