//! Home's table: what is shown of it, in which order, and what is done with several tickets at once.

use super::{USUAL, at_home, press, pressed, scene, whole};
use crate::{base, domain, sample, tui};
use domain::news::News;
use domain::outcome::{DoneHow, ExitReason};
use domain::request::Request;
use domain::summary::{RunState, RunSummary};
use domain::workflow::Workflow;
use std::sync::Arc;
use tui::msg::{Ask, Msg};
use tui::ui::Ui;
use tui::update::update;

/// Home with two tickets that can be started, one of them after the other, and with tags.
pub fn with_ready_ones() -> Ui {
    let mut model = at_home();
    for (id, title, deps, tags) in
        [("tk-81b0", "Audit log", &[][..], "[auth, 'web']"), ("tk-82c3", "Docs tour", &["tk-81b0"], "web")]
    {
        let mut ticket = sample::ticket(id, title, &[("One", false, &[]), ("Two", false, &[])]).as_ref().clone();
        ticket.extra = vec![("priority".into(), "1".into()), ("tags".into(), tags.into())];
        ticket.deps = deps.iter().map(|dep| (*dep).to_owned()).collect();
        ticket.validation = Vec::new();
        update(&mut model, Msg::News(News::TicketRead(sample::id(ticket.id.as_str()), Arc::new(ticket))));
    }
    model
}

/// The ids of the rows, from the top.
fn ids(model: &mut Ui) -> Vec<String> {
    let screen = sample::draw(model, USUAL);
    let of_row = |line: &str| {
        line.get(..60)?.split_whitespace().find(|word| word.starts_with("tk-") || *word == "docs.md").map(str::to_owned)
    };
    screen.lines().filter_map(of_row).collect()
}

#[test]
fn tags_and_several_selected() {
    scene("home_selected", || {
        let mut model = with_ready_ones();
        for id in ["tk-82c3", "tk-81b0"] {
            model.home.cursor = Some(sample::id(id));
            press(&mut model, "v");
        }
        (model.home.cursor, model.home.is_chosen) = (Some(sample::id("tk-81b0")), true);
        pressed(model, "S")
    });
}

#[test]
fn checks_that_nobody_trusts_are_not_no_checks() {
    let mut model = with_ready_ones();
    model.home.ignores_checks = true;
    (model.home.cursor, model.home.is_chosen) = (Some(sample::id("tk-81b0")), true);
    let home = sample::draw(&mut model, (200, 50));
    assert!(home.contains("checks not trusted") && !home.contains("no checks"), "{home}");
    assert!(home.contains("checks in .programmator") && !home.contains("no validation commands"), "{home}");
    let start = tui::panes::home::start_words(&model, &[sample::id("tk-81b0")]);
    assert!(start.contains("config.yaml are ignored: not trusted") && !start.contains("no validation"), "{start}");
}

#[test]
fn all_directories() {
    scene("home_everywhere", || pressed(at_home(), "o"));
}

#[test]
fn a_filter_knows_tags_and_states() {
    let shown = |filter: &str| {
        let mut model = with_ready_ones();
        press(&mut model, "/");
        update(&mut model, Msg::Paste(filter.into()));
        ids(&mut model)
    };
    assert_eq!(shown("#auth"), ["tk-81b0"]);
    assert_eq!(shown("#WEB tour"), ["tk-82c3"]);
    assert_eq!(shown("#we #au"), ["tk-81b0"]);
    assert_eq!(shown("status:blocked web"), ["tk-82c3"]);
    assert_eq!(shown("status:needs-you status:needs_you"), shown("status:needs"));
    assert!(shown("status:needs").contains(&"docs.md".to_owned()));
    assert!(shown("status:open").contains(&"tk-81b0".to_owned()));
    assert_eq!(shown("#nothing"), Vec::<String>::new());
}

#[test]
fn each_press_sorts_by_something_else() {
    let mut model = with_ready_ones();
    let mut ways = Vec::new();
    for word in ["age", "cost", "title", "progress"] {
        press(&mut model, "S");
        let screen = sample::draw(&mut model, USUAL);
        assert!(screen.lines().next().unwrap().contains(&format!("by {word}")), "{screen}");
        ways.push(ids(&mut model));
    }
    // The groups stay. By cost the dearest is first, then titles are in their order.
    let at = |way: usize, id: &str| ways[way].iter().position(|one| one == id).unwrap();
    assert!(at(1, "docs.md") < at(1, "tk-3c4d"), "{ways:?}");
    assert!(at(2, "tk-3c4d") < at(2, "tk-9c1d") && at(2, "tk-9c1d") < at(2, "docs.md"), "{ways:?}");
    press(&mut model, "S");
    assert!(!sample::draw(&mut model, USUAL).lines().next().unwrap().contains("by "));
}

