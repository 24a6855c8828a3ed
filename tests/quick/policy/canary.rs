//! What the gate allows is run, in a namespace of its own where every program that is not in the tables is a canary,
//! and so is every change of a file.
//!
//! `PROGRAMMATOR_CANARIES=5000 cargo test --test quick canary` runs as many scripts, and fails without namespaces.

#![cfg(target_os = "linux")]

use super::grammar::{Dice, Malice, script};
use super::support::decide;
use programmator::domain::profile::Profile;
use programmator::domain::verdict::Verdict;
use std::fs;
use std::path::Path;
use std::process::Command;

const FILES: [&str; 4] = ["a.txt", "b.txt", "src/a.rs", "src/b.rs"];

/// Builds the namespace and runs the scripts. What is there is looked at after each twenty of them: times of folders
/// tell of a file that came and went. The scripts of a twenty that changed something are run again one by one.
const RUNNER: &str = r#"
set -eu
stage=$1
real=$stage/real
mount --bind "$stage" "$stage"
mount --bind /usr/bin "$real"
mount -t tmpfs tmpfs /home
mkdir -p /home/dev/proj/src
cd /home/dev/proj
for file in a.txt b.txt src/a.rs src/b.rs; do printf 'a b c\nb a\n' > "$file"; done
mount --bind "$stage/bin" /usr/bin
"$real/mount" -o remount,ro,bind / 2> /dev/null || true
look() { "$real/find" /home -printf '%p %s %T@ %m %l\n' | "$real/sort" | "$real/cksum"; }
# A script that waits for ever is no news here: the shorter the wait, the better.
play() { HOME=/home/dev USER=dev PATH=/usr/bin "$real/timeout" -s KILL 1 "$real/bash" "$stage/scripts/$1" < /dev/null > /dev/null 2>&1 || true; }
changed() {
    after=$(look)
    if [ "$before" = "$after" ] && [ ! -s "$stage/canary" ]; then return 1; fi
    told="files: $after canary: $("$real/cat" "$stage/canary")"
    : > "$stage/canary"
    before=$after
}
some() {
    for script in "$@"; do play "$script"; done
    if changed; then
        printf 'among %s scripts from %s changed %s\n' "$#" "$1" "$told"
        for script in "$@"; do
            play "$script"
            if changed; then printf '%s changed %s\n' "$script" "$told"; fi
        done
    fi
}
before=$(look)
cd "$stage/scripts"
set -- *
cd /home/dev/proj
while [ $# -gt 20 ]; do
    some "${@:1:20}"
    shift 20
done
some "$@"
echo "all were run"
"#;

/// What the second runner's scripts find, with a word in it that no script may print.
const MORE: [&str; 9] = [
    "a.txt", "b.txt", "src/a.rs", "src/b.rs", ".env", ".claude/settings.json", "d/.claude/settings.json", "d/x.txt",
    ".git/config",
];

/// As the first, for scripts that may write: each begins in the same workspace, and what is outside of it, what is
/// protected in it and what is printed are looked at behind it.
const WRITERS: &str = r#"
set -eu
stage=$1
real=$stage/real
mount --bind "$stage" "$stage"
mount --bind /usr/bin "$real"
mount -t tmpfs tmpfs /home
mkdir -p /home/dev/proj/src /home/dev/proj/.claude /home/dev/proj/d/.claude
cd /home/dev/proj
for file in a.txt b.txt src/a.rs src/b.rs d/x.txt .claude/settings.json d/.claude/settings.json; do printf 'a b c\nb a\n' > "$file"; done
git init -q .
git add a.txt
git -c user.name=x -c user.email=x@x.test commit -qm x
echo nightingale > .env
cd /
cp -a /home/dev "$stage/home"
mount --bind "$stage/bin" /usr/bin
"$real/mount" -o remount,ro,bind / 2> /dev/null || true
look() { cd /home/dev; "$real/find" . -path ./proj -prune -o -printf '%p %s %T@ %m %l\n'; "$real/find" proj/.git/hooks proj/.git/config proj/.claude proj/d/.claude -printf '%p %s %T@ %m %l\n' 2>&1; }
for script in "$stage"/scripts/*; do
    "$real/rm" -rf /home/dev
    "$real/cp" -a "$stage/home" /home/dev
    before=$(look)
    cd /home/dev/proj
    HOME=/home/dev USER=dev PATH=/usr/bin "$real/timeout" -s KILL 1 "$real/bash" "$script" < /dev/null > "$stage/out" 2>&1 || true
    after=$(look)
    if "$real/grep" -aq nightingale "$stage/out"; then echo "${script##*/} changed nothing, but printed a secret"; fi
    if [ "$before" != "$after" ] || [ -s "$stage/canary" ]; then
        echo "${script##*/} changed files or sang: $("$real/cat" "$stage/canary") $("$real/diff" <(echo "$before") <(echo "$after") | "$real/tr" '\n' ' ')"
        : > "$stage/canary"
    fi
