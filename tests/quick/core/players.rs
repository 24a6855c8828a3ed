//! Who plays in the world: Claude, its tools, the provider, and the person with every command there is.

use super::questions::call;
use super::world::{Weather, World};
use programmator::base::time::Timestamp;
use programmator::domain::answerer::Answerer;
use programmator::domain::background::{BackgroundTask, TaskKind};
use programmator::domain::breaker::Circuit;
use programmator::domain::command::UserCommand;
use programmator::domain::commit::CommitWhen;
use programmator::domain::denial::Denial;
use programmator::domain::evaluation::{AddPhases, ProposalAnswer};
use programmator::domain::limits::provider::{Window, WindowStatus};
use programmator::domain::limits::reset_text::LimitText;
use programmator::domain::limits::{HourWindow, Limits, OnWarning};
use programmator::domain::merge::MergeHow;
use programmator::domain::outcome::{DoneHow, IterationOutcome};
use programmator::domain::phase::Mark;
use programmator::domain::planning::{DraftAnswer, DraftAnswered};
use programmator::domain::record::{ApiRetried, PhaseSeed, Record};
use programmator::domain::session::{SessionEvent, Told};
use programmator::domain::settings::{BreakerSettings, Settings};
use programmator::domain::step::StepName;
use programmator::domain::ticket::draft::Draft;
use programmator::domain::tool_call::Via;
use programmator::domain::turn::{Origin, TurnResult};
use programmator::domain::workflow::{MinorIssues, Workflow};
use programmator::orchestrator::input::Input;
use programmator::orchestrator::state::Iteration;

impl World {
    /// The rules that the person has set.
    pub fn draw_settings(&mut self) {
        let dice = &mut self.dice;
        let window = if dice.one_in(2) { HourWindow::Sliding } else { HourWindow::Clock };
        let mut limits = Limits { calls: 1 + dice.roll(12) as u32, window, ..Limits::default() };
        let mut settings = Settings::default();
        if self.weather == Weather::Rough {
            limits.tokens = dice.one_in(4).then(|| 500 + dice.roll(5_000));
            limits.on_warning = if dice.one_in(3) { OnWarning::Park } else { OnWarning::GoOn };
            for budget in [&mut limits.run, &mut limits.ticket, &mut limits.day] {
                budget.micro_usd = dice.one_in(6).then(|| 100_000 + dice.roll(3_000_000));
                budget.tokens = dice.one_in(12).then(|| 1_000 + dice.roll(10_000));
            }
            let cooldown = dice.one_of(&[0, 600, 1_800, 1_800]);
            settings.breaker = BreakerSettings {
                no_progress: dice.one_of(&[1, 3, 3]),
                same_error: dice.one_of(&[2, 5]),
                permission_denials: dice.one_of(&[1, 2]),
                cooldown,
                auto_reset: dice.one_in(8),
                ..BreakerSettings::default()
            };
            settings.stagnation_limit = dice.one_of(&[2, 3, 50]);
            settings.repeated_error_limit = dice.one_of(&[1, 3, 50]);
            settings.max_iterations = dice.one_of(&[2, 6, 10]);
            settings.session_continuity = !dice.one_in(8);
            settings.approval_timeout = dice.one_in(4).then(|| 30 + dice.roll(600));
            settings.approval_defer_after = dice.one_in(4).then(|| 1 + dice.roll(60));
            settings.workflow.name = dice.one_of(&[
                Workflow::Simple,
                Workflow::Simple,
                Workflow::Auto,
                Workflow::Reviewed,
                Workflow::Thorough,
                Workflow::Thorough,
            ]);
            settings.git.commit = dice.one_of(&[CommitWhen::Off, CommitWhen::Phase, CommitWhen::Ticket]);
            // Those have a worktree, too.
            if settings.git.commit == CommitWhen::Ticket {
                settings.git.merge = MergeHow::Merge;
            }
            settings.workflow.fix_tries = dice.one_of(&[0, 1, 3]);
            settings.workflow.add_phases =
                dice.one_of(&[AddPhases::Ask, AddPhases::Ask, AddPhases::Auto, AddPhases::Never]);
            settings.workflow.max_added_phases = dice.one_of(&[0, 1, 5, 5]);
            if dice.one_in(4) {
                settings.workflow.review = vec!["bug-deep".into(), "comments".into()];
            }
            settings.workflow.minor_issues = dice.one_of(&[MinorIssues::Note, MinorIssues::Fix]);
        }
        settings.limits = Box::new(limits);
        self.settings = settings;
    }

