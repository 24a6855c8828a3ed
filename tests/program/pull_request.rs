//! `programmator pr`: what is shown is what goes out, once, and what `gh`, git and the remote refuse is told. `gh` is a double that prints
//! what the real one prints; the remote is a bare repository.

use crate::gh::install as gh;
use crate::project::Project;
use crate::watched::{ran, said, text};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};

/// Claims at first what it has not done.
const DISPUTED: &str = "
turns:
  - when: {prompt: \"Why your claim was disputed\"}
    steps:
      - write: {path: \"done.txt\", content: \"done\"}
      - status: {summary: \"did it\"}
  - when: {phase: \"\"}
    steps:
      - write: {path: \"begun.txt\", content: \"begun\"}
      - status: {summary: \"did it\"}
";

/// A ticket that was worked on, on a branch of its own, and whose commits are there.
fn worked(git: &str) -> Project {
    let project = Project::new();
    project.git(&["config", "user.name", "P"]);
    project.git(&["config", "user.email", "p@example.invalid"]);
    project.ticket("tk-1", &["Fixes #3 for @ada"]);
    let ticket = project.ticket_text("tk-1").replace("deps: []", "external-ref: github:ada/shop#7\ndeps: []");
    project.write("work/.tickets/tk-1.md", &ticket);
    project.validate_by("test -e done.txt");
    project.git(&["add", "-A"]);
    project.git(&["commit", "-q", "-m", "Ticket"]);
    let remote = project.path("ada/shop.git").display().to_string();
    project.git(&["init", "-q", "--bare", &remote]);
    project.git(&["remote", "add", "origin", &remote]);
    project.git(&["push", "-q", "origin", "main"]);
    project.scenario_with(DISPUTED, &format!("git: {{{git}commit: ticket}}\n"));
    ran(&project, &["run", "--json", "tk-1"], 0);
    gh(&project, "");
    project
}

fn command(project: &Project, args: &[&str]) -> Command {
    let mut command = project.command(&[&["pr"], args].concat());
    command.env("PATH", format!("{}:{}", project.path("bin").display(), std::env::var("PATH").expect("a PATH")));
    command
}

fn pr(project: &Project, args: &[&str], code: i32) -> String {
    let output: Output = command(project, args).output().expect("it starts");
    assert_eq!(output.status.code(), Some(code), "{}", text(&output));
    text(&output)
}

/// The branches of the remote.
fn remote(project: &Project) -> String {
    project.git(&["ls-remote", "--heads", "--tags", "origin"])
}

fn asked(project: &Project) -> String {
    std::fs::read_to_string(project.path("asked")).unwrap_or_default()
}

#[test]
fn what_is_shown_goes_out_once_and_says_what_was_checked_and_what_did_not_hold() {
    let project = worked("branch: \"topic/{{ id }}\", ");
    project.write("work/left.txt", "mine");
    project.git(&["tag", "-a", "v1", "-m", "mine"]);
    project.git(&["config", "push.followTags", "true"]);
    let before = remote(&project);
    for (args, code) in [(&["tk-1", "--dry-run"][..], 0), (&["tk-1"][..], 2)] {
        let shown = pr(&project, args, code);
        for part in [
            "pull request in ada/shop: topic/tk-1 into main",
            "push       1 commit to origin (",
            "title      Work on tk-1",
            "Closes #7.",
            "- `Fixes #3 for @ada`: verified by `test -e done.txt`",
            "Claims that failed at first\n\n- `Fixes #3 for @ada`: `",
            "1 run, 2 iterations",
            "note       uncommitted changes in ",
        ] {
            assert!(shown.contains(part), "{part} in {shown}");
        }
    }
    assert_eq!(remote(&project), before, "nothing is pushed unasked");
    assert!(!asked(&project).contains("pr create"), "{}", asked(&project));

    let opened = pr(&project, &["tk-1", "--draft", "--yes"], 0);
    assert!(
        opened.contains("draft pull request in") && opened.contains("Opened https://github.com/ada/shop/pull/9"),
        "{opened}"
    );
    let here = project.git(&["rev-parse", "topic/tk-1"]);
    assert_eq!(remote(&project), format!("{before}{}\trefs/heads/topic/tk-1\n", here.trim()), "and no tag");
    let asked = asked(&project);
    let create = asked.lines().find(|line| line.starts_with("pr create")).expect("asked for");
    assert!(
        create.contains("--base main --head topic/tk-1 --title Work on tk-1") && create.ends_with("--draft"),
        "{create}"
    );
    assert!(opened.contains(project.read("body").trim()), "{opened}");

    // Ended between the push and the pull request: there is nothing to push any more.
    let again = pr(&project, &["tk-1", "--yes"], 0);
    assert!(again.contains("push       nothing: origin is up to date"), "{again}");
    gh(&project, "'pr list'*) owner=ada; says pr-list-open.json;;");
    let open = pr(&project, &["tk-1", "--yes"], 1);
    assert!(
        open.contains("pull request #9 of this branch is already open: https://github.com/ada/shop/pull/9\n"),
        "{open}"
    );
    project.git(&["commit", "-q", "--allow-empty", "-m", "More"]);
    let open = pr(&project, &["tk-1", "--yes"], 1);
    assert!(open.contains("`git push origin topic/tk-1` adds the new commits"), "{open}");
}

#[test]
fn all_that_would_be_published_is_shown_and_a_branch_of_others_is_left_alone() {
    let project = worked("worktree: ticket, ");
    // A commit of the base that nobody else has yet would go along.
    project.git(&["commit", "-q", "--allow-empty", "-m", "Secret plan"]);
    let own = said(&project, &["worktree", "path", "tk-1"], 0);
    let in_own = |args: &[&str]| {
        let args: Vec<&str> = ["-C", own.trim()].iter().chain(args).copied().collect();
        project.git(&args)
    };
    in_own(&["merge", "-q", "main"]);
    let branch = in_own(&["branch", "--show-current"]).trim().to_owned();
    let shown = pr(&project, &["tk-1", "--dry-run"], 0);
    assert!(shown.contains("push       3 commits") && shown.matches("Secret plan").count() == 1, "{shown}");

    // Somebody has pushed to the branch.
    project.git(&["push", "-q", "origin", &format!("main:refs/heads/{branch}")]);
    in_own(&["reset", "-q", "--hard", "HEAD~1"]);
    let before = remote(&project);
    let refused = pr(&project, &["tk-1", "--yes"], 1);
    assert!(refused.contains("has commits that are not here: run `git fetch origin`"), "{refused}");
    assert_eq!(remote(&project), before);
    assert!(!asked(&project).contains("pr create"), "{}", asked(&project));
}

#[test]
fn what_cannot_be_done_is_told_with_what_to_do_and_nothing_is_pushed() {
    let project = worked("branch: own, ");
    let before = remote(&project);
    for (error, cure) in [
        ("not-logged-in", "log in with `gh auth login`"),
        ("no-github-remote", "add a GitHub remote"),
        ("not-found", "GitHub has no such repository, or you have no access to it"),
    ] {
        gh(&project, &format!("'repo view'*) fails {error};;"));
        let told = pr(&project, &["tk-1", "--yes"], 1);
        assert!(told.contains(cure), "{told}");
    }
    gh(&project, "'repo view'*) echo nothing;;");
    assert!(pr(&project, &["tk-1", "--yes"], 1).contains("unexpected output from `gh repo view`: update `gh`"));
    gh(&project, "");
    for (args, code, why) in [
        (&["tk-1", "--base", "own", "--yes"][..], 1, "the work is on own, which is the base"),
        (&["tk-1", "--base", "absent", "--yes"][..], 1, "origin has no branch absent"),
        (&["tk-1", "--remote", "absent", "--yes"][..], 1, "no remote `absent`; remotes: origin"),
        (&["tk-9", "--yes"][..], 2, "tk-9"),
    ] {
        let told = pr(&project, args, code);
        assert!(told.contains(why), "{why} in {told}");
    }
    let inside = command(&project, &["tk-1", "--yes"]).env("PROGRAMMATOR_RUN_ID", "x").output().expect("it starts");
    assert_eq!(inside.status.code(), Some(77), "{}", text(&inside));
    // What the person's own hook refuses is not pushed, and no pull request is opened.
    project.write("work/.git/hooks/pre-push", "#!/bin/sh\necho not today >&2\nexit 1\n");
    let hook = project.path("work/.git/hooks/pre-push");
    std::fs::set_permissions(hook, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    assert!(pr(&project, &["tk-1", "--yes"], 1).contains("`git push` failed: not today"));
    assert_eq!(remote(&project), before);
    assert!(!asked(&project).contains("pr create"), "{}", asked(&project));
    std::fs::remove_file(project.path("work/.git/hooks/pre-push")).expect("a hook");
    for (error, cure) in
        [("already-exists", "look at it with `gh pr view`"), ("no-commits", "the base already has all")]
    {
        gh(&project, &format!("'pr create'*) fails {error};;"));
        let told = pr(&project, &["tk-1", "--yes"], 1);
        assert!(told.contains(cure), "{told}");
    }
    gh(&project, "'pr create'*) fails bad-gateway;;");
    let told = pr(&project, &["tk-1", "--yes"], 1);
    assert!(
        told.contains("HTTP 502") && told.contains("the branch is on origin: run the command again to continue"),
        "{told}"
    );
    // The person is on another branch by now.
    project.git(&["switch", "-q", "-c", "other", "main"]);
    project.git(&["commit", "-q", "--allow-empty", "-m", "Other"]);
    assert!(pr(&project, &["tk-1", "--yes"], 1).contains("other does not contain the ticket's commit"));
    project.git(&["remote", "remove", "origin"]);
    assert!(pr(&project, &["tk-1", "--yes"], 1).contains("git remote add origin URL"));
}

/// Anybody's fork may have a branch of the same name.
#[test]
fn a_pull_request_of_somebody_else_is_not_ours() {
    let project = worked("branch: \"topic/{{ id }}\", ");
    let list = |owner: &str| format!("'pr list'*) owner={owner}; says pr-list-open.json;;");
    gh(&project, &list("Ada"));
    assert!(pr(&project, &["tk-1", "--yes"], 1).contains("#9 of this branch is already open"));
    gh(&project, &list("eve"));
    assert!(pr(&project, &["tk-1", "--yes"], 0).contains("Opened "));
}

/// What this repository knows of the remote may be old, and the remote's may be rewritten.
#[test]
fn what_goes_out_is_counted_from_what_the_remote_has() {
    let project = worked("branch: \"topic/{{ id }}\", ");
    let remote = project.path("ada/shop.git").display().to_string();
    let first = project.git(&["rev-list", "--max-parents=0", "HEAD"]);
    project.git(&["--git-dir", &remote, "update-ref", "refs/heads/main", first.trim()]);
    let shown = pr(&project, &["tk-1", "--dry-run"], 0);
    assert!(shown.contains("push       2 commits to origin (") && shown.contains(" Ticket"), "{shown}");
    let other = project.path("other").display().to_string();
    project.git(&["clone", "-q", "-b", "main", &remote, &other]);
    project.git(&[
        "-C", &other, "-c", "user.name=E", "-c", "user.email=e@x", "commit", "-q", "--allow-empty", "-m", "New",
    ]);
    project.git(&["-C", &other, "push", "-q", "origin", "HEAD:main"]);
    assert!(pr(&project, &["tk-1", "--dry-run"], 1).contains("`git fetch origin` first"));
    assert!(pr(&project, &["tk-1", "--dry-run", "--base", "none"], 1).contains("origin has no branch none"));
}
