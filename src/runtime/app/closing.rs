//! Ending all runs of this program.

use super::{Service, refused};
use crate::domain::answerer::Answerer;
use crate::domain::command::UserCommand;
use crate::domain::outcome::ExitReason;
use crate::domain::request::{Closing, Reply, Request};

impl Service {
    pub(super) async fn close(&mut self, how: Closing, by: &Answerer) -> Reply {
        // What was to begin would be open when everything has ended: it is stopped before it begins.
        let mut stopped: Vec<_> =
            std::mem::take(&mut self.waiting).into_values().map(|at| (at.ticket, at.reply)).collect();
        stopped.extend(self.close_queue());
        for (ticket, asked) in &mut self.later {
            let begins = |request: &Request| {
                use Request::{Open, Plan, Resolve, Start};
                matches!(request, Start(_) | Open(_) | Plan(..) | Resolve(..))
            };
            let starts = asked.extract_if(.., |(request, ..)| begins(request));
            stopped.extend(starts.map(|(_, _, reply)| (ticket.clone(), Some(reply))));
        }
        for (ticket, reply) in stopped {
            self.outcome(&ticket, ExitReason::UserStopped.exit_code());
            let words = "programmator is shutting down";
            self.settle(reply, refused(&ticket, words.to_owned(), 0));
        }
        self.count();
        match how {
            Closing::AfterIteration => self.supervisor.command_all(by, &UserCommand::FinishAndStop).await,
            Closing::Now => self.supervisor.command_all(by, &UserCommand::Stop).await,
            Closing::HandOver => self.supervisor.hand_over(),
            Closing::Abandon => {
                self.supervisor.abandon().await;
                self.count();
            }
        }
        Reply::Done
    }
}
