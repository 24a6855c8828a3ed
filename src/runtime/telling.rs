//! Tells a person who does not look what the runs of this program come to: by the webhooks, with or without a screen, and
//! where there is no screen also by the desktop and the person's own program.

use crate::adapters::notifier;
use crate::adapters::webhook::Webhooks;
use crate::base::id::RunId;
use crate::base::time::Clock;
use crate::config::NotifyConfig;
use crate::domain::approval::Presence;
use crate::domain::news::News;
use crate::domain::notification::{Level, Notification};
use crate::domain::record::Stored;
use crate::domain::summary::Owner;
use crate::orchestrator::apply::apply;
use crate::orchestrator::state::State;
use crate::orchestrator::telling::{Need, need, of};
use crate::runtime::app::App;
use jiff::tz::TimeZone;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::{Instant, MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

/// A question is told that has waited for so long: what is answered at once, by a rule or a person, needs nobody.
const GRACE: Duration = Duration::from_secs(1);
/// Somebody who has touched the screen within this time sees it there.
const LOOKS: Duration = Duration::from_secs(60);

/// Where the runs are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// On a screen, which tells the desktop and the person's program by itself.
    Screen,
    /// Nowhere.
    Nowhere,
}

/// The task that tells.
pub struct Telling {
    stop: CancellationToken,
    task: JoinHandle<Webhooks>,
}

impl Telling {
    /// Tells from now on what comes of the runs; `None`: nobody is to be told by it.
    pub fn start(app: &App, notify: &NotifyConfig, clock: Arc<dyn Clock>, shown: Shown) -> Option<Self> {
        if shown == Shown::Screen && notify.webhooks.is_empty() {
            return None;
        }
        let webhooks = Webhooks::start(&notify.webhooks);
        let watch = Watch { webhooks, notify: notify.clone(), clock, shown, runs: BTreeMap::new() };
        let stop = CancellationToken::new();
        let task = tokio::spawn(watch.work(app.clone(), stop.clone()));
        Some(Self { stop, task })
    }

    /// Tells what is still to be told, for some seconds at most.
    pub async fn finish(self) {
        self.stop.cancel();
        if let Ok(webhooks) = self.task.await {
            let _ = spawn_blocking(move || webhooks.finish()).await;
        }
    }
}

struct Watch {
    webhooks: Webhooks,
    notify: NotifyConfig,
    clock: Arc<dyn Clock>,
    shown: Shown,
    /// Those that this program works on.
    runs: BTreeMap<RunId, Heard>,
}

/// What was heard of a run.
struct Heard {
    state: State,
    /// The last record of before it was opened here: what came until then was told in its time.
    earlier: u64,
    /// What it waits for the person for, and since when; `None` once that was told.
    need: Option<(Need, Option<Instant>)>,
}

impl Watch {
    async fn work(mut self, app: App, stop: CancellationToken) -> Webhooks {
        let mut told = app.subscribe(Presence::Nobody);
        let mut second = interval(GRACE);
        second.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                news = told.next() => self.hear(news),
                _ = second.tick(), if self.runs.values().any(Heard::waits) => {
                    let idle = self.clock.now().since(told.last_touched());
                    if self.shown == Shown::Nowhere || idle >= LOOKS {
                        self.tell_needs();
                    }
                }
            }
        }
        while let Some(news) = told.try_next() {
            self.hear(news);
        }
        self.webhooks
    }

    fn hear(&mut self, news: News) {
        match news {
            News::RunOpened { run, earlier, records, owner: Owner::Here, .. } => {
                self.runs.entry(run).or_insert_with(|| Heard { state: State::default(), earlier, need: None });
                for stored in &records {
                    self.record(stored);
                }
            }
            News::Recorded(stored) => self.record(&stored),
            News::StorageAwaited(waiting) => {
                let told = told(waiting.ticket.as_str(), Level::NeedsYou, "cannot store anything", &waiting.why);
                self.tell(&told);
            }
            News::RunLeft(left) => {
                let is_new = self.runs.remove(&left.run).is_some();
                if is_new {
                    self.tell(&told(left.ticket.as_str(), Level::Failed, "has stopped", &left.message));
                }
            }
            News::NotStarted(refused) => {
                self.tell(&told(refused.ticket.as_str(), Level::Failed, "was not started", &refused.message));
            }
            _ => {}
        }
    }

    fn record(&mut self, stored: &Stored) {
        let Some(heard) = self.runs.get_mut(&stored.run).filter(|heard| stored.seq > heard.state.seq) else { return };
        apply(&mut heard.state, stored);
        let needs = need(&heard.state);
        let is_same = match (&needs, &heard.need) {
            // Its phase may be over while it waits.
            (Some(Need { question: Some(now), .. }), Some((before, _))) => before.question.as_ref() == Some(now),
            (now, before) => now.as_ref() == before.as_ref().map(|(need, _)| need),
        };
        if !is_same {
            heard.need = needs.map(|need| (need, Some(Instant::now())));
        }
        let news = (stored.seq > heard.earlier).then(|| of(&heard.state, &stored.record)).flatten();
        if let Some(news) = news {
            self.tell(&news);
        }
    }

    fn tell_needs(&mut self) {
        let due: Vec<Notification> = self.runs.values_mut().filter_map(Heard::due).collect();
        for notification in due {
            self.tell(&notification);
        }
    }

    fn tell(&self, notification: &Notification) {
        if self.shown == Shown::Nowhere {
            if self.notify.desktop.takes(notification.level) {
                notifier::desktop(notification);
            }
            notifier::command(&self.notify.command, notification);
        }
        self.webhooks.tell(notification, self.clock.now().minute_of_day(&TimeZone::system()));
    }
}

impl Heard {
    fn waits(&self) -> bool {
        self.need.as_ref().is_some_and(|(_, since)| since.is_some())
    }

    /// What it waits for, when that is to be told; once.
    fn due(&mut self) -> Option<Notification> {
        let (need, since) = self.need.as_mut()?;
        since.take_if(|since| since.elapsed() >= GRACE).map(|_| need.told.clone())
    }
}

fn told(ticket: &str, level: Level, what: &str, text: &str) -> Notification {
    let title = format!("{ticket} {what}");
    Notification { level, ticket: ticket.to_owned(), phase: None, title, text: text.to_owned() }
}
