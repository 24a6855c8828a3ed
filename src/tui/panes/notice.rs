//! What the Stream pane says when it is not Claude who speaks: that there is no ticket, that nothing
//! was started, why it stands still, and which key helps. What stands there once a run has ended is `panes::ending`'s.

use crate::base::amount::counted;
use crate::base::text::{clean_line, cut};
use crate::base::time::human;
use crate::domain::approval::ApprovalKind;
use crate::domain::breaker::Circuit;
use crate::domain::limits::Parking;
use crate::domain::limits::admission::Why;
use crate::domain::limits::provider::Reset;
use crate::domain::messages::{draft_words, reason_words, wait_words};
use crate::domain::outcome::ExitReason;
use crate::domain::own_session;
use crate::domain::phase::Mark;
use crate::orchestrator::state::{PhaseState, Stage};
use crate::tui::attention::left_words;
use crate::tui::call_words::call_words;
use crate::tui::model::{Mode, Model};
use crate::tui::panes::stream::FollowStatus;
use crate::tui::panes::{ending, tickets};
use crate::tui::tab::{Tab, TabStatus};
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::row::{Row, wrap, wrap_most};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::time::Duration;
use unicode_width::UnicodeWidthStr;

/// Lines that a banner takes at most.
const BANNER: usize = 6;
/// The key that shows what is asked.
const PRESS: &str = "Press !";
/// Lines of the end card beside what is read above it, at least and at most: air, how the run ended, the keys.
const READ: (u16, u16) = (4, 6);

/// The inside of the Stream pane, divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Places {
    pub stream: Rect,
    /// Ours; empty when there is nothing to say.
    pub banner: Rect,
}

/// Divides the inside of the Stream pane.
pub fn place(model: &Model, inside: Rect) -> Places {
    let most = usize::from(match model.tab() {
        // Who has scrolled back reads: the card at the end leaves the room to what is read.
        Some(tab) if tab.is_over() && tab.stream.status() != FollowStatus::Following => {
            (inside.height / 2).clamp(READ.0, READ.1).min(inside.height)
        }
        Some(tab) if tab.is_over() => inside.height * 3 / 5,
        _ => inside.height / 2,
    });
    let lines = match lines(model, inside.width.into(), most.saturating_sub(1)).len() {
        0 => 0,
        lines => (lines + 1).min(most) as u16,
    };
    let stream = Rect { height: inside.height - lines, ..inside };
    Places { stream, banner: Rect { y: inside.y + stream.height, height: lines, ..inside } }
}

/// Draws the banner, a blank line above it.
pub fn view_banner(model: &Model, theme: &Theme, area: Rect, buf: &mut Buffer) {
    let lines = lines(model, area.width.into(), usize::from(area.height).saturating_sub(1));
    for (place, line) in area.rows().skip(1).zip(lines) {
        line.draw(theme, place, buf);
    }
}

/// The banner of the ticket in front, `most` lines of it at most.
fn lines(model: &Model, width: usize, most: usize) -> Vec<Row> {
    let Some(tab) = model.tab() else { return Vec::new() };
    let Some((role, words)) = banner(model, tab) else { return Vec::new() };
    if tab.is_over() {
        return ending::lines(model, tab, (role, words), width, most);
    }
    let glyph = model.standing(tab).sign(model.glyphs).glyph;
    let mark = |at| if at == 0 { format!("{glyph} ") } else { "  ".into() };
    let words = keeping_key(&words, width.saturating_sub(2), most.min(BANNER)).into_iter();
    words.enumerate().map(|(at, line)| Row::new().left(role, mark(at)).left(role, line)).collect()
}

/// `words` in at most `most` lines; where they do not fit, what is asked is cut before the key that shows it.
fn keeping_key(words: &str, columns: usize, most: usize) -> Vec<String> {
    let Some(at) = words.rfind(PRESS).filter(|_| wrap(words, columns).len() > most) else {
        return wrap_most(words, columns, most);
    };
    let (asks, key) = words.split_at(at);
    let room = (columns * most).saturating_sub(key.width() + 1);
    let shorter = (1..=room).rev().map(|room| wrap(&format!("{} {key}", cut(asks.trim_end(), room)), columns));
    shorter.into_iter().find(|lines| lines.len() <= most).unwrap_or_else(|| wrap_most(words, columns, most))
}

