//! What the person does with phases: their evidence, edits of the ticket's text, ticks, skips, and taking that back. The
//! ticket's file is the truth: every edit is asked of the service, which plans it on the file as it is.

use crate::base::text::clean_line;
use crate::domain::messages::Weight;
use crate::domain::phase::{Mark, PhaseId};
use crate::domain::record::TicketRevised;
use crate::domain::request::{BoxOf, BoxOutcome, PhasesEdit, Request};
use crate::domain::ticket::TicketKey;
use crate::domain::ticket::revise::{Direction, PhasePlace, TicketEdit};
use crate::tui::command::Command;
use crate::tui::modals::Modal;
use crate::tui::modals::evidence::{Evidence, Outcome};
use crate::tui::modals::phase::{PhaseForm, Purpose};
use crate::tui::msg::Ask;
use crate::tui::panes::stream::{self, StreamMsg};
use crate::tui::tab::{Step, Tab};
use crate::tui::ui::Ui;
use std::path::PathBuf;

const AT_WORK: &str = "Claude is working on it: the new text applies from the next iteration.";

/// Shows what stands behind the chosen phase.
pub(super) fn show(ui: &mut Ui) -> Vec<Ask> {
    let Some((tab, line)) = ui.chosen_phase() else { return Vec::new() };
    let (dialog, ask) = Evidence::open(tab, line.id);
    ui.modals.push(Modal::Evidence(Box::new(dialog)));
    ask.into_iter().collect()
}

/// A key of that dialog.
pub(super) fn evidence_key(ui: &mut Ui, mut dialog: Box<Evidence>, command: Option<Command>, lines: i32) -> Vec<Ask> {
    let room = ui.room();
    match dialog.key(&ui.model, command, lines, room) {
        Outcome::Stays => ui.modals.push(Modal::Evidence(dialog)),
        Outcome::Closes => {}
        Outcome::Shows(diff, ask) => {
            ui.modals.extend([Modal::Evidence(dialog), Modal::Diff(diff)]);
            return vec![ask];
        }
        Outcome::Jumps(n) => {
            ui.focus = stream::NAME;
            if let Some(tab) = ui.model.tabs.iter_mut().find(|tab| tab.id == dialog.ticket) {
                tab.stream.update(StreamMsg::Iteration(n));
            }
        }
    }
    Vec::new()
}

/// A command of the Tickets pane about the chosen phase.
pub(super) fn run(ui: &mut Ui, word: &str) -> Vec<Ask> {
    let Some(tab) = ui.tab() else { return Vec::new() };
    let ticket = tab.id.clone();
    let chosen = ui.chosen_phase().map(|(_, line)| (line.place(), line.mark));
    let purpose = match word {
        "add" => Purpose::Add,
        "rename" => Purpose::Rename,
        "split" => Purpose::Split,
        "accept" => Purpose::Accept,
        _ => {
            let Some((phase, _)) = chosen else { return Vec::new() };
            let edit = match word {
                "up" => PhasesEdit::Text(TicketEdit::Move { phase, to: Direction::Up }),
                "down" => PhasesEdit::Text(TicketEdit::Move { phase, to: Direction::Down }),
                _ => return vec![set_box(&ticket, BoxOf { text: phase.text, nth: phase.nth, done: word == "done" })],
            };
            return vec![edited_as(&ticket, edit)];
        }
    };
    let is_running = matches!(chosen, Some((_, Mark::Running | Mark::Claimed)));
    let remark = match purpose {
        Purpose::Rename | Purpose::Split if is_running => AT_WORK,
        Purpose::Accept if is_running => "The current iteration is interrupted; its changes are kept.",
        _ => "",
    };
    let form = PhaseForm::new(purpose, ticket, chosen.map(|(place, _)| place), remark);
    ui.modals.push(Modal::Phase(Box::new(form)));
    Vec::new()
}

