//! `programmator policy check|test|show|import`: what the gate would decide, and why. Nothing is run.
//!
//! `edit` changes the person's file, `why` looks at what was decided in a run, `replay` decides it again and `learn`
//! proposes rules from it.

mod cases;
mod edit;
mod explain;
mod import;
mod learn;
mod recorded;
mod replay;
mod why;

use super::error::CliError;
use super::help;
use super::in_force::{in_force, profile, real, tickets};
use super::session::Session;
use crate::adapters::policy_files;
use crate::base::text::clean_line;
use crate::domain::verdict::Verdict;
use crate::policy::engine::Policy;
use crate::policy::place::Place;
use crate::runtime::policy_engine::{Person, claudes_paths};
use clap::{Args, Subcommand};
use explain::Look;
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};

/// What can be asked of the gate.
#[derive(Debug, Subcommand)]
pub enum PolicyCommand {
    /// Show the verdict on a command or a tool call, and why. Nothing is run.
    #[command(after_help = help::POLICY_CHECK)]
    Check(Check),
    /// Test the policy with a file of cases; print each mismatch.
    #[command(after_help = help::POLICY_TEST)]
    Test {
        /// One case per line: id, tool, input, cwd, expect, never, fs.
        file: PathBuf,
        /// The profile to test: strict, guarded, trusted or `read_only`.
        #[arg(long, value_name = "NAME", default_value = "guarded")]
        profile: String,
    },
    /// List the rules that apply here, in order.
    #[command(after_help = help::POLICY_SHOW)]
    Show {
        /// The profile: strict, guarded, trusted or `read_only`.
        #[arg(long, value_name = "NAME")]
        profile: Option<String>,
    },
    /// Edit your policy file in $EDITOR; it is checked before it is saved.
    #[command(after_help = help::POLICY_EDIT)]
    Edit,
    /// Explain the decision about a call.
    #[command(after_help = help::POLICY_WHY)]
    Why {
        /// Claude's id of the call, or a unique part of it.
        request: String,
    },
    /// Judge the calls of a run again, by your current rules or another file.
    #[command(after_help = help::POLICY_REPLAY)]
    Replay(replay::Replay),
    /// Suggest rules from what you have allowed in earlier runs; saves nothing.
    #[command(after_help = help::POLICY_LEARN)]
    Learn(learn::Learn),
    /// Import Clanker's policy.json and its passphrase.
    #[command(after_help = help::POLICY_IMPORT)]
    Import {
        /// Its file.
        file: PathBuf,
        /// Only print the imported rules; save nothing.
        #[arg(long)]
        print: bool,
    },
}

