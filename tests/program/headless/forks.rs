//! `programmator fork`: a new ticket with a worktree that has the files of a snapshot, and nothing else is changed by it.

use crate::project::Project;
use crate::watched::{DILIGENT, json, of_kind, ran, said, text};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

const PHASES: [&str; 3] = ["First", "Second", "Third"];

/// A ticket that is done, with a change of the person's that was there before.
fn project() -> Project {
    let project = Project::new();
    project.git(&["config", "user.name", "P"]);
    project.git(&["config", "user.email", "p@example.invalid"]);
    project.ticket("tk-1", &PHASES);
    project.git(&["add", "-A"]);
    project.git(&["commit", "-q", "-m", "Ticket"]);
    project.write("work/README.md", "# Mine\n");
    project.scenario(DILIGENT);
    ran(&project, &["run", "--json", "tk-1"], 0);
    project
}

fn git(top: &Path, args: &[&str]) -> String {
    let call = Command::new("git").arg("-C").arg(top).args(args).output().unwrap();
    assert!(call.status.success(), "{args:?}: {}", String::from_utf8_lossy(&call.stderr));
    String::from_utf8(call.stdout).unwrap()
}

/// All that a fork must leave as it is.
fn origin(project: &Project) -> String {
    let refs = project.git(&["for-each-ref", "refs/programmator", "refs/heads/main"]);
    [project.ticket_text("tk-1"), project.git(&["status", "--porcelain"]), refs].concat()
}

fn top(forked: &serde_json::Value) -> PathBuf {
    forked["worktree"].as_str().unwrap().into()
}

#[test]
fn a_fork_has_the_files_of_its_snapshot_and_is_worked_on_and_merged() {
    let project = project();
    let before = origin(&project);
    let forked = json(&project, &["fork", "tk-1", "2", "--id", "tk-2", "--json"]);
    let (main, own) = (project.git(&["rev-parse", "main"]), top(&forked));
    assert_eq!((forked["ticket"].as_str(), forked["of"].as_str()), (Some("tk-2"), Some("tk-1")));
    assert_eq!(forked["reopened"], serde_json::json!(["Second", "Third"]));
    assert_eq!(git(&own, &["status", "--porcelain"]), " M README.md\n?? first.txt\n");
    assert_eq!((git(&own, &["rev-parse", "HEAD"]), forked["base"].as_str()), (main.clone(), Some(main.trim())));
    assert_eq!(std::fs::read_to_string(own.join("README.md")).unwrap(), "# Mine\n");
    let ticket = project.ticket_text("tk-2");
    for words in
        ["id: tk-2\nstatus: open\n", "links: [tk-1]", "deps: []", "# Work on tk-1 (fork of tk-1 at snapshot 2)"]
    {
        assert!(ticket.contains(words), "{words}: {ticket}");
    }
    assert!(ticket.contains("- [x] First\n- [ ] Second\n- [ ] Third\n"), "{ticket}");
    std::fs::rename(project.path("work/.tickets/tk-2.md"), project.path("tk-2.md")).unwrap();
    assert_eq!(origin(&project), before, "nothing of the ticket that it comes from has changed");
    std::fs::rename(project.path("tk-2.md"), project.path("work/.tickets/tk-2.md")).unwrap();

    // It is run in its worktree, whatever the configuration says, and what it began with is its work, too.
    project.git(&["checkout", "-q", "README.md"]);
    project.git(&["clean", "-fdq", "--exclude", ".tickets"]);
    project.scenario_with(DILIGENT, "git: {commit: ticket, merge: merge}\n");
    let records = ran(&project, &["run", "--json", "tk-2"], 0);
    assert_eq!(of_kind(&records, "iteration_started").len(), 2);
    assert!(own.join("third.txt").is_file());
    assert_eq!(of_kind(&records, "run_ended")[0]["reason"], "complete");
    let merged = project.git(&["show", "--name-only", "--format=", "--first-parent", "-m", "main"]);
    assert_eq!(merged, "README.md\nfirst.txt\nsecond.txt\nthird.txt\n");
}

