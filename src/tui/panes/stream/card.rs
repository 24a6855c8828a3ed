//! How an iteration ends, as one card: the status block in words, and written into it later how it was judged, by which
//! commands, what it cost and how long it took. A claim without a readable status block is a row of its own.

use super::row::{Later, Row};
use super::verdict::{BAR, Check, Judged, Part, how, sign};
use crate::base::amount::counted;
use crate::base::text::clean_line;
use crate::domain::claim::{Claim, ClaimStatus};
use crate::domain::critique::{CriticVerdict, Critique, Severity};
use crate::domain::evaluation::{Evaluation, GoalVerdict};
use crate::domain::messages::{AT_LAST, draft_words, part_words};
use crate::domain::ticket::draft::Draft;
use crate::domain::ticket::part::Part as TicketPart;
use crate::tui::theme::role::Role;
use crate::tui::widgets::wrap::{Break, Piece, wrap};
use ratatui::style::Modifier;

/// A status block's rows.
pub(super) fn rows(claim: &Claim, columns: usize) -> Vec<Row> {
    let line = |text: &str| clean_line(text, 400);
    let (mark, role, word) = match claim.status {
        ClaimStatus::Blocked => ("■ ", Role::PhaseBlocked, "blocked"),
        _ if says_done(claim) => ("◐ ", Role::PhaseClaimed, "claimed"),
        _ => ("◐ ", Role::StreamStatus, "not done yet"),
    };
    let what = match &claim.phase_completed {
        Some(phase) => format!(" · “{}”", line(phase)),
        None if says_done(claim) => " · the whole ticket".to_owned(),
        None => " · no phase completed".to_owned(),
    };
    let of = |part, left: Vec<Piece>| {
        let left = [Piece::new(BAR, role)].into_iter().chain(left).collect();
        Row { left, later: Later::Verdict(part), ..Row::default() }
    };
    let word = Piece { modifier: Modifier::BOLD, ..Piece::new(word, role) };
    let mut out = vec![of(Part::Head, vec![Piece::new(mark, role), word, Piece::new(what, Role::StreamText)])];
    let mut say = |text: String, role| {
        let rows = wrap(&[Piece::new(text, role)], columns.saturating_sub(2), 0, Break::Words);
        out.extend(rows.into_iter().map(|row| of(Part::Words, row)));
    };
    if !claim.summary.is_empty() {
        say(line(&format!("Claude: {}", claim.summary)), Role::StreamText);
    }
    if let Some(error) = claim.more_wrong() {
        say(line(error), Role::StreamError);
    }
    if !claim.files_changed.is_empty() {
        let files = counted(claim.files_changed.len(), "file");
        say(line(&format!("Claude says it changed {files}: {}", claim.files_changed.join(", "))), Role::Dim);
    }
    if says_done(claim) {
        out.push(of(Part::Checks, vec![Piece::new("", Role::Dim)]));
    }
    out
}

/// A critic's verdict: what it comes to, its words, and each issue with its place.
pub(super) fn critique(critique: &Critique, columns: usize) -> Vec<Row> {
    let many = critique.issues.len();
    let (mark, role, word) = match critique.verdict {
        CriticVerdict::Approved => ("✓ ", Role::PhaseDone, "approved".to_owned()),
        CriticVerdict::MinorIssues => ("✓ ", Role::PhaseUnchecked, counted(many, "minor issue")),
        CriticVerdict::NeedsFixes => ("✎ ", Role::PhaseDisputed, format!("{} to fix", counted(many, "issue"))),
    };
    let of = |left: Vec<Piece>| Row::from([Piece::new(BAR, role)].into_iter().chain(left).collect::<Vec<_>>());
    let word = Piece { modifier: Modifier::BOLD, ..Piece::new(word, role) };
    let head = vec![Piece::new(mark, role), word, Piece::new(" · the critic", Role::StreamText)];
    let mut out = vec![of(head)];
    let room = columns.saturating_sub(2);
    if !critique.summary.is_empty() {
        let words = Piece::new(clean_line(&critique.summary, 600), Role::StreamText);
        out.extend(wrap(&[words], room, 0, Break::Words).into_iter().map(of));
    }
    for issue in &critique.issues {
        let severity = match issue.severity {
            Severity::Critical | Severity::Major => Role::StreamError,
            Severity::Minor => Role::Dim,
        };
        let mut pieces = vec![Piece::new(format!("{} ", issue.severity.word()), severity)];
        pieces.extend(issue.place().map(|place| Piece::new(format!("{} ", clean_line(&place, 200)), Role::StreamTool)));
        pieces.push(Piece::new(clean_line(&issue.text, 600), Role::StreamText));
        let evidence = issue.evidence.as_ref().map(|why| format!(" · {}", clean_line(why, 400)));
        pieces.extend(evidence.map(|why| Piece::new(why, Role::Dim)));
        out.extend(wrap(&pieces, room, 2, Break::Words).into_iter().map(of));
    }
    out
}

