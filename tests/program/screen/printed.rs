//! What the program prints without a screen, on stdout and stderr: whatever arguments, settings, tickets, files and
//! Claude hold, no byte of it that a terminal obeys. One payload, every sink.

use crate::project::Project;
use std::process::Output;

/// A title by 7-bit and by 8-bit OSC, DEL, C1 NEL, a bidirectional override, a tag.
const PAYLOAD: &str = "a\u{1b}]0;owned\u{7}b\u{9d}0;owned\u{9c}c\u{7f}d\u{85}e\u{202e}f\u{e0041}g";

/// The characters of an output that a terminal, or a reader's eye, would take for orders.
fn orders(output: &Output) -> Vec<String> {
    let all = [&output.stdout[..], &output.stderr[..]].concat();
    let text = String::from_utf8_lossy(&all);
    let obeyed = |c: &char| {
        matches!(c, '\0'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{202a}'..='\u{202e}')
            || matches!(c, '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}')
    };
    text.lines().filter(|line| line.chars().any(|c| obeyed(&c))).map(|line| format!("{line:?}")).collect()
}

/// A project in which everything that may hold text from outside holds the payload, after a run.
fn hostile() -> Project {
    let project = Project::new();
    let yaml = PAYLOAD.chars().fold(String::new(), |yaml, c| format!("{yaml}\\U{:08X}", u32::from(c)));
    let front = format!("---\nid: tk-1\nstatus: open\nassignee: \"{yaml}\"\n---\n");
    project.write("work/.tickets/tk-1.md", &format!("{front}# Title {PAYLOAD}\n\n- [ ] Phase {PAYLOAD}\n"));
    project.write("work/.tickets/tk-2.md", &format!("---\nid: [{PAYLOAD}\n---\n# Broken\n"));
    project.write("work/answer.txt", &format!("{PAYLOAD}\nError: {PAYLOAD}\n"));
    project.write("work/cases.jsonl", &format!("{PAYLOAD}\n{{\"command\": \"ls\"}}\n"));
    project.write("work/settings.json", &format!("{{\"permissions\":{{\"allow\":[\"Bash({PAYLOAD})\"]}}}}"));
    project.write(&format!("work/.programmator/prompts/{PAYLOAD}.md"), PAYLOAD);
    project.write("work/.programmator/config.yaml", &format!("screen: {{theme: \"{yaml}\"}}\n"));
    project.write("work/.claude/settings.json", &format!("{{\"x\": \"{PAYLOAD}\"}}"));
    project.scenario(
        "
turns:
  - when: {phase: \"\"}
    steps:
      - say: \"{phase} said\"
      - bash: \"printf '%s' '{phase}'\"
      - write: {path: \"{slug}.txt\", content: \"{phase}\\n\"}
      - status: {}
",
    );
    // Claude names a model, and the session, as it likes.
    let config = project.read("config/config.yaml");
    let model = serde_json::to_string(PAYLOAD).unwrap();
    let model = model.trim_matches('"').replace('\\', "\\\\");
    let script = format!("#!/bin/sh\n\"$@\" | sed -u 's/\"model\":\"[^\"]*\"/\"model\":\"{model}\"/'\n");
    project.write("claude.sh", &script);
    let wrapped = format!("command: [\"sh\", \"{}\", ", project.path("claude.sh").display());
    project.write("config/config.yaml", &config.replace("command: [", &wrapped));
    project
}

#[test]
fn no_sink_passes_on_what_a_terminal_obeys() {
    let project = hostile();
    let p = PAYLOAD;
    let mut bad = Vec::new();
    let mut look = |args: &[&str], env: &[(&str, &str)]| {
        let output = project.command(args).envs(env.iter().copied()).output().unwrap();
        let found = orders(&output);
        if !found.is_empty() {
            bad.push(format!("{args:?} {env:?}\n    {}", found.join("\n    ")));
        }
        output
    };
    let ran = look(&["run", "--json", "-n", "1", "tk-1"], &[]);
    let told = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(told.contains("run_ended"), "{told}{}", String::from_utf8_lossy(&ran.stderr));
    let mut records = told.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let record = records.find(|record| record["title"].is_string()).unwrap();
    assert!(record["title"].as_str().unwrap().starts_with("Title a"), "{record}");

    let rows: &[&[&str]] = &[
        // What cannot be understood is said with the words that were typed.
        &[&format!("--no{p}")],
        &[p],
        &["-C", p],
        &["run", "--max-iterations", p, "tk-1"],
        &["run", "--model", p, "tk-1", p],
        &["run", "--theme", p, "tk-1"],
        &["run", "--json", p],
        &["run", p],
        &["completions", p],
        &["config", p],
        &["policy", "check", "--tool", p, "--input", p],
        &["policy", "check", p, p],
        &["policy", "check", "--json", p],
        &["policy", "test", p],
        &["policy", "check", "--profile", p, p],
        &["policy", "why", p],
        &["policy", "import", p],
        &["resume", p],
        &["resume", "--json", p],
        &["logs", p],
        &["logs", "--json", p],
        &["status", p],
        &["replay", p],
        &["restore", "tk-1", p],
        &["restore", p, "1"],
        &["snapshots", p],
        &["ticket", "show", p],
        &["ticket", p],
        &["session", "show", p],
        &["session", "reset", p],
        &["circuit", "reset", p],
        &["parse", "status", p],
        &["parse", "errors", "--rule", p],
        &["help", p],
        // What is there, shown.
        &["logs", "tk-1"],
        &["logs", "--json", "tk-1"],
        &["status"],
        &["status", "--json"],
        &["status", "tk-1"],
        &["status", "--json", "tk-1"],
        &["run", "-n", "1", "tk-1"],
        &["ticket", "list"],
        &["ticket", "show", "tk-1"],
        &["ticket", "list", "--phases"],
        &["ticket", "show", "--phases", "tk-1"],
        &["ticket", "show", "--json", "tk-1"],
        &["ticket", "query"],
        &["ticket", "tree"],
        &["ticket", "close", p],
        &["ticket", "show", "tk-2"],
        &["run", "tk-2"],
        &["snapshots", "tk-1"],
        &["restore", "tk-1", "1"],
        &["session", "show"],
        &["session", "show", "--json"],
        &["circuit", "status"],
        &["circuit", "status", "--json"],
        &["parse", "status", "answer.txt"],
        &["parse", "status", "--json", "answer.txt"],
        &["parse", "errors", "answer.txt"],
        &["parse", "errors", "--json", "answer.txt"],
        &["policy", "test", "cases.jsonl"],
        &["policy", "import", "--print", "settings.json"],
        &["policy", "show"],
        &["config", "show"],
        &["doctor"],
        &["trust"],
        &["ticket", "new", p],
        &["completions", "bash"],
        &["completions", "zsh"],
        &["completions", "fish"],
        &["--help"],
        &["run", "--help"],
        &["--version"],
    ];
    for args in rows {
        look(args, &[]);
    }
    // Settings and folders by the environment.
    let folder = format!("/nowhere/{p}");
    let names = ["TICKETS_DIR", "HOME", "PROGRAMMATOR_STATE_DIR", "PROGRAMMATOR_CONFIG_DIR", "PATH", "USER", "EDITOR"];
    let settings = [
        "PROGRAMMATOR_AGENT_MODEL", "PROGRAMMATOR_SCREEN_THEME", "PROGRAMMATOR_RUN_MAX_ITERATIONS", "PROGRAMMATOR_LOG",
    ];
    for name in names.into_iter().chain(settings) {
        for args in [&["doctor"][..], &["config", "show"], &["run", "tk-1"]] {
            look(args, &[(name, &folder)]);
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
    assert!(told.contains("\\u009d"), "the payload is there, escaped: {told}");
}