    /// One process of Claude: what it will do is laid out at once.
    pub fn play_claude(&mut self, n: u32, resumed: bool, model: String) {
        self.spawned += 1;
        self.process_cost = 0.0;
        if self.rough(60) {
            return self.coming.push(Input::AgentFailed { n, message: "claude not found".into() });
        }
        self.give(Input::AgentStarting { n });
        if self.rough(40) {
            return; // It never agrees on the protocol: the timer of the start ends it.
        }
        if resumed && self.rough(20) {
            return self.coming.push(Input::SessionUnknown { n });
        }
        self.give(Input::AgentSpawned { n, pid: 7 });
        if self.state.ended.is_some() {
            return;
        }
        if self.fails {
            let (code, stderr) = (Some(1), "no such model".to_owned());
            return self.coming.push(Input::AgentExited { n, code, signal: None, swept: 0, stderr });
        }
        if resumed && self.rough(20) {
            let result = TurnResult {
                subtype: "error_during_execution".into(),
                is_error: true,
                message: "No conversation found with session ID: x".into(),
                ..TurnResult::default()
            };
            return self.coming.push(Input::TurnFinished { n, result: Box::new(result) });
        }
        let session = format!("00000000-0000-4000-8000-{:012}", self.spawned);
        self.give(Input::AgentReady { n, session, model, version: "2.1.197".into(), told: Told::default() });
        for nth in 0..self.dice.roll(3) {
            let tool = if self.rough(12) { "AskUserQuestion" } else { self.dice.one_of(&["Edit", "Bash"]) };
            let id = format!("{tool}-{n}-{nth}");
            self.coming.push(Input::ToolAsked { n, call: Box::new(call(&id, Via::Callback)) });
            if self.rough(40) {
                self.coming.push(Input::AskWithdrawn { n, tool_use_id: id });
            }
        }
        if !self.rough(4) && self.is_at_work() {
            self.tree += 1;
        }
        if self.rough(15) {
            let (error, status) =
                self.dice.one_of(&[("overloaded", 529), ("server_error", 500), ("authentication_failed", 401)]);
            let (attempt, max_retries, delay_ms) = (1, 10, 500);
            let retried = ApiRetried { n, attempt, max_retries, delay_ms, error: error.into(), status: Some(status) };
            self.coming.push(Input::ApiRetried(retried));
        }
        if self.rough(12) {
            let window = self.window(WindowStatus::Warning);
            self.coming.push(Input::LimitSeen { n, window });
        }
        if self.rough(30) {
            let (code, signal) = self.dice.one_of(&[(Some(1), None), (None, Some(9)), (Some(0), None)]);
            return self.coming.push(Input::AgentExited { n, code, signal, swept: 2, stderr: "boom".into() });
        }
        if self.rough(25) {
            return; // Silence: the timers must end it.
        }
        if self.rough(20) {
            self.coming.push(Input::ForeignTurn { n, wakes: self.dice.one_in(2) });
        }
        if self.rough(12) {
            self.works_in_the_background(n);
        }
        let end = self.turn_end(n);
        self.coming.push(end);
    }

    /// What looks on changes nothing.
    fn is_at_work(&self) -> bool {
        self.state.open_iteration().is_none_or(|open| open.role.counts.is_progress())
    }

    /// A subagent outlasts Claude's turn; the turn that follows its end may not come, and it may not end at all.
    fn works_in_the_background(&mut self, n: u32) {
        let kind = self.dice.one_of(&[TaskKind::Agent, TaskKind::Agent, TaskKind::Shell]);
        let task = BackgroundTask { id: "b".into(), kind, what: "a part".into() };
        self.give(Input::BackgroundChanged { n, tasks: vec![task] });
        let mut early = self.turn_end(n);
        if let Input::TurnFinished { result, .. } = &mut early {
            result.origin = Origin::Ours;
        }
        self.coming.push(early);
        if !self.rough(6) {
            self.coming.push(Input::BackgroundChanged { n, tasks: vec![] });
        }
    }