/// Why it stands still and which key helps.
pub fn banner(model: &Model, tab: &Tab) -> Option<(Role, String)> {
    let live = model.mode == Mode::Live;
    let key = |words: &str| {
        if live { words.to_owned() } else { String::new() }
    };
    if let Some(lost) = &model.lost {
        return Some((Role::Danger, clean_line(lost, 600)));
    }
    if let Some(why) = model.queued_why(&tab.id) {
        return Some((Role::Dim, format!("queued: {why}{}", key("  · x removes it from the queue"))));
    }
    if let Some(failure) = &tab.failure {
        let failure = clean_line(failure, 600);
        return Some((Role::Danger, format!("{failure}{}", key("  · p retries"))));
    }
    if let Some(words) = tab.own_words().filter(|_| live && !model.needs_you(tab)) {
        return Some((Role::Dim, words));
    }
    if tab.is_interrupted() && live {
        let left = model.runs.get(&tab.id).map_or_else(String::new, |run| left_words(run));
        let words = match left.as_str() {
            "" => "p resumes".to_owned(),
            left => format!("{left} · p resumes it, then shows its card"),
        };
        return Some((Role::Warning, format!("interrupted: its process has exited · {words}")));
    }
    if let Some(why) = model.is_elsewhere(tab).filter(|_| live && !tab.is_over() && !model.needs_you(tab)) {
        return Some((Role::Dim, why));
    }
    if let Some(words) = tab.unstored.words(&tab.state, &model.zone) {
        return Some((Role::Danger, format!("{words}{}", key(" · x stops"))));
    }
    if let Some(approval) =
        tab.state.approvals.first().filter(|_| live && tab.state.ended.is_none() && model.sheet.is_none())
    {
        let more = tab.state.approvals.len() - 1;
        let more = if more > 0 { format!(", {more} more waiting") } else { String::new() };
        let words = match approval.kind {
            ApprovalKind::Question => format!("Claude {}", call_words(approval)),
            ApprovalKind::Plan => "Claude has a plan for you to approve".to_owned(),
            ApprovalKind::Call | ApprovalKind::Passphrase => {
                let call = call_words(approval);
                let command = call.strip_prefix("Bash ").map(|command| format!("`{command}`"));
                format!("Approve {}?", command.unwrap_or(call))
            }
        };
        let words = cut(&words, 200);
        let air = if words.ends_with('?') { " " } else { " · " };
        return Some((Role::Warning, format!("{words}{air}{PRESS}{more}")));
    }
    if tab.state.validation_change.is_some() && tab.state.ended.is_none() {
        let words = if tab.state.stage == Stage::Idle && tab.state.is_complete() {
            "Complete with the old validation commands. The ticket's list changed during the run: choose which list to use."
        } else {
            "The ticket's validation commands were changed during the run. The old list applies until you decide."
        };
        return Some((Role::Warning, format!("{words}{}", key(" Press ! to decide."))));
    }
    if let Some(proposal) = tab.state.awaits_phases().filter(|_| live) {
        let many = counted(proposal.phases.len(), "more phase");
        let words =
            format!("All phases are settled, but the goal is not reached yet: {many} proposed. Press ! to decide.");
        return Some((Role::Warning, words));
    }
    if let Some(draft) = tab.state.waiting_draft().filter(|_| live) {
        let many = if draft.parts.is_empty() { counted(draft.phases.len(), "phase") } else { draft_words(draft) };
        // A run that has ended decides nothing: its draft is shown once it is resumed.
        let next = if tab.is_over() { " p resumes its run, then ! shows the draft." } else { " Press ! to decide." };
        return Some((Role::Warning, format!("A draft is ready: {many}.{}", key(next))));
    }
    if tab.reopened {
        let (done, all) = tab.progress();
        let words = match all {
            0 => "complete; reopened in the file since".to_owned(),
            _ => format!("complete; changed since: {} of {all} phases open in the file", all - done),
        };
        return Some((Role::Warning, words));
    }
    if let Some(ended) = &tab.state.ended {
        // The detail says all; not every end has one. What it says of the breaker was so at the end, not now.
        let detail =
            BREAKER_TOO.iter().fold(ended.detail.as_str(), |detail, too| detail.split(too).next().unwrap_or(detail));
        let words = match clean_line(detail, 600) {
            detail if detail.is_empty() => reason_words(ended.reason).to_owned(),
            detail => detail,
        };
        return Some(match ended.reason {
            ExitReason::Complete => {
                let role = if tab.state.is_unverified() { Role::Warning } else { Role::Success };
                (role, complete(tab))
            }
            ExitReason::Drafted if live => {
                let words = "a draft of its phases is ready: accept, revise or discard it";
                (Role::Warning, format!("{words}{}", key(" · p shows it")))
            }
            ExitReason::UserStopped if own_session::is(tab.id.id(), tab.id.file()) => {
                (Role::Dim, "idle: no question".to_owned())
            }
            ExitReason::UserStopped if tab.state.chat.is_some() => (Role::Dim, "chat closed".to_owned()),
            ExitReason::UserStopped | ExitReason::TerminalClosed => (Role::Dim, reason_words(ended.reason).to_owned()),
            ExitReason::Error | ExitReason::StorageFailed | ExitReason::TicketGone => (Role::Danger, words),
            ExitReason::CircuitOpen if tab.state.breaker.state == Circuit::Open => {
                (Role::Danger, circuit_open(model, tab))
            }
            _ if tab.state.breaker.state == Circuit::Open => {
                (Role::Warning, format!("{words}. Also, {}", circuit_open(model, tab)))
            }
            _ => (Role::Warning, words),
        });
    }
    match (&tab.state.stage, tab.standing()) {
        (_, TabStatus::Gone) => Some((Role::Danger, "The ticket's file is gone.".into())),
        _ if tab.state.awaits_message() => {
            let running = tab.state.open_iteration().map_or(0, |open| open.background.len());
            let running = match running {
                0 => String::new(),
                running => format!(" · {} in the background", counted(running, "command")),
            };
            let keys = key(" · i writes it, x closes the chat");
            Some((Role::Info, format!("waiting for your message{running}{keys}")))
        }
        (Stage::Paused, _) => {
            Some((Role::Warning, format!("paused{}", key(" · p resumes, i sends Claude a message first, x stops"))))
        }
        (Stage::Parked, _) => {
            let parking = tab.state.limits.parked.as_ref()?;
            let wait = match model.mode {
                Mode::Live => format!("; {}{}", at_time(model, parking), wait_words(parking, model.now)),
                Mode::Replay => String::new(),
            };
            let keys = match parking.why {
                Why::Provider | Why::Warning => "  · r retries now, p pauses, x stops",
                Why::Calls | Why::Tokens => " · your own limit, so it cannot be retried early; p pauses, x stops",
                Why::Budget => " · your own budget, so it cannot be retried early; p pauses, x stops",
            };
            let keys = key(keys);
            Some((Role::Warning, format!("parked: {}{wait}{keys}", clean_line(&parking.about, 200))))
        }
        // A chat gets the directory for each message, at once where nobody has it.
        (Stage::AwaitingTree { holder: None }, _)
            if tab.state.chat.is_some() || own_session::is(tab.id.id(), tab.id.file()) =>
        {
            None
        }
        (Stage::AwaitingTree { holder }, _) => {
            let words = format!("queued behind {} (same directory)", at_work(model, tab, holder.as_deref()));
            Some((Role::Dim, format!("{words}{}", key(" · p pauses, x cancels"))))
        }
        (_, TabStatus::Stopping) => {
            Some((Role::Dim, format!("stopping after this iteration{}", key(" · p keeps going, x stops now"))))
        }
        (_, TabStatus::Pausing) => {
            Some((Role::Dim, format!("pausing after this iteration{}", key(" · p cancels, P pauses now"))))
        }
        _ => None,
    }
}

