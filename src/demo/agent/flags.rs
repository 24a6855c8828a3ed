//! The command line: every flag of the real CLI is taken, those that matter here are kept.
//!
//! Three flags are the double's own: `--scenario FILE`, `--pace FACTOR` (0 = no waiting) and `--state DIR`
//! (sessions, instead of `$CLAUDE_CONFIG_DIR` or `~/.claude`). They may also come as `PROGRAMMATOR_SCENARIO`,
//! `PROGRAMMATOR_DEMO_PACE` and `PROGRAMMATOR_DEMO_STATE`; flags win, since programmator passes on a short
//! list of variables only.

use super::dialect::Dialect;
use std::path::PathBuf;

const ONE: &[&str] = &[
    "--agent", "--agents", "--append-system-prompt", "--append-system-prompt-file", "--debug-file", "--effort",
    "--fallback-model", "--input-format", "--json-schema", "--max-budget-usd", "--max-thinking-tokens", "--max-turns",
    "--model", "--name", "-n", "--output-format", "--permission-mode", "--permission-prompt-tool", "--plugin-dir",
    "--plugin-url", "--session-id", "--setting-sources", "--settings", "--system-prompt", "--system-prompt-file",
    "--system-prompt-snapshot", "--scenario", "--pace", "--state",
];
/// Those of them that only the later version knows.
const NEWER: &[&str] = &["--system-prompt-snapshot"];
/// Flags whose value may be missing.
const MAYBE: &[&str] = &["--resume", "-r", "--debug", "-d", "--worktree", "-w", "--from-pr", "--prompt-suggestions"];
/// Flags that take words up to the next flag.
const MANY: &[&str] = &[
    "--add-dir", "--allowedTools", "--allowed-tools", "--disallowedTools", "--disallowed-tools", "--tools", "--betas",
    "--mcp-config", "--file",
];
const NONE: &[&str] = &[
    "-p", "--print", "--verbose", "--include-partial-messages", "--include-hook-events", "--replay-user-messages",
    "--strict-mcp-config", "--dangerously-skip-permissions", "--allow-dangerously-skip-permissions", "--bare",
    "--safe-mode", "--continue", "-c", "--fork-session", "--no-session-persistence", "--disable-slash-commands",
    "--ide", "--brief", "--chrome", "--no-chrome", "--exclude-dynamic-system-prompt-sections",
];

/// What the command line asks for.
#[derive(Debug, PartialEq)]
pub enum Parsed {
    /// Print the version of this scenario's CLI and end.
    Version(Option<PathBuf>),
    /// Print which flags this scenario's CLI knows and end.
    Help(Option<PathBuf>),
    /// Say whether this scenario's CLI is logged in and end.
    Login(Option<PathBuf>),
    /// Refused, with what the real CLI prints on stderr.
    Refused(String),
    Run(Box<Flags>),
    /// Without `-p`: a person drives it.
    Driven(Box<Flags>),
}

/// The flags that change what the double does.
// Each of the five stands for a flag without a value.
#[allow(clippy::struct_excessive_bools)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Flags {
    pub resume: Option<String>,
    pub session_id: Option<String>,
    /// `--model`, an alias or a full name.
    pub model: Option<String>,
    /// `--permission-mode`; `None`: `default`.
    pub mode: Option<String>,
    pub skip_permissions: bool,
    /// `--permission-prompt-tool stdio`.
    pub asks_host: bool,
    pub partial: bool,
    pub replay: bool,
    pub forgets: bool,
    /// `--settings`, JSON text or a file.
    pub settings: Option<String>,
    /// A flag that only the later version knows.
    pub newer: Option<String>,
    /// The prompt as an argument, when stdin is not `stream-json`.
    pub prompt: Option<String>,
    /// The scenario's file; `None`: the demo.
    pub scenario: Option<PathBuf>,
    /// Factor on every pause of the script; `None`: 0 with a scenario, 1 for the demo.
    pub pace: Option<f64>,
    /// Where sessions are remembered; `None`: where Claude does.
    pub state: Option<PathBuf>,
}

/// Every flag that this version knows, but the double's own, as `--help` lists it.
pub fn help(dialect: Dialect) -> String {
    let own = ["--scenario", "--pace", "--state"];
    let known = |flag: &&&str| !own.contains(*flag) && (dialect.is_newer() || !NEWER.contains(*flag));
    let listed = [(ONE, " <value>"), (MAYBE, " [value]"), (MANY, " <values...>"), (NONE, "")].into_iter();
    let lines =
        listed.flat_map(|(flags, value)| flags.iter().filter(known).map(move |flag| format!("  {flag}{value}\n")));
    format!("Usage: claude [options] [command] [prompt]\n\nOptions:\n{}", lines.collect::<String>())
}

