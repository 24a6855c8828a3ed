//! `programmator ticket` in the place of `tk`: what is printed, what is changed in a file and what is not, the exit codes.

use crate::project::Project;
use crate::watched::{json, said, text};
use std::fs::File;
use std::os::unix::fs::PermissionsExt;
use std::process::Output;

/// A ticket with these lines in its front matter besides id and status.
fn put(project: &Project, id: &str, status: &str, more: &str) {
    let text = format!("---\nid: {id}\nstatus: {status}\n{more}---\n# About {id}\n\nWhy.\n");
    project.write(&format!("work/.tickets/{id}.md"), &text);
}

/// The output with this on standard input.
fn fed(project: &Project, args: &[&str], input: &str) -> Output {
    project.write("input", input);
    project.command(args).stdin(File::open(project.path("input")).unwrap()).output().unwrap()
}

/// What is printed on stdout alone.
fn printed(project: &Project, args: &[&str]) -> String {
    let output = project.run(args);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", text(&output));
    String::from_utf8(output.stdout).unwrap()
}

fn shop() -> Project {
    let project = Project::new();
    put(
        &project,
        "sh-cart",
        "open",
        "deps: [sh-login, sh-base]\npriority: 1\ntags: [web, shop]\nassignee: Ada Byron\n",
    );
    put(&project, "sh-login", "in_progress", "deps: []\nlinks: [sh-base]\npriority: 3\nparent: sh-cart\n");
    put(&project, "sh-base", "closed", "links: [sh-login]\n");
    put(&project, "sh-mail", "open", "priority: 0\ndeps:\n  - sh-base\n");
    project.write("work/.tickets/plan.md", "# No id, no ticket of tk's\n- [ ] a\n");
    project
}

#[test]
fn what_is_no_ticket_is_neither_run_nor_written_to() {
    let project = shop();
    project.write("work/src/lib.rs", "fn main() {}\n");
    for args in [
        &["ticket", "add-note", "src/lib.rs", "hello"][..],
        &["phase", "add", "src/lib.rs", "Foo"],
        &["run", "src/lib.rs"],
        &["run", "--dry-run", "src/lib.rs"],
    ] {
        let output = project.run(args);
        let told = text(&output);
        assert!(!output.status.success() && told.contains("src/lib.rs is not a ticket"), "{args:?}: {told}");
    }
    assert_eq!(project.read("work/src/lib.rs"), "fn main() {}\n");
    assert_eq!(json(&project, &["status", "--json"]), serde_json::json!([]), "no run was begun");
}

#[test]
fn what_says_nothing_is_refused_with_what_may_be_said() {
    let project = shop();
    let before = project.read("work/.tickets/sh-cart.md");
    let output = fed(&project, &["ticket", "add-note", "sh-cart"], " \n");
    assert!(!output.status.success() && text(&output).contains("the note is empty"), "{}", text(&output));
    assert_eq!(project.read("work/.tickets/sh-cart.md"), before);
    // As `tk` has it: an empty argument leaves the time.
    assert_eq!(said(&project, &["ticket", "add-note", "sh-cart", ""], 0), "Note added to sh-cart\n");
    let stamped = project.read("work/.tickets/sh-cart.md");
    assert!(stamped.starts_with(before.trim_end()) && stamped.contains("\n## Notes\n\n**20"), "{stamped}");
    assert!(said(&project, &["ticket", "help"], 0).contains("minimal ticket system"), "as `tk help` says");
    let told = said(&project, &["ticket", "list", "--status", "opne"], 1);
    assert_eq!(told, "Error: invalid status 'opne'. Must be one of: open in_progress closed\n");
    assert_eq!(said(&project, &["ticket", "list", "--status", "in_progress", "-a", "nobody"], 0), "");
    put(&project, "sh-old", "done", "");
    assert!(said(&project, &["ticket", "list", "--status", "done"], 0).starts_with("sh-old"));
    for (args, words) in [
        (&["ticket", "closed", "--limit", "x"][..], "not a whole number"),
        (&["ticket", "create", "T", "-p", "hi"], "must be a number from 0 to 4"),
        (&["search", "x", "-n", "many"], "not a whole number"),
    ] {
        let told = said(&project, args, 2);
        assert!(told.contains(words) && !told.contains("invalid digit"), "{told}");
    }
}

