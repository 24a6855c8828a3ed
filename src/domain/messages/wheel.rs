//! A person's work in the ticket's session in words.

use super::line::Weight;
use crate::base::amount::counted;
use crate::domain::record::Record;
use crate::domain::verdict::Verdict;

pub(super) fn sentence(record: &Record) -> Option<(Weight, String)> {
    match record {
        Record::WheelTaken(taken) => Some(match &taken.ungated {
            None => (Weight::Info, format!("you opened session {}", taken.session)),
            Some(why) => (Weight::Warn, format!("you opened session {} UNGATED: {why}", taken.session)),
        }),
        Record::WheelJudged(judged) if judged.verdict == Verdict::Allow => None,
        Record::WheelJudged(judged) => {
            let what = if judged.verdict == Verdict::Ask { "left to Claude's own prompt" } else { "denied" };
            Some((
                Weight::Gate,
                format!("{what} in your session: {} {} ({})", judged.tool, judged.target, judged.reason),
            ))
        }
        Record::WheelReturned(returned) => {
            let files = match returned.total {
                0 => "no files changed".to_owned(),
                some => format!("{} changed", counted(some, "file")),
            };
            let worked = format!("You worked in the session; {files}");
            Some(match (&returned.trouble, returned.checked) {
                (Some(trouble), _) => (Weight::Warn, format!("{worked} · {trouble}")),
                (None, false) => (Weight::Warn, format!("{worked} · its tool calls were not judged by your rules")),
                (None, true) => (Weight::Info, worked),
            })
        }
        _ => None,
    }
}
