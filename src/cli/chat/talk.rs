//! A chat in plain lines: what is heard of it is printed, what is typed is a message or the answer to a question.

use super::said::Said;
use crate::adapters::typed_lines::{LONGEST, Line, Text, TypedLines};
use crate::base::text::{Clean, clean_line};
use crate::cli::question::{Question, Shown};
use crate::domain::answerer::Answerer;
use crate::domain::approval::{Answer, AnsweredBy, Approval, Presence, QuestionId, not_applied};
use crate::domain::background::has_agent;
use crate::domain::chat::{ChatAnswered, ChatAsked, SHOWN, summary};
use crate::domain::command::UserCommand;
use crate::domain::messages::{LogFormatter, Weight, reason_words};
use crate::domain::news::News;
use crate::domain::note::Notes;
use crate::domain::outcome::ExitReason;
use crate::domain::record::{Record, Stored};
use crate::domain::request::{Reply, Request};
use crate::domain::ticket::TicketKey;
use crate::domain::verdict::Verdict;
use crate::runtime::app::App;
use crate::tui::modals::card::APPEARS;
use std::collections::VecDeque;
use std::io::{self, Write, stderr, stdout};
use std::time::Instant;

/// Columns of a line about what happened.
const WIDEST: usize = 2_000;

pub(super) struct Talk {
    app: App,
    chat: TicketKey,
    pub(super) presence: Presence,
    pub(super) lines: TypedLines,
    log: LogFormatter,
    notes: Notes,
    /// Messages that were sent and not stored yet.
    sending: usize,
    /// Claude is at work on a message.
    working: bool,
    /// Subagents work in the background.
    has_agents: bool,
    /// The last record that was heard.
    seen: u64,
    /// The last message came to nothing.
    pub(super) failed: bool,
    /// The question that the next line answers.
    open: Option<Open>,
    waiting: VecDeque<Approval>,
    pub(super) said: Said,
}

/// The question that is shown.
struct Open {
    question: Question,
    /// What its answers are known by.
    number: u64,
    shown: Instant,
    /// It was answered; whether that counts is not known yet.
    answered: bool,
}

impl Open {
    /// The answer to it was not applied.
    fn is_refused(&self, record: &Record) -> bool {
        let approval = &self.question.approval;
        match record {
            Record::Noticed { text, .. } => text.starts_with(&not_applied(&approval.tool)),
            Record::EditRefused(refused) => refused.id.call == approval.id.call,
            _ => false,
        }
    }
}

impl Talk {
    pub(super) fn new(app: App, chat: TicketKey, presence: Presence, lines: TypedLines) -> Self {
        Self {
            app,
            chat,
            presence,
            lines,
            log: LogFormatter::of(jiff::tz::TimeZone::system()),
            notes: Notes::default(),
            sending: 0,
            working: false,
            has_agents: false,
            seen: 0,
            failed: false,
            open: None,
            waiting: VecDeque::new(),
            said: Said::default(),
        }
    }

    /// A message has no answer yet. In a pipe the next line waits for subagents, too.
    pub(super) fn is_busy(&self) -> bool {
        let agents = self.has_agents && self.presence == Presence::Nobody;
        self.sending > 0 || self.working || agents || self.notes.any_open()
    }

    /// The number of the question that waits for a line.
    pub(super) fn asking(&self) -> Option<u64> {
        self.open.as_ref().filter(|open| !open.answered).map(|open| open.number)
    }

    /// One at a time: the answer to a message comes before the next one is sent.
    pub(super) fn takes_a_line(&self) -> bool {
        self.asking().is_some() || (self.open.is_none() && !self.is_busy())
    }

    /// Takes a line that was typed.
    pub(super) async fn typed(&mut self, line: Line) {
        let text = match line.text {
            Text::Line(text) => text,
            Text::TooLong(bytes) => {
                let (size, most) = (bytes / 1_000, LONGEST / 1_000);
                let _ = tell(&format!("not sent: a line of {size} KB; at most {most} KB can be sent"));
                self.failed = true;
                let _ = if self.asking().is_some() { self.show_again() } else { self.prompt() };
                return;
            }
        };
        match &mut self.open {
            Some(open) if open.number == line.question => {
                // What is typed so soon was begun before the question could be read.
                if line.at.saturating_duration_since(open.shown) < APPEARS {
                    let _ = tell("ignored: typed before the question was shown; answer it now");
                    let _ = self.show_again();
                    return;
                }
                let Some(answer) = open.question.answer(&text) else {
                    let _ = self.show_again();
                    return;
                };
                open.answered = true;
                let id = open.question.approval.id.clone();
                self.command(UserCommand::AnswerApproval { id, answer }, Answerer::COMMAND_LINE).await;
            }
            _ if text.is_empty() => {
                let _ = self.prompt();
            }
            _ => {
                self.sending += 1;
                if !self.command(UserCommand::Steer { text }, Answerer::COMMAND_LINE).await {
                    (self.sending, self.failed) = (self.sending.saturating_sub(1), true);
                }
            }
        }
    }