/// Asks why a phase of this ticket is accepted.
pub(super) fn accept(ui: &mut Ui, ticket: &TicketKey, phase: PhaseId) {
    let Some(tab) = ui.tab_of(ticket) else { return };
    let Some(line) = tab.phases(false).into_iter().find(|line| line.id == phase) else { return };
    let form = PhaseForm::new(Purpose::Accept, ticket.clone(), Some(line.place()), "");
    ui.modals.push(Modal::Phase(Box::new(form)));
}

/// Leaves a phase out of the next run, where no run is open.
pub(super) fn skip(ticket: &TicketKey, text: &str, nth: usize) -> Ask {
    let phase = PhasePlace { text: text.to_owned(), nth };
    edited_as(ticket, PhasesEdit::Skip(phase))
}

fn edited_as(ticket: &TicketKey, edit: PhasesEdit) -> Ask {
    Ask::Request(Request::EditPhases(PathBuf::from(ticket.file()), edit))
}

fn set_box(ticket: &TicketKey, wanted: BoxOf) -> Ask {
    Ask::Request(Request::SetBox(PathBuf::from(ticket.file()), wanted))
}

/// Takes back what was done last; of a phase that was accepted also the note that says why.
pub(super) fn undo(ui: &mut Ui) -> Vec<Ask> {
    let Some(tab) = ui.tab_mut() else { return Vec::new() };
    let Some(step) = tab.undo.last().cloned() else { return Vec::new() };
    if tab.undoing.as_ref() == Some(&step) {
        ui.tell("the last undo is not stored yet");
        return Vec::new();
    }
    let beside = tab.undo.len().checked_sub(2).map(|at| &tab.undo[at]).filter(|other| step.goes_with(other));
    let asks = [Some(&step), beside].into_iter().flatten().filter_map(|step| taken_back(tab, step)).collect();
    tab.undoing = Some(step);
    asks
}

fn taken_back(tab: &Tab, step: &Step) -> Option<Ask> {
    if let Step::Text(revised) = step {
        return Some(edited_as(&tab.id, PhasesEdit::Undo(revised.clone())));
    }
    if tab.has_open_run() {
        return Some(Ask::Request(Request::Command(tab.id.clone(), step.command()?)));
    }
    let (Step::Phase(phase, _) | Step::Reopened { phase, .. }) = step else { return None };
    let line = tab.phases(false).into_iter().find(|line| line.id == *phase)?;
    let wanted = |done| BoxOf { text: line.text.to_owned(), nth: line.nth, done };
    Some(match step {
        Step::Reopened { was_done: false, .. } => skip(&tab.id, line.text, line.nth),
        step => set_box(&tab.id, wanted(matches!(step, Step::Reopened { .. }))),
    })
}

/// The ticket is edited, or not.
pub(super) fn edited(ui: &mut Ui, ticket: &TicketKey, outcome: BoxOutcome, revised: Option<&TicketRevised>) {
    let undone = revised.and_then(|revised| revised.undoes.clone());
    let trouble = trouble(outcome);
    let is_text = |step: &Step| matches!(step, Step::Text(_));
    if let Some(tab) = ui.tabs.iter_mut().find(|tab| tab.id == *ticket) {
        tab.undoing.take_if(|step| is_text(step) || trouble.is_err());
        if trouble.is_err() {
            // It would be in the way of what was done before it.
            tab.undo.retain(|step| !matches!(step, Step::Text(revised) if Some(&revised.id) == undone.as_ref()));
        }
    }
    let at = ui
        .modals
        .iter()
        .position(|modal| matches!(modal, Modal::Phase(form) if form.is_sent && form.ticket == *ticket));
    let words = match (trouble, at) {
        (Err(why), Some(at)) => {
            if let Modal::Phase(form) = &mut ui.modals[at] {
                form.refused(&why);
            }
            return;
        }
        (Err(why), None) => {
            let what = revised.map_or_else(String::new, |revised| format!(" ({})", revised.what));
            let words = format!("not done{what}: {why}");
            let (now, iteration) = (ui.now, ui.log.under_way(ticket));
            ui.log.push(now, Weight::Warn, ticket.clone(), iteration, &words);
            words
        }
        (Ok(words), at) => {
            at.map(|at| ui.modals.remove(at));
            match revised {
                Some(revised) if words.is_empty() => revised.what.clone(),
                _ => words,
            }
        }
    };
    if !words.is_empty() {
        ui.tell(clean_line(&words, 400));
    }
}

