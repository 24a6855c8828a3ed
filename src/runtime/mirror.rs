//! A run on another machine, as it is looked at here: the [copy] that follows it, the connection, which is made again
//! where it is lost, and what the person says to the run.
//!
//! Nothing that the person says is said twice: what was not answered when the connection was lost is told to be so.

pub mod copy;

use crate::adapters::other_machine::{Machine, MayAsk, OtherMachine, Unasked};
use crate::base::text::clean_line;
use crate::domain::command::UserCommand;
use crate::domain::request::Reply;
use crate::domain::ticket::TicketKey;
use crate::domain::wire::{Ask, Tell, Told};
use copy::Copy;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::sync::mpsc::{Receiver, UnboundedSender};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

/// How often the screen is told that Claude has printed more.
const GROWTH: Duration = Duration::from_millis(500);
/// Seconds until the first try to connect again, and at most.
const SOON: u64 = 1;
const LATE: u64 = 30;

/// Something that the person says to the run.
pub struct Wanted {
    pub ticket: TicketKey,
    pub command: UserCommand,
    /// Who waits for what comes of it.
    pub reply: UnboundedSender<Reply>,
}

impl Wanted {
    fn decided(self) {
        let Self { ticket, command, reply } = self;
        // Nobody waits once the screen is left.
        let _ = reply.send(Reply::Decided { ticket, command });
    }

    fn not_decided(self, why: String) {
        let Self { ticket, command, reply } = self;
        let _ = reply.send(Reply::NotDecided { ticket, command, why });
    }
}

/// Why a connection tells no more of the run; words for the person.
enum End {
    /// It is lost, and another may do.
    Lost(String),
    /// The other machine does not tell of it, and would not over another.
    Refused(String),
}

/// A run on another machine that is looked at.
pub struct Mirror {
    pub machine: Machine,
    pub copy: Copy,
    /// What the person says.
    pub wanted: Receiver<Wanted>,
    /// Told how the connection stands, in words for the person; `None`: it stands.
    pub connection: UnboundedSender<Option<String>>,
    /// What was said, by the number of the question, and not answered yet.
    pub unanswered: BTreeMap<u64, Wanted>,
}

impl Mirror {
    /// Follows the run over this connection and those that come after it, for as long as this is waited for or the other
    /// machine tells of it.
    pub async fn follow(mut self, first: OtherMachine) {
        let name = self.machine.name.clone();
        let (mut made, mut seconds) = (Ok(first), SOON);
        loop {
            let lost = match made {
                Err(why) => why,
                Ok(mut other) => {
                    let (end, has_told) = self.over(&mut other).await;
                    if has_told {
                        seconds = SOON;
                    }
                    match end {
                        End::Lost(why) => why,
                        End::Refused(why) => return self.refused(&clean_line(&why, 300)).await,
                    }
                }
            };
            self.unanswered_stay_so();
            let lost = format!("connection to {name} lost ({})", clean_line(&lost, 300));
            self.pause(&lost, seconds).await;
            self.tell(Some(format!("{lost}: connecting …")));
            made = OtherMachine::connect(&self.machine, MayAsk::No).await;
            seconds = (2 * seconds).min(LATE);
        }
    }

    fn unanswered_stay_so(&mut self) {
        let name = &self.machine.name;
        for wanted in std::mem::take(&mut self.unanswered).into_values() {
            wanted.not_decided(format!("the connection to {name} was lost before it responded: see the run's log"));
        }
    }

    /// Says that no more is told of the run, and why. What the person says is not sent.
    async fn refused(&mut self, why: &str) {
        self.unanswered_stay_so();
        let words = format!("{} no longer has this run: {why}", self.machine.name);
        self.tell(Some(words.clone()));
        while let Some(wanted) = self.wanted.recv().await {
            wanted.not_decided(format!("{words}: nothing was sent"));
        }
    }

