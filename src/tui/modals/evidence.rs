//! What stands behind a phase: how it is, who decided that, what Claude claimed, how it was checked, what the critic said,
//! which files differ, and what each iteration cost.

use crate::base::amount::counted;
use crate::base::text::clean_line;
use crate::base::time::human;
use crate::domain::changes::{Changes, Lines, Since};
use crate::domain::claim::ClaimStatus;
use crate::domain::messages::outcome_words;
use crate::domain::phase::{Mark, PhaseId};
use crate::domain::record::ValidationRan;
use crate::domain::request::Request;
use crate::domain::ticket::TicketKey;
use crate::tui::changes::Compared;
use crate::tui::command::{Command, Scope, hints};
use crate::tui::modals::diff::Diff;
use crate::tui::model::{Mode, Model};
use crate::tui::msg::Ask;
use crate::tui::tab::{IterationEvidence, PhaseLine, Tab};
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::frame::{Frame, foot};
use crate::tui::widgets::row::{Row, highlight, wrap};
use crate::tui::widgets::scrolled::Scrolled;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::time::Duration;

/// Files that are named.
const FILES: usize = 12;

/// The dialog.
pub struct Evidence {
    pub ticket: TicketKey,
    phase: PhaseId,
    /// What differs since the phase began.
    compared: Option<Compared>,
    changes: Option<Result<Changes, String>>,
    /// The iteration that is jumped to: so many from the last.
    back: usize,
    scroll: Scrolled,
}

/// What a key wants besides.
#[allow(clippy::large_enum_variant, reason = "it lives for one key")]
pub enum Outcome {
    Stays,
    Closes,
    Shows(Box<Diff>, Ask),
    /// To this iteration in the Stream.
    Jumps(u32),
}

impl Evidence {
    /// That of a phase, and the request for what differs.
    pub fn open(tab: &Tab, phase: PhaseId) -> (Self, Option<Ask>) {
        let compared = compared(tab, phase);
        let ask = compared.clone().map(|(run, since)| Ask::Request(Request::Changes(run, since)));
        let (ticket, scroll) = (tab.id.clone(), Scrolled::default());
        (Self { ticket, phase, compared, changes: None, back: 0, scroll }, ask)
    }

    /// What differs is told; `false`: of something else.
    pub fn tell(&mut self, compared: &Compared, changes: &Result<Changes, String>) -> bool {
        let is_it = self.compared.as_ref() == Some(compared);
        if is_it {
            self.changes = Some(changes.clone());
        }
        is_it
    }

    pub fn key(&mut self, model: &Model, command: Option<Command>, lines: i32, room: Rect) -> Outcome {
        let Some(tab) = model.tab_of(&self.ticket) else { return Outcome::Closes };
        let all = tab.evidence.of(self.phase).count();
        match command {
            Some(Command::Close) => return Outcome::Closes,
            Some(Command::Own("iteration_next")) => self.choose(model, self.back.saturating_sub(1), room),
            Some(Command::Own("iteration_previous")) => {
                self.choose(model, (self.back + 1).min(all.saturating_sub(1)), room);
            }
            Some(Command::Own("jump")) => {
                if let Some(chosen) = tab.evidence.of(self.phase).rev().nth(self.back) {
                    return Outcome::Jumps(chosen.n);
                }
            }
            Some(Command::Changes) => {
                if let (Some(compared), Some(Ok(changes))) = (self.compared.clone(), &self.changes)
                    && let Some((diff, ask)) = Diff::of(compared, changes.top.clone(), changes.files.clone(), 0)
                {
                    return Outcome::Shows(Box::new(diff), ask);
                }
            }
            _ => {
                let rows = self.rows(model, columns(room)).0.len();
                self.scroll.scroll(lines, rows, page(room));
            }
        }
        Outcome::Stays
    }

