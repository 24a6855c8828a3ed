//! A journal of a program that told phases by their text alone is loaded, folded and resumed.
//!
//! `fixtures/journal/before_phase_numbers.jsonl` was printed by such a program, up to its end by kill -9 in the fourth
//! iteration; the last four records were written by hand in its words.

use crate::project::Project;
use crate::watched::{of_kind, ran, records};
use programmator::adapters::store::{Append, Store};
use programmator::domain::outcome::DoneHow;
use programmator::domain::phase::Mark;
use programmator::domain::record::{Record, Stored};
use programmator::orchestrator::apply::apply;
use programmator::orchestrator::state::State;
use programmator::orchestrator::summary::summary;
use serde_json::Value;

/// What the journal says the run has come to.
struct Old {
    project: Project,
    state: State,
}

/// The project and its store, as the old program left them after this many records.
fn left_by_the_old_one(records: usize) -> Old {
    let project = Project::new();
    let commit = project.git(&["rev-parse", "HEAD"]);
    let journal = include_str!("../../fixtures/journal/before_phase_numbers.jsonl")
        .replace("{work}", &project.work().display().to_string())
        .replace("{state}", &project.path("state").display().to_string())
        .replace("{commit}", commit.trim())
        // A run of its own: what is left of one is swept by its id, wherever it is.
        .replace("01a203f6-d15f-74a0-ab44-34dc6f1c849f", &uuid::Uuid::now_v7().to_string());
    let store = Store::open(&project.path("state")).unwrap();
    let mut state = State::default();
    for line in journal.lines().take(records) {
        let stored: Stored = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let (here, back): (Value, Value) =
            (serde_json::from_str(line).unwrap(), serde_json::to_value(&stored).unwrap());
        let unread = ["settings", "writes"];
        let none_lost = |(key, value): (&String, &Value)| back[key] == *value || unread.contains(&key.as_str());
        assert!(here.as_object().unwrap().iter().all(none_lost), "{line}\n{back}");
        apply(&mut state, &stored);
        let Stored { run, ticket, time, record, .. } = stored;
        let append = Append { run, ticket, time, records: vec![record], summary: summary(&state).unwrap() };
        store.append_blocking(append).unwrap();
    }
    project.ticket("tk-1", &["Alpha", "Fix it", "Beta, but better", "Fix it", "Gamma"]);
    let mut ticket = project.ticket_text("tk-1").replace("status: open", "status: in_progress");
    for phase in state.phases.iter().filter(|phase| phase.ticked) {
        ticket = ticket.replacen(&format!("- [ ] {}", phase.text), &format!("- [x] {}", phase.text), 1);
    }
    project.write("work/.tickets/tk-1.md", &(ticket + "\n## Validation Commands\n\n- `cat alpha.txt`\n"));
    project.write("work/alpha.txt", "a\n");
    project.scenario(super::DILIGENT);
    Old { project, state }
}

fn marks(state: &State) -> Vec<(u32, &str, Mark)> {
    state.phases.iter().map(|phase| (phase.id.0, phase.text.as_str(), phase.mark)).collect()
}

#[test]
fn a_journal_that_tells_phases_by_their_text_is_folded_and_gone_on_with() {
    let Old { project, state } = left_by_the_old_one(usize::MAX);
    let done = Mark::Done(DoneHow::Verified);
    let expected = [
        (1, "Alpha", done),
        (2, "Fix it", done),
        (3, "Beta, but better", Mark::Running),
        (4, "Fix it", Mark::Skipped),
        (5, "Gamma", Mark::Pending),
    ];
    assert_eq!(marks(&state), expected);
    assert_eq!(state.phases.iter().map(|phase| phase.iterations).collect::<Vec<_>>(), [2, 1, 1, 0, 0]);
    assert_eq!((state.own_text(), state.own_phase().map(|own| own.id.0)), (Some("Beta, but better"), Some(3)));
    let told = ran(&project, &["run", "--json", "tk-1"], 0);
    assert_eq!(told[0]["kind"], "run_resumed", "{told:?}");
    let ids: Vec<&Value> = of_kind(&told, "iteration_started").iter().map(|begun| &begun["id"]).collect();
    assert_eq!(ids, [3, 5], "{told:?}");
    let ticket = project.ticket_text("tk-1");
    assert!(ticket.contains("- [x] Beta, but better\n- [ ] Fix it\n- [x] Gamma\n"), "{ticket}");
}

#[test]
fn an_old_claim_is_judged_by_the_phase_that_it_named() {
    let lines = include_str!("../../fixtures/journal/before_phase_numbers.jsonl").lines();
    let judged = lines.map(|line| serde_json::from_str::<Stored>(line).unwrap().record).enumerate();
    let mut second = judged.filter(|(_, record)| matches!(record, Record::EvidenceGathered { n: 2, .. }));
    let Old { project, state } = left_by_the_old_one(second.next().unwrap().0);
    assert_eq!(marks(&state)[0], (1, "Alpha", Mark::Claimed));
    let output = project.run(&["run", "--json", "-n", "2", "tk-1"]);
    let told = records(&output);
    let done = of_kind(&told, "phase_done");
    assert_eq!((&done[0]["n"], &done[0]["phase"], &done[0]["id"]), (&2.into(), &"Alpha".into(), &1.into()));
}

#[test]
fn each_of_two_phases_of_one_name_is_meant_in_its_turn() {
    let begun = include_str!("../../fixtures/journal/before_phase_numbers.jsonl").lines().next().unwrap();
    let begun: Stored = serde_json::from_str(begun).unwrap();
    let of = |kind: &str| serde_json::from_str(&format!(r#"{{"kind":"{kind}","phase":"Fix it"}}"#)).unwrap();
    let mut state = State::default();
    apply(&mut state, &begun);
    for (kind, skipped) in [
        ("phase_skipped", [true, false]),
        ("phase_skipped", [true, true]),
        ("phase_reopened", [false, true]),
        ("phase_reopened", [false, false]),
    ] {
        apply(&mut state, &Stored { record: of(kind), ..begun.clone() });
        assert_eq!([1, 3].map(|at| state.phases[at].mark == Mark::Skipped), skipped, "{kind}");
    }
}
