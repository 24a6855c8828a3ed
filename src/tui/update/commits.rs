//! What the commit dialog hears, and leaving while git commits.

use crate::base::id::RunId;
use crate::base::text::clean_line;
use crate::domain::commit::{CommitPlan, Committed};
use crate::domain::request::{Closing, Request};
use crate::tui::command::{Command, Scope};
use crate::tui::modals::Modal;
use crate::tui::modals::commit::{self, Commit};
use crate::tui::msg::Ask;
use crate::tui::ui::Ui;

/// What would be committed.
pub(super) fn planned(ui: &mut Ui, run: RunId, plan: Result<Box<CommitPlan>, String>) {
    if let Some(dialog) = dialog(ui, run) {
        dialog.planned(plan);
    }
}

/// The commit dialog of this run, where it is open.
pub(super) fn dialog(ui: &mut Ui, run: RunId) -> Option<&mut Commit> {
    ui.modals.iter_mut().find_map(|modal| match modal {
        Modal::Commit(commit) if commit.run == run => Some(&mut **commit),
        _ => None,
    })
}

/// A commit was made, or why not. The signing may have written to the terminal.
pub(super) fn made(ui: &mut Ui, run: RunId, made: Result<Committed, String>) -> Vec<Ask> {
    let mut asks = vec![Ask::Redraw];
    ui.committing.remove(&run);
    match made {
        Ok(made) => {
            ui.modals.retain(|modal| !matches!(modal, Modal::Commit(commit) if commit.run == run));
            if let Some(ticket) = ui.tabs.iter().find(|tab| tab.run == Some(run)).map(|tab| tab.id.clone()) {
                ui.unsent.keep_commit(&ticket, String::new());
            }
            ui.tell(clean_line(&commit::made(&made), 600));
        }
        Err(why) => match dialog(ui, run) {
            Some(dialog) => asks.push(dialog.refused(why)),
            None => ui.tell(clean_line(&format!("not committed: {why}"), 600)),
        },
    }
    asks
}

/// The message was written in the person's editor.
pub(super) fn edited(ui: &mut Ui, text: &str) {
    ui.dirty = true;
    if let Some(Modal::Commit(commit)) = ui.modals.last_mut() {
        commit.edited(text);
    }
}

/// What was sent to be committed or reverted.
pub(super) fn sent(ui: &mut Ui, asks: &[Ask]) {
    for ask in asks {
        if let Ask::Request(Request::Commit(run, _)) = ask {
            let ticket = ui.tabs.iter().find(|tab| tab.run == Some(*run)).map(|tab| tab.id.clone());
            ui.committing.extend(ticket.map(|ticket| (*run, ticket)));
        }
        if let Ask::Request(Request::Revert(_, _, path, _)) = ask {
            ui.reverting = Some(path.clone());
        }
    }
}

/// The person leaves, and no run is at work: while git commits they are told, and a second time git is left alone.
pub(super) fn quit(ui: &mut Ui) -> Vec<Ask> {
    let Some(ticket) = ui.committing.values().next() else { return vec![Ask::Leave] };
    if ui.quitting.is_some() {
        return vec![Ask::Request(Request::LeaveCommits), Ask::Leave];
    }
    let key = ui.keys.key_of(Scope::Global, Command::Quit);
    let words = format!("git is committing {ticket} (hooks, signing); {key} again quits and lets git finish");
    ui.tell(words);
    ui.quitting = Some(Closing::Now);
    Vec::new()
}

