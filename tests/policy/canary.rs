//! What the gate allows is run, in a namespace of its own where every program that is not in the tables is a canary,
//! and so is every change of a file.
//!
//! `PROGRAMMATOR_CANARIES=5000 cargo test --test policy canary` runs as many scripts, and fails without namespaces.

#![cfg(target_os = "linux")]

use crate::grammar::{Dice, Malice, script};
use crate::support::decide;
use programmator::policy::engine::Profile;
use programmator::policy::verdict::Verdict;
use std::fs;
use std::path::Path;
use std::process::Command;

const FILES: [&str; 4] = ["a.txt", "b.txt", "src/a.rs", "src/b.rs"];

/// Builds the namespace, runs the scripts one by one, and names each after which something had changed.
const RUNNER: &str = r#"
set -eu
stage=$1
real=$stage/real
mount --bind "$stage" "$stage"
mkdir -p "$real"
mount --bind /usr/bin "$real"
mount -t tmpfs tmpfs /home
mkdir -p /home/dev/proj/src
cd /home/dev/proj
for file in a.txt b.txt src/a.rs src/b.rs; do printf 'a b c\nb a\n' > "$file"; done
mount --bind "$stage/bin" /usr/bin
"$real/mount" -o remount,ro,bind / 2> /dev/null || true
look() { "$real/find" /home -printf '%p %s %T@ %m %l\n' | "$real/sort" | "$real/cksum"; }
before=$(look)
for script in "$stage"/scripts/*; do
    HOME=/home/dev USER=dev PATH=/usr/bin "$real/timeout" -s KILL 5 "$real/bash" "$script" < /dev/null > /dev/null 2>&1 || true
    after=$(look)
    if [ "$before" != "$after" ] || [ -s "$stage/canary" ]; then
        printf '%s changed files: %s canary: %s\n' "$script" "$after" "$("$real/cat" "$stage/canary")"
        : > "$stage/canary"
        before=$after
    fi
done
echo "all were run"
"#;

/// The names of the commands that only look, and of what runs others.
fn listed() -> Vec<String> {
    let tables = [
        include_str!("../../src/policy/commands/readers.yaml"),
        include_str!("../../src/policy/commands/wrappers.yaml"),
    ];
    let lines = tables.iter().flat_map(|table| table.lines()).filter(|line| !line.starts_with(['#', ' ']));
    let names = lines.filter_map(|line| line.split_once(": ")).map(|(name, _)| name.trim_matches('"').to_owned());
    names.chain(["bash", "sh", "dash", "git", "mawk", "original-awk"].map(str::to_owned)).collect()
}

fn build(stage: &Path, wanted: usize) -> std::io::Result<usize> {
    for folder in ["bin", "scripts", "real"] {
        fs::create_dir_all(stage.join(folder))?;
    }
    fs::write(stage.join("canary"), "")?;
    fs::write(stage.join("runner"), RUNNER)?;
    let (real, canary) = (stage.join("real"), stage.join("canary"));
    let text = format!("#!{}\necho \"$0\" >> {}\n", real.join("dash").display(), canary.display());
    fs::write(stage.join("song"), text)?;
    fs::set_permissions(stage.join("song"), std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    let listed = listed();
    for entry in fs::read_dir("/usr/bin")? {
        let name = entry?.file_name();
        let known = name.to_str().is_some_and(|name| listed.iter().any(|listed| listed == name));
        let target = if known { real.join(&name) } else { stage.join("song") };
        std::os::unix::fs::symlink(target, stage.join("bin").join(name))?;
    }
    let mut dice = Dice::new(6);
    let (mut made, mut judged) = (0, 0);
    while made < wanted {
        judged += 1;
        let text = script(&mut dice, Malice(6), 3);
        if decide(Profile::Strict, &FILES, &text).verdict == Verdict::Allow {
            fs::write(stage.join(format!("scripts/{made:05}")), text)?;
            made += 1;
        }
    }
    Ok(judged)
}

#[test]
fn what_is_allowed_wakes_no_canary() {
    let asked: Option<usize> = std::env::var("PROGRAMMATOR_CANARIES").ok().and_then(|text| text.parse().ok());
    let wanted = asked.unwrap_or(200);
    let namespaces = Command::new("unshare").args(["-Urmnpf", "--kill-child", "true"]).status();
    if !namespaces.is_ok_and(|status| status.success()) {
        assert!(asked.is_none(), "the canaries need namespaces: unshare -Urmnpf failed");
        eprintln!("no namespaces here: the canaries were not run");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let stage = folder.path().canonicalize().unwrap();
    let judged = build(&stage, wanted).unwrap();
    let run = Command::new("unshare")
        .args(["-Urmnpf", "--kill-child", "bash"])
        .arg(stage.join("runner"))
        .arg(&stage)
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&run.stdout);
    assert!(told.contains("all were run"), "{told}{}", String::from_utf8_lossy(&run.stderr));
    let woken: Vec<String> = told
        .lines()
        .filter_map(|line| line.split_once(" changed files"))
        .map(|(path, what)| format!("{what}\n{}", fs::read_to_string(path).unwrap_or_default()))
        .collect();
    println!("{wanted} of {judged} scripts were allowed and run");
    assert!(woken.is_empty(), "{}\n{}", woken.len(), woken.join("\n"));
}
