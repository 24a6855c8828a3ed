//! Resuming runs from the phone.

use crate::cli::ended::settle::{told, typed};
use crate::domain::outcome::ExitReason;
use crate::domain::summary::RunSummary;

/// Resumes a run that no program works on, in the background; one that ended for good is run again.
pub(super) async fn resume(run: &RunSummary) -> String {
    if run.is_chat() {
        return "A chat can only be continued on your machine: `programmator chat --resume`.".to_owned();
    }
    let reason = run.reason.as_deref().and_then(ExitReason::from_word);
    let command = if reason.is_none_or(ExitReason::is_resumable) { "resume" } else { "run" };
    let what = if command == "resume" { run.run.to_string() } else { run.ticket_path.clone() };
    told(typed(&run.folder, &[command, "--detach", "--", &what]).await).unwrap_or_else(|why| why)
}