/// Where the words of a guard end that found the breaker open as well; the others in older journals.
const BREAKER_TOO: [&str; 3] =
    [". Also, the circuit breaker is open", ". Also, the circuit breaker is OPEN", ". And the circuit breaker is OPEN"];

/// Why the breaker is open and what becomes of it now; the words that ended the run tell of the moment it ended.
fn circuit_open(model: &Model, tab: &Tab) -> String {
    let breaker = &tab.state.breaker;
    if tab.state.has_all_done() {
        return "all phases are done".to_owned();
    }
    let next = match (model.breaker_left(tab), model.mode) {
        (_, Mode::Replay) => String::new(),
        (Some(left), Mode::Live) if !left.is_zero() => {
            let left = human(left + Duration::from_millis(999));
            format!("; one iteration is allowed in {left}")
        }
        _ => "; the next start allows one iteration".to_owned(),
    };
    format!("the circuit breaker is open: {}{next}", clean_line(&breaker.reason, 400))
}

/// The time of day to which a wait lasts, when it is known.
fn at_time(model: &Model, parking: &Parking) -> String {
    match parking.reset {
        Reset::Known => {
            let (until, time) = (parking.until, parking.until.minute(&model.zone));
            let day = if until.is_within_a_day_of(model.now) { String::new() } else { until.day(&model.zone) + " " };
            format!("until {day}{time}, ")
        }
        Reset::Unknown | Reset::Probe => String::new(),
    }
}

