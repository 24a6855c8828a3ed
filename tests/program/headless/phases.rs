//! A person's edits of phases from the command line: in the file at once, whoever works on the ticket, and in the journal.

use crate::project::Project;
use crate::watched::{DILIGENT, at_work, ended, of_kind, ran, said};

#[test]
fn phases_are_edited_without_a_run_and_nothing_else_of_the_file_changes() {
    let project = Project::new();
    project.ticket("tk-1", &["Alpha", "Beta"]);
    let before = project.ticket_text("tk-1");
    for (args, told) in [
        (&["add", "tk-1", "Gamma", "--after", "1"][..], "tk-1: added “Gamma”.\n"),
        (&["rename", "tk-1", "Beta", "Delta"], "tk-1: renamed “Beta” to “Delta”.\n"),
        (&["split", "tk-1", "Delta", "Delta", "Epsilon"], "tk-1: split “Delta” into “Delta”, “Epsilon”.\n"),
        (&["move", "tk-1", "Gamma", "up"], "tk-1: moved “Gamma” up.\n"),
    ] {
        assert_eq!(said(&project, &[&["phase"], args].concat(), 0), told);
    }
    let boxes = "- [ ] Gamma\n- [ ] Alpha\n- [ ] Delta\n- [ ] Epsilon\n";
    assert_eq!(project.ticket_text("tk-1"), before.replace("- [ ] Alpha\n- [ ] Beta\n", boxes));
    for (args, why) in [
        (&["rename", "tk-1", "Alpha", "a\nb"][..], "a phase is one line"),
        (&["move", "tk-1", "Gamma", "up"], "“Gamma” is already the first phase"),
        (&["skip", "tk-1", "Alpha"], "no run has worked on it yet"),
        (&["accept", "tk-1", "Alpha", " "], "say why “Alpha” is accepted"),
    ] {
        let told = said(&project, &[&["phase"], args].concat(), 1);
        assert!(told.contains(why), "{told}");
    }
    let inside = project.command(&["phase", "skip", "tk-1", "1"]).env("PROGRAMMATOR_RUN_ID", "x").output().unwrap();
    assert_eq!(inside.status.code(), Some(77));
}

#[test]
fn a_run_at_work_makes_the_edit_and_goes_by_it() {
    let (project, child) = at_work(&["Alpha", "Beta", "Gamma"]);
    for args in [
        &["rename", "tk-1", "Beta", "Beta two"][..],
        &["skip", "tk-1", "Beta two"],
        &["add", "tk-1", "Delta"],
        &["accept", "tk-1", "Gamma", "seen by hand"],
    ] {
        let told = said(&project, &[&["phase"], args].concat(), 0);
        assert!(told.contains("has applied it"), "{told}");
    }
    project.write("go", "");
    ended(child, 0);
    let (journal, text) = (project.journal(), project.ticket_text("tk-1"));
    let all = |kind: &str, field: &str| {
        let found = of_kind(&journal, kind);
        found.iter().map(|record| record[field].as_str().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(all("iteration_started", "phase"), ["Alpha", "Delta"]);
    assert_eq!(all("phase_skipped", "phase"), ["Beta two"]);
    assert_eq!(
        (all("phase_ticked", "phase"), all("phase_ticked", "why")),
        (vec!["Gamma".into()], vec!["seen by hand".into()])
    );
    assert_eq!(all("revision_intended", "what").len(), 3);
    assert_eq!(all("revision_settled", "outcome"), ["written"; 3]);
    assert!(text.contains("- [x] Alpha\n- [ ] Beta two\n- [x] Gamma\n- [x] Delta\n"), "{text}");
    assert!(text.contains("\n## Notes\n\n**") && text.contains("Accepted “Gamma” by hand: seen by hand\n"), "{text}");
}

#[test]
fn what_is_decided_after_a_run_is_where_the_next_one_begins() {
    let project = Project::new();
    project.ticket("tk-1", &["Alpha", "Beta", "Gamma", "Delta"]);
    project.scenario(DILIGENT);
    ran(&project, &["run", "--json", "-n", "1", "tk-1"], 4);
    assert_eq!(said(&project, &["phase", "skip", "tk-1", "Beta"], 0), "tk-1: skipped “Beta”.\n");
    assert_eq!(said(&project, &["phase", "skip", "tk-1", "Gamma"], 0), "tk-1: skipped “Gamma”.\n");
    assert_eq!(said(&project, &["phase", "reopen", "tk-1", "Gamma"], 0), "tk-1: reopened “Gamma”.\n");
    assert_eq!(said(&project, &["phase", "accept", "tk-1", "Delta", "by hand"], 0), "tk-1: accepted “Delta”.\n");
    let second = ran(&project, &["run", "--json", "tk-1"], 0);
    let worked: Vec<&str> =
        of_kind(&second, "iteration_started").iter().map(|r| r["phase"].as_str().unwrap()).collect();
    assert_eq!(worked, ["Gamma"]);
    let text = project.ticket_text("tk-1");
    assert!(text.contains("- [ ] Beta\n- [x] Gamma\n- [x] Delta\n"), "{text}");
    assert_eq!(text.matches("Accepted “Delta” by hand: by hand").count(), 1, "{text}");
}