    /// A tool was let through. Claude may tick a box with it, and the file may be read late, which is no proof.
    pub fn tool_runs(&mut self) {
        if self.state.agent_alive() && self.rough(12) {
            let phase = self.state.own_text();
            let any = self.dice.one_in(3);
            let wanted = |seed: &&mut PhaseSeed| !seed.done && (any || Some(seed.text.as_str()) == phase);
            if let Some(seed) = self.phases.iter_mut().find(wanted) {
                seed.done = true;
                self.note("Claude ticks a box");
            }
            if self.boxes.open > 0 {
                self.boxes.open -= 1;
                self.boxes.ticked += 1;
            }
            self.sees_a_change();
        }
    }

    fn sees_a_change(&mut self) {
        match self.dice.roll(3) {
            0 => self.ticket_read(),
            1 => drop(self.last_reading()),
            // The watch is too slow: only the comparison sees it.
            _ => {}
        }
    }

    /// How a turn of Claude's ends.
    pub fn turn_end(&mut self, n: u32) -> Input {
        let phase = self.state.own_text().map(str::to_owned);
        let bent = self.bent.filter(|_| !self.dice.one_in(4));
        let kind = if self.weather == Weather::Rough { bent.unwrap_or_else(|| self.dice.roll(20)) } else { 19 };
        self.process_cost += self.dice.roll(300) as f64 / 1_000.0;
        let mut result = TurnResult { subtype: "success".into(), cost_usd: self.process_cost, ..TurnResult::default() };
        result.usage.output = self.dice.roll(4_000);
        if self.rough(12) {
            result.denials = vec!["Bash".into(), "Write".into(), "Edit".into()];
        }
        if self.rough(25) {
            result.refused = vec![Denial::new("Bash", "other", "npm install")];
        }
        let name = phase.as_deref().map_or("null".to_owned(), |phase| format!("\"{phase}\""));
        let own = |phase: &str, status: &str, files: &str, more: &str| {
            format!(
                "PROGRAMMATOR_STATUS:\n  phase_completed: {phase}\n  status: {status}\n  files_changed: {files}\n  summary: s\n{more}"
            )
        };
        let is_critic = |open: &Iteration| [StepName::CRITIQUE, StepName::REVIEW].contains(&open.role.step);
        if self.state.iteration.as_ref().is_some_and(is_critic) && kind != 11 && kind != 12 {
            result.text = self.verdict();
            return Input::TurnFinished { n, result: Box::new(result) };
        }
        if self.state.iteration.as_ref().is_some_and(|open| open.role.step == StepName::CHECK)
            && kind != 11
            && kind != 12
        {
            result.text = self.checks();
            return Input::TurnFinished { n, result: Box::new(result) };
        }
        let is_evaluator = |open: &Iteration| open.role.step == StepName::EVALUATE;
        if self.state.iteration.as_ref().is_some_and(is_evaluator) && kind != 11 && kind != 12 {
            result.text = self.goal();
            return Input::TurnFinished { n, result: Box::new(result) };
        }
        if self.state.iteration.as_ref().is_some_and(|open| open.role.step == StepName::PLAN)
            && !matches!(kind, 0 | 1 | 11 | 12)
        {
            let draft = "PROGRAMMATOR_STATUS:\n  phases: [One, Two]\n  validation: [\"make test\"]\n  summary: s\n";
            draft.clone_into(&mut result.text);
            return Input::TurnFinished { n, result: Box::new(result) };
        }
        result.text = match kind {
            0 => "I forgot the block. Should I go on?".to_owned(),
            1 => "PROGRAMMATOR_STATUS:\n  status: DO".to_owned(),
            2 => own("\"Something else entirely\"", "CONTINUE", "[]", ""),
            3 => own("null", "CONTINUE", "[src/a.rs]", ""),
            4 => own("null", "DONE", "[]", ""),
            5 => own("null", "CONTINUE", "[tests/a.rs]", "  work_type: TESTING\n"),
            6 => own("null", "CONTINUE", "[src/a.rs]", "  exit_signal: true\n"),
            7 => own(&name, "DONE", "[src/a.rs]", "  exit_signal: false\n"),
            8 => "---HANK_STATUS---\nSTATUS: COMPLETE\nEXIT_SIGNAL: true\n---END_HANK_STATUS---\n".to_owned(),
            9 => "---RALPH_STATUS---\nSTATUS: COMPLETE\n---END_RALPH_STATUS---\n".to_owned(),
            10 if self.dice.one_in(2) => own("null", "BLOCKED", "[]", "  error: no key\n"),
            11 => return self.provider_refuses(n, result),
            12 if self.dice.one_in(2) => {
                let kinds = ["server_error", "server_error", "error_max_budget_usd", "authentication_failed"];
                result.is_error = true;
                result.error_kind = Some(self.dice.one_of(&kinds).to_owned());
                result.message = "API Error: 500".into();
                String::new()
            }
            13 => own(&name, "CONTINUE", "[]", ""),
            _ if !self.is_at_work() && self.objections > 0 => {
                self.objections -= 1;
                own("null", "CONTINUE", "[]", "  exit_signal: false\n")
            }
            _ => own(&name, if phase.is_none() { "DONE" } else { "CONTINUE" }, "[src/a.rs]", ""),
        };
        Input::TurnFinished { n, result: Box::new(result) }
    }

