//! What each step of a scenario does, the unpleasant ones included. The format is described in [`super::scenario`].

use super::calls::Asking;
use super::host::Course;
use super::line::LONE_SURROGATE;
use super::prompt;
use super::scenario::{Drafted, DraftedTicket, Goal, Retry, Status, Step, Verdict};
use super::session::{LastCall, Session};
use super::shell;
use super::tally::End;
use rustix::process::Signal;
use serde_json::json;
use std::fs;
use std::io::{self, Write};
use std::sync::atomic::Ordering;
use std::time::Duration;

impl Session {
    /// Performs one step; `Err` ends the turn.
    pub(super) fn perform(&mut self, step: &Step) -> Result<(), End> {
        match step {
            Step::Say(text) => self.say(&self.fill(text)),
            Step::Think(text) => self.think(&self.fill(text)),
            Step::Write { .. } | Step::Edit { .. } | Step::Read(_) | Step::Bash(_) | Step::Ask(_) | Step::Plan(_) => {
                self.call_tools(std::slice::from_ref(step), Asking::AsOrdered)
            }
            Step::Agent(script) => {
                let before = self.background.len();
                self.call_tools(std::slice::from_ref(step), Asking::AsOrdered)?;
                let next = if self.background.len() > before { &script.meanwhile } else { &script.then };
                next.iter().try_for_each(|step| self.perform(step))
            }
            Step::Foreign(foreign) => {
                self.foreign(foreign);
                Ok(())
            }
            Step::Together(steps) => self.call_tools(steps, Asking::AsOrdered),
            Step::Parallel(steps) => self.call_tools(steps, Asking::AtOnce),
            Step::ToolWithoutAsking(step) => self.call_tools(std::slice::from_ref(step), Asking::Never),
            Step::Status(status) => {
                let block = self.block_text(status);
                self.last_block = Some(block.clone());
                self.say(&block)
            }
            Step::Verdict(verdict) => self.say(&self.verdict_text(verdict)),
            Step::Goal(goal) => self.say(&self.goal_text(goal)),
            Step::Draft(draft) => self.say(&self.draft_text(draft)),
            Step::IfRefused(steps) if self.last_call == LastCall::Refused => steps.iter().try_for_each(|step| self.perform(step)),
            Step::IfRefused(_) | Step::NoStatus => Ok(()),
            Step::BrokenStatus => self.say(
                "Done.\n\n```yaml\nPROGRAMMATOR_STATUS:\n  phase_completed: [unclosed\n  status: MAYBE\n  files_changed: {\n```\n",
            ),
            Step::SleepMs(ms) => {
                self.host.rest(Duration::from_millis(*ms)).map_err(|_| End::AbortedStreaming)
            }
            Step::Drip { text, every_ms } => self.drip(&self.fill(text), *every_ms),
            Step::Huge(bytes) => self.say_whole(&"x".repeat(*bytes)),
            Step::Surrogate(text) => self.say_whole(&format!("{}{LONE_SURROGATE}", self.fill(text))),
            Step::ApiRetry(retry) => self.retry(retry),
            Step::ApiError { status, kind, text } => {
                let code = status.map_or_else(String::new, |status| format!("Request rejected ({status}) · "));
                let text = text.clone().unwrap_or_else(|| format!("API Error: {code}scripted"));
                self.host.emit(&self.book.synthetic(&text, kind));
                Err(End::Failed(*status, text))
            }
            Step::Hang {} => self.hang(),
            other => {
                self.misbehave(other);
                Ok(())
            }
        }
    }

    /// The steps that print what no CLI should, or end the process.
    fn misbehave(&mut self, step: &Step) {
        match step {
            Step::Raw(text) => self.host.emit_raw(self.fill(text).as_bytes()),
            Step::RawHex(digits) => self.host.emit_raw(&bytes_of(digits)),
            Step::Replay(file) => {
                if let Ok(mut file) = fs::File::open(file) {
                    let _ = io::copy(&mut file, &mut io::stdout().lock());
                }
            }
            Step::Stderr(text) => {
                let _ = io::stderr().write_all(text.as_bytes());
            }
            Step::Partial => self.half_a_record(),
            Step::RateLimitEvent { status, resets_at, kind } => {
                self.host.emit(&self.book.rate_limit(status, *resets_at, kind.as_deref()));
            }
            Step::Exit(code) => std::process::exit(*code),
            Step::Die(signal) => die(signal),
            Step::IgnoreTerm => self.host.ears.ignore_term.store(true, Ordering::SeqCst),
            Step::Deaf => self.host.ears.deaf.store(true, Ordering::SeqCst),
            Step::SpawnChild(child) => {
                if let Err(e) = shell::leave_child(child, self.book.session()) {
                    let _ = writeln!(io::stderr(), "spawn_child: {e}");
                }
            }
            Step::SecondResult => self.emit_result(),
            Step::NoResult => self.without_result = true,
            _ => {}
        }
    }

    /// Text with `{phase}`, `{slug}` and `{prompt}` filled in.
    pub(super) fn fill(&self, text: &str) -> String {
        let phase = self.asked.phase.as_deref().unwrap_or("the work");
        let text = text.replace("{phase}", phase).replace("{slug}", &prompt::slug(phase));
        text.replace("{prompt}", &self.prompt).replace("{answer}", &self.answer)
    }