/// Who works in the folder: the ticket beside us when it is one, else the holder in the words of its lock.
pub fn at_work(model: &Model, tab: &Tab, holder: Option<&str>) -> String {
    let has_it = |other: &&Tab| other.has_open_run() && other.state.has_tree;
    let beside = model.tabs.iter().filter(has_it);
    let beside = beside.into_iter().find(|other| other.state.workspace.collides_with(&tab.state.workspace));
    match (beside, holder) {
        (Some(beside), _) if beside.state.stage == Stage::Paused => format!("{}, which is paused", beside.id),
        (Some(beside), _) if beside.state.chat.is_some() => "a chat".to_owned(),
        (Some(beside), _) => beside.id.to_string(),
        (None, Some(holder)) => clean_line(holder, 100),
        (None, None) => "another run".into(),
    }
}

fn complete(tab: &Tab) -> String {
    let (done, all) = tab.progress();
    let is_open_again = |phase: &&PhaseState| matches!(phase.mark, Mark::Done(_)) && phase.stands() == Mark::Pending;
    let again = tab.state.phases.iter().filter(is_open_again).count();
    let phases = match (again, all) {
        (_, 0) => String::new(),
        (0, _) => format!(": {done}/{all} phases"),
        _ => format!(", {} reopened since: {done}/{all} done", counted(again, "phase")),
    };
    format!("complete{phases}{}", tab.state.caveats())
}

/// Draws the empty state; `false` when there is a run to show instead.
pub fn view_empty(model: &Model, theme: &Theme, area: Rect, buf: &mut Buffer) -> bool {
    let mut say: Vec<(Role, String)> = Vec::new();
    match model.tab() {
        None => {
            say.push((Role::Title, "No ticket is open.".into()));
            say.push((Role::Text, String::new()));
            say.push((Role::Text, "t      opens and starts a ticket by id or path".into()));
            if model.focus == tickets::NAME {
                say.push((Role::Text, "Enter  opens and starts the ticket selected in Tickets".into()));
            } else if !model.listed.is_empty() {
                say.push((Role::Text, "⇧Tab   to Tickets; Enter there opens and starts one".into()));
            }
            say.push((Role::Text, "?      shows every key".into()));
            say.push((Role::Text, "q      quits".into()));
            say.push((Role::Text, String::new()));
            say.push((Role::Dim, "A ticket is a markdown file with checkboxes. Create one:".into()));
            say.push((Role::Text, "programmator ticket new \"The goal\"".into()));
        }
        Some(tab) if tab.run.is_some() => return false,
        Some(tab) => {
            say.push((Role::Title, clean_line(tab.title(), 200)));
            say.push((Role::Text, String::new()));
            if let Some(why) = model.queued_why(&tab.id) {
                let words = wrap(&format!("Queued: {why}"), area.width.into());
                say.extend(words.into_iter().map(|line| (Role::Text, line)));
                say.push((Role::Text, String::new()));
                say.push((Role::Text, "x      removes it from the queue".into()));
            } else if let Some(failure) = &tab.failure {
                let words = wrap(failure, area.width.into());
                say.extend(words.into_iter().map(|line| (Role::Danger, line)));
                say.push((Role::Text, String::new()));
                say.push((Role::Text, "p      retries".into()));
            } else if let Some(ticket) = tab.ticket.as_ref().filter(|ticket| ticket.is_broken()) {
                say.push((Role::Danger, "The ticket cannot be run:".into()));
                say.extend(ticket.problems.iter().map(|problem| {
                    let words = format!("  line {}, column {}: {}", problem.line, problem.column, problem.message);
                    (Role::Text, words)
                }));
            } else {
                let (done, all) = tab.progress();
                let phases = if all == 0 {
                    "No phases: Claude works on the ticket as a whole.".into()
                } else {
                    format!("{done} of {all} phases are done.")
                };
                say.push((Role::Text, format!("{phases} Not started yet.")));
                say.push((Role::Text, String::new()));
                say.push((Role::Text, "p      starts".into()));
            }
            say.push((Role::Text, "e      edits the ticket".into()));
        }
    }
    let top = area.height.saturating_sub(say.len() as u16) / 3;
    for (place, (role, text)) in area.rows().skip(top.into()).zip(say) {
        let inside =
            ratatui::layout::Rect { x: place.x + 1.min(place.width), width: place.width.saturating_sub(1), ..place };
        Row::new().left(role, text).draw(theme, inside, buf);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_seen_however_long_the_question_is() {
        let asks =
            format!("Approve `git push -q origin {}`? Press !, 2 more waiting", "HEAD:a-very-long-branch/".repeat(8));
        let lines = keeping_key(&asks, 40, 3);
        assert!(lines.len() == 3 && lines[0].starts_with("Approve `git push"), "{lines:?}");
        assert!(lines[2].ends_with("Press !, 2 more waiting") && lines.join(" ").contains('…'), "{lines:?}");
        assert_eq!(keeping_key("Approve `ls`? Press !", 40, 3), ["Approve `ls`? Press !"]);
    }
}