    /// What a critic says: in rough weather anything.
    fn verdict(&mut self) -> String {
        let block = |verdict: &str, issues: &str| {
            format!("PROGRAMMATOR_STATUS:\n  verdict: {verdict}\n  issues: {issues}\n  summary: s\n")
        };
        let issue = "\n    - severity: major\n      file: src/a.rs\n      text: wrong";
        let is_content = self.objections == 0;
        self.objections = self.objections.saturating_sub(1);
        match if self.weather == Weather::Rough { self.dice.roll(12) } else { 99 } {
            0 => "I have no opinion.".to_owned(),
            1 => "APPROVED and NEEDS_FIXES".to_owned(),
            2 => "NEEDS_FIXES\n- no test\n".to_owned(),
            3..=5 => block("NEEDS_FIXES", issue),
            6 => block("MINOR_ISSUES", "\n    - a name"),
            _ if is_content => block("APPROVED", "[]"),
            _ => block("NEEDS_FIXES", issue),
        }
    }

    /// What a second look at a review's issues says.
    fn checks(&mut self) -> String {
        let verdict = match self.dice.roll(4) {
            0 => return "I have no opinion.".to_owned(),
            1 => "dropped",
            _ => "confirmed",
        };
        format!(
            "PROGRAMMATOR_STATUS:\n  issues:\n    - issue: 1\n      verdict: {verdict}\n      reason: r\n  summary: s\n"
        )
    }

    /// What the person says of a draft.
    pub fn draft_answer(&mut self) -> DraftAnswer {
        match self.dice.roll(6) {
            0 => DraftAnswer::Refuse,
            1 => DraftAnswer::Revise { words: "Smaller steps.".into() },
            2 => DraftAnswer::Try,
            3 => {
                let phases = vec!["First".to_owned(), format!("Second {}", self.journal.len())];
                DraftAnswer::Edit(Draft { phases, ..Draft::default() })
            }
            _ => DraftAnswer::Accept,
        }
    }

    /// What an evaluator says: in rough weather anything.
    fn goal(&mut self) -> String {
        let block = |verdict: &str, phases: &str| {
            format!("PROGRAMMATOR_STATUS:\n  verdict: {verdict}\n  new_phases: {phases}\n  summary: s\n")
        };
        // Each phase has words of its own: the invariants tell phases by them.
        let at = self.journal.len();
        let more = [
            format!("[\"More {at}\"]"),
            format!("[\"More {at}a\", \"More {at}b\"]"),
            format!("[a{at}, b{at}, c{at}, d{at}, e{at}, f{at}]"),
        ];
        match if self.weather == Weather::Rough { self.dice.roll(8) } else { 99 } {
            0 => "It looks good.".to_owned(),
            1 => block("MORE_WORK", "[]"),
            2..=5 => block("MORE_WORK", &self.dice.one_of(&more)),
            _ => block("ACHIEVED", "[]"),
        }
    }

