//! Files were restored for the person: which phases' work is in them now.

use crate::domain::record::Record;
use crate::orchestrator::state::State;

pub(super) fn fold(state: &mut State, record: &Record) {
    match record {
        Record::RestoreIntended(intended) => state.restoring = Some(intended.clone()),
        Record::RestoreSettled(settled) => {
            state.restoring.take_if(|open| open.id == settled.id);
            let Some(taken) = &settled.taken_back else { return };
            for phase in &mut state.phases {
                phase.taken_back = taken.contains(&phase.text);
            }
            state.whole.taken_back = taken.iter().any(String::is_empty);
        }
        _ => {}
    }
}
