//! A run that is stopped while a tool of Claude's refuses to go: nobody is left.

use crate::messages_stub::Reply;
use crate::program::{Bench, Told, honest};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use std::time::{Duration, Instant};

/// A Bash that ignores TERM and INT, with a grandchild in a session of its own.
pub const STUBBORN: &str = "setsid sh -c 'trap \"\" TERM INT HUP; touch grandchild; while :; do sleep 1; done' & \
                            trap '' TERM INT; touch child; while :; do sleep 1; done";

/// A run whose Claude is deep in [`STUBBORN`].
fn stubborn() -> Bench {
    let bench = Bench::new(&["Do it"]);
    bench.script([Reply::tool("Bash", json!({"command": STUBBORN}))]);
    bench
}

/// The processes of the tool run.
fn until_at_work(bench: &Bench) {
    bench.wait_for_file("child");
    bench.wait_for_file("grandchild");
    assert!(bench.survivors().len() >= 3, "Claude and both children: {:?}", bench.survivors());
}

#[test]
fn a_terminated_program_leaves_nobody_behind() {
    let bench = stubborn();
    let program = bench.start();
    until_at_work(&bench);
    let begun = Instant::now();
    kill_process(Pid::from_raw(i32::try_from(program.id()).unwrap()).unwrap(), Signal::TERM).unwrap();
    let told = Told::new(&program.wait_with_output().unwrap());
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    told.ended(143, "user_stopped");
    // Who ends the grandchild depends on the version and on who is first: Claude itself, or the sweep behind it.
    assert_eq!(bench.project.processes(), Vec::<String>::new());
    assert!(!told.of("agent_exited").is_empty(), "Claude's end was waited for");
}

#[cfg(target_os = "linux")]
#[test]
fn the_children_of_a_killed_program_are_swept_by_the_next() {
    let bench = stubborn();
    let mut program = bench.start();
    until_at_work(&bench);
    program.kill().unwrap();
    program.wait().unwrap();
    bench.script(honest(&bench, "Do it", "a.txt"));
    let told = Told::new(&bench.command(&["resume", "--json"]).output().unwrap());
    told.ended(0, "complete");
    assert!(bench.asked(1).contains("touch grandchild"), "the conversation goes on where it was cut off");
    assert_eq!(bench.project.processes(), Vec::<String>::new());
}
