//! The demo's script on the demo's repository, driven by the smallest loop that behaves like the real one.

use super::host::{Agent, FLAGS};
use programmator::demo::repository::{self, DemoRepository};
use std::process::Command;
use std::time::{Duration, Instant};

const PHASES: [&str; 4] = [
    "Greet a person by name", "Speak German and French", "Refuse a language that it does not know",
    "Describe it all in the README",
];

/// The ticket with the first `done` phases ticked, and the phase to work on.
fn prompt(done: usize) -> String {
    let ticked = repository::TICKET
        .lines()
        .scan(0, |boxes, line| {
            let ticked = line.starts_with("- [ ] ") && *boxes < done;
            *boxes += usize::from(line.starts_with("- [ ] "));
            Some(if ticked { line.replacen("[ ]", "[x]", 1) } else { line.to_owned() })
        })
        .collect::<Vec<_>>()
        .join("\n");
    format!("{ticked}\n\nCurrent phase: {}\n\nEnd with a PROGRAMMATOR_STATUS block.", PHASES[done])
}

fn start(demo: &DemoRepository) -> Agent {
    let folder = &demo.paths.folder;
    let command = demo.agent_command("programmator".as_ref(), 0.02);
    let own: Vec<&str> = command[2..].iter().map(String::as_str).collect();
    // The first two words are the program and the subcommand; the helper's own `--state` is overridden.
    let mut agent = Agent::start_with(folder, &[&own, FLAGS].concat());
    agent.initialize();
    agent
}

/// One iteration: everything Claude said in the last turn.
fn iterate(agent: &mut Agent, prompt: &str) -> String {
    agent.prompt(prompt);
    let records = agent.until("result");
    let texts = records.iter().filter_map(|record| record["message"]["content"][0]["text"].as_str());
    texts.collect::<Vec<_>>().join("")
}

/// What the critic says of the first phase.
fn reviewed(demo: &DemoRepository) -> String {
    let mut agent = start(demo);
    let asked = prompt(0).replace("End with a PROGRAMMATOR_STATUS block.", "verdict: <APPROVED or NEEDS_FIXES>");
    let said = iterate(&mut agent, &asked);
    assert_eq!(agent.finish().code, Some(0));
    said
}

fn holds(demo: &DemoRepository) -> bool {
    Command::new("sh").arg("test.sh").current_dir(&demo.paths.folder).output().unwrap().status.success()
}

#[test]
fn four_phases_with_a_rejected_one_a_forgotten_block_and_a_false_claim() {
    let begun = Instant::now();
    let demo = repository::create(&std::env::temp_dir()).unwrap();
    let (mut done, mut story) = (0, Vec::new());
    for _ in 0..8 {
        let mut agent = start(&demo);
        let mut text = iterate(&mut agent, &prompt(done));
        if !text.contains("PROGRAMMATOR_STATUS:") {
            story.push(format!("{done} forgot"));
            text = iterate(&mut agent, "Answer with the PROGRAMMATOR_STATUS block only.");
        }
        assert_eq!(agent.finish().code, Some(0));
        assert!(text.contains(&format!("phase_completed: \"{}\"", PHASES[done])), "{text}");
        assert_eq!(text.contains("status: DONE"), done == 3);
        if holds(&demo) {
            if done == 0 {
                let said = reviewed(&demo);
                assert!(said.contains("NEEDS_FIXES") && said.contains("Ada Lovelace"), "{said}");
                let mut agent = start(&demo);
                let said = iterate(&mut agent, &format!("Fix what a review found in it.\n{}", prompt(0)));
                assert!(said.contains("phase_completed: \"Greet a person by name\""), "{said}");
                assert_eq!(agent.finish().code, Some(0));
                assert!(holds(&demo) && reviewed(&demo).contains("APPROVED"));
                story.push("0 rejected".to_owned());
            }
            done += 1;
        } else {
            story.push(format!("{done} disputed"));
        }
        if done == PHASES.len() {
            break;
        }
    }
    assert_eq!((done, story), (4, ["0 rejected", "1 forgot", "2 disputed"].map(str::to_owned).to_vec()));
    assert!(begun.elapsed() < Duration::from_secs(60), "it hangs somewhere: {:?}", begun.elapsed());
    let folder = demo.paths.folder.clone();
    drop(demo);
    assert!(!folder.exists());
}

#[test]
fn a_run_killed_anywhere_goes_on_to_the_same_end() {
    let demo = repository::create(&std::env::temp_dir()).unwrap();
    let mut done = 0;
    // Each life is killed one tool call later than the one before.
    for calls in 0..40 {
        let mut agent = start(&demo);
        agent.prompt(&prompt(done));
        let mut left = calls % 7;
        let finished = loop {
            let record = agent.next();
            if record["type"] == "result" {
                break true;
            }
            if record["request"]["subtype"] == "hook_callback" {
                if left == 0 {
                    agent.signal("KILL");
                    break false;
                }
                left -= 1;
                agent.decide(&record, "allow");
            }
        };
        if finished && holds(&demo) {
            done += 1;
        }
        if done == PHASES.len() {
            break;
        }
    }
    assert_eq!(done, 4);
    let script = std::fs::read_to_string(demo.paths.folder.join("greet.sh")).unwrap();
    let checks = std::fs::read_to_string(demo.paths.folder.join("test.sh")).unwrap();
    assert_eq!(script.matches("shift 2").count(), 1, "no edit was made twice:\n{script}");
    assert_eq!(checks.matches("\ncheck ").count(), 5, "{checks}");
}