/// Reads `args` (without the program's name) and the double's own variables.
pub fn parse(args: &[String]) -> Parsed {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let mut flags = Flags {
        scenario: variable("PROGRAMMATOR_SCENARIO").map(PathBuf::from),
        pace: variable("PROGRAMMATOR_DEMO_PACE").and_then(|pace| pace.parse().ok()),
        state: variable("PROGRAMMATOR_DEMO_STATE").map(PathBuf::from),
        ..Flags::default()
    };
    let (mut input, mut output, mut verbose, mut print) = (None, None, false, false);
    let mut about: Option<fn(Option<PathBuf>) -> Parsed> = None;
    let mut words = args.iter().map(String::as_str).peekable();
    while let Some(word) = words.next() {
        if word == "status" && flags.prompt.as_deref() == Some("auth") {
            about = about.or(Some(Parsed::Login));
        }
        if !word.starts_with('-') {
            flags.prompt = Some(word.to_owned());
            continue;
        }
        let (name, mut value) = match word.split_once('=') {
            Some((name, value)) if name.starts_with("--") => (name, Some(value.to_owned())),
            _ => (word, None),
        };
        if ONE.contains(&name) {
            value = value.or_else(|| words.next().map(str::to_owned));
            if value.is_none() {
                return Parsed::Refused(format!("error: option '{name} <value>' argument missing"));
            }
        } else if MAYBE.contains(&name) {
            value = value.or_else(|| words.next_if(|next| !next.starts_with('-')).map(str::to_owned));
        } else if MANY.contains(&name) {
            while words.next_if(|next| !next.starts_with('-')).is_some() {}
        } else if matches!(name, "--version" | "-v") {
            about = about.or(Some(Parsed::Version));
        } else if matches!(name, "--help" | "-h") {
            about = Some(Parsed::Help);
        } else if !NONE.contains(&name) {
            return Parsed::Refused(format!("error: unknown option '{name}'"));
        }
        if NEWER.contains(&name) {
            flags.newer = Some(name.to_owned());
        }
        match name {
            "--settings" => flags.settings = value.filter(|value| !value.is_empty()),
            "--resume" | "-r" => flags.resume = value,
            "--session-id" => flags.session_id = value,
            "--model" => flags.model = value,
            "--permission-mode" => flags.mode = value,
            "--permission-prompt-tool" => flags.asks_host = value.as_deref() == Some("stdio"),
            "--dangerously-skip-permissions" => flags.skip_permissions = true,
            "--include-partial-messages" => flags.partial = true,
            "--replay-user-messages" => flags.replay = true,
            "--no-session-persistence" => flags.forgets = true,
            "--input-format" => input = value,
            "--output-format" => output = value,
            "--verbose" => verbose = true,
            "-p" | "--print" => print = true,
            "--scenario" => flags.scenario = value.map(PathBuf::from),
            "--pace" => flags.pace = value.and_then(|pace| pace.parse().ok()),
            "--state" => flags.state = value.map(PathBuf::from),
            _ => {}
        }
    }
    if let Some(about) = about {
        return about(flags.scenario);
    }
    if !print {
        return Parsed::Driven(Box::new(flags));
    }
    let refusal = if output.as_deref() != Some("stream-json") {
        Some("Error: the scripted agent speaks only -p --output-format stream-json.")
    } else if !verbose {
        Some("Error: When using --print, --output-format=stream-json requires --verbose")
    } else if flags.session_id.as_ref().is_some_and(|id| uuid::Uuid::parse_str(id).is_err()) {
        Some("Error: Invalid session ID. Must be a valid UUID.")
    } else if input.as_deref() != Some("stream-json") && flags.prompt.is_none() {
        Some("Error: Input must be provided either through stdin or as a prompt argument when using --print")
    } else {
        None
    };
    if input.as_deref() == Some("stream-json") {
        flags.prompt = None;
    }
    refusal.map_or_else(|| Parsed::Run(Box::new(flags)), |why| Parsed::Refused(why.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(|word| word.trim_matches('\'').to_owned()).collect()
    }

    #[test]
    fn the_whole_recommended_line_is_taken() {
        let line = "-p --input-format stream-json --output-format stream-json --verbose --include-partial-messages \
                    --permission-mode default --permission-prompt-tool stdio --setting-sources '' --strict-mcp-config \
                    --settings {\"disableAllHooks\":false} --model sonnet --fallback-model opus --max-budget-usd 5 \
                    --append-system-prompt-file F --resume 7fd60360-697a-45fa-a3d1-c6282a565d75 \
                    --disallowedTools A B --replay-user-messages --pace=0.5";
        let Parsed::Run(flags) = parse(&words(line)) else { panic!("refused") };
        assert!(flags.asks_host && flags.partial && flags.replay && !flags.skip_permissions);
        assert_eq!(flags.resume.as_deref(), Some("7fd60360-697a-45fa-a3d1-c6282a565d75"));
        assert_eq!((flags.model.as_deref(), flags.pace), (Some("sonnet"), Some(0.5)));
    }

    #[test]
    fn what_the_real_one_refuses_is_refused() {
        let good = "-p --input-format stream-json --output-format stream-json --verbose";
        for (line, why) in [
            (format!("{good} --no-such-flag"), "unknown option '--no-such-flag'"),
            (format!("{good} --model"), "argument missing"),
            (format!("{good} --session-id nonsense"), "Must be a valid UUID"),
            (good.replace(" --verbose", ""), "requires --verbose"),
            ("-p --output-format stream-json --verbose".to_owned(), "Input must be provided"),
        ] {
            let Parsed::Refused(said) = parse(&words(&line)) else { panic!("taken: {line}") };
            assert!(said.contains(why), "{line}: {said}");
        }
        let given =
            [parse(&words("--version")), parse(&words("--help --scenario=f")), parse(&words("-v --scenario f"))];
        let file = || Some(PathBuf::from("f"));
        assert_eq!(given, [Parsed::Version(None), Parsed::Help(file()), Parsed::Version(file())]);
        assert_eq!(parse(&words("--scenario f auth status")), Parsed::Login(file()));
    }
}