#[test]
fn lists_have_the_lines_of_tk() {
    let project = shop();
    let list = "\
sh-base  [closed] - About sh-base
sh-cart  [open] - About sh-cart <- [sh-login, sh-base]
sh-login [in_progress] - About sh-login
sh-mail  [open] - About sh-mail <- [sh-base]
";
    assert_eq!(printed(&project, &["ticket", "ls"]), list);
    assert_eq!(printed(&project, &["ticket", "list"]), list);
    let of = |args: &[&str]| printed(&project, &[&["ticket"], args].concat()).lines().count();
    assert_eq!((of(&["ls", "--status=open"]), of(&["ls", "-T", "web"]), of(&["ls", "-a", "Ada Byron"])), (2, 1, 1));
    assert_eq!(
        printed(&project, &["ticket", "ready"]),
        "sh-mail  [P0][open] - About sh-mail\nsh-login [P3][in_progress] - About sh-login\n"
    );
    assert_eq!(printed(&project, &["ticket", "blocked"]), "sh-cart  [P1][open] - About sh-cart <- [sh-login]\n");
    assert_eq!(printed(&project, &["ticket", "closed"]), "sh-base  [closed] - About sh-base\n");
    assert_eq!(printed(&project, &["ticket", "closed", "--limit=0"]), "");
    // Ours has the plan too, and counts phases.
    assert!(printed(&project, &["ticket", "list", "--phases"]).contains("plan.md   -            0/1"));
}

#[test]
fn a_ticket_is_shown_as_it_stands_with_those_around_it() {
    let project = shop();
    let file = project.ticket_text("sh-cart");
    let around = "\n## Blockers\n\n- sh-login [in_progress] About sh-login\n\n## Children\n\n- sh-login [in_progress] About \
                  sh-login\n";
    assert_eq!(printed(&project, &["ticket", "show", "art"]), format!("{file}{around}"));
    let shown = printed(&project, &["ticket", "show", "sh-login"]);
    assert!(shown.contains("\nparent: sh-cart  # About sh-cart\n"), "{shown}");
    assert!(
        shown.ends_with(
            "## Blocking\n\n- sh-cart [open] About sh-cart\n\n## Linked\n\n- sh-base [closed] About sh-base\n"
        )
    );
    assert!(printed(&project, &["ticket", "show", "--phases", "plan.md"]).contains("Phases (0 of 1 done)"));
    let tree =
        "sh-cart [open] About sh-cart\n├── sh-base [closed] About sh-base\n└── sh-login [in_progress] About sh-login\n";
    assert_eq!(printed(&project, &["ticket", "dep", "tree", "sh-cart"]), tree);
    assert_eq!(
        printed(&project, &["ticket", "tree"]),
        format!("{tree}sh-mail [open] About sh-mail\n└── sh-base [closed] About sh-base\n")
    );
}

