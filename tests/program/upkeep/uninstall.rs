//! `programmator uninstall`: what it shows and removes, and what it never does.

use crate::project::Project;
use crate::watched::{DILIGENT, WAITING, ran, said, start_until, stop, text};
use std::fs;
use std::os::unix::fs::symlink;

#[test]
fn each_thing_is_shown_and_what_is_the_persons_stays() {
    let project = Project::with(&["Alpha"], DILIGENT);
    ran(&project, &["run", "--json", "tk-1"], 0);
    project.write("home/.claude/settings.json", "{\n  \"model\": \"opus\"\n}\n");
    said(&project, &["hooks", "install", "--yes"], 0);
    project.write("home/.config/fish/completions/programmator.fish", "complete -c programmator\n");
    project.write("home/.local/share/man/man1/other.1", "mine");
    said(&project, &["-C", "../home", "man", "pages"], 0);
    assert!(project.path("home/pages/programmator.1").is_file(), "it is written where -C says");
    let told = said(&project, &["man", &project.path("home/.local/share/man/man1").display().to_string()], 0);
    assert!(told.starts_with("Wrote ") && project.path("home/.local/share/man/man1/programmator-run.1").exists());
    project.write("work/.programmator/config.yaml", "{}\n");
    project.write("state/notes of mine", "mine");
    project.write("precious/file", "mine");
    fs::remove_dir_all(project.path("state/runs")).unwrap();
    symlink(project.path("precious"), project.path("state/runs")).unwrap();

    let shown = said(&project, &["uninstall", "--purge"], 0);
    for words in
        ["hooks in ", "completions in ", "man pages in ", "state in ", "configuration in ", "Would remove 5 items"]
    {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    assert!(project.path("state/programmator.db").exists() && project.path("config/config.yaml").exists());
    let told = said(&project, &["uninstall", "--yes"], 0);
    assert_eq!(project.read("home/.claude/settings.json"), "{\n  \"model\": \"opus\"\n}\n");
    assert!(!project.path("home/.config/fish/completions/programmator.fish").exists(), "{told}");
    assert!(project.path("state/programmator.db").exists() && told.contains("--purge"), "{told}");
    let pages: Vec<_> = fs::read_dir(project.path("home/.local/share/man/man1")).unwrap().collect();
    assert_eq!(pages.len(), 1, "{told}");

    let told = said(&project, &["uninstall", "--purge", "--yes"], 0);
    let left: Vec<_> = fs::read_dir(project.path("state")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left == ["notes of mine"] && told.contains("state is kept: "), "{left:?} {told}");
    assert!(!project.path("config").exists(), "{told}");
    assert_eq!(project.read("precious/file"), "mine", "a link is not followed");
    assert!(project.path("work/.tickets/tk-1.md").exists() && project.path("work/.programmator/config.yaml").exists());
}

#[test]
fn nothing_is_purged_while_a_run_is_at_work_or_by_a_claude_of_ours() {
    let project = Project::with(&["Alpha"], WAITING);
    let (child, _) = start_until(&project, &["run", "--json", "tk-1"], "agent_spawned");
    assert!(said(&project, &["uninstall", "--purge", "--yes"], 75).contains("of tk-1 is active: stop it first"));
    assert!(project.path("state/programmator.db").exists());
    stop(child);
    let inside = project.command(&["uninstall"]).env("PROGRAMMATOR_RUN_ID", "r").output().unwrap();
    assert_eq!(inside.status.code(), Some(77), "{}", text(&inside));
}