#[test]
fn several_are_started_at_once_after_one_question() {
    let mut model = with_ready_ones();
    model.profile = "guarded";
    model.home.cursor = Some(sample::id("tk-81b0"));
    press(&mut model, "v");
    model.home.cursor = Some(sample::id("tk-82c3"));
    press(&mut model, "v");
    assert_eq!(press(&mut model, "s"), [], "what it may cost is said first");
    let screen = sample::draw(&mut model, USUAL);
    for words in ["Start 2 tickets?", "4 open phases, profile guarded.", "Estimate: $", "2 have no"] {
        assert!(screen.contains(words), "“{words}” is missing:\n{screen}");
    }
    assert!(!screen.contains("must be done before"), "the one that the other needs starts, too:\n{screen}");
    press(&mut model, "Esc");
    model.workflow.name = Workflow::Thorough;
    press(&mut model, "s");
    let screen = sample::draw(&mut model, USUAL);
    assert!(screen.contains("At least 10 calls to Claude: 4 for phases, 4 for critics"), "{screen}");
    let started = press(&mut model, "y");
    let files = ["tk-81b0", "tk-82c3"].map(|id| sample::id(id).file().to_owned());
    assert_eq!(started, [Ask::Request(Request::StartAll(files.to_vec()))]);
    press(&mut model, "Esc");
    assert!(model.home.marked.is_empty() && model.is_home());
}

#[test]
fn a_start_says_that_it_resumes_and_what_is_missing() {
    let mut model = at_home();
    model.profile = "guarded";
    let stopped = domain::summary::RunSummary {
        state: domain::summary::RunState::Interrupted,
        ..sample::seen("tk-5555", "/home/ann/shop")
    };
    update(&mut model, Msg::News(News::RunSeen(Arc::new(stopped))));
    model.home.cursor = Some(sample::id("tk-5555"));
    model.branch = None;
    press(&mut model, "s");
    let screen = sample::draw(&mut model, USUAL);
    assert!(screen.contains("its last run is resumed") && screen.contains("no git repository"), "{screen}");
    assert!(screen.contains("and 8m 00s of work, from the median"), "{screen}");
}

/// How a run stands, told of a ticket of this place.
fn told(model: &mut Ui, ticket: &str, change: impl FnOnce(&mut domain::summary::RunSummary)) {
    let mut run = sample::seen(ticket, "/home/ann/shop");
    (run.state, run.phase) = (domain::summary::RunState::Ended, None);
    change(&mut run);
    update(model, Msg::News(News::RunSeen(Arc::new(run))));
}

/// The row with this title, where no preview stands beside it.
fn row(model: &mut Ui, title: &str) -> String {
    let screen = sample::draw(model, (100, 40));
    screen.lines().find(|line| line.contains(title)).unwrap_or_else(|| panic!("{title}: {screen}")).to_owned()
}

#[test]
fn what_is_done_and_not_merged_is_merged_and_that_costs_no_call() {
    let mut model = with_ready_ones();
    let done = domain::phase::Mark::Done(domain::outcome::DoneHow::Verified);
    let worktree = domain::worktree::Worktree { base: "main".into(), ..domain::worktree::Worktree::default() };
    told(&mut model, "tk-81b0", |run| {
        run.ticket_path = sample::id("tk-81b0").file().to_owned();
        (run.marks, run.worktree) = (vec![done; 2], Some(worktree.clone()));
        (run.reason, run.needs) = (Some("merge_failed".into()), Some("it conflicts with main".into()));
    });
    (model.home.cursor, model.home.is_chosen) = (Some(sample::id("tk-81b0")), true);
    press(&mut model, "s");
    let screen = sample::draw(&mut model, USUAL);
    let words = ["Merge “Audit log” into main?", "Claude is", "not called."];
    assert!(words.iter().all(|words| screen.contains(words)) && !screen.contains("stimate"), "{screen}");
    press(&mut model, "n");
    told(&mut model, "tk-81b0", |run| {
        run.ticket_path = sample::id("tk-81b0").file().to_owned();
        (run.marks, run.worktree, run.merged) = (vec![done; 2], Some(worktree), true);
        (run.reason, run.commit) = (Some("complete".into()), Some("0123456789".into()));
    });
    update(
        &mut model,
        Msg::News(News::TicketRead(sample::id("tk-81b0"), {
            let mut ticket =
                sample::ticket("tk-81b0", "Audit log", &[("One", true, &[]), ("Two", true, &[])]).as_ref().clone();
            ticket.status = Some(domain::ticket::TicketStatus::Closed);
            Arc::new(ticket)
        })),
    );
    let row = row(&mut model, "merged into");
    assert!(row.contains("Audit log") && row.contains("verified · merged into main"), "{row}");
}