#[test]
fn a_change_touches_one_line_of_the_file() {
    let project = Project::new();
    let file = "---\r\nid: sh-a\r\nstatus: open  # not yet\r\ndeps: [sh-x] # why\r\nown: [1,2]\r\n---\r\n# A \r\n\r\n- [ ] one\r\n";
    project.write("work/.tickets/sh-a.md", file);
    put(&project, "sh-b", "open", "");
    put(&project, "sh-x", "open", "");
    let does = |args: &[&str], says: &str, before: &str, after: &str| {
        let was = project.ticket_text("sh-a");
        assert_eq!(printed(&project, &[&["ticket"], args].concat()), format!("{says}\n"));
        assert!(was.contains(before), "{was}");
        assert_eq!(project.ticket_text("sh-a"), was.replacen(before, after, 1));
    };
    does(&["start", "sh-a"], "Updated sh-a -> in_progress", "status: open ", "status: in_progress ");
    does(&["status", "a", "closed"], "Updated sh-a -> closed", "status: in_progress ", "status: closed ");
    does(&["reopen", "sh-a"], "Updated sh-a -> open", "status: closed ", "status: open ");
    does(&["close", "sh-a"], "Updated sh-a -> closed", "status: open ", "status: closed ");
    does(&["close", "sh-a"], "Updated sh-a -> closed", "", "");
    does(&["dep", "sh-a", "b"], "Added dependency: sh-a -> sh-b", "[sh-x] # why", "[sh-x, sh-b] # why");
    does(&["dep", "sh-a", "sh-b"], "Dependency already exists", "", "");
    // What it waits for need not be a ticket any more.
    std::fs::remove_file(project.path("work/.tickets/sh-x.md")).unwrap();
    does(&["undep", "sh-a", "sh-x"], "Removed dependency: sh-a -/-> sh-x", "[sh-x, sh-b] # why", "[sh-b] # why");
    put(&project, "sh-x", "open", "");
    does(&["link", "sh-a", "sh-b"], "Added 2 link(s) between 2 tickets", "---\r\n", "---\r\nlinks: [sh-b]\r\n");
    assert_eq!(project.ticket_text("sh-b").lines().nth(1), Some("links: [sh-a]"));
    // One side is gone: a link of both is still one that can be removed, and made.
    project.write("work/.tickets/sh-b.md", "---\nid: sh-b\nstatus: open\n---\n");
    does(&["link", "sh-a", "sh-b"], "Added 1 link(s) between 2 tickets", "", "");
    does(&["unlink", "sh-a", "sh-b"], "Removed link: sh-a <-> sh-b", "links: [sh-b]", "links: []");
    for (args, says) in
        [(["unlink", "sh-a", "sh-b"], "Link not found"), (["undep", "sh-a", "sh-x"], "Dependency not found")]
    {
        let output = project.run(&[&["ticket"][..], &args].concat());
        let stdout = String::from_utf8(output.stdout).unwrap();
        assert_eq!((output.status.code(), stdout.trim()), (Some(1), says));
    }
}

#[test]
fn notes_stand_below_the_others_and_make_no_phases() {
    let project = Project::new();
    put(&project, "sh-a", "open", "");
    assert_eq!(printed(&project, &["ticket", "add-note", "sh-a", "two", "words"]), "Note added to sh-a\n");
    printed(&project, &["ticket", "add-note", "sh-a", "- [ ] no phase"]);
    let file = project.ticket_text("sh-a");
    assert_eq!(file.matches("## Notes").count(), 1);
    assert!(file.contains("Z**\n\ntwo words\n\n**") && file.ends_with("\n> - [ ] no phase\n"), "{file}");
    let output = fed(&project, &["ticket", "add-note", "sh-a"], "from a pipe\nof two lines\n");
    assert!(output.status.success() && project.ticket_text("sh-a").ends_with("\n\nfrom a pipe\nof two lines\n"));
    let long = "x".repeat(30_000);
    let output = fed(&project, &["ticket", "add-note", "sh-a"], &long);
    assert!(text(&output).contains("a note is at most"), "{}", text(&output));
    assert!(!project.ticket_text("sh-a").contains("xxx"));
}

#[test]
fn a_ticket_is_created_with_what_is_said() {
    let project = Project::new();
    put(&project, "sh-top", "open", "");
    let id = printed(
        &project,
        &[
            "ticket", "create", "A \u{1b}[31mred\ntitle", "-d", "- why", "--design", "How", "--acceptance", "Then",
            "-t", "bug", "-p", "0", "-a", "Ada: B", "--external-ref", "gh-1", "--parent", "top", "--tags", "a b,c",
        ],
    );
    let text = project.ticket_text(id.trim());
    let (front, body) = text.split_once("\n---\n").unwrap();
    let front: Vec<&str> = front.lines().filter(|line| !line.starts_with("created: ")).collect();
    let named = format!("id: {}", id.trim());
    assert_eq!(
        front,
        [
            "---", &named, "status: open", "deps: []", "links: []", "type: bug", "priority: 0", "assignee: 'Ada: B'",
            "external-ref: gh-1", "parent: sh-top", "tags: [a b, c]",
        ]
    );
    assert_eq!(body, "# A red title\n\n- why\n\n## Design\n\nHow\n\n## Acceptance Criteria\n\nThen\n\n");
    assert_eq!(json(&project, &["ticket", "show", id.trim(), "--json"])["title"], "A red title");
    said(&project, &["ticket", "create", "x", "-p", "5"], 2);
    assert!(said(&project, &["ticket", "create", "x", "--parent", "nobody"], 1).contains("ticket 'nobody' not found"));
}

