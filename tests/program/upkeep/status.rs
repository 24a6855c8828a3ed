//! `programmator status --watch-file`: the file says how runs stand, while they run.

use crate::project::Project;
use crate::watched::{DILIGENT, WAITING, json, ran, said, signal, start_until};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

fn watching(project: &Project) -> Child {
    project.command(&["status", "--watch-file", "../status.json"]).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits until the file says so. What is read is always whole.
fn until(project: &Project, fits: impl Fn(&Value) -> bool) -> Value {
    let begun = Instant::now();
    loop {
        if let Ok(text) = fs::read_to_string(project.path("status.json")) {
            let read: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
            if fits(&read) {
                return read;
            }
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", fs::read_to_string(project.path("status.json")));
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn the_file_follows_the_runs_and_a_program_that_is_killed() {
    let project = Project::with(&["Alpha"], WAITING);
    let watch = watching(&project);
    let none = until(&project, |read| read["runs"] == Value::Array(Vec::new()));
    assert_eq!((&none["status"], &none["loop_count"]), (&"stopped".into(), &0.into()), "{none}");
    let (mut child, _) = start_until(&project, &["run", "--json", "tk-1"], "agent_spawned");
    until(&project, |read| {
        read["runs"][0]["state"] == "running" && read["status"] == "running" && read["calls_made_this_hour"] == 1
    });
    child.kill().unwrap();
    child.wait().unwrap();
    until(&project, |read| read["runs"][0]["state"] == "interrupted" && read["status"] == "stopped");
    let about = fs::metadata(project.path("status.json")).unwrap();
    assert_eq!(about.mode() & 0o777, 0o600, "for the person alone");
    let inode = about.ino();
    // What cannot be written for a while is written later.
    fs::remove_file(project.path("status.json")).unwrap();
    fs::create_dir(project.path("status.json")).unwrap();
    project.scenario(DILIGENT);
    project.ticket("tk-3", &["Gamma"]);
    ran(&project, &["run", "--json", "tk-3"], 0);
    fs::remove_dir(project.path("status.json")).unwrap();
    project.scenario(DILIGENT);
    project.ticket("tk-2", &["Beta"]);
    ran(&project, &["run", "--json", "tk-2"], 0);
    let read = until(&project, |read| {
        read["exit_reason"] == "project_complete" && read["runs"].as_array().unwrap().len() == 3
    });
    assert_eq!(read["runs"], json(&project, &["status", "--json"]));
    assert_ne!(fs::metadata(project.path("status.json")).unwrap().ino(), inode, "it is replaced, never written over");
    signal(&watch, rustix::process::Signal::INT);
    let ended = watch.wait_with_output().unwrap();
    assert_eq!((ended.status.code(), ended.stderr.len()), (Some(0), 0));
    let left = fs::read_dir(project.path(""))
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().starts_with(".tmp"));
    assert_eq!(left.count(), 0);
    said(&project, &["status", "--watch-file", "../none/status.json"], 1);
    let inside = project.command(&["status", "--watch-file", "x"]).env("PROGRAMMATOR_RUN_ID", "r").output().unwrap();
    assert_eq!(inside.status.code(), Some(77));
}
