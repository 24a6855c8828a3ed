//! Every command is told about, and every command line that is shown can be typed.

use super::documentation;
use clap::{CommandFactory, Parser};
use programmator::cli::Cli;
use programmator::config::key::KEYS;
use regex::Regex;

/// The paths of all commands that can be called: `run`, `ticket list`, …
fn leaves(command: &clap::Command, path: &str, out: &mut Vec<String>) {
    let inner: Vec<_> =
        command.get_subcommands().filter(|one| !one.is_hide_set() && one.get_name() != "help").collect();
    if inner.is_empty() && !path.is_empty() {
        out.push(path.to_owned());
    }
    for one in inner {
        leaves(one, format!("{path} {}", one.get_name()).trim(), out);
    }
}

fn all_leaves() -> Vec<String> {
    let mut out = Vec::new();
    leaves(&Cli::command(), "", &mut out);
    out
}

/// Where command lines stand in a text, besides in `code`.
#[derive(Clone, Copy)]
enum Stand {
    /// Between fences, as in the documentation.
    Fenced,
    /// Indented, as in the help; an explanation may follow after two blanks.
    Indented,
}

fn lines_of(text: &str, stand: Stand) -> Vec<String> {
    let span = Regex::new(r"`(programmator [^`]+)`").unwrap();
    let command = Regex::new(r"^(?:[A-Z_]+=\S+ )*programmator( |$)").unwrap();
    // `programmator run` in a sentence names the command; nobody is told to type just that.
    let names: Vec<String> = all_leaves().iter().map(|path| format!("programmator {path}")).collect();
    let spans = span.captures_iter(text).map(|hit| hit[1].to_owned());
    let mut found: Vec<String> = spans.filter(|line| !names.contains(line)).collect();
    let lines: Vec<&str> = match stand {
        Stand::Fenced => text.split("```").skip(1).step_by(2).flat_map(str::lines).collect(),
        Stand::Indented => text
            .lines()
            .filter_map(|line| line.strip_prefix("  "))
            .map(|line| line.split("  ").next().unwrap_or_default())
            .collect(),
    };
    let lines = lines.into_iter().map(|line| line.replace("cargo run --release --", "programmator"));
    found.extend(lines.filter(|line| command.is_match(line)));
    found
}

/// The words up to a comment, a pipe or a redirection.
fn words(line: &str) -> Vec<String> {
    let ends = ["#", "|", ">", "&&", ";"];
    let split = programmator::config::flags::split(line).unwrap();
    let words = split.into_iter().skip_while(|word| word.contains('=') && !word.starts_with('-'));
    words.take_while(|word| !ends.contains(&word.as_str())).collect()
}

/// Why a line cannot be typed as it stands there.
fn fault(line: &str) -> Option<String> {
    match Cli::try_parse_from(words(line)) {
        Err(error) if error.exit_code() != 0 => Some(error.to_string()),
        Err(_) => None,
        // A mistyped command would be taken for a ticket.
        Ok(cli) => {
            let odd = cli.tickets.iter().find(|ticket| !ticket.contains(['-', '.', '<', '…', '/']));
            odd.map(|ticket| format!("`{ticket}` is no command and no likely ticket"))
        }
    }
}

#[test]
fn the_documentation_tells_of_every_command() {
    let text = documentation();
    let leaves = all_leaves();
    assert!(leaves.len() >= 14, "{leaves:?}");
    for path in leaves {
        assert!(text.contains(&format!("programmator {path}")), "no page tells of `programmator {path}`");
    }
}

