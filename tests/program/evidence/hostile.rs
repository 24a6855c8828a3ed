//! A repository full of traps: whatever it configures, none of its commands may run when programmator
//! looks at it. And a person's environment without anything git likes to have.

use super::repo::{Repo, no};
use programmator::adapters::git::WorkTree;
use std::fs;
use std::process::Command;

/// A script that leaves a sign of life. It passes its input on, so that git resumes it.
fn trap(repo: &Repo, name: &str) -> String {
    let script = repo.keep().with_file_name(format!("{name}.sh"));
    let canary = canary_file(repo);
    fs::write(&script, format!("#!/bin/sh\necho {name} >> {}\ncat\n", canary.display())).unwrap();
    Command::new("chmod").arg("+x").arg(&script).status().unwrap();
    script.to_str().unwrap().to_owned()
}

fn canary_file(repo: &Repo) -> std::path::PathBuf {
    repo.keep().with_file_name("canary")
}

fn sprung(repo: &Repo) -> String {
    fs::read_to_string(canary_file(repo)).unwrap_or_default()
}

const HOOKS: [&str; 6] =
    ["reference-transaction", "post-index-change", "pre-commit", "post-checkout", "pre-auto-gc", "post-commit"];

fn set_traps(repo: &Repo, at: &Repo) {
    for (key, name) in [
        ("core.fsmonitor", "fsmonitor"),
        ("core.pager", "pager"),
        ("core.editor", "editor"),
        ("diff.external", "external"),
        ("diff.d.textconv", "textconv"),
        ("diff.d.command", "diffcommand"),
        ("filter.f.clean", "clean"),
        ("filter.f.smudge", "smudge"),
        ("filter.p.process", "process"),
        ("gpg.program", "gpg"),
        ("credential.helper", "credential"),
    ] {
        at.git(&["config", key, &trap(repo, name)]);
    }
    for (key, value) in [("filter.f.required", "true"), ("filter.p.required", "true"), ("commit.gpgSign", "true")] {
        at.git(&["config", key, value]);
    }
    for hook in HOOKS {
        let script = trap(repo, hook);
        let git = at.git(&["rev-parse", "--absolute-git-dir"]);
        let hooks = std::path::Path::new(git.trim()).join("hooks");
        fs::create_dir_all(&hooks).unwrap();
        fs::copy(script, hooks.join(hook)).unwrap();
    }
}

async fn use_everything(repo: &Repo) {
    let before = repo.snapshot(1).await;
    repo.write("a.f", "changed");
    repo.write("b.f", "new");
    repo.write("c.p", "new");
    assert_eq!(repo.changed(&before).await, ["a.f", "b.f", "c.p"]);
    let tree = repo.tree().await;
    assert_eq!(tree.list_snapshots(&repo.ticket).await.unwrap().len(), 1);
    repo.restore(&tree, "1", &repo.exclude()).await.unwrap();
    assert_eq!(repo.read("a.f"), "as it was");
    assert_eq!(repo.changed(&before).await, no());
}

#[tokio::test]
async fn nothing_that_a_repository_configures_ever_runs() {
    let repo = Repo::new();
    repo.write("a.f", "as it was");
    repo.write("a.d", "text");
    repo.write(".gitattributes", "*.f filter=f\n*.p filter=p\n*.d diff=d\n");
    repo.commit_all("with attributes");
    let inner = repo.add_submodule("sub");
    set_traps(&repo, &repo);
    set_traps(&repo, &inner);
    inner.write("dirty", "x");
    use_everything(&repo).await;
    assert_eq!(sprung(&repo), "");
    // The traps are real: the person's own git springs them.
    repo.git_may(&["add", "-A"]);
    assert!(sprung(&repo).contains("clean"), "{}", sprung(&repo));
    assert!(sprung(&repo).contains("fsmonitor"), "{}", sprung(&repo));
}

#[tokio::test]
async fn traps_in_info_attributes_do_not_spring_either() {
    let repo = Repo::new();
    repo.write("a.f", "as it was");
    repo.commit_all("first");
    set_traps(&repo, &repo);
    repo.write(".git/info/attributes", "* filter=f diff=d\n");
    use_everything(&repo).await;
    assert_eq!(sprung(&repo), "");
}

