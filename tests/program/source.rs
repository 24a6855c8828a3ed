//! `programmator source` and the settings of its name: what is shown is what is sent, once, to the issue that the ticket records. `gh` and
//! `br` are doubles that print what the real ones print.

use crate::gh::install as gh;
use crate::project::Project;
use crate::screen::stage::{ROOMY, start_with};
use crate::watched::text;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::{Duration, Instant};

/// Longest wait for what a run in the background leaves.
const PATIENCE: Duration = Duration::from_secs(60);

const DONE: &str = "
turns:
  - when: {phase: \"\"}
    steps:
      - write: {path: \"done.txt\", content: \"done\"}
      - status: {summary: \"did it\"}
";

/// A ticket of an issue, which is not done yet.
fn imported(reference: &str, settings: &str) -> Project {
    let project = Project::new();
    project.ticket("tk-1", &["Fixes #3 for @ada"]);
    let ticket = project.ticket_text("tk-1").replace("deps: []", &format!("external-ref: {reference}\ndeps: []"));
    project.write("work/.tickets/tk-1.md", &ticket);
    project.validate_by("test -e done.txt");
    project.scenario_with(DONE, settings);
    gh(&project, "");
    project
}

/// The same, done.
fn finished(reference: &str) -> Project {
    let project = imported(reference, "");
    told(&project, &["run", "tk-1"], 0);
    project
}

fn program(project: &Project, name: &str, script: &str) {
    let file = format!("bin/{name}");
    project.write(&file, script);
    std::fs::set_permissions(project.path(&file), std::fs::Permissions::from_mode(0o755)).expect("a mode");
}

fn command(project: &Project, args: &[&str]) -> Command {
    let mut command = project.command(args);
    command.env("PATH", format!("{}:{}", project.path("bin").display(), std::env::var("PATH").expect("a PATH")));
    command
}

fn told(project: &Project, args: &[&str], code: i32) -> String {
    let output = command(project, args).output().expect("it starts");
    assert_eq!(output.status.code(), Some(code), "{}", text(&output));
    text(&output)
}

fn source(project: &Project, args: &[&str], code: i32) -> String {
    told(project, &[&["source", "tk-1"], args].concat(), code)
}

/// How often `gh` was asked for something that begins so.
fn count(project: &Project, words: &str) -> usize {
    let asked = std::fs::read_to_string(project.path("asked")).unwrap_or_default();
    asked.lines().filter(|line| line.starts_with(words)).count()
}

#[test]
fn what_is_shown_is_sent_once_to_the_issue_that_the_ticket_records() {
    let project = finished("github:Ada/Shop#7");
    let both = ["--comment", "--close"];
    let sources = project.path("state/sources");
    for more in [&["--dry-run"][..], &[]] {
        let shown = source(&project, &[&both, more].concat(), if more.is_empty() { 2 } else { 0 });
        assert!(more.is_empty() || !sources.exists(), "a dry run writes nothing");
        assert!(!more.is_empty() || shown.contains("nothing was sent: no terminal to ask on"), "{shown}");
        for part in [
            "issue      Ada/Shop#7 (https://github.com/ada/shop/issues/7): Limit logins",
            "The work on this is done.",
            "- `Fixes #3 for @ada`: verified by `test -e done.txt`",
            "close      Ada/Shop#7",
        ] {
            assert!(shown.contains(part), "{part} in {shown}");
        }
    }
    assert_eq!((count(&project, "issue comment"), count(&project, "issue close")), (0, 0), "nothing is sent unasked");
    assert!(source(&project, &[], 0).contains("Nothing has been sent yet."));

    let sent = source(&project, &["--comment", "--close", "--yes"], 0);
    assert!(sent.contains("commented on: https://github.com/ada/shop/issues/7#issuecomment-1"), "{sent}");
    assert!(sent.contains("Ada/Shop#7 was closed"), "{sent}");
    let asked = project.read("asked");
    assert!(asked.contains("issue comment https://github.com/ada/shop/issues/7 --body-file "), "{asked}");
    assert!(asked.ends_with("issue close https://github.com/ada/shop/issues/7\n"), "{asked}");
    assert!(
        project.read("body").starts_with("The work on this is done.\n\n## What was done"),
        "{}",
        project.read("body")
    );

    let again = source(&project, &["--comment", "--close", "--yes"], 0);
    assert!(again.contains("already commented on") && again.contains("Nothing to send."), "{again}");
    assert_eq!((count(&project, "issue comment"), count(&project, "issue close")), (1, 1));
    source(&project, &["--comment", "--again", "--yes"], 0);
    assert_eq!(count(&project, "issue comment"), 2);
    let history = source(&project, &[], 0);
    assert!(history.contains("commented on https://") && history.contains("source.comment off"), "{history}");
}

#[test]
fn what_github_refuses_is_told_with_its_cure_and_tried_again_by_hand() {
    let project = finished("github:ada/shop#7");
    for (case, error, cure) in [
        ("issue comment", "locked", "unlock"),
        ("issue comment", "locked-2.23", "unlock"),
        ("issue comment", "token", "give it access"),
        ("issue comment", "token-2.23", "give it access"),
        ("issue view", "issue-gone", "deleted"),
        ("issue view", "rate-limit", "try again later"),
        ("issue view", "rate-limit-http", "try again later"),
        ("repo view", "not-logged-in", "log in with"),
        ("repo view", "bad-credentials", "log in again"),
        ("repo view", "forbidden", "gh auth status"),
        ("repo view", "not-found-http", "git remote -v"),
        ("issue comment", "offline", "check the network"),
    ] {
        gh(&project, &format!("'{case}'*) fails {error};;"));
        let why = source(&project, &["--comment", "--close", "--yes"], 1);
        assert!(why.contains(cure) && why.contains("(`gh` said: "), "{why}");
    }
    assert!(!project.path("closed").exists(), "what comes later waits");
    assert!(source(&project, &[], 0).contains("comment failed: GitHub cannot be reached: check the network"));
    gh(&project, "");
    let sent = source(&project, &["--comment", "--close", "--yes"], 0);
    assert!(sent.contains("the comment failed before") && sent.contains("was closed"), "{sent}");
    std::fs::remove_file(project.path("bin/gh")).expect("removed");
    let mut bare = project.command(&["source", "tk-1", "--comment", "--again"]);
    let bare = text(&bare.env("PATH", project.path("bin")).output().expect("it starts"));
    assert!(bare.contains("`gh` is not installed"), "{bare}");
}

#[test]
fn nothing_goes_to_another_repository_or_issue_than_the_ticket_records() {
    let project = finished("github:ada/shop#7");
    let issue = |url: &str| format!("'issue view'*) echo '{{\"state\":\"OPEN\",\"title\":\"T\",\"url\":\"{url}\"}}';;");
    for (special, why) in [
        (
            "'repo view'*) echo '{\"nameWithOwner\":\"eve/shop\"}';;".to_owned(),
            "`gh` works with eve/shop in this folder",
        ),
        (issue("https://github.com/ada/shop/pull/7"), "is a pull request"),
        (issue("https://github.com/ada/cellar/issues/9"), "is now a different issue"),
    ] {
        gh(&project, &special);
        let told = source(&project, &["--comment", "--close", "--yes"], 1);
        assert!(told.contains("nothing was sent") && told.contains(why), "{told}");
    }
    assert_eq!((count(&project, "issue comment"), count(&project, "issue close")), (0, 0));
    assert!(source(&project, &[], 0).contains("Nothing has been sent yet."));
}

#[test]
fn only_finished_tickets_of_issues_have_something_closed() {
    let project = imported("github:ada/shop#7", "");
    assert!(source(&project, &["--close", "--yes"], 1).contains("tk-1 is not finished: nothing was sent"));
    let begun = source(&project, &["--comment", "--dry-run"], 0);
    assert!(begun.contains("Work in progress: 0 of 1 phases are done."), "{begun}");
    for (reference, why) in [("prd:docs/a.md#x", "is not an issue"), ("github:ada/shop#--repo", "is not an issue")] {
        let other = imported(reference, "");
        assert!(source(&other, &["--comment", "--yes"], 1).contains(why));
    }
    let own = imported("\"\"", "");
    assert!(source(&own, &[], 1).contains("was not imported"));
    let inside = command(&project, &["source", "tk-1", "--comment", "--yes"]).env("PROGRAMMATOR_RUN_ID", "x").output();
    assert_eq!(inside.expect("it starts").status.code(), Some(77));
}

#[test]
fn what_a_killed_program_began_is_looked_up_and_not_sent_twice() {
    for arrives in [true, false] {
        let project = finished("github:ada/shop#7");
        let keep = if arrives { "keep \"$@\"; " } else { "" };
        gh(&project, &format!("'issue comment'*) {keep}kill -9 $PPID;;"));
        let killed = command(&project, &["source", "tk-1", "--comment", "--yes"]).output().expect("it starts");
        assert_eq!(killed.status.code(), None, "{}", text(&killed));
        assert!(source(&project, &[], 0).contains("comment sent, not confirmed"));
        gh(&project, "");
        // Who only looks changes nothing, not even what is known of it.
        let looked = source(&project, &["--comment", "--dry-run"], 0);
        assert!(looked.contains(if arrives { "has arrived" } else { "has not arrived" }), "{looked}");
        assert!(source(&project, &[], 0).contains("comment sent, not confirmed"));
        let shown = source(&project, &["--comment", "--yes"], 0);
        if arrives {
            assert!(shown.contains("has arrived") && shown.contains("Nothing to send."), "{shown}");
            assert_eq!(count(&project, "issue comment"), 1);
        } else {
            assert!(shown.contains("has not arrived") && shown.contains("was commented on"), "{shown}");
            assert_eq!(count(&project, "issue comment"), 2);
        }
    }
}

#[test]
fn the_settings_send_it_once_a_run_has_completed_the_ticket() {
    let project = imported("github:ada/shop#7", "source: {comment: true, close: true}\n");
    let said = told(&project, &["run", "tk-1"], 0);
    assert!(said.contains("ada/shop#7 was commented on: https://") && said.contains("was closed"), "{said}");
    assert_eq!((count(&project, "issue comment"), count(&project, "issue close")), (1, 1));
    told(&project, &["phase", "reopen", "tk-1", "1"], 0);
    told(&project, &["run", "tk-1"], 0);
    assert_eq!((count(&project, "issue comment"), count(&project, "issue close")), (1, 1), "it was told already");

    let off = imported("github:ada/shop#7", "");
    let said = told(&off, &["run", "tk-1"], 0);
    assert!(!off.path("asked").exists(), "nothing is asked of gh unless it is wanted");
    let hint = "imported from ada/shop#7: `programmator source tk-1 --comment --close` tells what was done";
    assert!(said.contains(hint), "{said}");
    let own = imported("\"\"", "");
    assert!(!told(&own, &["run", "tk-1"], 0).contains("programmator source"), "it came from nowhere");
}

#[test]
fn a_run_is_complete_whatever_becomes_of_its_reply_and_nobody_but_the_person_tries_again() {
    let project = imported("github:ada/shop#7", "source: {comment: true, close: true}\n");
    gh(&project, "'issue comment'*) fails locked;;");
    let said = told(&project, &["run", "tk-1"], 0);
    assert!(
        said.contains("was not commented on") && said.contains("`programmator source tk-1 --comment --close`"),
        "{said}"
    );
    gh(&project, "");
    told(&project, &["phase", "reopen", "tk-1", "1"], 0);
    told(&project, &["run", "tk-1"], 0);
    assert_eq!(count(&project, "issue comment"), 1, "not again by itself");
    let tries = ".tickets/tk-1.md --comment` tries again";
    let report = || told(&project, &["report", "tk-1"], 0);
    assert!(report().contains(tries), "{}", report());
    source(&project, &["--comment", "--yes"], 0);
    assert!(!report().contains("tries again"), "{}", report());

    let killed = imported("github:ada/shop#7", "source: {comment: true}\n");
    gh(&killed, "'issue comment'*) kill -9 $PPID;;");
    let output = command(&killed, &["run", "tk-1"]).output().expect("it starts");
    assert_eq!(output.status.code(), None, "{}", text(&output));
    gh(&killed, "");
    // What the second run writes is a change.
    std::fs::remove_file(killed.path("work/done.txt")).expect("removed");
    killed.ticket("tk-2", &["Two"]);
    killed.write("state/sources/broken.json", "{");
    let said = told(&killed, &["run", "tk-2"], 0);
    // Each once, though stdout and stderr are read.
    let times = |words: &str| said.matches(words).count();
    assert_eq!(
        (times("a comment of ada/shop#7 was interrupted"), times("cannot tell what was sent to an issue: ")),
        (1, 1),
        "{said}"
    );
    assert!(
        said.contains("work/.tickets/tk-1.md --comment` checks") && said.contains("sources/broken.json: "),
        "{said}"
    );
    assert_eq!(count(&killed, "issue comment"), 1);
}

#[test]
fn what_was_not_sent_is_in_the_report_where_nobody_watched() {
    let project = imported("github:ada/shop#7", "source: {comment: true}\n");
    gh(&project, "'repo view'*) fails forbidden;;");
    told(&project, &["run", "--detach", "tk-1"], 0);
    told(&project, &["logs", "--follow", "tk-1"], 0);
    let deadline = Instant::now() + PATIENCE;
    let report = loop {
        let report = told(&project, &["report", "tk-1"], 0);
        if report.contains("was not commented on") {
            break report;
        }
        assert!(Instant::now() < deadline, "{report}");
    };
    assert!(report.contains(".tickets/tk-1.md --comment` tries again"), "{report}");
    // Nothing was sent: the settings try it again once there is a login.
    gh(&project, "");
    told(&project, &["phase", "reopen", "tk-1", "1"], 0);
    told(&project, &["run", "tk-1"], 0);
    assert_eq!(count(&project, "issue comment"), 1);
    assert!(!told(&project, &["report", "tk-1"], 0).contains("tries again"));
}

#[test]
fn what_fails_once_the_screen_is_gone_is_said_below_it() {
    let project = imported("github:ada/shop#7", "source: {comment: true}\n");
    gh(&project, &format!("'issue comment'*) {}; fails bad-gateway;;", project.gate("gh")));
    let path = format!("{}:{}", project.path("bin").display(), std::env::var("PATH").expect("a PATH"));
    let mut terminal = start_with(&project, &["tk-1"], ROOMY, &[("PATH", &path)]);
    terminal.wait_for("complete: 1/1 phases");
    terminal.keys_until("q", "Updating the ticket's issue");
    project.open_gate("gh");
    terminal.wait_end();
    let screen = terminal.screen();
    assert!(screen.contains("tk-1  ada/shop#7 was not commented on"), "{screen}");
}

#[test]
fn a_comment_that_has_arrived_for_all_that_gh_said_is_not_sent_again() {
    let project = finished("github:ada/shop#7");
    gh(&project, "'issue comment'*) keep \"$@\"; fails bad-gateway;;");
    assert!(source(&project, &["--comment", "--yes"], 1).contains("HTTP 502"));
    gh(&project, "");
    let again = source(&project, &["--comment", "--yes"], 0);
    assert!(again.contains("failed before") && again.contains("has arrived"), "{again}");
    assert_eq!(count(&project, "issue comment"), 1);
    assert!(source(&project, &["--yes"], 2).contains("--comment, --close or both"), "nothing is named to be sent");
}

#[test]
fn an_issue_of_beads_is_closed_by_its_own_program() {
    let project = finished("beads:bd-1");
    let at = |name: &str| project.path(name).display().to_string();
    let (asked, closed) = (at("asked"), at("closed"));
    let script = format!(
        "#!/bin/sh\necho \"$*\" >> {asked}\ncase \"$1\" in\n\
        show) [ -e {closed} ] && state=closed || state=open\n\
        printf '[\\n  {{\"id\":\"bd-1\",\"title\":\"Limit logins\",\"status\":\"%s\"}}\\n]\\n' $state;;\n\
        close) : > {closed}; echo '✓ Closed bd-1';;\nesac\n"
    );
    assert!(source(&project, &["--comment"], 2).contains("can only be closed"));
    std::fs::remove_file(project.path("bin/gh")).expect("removed");
    let bare = project.command(&["source", "tk-1", "--close"]).env("PATH", project.path("bin")).output();
    assert!(text(&bare.expect("it starts")).contains("neither `bd` nor `br` is installed"));
    program(&project, "br", &script);
    let sent = source(&project, &["--close", "--yes"], 0);
    assert!(sent.contains("issue      bd-1: Limit logins") && sent.contains("bd-1 was closed"), "{sent}");
    assert!(project.read("asked").ends_with("close bd-1 --reason Done by programmator\n"), "{}", project.read("asked"));
    assert!(source(&project, &["--close", "--yes"], 0).contains("already closed"));
}
