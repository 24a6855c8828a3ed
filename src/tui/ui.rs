//! The whole screen: what is shared, the panes with what is theirs, and the dialogs over them. Changed by
//! `tui::update` alone, drawn by `tui::view`.

use crate::base::id::RunId;
use crate::base::time::Timestamp;
use crate::domain::syntax::{Snippet, Spans};
use crate::domain::ticket::TicketKey;
use crate::tui::command::{Command, Scope, hints_that_act};
use crate::tui::layout::{self, Layout};
use crate::tui::modals::Modal;
use crate::tui::modals::find::Finder;
use crate::tui::modals::prompt::Prompt;
use crate::tui::model::Model;
use crate::tui::msg::Ask;
use crate::tui::pane::Pane;
use crate::tui::panes::stream::StreamMsg;
use crate::tui::panes::{PANES, ending};
use crate::tui::tab::Tab;
use crate::tui::theme::looks::Looks;
use crate::tui::unsent::Unsent;
use crate::tui::widgets::frame::{inside, room, sheet};
use jiff::tz::TimeZone;
use ratatui::layout::Rect;
use std::ops::{Deref, DerefMut};

/// A run that is opened at a place of its stream, if at one.
pub struct Landing {
    pub run: RunId,
    pub to: Option<StreamMsg>,
}

/// The screen's state.
pub struct Ui {
    /// What panes and dialogs share.
    pub model: Model,
    /// The panes by their names, in the order of the table.
    pub panes: Vec<(&'static str, Box<dyn Pane>)>,
    /// Dialogs over the panes; keys go to the last.
    pub modals: Vec<Modal>,
    pub looks: Looks,
    pub unsent: Unsent,
    /// The search through all runs and tickets, while it is not shown.
    pub finder: Finder,
    /// Where the person goes as soon as that run is told.
    pub landing: Option<Landing>,
    /// Its boxes were unticked for a start of which nothing is known yet.
    pub reopened: Option<TicketKey>,
}

impl Deref for Ui {
    type Target = Model;

    fn deref(&self) -> &Model {
        &self.model
    }
}

impl DerefMut for Ui {
    fn deref_mut(&mut self) -> &mut Model {
        &mut self.model
    }
}

impl Ui {
    /// An empty screen.
    pub fn new(now: Timestamp, zone: TimeZone) -> Self {
        let panes = PANES.iter().map(|pane| (pane.name, (pane.new)())).collect();
        Self {
            model: Model::new(now, zone),
            panes,
            modals: Vec::new(),
            looks: Looks::default(),
            unsent: Unsent::default(),
            finder: Finder::default(),
            landing: None,
            reopened: None,
        }
    }

    /// Solves the layout and lets panes and dialogs get ready for it. Before every `view`.
    pub fn prepare(&mut self) -> Layout {
        let is_over = self.model.tab().is_some_and(Tab::is_over);
        // What goes on from the end of another machine's run is begun there.
        let goes_on = is_over && self.model.host.is_none();
        self.model.card_keys =
            if goes_on { hints_that_act(&self.model, Scope::Global, &ending::keys(&self.model)) } else { Vec::new() };
        let place = self.sheet();
        self.model.sheet = match self.modals.last_mut() {
            Some(Modal::Card(card)) => {
                card.lay_out_with_keys(&self.model, place);
                Some(card.area(place).y)
            }
            _ => None,
        };
        self.model.syntax.begin();
        match self.modals.last() {
            Some(Modal::Diff(diff)) => {
                let room = self.room();
                self.model.syntax.see(diff.code(room));
            }
            Some(Modal::Card(card)) => self.model.syntax.see(card.code(place)),
            _ => {}
        }
        let layout = layout::solve(self.model.size, &self.model);
        for (name, pane) in &mut self.panes {
            if let Some(place) = layout.of(name) {
                let place = if pane.is_framed() { inside(place) } else { place };
                pane.prepare(&mut self.model, place);
            }
        }
        layout
    }

    /// [Prepares](Self::prepare) until all code that is seen has its colours: for pictures, which are drawn once.
    pub fn prepare_whole(&mut self, colour: impl Fn(&Snippet) -> Spans) -> Layout {
        loop {
            let layout = self.prepare();
            let Some(wanted) = self.model.syntax.ask().filter(|wanted| !wanted.is_empty()) else { return layout };
            for snippet in wanted {
                let spans = colour(&snippet);
                self.model.syntax.tell(snippet, spans);
            }
        }
    }

    /// Lets the pane with the focus do what a key means.
    pub fn act(&mut self, command: Command) -> Vec<Ask> {
        let place = layout::solve(self.model.size, &self.model).of(self.model.focus);
        let height = place.map_or(0, |place| usize::from(place.height.saturating_sub(2)));
        let focus = self.model.focus;
        let pane = self.panes.iter_mut().find(|(name, _)| *name == focus);
        pane.map_or_else(Vec::new, |(_, pane)| pane.act(&mut self.model, command, height))
    }

    pub fn focused(&self) -> Option<&dyn Pane> {
        self.panes.iter().find(|(name, _)| *name == self.model.focus).map(|(_, pane)| pane.as_ref())
    }

    /// Lines are selected in the pane with the focus.
    pub fn selects(&self) -> bool {
        self.focused().is_some_and(|pane| pane.selects(self))
    }

    /// The pane with the focus hears what was typed at the bottom.
    pub fn typed(&mut self, text: &str) {
        let focus = self.model.focus;
        if let Some((_, pane)) = self.panes.iter_mut().find(|(name, _)| *name == focus) {
            pane.typed(&mut self.model, text);
        }
    }

    /// The line of text at the bottom, when it is the dialog on top.
    pub fn prompt(&self) -> Option<&Prompt> {
        match self.modals.last() {
            Some(Modal::Prompt(prompt)) => Some(prompt),
            _ => None,
        }
    }

    /// The place for what lies at the bottom, under Claude's last words.
    pub fn sheet(&self) -> Rect {
        sheet(Rect::new(0, 0, self.model.size.0, self.model.size.1))
    }

    /// The place for dialogs.
    pub fn room(&self) -> Rect {
        room(Rect::new(0, 0, self.model.size.0, self.model.size.1))
    }
}