    /// 429, 529 or no credit: with a window and its reset, with words, or with nothing at all.
    fn provider_refuses(&mut self, n: u32, mut result: TurnResult) -> Input {
        result.is_error = true;
        result.message = "API Error: Request rejected".into();
        let (kind, status) = self.dice.one_of(&[("rate_limit", 429), ("server_error", 529), ("billing_error", 400)]);
        (result.error_kind, result.api_error_status) = (Some(kind.into()), Some(status));
        match self.dice.roll(3) {
            0 => {
                let window = self.window(WindowStatus::Rejected);
                self.give(Input::LimitSeen { n, window });
            }
            1 => {
                result.limit = Some(LimitText { told: None, family: None });
                result.resets_at = Some(Timestamp::from_millis(self.now + self.dice.signed(18_000_000) - 60_000));
            }
            _ => {}
        }
        Input::TurnFinished { n, result: Box::new(result) }
    }

    fn window(&mut self, status: WindowStatus) -> Window {
        let kind = self.dice.one_of(&["five_hour", "seven_day"]).to_owned();
        let resets_at = Some(Timestamp::from_millis(self.now + self.dice.signed(18_000_000)));
        Window { kind, status, used: Some(0.9), resets_at: resets_at.filter(|_| !self.dice.one_in(4)) }
    }

    /// The file is read after a change.
    pub fn ticket_read(&mut self) {
        let read = self.reading();
        self.give(read);
    }

    pub fn reading(&mut self) -> Input {
        self.readings += 1;
        Input::TicketRead {
            reading: self.readings,
            title: "T".into(),
            phases: self.phases.clone(),
            boxes: self.boxes,
            validation: self.validation.clone(),
        }
    }

    /// The file is read once more before an iteration ends; the person may still come between.
    pub fn last_reading(&mut self) -> u64 {
        let read = self.reading();
        self.coming.push(read);
        self.readings
    }

    /// At a start the boxes are told, where they are no phases.
    pub fn read_boxes(&mut self) {
        if self.phases.is_empty() && self.boxes != self.state.boxes {
            self.ticket_read();
        }
    }

    /// The person does something.
    pub fn person(&mut self) {
        let any = self.phases.get(self.dice.roll(5) as usize).or(self.phases.first());
        let text = any.map(|seed| seed.text.clone()).unwrap_or_default();
        let known = self.state.phases.iter().find(|phase| phase.text == text);
        let phase = known.map(|phase| phase.id).unwrap_or_default();
        let command = match self.dice.roll(19) {
            0 => UserCommand::Pause,
            1 => UserCommand::PauseNow,
            2 | 3 => UserCommand::Resume,
            4 => UserCommand::SkipPhase { phase },
            5 => UserCommand::RetryPhase { phase },
            6 => UserCommand::Steer { text: "left".into() },
            7 if self.dice.one_in(4) => UserCommand::Stop,
            8 if self.dice.one_in(4) => UserCommand::FinishAndStop,
            9 => UserCommand::ResetBreaker,
            10 | 11 => UserCommand::RetryNow,
            12 => {
                // Now and then one that was there before.
                let seen = self.state.validation_change.clone().filter(|_| !self.dice.one_in(8)).unwrap_or_default();
                UserCommand::AnswerValidationChange { accept: self.dice.one_in(2), seen }
            }
            13 => {
                self.validation = self.dice.one_of(&[vec!["make check".to_owned()], vec!["make all".to_owned()]]);
                return self.ticket_read();
            }
            14 if self.dice.one_in(8) => return self.give(Input::TicketLost { why: "the file is gone".into() }),
            15 if self.dice.one_in(8) => return self.give(Input::Faulted { message: "a task went down".into() }),
            16 | 17 => UserCommand::TickPhase { phase },
            18 => {
                self.phases.iter_mut().filter(|seed| seed.text == text).for_each(|seed| seed.done = false);
                return self.sees_a_change();
            }
            _ => return self.person_ticks_in_the_file(&text),
        };
        let id = format!("note-{}-{}", self.runs, self.journal.len());
        self.give(Input::Commanded { by: Answerer::SCREEN, id, command });
    }

