//! Dialogs over the panes. Keys go to the last one; each has its state, keys and view in one file.

pub mod card;
pub mod commit;
pub mod confirm;
pub mod diff;
pub mod draft;
pub mod evidence;
pub mod explain;
pub mod export;
pub mod find;
pub mod help;
pub mod import;
pub mod limits;
pub mod listing;
pub mod machines;
pub mod matter;
pub mod more_work;
pub mod open;
pub mod palette;
pub mod phase;
pub mod plan;
pub mod prompt;
pub mod question;
pub mod queue;
pub mod quit;
pub mod steer;
pub mod themes;
pub mod timeline;

use crate::tui::command::Scope;
use crate::tui::model::Model;
use crate::tui::theme::Theme;
use crate::tui::widgets::frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// A dialog.
pub enum Modal {
    Help(help::Help),
    /// What stands behind the gauges.
    Explain(explain::Explain),
    /// Statistics, or a report.
    Listing(listing::Listing),
    Confirm(confirm::Confirm),
    /// Words for Claude.
    Steer(steer::Steer),
    /// A new ticket.
    Draft(Box<draft::Form>),
    Open(open::Open),
    /// Every command by its name.
    Palette(palette::Palette),
    /// A changed file, line by line.
    Diff(Box<diff::Diff>),
    /// What a ticket's runs have done, to be committed.
    Commit(Box<commit::Commit>),
    /// What is at work on other machines.
    Machines(machines::Machines),
    /// Tasks to be imported.
    Import(Box<import::Import>),
    /// A run as a file.
    Export(Box<export::Export>),
    /// A search through all runs and tickets.
    Find(Box<find::Finder>),
    /// What stands behind a phase.
    Evidence(Box<evidence::Evidence>),
    /// The snapshots of a ticket.
    Timeline(Box<timeline::Timeline>),
    /// A phase's text, or why it is accepted.
    Phase(Box<phase::PhaseForm>),
    /// The limits of a run.
    Limits(limits::Limits),
    /// Leaving while something runs.
    Quit,
    Question(question::Question),
    /// Phases that an evaluator proposes.
    MoreWork(Box<more_work::MoreWork>),
    /// The draft of a ticket's phases.
    Plan(Box<plan::PlanReview>),
    /// A call of Claude's that waits.
    Card(Box<card::Card>),
    Queue(queue::Queue),
    Themes(themes::Themes),
    /// Something else that waits.
    Matter(matter::Matter),
    /// One line of text at the bottom.
    Prompt(prompt::Prompt),
}

impl Modal {
    /// Where its keys stand in the table.
    pub fn scope(&self) -> Scope {
        match self {
            Self::Help(help) if help.is_typing() => Scope::Prompt,
            Self::Help(_) | Self::Explain(_) | Self::Listing(_) => Scope::Help,
            Self::Confirm(_) => Scope::Confirm,
            Self::Steer(_) => Scope::Steer,
            Self::Draft(_) => Scope::Draft,
            Self::Open(_) => Scope::Open,
            Self::Palette(_) => Scope::Palette,
            Self::Diff(diff) => diff.scope(),
            Self::Commit(commit) => commit.scope(),
            Self::Machines(_) => Scope::Machines,
            Self::Import(import) => import.scope(),
            Self::Export(_) => Scope::Export,
            Self::Find(_) => Scope::Find,
            Self::Evidence(_) => Scope::Evidence,
            Self::Timeline(timeline) => timeline.scope(),
            Self::Phase(_) => Scope::PhaseForm,
            Self::Limits(limits) => limits.scope(),
            Self::Quit => Scope::Quit,
            Self::Question(_) => Scope::Question,
            Self::MoreWork(card) => card.scope(),
            Self::Plan(plan) => plan.scope(),
            Self::Card(card) => card.scope(),
            Self::Queue(_) => Scope::Queue,
            Self::Themes(_) => Scope::Themes,
            Self::Matter(_) => Scope::Matter,
            Self::Prompt(_) => Scope::Prompt,
        }
    }
}

/// Draws the dialog on top.
pub fn view(model: &Model, top: Option<&Modal>, theme: &Theme, screen: Rect, buf: &mut Buffer) {
    let room = frame::room(screen);
    match top {
        Some(Modal::Help(help)) => help.view(model, theme, room, buf),
        Some(Modal::Explain(explain)) => explain.view(model, theme, room, buf),
        Some(Modal::Listing(listing)) => listing.view(model, theme, room, buf),
        Some(Modal::Confirm(confirm)) => confirm.view(model, theme, room, buf),
        Some(Modal::Steer(steer)) => steer.view(model, theme, room, buf),
        Some(Modal::Draft(form)) => form.view(model, theme, room, buf),
        Some(Modal::Open(open)) => open.view(model, theme, room, buf),
        Some(Modal::Palette(palette)) => palette.view(model, theme, room, buf),
        Some(Modal::Diff(diff)) => diff.view(model, theme, room, buf),
        Some(Modal::Commit(commit)) => commit.view(model, theme, room, buf),
        Some(Modal::Machines(machines)) => machines.view(model, theme, room, buf),
        Some(Modal::Import(import)) => import.view(model, theme, room, buf),
        Some(Modal::Export(export)) => export.view(model, theme, room, buf),
        Some(Modal::Find(finder)) => finder.view(model, theme, room, buf),
        Some(Modal::Evidence(evidence)) => evidence.view(model, theme, room, buf),
        Some(Modal::Timeline(timeline)) => timeline.view(model, theme, room, buf),
        Some(Modal::Phase(form)) => form.view(model, theme, room, buf),
        Some(Modal::Limits(limits)) => limits.view(model, theme, room, buf),
        Some(Modal::Quit) => quit::view(model, theme, room, buf),
        Some(Modal::Question(question)) => question.view(model, theme, room, buf),
        Some(Modal::MoreWork(card)) => card.view(model, theme, room, buf),
        Some(Modal::Plan(plan)) => plan.view(model, theme, room, buf),
        Some(Modal::Card(card)) => card.view(model, theme, frame::sheet(screen), buf),
        Some(Modal::Queue(queue)) => queue.view(model, theme, room, buf),
        Some(Modal::Themes(themes)) => themes.view(model, theme, room, buf),
        Some(Modal::Matter(matter)) => matter.view(model, theme, room, buf),
        Some(Modal::Prompt(_)) | None => {}
    }
}