#[test]
fn a_phase_whose_work_was_taken_back_has_no_tick_there() {
    let mut model = with_ready_ones();
    let done = domain::phase::Mark::Done(domain::outcome::DoneHow::Verified);
    let ticked = sample::ticket("tk-81b0", "Audit log", &[("One", true, &[]), ("Two", true, &[])]);
    update(&mut model, Msg::News(News::TicketRead(sample::id("tk-81b0"), ticked)));
    told(&mut model, "tk-81b0", |run| {
        run.ticket_path = sample::id("tk-81b0").file().to_owned();
        (run.marks, run.reason, run.unverified) = (vec![done; 2], Some("complete".into()), true);
        run.taken_back = vec![1];
    });
    let row = row(&mut model, "Audit log");
    assert!(row.contains("reverted by a restore") && !row.contains("✓✓") && row.contains('✓'), "{row}");
}

#[test]
fn a_chat_that_is_closed_is_done_and_called_by_its_first_message() {
    let mut model = at_home();
    told(&mut model, "chat-7f3e01ab", |run| {
        (run.title, run.reason) = ("Why is CI red?".into(), Some("user_stopped".into()));
        run.ticket_path = "/home/ann/.local/state/programmator/chats/chat-7f3e01ab.md".into();
    });
    let screen = sample::draw(&mut model, (160, 40));
    let at = |words: &str| screen.find(words).unwrap_or_else(|| panic!("{words}: {screen}"));
    assert!(at(" DONE ") < at("Why is CI red?") && at("chat closed") > 0, "{screen}");
    let id = model.runs.keys().find(|id| id.as_str() == "chat-7f3e01ab").unwrap().clone();
    (model.home.cursor, model.home.is_chosen) = (Some(id.clone()), true);
    press(&mut model, "s");
    assert!(sample::draw(&mut model, USUAL).contains("Resume the chat “Why is CI red?”?"));
    assert_eq!(press(&mut model, "y"), [Ask::Request(Request::Start(id))]);
}

#[test]
fn of_those_selected_it_is_said_which_are_not_started() {
    let mut model = with_ready_ones();
    for id in ["tk-77aa", "tk-81b0"] {
        model.home.cursor = Some(sample::id(id));
        press(&mut model, "v");
    }
    press(&mut model, "s");
    let screen = sample::draw(&mut model, USUAL);
    assert!(screen.contains("Not started, 1 of 2: tk-77aa is done."), "{screen}");
}

#[test]
fn a_ticket_at_work_in_another_place_is_not_started_here() {
    let mut model = with_ready_ones();
    let run =
        domain::summary::RunSummary { folder: "/home/ann/other".into(), ..sample::seen("tk-81b0", "/home/ann/shop") };
    update(&mut model, Msg::News(News::RunSeen(Arc::new(run))));
    (model.home.cursor, model.home.is_chosen) = (Some(sample::id("tk-81b0")), true);
    let screen = sample::draw(&mut model, (160, 40));
    assert!(screen.contains("in ~/other: Answer 200"), "{screen}");
    assert_eq!(press(&mut model, "s"), []);
    assert!(model.modals.is_empty(), "nothing is asked");
    let screen = sample::draw(&mut model, USUAL);
    assert!(screen.contains("tk-81b0 is running in ~/other"), "{screen}");
}

#[test]
fn a_start_says_where_it_works_when_the_ticket_lies_elsewhere() {
    let mut model = with_ready_ones();
    model.home.cursor = Some(sample::id("tk-81b0"));
    press(&mut model, "s");
    assert!(!sample::draw(&mut model, USUAL).contains("It will work in"));
    press(&mut model, "n");
    model.folder = "/home/ann/site".into();
    press(&mut model, "s");
    let screen = sample::draw(&mut model, USUAL);
    assert!(screen.contains("It will work in ~/site."), "{screen}");
}

#[test]
fn the_row_beside_what_is_archived_is_next() {
    let mut model = with_ready_ones();
    let rows = ids(&mut model);
    let last = domain::ticket::TicketKey::clone(&sample::id(rows.last().unwrap()));
    (model.home.cursor, model.home.is_chosen) = (Some(last.clone()), true);
    assert_eq!(press(&mut model, "d"), [Ask::Request(Request::Archive(vec![last], true))]);
    assert_eq!(model.home.cursor, Some(sample::id(&rows[rows.len() - 2])));
}