    /// What is ticked while an iteration is open is a claim, whoever did it. Between iterations it counts at once, if the
    /// file was read since the last one.
    fn person_ticks_in_the_file(&mut self, text: &str) {
        let at_rest = self.state.open_iteration().is_none();
        let was_read = |world: &Self| {
            let phase = world.state.phases.iter().find(|phase| phase.text == text);
            let read = world.state.iteration.as_ref().is_none_or(|last| !last.unread);
            read && phase.is_some_and(|phase| !phase.ticked && phase.box_writes == 0)
        };
        if at_rest {
            self.ticket_read();
        }
        let counts = at_rest && was_read(self) && self.state.open_iteration().is_none();
        if let Some(seed) = self.phases.iter_mut().find(|seed| seed.text == text && !seed.done) {
            seed.done = true;
            if self.state.open_iteration().is_none() {
                self.rules.person_ticks(&self.state, text);
            }
            let before = self.journal.len();
            self.ticket_read();
            let first = self.journal.get(before).map(|stored| stored.record.clone());
            if let Some(read @ Record::TicketRead { .. }) = first.filter(|_| counts) {
                self.note("a tick at rest");
                let phase = self.state.phases.iter().find(|phase| phase.text == text);
                let is_done = phase.is_some_and(|phase| matches!(phase.mark, Mark::Done(_)));
                assert!(is_done, "a tick of the person's between iterations does not count: {read:?} {phase:?}");
            }
        } else {
            self.ticket_read();
        }
    }

    /// What a simulation must have met.
    pub fn tally_record(&mut self, record: &Record) {
        let what = match record {
            Record::WatchdogFired(fired) => fired.timer.word(),
            Record::SessionEnded(ended) if ended.to == SessionEvent::Expired => "session expired",
            Record::SessionLost(_) => "session lost",
            Record::IterationStarted { session: Some(_), .. } => "session resumed",
            Record::BreakerMoved(moved) if moved.to == Circuit::Open => "breaker opened",
            Record::BreakerMoved(moved) if moved.to == Circuit::HalfOpen => "breaker half-open",
            Record::BreakerMoved(_) => "breaker closed",
            Record::BreakerReset { .. } => "breaker reset",
            Record::IterationEnded { outcome: IterationOutcome::Parked, .. } => "refused by the provider",
            Record::Parked(_) => "parked",
            Record::PhaseRejected { of_ticket: true, .. } => "rejected by the review",
            Record::PhaseRejected { .. } => "rejected by a critic",
            Record::TicketReviewed { .. } => "reviewed",
            Record::TicketFaulted { .. } => "found by the review",
            Record::GoalAchieved { .. } => "goal reached",
            Record::DraftMade { .. } => "drafted by Claude",
            Record::DraftAnswered(DraftAnswered { answer: DraftAnswer::Revise { .. }, .. }) => "draft sent back",
            Record::DraftAnswered(DraftAnswered { answer: DraftAnswer::Edit(_), .. }) => "draft edited",
            Record::DraftTried { .. } => "draft tried",
            Record::DraftNotWritten { .. } => "draft not written",
            Record::PhasesProposed(_) => "phases proposed",
            Record::ProposalAnswered { answer: ProposalAnswer::Add { .. }, .. } => "phases accepted",
            Record::ProposalAnswered { answer: ProposalAnswer::Refuse { .. }, .. } => "phases declined",
            Record::PhaseDone { how: DoneHow::Approved, .. } => "approved by a critic",
            Record::IterationStarted { role, .. } if role.step == StepName::FIX => "fixed",
            Record::RunEnded { reason, .. } => reason.word(),
            _ => return,
        };
        self.note(what);
    }
}

/// Claude's process is gone by itself.
pub fn exited(n: u32) -> Input {
    Input::AgentExited { n, code: Some(0), signal: None, swept: 0, stderr: String::new() }
}
