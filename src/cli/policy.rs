//! `programmator policy check|test|show|import`: what the gate would decide, and why. Nothing is run.
//!
//! `edit` changes the person's file, `why` looks at what was decided in a run.

mod edit;
mod why;

use super::error::CliError;
use super::help;
use super::session::Session;
use crate::adapters::config_files::{self, PROJECT_FOLDER};
use crate::adapters::path_view::RealPaths;
use crate::adapters::policy_files;
use crate::adapters::tickets::Places;
use crate::adapters::trust::TrustStore;
use crate::base::text::clean_line;
use crate::config::Trust;
use crate::policy::cases::{Case, Miss};
use crate::policy::engine::{Policy, Profile};
use crate::policy::import;
use crate::policy::place::Place;
use crate::policy::verdict::{Decision, Verdict};
use crate::runtime::rulebook::Person;
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Exit code for what cannot be judged, as in sysexits.h.
pub const BAD_INPUT: u8 = 64;

/// What can be asked of the gate.
#[derive(Debug, Subcommand)]
pub enum PolicyCommand {
    /// Say what would become of a command or a tool call, and why. Nothing is run.
    #[command(after_help = help::POLICY_CHECK)]
    Check(Check),
    /// Judge a file of cases and print each that is judged otherwise.
    #[command(after_help = help::POLICY_TEST)]
    Test {
        /// One case a line: id, tool, input, cwd, expect, never, fs.
        file: PathBuf,
        /// The profile to test: strict, guarded or trusted.
        #[arg(long, value_name = "NAME", default_value = "guarded")]
        profile: String,
    },
    /// List the rules that are in force here, in their order.
    #[command(after_help = help::POLICY_SHOW)]
    Show {
        /// The profile: strict, guarded or trusted.
        #[arg(long, value_name = "NAME")]
        profile: Option<String>,
    },
    /// Open your policy file in $EDITOR, and say whether it can be used.
    #[command(after_help = help::POLICY_EDIT)]
    Edit,
    /// Say what was decided about a call of a run, and why.
    #[command(after_help = help::POLICY_WHY)]
    Why {
        /// Claude's id of the call, or a part of it that only it has.
        request: String,
    },
    /// Print Clanker's policy.json as a policy of ours.
    #[command(after_help = help::POLICY_IMPORT)]
    Import {
        /// Its file.
        file: PathBuf,
    },
}

