//! What surrounds a command must not hide it: each evasion of the corpus in fourteen contexts, and wrapping never
//! weakens a verdict.

use super::support::{cases, verdict};
use programmator::domain::profile::Profile;
use programmator::domain::verdict::Verdict;
use programmator::policy::cases::Case;
use serde_json::json;

/// A row is wrapped in each so-manieth context.
const STRIDE: usize = 5;

/// A text as one word of bash.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Ways to surround a command. A newline ends what a comment in the command would swallow, a space keeps `((` from
/// being arithmetic: a here-document in it cannot be read, and is asked about.
pub fn contexts(command: &str) -> Vec<(&'static str, String)> {
    let c = command;
    vec![
        ("after ls;", format!("ls; {c}")),
        ("after &&", format!("ls && {c}")),
        ("in ( )", format!("( {c}\n)")),
        ("in { }", format!("{{ {c}\n}}")),
        ("in $( )", format!("echo \"$({c}\n)\"")),
        ("in <( )", format!("cat <({c}\n)")),
        ("in if", format!("if true; then {c}\nfi")),
        ("in for", format!("for i in 1; do {c}\ndone")),
        ("in a function", format!("f() {{ {c}\n}}; f")),
        ("in bash -c", format!("bash -c {}", quoted(c))),
        ("in xargs sh -c", format!("ls | xargs sh -c {}", quoted(c))),
        ("in a here-document", format!("cat <<END_OF_TEXT\n$({c}\n)\nEND_OF_TEXT")),
        ("after 200 commands", format!("{}{c}", "true && ".repeat(200))),
        ("after 40 kB", format!("{}{c}", ": padding padding padding padding padding;\n".repeat(1000))),
    ]
}

/// A case with another command in the same place.
pub fn lifted(case: &Case, command: &str) -> Case {
    Case { input: json!({ "command": command }), ..case.clone() }
}

fn commands() -> Vec<(String, Verdict, String)> {
    let bash = cases().into_iter().filter(|case| case.tool == "Bash");
    bash.filter_map(|case| Some((case.id, case.expect, case.input.get("command")?.as_str()?.to_owned())))
        // Nothing, and a bracket that closes the context, are no commands that a context could hide.
        .filter(|(_, _, command)| !command.trim().is_empty() && command != "ls )")
        .collect()
}

#[test]
fn no_evasion_is_allowed_in_any_context() {
    let mut judged = 0;
    let mut allowed = Vec::new();
    for (id, _, command) in commands().into_iter().filter(|(id, ..)| id.starts_with("ev-")) {
        for (name, text) in contexts(&command) {
            judged += 1;
            // What stands in a loop, a file or the environment is the case's own; here it is only the text.
            if verdict(Profile::Strict, &text) == Verdict::Allow && verdict(Profile::Strict, &command) != Verdict::Allow
            {
                allowed.push(format!("{id} {name}: {command}"));
            }
        }
    }
    assert!(judged > 3000, "{judged}");
    assert!(allowed.is_empty(), "{} of {judged}\n{}", allowed.len(), allowed.join("\n"));
}

#[test]
fn wrapping_never_weakens() {
    let mut weakened = Vec::new();
    for (nth, (id, _, command)) in commands().into_iter().enumerate() {
        // Each row in some of the contexts, neighbours of one kind in others: each kind is in all.
        let some: Vec<_> = contexts(&command).into_iter().skip(nth % STRIDE).step_by(STRIDE).collect();
        for &profile in Profile::ALL {
            let bare = verdict(profile, &command);
            for (name, text) in &some {
                let wrapped = verdict(profile, text);
                if wrapped < bare {
                    let profile = profile.word();
                    weakened.push(format!("{id} {profile} {name}: {} -> {}: {command}", bare.word(), wrapped.word()));
                }
            }
        }
    }
    assert!(weakened.is_empty(), "{}\n{}", weakened.len(), weakened.join("\n"));
}

#[test]
fn no_context_weakens_what_lists_a_folder_with_secrets() {
    for command in ["cd ~ && find . -type f | xargs cat", "cd ~; find . -type f | xargs cat"] {
        assert_eq!(verdict(Profile::Guarded, command), Verdict::Block, "{command}");
        for (name, text) in contexts(command) {
            assert_eq!(verdict(Profile::Guarded, &text), Verdict::Block, "{name}: {command}");
        }
    }
}

#[test]
fn ordinary_commands_are_allowed_in_ordinary_contexts() {
    let ordinary = ["after ls;", "after &&", "in ( )", "in { }", "in $( )", "in <( )", "in if", "in for", "in bash -c"];
    let mut refused = Vec::new();
    for (id, _, command) in
        commands().into_iter().filter(|(id, expect, _)| id.starts_with("ok-") && *expect == Verdict::Allow)
    {
        for (name, text) in contexts(&command).into_iter().filter(|(name, _)| ordinary.contains(name)) {
            if verdict(Profile::Strict, &text) != Verdict::Allow {
                refused.push(format!("{id} {name}: {text}"));
            }
        }
    }
    // A loop over a folder, a script in quotes: a few rest on what the context changes.
    assert!(refused.len() <= 12, "{}\n{}", refused.len(), refused.join("\n"));
}
