//! The parts of the documentation that are made from the tables of the program.

use super::{hold, read};
use programmator::config::key::{FromProject, KEYS, Kind};
use programmator::domain::import::counterparts;
use programmator::domain::outcome::ExitReason;
use programmator::domain::settings::Settings;
use programmator::orchestrator::guards::GUARDS;
use programmator::orchestrator::prompt::PromptContext;
use programmator::tui::command;
use programmator::tui::theme::role::Role;
use regex::Regex;
use std::collections::BTreeMap;
use std::fmt::Write as _;

#[test]
fn the_tables_of_the_documentation_are_those_of_the_program() {
    let parts: [(&str, &str, String); 10] = [
        ("docs/keys.md", "keys", command::markdown_table()),
        ("docs/configuration.md", "config", config()),
        ("docs/configuration.md", "build variables", in_words(&build_variables())),
        ("docs/limits.md", "guards", guards()),
        ("docs/automation.md", "record kinds", in_words(&variants(&read("src/domain/record.rs"), "pub enum Record {"))),
        ("docs/automation.md", "exit codes", exit_codes()),
        ("docs/prompts.md", "prompt variables", in_words(&prompt_variables())),
        ("docs/themes.md", "roles", roles()),
        ("docs/architecture.md", "architecture", architecture()),
        ("docs/coming-from.md", "counterparts", counterparts::markdown()),
    ];
    let mut pages: BTreeMap<&str, String> = BTreeMap::new();
    for (page, name, wanted) in parts {
        let text = pages.entry(page).or_insert_with(|| read(page));
        let (begin, end) = (format!("<!-- made: {name} -->\n"), "<!-- /made -->");
        let (before, rest) = text.split_once(&begin).unwrap_or_else(|| panic!("{page} has no {begin}"));
        let (_, after) = rest.split_once(end).unwrap_or_else(|| panic!("{begin} has no end"));
        *text = format!("{before}{begin}{wanted}{end}{after}");
    }
    for (page, text) in pages {
        hold(page, &text);
    }
}

#[test]
fn what_other_programs_have_is_told_by_keys_that_are_there() {
    let span = Regex::new(r"`([a-z]+\.[a-z_]+)`").unwrap();
    for row in counterparts::COUNTERPARTS {
        let named = span.captures_iter(row.ours).map(|hit| hit[1].to_owned());
        for key in named.chain(row.key.map(str::to_owned)) {
            let is_key = KEYS.iter().any(|row| row.name == key);
            let is_file = ["config.yaml", "programmator.log", "policy.json"].contains(&key.as_str());
            assert!(is_key || is_file, "{}: there is no key {key}", row.theirs);
        }
    }
    // What their users configured; each name once.
    for name in [
        "hank-setup", "hank-enable", "hank-enable-ci", "hank-import", "hank-migrate", "hank-monitor",
        "--reset-circuit", "--no-continue", ".hank/PROMPT.md", ".hank/fix_plan.md", ".hank/AGENT.md", ".hank/specs/",
        "MAX_CALLS_PER_HOUR", "CLAUDE_OUTPUT_FORMAT", "CLAUDE_ALLOWED_TOOLS", "CLAUDE_USE_CONTINUE",
        "CLAUDE_MIN_VERSION", "ALLOWED_TOOLS", "CB_NO_PROGRESS_THRESHOLD", "CB_SAME_ERROR_THRESHOLD",
        "CB_OUTPUT_DECLINE_THRESHOLD", "CB_PERMISSION_DENIAL_THRESHOLD", "TEST_PERCENTAGE_THRESHOLD",
        "MAX_CONSECUTIVE_TEST_LOOPS", "MAX_CONSECUTIVE_DONE_SIGNALS", "autoclaude init", "autoclaude run",
        "autoclaude resume", "autoclaude status", "state.json", "TODO.md", "critic_verdict.md", "current_todo.txt",
        "baseline.json", "/claude-afk:setup", "/claude-afk:enable", "/claude-afk:status", "CLAUDE_AFK_TELEGRAM_TOKEN",
        "CLAUDE_AFK_DEBUG", "alwaysEnabled", "retryInterval", "maxRetries", "permissionTimeout", "stopFollowupTimeout",
        "staleUpdateThreshold", "pollingInterval", "allowSinglePendingFallback", "bulkApprovalTools",
        "transcriptPolling", "PROGRAMMATOR_MAX_ITERATIONS", "PROGRAMMATOR_STAGNATION_LIMIT", "PROGRAMMATOR_TIMEOUT",
        "PROGRAMMATOR_CLAUDE_FLAGS", "TICKETS_DIR", "policy.json", "SOUL.md", "mypassphrase", "ANTHROPIC_API_KEY",
    ] {
        assert!(counterparts::COUNTERPARTS.iter().any(|row| row.theirs.contains(name)), "nothing tells of {name}");
    }
}