#[test]
fn a_fork_of_what_is_done_is_committed_and_merged_without_a_call_of_claude() {
    let project = project();
    json(&project, &["fork", "tk-1", "end", "--id", "tk-2", "--json"]);
    project.git(&["checkout", "-q", "README.md"]);
    project.git(&["clean", "-fdq", "--exclude", ".tickets"]);
    project.scenario_with(DILIGENT, "git: {commit: ticket, merge: merge}\n");
    let records = ran(&project, &["run", "--json", "tk-2"], 0);
    assert_eq!(of_kind(&records, "iteration_started").len(), 0);
    assert_eq!(of_kind(&records, "run_ended")[0]["reason"], "complete");
    let merged = project.git(&["show", "--name-only", "--format=", "--first-parent", "-m", "main"]);
    assert_eq!(merged, "README.md\nfirst.txt\nsecond.txt\nthird.txt\n");
}

#[test]
fn the_end_of_a_run_can_be_forked_and_an_id_is_made_up() {
    let project = project();
    let said = said(&project, &["fork", "tk-1", "end"], 0);
    let id = said.lines().last().unwrap().strip_prefix("Start it: programmator ").unwrap().to_owned();
    assert!(said.starts_with(&format!("Forked tk-1 from snapshot end as {id}.\nticket    ")), "{said}");
    assert!(id.starts_with("wor-") && project.ticket_text(&id).contains("- [x] Third"), "{said}");
    let again = json(&project, &["fork", "tk-1", "end", "--json"]);
    assert_ne!(again["ticket"], id);
    assert_eq!(git(&top(&again), &["status", "--porcelain"]).lines().count(), 4);
}

#[test]
fn the_worktree_of_a_fork_is_known_before_its_first_run() {
    let project = project();
    let forked = json(&project, &["fork", "tk-1", "2", "--id", "tk-2", "--json"]);
    let own = top(&forked);
    let listed = json(&project, &["worktree", "list", "--json"]);
    assert_eq!((&listed[0]["ticket"], &listed[0]["path"]), (&"tk-2".into(), &forked["worktree"]), "{listed}");
    assert_eq!(said(&project, &["worktree", "path", "tk-2"], 0).trim_end(), own.display().to_string());
    let inside = project.command(&["worktree", "list", "--json"]).current_dir(&own).output().unwrap();
    let inside: serde_json::Value = serde_json::from_slice(&inside.stdout).unwrap();
    assert_eq!(inside, listed, "wherever in the repository it is asked");
    let kept = project.run(&["worktree", "remove", "tk-2"]);
    assert!(!kept.status.success() && own.exists(), "its files are nowhere else: {}", text(&kept));
    git(&own, &["checkout", "-q", "."]);
    git(&own, &["clean", "-fdq"]);
    assert!(said(&project, &["worktree", "remove", "tk-2"], 0).contains("Removed "));
    assert!(!own.exists() && said(&project, &["worktree", "list"], 0).is_empty());
}

#[test]
fn what_cannot_be_forked_is_refused_with_the_reason_and_leaves_nothing() {
    let project = project();
    project.ticket("tk-0", &["Other"]);
    let before = origin(&project);
    let refused = |args: &[&str], words: &str| {
        let output = project.run(args);
        assert!(!output.status.success() && text(&output).contains(words), "{words}: {}", text(&output));
    };
    refused(&["fork", "tk-1", "9"], "9");
    refused(&["fork", "tk-0", "1"], "tk-0");
    refused(&["fork", "tk-1", "2", "--id", "tk-0"], "a ticket tk-0 already exists");
    refused(&["fork", "tk-1", "2", "--id", "../x"], "cannot name a ticket");
    project.git(&["branch", "programmator/tk-3", "main~1"]);
    refused(&["fork", "tk-1", "2", "--id", "tk-3"], "the branch programmator/tk-3 already exists");
    project.git(&["branch", "-D", "-q", "programmator/tk-3"]);
    // The commit that the snapshot was taken upon is gone.
    project.git(&["checkout", "-q", "--orphan", "other"]);
    let base = project.git(&["rev-parse", "main"]);
    let object = project.path(&format!("work/.git/objects/{}/{}", &base[..2], base[2..].trim()));
    let aside = project.path("aside");
    std::fs::rename(&object, &aside).unwrap();
    refused(&["fork", "tk-1", "2", "--id", "tk-4"], " is gone");
    std::fs::rename(&aside, &object).unwrap();
    project.git(&["symbolic-ref", "HEAD", "refs/heads/main"]);
    assert_eq!(origin(&project), before);
    assert_eq!(project.git(&["worktree", "list"]).lines().count(), 1);
    assert_eq!(project.git(&["branch", "--list"]), "* main\n");

    let plain = Project::without_git();
    plain.ticket("tk-1", &["First"]);
    plain.scenario(DILIGENT);
    let output = plain.run(&["fork", "tk-1", "1"]);
    assert!(text(&output).contains("not a git repository"), "{}", text(&output));
}

