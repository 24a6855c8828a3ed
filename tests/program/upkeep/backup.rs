//! `programmator backup` and `restore-state`: all comes back, and what is no backup changes nothing.

use super::{folder, runs};
use crate::project::Project;
use crate::screen::stage::{ROOMY, start};
use crate::watched::{DILIGENT, WAITING, json, ran, said, start_until, stop, text};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use rustix::process::Signal;
use std::fs::{self, File};
use std::io::{Read, Write as _};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use tar::{Archive, Builder, EntryType, Header};

const FILE: &str = "../backup.tar.gz";

fn project() -> Project {
    let project = Project::with(&["Alpha"], DILIGENT);
    ran(&project, &["run", "--json", "tk-1"], 0);
    project
}

/// What stands in the folder above the state folder.
fn beside(project: &Project) -> Vec<String> {
    let entries = fs::read_dir(project.path("")).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn all_comes_back_and_what_is_of_this_machine_stays_out_and_goes_on() {
    let project = project();
    let run = runs(&project, "tk-1")[0];
    let printed = fs::read(folder(&project, run).join("1.ndjson")).unwrap();
    let before = json(&project, &["status", "--json"]);
    for name in ["away.json", "trust.json", "lockout.json"] {
        project.write(&format!("state/{name}"), "{\"secret\": \"hunter2\"}");
    }
    symlink(project.path("home"), folder(&project, run).join("link")).unwrap();
    let told = said(&project, &["backup", FILE], 0);
    assert!(told.contains("Wrote ") && told.contains("skipped: ") && told.contains("/link"), "{told}");
    let backup = project.path("backup.tar.gz");
    assert_eq!(fs::metadata(&backup).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(said(&project, &["backup", FILE], 2).contains("--force"));
    let told = said(&project, &["backup", "--force", ".."], 2);
    assert!(told.contains("is a folder: name a file in it"), "{told}");
    let told = said(&project, &["backup", "no/such.gz"], 1);
    assert!(told.contains("/no does not exist") && !told.contains(".programmator-"), "{told}");
    said(&project, &["backup", "--force", FILE], 0);
    let names = names(&backup);
    assert!(names.contains(&"programmator.db".to_owned()) && names.contains(&"SHA256SUMS".to_owned()), "{names:?}");
    assert!(
        names.iter().all(|name| !["away.json", "trust.json", "lockout.json"].contains(&name.as_str())),
        "{names:?}"
    );
    assert!(!names.iter().any(|name| name.starts_with("locks") || name.starts_with("sockets")), "{names:?}");

    project.ticket("tk-2", &["Beta"]);
    ran(&project, &["run", "--json", "tk-2"], 0);
    fs::remove_dir_all(folder(&project, run)).unwrap();
    assert!(said(&project, &["restore-state", FILE], 2).contains("--yes"), "no terminal to ask on");
    assert_eq!(runs(&project, "tk-2").len(), 1, "nothing was changed");
    let told = said(&project, &["restore-state", "--yes", FILE], 0);
    assert!(told.contains("1 run, made ") && told.contains(".before-restore-"), "{told}");
    assert_eq!(json(&project, &["status", "--json"]), before);
    assert_eq!(fs::read(folder(&project, run).join("1.ndjson")).unwrap(), printed);
    assert_eq!(project.read("state/lockout.json"), "{\"secret\": \"hunter2\"}");
    assert_eq!(fs::metadata(project.path("state")).unwrap().permissions().mode() & 0o777, 0o700);
    let names = beside(&project);
    let kept =
        names.iter().find(|name| name.starts_with("state.before-restore-")).unwrap_or_else(|| panic!("{names:?}"));
    assert!(project.path(kept).join("programmator.db").is_file());
    assert!(!names.iter().any(|name| name.starts_with(".programmator-restore")), "{names:?}");
    project.ticket("tk-3", &["Gamma"]);
    ran(&project, &["run", "--json", "tk-3"], 0);
}

/// That is what a backup is for.
#[test]
fn a_backup_comes_back_over_a_store_that_cannot_be_read() {
    let project = project();
    let before = json(&project, &["status", "--json"]);
    said(&project, &["backup", FILE], 0);
    for name in ["programmator.db-wal", "programmator.db-shm"] {
        let _ = fs::remove_file(project.path("state").join(name));
    }
    project.write("state/programmator.db", &"no database at all\n".repeat(500));
    said(&project, &["status", "--json"], 1);
    let lock = File::create(project.path("state/locks/ticket-0")).unwrap();
    lock.lock().unwrap();
    assert!(said(&project, &["restore-state", "--yes", FILE], 75).contains("stop it first"));
    drop(lock);
    let told = said(&project, &["restore-state", "--yes", FILE], 0);
    assert!(told.contains("cannot be read") && told.contains("Restored."), "{told}");
    assert_eq!(json(&project, &["status", "--json"]), before);
}

fn names(backup: &Path) -> Vec<String> {
    let mut archive = Archive::new(GzDecoder::new(File::open(backup).unwrap()));
    archive.entries().unwrap().map(|entry| entry.unwrap().path().unwrap().display().to_string()).collect()
}

/// The members of a backup, which can be changed.
type Members = Vec<(Header, Vec<u8>)>;

fn members(backup: &Path) -> Members {
    let mut archive = Archive::new(GzDecoder::new(File::open(backup).unwrap()));
    let read = |entry: std::io::Result<tar::Entry<'_, _>>| {
        let mut entry = entry.unwrap();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        (entry.header().clone(), bytes)
    };
    archive.entries().unwrap().map(read).collect()
}

fn packed(members: &Members, to: &Path) {
    let mut tar = Builder::new(GzEncoder::new(File::create(to).unwrap(), Compression::fast()));
    for (header, bytes) in members {
        tar.append(header, &bytes[..]).unwrap();
    }
    tar.into_inner().unwrap().finish().unwrap();
}

/// A member of this name, which need not be a sound one.
fn member(name: &str, kind: EntryType, bytes: &[u8]) -> (Header, Vec<u8>) {
    let mut header = Header::new_ustar();
    header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
    header.set_entry_type(kind);
    header.set_size(bytes.len() as u64);
    if kind != EntryType::Regular {
        header.set_link_name("/etc").unwrap();
    }
    header.set_cksum();
    (header, bytes.to_vec())
}

#[test]
fn what_is_no_whole_backup_of_ours_changes_nothing() {
    let project = project();
    said(&project, &["backup", FILE], 0);
    let good = members(&project.path("backup.tar.gz"));
    let (status, entries) = (json(&project, &["status", "--json"]), beside(&project));
    let hostile = project.path("backup.tar.gz");
    let refused = |what: &str, words: &str| {
        let told = said(&project, &["restore-state", "--yes", FILE], 1);
        assert!(told.contains(words), "{what}: {told}");
        assert_eq!(
            (json(&project, &["status", "--json"]), beside(&project)),
            (status.clone(), entries.clone()),
            "{what}"
        );
    };
    let regular = EntryType::Regular;
    let extra = [
        ("a link", member("runs/link", EntryType::Symlink, b""), "is not a regular file"),
        ("a hard link", member("runs/link", EntryType::Link, b""), "is not a regular file"),
        ("a device", member("runs/device", EntryType::Char, b""), "is not a regular file"),
        ("a long name", member("././@LongLink", EntryType::GNULongName, b"x"), "is not a regular file"),
        ("up", member("runs/../../evil", regular, b"x"), "unexpected file"),
        ("absolute", member("/tmp/evil", regular, b"x"), "unexpected file"),
        ("another file", member("lockout.json", regular, b"{}"), "unexpected file"),
        ("the same name twice", member("programmator.db", regular, b"x"), " twice"),
        ("one that is not listed", member("runs/more", regular, b"x"), "runs/more has the wrong checksum"),
    ];
    for (what, member, words) in extra {
        let mut members = good.clone();
        members.insert(good.len() - 1, member);
        packed(&members, &hostile);
        refused(what, words);
    }
    let mut members = good.clone();
    members[1].1[5_000] ^= 1;
    packed(&members, &hostile);
    refused("a changed byte", "programmator.db has the wrong checksum");
    packed(&good[..good.len() - 1].to_vec(), &hostile);
    refused("without its end", "it is truncated");
    packed(&good[1..].to_vec(), &hostile);
    refused("without its beginning", "not a programmator backup");
    let head = br#"{"format": 2, "version": "9.0\u001b[2J", "time": {}}"#;
    members = good.clone();
    members[0] = member("backup.json", regular, head);
    packed(&members, &hostile);
    refused("a newer one", "newer programmator");
    let whole = {
        packed(&good, &hostile);
        fs::read(&hostile).unwrap()
    };
    fs::write(&hostile, &whole[..whole.len() / 2]).unwrap();
    refused("half of it", "backup.tar.gz was not restored");
    fs::write(&hostile, "notes of mine").unwrap();
    refused("some text", "not a programmator backup");
    // A size that no disk has.
    let mut huge = member("runs/huge", regular, b"");
    huge.0.set_size(1 << 50);
    huge.0.set_cksum();
    packed(&vec![good[0].clone(), huge], &hostile);
    refused("a huge size", "free");
}

/// Waits until the program has a folder beside the state folder in which it unpacks.
fn until_it_unpacks(project: &Project) {
    let unpacks =
        |name: &String| name.starts_with(".programmator-restore-") && project.path(name).join("state").exists();
    while !beside(project).iter().any(unpacks) {
        std::thread::yield_now();
    }
}

#[test]
fn who_is_stopped_or_killed_while_a_backup_is_read_has_changed_nothing_and_the_next_one_restores() {
    let project = project();
    let (status, entries) = (json(&project, &["status", "--json"]), beside(&project));
    said(&project, &["backup", FILE], 0);
    let whole = fs::read(project.path("backup.tar.gz")).unwrap();
    let pipe = project.path("pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    for (signal, code) in
        [(Signal::INT, Some(130)), (Signal::TERM, Some(143)), (Signal::HUP, Some(129)), (Signal::KILL, None)]
    {
        for most in [0, 10, whole.len() / 2] {
            let child = project.command(&["restore-state", "--yes", "../pipe"]).spawn().unwrap();
            until_it_unpacks(&project);
            let mut open = File::options().read(true).write(true).open(&pipe).unwrap();
            open.write_all(&whole[..most]).unwrap();
            rustix::process::kill_process(rustix::process::Pid::from_child(&child), signal).unwrap();
            let ended = child.wait_with_output().unwrap();
            assert_eq!(ended.status.code(), code, "{signal:?}");
            let left = beside(&project).into_iter().filter(|name| name.starts_with(".programmator-restore-")).count();
            assert_eq!(left, usize::from(signal == Signal::KILL), "{signal:?}");
            assert_eq!(json(&project, &["status", "--json"]), status);
            drop(open);
            // What was killed is cleared away by the next, whatever becomes of that.
            said(&project, &["restore-state", "--yes", "../nothing"], 1);
            let mut now = beside(&project);
            now.retain(|name| !["backup.tar.gz", "pipe"].contains(&name.as_str()));
            assert_eq!(now, entries, "{signal:?}");
        }
    }
    // One that was killed in the moment in which it took its place.
    fs::create_dir(project.path("state.before-restore-2026-01-01-00-00-00")).unwrap();
    project.write("state.before-restore-2026-01-01-00-00-00/not-restored-yet", "");
    said(&project, &["restore-state", "--yes", FILE], 0);
    assert!(!project.path("state.before-restore-2026-01-01-00-00-00").exists());
    assert_eq!(json(&project, &["status", "--json"]), status);
}

#[test]
fn a_disk_without_room_changes_nothing_whichever_way() {
    let project = project();
    let status = json(&project, &["status", "--json"]);
    said(&project, &["backup", FILE], 0);
    let entries = beside(&project);
    project.scenario_with(DILIGENT, "storage: {reserve: 1000000000}\n");
    for args in [["backup", "../more.tar.gz"].as_slice(), &["restore-state", "--yes", FILE]] {
        let told = said(&project, args, 1);
        assert!(told.contains("storage.reserve"), "{told}");
        assert_eq!(beside(&project), entries);
    }
    assert_eq!(json(&project, &["status", "--json"]), status);
}

#[test]
fn a_terminal_that_asks_is_left_with_ctrl_c_and_nothing_stays() {
    let project = project();
    said(&project, &["backup", FILE], 0);
    let entries = beside(&project);
    let mut terminal = start(&project, &["restore-state", FILE], ROOMY);
    terminal.wait_for("[y/N]");
    terminal.keys("\x03");
    assert_eq!(terminal.wait_end().exit_code(), 130, "{}", terminal.screen());
    assert_eq!(beside(&project), entries);
}

#[test]
fn while_a_run_is_at_work_it_is_backed_up_and_not_restored() {
    let project = Project::with(&["Alpha"], WAITING);
    let (child, _) = start_until(&project, &["run", "--json", "tk-1"], "agent_spawned");
    said(&project, &["backup", FILE], 0);
    assert!(said(&project, &["restore-state", "--yes", FILE], 75).contains("programmator stop tk-1"));
    stop(child);
    said(&project, &["restore-state", "--yes", FILE], 0);
    assert_eq!(json(&project, &["status", "--json"])[0]["state"], "interrupted");
    for args in [["backup", FILE], ["restore-state", FILE]] {
        let inside = project.command(&args).env("PROGRAMMATOR_RUN_ID", "r").output().unwrap();
        assert_eq!(inside.status.code(), Some(77), "{}", text(&inside));
    }
}