    /// `false`: it was refused, which the person is told.
    async fn command(&self, command: UserCommand, by: Answerer) -> bool {
        let request = Request::Command(self.chat.clone(), command);
        match self.app.ask(request, by).await {
            Reply::Refused(refused) => {
                let _ = tell(&refused.message);
                false
            }
            _ => true,
        }
    }

    /// An error: nobody reads any more.
    pub(super) async fn hear(&mut self, news: &News) -> io::Result<()> {
        let was_busy = self.is_busy() || self.open.is_some();
        match news {
            News::Recorded(stored) => self.recorded(stored, true).await?,
            // All of it is told again, or for the first time.
            News::RunOpened { records, earlier, .. } => {
                for stored in records {
                    self.recorded(stored, stored.seq > *earlier).await?;
                }
            }
            News::StorageAwaited(awaited) => tell(&awaited.why)?,
            News::Trouble { message, .. } => tell(message)?,
            News::RunLeft(left) => tell(&left.message)?,
            _ => {}
        }
        // Whatever is answered by now is not asked about any more.
        while self.open.is_none()
            && let Some(approval) = self.waiting.pop_front()
        {
            self.ask(Question::of(approval)).await?;
        }
        if was_busy && self.open.is_none() && !self.is_busy() { self.prompt() } else { Ok(()) }
    }