/// A box was set, or not.
pub(super) fn box_set(ui: &mut Ui, outcome: BoxOutcome) {
    for tab in ui.tabs.iter_mut().filter(|tab| !tab.has_open_run()) {
        tab.undoing = None;
    }
    if let Err(why) = trouble(outcome) {
        ui.tell(clean_line(&format!("not done: {why}"), 400));
    }
}

/// Could not be asked for: what was typed stays.
pub(super) fn not_asked(ui: &mut Ui, why: &str) {
    for modal in &mut ui.modals {
        if let Modal::Phase(form) = modal
            && form.is_sent
        {
            form.refused(why);
        }
    }
    for tab in &mut ui.model.tabs {
        tab.undoing = None;
    }
}

/// Words for the person; an error where it is not done.
fn trouble(outcome: BoxOutcome) -> Result<String, String> {
    match outcome {
        BoxOutcome::Done | BoxOutcome::Handed { .. } => Ok(String::new()),
        BoxOutcome::Already => Ok("nothing to change".to_owned()),
        BoxOutcome::Noted { .. } => Ok("sent to the run; the log shows the result".to_owned()),
        BoxOutcome::NotTaken { holder } => Err(format!("{holder} is running the ticket and did not respond")),
        BoxOutcome::Unknown { .. } => Err("the run has not seen the phase yet; try again in a moment".to_owned()),
        BoxOutcome::NotWritten(why) => Err(why),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::answerer::Answerer;
    use crate::domain::command::UserCommand;
    use crate::domain::news::News;
    use crate::domain::phase::PhaseId;
    use crate::domain::record::{OfPhase, PhaseByPerson, Record, RevisionSettled, WriteOutcome};
    use crate::domain::request::Reply;
    use crate::tui::msg::Msg;
    use crate::tui::sample;
    use crate::tui::update::update;

    fn press(ui: &mut Ui, keys: &str) -> Vec<Request> {
        let asks = keys.split(' ').flat_map(|key| update(ui, Msg::Key(sample::key(key))));
        let asked = asks.filter_map(|ask| if let Ask::Request(request) = ask { Some(request) } else { None });
        asked.filter(|request| !matches!(request, Request::Changes(..))).collect()
    }

    /// A run, and the cursor on its second phase.
    fn chosen(tab: Tab) -> Ui {
        let mut ui = sample::model();
        ui.tabs.push(tab);
        ui.focus = crate::tui::panes::tickets::NAME;
        press(&mut ui, "g j j");
        ui
    }

    fn edits(asked: &[Request]) -> &PhasesEdit {
        match asked {
            [Request::EditPhases(path, edit)] if path.ends_with("tk-1.md") => edit,
            other => panic!("{other:?}"),
        }
    }

    fn place() -> PhasePlace {
        PhasePlace { text: "Token bucket".into(), nth: 0 }
    }

    #[test]
    fn each_key_asks_for_its_edit_of_the_phase_under_the_cursor() {
        let mut ui = chosen(sample::running("tk-1"));
        let texts = |texts: &[&str]| texts.iter().map(ToString::to_string).collect::<Vec<_>>();
        for (keys, edit) in [
            ("A a Alt-Enter Alt-Enter b Enter", TicketEdit::Add { texts: texts(&["a", "b"]), after: Some(place()) }),
            ("R ! Enter", TicketEdit::Rename { phase: place(), text: "Token bucket!".into() }),
            ("S Alt-Enter b Enter", TicketEdit::Split { phase: place(), texts: texts(&["Token bucket", "b"]) }),
            ("K", TicketEdit::Move { phase: place(), to: Direction::Up }),
            ("J", TicketEdit::Move { phase: place(), to: Direction::Down }),
        ] {
            assert_eq!(*edits(&press(&mut ui, keys)), PhasesEdit::Text(edit), "{keys}");
            if !ui.modals.is_empty() {
                assert_eq!(press(&mut ui, "Enter x"), [], "{keys}: it is asked for once");
            }
            let told = Reply::PhasesEdited(sample::id("tk-1"), BoxOutcome::Handed { holder: "pid 1".into() }, None);
            update(&mut ui, Msg::Replied(told));
            assert!(ui.modals.is_empty(), "{keys}");
        }
        assert_eq!(press(&mut ui, "Y"), [], "it is done");
        ui.tabs[0].state.phases[1].mark = Mark::Disputed;
        assert_eq!(*edits(&press(&mut ui, "Y w Enter")), PhasesEdit::Accept(place(), "w".into()));
    }

    #[test]
    fn once_the_run_has_ended_the_file_is_edited() {
        let mut ui = chosen(sample::guarded("tk-1"));
        let box_of = |text: &str, done| BoxOf { text: text.into(), nth: 0, done };
        let asked = press(&mut ui, "r");
        assert!(matches!(&asked[..], [Request::SetBox(_, wanted)] if *wanted == box_of("Token bucket", false)));
        assert_eq!(press(&mut ui, "j s"), []);
        let wire = PhasePlace { text: "Wire into middleware".into(), nth: 0 };
        assert_eq!(*edits(&press(&mut ui, "y")), PhasesEdit::Skip(wire));
    }

    fn recorded(ui: &mut Ui, record: Record) {
        let seq = ui.tabs[0].state.seq + 1;
        update(ui, Msg::News(News::Recorded(sample::stored("tk-1", seq, record).into())));
    }

    fn revised(id: &str, undoes: Option<&str>) -> TicketRevised {
        TicketRevised {
            id: id.into(),
            what: "noted".into(),
            revision: <_>::default(),
            accepts: undoes.is_none().then(place),
            renamed: None,
            undoes: undoes.map(str::to_owned),
            by: Answerer::SCREEN,
        }
    }

    #[test]
    fn an_accepted_phase_is_taken_back_with_its_note_and_what_cannot_be_is_out_of_the_way() {
        let mut ui = chosen(sample::running("tk-1"));
        ui.tabs[0].state.phases[1].mark = Mark::Disputed;
        let of = OfPhase { phase: "Token bucket".into(), id: Some(PhaseId(2)) };
        let ticked = PhaseByPerson { of, by: Answerer::SCREEN, why: Some("seen".into()) };
        recorded(&mut ui, Record::PhaseTicked(ticked));
        let note = revised("a", None);
        let settled = RevisionSettled { revised: note.clone(), outcome: WriteOutcome::Written };
        recorded(&mut ui, Record::RevisionSettled(settled));
        let asked = press(&mut ui, "u");
        let undo = PhasesEdit::Undo(Box::new(note));
        assert_eq!(*edits(&asked[..1]), undo);
        let retry = UserCommand::RetryPhase { phase: PhaseId(2) };
        assert_eq!(asked[1..], [Request::Command(sample::id("tk-1"), retry)]);
        assert_eq!(press(&mut ui, "u"), [], "it is under way");
        let why = BoxOutcome::NotWritten("the ticket was changed there meanwhile".into());
        let told = Reply::PhasesEdited(sample::id("tk-1"), why, Some(Box::new(revised("b", Some("a")))));
        update(&mut ui, Msg::Replied(told));
        assert!(ui.toast.as_ref().is_some_and(|(words, _)| words.contains("changed there meanwhile")));
        assert_eq!(ui.tabs[0].undo.len(), 1, "the tick is still there to be taken back");
    }
}
