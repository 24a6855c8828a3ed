//! The watchdog's five timers, as they are named in the journal and to people. When they are set and what they cut
//! off is the core's (`orchestrator::decide::watchdog`); how long they are is `domain::settings`'.

use crate::base::time::human;
use crate::domain::outcome::IterationOutcome;
use crate::domain::worded::worded;
use serde::{Deserialize, Serialize};
use std::time::Duration;

worded! {
    /// One of the timers.
    pub enum Watch {
        /// From the start of the process until it has agreed on the protocol.
        Start = "start",
        /// From the prompt to the first byte of the answer.
        FirstByte = "first_byte",
        /// Between two bytes while no tool runs.
        Idle = "idle",
        /// From the result to the end of the process.
        PostResult = "post_result",
        Total = "total",
    }
}

/// A timer ran out, in the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchdogFired {
    pub n: u32,
    pub timer: Watch,
    /// How long it was, in seconds.
    pub seconds: u64,
}

impl Watch {
    /// The config key of its length.
    pub fn key(self) -> &'static str {
        match self {
            Self::Start => "limits.start_timeout",
            Self::FirstByte => "limits.first_byte_timeout",
            Self::Idle => "limits.idle_timeout",
            Self::PostResult => "limits.post_result_grace",
            Self::Total => "limits.iteration_timeout",
        }
    }

    /// How an iteration counts that it cuts off; `None`: the iteration had its result.
    pub fn outcome(self) -> Option<IterationOutcome> {
        match self {
            Self::Start | Self::Total => Some(IterationOutcome::TimedOut),
            Self::FirstByte | Self::Idle => Some(IterationOutcome::Idle),
            Self::PostResult => None,
        }
    }

    /// What a person can do about it.
    pub fn cure(self) -> String {
        let key = self.key();
        match self {
            Self::Start => format!("run `programmator doctor` to find the cause; on a slow machine raise `{key}`"),
            Self::FirstByte => {
                format!("check the network and the provider's status page; raise `{key}` for slow models")
            }
            Self::Idle => format!("check the network; raise `{key}` if the model pauses longer"),
            Self::PostResult => {
                format!("a background command may be keeping it alive; raise `{key}` to wait longer")
            }
            Self::Total => format!("raise `{key}` or split the phase"),
        }
    }
}

impl WatchdogFired {
    /// What happened, what was done, and the fix, in one line.
    pub fn sentence(&self) -> String {
        let time = human(Duration::from_secs(self.seconds));
        let what = match self.timer {
            Watch::Start => format!("Claude did not start within {time} and was terminated"),
            Watch::FirstByte => format!("Claude did not answer its prompt within {time} and was terminated"),
            Watch::Idle => format!("Claude printed nothing for {time} with no tool running, and was terminated"),
            Watch::PostResult => {
                format!("Claude did not exit within {time} after its result and was terminated; the result counts")
            }
            Watch::Total => {
                format!("the iteration timed out after {time} and Claude was terminated; its changes are kept")
            }
        };
        format!("{what}; {}", self.timer.cure())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_timer_has_its_word_its_key_and_its_cure() {
        for &watch in Watch::ALL {
            assert_eq!(Watch::from_word(watch.word()), Some(watch));
            let told = WatchdogFired { n: 1, timer: watch, seconds: 180 }.sentence();
            assert!(told.contains("3m 00s") && told.contains(watch.key()), "{told}");
        }
        assert_eq!(Watch::from_word("never"), None);
    }
}