    /// Another iteration, which comes into view.
    fn choose(&mut self, model: &Model, back: usize, room: Rect) {
        self.back = back;
        let (_, chosen) = self.rows(model, columns(room));
        if let Some(at) = chosen {
            self.scroll = self.scroll.showing(at, at, page(room));
        }
    }

    pub fn view(&self, model: &Model, theme: &Theme, room: Rect, buf: &mut Buffer) {
        let Some((tab, line)) = find(model, &self.ticket, self.phase) else { return };
        let (rows, chosen) = self.rows(model, columns(room));
        let title = format!("Phase · {}", clean_line(line.text, 400));
        let below = self.scroll.below(rows.len(), page(room));
        let status =
            if below > 0 { format!("{below} more {}", model.glyphs.pick("↓", "v")) } else { tab.id.to_string() };
        let inside = Frame::dialog(&title, &status, model.glyphs).draw(theme, room, buf);
        let text = Rect { height: inside.height.saturating_sub(2), ..inside };
        for (place, (at, row)) in text.rows().zip(rows.iter().enumerate().skip(self.scroll.above())) {
            row.draw(theme, place, buf);
            if chosen == Some(at) {
                highlight(theme.style(Role::Selection), place, buf);
            }
        }
        let mut keys = Vec::new();
        if matches!(&self.changes, Some(Ok(changes)) if !changes.files.is_empty()) {
            keys.push(Command::Changes);
        }
        if chosen.is_some() {
            keys.extend([Command::Own("iteration_previous"), Command::Own("jump")]);
        }
        keys.push(Command::Close);
        Row::keys(hints(model, Scope::Evidence, &keys)).draw(theme, foot(inside), buf);
    }

    /// All lines, and which of them is the chosen iteration.
    fn rows(&self, model: &Model, columns: usize) -> (Vec<Row>, Option<usize>) {
        let Some((tab, line)) = find(model, &self.ticket, self.phase) else { return (Vec::new(), None) };
        let mut page = Page { model, columns, rows: Vec::new() };
        let iterations: Vec<&IterationEvidence> = tab.evidence.of(self.phase).collect();
        page.standing(tab, &line, &iterations);
        page.claim(&iterations);
        page.checks(&iterations);
        page.critic(&iterations);
        page.changes(self.compared.is_some(), self.changes.as_ref());
        let chosen = page.iterations(&iterations, self.back);
        page.decisions(tab, self.phase);
        (page.rows, chosen)
    }
}

fn find<'a>(model: &'a Model, ticket: &TicketKey, phase: PhaseId) -> Option<(&'a Tab, PhaseLine<'a>)> {
    let tab = model.tab_of(ticket)?;
    let line = tab.phases(model.mode == Mode::Replay).into_iter().find(|line| line.id == phase)?;
    Some((tab, line))
}

/// From the phase's first snapshot to the one behind its last iteration, else to now.
fn compared(tab: &Tab, phase: PhaseId) -> Option<Compared> {
    let run = tab.run?;
    let from = tab.state.phase_by(phase)?.baseline.clone()?;
    let last = tab.evidence.of(phase).next_back()?.n;
    let since = match tab.evidence.snapshot_after(last) {
        Some(to) => Since::Between(from, to.to_owned()),
        None => Since::Snapshot(from),
    };
    Some((run, since))
}

fn columns(room: Rect) -> usize {
    usize::from(room.width).saturating_sub(4)
}

fn page(room: Rect) -> usize {
    usize::from(room.height).saturating_sub(4)
}

/// The lines while they are made.
struct Page<'a> {
    model: &'a Model,
    columns: usize,
    rows: Vec<Row>,
}