/// Tickets come and go in the folder while the person reads.
#[test]
fn where_the_chosen_row_goes_the_one_in_its_place_is_chosen() {
    let mut model = with_ready_ones();
    let rows = ids(&mut model);
    let at = rows.iter().position(|id| id == "tk-81b0").unwrap();
    (model.home.cursor, model.home.is_chosen) = (Some(sample::id("tk-81b0")), true);
    sample::draw(&mut model, USUAL);
    update(&mut model, Msg::News(News::TicketGone(sample::id("tk-81b0"))));
    let left = ids(&mut model);
    assert!(!left.contains(&"tk-81b0".to_owned()), "{left:?}");
    assert_eq!(model.home.cursor, Some(sample::id(&left[at])));
    assert!(at > 0, "the first row would be chosen anyway");
}

#[test]
fn without_a_row_keys_say_what_there_is_to_do() {
    let mut model = sample::model();
    model.folder = "/home/ann/shop".into();
    let mut model = pressed(model, "h s");
    assert!(sample::draw(&mut model, USUAL).contains("no ticket to start; n writes one"));
    press(&mut model, "n");
    press(&mut model, "Ctrl-n");
    press(&mut model, "L o g i n");
    let screen = sample::draw(&mut model, USUAL);
    assert!(screen.contains("▸ Title") && screen.contains("Login"), "{screen}");
    press(&mut model, "Esc");
    assert!(sample::draw(&mut model, USUAL).contains("draft kept; n continues it"));
}

/// Home with so many tickets, each tenth of them with a run, as it stands after the first frame.
fn with_many(tickets: usize) -> Ui {
    let mut model = sample::model();
    model.folder = "/home/ann/shop".into();
    let mut model = pressed(model, "h");
    for at in 0..tickets {
        let id = format!("tk-{at:05}");
        let mut ticket =
            sample::ticket(&id, "A ticket among many", &[("One", false, &[]), ("Two", false, &[])]).as_ref().clone();
        ticket.extra = vec![("tags".into(), "web".into())];
        update(&mut model, Msg::News(News::TicketRead(sample::id(&id), Arc::new(ticket))));
        if at % 10 == 0 {
            update(&mut model, Msg::News(News::RunSeen(Arc::new(sample::seen(&id, "/home/ann/shop")))));
        }
    }
    update(&mut model, Msg::Replied(domain::request::Reply::Listed(String::new())));
    sample::draw(&mut model, USUAL);
    model
}

#[test]
fn ten_thousand_tickets_cost_a_key_no_more_than_a_hundred_do() {
    let [few, many] = [100, 10_000].map(|tickets| {
        let mut model = with_many(tickets);
        let mut times: Vec<_> = (0..15)
            .map(|_| {
                let begun = std::time::Instant::now();
                press(&mut model, "j");
                sample::draw(&mut model, USUAL);
                begun.elapsed()
            })
            .collect();
        times.sort();
        let before = model.home.cursor.clone();
        press(&mut model, "G");
        assert_ne!(model.home.cursor, before);
        let screen = sample::draw(&mut model, USUAL);
        assert!(screen.contains(&format!("{} ready", tickets * 9 / 10)), "{screen}");
        times[7]
    });
    assert!(many < few * 8, "{few:?} {many:?}");
}

#[test]
fn before_a_start_of_what_is_done_it_is_said_that_nothing_is_called() {
    let mut model = with_ready_ones();
    let ticket = sample::ticket("tk-81b0", "Audit log", &[("One", true, &[]), ("Two", true, &[])]);
    update(&mut model, Msg::News(News::TicketRead(sample::id("tk-81b0"), ticket)));
    (model.home.cursor, model.home.is_chosen) = (Some(sample::id("tk-81b0")), true);
    press(&mut model, "s");
    let screen = sample::draw(&mut model, USUAL);
    assert!(screen.contains("All 2 phases are done") && !screen.contains("No phases"), "{screen}");
    assert!(!screen.contains("stimate"), "{screen}");
}

const FOLDER: &str = "/home/ann/a/rather/long/folder/of/shop";

/// Home with one ticket that was done, under a title and in a commit, and one whose question waits.
fn with_reasons(title: &str, needs: &str) -> Ui {
    let mut model = sample::model();
    (model.folder, model.branch) = (FOLDER.into(), Some("feature/words".into()));
    let done = RunSummary {
        state: RunState::Ended,
        reason: Some(ExitReason::Complete.word().to_owned()),
        marks: vec![domain::phase::Mark::Done(DoneHow::Verified); 4],
        title: title.into(),
        commit: Some("0ac3047bc5d4e3f2".into()),
        ..sample::seen("tk-1", FOLDER)
    };
    let asks = RunSummary { needs: Some(needs.into()), title: "B".into(), ..sample::seen("tk-2", FOLDER) };
    for run in [done, asks] {
        update(&mut model, Msg::News(News::RunSeen(Arc::new(run))));
    }
    pressed(model, "h")
}