    /// Follows the run while the connection stands. Why no more is told, and whether anything was told before.
    async fn over(&mut self, other: &mut OtherMachine) -> (End, bool) {
        let follows = match other.ask(self.copy.missing()).await {
            Ok(follows) => follows,
            Err(why) => return (End::Lost(why.words()), false),
        };
        let mut has_told = false;
        let mut looks = interval(GROWTH);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                told = other.told() => match told {
                    Ok(Told { id, tell: Tell::Refused(why) }) if id == follows => return (End::Refused(why), has_told),
                    Ok(Told { id, tell }) if id == follows => {
                        if let Err(why) = self.copy.take(tell) {
                            return (End::Lost(why), has_told);
                        }
                        if !std::mem::replace(&mut has_told, true) {
                            self.tell(None);
                        }
                    }
                    Ok(told) => self.answered(told),
                    Err(why) => return (End::Lost(why), has_told),
                },
                Some(wanted) = self.wanted.recv() => {
                    let say = Ask::Say { run: self.copy.run().run, command: wanted.command.clone() };
                    match other.ask(say).await {
                        Ok(id) => drop(self.unanswered.insert(id, wanted)),
                        Err(Unasked::TooLong(why)) => wanted.not_decided(why),
                        Err(Unasked::Lost(why)) => {
                            self.unanswered.insert(0, wanted);
                            return (End::Lost(why), has_told);
                        }
                    }
                }
                _ = looks.tick() => if let Err(why) = self.copy.tell_growth() {
                    return (End::Lost(why), has_told);
                },
            }
        }
    }

    fn answered(&mut self, told: Told) {
        let Some(wanted) = self.unanswered.remove(&told.id) else { return };
        match told.tell {
            Tell::Done => wanted.decided(),
            Tell::Refused(why) | Tell::Unanswered(why) => {
                wanted.not_decided(format!("{}: {}", self.machine.name, clean_line(&why, 400)));
            }
            _ => wanted.not_decided(format!("invalid message from {}", self.machine.name)),
        }
    }

    /// Waits so long, and says so. What the person says meanwhile is not sent.
    async fn pause(&mut self, lost: &str, seconds: u64) {
        for left in (1..=seconds).rev() {
            self.tell(Some(format!("{lost}: again in {left} s")));
            let second = Instant::now() + Duration::from_secs(1);
            loop {
                tokio::select! {
                    () = sleep_until(second) => break,
                    Some(wanted) = self.wanted.recv() => {
                        let name = &self.machine.name;
                        wanted.not_decided(format!("not connected to {name}: nothing was sent"));
                    }
                }
            }
        }
    }

    fn tell(&self, connection: Option<String>) {
        // Nobody listens once the screen is left.
        let _ = self.connection.send(connection);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapters::store::Store;
    use crate::runtime::reporter::Reporter;
    use serde_json::json;
    use tokio::sync::mpsc;

    #[tokio::test]
    async fn a_machine_that_does_not_tell_of_the_run_is_asked_no_more_and_its_words_are_shown() {
        let folder = tempfile::tempdir().unwrap();
        let line = r#"echo x >> "$0"; echo '{"programmator":"0","wire":1}'; read -r asked
            echo '{"id":1,"tell":{"refused":"the run no longer exists"}}'; cat"#;
        let asked = folder.path().join("asked");
        let command = ["/bin/sh", "-c", line, asked.to_str().unwrap()].map(str::to_owned).into();
        let machine = Machine { name: "build".into(), command };
        let store = Store::open(&folder.path().join("copy")).unwrap();
        let run = serde_json::from_value(json!({
            "run": "0192aaaa-0000-7000-8000-000000000001", "ticket": "tk-1", "title": "T", "ticket_path": "/t/tk-1.md",
            "folder": "/t", "state": "running", "phase": null, "phases_done": 0, "phases": 1, "iterations": 0,
            "cost_usd": 0.0, "reason": null, "started": "2026-11-21T12:00:00Z", "updated": "2026-11-21T12:00:01Z",
        }));
        let copy = Copy::new(store.clone(), Reporter::new(store), run.unwrap()).unwrap();
        let ticket = copy.ticket();
        let (wants, wanted) = mpsc::channel(1);
        let (connection, mut told) = mpsc::unbounded_channel();
        let other = OtherMachine::connect(&machine, MayAsk::No).await.unwrap();
        let mirror = Mirror { machine, copy, wanted, connection, unanswered: BTreeMap::new() };
        let following = tokio::spawn(mirror.follow(other));
        let words = "build no longer has this run: the run no longer exists";
        assert_eq!(told.recv().await.unwrap().as_deref(), Some(words));
        let (reply, mut replies) = mpsc::unbounded_channel();
        let sent = wants.send(Wanted { ticket, command: UserCommand::Pause, reply }).await;
        assert!(sent.is_ok());
        let Some(Reply::NotDecided { why, .. }) = replies.recv().await else { panic!("it is decided") };
        assert_eq!(why, format!("{words}: nothing was sent"));
        drop(wants);
        following.await.unwrap();
        assert_eq!(std::fs::read_to_string(asked).unwrap(), "x\n");
    }
}