#[test]
fn what_is_not_there_is_said_as_tk_says_it() {
    let project = shop();
    for command in
        [&["show"][..], &["edit"], &["start"], &["close"], &["reopen"], &["add-note"], &["dep", "tree"], &["tree"]]
    {
        let args = [&["ticket"], command, &["gone"]].concat();
        assert_eq!(said(&project, &args, 1), "Error: ticket 'gone' not found\n", "{args:?}");
    }
    assert!(
        said(&project, &["ticket", "close", "sh-"], 1)
            .starts_with("Error: ambiguous ID 'sh-' matches multiple tickets\n")
    );
    assert_eq!(
        said(&project, &["ticket", "status", "sh-a", "done"], 1),
        "Error: invalid status 'done'. Must be one of: open in_progress closed\n"
    );
    std::fs::remove_dir_all(project.path("work/.tickets")).unwrap();
    for command in ["ls", "ready", "blocked", "closed", "query"] {
        assert!(said(&project, &["ticket", command], 1).contains("no .tickets directory found"), "{command}");
    }
}

#[test]
fn a_query_is_json_whatever_stands_there_and_jq_filters_it() {
    let project = Project::new();
    put(&project, "sh-a", "open", "note: 'say \"x\" \u{1b}]0;owned\u{7}'\ntags: [a, \"b\"]\n");
    let line = printed(&project, &["ticket", "query"]);
    assert!(!line.contains('\u{1b}'), "{line}");
    let value: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!((&value["status"], &value["tags"]), (&"open".into(), &serde_json::json!(["a", "b"])));
    assert_eq!(value["note"], "say \"x\" \u{1b}]0;owned\u{7}");
    project.write("bin/jq", "#!/bin/sh\necho \"$@\"\ncat\nprintf 'bad \\033]0;owned\\007filter' >&2\nexit 5\n");
    std::fs::set_permissions(project.path("bin/jq"), PermissionsExt::from_mode(0o755)).unwrap();
    let with = |path: String| project.command(&["ticket", "query", ".id == 1"]).env("PATH", path).output().unwrap();
    let filtered = with(format!("{}:{}", project.path("bin").display(), std::env::var("PATH").unwrap()));
    assert_eq!(filtered.status.code(), Some(5));
    let stderr = String::from_utf8(filtered.stderr).unwrap();
    assert!(stderr.contains("bad ") && !stderr.contains('\u{1b}'), "{stderr:?}");
    let stdout = String::from_utf8(filtered.stdout).unwrap();
    assert!(stdout.starts_with("-ac select(.id == 1)\n{\"id\":\"sh-a\""), "{stdout}");
    let without = with(project.path("home").display().to_string());
    assert_eq!((without.status.code(), text(&without).contains("jq, which is not installed")), (Some(1), true));
    let read = json(&project, &["ticket", "query", "--json"]);
    assert_eq!(read[0]["title"], "About sh-a");
}

#[test]
fn a_file_that_cannot_be_read_is_named_and_keeps_no_other_from_being_listed() {
    let project = shop();
    std::os::unix::fs::symlink("/etc/passwd", project.path("work/.tickets/out.md")).unwrap();
    let output = project.run(&["ticket", "ready"]);
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(err.contains("out.md is a link out of the tickets folder"), "{err}");
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stdout).lines().count()), (Some(0), 2));
    let refused = said(&project, &["ticket", "close", "out"], 1);
    assert!(refused.starts_with("Error: ") && refused.contains("is a link out"), "{refused}");
}