    fn retry(&mut self, retry: &Retry) -> Result<(), End> {
        let fields = json!({"attempt": retry.attempt, "max_retries": 10, "retry_delay_ms": retry.delay_ms,
                            "error_status": retry.status, "error": retry.error});
        self.host.emit(&self.book.system("api_retry", fields));
        let pause = Duration::try_from_secs_f64(retry.delay_ms / 1000.0).unwrap_or_default();
        self.host.rest(pause).map_err(|_| End::AbortedStreaming)
    }

    fn hang(&mut self) -> Result<(), End> {
        while self.host.course != Course::Idle {
            self.host.rest(Duration::from_secs(3600)).map_err(|_| End::AbortedStreaming)?;
        }
        loop {
            std::thread::park();
        }
    }

    fn block_text(&self, status: &Status) -> String {
        let quoted = |text: &str| json!(self.fill(text)).to_string();
        let phase = match status.phase.as_deref() {
            Some("") => "null".to_owned(),
            Some(phase) => quoted(phase),
            None => self.asked.phase.as_deref().map_or_else(|| "null".to_owned(), |phase| json!(phase).to_string()),
        };
        let word = status.status.as_deref().unwrap_or(if self.asked.last { "DONE" } else { "CONTINUE" });
        let files = status.files.as_ref().unwrap_or(&self.files);
        let files = if files.is_empty() {
            " []".to_owned()
        } else {
            files.iter().fold(String::new(), |list, file| format!("{list}\n    - {}", quoted(file)))
        };
        let summary = quoted(status.summary.as_deref().unwrap_or("Worked on {phase}."));
        let error = status.error.as_deref().map_or_else(String::new, |error| format!("  error: {}\n", quoted(error)));
        format!(
            "```yaml\nPROGRAMMATOR_STATUS:\n  phase_completed: {phase}\n  status: {word}\n  files_changed:{files}\n  \
             summary: {summary}\n{error}```\n"
        )
    }

    fn goal_text(&self, goal: &Goal) -> String {
        let usual = if goal.new_phases.is_empty() { "ACHIEVED" } else { "MORE_WORK" };
        let word = goal.verdict.as_deref().unwrap_or(usual);
        let phases: Vec<String> = goal.new_phases.iter().map(|phase| self.fill(phase)).collect();
        let (phases, summary) =
            (json!(phases), json!(self.fill(goal.summary.as_deref().unwrap_or("All of it is there."))));
        format!("```yaml\nPROGRAMMATOR_STATUS:\n  verdict: {word}\n  new_phases: {phases}\n  summary: {summary}\n```\n")
    }

    fn draft_text(&self, draft: &Drafted) -> String {
        let line = |name: &str, text: &Option<String>| {
            text.as_ref().map_or_else(String::new, |text| format!("  {name}: {}\n", json!(self.fill(text))))
        };
        let item = |text: &String| format!("\n    - {}", json!(self.fill(text)));
        let [phases, validation] = [&draft.phases, &draft.validation].map(|texts| match texts.as_slice() {
            [] => " []".to_owned(),
            texts => texts.iter().map(item).collect::<Vec<_>>().concat(),
        });
        let (title, text) = (line("title", &draft.title), line("text", &draft.text));
        let ticket = |one: &DraftedTicket| {
            let phases: String = one
                .phases
                .iter()
                .fold(String::new(), |all, phase| all + &format!("        - {}\n", json!(self.fill(phase))));
            let (title, text, after) = (json!(one.title), json!(one.text), json!(one.after));
            format!("    - title: {title}\n      text: {text}\n      phases:\n{phases}      after: {after}\n")
        };
        let tickets: String = draft.tickets.iter().map(ticket).collect();
        let tickets = if tickets.is_empty() { tickets } else { format!("  tickets:\n{tickets}") };
        format!(
            "```yaml\nPROGRAMMATOR_STATUS:\n{title}{text}{tickets}  phases:{phases}\n  validation:{validation}\n  summary: \
             \"What it takes.\"\n```\n"
        )
    }

    fn verdict_text(&self, verdict: &Verdict) -> String {
        let word = verdict.verdict.as_deref().unwrap_or("APPROVED");
        let issue = |issue: &String| format!("\n    - {}", json!(self.fill(issue)));
        let issues: String = verdict.issues.iter().map(issue).collect();
        let issues = if issues.is_empty() { " []".to_owned() } else { issues };
        let summary = json!(self.fill(verdict.summary.as_deref().unwrap_or("It is done and right.")));
        format!("```yaml\nPROGRAMMATOR_STATUS:\n  verdict: {word}\n  issues:{issues}\n  summary: {summary}\n```\n")
    }
}

/// Ends the process by a signal, also one that Rust's own handler would take the first time.
fn die(signal: &str) {
    let signal = match signal {
        "TERM" => Signal::TERM,
        "SEGV" => Signal::SEGV,
        "ABRT" => Signal::ABORT,
        "PIPE" => Signal::PIPE,
        _ => Signal::KILL,
    };
    for _ in 0..3 {
        let _ = rustix::process::kill_process(rustix::process::getpid(), signal);
    }
    loop {
        std::thread::park();
    }
}

/// The bytes of a hexadecimal text; blanks and odd ends are left out.
fn bytes_of(digits: &str) -> Vec<u8> {
    let nibbles: Vec<u8> = digits.chars().filter_map(|c| c.to_digit(16)).map(|n| n as u8).collect();
    nibbles.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}
