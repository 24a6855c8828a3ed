//! What a question's card asks beside its answer: the passphrase, and a rule to be saved.

use super::Service;
use crate::adapters::passphrase::{PassphraseError, Passphrases};
use crate::adapters::policy_file;
use crate::domain::answerer::Answerer;
use crate::domain::approval::QuestionId;
use crate::domain::passphrase::{Checked, NOTICE_AT};
use crate::domain::request::Reply;
use crate::domain::ticket::TicketKey;
use tokio::sync::oneshot;

impl Service {
    /// Asks the passphrase something on a thread of its own. Hashing takes its time.
    pub(super) fn passphrase(
        &self,
        ticket: TicketKey,
        id: QuestionId,
        reply: oneshot::Sender<Reply>,
        ask: impl FnOnce(&Passphrases) -> Result<Checked, PassphraseError> + Send + 'static,
    ) {
        if !self.supervisor.is_open(&ticket) {
            let why = "it is running in another process: enter it on that screen, or stop the run and resume it here";
            return drop(reply.send(Reply::Passphrase { ticket, id, checked: Checked::Failed(why.to_owned()) }));
        }
        let (passphrases, reporter) = (self.passphrases.clone(), self.reporter.clone());
        tokio::task::spawn_blocking(move || {
            let checked = match passphrases {
                Some(passphrases) => ask(&passphrases).unwrap_or_else(|error| Checked::Failed(error.to_string())),
                None => Checked::Failed("there is no config folder: set HOME".into()),
            };
            if let Checked::Wrong { failures, .. } | Checked::Locked { failures, .. } = &checked
                && *failures >= NOTICE_AT
            {
                reporter.trouble(&ticket, &format!("{failures} wrong passphrases in a row"));
            }
            let _ = reply.send(Reply::Passphrase { ticket, id, checked });
        });
    }

    pub(super) fn save_rule(
        &self,
        ticket: TicketKey,
        (id, by): (QuestionId, Answerer),
        rules: String,
        before: String,
        reply: oneshot::Sender<Reply>,
    ) {
        let (folder, policy_engines) = (self.opener.config_folder.clone(), self.policy_engines.clone());
        let tell_run = self.supervisor.rule_saved(&ticket, id.clone(), by);
        tokio::task::spawn_blocking(move || {
            let saved = match folder {
                Some(folder) => policy_file::save(&folder, &rules, &before)
                    .map(|path| path.display().to_string())
                    .map_err(|error| format!("{error}. To edit the file yourself: programmator policy edit")),
                None => Err("there is no config folder: set HOME".into()),
            };
            if let Ok(path) = &saved {
                if let Some(tell_run) = tell_run {
                    tell_run(path.clone());
                }
                policy_engines.reload();
            }
            let _ = reply.send(Reply::RuleSaved { ticket, id, saved });
        });
    }
}