/// A git that kills the program which calls it with these words, once, after it has done what is asked or before.
pub(super) fn killing(project: &Project, words: &str, after: bool) -> String {
    let real = String::from_utf8(Command::new("sh").args(["-c", "command -v git"]).output().unwrap().stdout).unwrap();
    let (real, armed) = (real.trim(), project.path("armed"));
    let first = if after { format!("{real} \"$@\"; ") } else { String::new() };
    let script = format!(
        "#!/bin/sh\ncase \" $* \" in *\"{words}\"*) if rm {armed} 2>/dev/null; then {first}kill -9 $PPID; exit 1; fi;; esac\nexec {real} \"$@\"\n",
        armed = armed.display()
    );
    project.write("bin/git", &script);
    std::fs::set_permissions(project.path("bin/git"), std::fs::Permissions::from_mode(0o755)).unwrap();
    project.write("armed", "");
    format!("{}:{}", project.path("bin").display(), std::env::var("PATH").unwrap())
}

#[test]
fn killed_at_any_step_the_next_try_has_the_whole_of_it() {
    let project = project();
    let before = origin(&project);
    let steps = [
        (" worktree add ", false),
        (" worktree add ", true),
        (" checkout-index ", false),
        (" checkout-index ", true),
        (" update-ref refs/worktree/", true),
    ];
    for (n, (words, after)) in steps.into_iter().enumerate() {
        let path = killing(&project, words, after);
        let (id, file) = (format!("tk-{n}0"), project.path(&format!("work/.tickets/tk-{n}0.md")));
        let args = ["fork", "tk-1", "2", "--id", &id, "--json"];
        let killed = project.command(&args).env("PATH", &path).output().unwrap();
        assert!(killed.status.code().is_none() && !project.path("armed").exists(), "{words}: {}", text(&killed));
        assert!(!file.exists(), "{words}");
        let own = top(&json(&project, &args));
        assert_eq!(git(&own, &["status", "--porcelain"]), " M README.md\n?? first.txt\n", "{words} {after}");
        std::fs::remove_file(&file).unwrap();
        // As when it was killed before the ticket was written: what somebody has done there meanwhile stays.
        std::fs::write(own.join("mine"), "").unwrap();
        assert_eq!(top(&json(&project, &args)), own);
        assert!(own.join("mine").is_file() && file.exists());
        std::fs::remove_file(&file).unwrap();
        let other = project.run(&["fork", "tk-1", "3", "--id", &id]);
        assert!(text(&other).contains("already exists with other work"), "{}", text(&other));
    }
    let after = origin(&project);
    assert_eq!(after, before);
}

#[test]
fn a_disk_that_is_full_leaves_nothing_of_it() {
    let project = project();
    let before = origin(&project);
    // Git cannot write the files.
    let path = killing(&project, " checkout-index ", false);
    let script = project.read("bin/git").replace("kill -9 $PPID", "echo 'No space left on device' >&2");
    project.write("bin/git", &script);
    let args = ["fork", "tk-1", "2", "--id", "tk-2"];
    let failed = project.command(&args).env("PATH", &path).output().unwrap();
    assert!(!failed.status.success() && text(&failed).contains("No space left"), "{}", text(&failed));
    assert_eq!(origin(&project), before);
    assert_eq!(project.git(&["worktree", "list"]).lines().count(), 1);
    assert_eq!(project.git(&["branch", "--list"]), "* main\n");
    assert!(!project.path("work/.tickets/tk-2.md").exists());
    said(&project, &args, 0);
}
