//! Claude sessions that the person has started themselves: on Home, in a tab, and the keys that have nothing to do there.

use super::*;
use crate::base::id::TicketId;
use crate::domain::approval::Approval;
use crate::domain::own_seen::{OwnSeen, Stands};
use crate::domain::own_session::{RULE, run_of};
use crate::domain::summary::{Owner, RunState};
use crate::domain::ticket::TicketKey;
use crate::tui::home;
use std::path::Path;

const SIZES: [(u16, u16); 3] = [(160, 50), (120, 40), (80, 24)];

fn key() -> TicketKey {
    TicketKey::new(TicketId::parse("session-1a2b3c4d").unwrap(), Path::new("/s/own-sessions/session-1a2b3c4d"))
}

fn seen(title: &str, folder: &str, stands: Stands) -> OwnSeen {
    let (run, place, since) = (run_of(key().id()), "terminal pts/3".to_owned(), sample::ago(120));
    OwnSeen { run, folder: folder.to_owned(), place, title: title.to_owned(), stands, since, is_cut: false }
}

fn tell(ui: &mut Ui, own: Option<OwnSeen>) {
    let all = own.into_iter().map(|own| (key(), own)).collect();
    update(ui, Msg::News(News::OwnSeen(Arc::new(all))));
}

fn at_home(own: OwnSeen) -> Ui {
    let mut ui = sample::model();
    (ui.folder, ui.focus) = ("/home/ann/shop".into(), home::NAME);
    tell(&mut ui, Some(own));
    ui
}

/// The one of Home, opened.
fn opened() -> Ui {
    let mut ui = at_home(seen("fix it", "/home/ann/shop", Stands::YourTurn));
    sample::draw(&mut ui, (120, 40));
    let run = run_of(key().id());
    assert_eq!(press(&mut ui, "Enter"), [Ask::Request(Request::Show(run))]);
    let news = News::RunOpened { ticket: key(), run, earlier: 0, records: Vec::new(), owner: Owner::Nobody };
    update(&mut ui, Msg::News(news));
    ui
}

#[test]
fn home_lists_those_of_this_directory_with_what_they_do() {
    for (stands, words, group) in [
        (Stands::Working, "Claude is working", "RUNNING"),
        (Stands::Calls("Bash cargo test".into()), "Bash cargo test", "RUNNING"),
        (Stands::YourTurn, "waiting for your next", "WAITING"),
        (Stands::Unknown, "started; no information", "WAITING"),
    ] {
        for size in SIZES {
            let mut ui = at_home(seen("日本語 build", "/home/ann/shop/api", stands.clone()));
            let screen = sample::draw(&mut ui, size);
            let is_row = |line: &&str| line.contains("日本語") && line.contains("session") && line.contains("2m");
            assert!(screen.lines().any(|line| is_row(&line)), "{screen}");
            assert!(screen.contains(words) && screen.contains(group), "{words}:\n{screen}");
        }
    }
    let mut ui = at_home(seen("fix it", "/home/ann/shops", Stands::Working));
    assert!(!sample::draw(&mut ui, (120, 40)).contains("fix it"), "another directory");
    press(&mut ui, "o");
    assert!(sample::draw(&mut ui, (120, 40)).contains("fix it"));
    tell(&mut ui, None);
    assert!(!sample::draw(&mut ui, (120, 40)).contains("fix it"), "it has ended");
}

#[test]
fn a_question_in_a_directory_below_is_on_home_too() {
    let mut ui = at_home(seen("fix it", "/home/ann/shop/api", Stands::Calls("Bash git push".into())));
    let mut run = sample::seen("session-1a2b3c4d", "/home/ann/shop/api");
    (run.run, run.ticket_path) = (run_of(key().id()), key().file().to_owned());
    (run.state, run.needs) = (RunState::Running, Some("Bash git push".into()));
    update(&mut ui, Msg::News(News::RunSeen(Arc::new(run))));
    let screen = sample::draw(&mut ui, (120, 40));
    assert!(screen.contains("NEEDS YOU  1") && screen.contains("Bash git push"), "{screen}");
}

