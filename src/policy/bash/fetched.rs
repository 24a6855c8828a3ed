//! What a script has fetched from a network, as it goes through files and variables: what it becomes may not be run.

use crate::policy::unit::{Class, Program, Target, Unit};

/// Commands that put what they read into variables.
const VARIABLES: [&str; 3] = ["read", "mapfile", "readarray"];

/// Adds what the units of one pipeline write of what comes from a network, at once or in a file of it. What goes into a
/// variable may go into any file.
pub fn fetches(fetched: &mut Vec<Target>, units: &[Unit]) {
    let talks = |unit: &Unit| unit.classes.iter().any(|class| matches!(class, Class::Local | Class::Network));
    let of_it =
        |unit: &Unit| talks(unit) || unit.reads.iter().chain(&unit.moves).any(|target| fetched.contains(target));
    if units.iter().any(of_it) {
        let reads = |unit: &Unit| matches!(&unit.program, Program::Named(name) if VARIABLES.contains(&name.as_str()));
        let holds = units.iter().any(|unit| unit.program == Program::Assignment || reads(unit));
        fetched.extend(holds.then_some(Target::Unknown));
        fetched.extend(units.iter().flat_map(|unit| unit.writes.iter().cloned()));
    }
}
