//! What the gate does with calls that Claude is told about before it makes any: looked up once, and again when something
//! that it hangs on has changed. A dozen calls are judged for every prompt; this is half of the time between two calls of
//! Claude's.

use crate::domain::tool_call::ToolCall;
use crate::domain::verdict::Verdict;
use crate::runtime::gate::Kept;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

/// What the verdicts hang on: no grant is held.
#[derive(Clone, Debug, PartialEq)]
pub struct Ground {
    /// The hash of the rules.
    pub rules: String,
    pub kept: Kept,
    /// Why nobody can give the passphrase.
    pub locked: Option<String>,
    /// When a file was last added to the folder or taken out of it.
    pub folder: Option<SystemTime>,
}

impl Ground {
    /// When the folder's list of files was last changed.
    pub fn listed(folder: &Path) -> Option<SystemTime> {
        folder.metadata().and_then(|meta| meta.modified()).ok()
    }
}

/// The last calls that were looked up, and what came of them.
#[derive(Debug, Default)]
pub struct Sampled(Mutex<Option<Last>>);

#[derive(Debug)]
struct Last {
    ground: Ground,
    calls: Vec<ToolCall>,
    verdicts: Vec<Verdict>,
}

impl Sampled {
    /// The verdicts on these calls; `judge` is asked where they are not known.
    pub fn verdicts(&self, ground: Ground, calls: &[ToolCall], judge: impl Fn(&ToolCall) -> Verdict) -> Vec<Verdict> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = known.as_ref().filter(|last| last.ground == ground && last.calls == calls) {
            return last.verdicts.clone();
        }
        let verdicts: Vec<Verdict> = calls.iter().map(judge).collect();
        *known = Some(Last { ground, calls: calls.to_vec(), verdicts: verdicts.clone() });
        verdicts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::tool_call::{ControlRequest, Via};
    use std::cell::Cell;

    #[test]
    fn it_is_looked_up_again_when_what_it_hangs_on_is_another() {
        let call = |tool: &str| ToolCall {
            request: ControlRequest { id: String::new(), via: Via::Callback },
            tool_use_id: String::new(),
            tool: tool.into(),
            input: "{}".into(),
            agent: None,
            cwd: None,
        };
        let ground = Ground { rules: "a".into(), kept: Kept::default(), locked: None, folder: None };
        let (sampled, asked) = (Sampled::default(), Cell::new(0));
        let look = |ground: &Ground, calls: &[ToolCall]| {
            let judge = |_: &ToolCall| {
                asked.set(asked.get() + 1);
                if ground.rules == "a" { Verdict::Allow } else { Verdict::Block }
            };
            (sampled.verdicts(ground.clone(), calls, judge), asked.take())
        };
        let calls = [call("Read"), call("Bash")];
        assert_eq!(look(&ground, &calls), (vec![Verdict::Allow; 2], 2));
        assert_eq!(look(&ground, &calls), (vec![Verdict::Allow; 2], 0));
        let others = [
            Ground { rules: "b".into(), ..ground.clone() },
            Ground { kept: Kept { plans: true, ..Kept::default() }, ..ground.clone() },
            Ground { locked: Some("none is set".into()), ..ground.clone() },
            Ground { folder: Some(SystemTime::UNIX_EPOCH), ..ground.clone() },
        ];
        for other in others {
            assert_eq!(look(&other, &calls).1, 2, "{other:?}");
        }
        assert_eq!(look(&ground, &calls[..1]), (vec![Verdict::Allow], 1));
    }
}