impl Page<'_> {
    fn title(&mut self, words: &str, beside: &str) {
        self.rows.push(Row::new());
        self.rows.push(Row::new().left(Role::Title, words).left(Role::Dim, format!("  {beside}")));
    }

    fn say(&mut self, role: Role, words: &str) {
        let lines = wrap(words, self.columns.saturating_sub(2));
        self.rows.extend(lines.into_iter().map(|line| Row::new().left(role, format!("  {line}"))));
    }

    fn standing(&mut self, tab: &Tab, line: &PhaseLine<'_>, iterations: &[&IterationEvidence]) {
        let sign = self.model.standing(tab).of_phase(line.mark, self.model.glyphs);
        let sign = line.sign(sign, self.model.glyphs);
        let mut facts = Vec::new();
        if let Some(time) = line.run.and_then(|run| tab.time_on(run, self.model.moment(tab))) {
            facts.push(human(time));
        }
        if !iterations.is_empty() {
            let cost: f64 = iterations.iter().map(|iteration| iteration.cost_usd).sum();
            facts.push(format!("${cost:.2}"));
            facts.push(counted(iterations.len(), "iteration"));
        }
        let row = Row::new().left(sign.role, format!("{} {}", sign.glyph, sign.word));
        self.rows.push(row.right(Role::Dim, facts.join(" · ")));
        match tab.evidence.decisions(line.id).next_back() {
            Some(last) => {
                let time = last.time.clock_time(&self.model.zone);
                self.say(Role::Text, &format!("{} · {time}", clean_line(&last.words, 800)));
            }
            None if matches!(line.mark, Mark::Done(_)) => self.say(Role::Dim, "Decided before this run."),
            None => {}
        }
        if line.is_taken_back() {
            self.say(
                Role::Warning,
                "A restore reverted its work: it is no longer in the files. `r` in Tickets reopens it.",
            );
        }
        if let Some(dispute) = line.run.and_then(|run| run.dispute.as_deref()).filter(|_| line.mark == Mark::Disputed) {
            self.say(Role::Warning, dispute.lines().next().unwrap_or_default());
        }
    }

    fn claim(&mut self, iterations: &[&IterationEvidence]) {
        let Some((n, claim)) = iterations.iter().rev().find_map(|one| Some((one.n, one.claim.as_ref()?))) else {
            self.title("Claim", "");
            return self.say(Role::Dim, "No claim about this phase in this run.");
        };
        let phase = claim.phase_completed.as_ref().map(|phase| format!(" · “{phase}”")).unwrap_or_default();
        let word = match claim.status {
            ClaimStatus::Blocked => "blocked",
            ClaimStatus::Continue if claim.phase_completed.is_none() => "not done yet",
            ClaimStatus::Continue | ClaimStatus::Done => "claimed",
        };
        let words = clean_line(&format!("iteration {n} · {word}{phase}"), 300);
        self.title("Claim", &words);
        if !claim.summary.is_empty() {
            self.say(Role::Text, &claim.summary);
        }
        if let Some(error) = claim.more_wrong() {
            self.say(Role::Warning, error);
        }
        if let Some(files) = claim.claimed_files() {
            self.say(Role::Dim, &format!("claims to have changed: {}", clean_line(&files, 600)));
        }
    }

    fn checks(&mut self, iterations: &[&IterationEvidence]) {
        let Some(last) = iterations.iter().rev().find(|iteration| !iteration.checks.is_empty()) else { return };
        self.title("Validation", &format!("iteration {}", last.n));
        for check in &last.checks {
            self.check(check);
        }
    }

    fn check(&mut self, check: &ValidationRan) {
        let glyphs = self.model.glyphs;
        let (glyph, role) = if check.passed() {
            (glyphs.pick("✓", "v"), Role::Success)
        } else {
            (glyphs.pick("✗", "x"), Role::Danger)
        };
        let end = match check.exit {
            _ if check.timed_out => "timed out".to_owned(),
            Some(code) => format!("exit {code}"),
            None => "ended by a signal".to_owned(),
        };
        let time = human(Duration::from_millis(check.ms));
        let row = Row::new().left(role, format!("  {glyph} ")).left(Role::Text, clean_line(&check.command, 400));
        self.rows.push(row.right(role, end).right(Role::Dim, format!(" · {time}")));
        let tail = check.tail.trim_end();
        if !tail.is_empty() {
            let lines = wrap(tail, self.columns.saturating_sub(4));
            self.rows.extend(lines.into_iter().map(|line| Row::new().left(Role::Dim, format!("    {line}"))));
        }
        if !check.log.is_empty() {
            let path = self.model.short_path(&check.log);
            self.rows.push(Row::new().left(Role::Dim, format!("        full output: {path}")));
        }
    }

    fn critic(&mut self, iterations: &[&IterationEvidence]) {
        let Some((n, critique)) = iterations.iter().rev().find_map(|one| Some((one.n, one.critique.as_ref()?))) else {
            return;
        };
        self.title("Critic", &format!("iteration {n} · {}", critique.verdict.word()));
        if !critique.summary.is_empty() {
            self.say(Role::Text, &critique.summary);
        }
        for issue in &critique.issues {
            let doubt = if issue.doubtful { "  (about a file that the phase did not change)" } else { "" };
            self.say(Role::Warning, &format!("{}{doubt}", issue.words()));
        }
    }

    fn changes(&mut self, is_asked: bool, changes: Option<&Result<Changes, String>>) {
        let changes = match changes {
            None if is_asked => {
                self.title("Changes", "");
                return self.say(Role::Dim, "Comparing …");
            }
            None => return,
            Some(Err(why)) => {
                self.title("Changes", "");
                return self.say(Role::Dim, why);
            }
            Some(Ok(changes)) => changes,
        };
        if changes.total == 0 {
            self.title("Changes", "");
            return self.say(Role::Dim, "No files differ.");
        }
        let lines = if changes.plain { String::new() } else { format!("  +{} −{}", changes.added, changes.removed) };
        self.title("Changes", &format!("{}{lines}", counted(changes.total, "file")));
        for file in changes.files.iter().take(FILES) {
            let row = Row::new().left(Role::Dim, format!("  {} ", file.change.letter()));
            let row = row.left(Role::Text, clean_line(&file.path, 400));
            self.rows.push(match file.lines {
                Lines::Counted { added, removed } => {
                    row.right(Role::DiffAdd, format!("+{added} ")).right(Role::DiffDel, format!("−{removed}"))
                }
                _ => row,
            });
        }
        if let Some(more) = changes.total.checked_sub(FILES).filter(|more| *more > 0) {
            self.say(Role::Dim, &format!("{} more", counted(more, "file")));
        }
    }

    /// One line each; which of them is chosen.
    fn iterations(&mut self, iterations: &[&IterationEvidence], back: usize) -> Option<usize> {
        if iterations.is_empty() {
            self.title("Iterations", "");
            self.say(Role::Dim, "No iteration of this run has worked on it.");
            return None;
        }
        self.title("Iterations", "");
        let from = self.rows.len();
        for one in iterations {
            let outcome = one.outcome.map_or("in progress", outcome_words);
            let files = if one.files > 0 { format!(" · {}", counted(one.files, "file")) } else { String::new() };
            let time = one.outcome.map(|_| human(Duration::from_millis(one.ms))).unwrap_or_default();
            let row = Row::new()
                .left(Role::Text, format!("  {:>4}  {:<9} ", one.n, clean_line(one.step.word(), 9)))
                .left(Role::Dim, format!("{outcome}{files}"))
                .right(Role::Dim, format!("{time:>10}"))
                .right(Role::Text, format!("  {:>7}", format!("${:.2}", one.cost_usd)))
                .right(Role::Dim, format!("  {}", one.began.clock_time(&self.model.zone)));
            self.rows.push(row);
        }
        Some(from + iterations.len().saturating_sub(1 + back))
    }

    fn decisions(&mut self, tab: &Tab, phase: PhaseId) {
        let mut all = tab.evidence.decisions(phase).peekable();
        if all.peek().is_some() {
            self.title("Decisions", "");
        }
        for one in all {
            let time = one.time.clock_time(&self.model.zone);
            self.say(Role::Text, &format!("{time}  {}", clean_line(&one.words, 800)));
        }
    }
}