#[test]
fn circles_are_named() {
    let project = shop();
    assert_eq!(printed(&project, &["ticket", "dep", "cycle"]), "No dependency cycles found\n");
    printed(&project, &["ticket", "dep", "sh-login", "sh-cart"]);
    assert_eq!(
        printed(&project, &["ticket", "dep", "cycle"]),
        "Cycle 1: sh-cart -> sh-login -> sh-cart\n  sh-cart  [open] About sh-cart\n  sh-login [in_progress] About sh-login\n"
    );
}

#[test]
fn inside_a_run_tickets_are_read_and_not_changed() {
    let project = shop();
    let inside = |args: &[&str]| {
        let output = project.command(&[&["ticket"], args].concat()).env("PROGRAMMATOR_RUN_ID", "x").output().unwrap();
        output.status.code()
    };
    let before = project.ticket_text("sh-cart");
    for args in [
        &["create", "x"][..],
        &["new", "x", "--no-edit"],
        &["start", "sh-cart"],
        &["close", "sh-cart"],
        &["reopen", "sh-cart"],
        &["status", "sh-cart", "closed"],
        &["dep", "sh-cart", "sh-mail"],
        &["undep", "sh-cart", "sh-login"],
        &["link", "sh-cart", "sh-mail"],
        &["unlink", "sh-login", "sh-base"],
        &["add-note", "sh-cart", "x"],
    ] {
        assert_eq!(inside(args), Some(77), "{args:?}");
    }
    for args in
        [&["ls"][..], &["show", "sh-cart"], &["ready"], &["query"], &["dep", "tree", "sh-cart"], &["dep", "cycle"]]
    {
        assert_eq!(inside(args), Some(0), "{args:?}");
    }
    assert_eq!(project.ticket_text("sh-cart"), before);
    assert_eq!(std::fs::read_dir(project.path("work/.tickets")).unwrap().count(), 5);
}

#[test]
fn lint_names_what_is_odd_with_its_place() {
    let project = Project::new();
    put(&project, "sh-a", "open", "deps: [sh-b]\nprio: 1\n");
    put(&project, "sh-b", "open", "deps: [sh-a, sh-gone]\n");
    let file = "---\nid: SH-B\n---\n# Twice\n- [ ] loose\n\n## Design\n- [ ] one\n\n## Validation Commands\n- `A=1 no-such-program-anywhere -x`\n- `cd . && true`\n";
    project.write("work/.tickets/sh-c.md", file);
    std::os::unix::fs::symlink("no-such-file", project.path("work/.tickets/lost.md")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", project.path("work/.tickets/out.md")).unwrap();
    let told = said(&project, &["ticket", "lint"], 1);
    let wanted = [
        ".tickets/lost.md:1:1: ",
        ".tickets/out.md:1:1: ",
        ".tickets/sh-a.md:1:1: dependency cycle sh-a -> sh-b -> sh-a",
        ".tickets/sh-a.md:5:1: unknown key `prio`",
        ".tickets/sh-b.md:1:1: `deps` refers to sh-gone, which does not exist",
        ".tickets/sh-c.md:1:1: duplicate id sh-b, also in sh-b.md",
        ".tickets/sh-c.md:1:1: the file is sh-c.md, but the id is SH-B",
        ".tickets/sh-c.md:5:1: this checkbox is outside the phases",
        ".tickets/sh-c.md:11:1: command `no-such-program-anywhere` not found",
    ];
    for (line, wanted) in told.lines().zip(wanted) {
        assert!(line.starts_with(wanted), "{told}");
    }
    assert_eq!(told.lines().count(), wanted.len(), "{told}");
    let output = project.run(&["ticket", "lint", "sh-b", "--json"]);
    let rows: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), rows.as_array().unwrap().len()), (Some(1), 1));
    put(&project, "sh-fine", "open", "");
    assert_eq!(said(&project, &["ticket", "lint", "sh-fine"], 0), "");
}
