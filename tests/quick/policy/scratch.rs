//! The run's scratch folder: files in it may be read, written and deleted like those of the workspace, programs in it are
//! not the project's, and what is protected by its name is protected there, too.

use super::support::policy;
use programmator::domain::profile::Profile;
use programmator::domain::verdict::Verdict::{self, Allow, Ask, Block};
use programmator::policy::place::{MadeUp, Place};
use programmator::policy::remembered::Remembered;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

const SCRATCH: &str = "/tmp/programmator-1";

fn decide(profile: Profile, tool: &str, input: &Value) -> (Verdict, String) {
    let root = Path::new("/home/dev/proj");
    let links = [("/tmp/programmator-1/link", "/home/dev/.ssh"), ("/tmp/programmator-1/out", "/home/dev/other")];
    let files = ["Cargo.toml", "src/main.rs", "x.py", ".env", "/tmp/programmator-1/x.py", "/tmp/programmator-1/.env"];
    let view = MadeUp::new(root, links, files);
    let view = Remembered::new(&view).with_scratch(Some(Path::new(SCRATCH)));
    let place = Place { workspace: root, cwd: root, home: Path::new("/home/dev"), user: "dev", view: &view };
    let policy = policy(profile).clone().guarding(&[PathBuf::from("/tmp/state")]);
    let decision = policy.decide(tool, input, &place);
    (decision.verdict, decision.told())
}

fn verdict(command: &str) -> (Verdict, String) {
    decide(Profile::Guarded, "Bash", &json!({ "command": command }))
}

#[test]
fn files_in_it_are_like_those_of_the_workspace() {
    for command in [
        "echo x > $TMPDIR/a",
        "echo x > \"${TMPDIR}/a.txt\"",
        "mkdir -p \"$TMPDIR/x\" && cp src/main.rs $TMPDIR/x/a.rs",
        "cargo test > ${TMPDIR:-/tmp}/out.txt 2>&1; tail -5 $TMPDIR/out.txt",
        "rm -rf \"$TMPDIR/x\"",
        "rm $TMP/a $TEMP/b",
        "sort src/main.rs | tee $TMPDIR/sorted | head",
        "echo x > /tmp/programmator-1/a && cat /tmp/programmator-1/a",
        "cd $TMPDIR && ls",
        "mv $TMPDIR/a.txt src/a.txt",
    ] {
        let (verdict, told) = verdict(command);
        assert_eq!(verdict, Allow, "{command}: {told}");
    }
    for tool in ["Write", "Read"] {
        let input = json!({ "file_path": "/tmp/programmator-1/a", "content": "" });
        let input = if tool == "Read" { json!({ "file_path": "/tmp/programmator-1/a" }) } else { input };
        assert_eq!(decide(Profile::Guarded, tool, &input).0, Allow, "{tool}");
    }
}

#[test]
fn other_temporary_folders_ask_and_name_it() {
    for command in
        ["echo x > /tmp/a", "touch /var/tmp/a", "echo x > $TMPDIR/../a", "echo x > $TMPDIR-2/a", "cp x.py /tmp/x.py"]
    {
        let (verdict, told) = verdict(command);
        assert_eq!(verdict, Ask, "{command}: {told}");
        assert!(told.contains("$TMPDIR"), "{command}: {told}");
    }
    for profile in [Profile::Strict, Profile::Trusted] {
        assert_eq!(decide(profile, "Bash", &json!({ "command": "echo x > /tmp/a" })).0, Block, "{profile:?}");
    }
}

#[test]
fn programs_in_it_and_changes_of_where_it_is_are_not_allowed() {
    for command in [
        "python $TMPDIR/x.py",
        "bash $TMPDIR/x.sh",
        "$TMPDIR/x",
        "cd $TMPDIR && python x.py",
        "cd $TMPDIR && cargo test",
        "cd $TMPDIR && cargo run",
        "TMPDIR=/etc; echo x > $TMPDIR/a",
        "export TMPDIR=/etc; echo x > $TMPDIR/a",
        "read TMPDIR < x.py; echo x > $TMPDIR/a",
        "for TMPDIR in /etc; do echo x > $TMPDIR/a; done",
        "TMPDIR=/etc bash -c 'echo x > $TMPDIR/a'",
        "env TMPDIR=/etc bash -c 'echo x > $TMPDIR/a'",
        "rm -rf $TMPDIR",
        "rm -rf $TMPDIR/..",
        "chmod 000 $TMPDIR",
        "mv $TMPDIR x",
        "rmdir $TMPDIR",
        "rm -rf $TMPDIR/$X",
    ] {
        assert_ne!(verdict(command).0, Allow, "{command}");
    }
}

#[test]
fn what_is_protected_or_secret_is_so_there_and_elsewhere() {
    for command in [
        "echo x > $TMPDIR/.git/config", "echo x > $TMPDIR/link/authorized_keys", "echo x > $TMPDIR/out/a",
        "cat $TMPDIR/.env", "cp .env $TMPDIR/a", "cp ~/.ssh/id_rsa $TMPDIR/a", "echo x > /tmp/state/a",
        "echo x > /tmp", "rm -r /tmp", "echo x > /etc/passwd", "echo x > ~/.bashrc", "echo x > $TMPDIR/../../etc/a",
    ] {
        let (verdict, told) = verdict(command);
        assert_eq!(verdict, Block, "{command}: {told}");
    }
}