/// The front page of the crate without its links, its headings one level down.
fn architecture() -> String {
    let link = Regex::new(r"\[([^\]]+)\]\([a-z_]+(?:::[A-Za-z_]+)*\)|\[(`[a-z]+`)\]").unwrap();
    let page = read("src/lib.rs");
    let lines = page.lines().map_while(|line| line.strip_prefix("//!"));
    let lines = lines.map(|line| line.strip_prefix(' ').unwrap_or(line));
    let down = |line: &str| if line.starts_with("# ") { format!("#{line}\n") } else { format!("{line}\n") };
    link.replace_all(&lines.map(down).collect::<String>(), "$1$2").into_owned()
}

fn config() -> String {
    let mut out =
        String::from("| key | default | what | environment | a project may set it |\n|---|---|---|---|---|\n");
    for row in KEYS {
        let default = row.builtin().map_or_else(|| "–".to_owned(), |value| format!("`{}`", value.show()));
        let range = match row.kind {
            Kind::Whole(least, most) => format!(" ({least}–{most})"),
            _ => String::new(),
        };
        let env = row.env.map_or_else(|| "–".to_owned(), |name| format!("`{name}`"));
        let project = match row.from_project {
            FromProject::Always => "yes",
            FromProject::WhenTrusted => "when trusted",
            FromProject::Never => "no",
        };
        let _ = writeln!(out, "| `{}` | {default} | {}{range} | {env} | {project} |", row.name, row.doc);
    }
    out
}

fn guards() -> String {
    let mut out = String::from("| guard | stops after | limit | key |\n|---|---|---|---|\n");
    for guard in GUARDS {
        let row = KEYS.iter().find(|row| row.name == guard.key);
        let row = row.unwrap_or_else(|| panic!("{} has no key {}", guard.name, guard.key));
        let limit = row.builtin().map(|value| value.show()).unwrap_or_default();
        let _ = writeln!(out, "| {} | {} | {limit} | `{}` |", guard.name, guard.doc, guard.key);
    }
    out
}

fn exit_codes() -> String {
    let meanings = [
        (0, "complete"),
        (1, "failed"),
        (2, "wrong usage or configuration; nothing was started"),
        (3, "needs you"),
        (4, "stopped by a guard or a limit"),
        (5, "stopped by you, or its terminal was closed"),
        (75, "the ticket is in use by another program"),
        (77, "not allowed inside a run; use a shell of your own"),
        (129, "terminal closed (SIGHUP)"),
        (130, "SIGINT"),
        (141, "output closed (`… \\| head`)"),
        (143, "SIGTERM"),
    ];
    let mut reasons: BTreeMap<u8, Vec<String>> = BTreeMap::new();
    for reason in ExitReason::ALL {
        reasons.entry(reason.exit_code()).or_default().push(format!("`{}`", reason.word()));
    }
    let mut out = String::from("| code | means | `reason` in `run_ended` |\n|---|---|---|\n");
    for (code, meaning) in meanings {
        let reasons = reasons.remove(&code).unwrap_or_default().join(", ");
        let _ = writeln!(out, "| {code} | {meaning} | {reasons} |");
    }
    assert!(reasons.is_empty(), "exit codes that nobody explains: {reasons:?}");
    out
}

fn build_variables() -> Vec<String> {
    let list = read("src/adapters/build_variables.txt");
    let lines = list.lines().filter(|line| !line.starts_with('#'));
    lines.flat_map(str::split_whitespace).map(str::to_owned).collect()
}

fn prompt_variables() -> Vec<String> {
    let context = serde_json::to_value(PromptContext::default()).unwrap();
    context.as_object().unwrap().keys().cloned().collect()
}

fn roles() -> String {
    let mut groups: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for key in Role::WORDS {
        let (group, name) = key.split_once('.').unwrap_or(("", key));
        groups.entry(group).or_default().push(format!("`{}`", if group.is_empty() { name } else { key }));
    }
    groups.into_values().fold(String::new(), |out, keys| out + "- " + &keys.join(" ") + "\n")
}

fn in_words(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(" ") + "\n"
}

/// The variants of an enum in a source file, as serde writes them.
fn variants(source: &str, head: &str) -> Vec<String> {
    let body = source.split_once(head).unwrap_or_else(|| panic!("no `{head}`")).1;
    let lines = body.lines().take_while(|line| *line != "}");
    let names = lines.filter_map(|line| line.strip_prefix("    ").filter(|line| line.starts_with(char::is_uppercase)));
    names.map(|line| snake(line.split(['(', ' ', ',']).next().unwrap_or_default())).collect()
}

fn snake(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.extend(c.to_lowercase());
    }
    out
}

#[test]
fn the_defaults_of_the_table_are_those_of_a_run() {
    let settings = Settings::default();
    let table = config();
    for (key, value) in [
        ("limits.max_iterations", u64::from(settings.max_iterations)),
        ("limits.iteration_timeout", settings.iteration_timeout),
        ("validation.timeout", settings.validation_timeout),
    ] {
        assert!(table.contains(&format!("| `{key}` | `{value}` |")), "{key}\n{table}");
    }
}
