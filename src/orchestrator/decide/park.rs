//! Asking for calls, and waiting when there is none to be had.
//!
//! A parked run asks again every now and then: another ticket may have found the provider open, the person may have
//! set the clock, the machine may have slept. Only the ledger says yes.

use super::Draft;
use crate::base::time::Timestamp;
use crate::domain::limits::Limits;
use crate::domain::limits::admission::{Admission, Asker, Counted, Ledger, Parking, Purpose, Verdict};
use crate::domain::limits::provider::{Reset, Window};
use crate::domain::limits::reset_text::LimitText;
use crate::domain::outcome::ExitReason;
use crate::domain::record::Record;
use crate::orchestrator::effect::{Effect, Timer};
use crate::orchestrator::state::Stage;
use crate::orchestrator::{exit, limits};
use std::time::Duration;

/// A parked run asks again after this time at the latest.
const LOOK: Duration = Duration::from_secs(30);
/// And after this one while another ticket tries.
const LOOK_AT_PROBE: Duration = Duration::from_secs(2);
/// Refusals in a row after which the run is given up: a day of quarter hours.
const TRIES: u32 = 100;

impl Draft<'_> {
    /// Asks the ledger. Asking again for the same call is harmless.
    pub(super) fn ask_for_call(&mut self, purpose: Purpose, asker: Asker) {
        let open = self.state.open_iteration().map(|open| (open.phase, open.role.model.clone()));
        let (phase, model) = open.unwrap_or_else(|| {
            let next = self.next_step();
            let model =
                next.as_ref().and_then(|(step, phase)| self.own_model(step, phase.as_ref().and_then(|phase| phase.id)));
            (next.and_then(|(_, phase)| phase?.id), model)
        });
        let ask = limits::ask(&self.state, purpose, asker, phase, model);
        self.effect(Effect::Admit(Box::new(ask)));
    }

    /// The ledger's answer; one that nobody waits for any more is let go, its call stays counted.
    pub(super) fn admitted(&mut self, n: u32, purpose: Purpose, admission: Admission) {
        if !self.state.is_open() {
            return;
        }
        match purpose {
            Purpose::Iteration => {
                let waits = matches!(self.state.stage, Stage::Idle | Stage::Parked);
                if waits && self.state.open_iteration().is_none() && self.state.iterations + 1 == n {
                    self.iteration_admitted(admission);
                }
            }
            Purpose::FollowUp => {
                let waits = self.state.stage == Stage::Closing && self.open(|open| open.n == n);
                if waits && self.awaits_follow_up() {
                    self.follow_up_admitted(n, admission);
                }
            }
        }
    }

    fn iteration_admitted(&mut self, Admission { verdict, ledger }: Admission) {
        match verdict {
            Verdict::Park(parking) => self.park(parking, &ledger),
            Verdict::Stop(why) => {
                self.unpark();
                self.end(ExitReason::Budget, why);
            }
            Verdict::Go { .. } => {
                self.unpark();
                // The person or the file may have changed their mind meanwhile.
                if self.is_due() {
                    self.begin_iteration(ledger);
                }
            }
        }
    }

    /// The call for the status block is asked for, and Claude waits for it.
    pub(super) fn awaits_follow_up(&self) -> bool {
        self.open(|open| open.claim_missing.is_some() && !open.followed_up && !open.unasked && open.timer.is_none())
    }

    fn follow_up_admitted(&mut self, n: u32, Admission { verdict, ledger }: Admission) {
        match verdict {
            Verdict::Go { .. } => {
                self.record(Record::CallCounted(Counted { n, purpose: Purpose::FollowUp, ledger }));
                self.record(Record::FollowUpSent { n });
                if let Some(step) = self.step() {
                    let prompt = Box::new((step.follow_up)(&self.state));
                    self.effect(Effect::SendFollowUp { n, prompt });
                }
                self.arm(Timer::FirstByte(n));
                // It may have run out meanwhile, when there was nothing to be said; the iteration's own runs on.
                self.arm(Timer::Idle(n));
            }
            // The next iteration waits, or the run stops, when it asks for its own call.
            Verdict::Park(parking) => {
                self.record(Record::Parked(parking));
                self.close(n);
            }
            Verdict::Stop(_) => self.close(n),
        }
    }

    fn park(&mut self, parking: Parking, ledger: &Ledger) {
        if ledger.tries >= TRIES {
            self.unpark();
            let why =
                format!("{}; refused {} times in a row; resume the run when it is over", parking.about, ledger.tries);
            return self.end(ExitReason::RateLimited, why);
        }
        // While it waits to be parked, nothing may come between.
        if self.state.stage == Stage::Idle && !self.is_due() {
            return;
        }
        let look = if parking.reset == Reset::Probe { LOOK_AT_PROBE } else { LOOK };
        let at = parking.until.min(self.now.plus(look));
        if self.state.stage != Stage::Parked || !self.waits_for(&parking) {
            self.record(Record::Parked(parking));
        }
        // A time that has passed since would be asked for without a pause.
        let soon = self.now.plus(Duration::from_millis(200));
        self.effect(Effect::Arm { timer: Timer::Park, at: at.max(soon) });
    }

    /// The run is known to wait for this. That the counters have moved meanwhile is no news.
    fn waits_for(&self, parking: &Parking) -> bool {
        let parked = self.state.limits.parked.as_ref();
        parked.is_some_and(|parked| Parking { known: parked.known.clone(), ..parking.clone() } == *parked)
    }

    fn unpark(&mut self) {
        if self.state.stage == Stage::Parked {
            self.record(Record::Unparked);
        }
    }

    /// A parked run asks again.
    pub(super) fn look_again(&mut self, asker: Asker) {
        self.end_parking_if_over();
        if self.state.stage == Stage::Parked {
            self.ask_for_call(Purpose::Iteration, asker);
        }
    }

    /// A run that waits for a call notices when it needs none any more: the person has ticked or skipped what was left.
    pub(super) fn end_parking_if_over(&mut self) {
        let over = self.next_step().is_none() || self.state.ticket_lost.is_some() || exit::check(&self.state).is_some();
        if over && self.state.stage == Stage::Parked && self.state.ended.is_none() {
            self.unpark();
            self.advance();
        }
    }

    /// The provider told of a window; of many that say the same, one is news.
    pub(super) fn limit_seen(&mut self, window: Window) {
        let known = self.state.limits.windows.get(&window.kind).is_some_and(|(known, _)| *known == window);
        let last = self.open(|open| open.window.as_ref() == Some(&window));
        if !known || !last {
            self.record(Record::LimitSeen(window));
        }
    }

    /// The turn has failed: if it is a limit, until when nothing is tried.
    pub(super) fn note_limit(&mut self, said: Option<&LimitText>, told: Option<Timestamp>) {
        if let Some(hit) = limits::hit(&self.state, said, told, self.now) {
            self.record(Record::LimitHit(hit));
        }
    }

    /// A resumed run works under the limits of now: they are the person's, and the reason to resume may be that they
    /// were raised.
    pub(super) fn limits_read(&mut self, limits: Box<Limits>) {
        if self.state.is_open() && self.state.settings.limits != limits {
            self.record(Record::LimitsChanged(limits));
        }
    }
}