/// An evaluator's answer: whether the goal is reached, its words, and the phases that it finds missing.
pub(super) fn evaluation(said: &Evaluation, columns: usize) -> Vec<Row> {
    let (mark, role, word) = match said.verdict {
        GoalVerdict::Achieved => ("✓ ", Role::PhaseDone, "goal reached".to_owned()),
        GoalVerdict::MoreWork => {
            ("✎ ", Role::PhaseDisputed, format!("{} missing", counted(said.phases.len(), "phase")))
        }
    };
    let of = |left: Vec<Piece>| Row::from([Piece::new(BAR, role)].into_iter().chain(left).collect::<Vec<_>>());
    let word = Piece { modifier: Modifier::BOLD, ..Piece::new(word, role) };
    let mut out = vec![of(vec![Piece::new(mark, role), word, Piece::new(" · the evaluator", Role::StreamText)])];
    let summary = Some(&said.summary).filter(|summary| !summary.is_empty());
    let lines = summary.map(|words| (0, words.clone())).into_iter();
    for (indent, line) in lines.chain(said.phases.iter().map(|phase| (2, format!("+ {phase}")))) {
        let words = Piece::new(clean_line(&line, 600), Role::StreamText);
        out.extend(wrap(&[words], columns.saturating_sub(2), indent, Break::Words).into_iter().map(of));
    }
    out
}

/// A planner's draft: how much it is, its phases, and the commands that are to check them.
pub(super) fn draft(draft: &Draft, columns: usize) -> Vec<Row> {
    let role = Role::StreamStatus;
    let of = |left: Vec<Piece>| Row::from([Piece::new(BAR, role)].into_iter().chain(left).collect::<Vec<_>>());
    let word = Piece { modifier: Modifier::BOLD, ..Piece::new("draft", role) };
    let mut out = vec![of(vec![
        Piece::new("◐ ", role),
        word,
        Piece::new(format!(" · {}", draft_words(draft)), Role::StreamText),
    ])];
    let phase = |phase: &String| ("○ ", phase.clone(), Role::StreamText);
    let part = |(n, part): (usize, &TicketPart)| {
        std::iter::once(("", part_words(n, part), Role::Title)).chain(part.phases.iter().map(phase)).collect::<Vec<_>>()
    };
    let parts = (1..).zip(&draft.parts).flat_map(part);
    let own = (!draft.parts.is_empty()).then(|| ("", AT_LAST.to_owned(), Role::Title));
    let commands = draft.validation.iter().map(|command| ("$ ", command.clone(), Role::Dim));
    for (sign, line, role) in parts.chain(own).chain(draft.phases.iter().map(phase)).chain(commands) {
        let pieces = [Piece::new(sign, Role::Dim), Piece::new(clean_line(&line, 600), role)];
        out.extend(wrap(&pieces, columns.saturating_sub(2), 2, Break::Words).into_iter().map(of));
    }
    out
}

/// It says that something is done.
fn says_done(claim: &Claim) -> bool {
    claim.phase_completed.is_some() || claim.status == ClaimStatus::Done
}

/// The row of a claim that has no card.
pub(super) fn claim(phase: Option<&str>, checks: &[Check], judged: Judged) -> Row {
    let what = phase
        .map_or_else(|| "claimed the whole ticket".to_owned(), |phase| format!("claimed “{}”", clean_line(phase, 120)));
    let (mark, role, _) = sign(judged);
    let how = match (how(judged, checks).as_str(), judged) {
        (_, Judged::Disputed) => " · disputed".to_owned(),
        ("", _) => String::new(),
        (how, _) => format!(" · {how}"),
    };
    Row::from(vec![Piece::new(format!("{mark} {what}"), role), Piece::new(how, Role::Dim)])
}