    /// `is_new`: it has not been told in an earlier process.
    async fn recorded(&mut self, stored: &Stored, is_new: bool) -> io::Result<()> {
        // What was missed is told again from the beginning.
        if stored.seq <= self.seen {
            return Ok(());
        }
        self.seen = stored.seq;
        let record = &stored.record;
        self.notes.fold(record);
        let line = self.log.line(record);
        if !is_new {
            return Ok(());
        }
        self.follow(record);
        match record {
            Record::ChatAsked(ChatAsked { earlier, .. }) if !earlier.is_empty() => {
                tell("The last chat in this directory was about:")?;
                summary(earlier).iter().take(SHOWN).try_for_each(|line| tell(line))
            }
            Record::ChatAnswered(ChatAnswered { text, .. }) => {
                let rest = self.said.rest_of(text);
                self.said.ends();
                speak(&rest)
            }
            Record::IterationStarted { n, .. } => {
                self.said.begins(*n);
                Ok(())
            }
            Record::ApprovalAsked(approval) if self.presence == Presence::Screen => {
                // A call that is asked about again takes the place of its question before.
                self.forget(&approval.id, "asking again").await?;
                self.waiting.push_back(approval.clone());
                Ok(())
            }
            Record::ApprovalAnswered(answered) => {
                let person = matches!(answered.by, AnsweredBy::Person(_));
                let why = line.map(|line| line.text).unwrap_or_default();
                if person { self.forget(&answered.id, "").await } else { self.closed(&answered.id, &why).await }
            }
            Record::ApprovalVoid(void) => {
                let why = line.map(|line| line.text).unwrap_or_default();
                self.closed(&void.id, &why).await
            }
            Record::NoteNotSent { id } => {
                let text = self.notes.all().iter().find(|note| note.id == *id).map_or("", |note| note.text.as_str());
                tell(&format!("not sent, it failed twice: {text}"))
            }
            Record::RunEnded { reason, detail, cost_usd, .. } => {
                let is_closed = *reason == ExitReason::UserStopped;
                let why = if is_closed { String::new() } else { format!("{}: {detail} · ", reason_words(*reason)) };
                tell(&format!("{why}${cost_usd:.2} · resume this chat: programmator chat --resume"))
            }
            Record::ToolJudged { verdict: Verdict::Block, .. }
            | Record::Noticed { .. }
            | Record::TurnFailed(_)
            | Record::ApiRetried(_)
            | Record::WatchdogFired(_)
            | Record::SessionLost(_)
            | Record::AnswerTooLate(_)
            | Record::EditRefused(_)
            | Record::Parked(_) => {
                line.filter(|line| line.level >= Weight::Gate).map_or(Ok(()), |line| tell(&line.text))?;
                // The question still waits, for all of its answers.
                match &mut self.open {
                    Some(open) if open.answered && open.is_refused(record) => {
                        open.question = Question::of(open.question.approval.clone());
                        open.answered = false;
                        self.show_again()
                    }
                    _ => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// What there is to wait for.
    fn follow(&mut self, record: &Record) {
        match record {
            Record::NoteGiven { .. } => self.sending = self.sending.saturating_sub(1),
            Record::NoteDelivered { .. } | Record::TurnBegan { .. } => self.working = true,
            Record::ChatAnswered(_) => (self.working, self.failed) = (false, false),
            Record::BackgroundChanged { tasks, .. } => self.has_agents = has_agent(tasks),
            Record::TurnFailed(_) | Record::NoteNotSent { .. } => (self.working, self.failed) = (false, true),
            Record::IterationEnded { .. } => (self.working, self.has_agents) = (false, false),
            Record::RunEnded { .. } => {
                (self.working, self.has_agents, self.sending) = (false, false, 0);
                self.notes = Notes::default();
                (self.open, self.waiting) = (None, VecDeque::new());
            }
            _ => {}
        }
    }

    /// Shows a question, or denies what cannot be shown.
    async fn ask(&mut self, question: Question) -> io::Result<()> {
        speak(&self.said.so_far())?;
        let denied = match question.shown() {
            Shown::Asked(..) => {
                self.open = Some(Open { question, number: 0, shown: Instant::now(), answered: false });
                return self.show_again();
            }
            Shown::Denied(told, words) => {
                tell(&told)?;
                Answer::Deny { words }
            }
        };
        let denied = UserCommand::AnswerApproval { id: question.approval.id, answer: denied };
        self.command(denied, Answerer::LINES).await;
        Ok(())
    }

    /// Shows the question. What was typed before the words that wait for an answer is none.
    fn show_again(&mut self) -> io::Result<()> {
        let Some(open) = &mut self.open else { return Ok(()) };
        let Shown::Asked(text, prompt) = open.question.shown() else { return Ok(()) };
        let mut err = stderr();
        write!(err, "{text}")?;
        err.flush()?;
        open.number = self.lines.ask();
        write!(err, "{prompt} ")?;
        err.flush()?;
        open.shown = Instant::now();
        Ok(())
    }

    /// The question has come to an end that the person had no part in.
    async fn closed(&mut self, id: &QuestionId, why: &str) -> io::Result<()> {
        let was_shown = self.is_shown(id);
        self.forget(id, why).await?;
        // Where nobody can be asked, that a call was denied is news.
        if was_shown || self.presence == Presence::Nobody { tell(why) } else { Ok(()) }
    }

    fn is_shown(&self, id: &QuestionId) -> bool {
        self.open.as_ref().is_some_and(|open| open.question.approval.id.call == id.call)
    }

    /// Puts a question away. What was typed as its answer comes too late, and is recorded so.
    async fn forget(&mut self, id: &QuestionId, why: &str) -> io::Result<()> {
        self.waiting.retain(|approval| approval.id.call != id.call);
        if !self.is_shown(id) {
            return Ok(());
        }
        let Some(mut open) = self.open.take() else { return Ok(()) };
        let typed = self.lines.withdraw(open.number);
        if open.answered || why.is_empty() {
            // None of it is a message.
            let has_words = typed.iter().any(|line| line.text != Text::Line(String::new()));
            return if has_words { tell("ignored: the question has already been answered") } else { Ok(()) };
        }
        writeln!(stderr())?;
        for line in typed {
            let Text::Line(text) = line.text else { continue };
            if let Some(answer) = open.question.answer(&text) {
                let id = open.question.approval.id.clone();
                self.command(UserCommand::AnswerApproval { id, answer }, Answerer::COMMAND_LINE).await;
                break;
            }
        }
        Ok(())
    }

    /// Where the person types: it is their turn.
    pub(super) fn prompt(&self) -> io::Result<()> {
        if self.presence == Presence::Screen {
            write!(stderr(), "> ")?;
            stderr().flush()?;
        }
        Ok(())
    }
}

/// Claude's words, on stdout.
fn speak(words: &str) -> io::Result<()> {
    if words.is_empty() {
        return Ok(());
    }
    let mut out = stdout();
    writeln!(out, "{}", Clean::new(words))?;
    out.flush()
}

/// A line about what happened, on stderr: stdout has Claude's answers alone.
pub(super) fn tell(words: &str) -> io::Result<()> {
    writeln!(stderr(), "{}", clean_line(words, WIDEST))
}