/// What is to be judged, and by what.
#[derive(Debug, Args)]
pub struct Check {
    /// A command of Bash.
    #[arg(allow_hyphen_values = true, required_unless_present = "tool")]
    pub command: Option<String>,
    /// A tool other than Bash.
    #[arg(long, value_name = "NAME", requires = "input", conflicts_with = "command")]
    pub tool: Option<String>,
    /// The tool's input.
    #[arg(long, value_name = "JSON", requires = "tool")]
    pub input: Option<String>,
    /// The folder that it would run in; it is the workspace, too [default: the present folder].
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// Judge by this profile alone: strict, guarded or trusted.
    #[arg(long, value_name = "NAME", conflicts_with = "policy")]
    pub profile: Option<String>,
    /// Judge by this policy file alone.
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
    /// As one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// Answers, and says the program's exit code.
pub fn run(out: &mut dyn Write, session: &Session, command: &PolicyCommand) -> Result<u8, CliError> {
    match command {
        PolicyCommand::Check(wanted) => check(out, session, wanted),
        PolicyCommand::Test { file, profile } => test(out, file, &Policy::of(self::profile(profile)?)),
        PolicyCommand::Show { profile: None } => {
            show(out, &in_force(session, &session.folder, configured(session, &session.folder)?))
        }
        PolicyCommand::Show { profile: Some(name) } => show(out, &Policy::of(profile(name)?)),
        PolicyCommand::Edit => edit::run(out, session),
        PolicyCommand::Why { request } => why::print(out, session, request),
        PolicyCommand::Import { file } => import(out, file),
    }
}

fn bad_input(message: impl Into<String>) -> CliError {
    CliError { message: message.into(), exit_code: BAD_INPUT }
}

fn profile(name: &str) -> Result<Profile, CliError> {
    Profile::named(name)
        .ok_or_else(|| bad_input(format!("no profile is called {name}: use strict, guarded or trusted")))
}

/// The policy that holds in a folder: the person's file, the project's, and a profile.
pub fn in_force(session: &Session, folder: &Path, profile: Profile) -> Policy {
    let user = config_files::user_folder(&session.environment);
    let project = folder.join(PROJECT_FOLDER);
    // What cannot be read is not trusted; the policy itself says what is wrong with it.
    let trust = match config_files::read(&project) {
        Ok(files) => TrustStore::new(&session.state).trust_of(folder, &files).unwrap_or(Trust::Unknown),
        Err(_) => Trust::Unknown,
    };
    let own: Vec<PathBuf> = user.iter().chain([&session.state]).map(|own| real(own)).collect();
    // A folder of tickets that holds the whole project could not be worked in.
    let places = |resolved| Places { folder: folder.to_owned(), ..session.places(&resolved) };
    let tickets = session.resolve(folder).map(|resolved| real(&places(resolved).dir())).ok();
    let tickets: Vec<PathBuf> = tickets.into_iter().filter(|tickets| !folder.starts_with(tickets)).collect();
    policy_files::load(profile, user.as_deref(), &project, trust).guarding(&own).protecting(&tickets)
}

/// The files that decide about the policy in a folder: rules, the profile, and whether the project is trusted.
pub fn files(session: &Session, folder: &Path) -> Vec<PathBuf> {
    let folders = config_files::user_folder(&session.environment).into_iter().chain([folder.join(PROJECT_FOLDER)]);
    let named = folders.flat_map(|folder| [policy_files::NAME, "config.yaml"].map(|name| folder.join(name)));
    named.chain([session.state.join("trust.json")]).collect()
}

/// The path with its links resolved, as far as it is there.
fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// The profile that is configured for a folder.
fn configured(session: &Session, folder: &Path) -> Result<Profile, CliError> {
    Ok(session.resolve(folder).map_err(|error| bad_input(error.message))?.config.profile)
}

fn check(out: &mut dyn Write, session: &Session, wanted: &Check) -> Result<u8, CliError> {
    let folder = wanted.cwd.as_ref().map_or(session.folder.clone(), |folder| session.folder.join(folder));
    // A folder that is not there can be judged in, too.
    let folder = real(&folder);
    let policy = match (&wanted.profile, &wanted.policy) {
        (Some(name), _) => Policy::of(profile(name)?),
        (None, Some(file)) => policy_files::alone(&session.folder.join(file)),
        (None, None) => in_force(session, &folder, configured(session, &folder)?),
    };
    let (tool, input) = match (&wanted.command, &wanted.tool, &wanted.input) {
        (Some(command), ..) => ("Bash", json!({ "command": command })),
        (None, Some(tool), Some(input)) => {
            let input = serde_json::from_str::<Value>(input);
            (tool.as_str(), input.map_err(|error| bad_input(format!("--input is no JSON: {error}")))?)
        }
        _ => return Err(bad_input("give a command, or --tool with --input")),
    };
    let Person { home, user, .. } = session.person();
    let place = Place { workspace: &folder, cwd: &folder, home: &home, user: &user, view: &RealPaths };
    let decision = policy.decide(tool, &input, &place);
    if wanted.json {
        let text = serde_json::to_string(&decision).map_err(|error| CliError::failure(error.to_string()))?;
        writeln!(out, "{text}")?;
    } else {
        explain(out, &decision, &policy)?;
    }
    Ok(decision.verdict.exit_code())
}

fn explain(out: &mut dyn Write, decision: &Decision, policy: &Policy) -> std::io::Result<()> {
    let decided = decision.units.iter().position(|unit| unit.verdict == decision.verdict).unwrap_or(0);
    let hash = policy.fingerprint().get(..8).unwrap_or("");
    let (verdict, total) = (decision.verdict.word().to_uppercase(), decision.units.len());
    writeln!(out, "verdict  {verdict}   (unit {} of {total})   policy {hash}…", decided + 1)?;
    let text = |text: &str| clean_line(text, 60);
    let width = decision.units.iter().map(|unit| text(&unit.text).chars().count()).max().unwrap_or(0);
    for (at, unit) in decision.units.iter().enumerate() {
        let line = unit.line.map(|line| format!(" (line {line})")).unwrap_or_default();
        let (shown, verdict, rule) = (text(&unit.text), unit.verdict.word(), clean_line(&unit.rule, 60));
        let reason = clean_line(&unit.reason, 200);
        writeln!(out, "{:3}  {shown:width$}  {verdict:10}  {rule}{line}: {reason}", at + 1)?;
    }
    Ok(())
}

fn test(out: &mut dyn Write, file: &Path, policy: &Policy) -> Result<u8, CliError> {
    let text = fs::read_to_string(file).map_err(|error| bad_input(format!("{}: {error}", file.display())))?;
    let (mut total, mut missed, mut never) = (0, 0, 0);
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let case = Case::read(line).map_err(|error| bad_input(format!("{}:{}: {error}", file.display(), at + 1)))?;
        total += 1;
        let decision = case.decide(policy);
        let Some(miss) = case.miss(&decision) else { continue };
        missed += 1;
        never += usize::from(miss == Miss::Never);
        let mark = if miss == Miss::Never { "NEVER" } else { "miss" };
        let (id, got, expected) = (clean_line(&case.id, 60), decision.verdict.word(), case.expect.word());
        let (input, told) = (clean_line(&case.input.to_string(), 200), clean_line(&decision.told(), 200));
        writeln!(out, "{mark:5}  {id}  {got}, not {expected}: {input}\n       {told}")?;
    }
    writeln!(out, "{total} cases, {missed} misses, {never} of them never to be")?;
    Ok(u8::from(missed > 0))
}

fn show(out: &mut dyn Write, policy: &Policy) -> Result<u8, CliError> {
    if let Some(error) = policy.broken() {
        writeln!(out, "everything is blocked: {}", clean_line(&error.to_string(), 400))?;
        return Ok(Verdict::Block.exit_code());
    }
    for (file, rule) in policy.rules() {
        let (name, verdict) = (clean_line(&rule.name, 40), rule.action.word());
        let reason = clean_line(rule.reason.as_deref().unwrap_or(""), 200);
        writeln!(out, "{verdict:10}  {name:24}  {reason}  ({}:{})", clean_line(&file.path, 200), rule.line)?;
    }
    writeln!(out, "policy {}", policy.fingerprint())?;
    Ok(0)
}

fn import(out: &mut dyn Write, file: &Path) -> Result<u8, CliError> {
    let text = fs::read_to_string(file).map_err(|error| bad_input(format!("{}: {error}", file.display())))?;
    let imported = import::clanker(&text).map_err(|why| bad_input(format!("{}: {why}", file.display())))?;
    for remark in &imported.remarks {
        writeln!(out, "# {}", clean_line(remark, 200))?;
    }
    write!(out, "{}", imported.yaml)?;
    Ok(0)
}