#[tokio::test]
async fn a_bare_repository_in_the_tree_is_only_files() {
    let repo = Repo::new().with_commit();
    let bare = repo.path("vendor");
    repo.git(&["init", "-q", "--bare", "vendor"]);
    let script = trap(&repo, "bare");
    for key in ["core.fsmonitor", "core.pager", "diff.external"] {
        repo.git(&["--git-dir=vendor", "config", key, &script]);
    }
    let refused = WorkTree::open(&bare, &repo.keep()).await.unwrap_err();
    assert!(refused.to_string().contains("bare repository"), "{refused}");
    let id = repo.snapshot(1).await;
    repo.write("vendor/x", "1");
    assert_eq!(repo.changed(&id).await, ["vendor/x"]);
    assert_eq!(sprung(&repo), "");
}

#[tokio::test]
async fn files_under_a_filter_are_saved_and_restored_as_they_are_on_the_disk() {
    let repo = Repo::new();
    // A filter as Git LFS has it: the index holds something short, the disk the content.
    repo.git(&["config", "filter.short.clean", "sha1sum"]);
    repo.write(".gitattributes", "*.bin filter=short\n*.txt text eol=crlf\n");
    repo.write("a.bin", "the content");
    repo.write("a.txt", "one\r\ntwo\r\n");
    for name in ["a.bin", "a.txt"] {
        repo.age(name);
    }
    repo.commit_all("filtered");
    let id = repo.snapshot(1).await;
    repo.write("a.bin", "the content");
    repo.write("a.txt", "one\r\ntwo\r\n");
    assert_eq!(repo.changed(&id).await, no(), "rewriting the same bytes is no change");
    repo.write("a.bin", "other");
    repo.write("a.txt", "three\n");
    repo.restore(&repo.tree().await, "1", &[]).await.unwrap();
    assert_eq!((repo.read("a.bin").as_str(), repo.read("a.txt").as_str()), ("the content", "one\r\ntwo\r\n"));
}

/// Runs a test of this file again as a process of its own with an environment of our choice.
fn again(test: &str, variables: &[(&str, &str)]) {
    let said = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("evidence::{test}"), "--nocapture"])
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let out = String::from_utf8_lossy(&said.stdout);
    assert!(said.status.success() && out.contains("1 passed"), "{out}{}", String::from_utf8_lossy(&said.stderr));
}

#[test]
fn works_without_home_and_identity() {
    again("is_a_child_of_head_with_an_identity_of_its_own_under_its_ref", &[]);
    again("is_a_child_of_head_with_an_identity_of_its_own_under_its_ref", &[("HOME", "")]);
    again("restoring::goes_back_to_the_content_of_the_snapshot", &[("HOME", "/nonexistent")]);
}

#[test]
fn is_not_led_astray_by_variables_of_git() {
    let astray = [
        ("GIT_DIR", "/nonexistent"),
        ("GIT_WORK_TREE", "/nonexistent"),
        ("GIT_INDEX_FILE", "/nonexistent"),
        ("GIT_OBJECT_DIRECTORY", "/nonexistent"),
        ("GIT_AUTHOR_DATE", "nonsense"),
        ("GIT_EXTERNAL_DIFF", "false"),
        ("GIT_LITERAL_PATHSPECS", "1"),
        ("GIT_CONFIG_COUNT", "1"),
        ("GIT_CONFIG_KEY_0", "core.fsmonitor"),
        ("GIT_CONFIG_VALUE_0", "false-monitor"),
    ];
    again("untracked_files_count_and_ignored_ones_do_not", &astray);
    again("restoring::goes_back_to_the_content_of_the_snapshot", &astray);
}

#[test]
fn filters_of_the_persons_own_config_do_not_run() {
    let home = Repo::plain();
    home.write("attributes", "* filter=f\n");
    home.write(
        ".gitconfig",
        &format!(
            "[core]\n\tattributesFile = {}\n\tfsmonitor = false-monitor\n\
             [filter \"f\"]\n\tclean = exit 1\n\tsmudge = exit 1\n\trequired = true\n",
            home.path("attributes").display()
        ),
    );
    let variables = [("HOME", home.top.to_str().unwrap())];
    again("untracked_files_count_and_ignored_ones_do_not", &variables);
    again("restoring::goes_back_to_the_content_of_the_snapshot", &variables);
}