done
echo "all were run"
"#;

/// The names of the commands that only look, and of what runs others.
fn listed() -> Vec<String> {
    let tables = [
        include_str!("../../../src/policy/commands/readers.yaml"),
        include_str!("../../../src/policy/commands/wrappers.yaml"),
        include_str!("../../../src/policy/commands/writers.yaml"),
    ];
    let lines = tables.iter().flat_map(|table| table.lines()).filter(|line| !line.starts_with(['#', ' ']));
    let names = lines.filter_map(|line| line.split_once(": ")).map(|(name, _)| name.trim_matches('"').to_owned());
    names.chain(["bash", "sh", "dash", "git", "mawk", "original-awk", "tee"].map(str::to_owned)).collect()
}

fn build(stage: &Path, wanted: usize, seed: u64, profile: Profile) -> std::io::Result<usize> {
    for folder in ["bin", "scripts", "real"] {
        fs::create_dir_all(stage.join(folder))?;
    }
    fs::write(stage.join("canary"), "")?;
    let (runner, files) = match profile {
        Profile::Strict => (RUNNER, &FILES[..]),
        Profile::Guarded | Profile::Trusted | Profile::ReadOnly => (WRITERS, &MORE[..]),
    };
    fs::write(stage.join("runner"), runner)?;
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
    let mut dice = Dice::new(seed);
    let (mut made, mut judged) = (0, 0);
    while made < wanted {
        judged += 1;
        let text = script(&mut dice, Malice(6), 3);
        if decide(profile, files, &text).verdict == Verdict::Allow {
            fs::write(stage.join(format!("scripts/{made:05}")), text)?;
            made += 1;
        }
    }
    Ok(judged)
}

/// Builds a stage of its own, runs its scripts, and tells which of them changed something.
fn perform(stage: &Path, wanted: usize, seed: u64, profile: Profile) -> (usize, Vec<String>) {
    let judged = build(stage, wanted, seed, profile).unwrap();
    let unshare = ["-Urmnpf", "--kill-child", "bash"];
    let run = Command::new("unshare").args(unshare).arg(stage.join("runner")).arg(stage).output().unwrap();
    let told = String::from_utf8_lossy(&run.stdout);
    assert!(told.contains("all were run"), "{told}{}", String::from_utf8_lossy(&run.stderr));
    let lines = told.lines().filter_map(|line| line.split_once(" changed "));
    let text = |name: &str| fs::read_to_string(stage.join("scripts").join(name)).unwrap_or_default();
    (judged, lines.map(|(name, what)| format!("{name}: {what}\n{}", text(name))).collect())
}

#[test]
fn what_is_allowed_wakes_no_canary() {
    sing(Profile::Strict, 1);
}

#[test]
fn what_guarded_allows_stays_in_the_workspace_and_prints_no_secret() {
    // Each script has a workspace of its own, which takes longer.
    sing(Profile::Guarded, 10);
}

/// Plays as many scripts as are asked for, or one in so many of them.
fn sing(profile: Profile, one_in: usize) {
    let asked: Option<usize> = std::env::var("PROGRAMMATOR_CANARIES").ok().and_then(|text| text.parse().ok());
    let wanted = asked.map_or(200, |asked| asked / one_in);
    let namespaces = Command::new("unshare").args(["-Urmnpf", "--kill-child", "true"]).status();
    if !namespaces.is_ok_and(|status| status.success()) {
        assert!(asked.is_none(), "the canaries need namespaces: unshare -Urmnpf failed");
        eprintln!("no namespaces here: the canaries were not run");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let stages = folder.path().canonicalize().unwrap();
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(8);
    let results: Vec<(usize, Vec<String>)> = std::thread::scope(|scope| {
        let start = |worker: usize| {
            let stage = stages.join(worker.to_string());
            scope.spawn(move || perform(&stage, wanted.div_ceil(workers), 6 + worker as u64, profile))
        };
        let running: Vec<_> = (0..workers).map(start).collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let judged: usize = results.iter().map(|(judged, _)| judged).sum();
    println!("{wanted} of {judged} scripts were allowed and run");
    let woken: Vec<String> = results.into_iter().flat_map(|(_, woken)| woken).collect();
    assert!(woken.is_empty(), "{}\n{}", woken.len(), woken.join("\n"));
}
