//! What a draft is written as, and the trying of its validation commands.

use super::Effects;
use crate::adapters::agent::orphans;
use crate::adapters::clock::fresh_id;
use crate::adapters::tickets::{self, Whole};
use crate::adapters::validate;
use crate::domain::planning::Tried;
use crate::domain::profile::Profile;
use crate::domain::record::TicketRevised;
use crate::domain::ticket::revise::{Revised, TicketEdit, revise};
use crate::domain::tool_call::{ControlRequest, ToolCall, Via};
use crate::domain::verdict::Verdict;
use crate::orchestrator::input::Input;
use crate::orchestrator::state::{Planning, State};
use crate::runtime::gate::{Gate, Kept};
use serde_json::json;
use tokio::task::block_in_place;

impl Effects {
    /// Works out what the accepted draft changes in the file as it is.
    pub(super) fn place_draft(&mut self, plan: &Planning) {
        let (path, now) = (self.ticket_path.clone(), self.clock.now());
        let (draft, made) = (plan.draft.clone(), plan.asked.made.clone().map(Box::new));
        let (ticket, mark) = (self.ticket.clone(), self.run.to_string());
        let by = plan.asked.by.clone();
        self.answer_with(async move {
            let placed = tokio::task::spawn_blocking(move || {
                let draft = Box::new(draft.ok_or("no draft")?);
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let bytes = tickets::read(&path).map_err(|error| error.to_string())?;
                let whole = Whole { id: &ticket, path: &path, bytes: &bytes, mark: &mark, now };
                let parts = tickets::parts(&draft, &whole).ok_or("no free id for a ticket")?;
                let deps = parts.iter().map(|part| part.id.to_string()).collect();
                let edit = TicketEdit::Plan { draft, made, deps };
                let Revised { revision, renamed } = revise(&bytes, &name, &edit, now).map_err(|why| why.to_string())?;
                // It fits; what the ticket is to wait for is there before it says so.
                tickets::write_parts(&parts, path.parent().ok_or("no folder")?)?;
                let id = format!("{}{}", TicketRevised::DRAFT, fresh_id());
                let what = edit.words();
                Ok(Box::new(TicketRevised { id, what, revision, accepts: None, renamed, undoes: None, by }))
            });
            Input::DraftPlaced(placed.await.unwrap_or_else(|error| Err(error.to_string())))
        });
    }

    /// Runs those of the commands that the gate lets Claude run, one after the other. They are not Claude's calls: nobody
    /// is asked about the others.
    pub(super) fn try_commands(&mut self, commands: &[String], state: &State) {
        let setting = self.setting(state, "draft.validation");
        let (gate, commands) = (self.gate.clone(), commands.to_vec());
        let (marker, tree) = (self.run.to_string(), self.work.evidence.clone());
        self.answer_with(async move {
            let mut tried = Vec::with_capacity(commands.len());
            for (n, command) in (1..).zip(&commands) {
                // Just before it runs: what ran before it may have changed what it does.
                let mut one = block_in_place(|| judged(&gate, command));
                if one.verdict == Verdict::Allow {
                    let ran = validate::run(n, std::slice::from_ref(&one.command), &setting.place()).await;
                    if let Some(ran) = ran.into_iter().next() {
                        (one.exit, one.tail) = (ran.exit, ran.tail);
                    }
                }
                tried.push(one);
            }
            let _ = tokio::task::spawn_blocking(move || orphans::sweep(&[marker])).await;
            if let Some(tree) = tree.get() {
                tree.commands_ran();
            }
            Input::DraftTried(tried)
        });
    }
}

/// Whether the command may run under the run's own profile: the planner's would let nothing run, and holds again behind it.
fn judged(gate: &Gate, command: &str) -> Tried {
    let request = ControlRequest { id: String::new(), via: Via::Callback };
    let input = json!({ "command": command }).to_string();
    let call = ToolCall { request, tool_use_id: String::new(), tool: "Bash".into(), input, agent: None, cwd: None };
    gate.keep_to(Kept::default());
    let ruling = gate.judge(&call);
    gate.keep_to(Kept { profile: Some(Profile::ReadOnly), plans: true });
    let reason = match ruling.verdict {
        Verdict::Allow => String::new(),
        Verdict::Block => format!("refused: {}", ruling.words()),
        Verdict::Ask | Verdict::Passphrase => format!("needs your approval: {}", ruling.words()),
    };
    Tried { command: command.to_owned(), verdict: ruling.verdict, reason, exit: None, tail: String::new() }
}
