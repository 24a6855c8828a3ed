//! What the policy says of a call in a session that the person has started themselves, before Claude makes it.
//!
//! What it allows goes its way through Claude's own rules. Whatever goes wrong, nothing is said: the person sits in front of it.

use crate::adapters::hook_log::note;
use crate::base::text::clean_line;
use crate::base::time::Timestamp;
use crate::cli::in_force::{in_force, tickets, without_project};
use crate::cli::options::RunOptions;
use crate::cli::session::Session;
use crate::config::Resolved;
use crate::config::own_gate::OwnGate;
use crate::domain::own_session::{Coming, held_back};
use crate::domain::verdict::Verdict;
use crate::policy::place::Place;
use crate::policy::verdict::Decision;
use crate::runtime::policy_engine::{Person, claudes_paths};
use std::io::Write;
use std::path::Path;

/// Judges the call where the person wants that, notes what is not simply allowed, and tells Claude. `project`: the folder
/// that the session was started in. Gives what came of it, in words.
pub(super) fn judge(out: &mut dyn Write, coming: &Coming, project: &Path, now: Timestamp) -> &'static str {
    let Ok(session) = Session::new(Some(project), &RunOptions::default()) else {
        return "nothing: the session's folder cannot be used";
    };
    let Ok(resolved) = session.resolve(&session.folder) else { return "nothing: the configuration cannot be used" };
    let mode = resolved.config.own_sessions;
    if mode == OwnGate::Off {
        return "nothing: the policy does not apply to your own sessions (policy.own_sessions)";
    }
    let Some(decision) = decision(&session, &resolved, coming) else {
        return "nothing: the rules cannot be used (`programmator doctor`)";
    };
    if decision.verdict == Verdict::Allow {
        return "allowed by the policy";
    }
    let told = decision.told();
    let what = decision.deciding().map_or("", |unit| unit.text.as_str());
    let (verdict, would) = (decision.verdict.word(), if mode == OwnGate::Observe { "would " } else { "" });
    let mark = coming.session.get(..8).unwrap_or_default();
    note(&session.state, &format!("{} UTC {mark} {would}{verdict}: {} {what} ({told})", now.second(), coming.tool));
    if mode == OwnGate::Observe {
        return "logged: the policy does not allow it without asking";
    }
    // Nobody may be reading.
    let _ = writeln!(out, "{}", held_back(decision.verdict, &clean_line(&told, 300)));
    "asked about or blocked by the policy"
}

/// `None`: something is wrong with the rules. Then runs may do nothing, but a person may.
fn decision(session: &Session, resolved: &Resolved, coming: &Coming) -> Option<Decision> {
    let (folder, profile) = (&session.folder, resolved.config.profile);
    let mut policy = in_force(session, folder, profile, &tickets(session, folder, resolved));
    if policy.broken().is_some() {
        // A project's rules that cannot be used do not switch off the person's own.
        policy = without_project(session, profile);
    }
    if policy.broken().is_some() {
        return None;
    }
    let Person { home, user, .. } = &session.person();
    let paths = claudes_paths(resolved.config.agent.variables());
    let place = Place { workspace: folder, cwd: Path::new(&coming.folder), home, user, view: &paths };
    Some(policy.decide(&coming.tool, &coming.input, &place))
}
