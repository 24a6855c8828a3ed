//! The timeline: what it shows, what its keys ask for, and what it says where there is nothing.

use super::{modal, press, with};
use crate::{base, domain, orchestrator, sample, tui};
use base::id::RunId;
use domain::changes::{Change, ChangedFile, Changes, Lines, Since};
use domain::fork::Forked;
use domain::news::News;
use domain::outcome::{DoneHow, IterationOutcome};
use domain::phase::Mark;
use domain::record::Record;
use domain::request::{Reply, Request};
use domain::restore::{Kept, Plan, Restored, Spared, WantedFiles};
use domain::step::StepName;
use domain::timeline::{Before, Changed, Moment, Origin};
use tui::msg::{Ask, Msg};
use tui::ui::Ui;
use tui::update::update;

/// Name, run, age in seconds, what it is, what changed.
type Sketch = (&'static str, Option<RunId>, i64, Origin, Option<Changed>);

fn moments() -> Vec<Moment> {
    let (now, earlier) = (Some(sample::run("tk-4f2a")), RunId::parse("0192aaaa-0000-7000-8000-000000000001"));
    let after = |n, step: StepName, phase: &str, mark, outcome| Origin::Iteration {
        n,
        step,
        phase: Some(phase.into()),
        mark,
        outcome: Some(outcome),
    };
    let verified = Some(Mark::Done(DoneHow::Verified));
    let (claimed, idle) = (IterationOutcome::Claimed, IterationOutcome::Idle);
    let changed = |files, added, removed| Some(Changed { files, added, removed });
    let all = [
        ("00000001/1", earlier, 180_000, Origin::Start, None),
        (
            "00000001/end",
            earlier,
            176_000,
            after(1, StepName::CODE, "Investigate flow", verified, claimed),
            changed(1, 9, 0),
        ),
        ("1", now, 7_000, Origin::Start, changed(0, 0, 0)),
        ("2", now, 6_000, after(1, StepName::CODE, "Token bucket", None, idle), changed(12, 1_204, 310)),
        ("restore/1", None, 5_500, Origin::Saved(Before::Revert), changed(1, 2, 0)),
        ("3", now, 5_000, after(2, StepName::CODE, "Token bucket", Some(Mark::Rejected), claimed), changed(3, 40, 0)),
        ("4", now, 600, after(3, StepName::FIX, "Token bucket", verified, claimed), changed(2, 0, 7)),
        ("restore/2", None, 60, Origin::Saved(Before::Restore), changed(1, 1, 1)),
    ];
    let moment = |(at, (pick, run, ago, origin, changed)): (usize, Sketch)| Moment {
        pick: pick.into(),
        id: format!("{at}"),
        run,
        time: sample::ago(ago),
        origin,
        changed,
    };
    all.into_iter().enumerate().map(moment).collect()
}

/// The timeline of a run, as it was told.
fn told(moments: Result<Vec<Moment>, String>) -> Ui {
    let mut ui = with(sample::paused("tk-4f2a"));
    let run = sample::run("tk-4f2a");
    assert!(press(&mut ui, "U").contains(&Ask::Request(Request::Timeline(run))));
    update(&mut ui, Msg::Replied(Reply::Timeline(run, moments)));
    ui
}

fn compared(ui: &mut Ui, keys: &str) -> Since {
    match &press(ui, keys)[..] {
        [Ask::Request(Request::Changes(run, since))] if *run == sample::run("tk-4f2a") => since.clone(),
        other => panic!("{keys}: {other:?}"),
    }
}

fn with_files(mut ui: Ui, keys: &str) -> Ui {
    let since = compared(&mut ui, keys);
    let file = |path: &str, change, added, removed| ChangedFile {
        path: path.into(),
        change,
        lines: Lines::Counted { added, removed },
    };
    let files = vec![file("src/bucket.rs", Change::Modified, 0, 5), file("src/\x1b[2Jold.rs", Change::Deleted, 0, 2)];
    let changes = Changes { top: "/home/ann/shop".into(), files, total: 2, removed: 7, ..Changes::default() };
    update(&mut ui, Msg::Replied(Reply::Changes(sample::run("tk-4f2a"), since, Ok(changes))));
    ui
}

#[test]
fn the_snapshots_of_a_ticket() {
    modal("timeline", || {
        let mut ui = told(Ok(moments()));
        press(&mut ui, "j j x k");
        ui
    });
    modal("timeline_files", || with_files(told(Ok(moments())), "j Enter"));
    modal("timeline_empty", || told(Ok(Vec::new())));
    let no_git = "not a git repository: `git init`, then commit what is there";
    assert!(sample::draw(&mut told(Err(no_git.into())), (80, 24)).contains("`git init`, then commit"));
}

#[test]
fn each_key_compares_the_chosen_snapshot_with_another_one_or_with_now() {
    let between = |from: &str, to: &str| Since::Between(from.into(), to.into());
    for (keys, since) in [
        ("Enter", between("6", "7")),
        ("j d", between("5", "6")),
        ("j D", between("2", "6")),
        ("D", between("0", "7")),
        ("j j j n", Since::Now("4".into())),
        ("x j j x", between("5", "7")),
        ("G x k x", between("0", "1")),
        ("G k D", between("0", "1")),
    ] {
        assert_eq!(compared(&mut told(Ok(moments())), keys), since, "{keys}");
    }
    let mut ui = told(Ok(moments()));
    assert_eq!(press(&mut ui, "x x G Enter"), [], "nothing is before the first");
    assert!(sample::draw(&mut ui, (120, 40)).contains("This is the first snapshot"));
    assert_eq!(press(&mut ui, "D"), [], "nor does a run's first differ from itself");
}

#[test]
fn a_file_opens_in_the_diff_and_each_esc_goes_one_back() {
    let mut ui = with_files(told(Ok(moments())), "j Enter");
    let asks = press(&mut ui, "j Enter");
    let since = Since::Between("5".into(), "6".into());
    assert_eq!(asks, [Ask::Request(Request::Diff(sample::run("tk-4f2a"), since, "src/\x1b[2Jold.rs".into()))]);
    assert!(sample::draw(&mut ui, (80, 24)).contains("Diff · D src/old.rs"));
    press(&mut ui, "Esc");
    assert!(sample::draw(&mut ui, (80, 24)).contains("Timeline · snapshot 3 to 4"));
    press(&mut ui, "Esc");
    assert!(sample::draw(&mut ui, (80, 24)).contains("8 snapshots"));
    // Told anew, the cursor stays on its snapshot.
    update(&mut ui, Msg::Replied(Reply::Timeline(sample::run("tk-4f2a"), Ok(moments()[..7].to_vec()))));
    assert_eq!(compared(&mut ui, "Enter"), Since::Between("5".into(), "6".into()));
    press(&mut ui, "Esc Esc");
    assert!(ui.modals.is_empty());
}

fn plan(writes: &[&str], removes: &[&str]) -> Plan {
    let all = |paths: &[&str]| paths.iter().map(ToString::to_string).collect();
    Plan { tree: "ab12".into(), writes: all(writes), removes: all(removes), ..Plan::default() }
}

/// `R` was pressed, and this is what it would do.
fn asked_to_restore(ui: &mut Ui, keys: &str, plan: Result<Plan, String>) -> WantedFiles {
    let asks = press(ui, keys);
    let [Ask::Request(Request::PlanRestore(run, wanted))] = &asks[..] else { panic!("{asks:?}") };
    update(ui, Msg::Replied(Reply::RestorePlanned(*run, wanted.clone(), plan)));
    wanted.clone()
}

#[test]
fn files_are_restored_after_a_question_that_counts_them() {
    let run = sample::run("tk-4f2a");
    let mut ui = told(Ok(moments()));
    let wanted = asked_to_restore(&mut ui, "j R", Ok(plan(&["a", "b"], &["c"])));
    assert_eq!(wanted, WantedFiles { snapshot: "6".into(), ..WantedFiles::default() });
    let screen = sample::draw(&mut ui, (120, 40));
    assert!(
        screen.contains("Restore snapshot 4? Will write 2 files, remove 1. The current files are saved first."),
        "{screen}"
    );
    assert_eq!(press(&mut ui, "j Enter R"), [], "it is asked");
    assert_eq!(press(&mut ui, "n"), []);
    asked_to_restore(&mut ui, "R", Ok(plan(&["a"], &[])));
    assert_eq!(press(&mut ui, "y"), [Ask::Request(Request::Restore(run, wanted, "ab12".into()))]);
    assert_eq!(press(&mut ui, "R y"), [], "one at a time");
    let kept = vec![Kept { path: "x".into(), why: "it was changed in the meantime".into() }];
    let others = vec![Spared { path: "a".into(), tickets: ["tk-9c1d".to_owned()].into() }];
    let done = Restored { saved: "restore/3".into(), written: vec!["a".into()], kept, others, ..Restored::default() };
    let asks = update(&mut ui, Msg::Replied(Reply::Restored(run, Ok(done))));
    assert!(asks.contains(&Ask::Request(Request::Timeline(run))), "what was saved comes into the list");
    let screen = sample::draw(&mut ui, (200, 50));
    assert!(
        screen.contains(
            "Restored: 1 written, 0 removed · 1 skipped: x (it was changed in the meantime) · reverts what tk-9c1d"
        ),
        "{screen}"
    );
}

#[test]
fn a_ticket_is_forked_under_an_id_that_is_typed_or_made_up() {
    let run = sample::run("tk-4f2a");
    let mut ui = told(Ok(moments()));
    assert_eq!(press(&mut ui, "j f"), []);
    let screen = sample::draw(&mut ui, (120, 40));
    assert!(screen.contains("Fork snapshot 4 into a new ticket with its own worktree. ID (optional): _"), "{screen}");
    assert!(screen.contains("Enter fork") && screen.contains("Esc cancel"), "{screen}");
    // All letters are typed, also those that are keys.
    press(&mut ui, "t k - q R");
    update(&mut ui, Msg::Paste("7\n".into()));
    assert!(sample::draw(&mut ui, (120, 40)).contains("(optional): tk-qR7 _"));
    assert_eq!(press(&mut ui, "Enter"), [Ask::Request(Request::Fork(run, "6".into(), "tk-qR7".into()))]);
    assert_eq!(press(&mut ui, "f R"), [], "one at a time");
    let forked = |ui: &mut Ui, forked| update(ui, Msg::Replied(Reply::Forked(run, forked)));
    assert_eq!(forked(&mut ui, Err("there is a ticket tk-7 already".into())), []);
    assert!(sample::draw(&mut ui, (120, 40)).contains("Not forked: there is a ticket tk-7 already"));
    press(&mut ui, "f Esc");
    assert_eq!(press(&mut ui, "f Enter"), [Ask::Request(Request::Fork(run, "6".into(), String::new()))]);
    let made =
        Forked { ticket: "tk-8".into(), worktree: "/t/tk-8".into(), branch: "b/tk-8".into(), ..Forked::default() };
    assert_eq!(forked(&mut ui, Ok(Box::new(made.clone()))), [Ask::Request(Request::ListTickets)]);
    let screen = sample::draw(&mut ui, (120, 40));
    assert!(screen.contains("Forked: tk-8, on branch b/tk-8 in /t/tk-8. Start it from Home (s)."), "{screen}");
    // Also where the dialog is closed meanwhile.
    press(&mut ui, "f Enter Esc");
    forked(&mut ui, Ok(Box::new(made)));
    assert!(sample::draw(&mut ui, (120, 40)).contains("Forked: tk-8"));
}

/// All words of the screen between the frames, without line ends.
fn words(ui: &mut Ui, size: (u16, u16)) -> String {
    let screen = sample::draw(ui, size);
    let inside = screen.lines().filter_map(|line| line.split('┃').nth(1)).map(str::trim);
    inside.collect::<Vec<_>>().join(" ")
}

#[test]
fn on_a_small_screen_neither_the_question_nor_a_key_is_cut() {
    let tickets = |names: &[&str]| names.iter().map(ToString::to_string).collect();
    let spared = |path: &str| Spared { path: path.into(), tickets: tickets(&["tk-9c1d"]) };
    for width in [80, 60] {
        let size = (width, 24);
        let mut ui = told(Ok(moments()));
        let said = words(&mut ui, size);
        assert!(said.contains("Enter diff") && said.contains("R restore") && said.contains("Esc close"), "{said}");
        let plan = Plan {
            spares: vec![spared("a"), spared("b")],
            others: vec![spared("c")],
            unknown: tickets(&["tk-77aa"]),
            into: Some("/home/ann/shop".into()),
            ..plan(&["c", "d"], &[])
        };
        asked_to_restore(&mut ui, "j R", Ok(plan));
        let said = words(&mut ui, size);
        for part in [
            "Restore snapshot 4 into /home/ann/shop (the worktree of the run is gone)? Will write 2 files, remove 0.",
            "2 files stay: tk-9c1d changed them since (n lists the files: tick them there to restore them too).",
            "Reverts ",
            "y yes   n no",
        ] {
            assert!(said.contains(part), "{width}: {part}: {said}");
        }
        let mut ui = with_files(told(Ok(moments())), "j n");
        let said = words(&mut ui, size);
        assert!(said.contains("Space tick") && said.contains("Esc back"), "{said}");
    }
}

#[test]
fn phases_whose_work_is_gone_are_offered_to_be_reopened() {
    let run = sample::run("tk-4f2a");
    let mut ui = told(Ok(moments()));
    asked_to_restore(&mut ui, "j R", Ok(plan(&["a"], &[])));
    press(&mut ui, "y");
    let done = Restored {
        saved: "restore/3".into(),
        written: vec!["a".into()],
        taken_back: vec!["Token bucket".into(), String::new()],
        ..Restored::default()
    };
    let replied = |ui: &mut Ui, done: &Restored| update(ui, Msg::Replied(Reply::Restored(run, Ok(done.clone()))));
    replied(&mut ui, &done);
    let said = words(&mut ui, (120, 40));
    assert!(said.contains("the ticket counts as done, but its work is no longer in the files"), "{said}");
    assert!(said.contains("no longer in the files: “Token bucket”. Untick its box?"), "{said}");
    assert_eq!(press(&mut ui, "j Enter"), [], "it is asked");
    assert_eq!(press(&mut ui, "n"), [], "and nothing is unticked without a yes");
    replied(&mut ui, &Restored { taken_back: vec!["Token bucket".into()], ..done });
    let held = update(&mut ui, Msg::Key(sample::key("y")));
    assert_eq!(held, [], "the key that restored is still down");
    let asks = press(&mut ui, "y");
    let [Ask::Request(Request::SetBox(_, wanted))] = &asks[..] else { panic!("{asks:?}") };
    assert_eq!((wanted.text.as_str(), wanted.done), ("Token bucket", false));
}

#[test]
fn of_phases_with_the_same_text_each_is_reopened_and_a_ticket_without_phases_has_no_box() {
    let run = sample::run("tk-4f2a");
    let mut ui = told(Ok(moments()));
    let tab = &mut ui.tabs[0];
    let again = domain::phase::PhaseId(9);
    let phase = tab.state.phases.iter().find(|phase| phase.text == "Token bucket").unwrap().clone();
    tab.state.phases.push(orchestrator::state::PhaseState { id: again, ..phase });
    tab.ticket = None;
    let restored = |ui: &mut Ui, lost: &str| {
        asked_to_restore(ui, "R", Ok(plan(&["a"], &[])));
        press(ui, "y");
        let done = Restored { saved: "restore/3".into(), taken_back: vec![lost.into()], ..Restored::default() };
        update(ui, Msg::Replied(Reply::Restored(run, Ok(done))));
        press(ui, "y")
    };
    let boxes: Vec<usize> = restored(&mut ui, "Token bucket")
        .iter()
        .map(|ask| if let Ask::Request(Request::SetBox(_, wanted)) = ask { wanted.nth } else { panic!("{ask:?}") })
        .collect();
    assert_eq!(boxes, [0, 1]);
    assert_eq!(restored(&mut ui, ""), []);
    assert!(!words(&mut ui, (120, 40)).contains("Reopened"));
}

#[test]
fn it_is_asked_for_again_when_there_may_be_another_snapshot() {
    let run = sample::run("tk-4f2a");
    let mut ui = told(Ok(moments()));
    let again = Ask::Request(Request::Timeline(run));
    let mut seq = ui.tabs[0].state.seq;
    let mut taken = |ui: &mut Ui| {
        seq += 1;
        let record = Record::SnapshotTaken { n: 9, id: "ab".into() };
        update(ui, Msg::News(News::Recorded(sample::stored("tk-4f2a", seq, record).into()))).contains(&again)
    };
    assert!(taken(&mut ui));
    assert!(!taken(&mut ui), "it is asked for");
    let told = |ui: &mut Ui| update(ui, Msg::Replied(Reply::Timeline(run, Ok(moments()))));
    assert_eq!(told(&mut ui), [Ask::Request(Request::Timeline(run))], "and since then there was another one");
    assert_eq!(told(&mut ui), []);
    press(&mut ui, "Esc");
    assert!(!taken(&mut ui), "nobody looks");
}

#[test]
fn in_a_diff_of_the_timeline_the_key_restores_the_file() {
    let mut ui = with_files(told(Ok(moments())), "j Enter");
    press(&mut ui, "j Enter");
    let screen = sample::draw(&mut ui, (120, 40));
    assert!(screen.contains("R restore file") && !screen.contains("revert hunk"), "{screen}");
    let wanted = asked_to_restore(&mut ui, "R", Ok(plan(&["src/old.rs"], &[])));
    assert_eq!(wanted, WantedFiles { snapshot: "6".into(), only: ["src/\x1b[2Jold.rs".to_owned()].into() });
    assert!(sample::draw(&mut ui, (120, 40)).contains("Restore snapshot 4? Will write 1 file, remove 0."));
}

#[test]
fn files_that_other_tickets_changed_are_marked() {
    let mut ui = with_files(told(Ok(moments())), "j n");
    assert!(!sample::draw(&mut ui, (120, 40)).contains("tk-9c1d, tk-a"));
    let others = [("src/bucket.rs".to_owned(), ["tk-9c1d".to_owned(), "tk-a\x1b[2J".to_owned()].into())].into();
    let file = ChangedFile { path: "src/bucket.rs".into(), ..ChangedFile::default() };
    let changes = Changes { files: vec![file], total: 1, others, ..Changes::default() };
    let since = Since::Now("6".into());
    update(&mut ui, Msg::Replied(Reply::Changes(sample::run("tk-4f2a"), since, Ok(changes))));
    let screen = sample::draw(&mut ui, (120, 40));
    assert!(screen.contains("src/bucket.rs  tk-9c1d and tk-a") && screen.contains("R skips those"), "{screen}");
}

#[test]
fn the_question_names_the_snapshot_that_is_restored_wherever_the_cursor_is() {
    let run = sample::run("tk-4f2a");
    let mut ui = told(Ok(moments()));
    let asks = press(&mut ui, "j R");
    let [Ask::Request(Request::PlanRestore(_, wanted))] = &asks[..] else { panic!("{asks:?}") };
    assert_eq!(wanted.snapshot, "6");
    press(&mut ui, "j");
    update(&mut ui, Msg::Replied(Reply::RestorePlanned(run, wanted.clone(), Ok(plan(&["a"], &[])))));
    let screen = sample::draw(&mut ui, (120, 40));
    assert!(screen.contains("Restore snapshot 4? Will write 1 file, remove 0."), "{screen}");
    assert_eq!(press(&mut ui, "y"), [Ask::Request(Request::Restore(run, wanted.clone(), "ab12".into()))]);
}

#[test]
fn a_mark_and_the_cursor_stay_on_their_snapshots_when_another_run_takes_the_names() {
    let mut ui = told(Ok(moments()));
    press(&mut ui, "j x");
    assert!(sample::draw(&mut ui, (120, 40)).contains("Snapshot 4 is marked"));
    let (next, mut later) = (RunId::parse("0192bbbb-0000-7000-8000-000000000002"), moments());
    for moment in later.iter_mut().filter(|moment| moment.run == Some(sample::run("tk-4f2a"))) {
        moment.pick = format!("4f2a4f2a/{}", moment.pick);
    }
    for n in 1..=4 {
        let origin = if n == 1 { Origin::Start } else { Origin::Unknown };
        let (pick, id) = (n.to_string(), format!("1{n}"));
        later.push(Moment { pick, id, run: next, time: sample::ago(1), origin, changed: None });
    }
    update(&mut ui, Msg::Replied(Reply::Timeline(sample::run("tk-4f2a"), Ok(later))));
    let screen = sample::draw(&mut ui, (120, 40));
    assert!(screen.contains("Snapshot 4f2a4f2a/4 is marked"), "{screen}");
    assert!(screen.contains("its records are not here"), "{screen}");
    assert_eq!(compared(&mut ui, "n"), Since::Now("6".into()), "the cursor");
    press(&mut ui, "Esc");
    assert_eq!(compared(&mut ui, "g x"), Since::Between("6".into(), "14".into()), "the mark");
}

#[test]
fn ticked_files_are_restored_alone() {
    let mut ui = with_files(told(Ok(moments())), "j n");
    let wanted = asked_to_restore(&mut ui, "j Space R", Ok(plan(&[], &["src/old.rs"])));
    assert_eq!(wanted, WantedFiles { snapshot: "6".into(), only: ["src/\x1b[2Jold.rs".to_owned()].into() });
    modal("timeline_restore", || {
        let mut ui = with_files(told(Ok(moments())), "j n");
        asked_to_restore(&mut ui, "j Space R", Ok(plan(&[], &["src/old.rs"])));
        ui
    });
    let mut ui = with_files(told(Ok(moments())), "j n");
    let wanted = asked_to_restore(&mut ui, "Space Space R", Err("Claude is at work on tk-4f2a".into()));
    assert_eq!(wanted.only.len(), 0);
    assert!(sample::draw(&mut ui, (120, 40)).contains("Not restored: Claude is at work on tk-4f2a"));
    asked_to_restore(&mut ui, "R", Ok(plan(&[], &[])));
    assert!(sample::draw(&mut ui, (120, 40)).contains("Nothing to restore"));
}