#[test]
fn every_command_line_that_is_shown_can_be_typed() {
    let written = lines_of(&documentation(), Stand::Fenced);
    assert!(written.len() > 15, "only {} command lines were found", written.len());
    let mut pages = vec![Cli::command()];
    let mut help = Vec::new();
    while let Some(page) = pages.pop() {
        pages.extend(page.get_subcommands().cloned());
        for text in [page.get_after_help(), page.get_after_long_help(), page.get_long_about()].into_iter().flatten() {
            help.extend(lines_of(&text.to_string(), Stand::Indented));
        }
    }
    assert!(help.len() > 20, "only {} examples in the help", help.len());
    let faults: Vec<String> =
        written.iter().chain(&help).filter_map(|line| fault(line).map(|why| format!("{line}\n  {why}"))).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_line_that_cannot_be_typed_is_caught() {
    for line in ["programmator statsu", "programmator run", "programmator run --jsno tk-1", "programmator restore tk-1"]
    {
        assert!(fault(line).is_some(), "{line}");
    }
    for line in ["programmator tk-1 plan.md", "programmator run --json tk-1 | jq .", "A_B=1 programmator --help"] {
        assert_eq!(fault(line), None, "{line}");
    }
}

#[test]
fn every_page_of_the_help_says_enough() {
    let mut pages = vec![("programmator".to_owned(), Cli::command())];
    let mut seen = 0;
    while let Some((path, page)) = pages.pop() {
        let inner = page.get_subcommands().filter(|one| !one.is_hide_set() && one.get_name() != "help");
        pages.extend(inner.map(|one| (format!("{path} {}", one.get_name()), one.clone())));
        let about = page.get_about().map(ToString::to_string).unwrap_or_default();
        assert!(!about.is_empty() && !about.ends_with('.'), "{path}: “{about}”");
        let example = page.get_after_help().or(page.get_after_long_help());
        let example = example.map(ToString::to_string).unwrap_or_default();
        assert!(page.has_subcommands() || example.contains(&path), "{path} has no example");
        for argument in page.get_arguments().filter(|one| !one.is_hide_set()) {
            assert!(argument.get_help().is_some(), "{path}: {} has no help", argument.get_id());
        }
        seen += 1;
    }
    assert!(seen >= 16, "{seen}");
}

#[test]
fn the_long_help_tells_exit_codes_and_environment() {
    let help = Cli::command().render_long_help().to_string();
    for variable in KEYS
        .iter()
        .filter_map(|row| row.env)
        .chain(["PROGRAMMATOR_STATE_DIR", "PROGRAMMATOR_CONFIG_DIR", "PROGRAMMATOR_LOG", "NO_COLOR"])
    {
        assert!(help.contains(variable), "--help does not tell of {variable}");
    }
    let at = help.find("Exit codes:").unwrap();
    for code in ["0", "1", "2", "3", "4", "5", "75", "129"] {
        assert!(
            help[at..].lines().any(|line| line.split_whitespace().next() == Some(code)),
            "--help lacks exit {code}"
        );
    }
}

/// The workflow that the documentation gives to copy.
#[test]
fn the_workflow_to_copy_is_yaml_and_its_commands_can_be_typed() {
    #[derive(serde::Deserialize)]
    struct Workflow {
        on: String,
        jobs: std::collections::BTreeMap<String, Job>,
    }
    #[derive(serde::Deserialize)]
    struct Job {
        steps: Vec<Step>,
    }
    #[derive(serde::Deserialize)]
    struct Step {
        run: Option<String>,
    }
    let text = documentation();
    let shown: Vec<&str> = text.split("```yaml\n").skip(1).filter(|block| block.contains("runs-on:")).collect();
    let [shown] = shown[..] else { panic!("{} workflows", shown.len()) };
    let workflow: Workflow = serde_yaml::from_str(shown.split("```").next().unwrap()).unwrap();
    assert_eq!(workflow.on, "pull_request");
    let runs = workflow.jobs.values().flat_map(|job| &job.steps).filter_map(|step| step.run.as_deref());
    let ours: Vec<&str> = runs.filter(|run| run.starts_with("programmator ")).collect();
    assert_eq!(ours.len(), 1, "{ours:?}");
    assert_eq!(fault(ours[0]), None);
    assert!(!ours[0].contains("${{"), "what a branch is called would be run: {}", ours[0]);
}