#[test]
fn title_and_reason_share_the_columns_that_are_free() {
    let (title, needs) = ("Count words in it", "asks: Which separator?");
    let screen = sample::draw(&mut with_reasons(title, needs), (80, 24));
    assert!(screen.contains(title) && screen.contains("verified · committed 0ac3047bc"), "{screen}");
    assert!(screen.contains(needs), "{screen}");
    let title = "Count the words in a file and say so in a title over sixty columns";
    let screen = sample::draw(&mut with_reasons(title, needs), (200, 50));
    assert!(screen.contains(title) && screen.contains("committed 0ac3047bc"), "{screen}");
}

#[test]
fn what_has_no_room_uses_what_there_is() {
    let title = "Count the words in a file and say so in a title that is longer than sixty columns are";
    let needs = "asks: Which separator should the words have where there are several of them?";
    let screen = sample::draw(&mut with_reasons(title, needs), (80, 24));
    for (id, whole) in [("tk-1", title), ("tk-2", needs)] {
        let line = screen.lines().find(|line| line.contains(id)).unwrap();
        let (kept, _) = line.split_once('…').unwrap();
        let kept = kept[kept.find(&whole[..6]).unwrap()..].trim_end();
        assert!(whole.starts_with(kept) && kept.len() > 14, "“{kept}”: {screen}");
    }
}

#[test]
fn the_first_line_says_in_whole_words_what_is_selected() {
    let mut model = with_reasons("A", "B");
    sample::draw(&mut model, (80, 24));
    press(&mut model, "S v");
    let screen = sample::draw(&mut model, (80, 24));
    let first = screen.lines().next().unwrap();
    assert!(
        first.contains(" · by age · 1 selected ") && first.contains("/home/a") && first.contains("shop"),
        "{first}"
    );
}

#[test]
fn the_preview_tells_title_phases_and_commands_whole_where_it_has_lines() {
    let mut model = with_ready_ones();
    let id = sample::id("tk-81b0");
    let title = "Count the words in a file and say so in a title that is long";
    let phase = "Write the script that counts words as wc does";
    let mut ticket = sample::ticket("tk-81b0", title, &[(phase, false, &[])]).as_ref().clone();
    ticket.validation = vec!["sh count.sh README.md | grep -q words && test -f notes.txt".into()];
    update(&mut model, Msg::News(News::TicketRead(id.clone(), Arc::new(ticket))));
    (model.home.cursor, model.home.is_chosen) = (Some(id), true);
    let screen = sample::draw(&mut model, (120, 40));
    let preview: Vec<&str> = screen.lines().filter_map(|line| line.rsplit_once('│')).map(|(_, right)| right).collect();
    let preview = preview.join(" ").split_whitespace().collect::<Vec<_>>().join(" ");
    for words in ["a title that is long", "as wc does", "test -f notes.txt"] {
        assert!(preview.contains(words), "“{words}” is missing:\n{screen}");
    }
}

#[test]
fn home_with_sessions_of_ones_own() {
    use domain::own_seen::{OwnSeen, Stands};
    let make = || {
        let mut model = at_home();
        let own = [
            ("session-1a2b3c4d", "Fix the flaky build of the 日本語 pages", Stands::Calls("Bash cargo test".into())),
            ("session-99aabbcc", "Your Claude session in shop", Stands::YourTurn),
        ];
        let own = own.into_iter().map(|(name, title, stands)| {
            let id = base::id::TicketId::parse(name).unwrap();
            let file = format!("/home/ann/.local/state/programmator/own-sessions/{name}");
            let seen = OwnSeen {
                run: domain::own_session::run_of(&id),
                folder: "/home/ann/shop".into(),
                place: "terminal pts/3".into(),
                title: title.into(),
                stands,
                since: sample::ago(300),
                is_cut: false,
            };
            (domain::ticket::TicketKey::new(id, std::path::Path::new(&file)), seen)
        });
        update(&mut model, Msg::News(News::OwnSeen(Arc::new(own.collect()))));
        let first = model.own.keys().next().cloned();
        (model.home.cursor, model.home.is_chosen) = (first, true);
        model
    };
    whole("home_own_sessions", make);
}