/// A hunk was reverted, or why not; the file is shown as it is now.
pub(super) fn reverted(ui: &mut Ui, path: &str, reverted: Result<String, String>) -> Vec<Ask> {
    ui.changes.outdated();
    ui.reverting = None;
    let words = match reverted {
        Ok(saved) => format!("hunk reverted; previous files in snapshot {saved}"),
        Err(why) => format!("hunk not reverted: {why}"),
    };
    let diff = ui.modals.iter_mut().find_map(|modal| if let Modal::Diff(diff) = modal { Some(diff) } else { None });
    if let Some(diff) = diff {
        return diff.again(path, words).into_iter().collect();
    }
    ui.tell(clean_line(&words, 600));
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::changes::{
        Change, ChangedFile, Changes, Diff, Hunk, Lines, RevertIntended, RevertSettled, Side, Since,
    };
    use crate::domain::commit::Agreed;
    use crate::domain::news::News;
    use crate::domain::record::Record;
    use crate::domain::request::Reply;
    use crate::tui::msg::Msg;
    use crate::tui::sample;
    use crate::tui::update::update;

    fn press(ui: &mut Ui, keys: &str) -> Vec<Ask> {
        keys.split(' ').flat_map(|key| update(ui, Msg::Key(sample::key(key)))).collect()
    }

    #[test]
    fn a_hunk_is_taken_back_after_a_question_and_what_came_of_it_is_seen() {
        let mut ui = sample::model();
        ui.tabs.push(sample::running("tk-1"));
        sample::changes(&mut ui);
        press(&mut ui, "D j");
        let asks = press(&mut ui, "Enter");
        let Some(Ask::Request(Request::Diff(run, since, path))) = asks.last().cloned() else { panic!("{asks:?}") };
        let hunk = Hunk { old: 1, new: 1, lines: vec![(Side::Old, "a".into()), (Side::New, "b".into())] };
        let diff = Diff { hunks: vec![hunk.clone()], cut: false };
        update(&mut ui, Msg::Replied(Reply::Diff(run, since.clone(), path.clone(), Ok(diff))));
        assert_eq!(press(&mut ui, "r"), [], "where it runs the ticket again one Esc later");
        press(&mut ui, "R");
        let screen = sample::draw(&mut ui, (60, 15));
        assert!(
            screen.contains("Revert hunk 1 of 1? A snapshot is saved first.") && screen.contains("- a"),
            "{screen}"
        );
        assert_eq!(press(&mut ui, "n R j"), []);
        let asks = press(&mut ui, "y");
        assert_eq!(asks[..1], [Ask::Request(Request::Revert(run, since.clone(), path.clone(), hunk.clone()))]);
        // Until it is told what came of it, no second one.
        assert!(sample::draw(&mut ui, (120, 40)).contains("reverting a hunk of"));
        assert_eq!(press(&mut ui, "R y j j"), []);
        assert!(sample::draw(&mut ui, (120, 40)).contains("reverting a hunk of"));
        press(&mut ui, "R");
        assert!(sample::draw(&mut ui, (120, 40)).contains("Not reverted: another hunk is still being reverted"));
        let why = "Claude is working on tk-1 in this directory: pause the run first";
        let asks = update(&mut ui, Msg::Replied(Reply::Reverted(path.clone(), Err(why.into()))));
        assert_eq!(asks[..1], [Ask::Request(Request::Diff(run, since.clone(), path.clone()))]);
        assert!(sample::draw(&mut ui, (120, 40)).contains(why));
        let diff = Diff { hunks: vec![hunk], cut: false };
        update(&mut ui, Msg::Replied(Reply::Diff(run, since, path, Ok(diff))));
        press(&mut ui, "R");
        assert!(sample::draw(&mut ui, (120, 40)).contains("Revert hunk 1 of 1?"));
    }

    #[test]
    fn of_a_run_that_has_ended_the_diff_and_the_list_say_what_is_reverted() {
        let mut ui = sample::model();
        ui.tabs.push(sample::finished("tk-1"));
        sample::changes(&mut ui);
        let (compared, path) = (ui.compared().unwrap(), ui.changed_files()[1].path.clone());
        let changes = Changes { at_end: true, ..ui.told_changes().unwrap().clone().unwrap() };
        let now = ui.now;
        ui.changes.tell(compared, Ok(changes), now);
        press(&mut ui, "D j Enter");
        let hunk = |text: &str| Hunk { old: 1, new: 1, lines: vec![(Side::Old, "a".into()), (Side::New, text.into())] };
        let diff = Diff { hunks: vec![hunk("b"), hunk("c")], cut: false };
        let run = sample::run("tk-1");
        update(&mut ui, Msg::Replied(Reply::Diff(run, Since::Ticket, path.clone(), Ok(diff))));
        let intended = RevertIntended {
            id: "1".into(),
            path: path.clone(),
            hunk: hunk("c").digest(),
            ..RevertIntended::default()
        };
        let settled = RevertSettled { id: "1".into(), path, ..RevertSettled::default() };
        for record in [Record::RevertIntended(intended), Record::RevertSettled(settled)] {
            let seq = ui.tabs[0].state.seq + 1;
            update(&mut ui, Msg::News(News::Recorded(sample::stored("tk-1", seq, record).into())));
        }
        let screen = sample::draw(&mut ui, (120, 40));
        let heads: Vec<&str> = screen.lines().filter(|line| line.contains("── line ")).collect();
        assert!(!heads[0].contains("reverted") && heads[1].contains("reverted"), "{screen}");
        press(&mut ui, "n R");
        assert!(sample::draw(&mut ui, (120, 40)).contains("already reverted"));
        press(&mut ui, "Esc");
        assert!(sample::draw(&mut ui, (120, 40)).contains("1 reverted "));
    }

    #[test]
    fn what_has_no_hunk_to_go_back_to_is_refused_before_the_question() {
        for (change, why) in [(Change::Added, "delete it instead"), (Change::Deleted, "programmator restore")] {
            let file = ChangedFile { path: "a".into(), change, lines: Lines::Binary };
            let (diff, _) =
                crate::tui::modals::diff::Diff::of((sample::run("tk-1"), Since::Ticket), "/".into(), vec![file], 0)
                    .unwrap();
            let mut ui = sample::model();
            ui.modals.push(Modal::Diff(Box::new(diff)));
            assert_eq!(press(&mut ui, "R y"), []);
            press(&mut ui, "R");
            let screen = sample::draw(&mut ui, (120, 40));
            assert!(screen.contains(why), "{screen}");
        }
    }

    #[test]
    fn a_commit_under_way_is_waited_for_and_a_second_time_left_alone() {
        let mut ui = sample::model();
        ui.tabs.push(sample::finished("tk-1"));
        sent(&mut ui, &[Ask::Request(Request::Commit(sample::run("tk-1"), Agreed::default()))]);
        assert!(!press(&mut ui, "q").contains(&Ask::Leave));
        assert!(sample::draw(&mut ui, (120, 40)).contains("git is committing tk-1"));
        assert_eq!(press(&mut ui, "q"), [Ask::Request(Request::LeaveCommits), Ask::Leave]);
        let left = update(&mut ui, Msg::Replied(Reply::Committed(sample::run("tk-1"), Err("no".into()))));
        assert!(left.contains(&Ask::Leave), "{left:?}");
    }
}