/// What is to be judged, and by what.
#[derive(Debug, Args)]
pub struct Check {
    /// A Bash command.
    #[arg(allow_hyphen_values = true, required_unless_present = "tool")]
    pub command: Option<String>,
    /// A tool other than Bash.
    #[arg(long, value_name = "NAME", requires = "input", conflicts_with = "command")]
    pub tool: Option<String>,
    /// The tool's input.
    #[arg(long, value_name = "JSON", requires = "tool")]
    pub input: Option<String>,
    /// The working directory to judge it in [default: the current one].
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// Use only this profile: strict, guarded, trusted or `read_only`.
    #[arg(long, value_name = "NAME", conflicts_with = "policy")]
    pub profile: Option<String>,
    /// Use only this policy file.
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// Answers, and says the program's exit code.
pub fn run(out: &mut dyn Write, session: &Session, command: &PolicyCommand) -> Result<u8, CliError> {
    match command {
        PolicyCommand::Check(wanted) => check(out, session, wanted),
        PolicyCommand::Test { file, profile } => {
            cases::test(out, file, &Policy::of(super::in_force::profile(profile)?))
        }
        PolicyCommand::Show { profile: None } => show(out, &in_force_here(session, &session.folder)?),
        PolicyCommand::Show { profile: Some(name) } => show(out, &Policy::of(profile(name)?)),
        PolicyCommand::Edit => edit::run(out, session),
        PolicyCommand::Why { request } => why::print(out, session, request),
        PolicyCommand::Replay(wanted) => replay::run(out, session, wanted),
        PolicyCommand::Learn(wanted) => learn::run(out, session, wanted),
        PolicyCommand::Import { file, print } => import::run(out, session, file, *print),
    }
}

/// The policy that holds in a folder as it is configured.
fn in_force_here(session: &Session, folder: &Path) -> Result<Policy, CliError> {
    let resolved = session.resolve(folder).map_err(|error| CliError::bad_input(error.message))?;
    Ok(in_force(session, folder, resolved.config.profile, &tickets(session, folder, &resolved)))
}

fn check(out: &mut dyn Write, session: &Session, wanted: &Check) -> Result<u8, CliError> {
    let folder = wanted.cwd.as_ref().map_or(session.folder.clone(), |folder| session.folder.join(folder));
    // A folder that is not there can be judged in, too.
    let folder = real(&folder);
    if folder.is_file() {
        return Err(CliError::bad_input(format!("--cwd {}: not a folder", folder.display())));
    }
    let policy = match (&wanted.profile, &wanted.policy) {
        (Some(name), _) => Policy::of(profile(name)?),
        (None, Some(file)) if !session.folder.join(file).exists() => {
            return Err(CliError::bad_input(format!("--policy {}: no such file", file.display())));
        }
        (None, Some(file)) => policy_files::alone(&session.folder.join(file)),
        (None, None) => in_force_here(session, &folder)?,
    };
    let (tool, input) = match (&wanted.command, &wanted.tool, &wanted.input) {
        (Some(command), ..) => ("Bash", json!({ "command": command })),
        (None, Some(tool), Some(input)) => {
            let input = serde_json::from_str::<Value>(input);
            (tool.as_str(), input.map_err(|error| CliError::bad_input(format!("--input is not JSON: {error}")))?)
        }
        _ => return Err(CliError::bad_input("give a command, or --tool with --input")),
    };
    let Person { home, user, .. } = session.person();
    let env = session.resolve(&folder).map(|resolved| resolved.config.agent.variables()).unwrap_or_default();
    let paths = claudes_paths(env);
    let place = Place { workspace: &folder, cwd: &folder, home: &home, user: &user, view: &paths };
    let decision = policy.decide(tool, &input, &place);
    if wanted.json {
        writeln!(out, "{}", crate::base::json::line(&decision)?)?;
    } else {
        explain::decision(
            out,
            &decision,
            &policy,
            Look::of_stdout(session.environment.get("NO_COLOR").map(String::as_str)),
        )?;
    }
    Ok(decision.verdict.exit_code())
}

fn show(out: &mut dyn Write, policy: &Policy) -> Result<u8, CliError> {
    if let Some(error) = policy.broken() {
        writeln!(out, "everything is blocked: {}", clean_line(&error.to_string(), 400))?;
        return Ok(Verdict::Block.exit_code());
    }
    writeln!(
        out,
        "floor\n  block       {:24}  protected files, secrets, control of programmator, what cannot be parsed",
        "floor"
    )?;
    for file in policy.files() {
        let path = clean_line(&file.path, 200);
        let force = if policy.only_tightens(file) { "  (not trusted: it can only make verdicts stricter)" } else { "" };
        writeln!(out, "{path}{force}")?;
        let floor = &file.floor;
        for (word, patterns) in
            [("protect", &floor.protect), ("secret", &floor.secrets), ("unprotect", &floor.unprotect)]
        {
            for pattern in patterns {
                writeln!(out, "  floor       {word:24}  {}", clean_line(pattern, 200))?;
            }
        }
        for rule in &file.rules {
            let (name, verdict) = (clean_line(&rule.name, 40), rule.action.word());
            let reason = clean_line(rule.reason.as_deref().unwrap_or(""), 200);
            writeln!(out, "  {verdict:10}  {name:24}  {reason}  (line {})", rule.line)?;
        }
    }
    let (default, said) = policy.default();
    let said = said.map_or(String::new(), |file| format!("  ({})", clean_line(&file.path, 200)));
    writeln!(out, "default\n  {:10}  {:24}  no rule matches{said}", default.word(), "")?;
    writeln!(out, "policy {}", policy.fingerprint())?;
    Ok(0)
}