#[test]
fn one_that_is_gone_is_not_on_home_whatever_it_has_asked() {
    let mut ui = at_home(seen("fix it", "/home/ann/shop", Stands::Working));
    let mut run = sample::seen("session-1a2b3c4d", "/home/ann/shop");
    (run.run, run.ticket_path) = (run_of(key().id()), key().file().to_owned());
    (run.title, run.state) = ("Your Claude session in shop".into(), RunState::Interrupted);
    update(&mut ui, Msg::News(News::RunSeen(Arc::new(run))));
    assert!(sample::draw(&mut ui, (120, 40)).contains("fix it"));
    tell(&mut ui, None);
    let screen = sample::draw(&mut ui, (120, 40));
    assert!(!screen.contains("Your Claude session"), "{screen}");
}

#[test]
fn its_row_on_home_says_where_all_else_is_typed() {
    let mut ui = at_home(seen("fix it", "/home/ann/shop", Stands::YourTurn));
    sample::draw(&mut ui, (120, 40));
    for key in "p x O r i s".split(' ') {
        ui.toast = None;
        assert_eq!(press(&mut ui, key), [], "{key}");
        let told = ui.toast.as_ref().map(|(words, _)| words.clone()).unwrap_or_default();
        assert!(told.contains("its terminal") || told.contains("its own terminal"), "{key}: {told}");
    }
}

#[test]
fn a_tab_of_one_is_read_only_and_says_so_and_no_key_is_offered_that_does_nothing() {
    let mut ui = opened();
    for size in SIZES {
        let screen = sample::draw(&mut ui, size);
        assert!(screen.contains("read-only") && screen.contains("fix it"), "{screen}");
        let footer = screen.lines().last().unwrap_or_default();
        for word in ["pause", "start", "message", "stop", "commit", "edit", "resume", "next ticket", "changes", "$"] {
            assert!(!footer.contains(word), "{word}: {footer}");
        }
        assert!(!screen.contains("Iteration") && !screen.contains("Breaker"), "{screen}");
        assert!(!screen.contains("its beginning is"), "{screen}");
    }
    tell(&mut ui, Some(OwnSeen { is_cut: true, ..seen("fix it", "/home/ann/shop", Stands::YourTurn) }));
    assert!(sample::draw(&mut ui, (160, 50)).contains("its beginning is too long ago to be shown"));
    for key in "p P s i x c e E U O r D".split(' ') {
        ui.toast = None;
        assert_eq!(press(&mut ui, key), [], "{key}");
        let told = ui.toast.as_ref().map(|(words, _)| words.clone()).unwrap_or_default();
        assert!(told.contains("type everything else in its terminal"), "{key}: {told}");
    }
    tell(&mut ui, None);
    assert!(sample::draw(&mut ui, (120, 40)).contains("the session has ended"));
    assert_eq!(ui.tabs[0].standing(), TabStatus::Stopped);
}

#[test]
fn what_it_asks_has_its_card() {
    let mut ui = opened();
    let run = run_of(key().id());
    let begun = Record::RunStarted {
        folder: "/home/ann/shop".into(),
        ticket_path: key().file().to_owned(),
        title: "Your Claude session in shop".into(),
        ticket_status: None,
        phases: Vec::new(),
        unverified: Vec::new(),
        unverified_ids: Vec::new(),
        validation: Vec::new(),
        settings: crate::domain::settings::Settings::default(),
    };
    let mut started = sample::stored("session-1a2b3c4d", 1, begun);
    started.run = run;
    let approval = Approval { rule: RULE.into(), units: Vec::new(), reason: String::new(), ..sample::push("q") };
    let mut asked = sample::stored("session-1a2b3c4d", 2, Record::ApprovalAsked(approval));
    asked.run = run;
    let records = vec![Arc::new(started), Arc::new(asked)];
    let news = News::RunOpened { ticket: key(), run, earlier: 2, records, owner: Owner::Another };
    update(&mut ui, Msg::News(news));
    assert_eq!(ui.model.standing(&ui.tabs[0]), TabStatus::NeedsYou);
    let screen = sample::draw(&mut ui, (120, 40));
    assert!(screen.contains("Press !") && screen.contains("waiting for your answer"), "{screen}");
    assert!(!screen.contains("waiting for your next message"), "{screen}");
    assert_eq!(press(&mut ui, "x"), [], "only answers are taken");
    press(&mut ui, "!");
    let card = sample::draw(&mut ui, (120, 40));
    assert!(card.contains("git push") && card.contains(RULE) && !card.contains("by rule"), "{card}");
}
