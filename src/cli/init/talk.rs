//! The conversation of `programmator init`: a page for each question, each with a default; Esc goes back a page.

use super::setup::{Candidate, Choices, Setup};
use super::trial;
use crate::base::amount::counted;
use crate::base::text::{Clean, clean_line};
use crate::cli::agree::{DECLINED, plain_prompts};
use crate::cli::error::CliError;
use crate::domain::import::item::Source;
use crate::domain::import::page::ImportPlace;
use crate::domain::profile::Profile;
use crate::domain::workflow::Workflow;
use inquire::{Confirm, InquireError, MultiSelect, Select, Text};
use std::io::Write;
use std::path::{Path, PathBuf};
use tokio::task::block_in_place;

/// A page; which of them come depends on what is there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Page {
    Git,
    Tickets,
    Import,
    FirstTicket,
    Checks,
    Another,
    Trial,
    Workflow,
    Profile,
    Phone,
}

const PAGES: [Page; 10] = [
    Page::Git,
    Page::Tickets,
    Page::Import,
    Page::FirstTicket,
    Page::Checks,
    Page::Another,
    Page::Trial,
    Page::Workflow,
    Page::Profile,
    Page::Phone,
];

/// What the workflows do.
const WORKFLOWS: [(Workflow, &str); 4] = [
    (Workflow::Auto, "your commands check each claim; a critic if there are none"),
    (Workflow::Simple, "your commands only"),
    (Workflow::Reviewed, "also a critic for every phase"),
    (Workflow::Thorough, "as reviewed, plus an evaluator at the end"),
];

/// What the profiles allow.
const PROFILES: [(Profile, &str); 4] = [
    (Profile::Guarded, "reads, verified writes and the project's own commands"),
    (Profile::Strict, "reads; writes need your passphrase, the network is blocked"),
    (Profile::Trusted, "everything except what is always refused"),
    (Profile::ReadOnly, "reads only"),
];

/// What is said on these is written into the settings.
const OF_SETTINGS: [Page; 6] = [Page::Tickets, Page::Checks, Page::Another, Page::Trial, Page::Workflow, Page::Profile];

/// The conversation as it stands.
pub(super) struct Talk {
    pub(super) choices: Choices,
    keeps_settings: bool,
    knows_tasks: bool,
    /// The pages that were shown, for the way back, and the next one; places in `PAGES`.
    shown: Vec<usize>,
    at: usize,
}

impl Talk {
    /// Nothing is asked about settings that stay as they are, or about tasks where the command says where they come from.
    pub(super) fn new(choices: Choices, keeps_settings: bool, knows_tasks: bool) -> Self {
        plain_prompts();
        Self { choices, keeps_settings, knows_tasks, shown: Vec::new(), at: 0 }
    }

    /// Asks what is still to be asked. An error: the person stopped it.
    pub(super) async fn ask(&mut self, out: &mut dyn Write, setup: &Setup) -> Result<(), CliError> {
        while let Some(page) = PAGES.get(self.at) {
            let is_settled =
                self.keeps_settings && OF_SETTINGS.contains(page) || self.knows_tasks && *page == Page::Import;
            if is_settled || !comes(*page, setup, &self.choices) {
                self.at += 1;
                continue;
            }
            let goes_on = match page {
                Page::Trial => tried(out, setup, &mut self.choices).await?,
                page => block_in_place(|| answer(*page, setup, &mut self.choices))?,
            };
            if goes_on {
                self.shown.push(self.at);
                self.at += 1;
            } else {
                self.back();
            }
        }
        Ok(())
    }

    /// The last question; `false`: back, so what comes before it is to be asked once more.
    pub(super) fn agree(&mut self) -> Result<bool, CliError> {
        match block_in_place(|| confirm("Write this?", true, "nothing has been written yet · Esc back"))? {
            Some(true) => Ok(true),
            Some(false) => Err(declined()),
            None => {
                self.back();
                Ok(false)
            }
        }
    }

    fn back(&mut self) {
        self.at = self.shown.pop().unwrap_or(self.at);
    }
}

fn declined() -> CliError {
    CliError::new(DECLINED, "nothing was changed")
}

fn comes(page: Page, setup: &Setup, choices: &Choices) -> bool {
    match page {
        Page::Git => setup.git.is_none(),
        Page::FirstTicket => choices.import.is_none() && (!setup.has_tickets || choices.tickets != setup.tickets),
        Page::Import => !setup.sources.is_empty(),
        Page::Checks => !setup.checks.is_empty(),
        Page::Trial => !choices.validation.is_empty() && setup.folder.is_dir(),
        Page::Phone => !setup.has_phone,
        Page::Tickets | Page::Another | Page::Workflow | Page::Profile => true,
    }
}

/// Asks one question; `false`: back.
fn answer(page: Page, setup: &Setup, choices: &mut Choices) -> Result<bool, CliError> {
    let answered = match page {
        Page::Git => {
            let help = "without git there are no snapshots and no diffs";
            let asked = match setup.folder.file_name().filter(|_| setup.is_new) {
                Some(name) => format!("Create a git repository in {}?", clean_line(&name.to_string_lossy(), 60)),
                None => "Create a git repository in this folder?".to_owned(),
            };
            let yes = confirm(&asked, choices.git, help)?;
            yes.map(|yes| choices.git = yes)
        }
        Page::Tickets => {
            let shown = setup.shown(&choices.tickets);
            let typed = text("Folder for tickets:", &shown, "one markdown file per ticket")?;
            typed.map(|typed| {
                if typed != shown && !typed.is_empty() {
                    choices.tickets = folder(&setup.folder, &typed);
                }
            })
        }
        Page::FirstTicket => {
            let title = choices.first_ticket.clone().unwrap_or_default();
            let typed = text("First ticket:", &title, "the goal in a few words; empty: none")?;
            typed.map(|typed| choices.first_ticket = (!typed.is_empty()).then_some(typed))
        }
        Page::Import => {
            let about = |one: &ImportPlace| match one.new {
                Some(new) => format!("{}; shown before importing", counted(new, "new task")),
                None => "counted and shown before importing".to_owned(),
            };
            let none = [(None, "write tickets yourself".to_owned())].into_iter();
            let all: Vec<(Option<Source>, String)> =
                none.chain(setup.sources.iter().map(|one| (Some(one.source), about(one)))).collect();
            let word = |source: Option<Source>| source.map_or("none", Source::word);
            let picked = one_of("Import tasks from:", &all, choices.import, word)?;
            picked.map(|picked| choices.import = picked)
        }
        Page::Checks => checks(setup, choices)?,
        Page::Another => {
            let typed = text("Another validation command:", "", "it runs in this folder; empty: none")?;
            typed.map(|typed| {
                if !typed.is_empty() && !choices.validation.contains(&typed) {
                    choices.validation.push(typed);
                }
            })
        }
        Page::Workflow => {
            let picked = one_of("Who reviews finished work?", &WORKFLOWS, choices.workflow, Workflow::word)?;
            picked.map(|picked| choices.workflow = picked)
        }
        Page::Profile => {
            let picked = one_of("What may Claude do without asking?", &PROFILES, choices.profile, Profile::word)?;
            picked.map(|picked| choices.profile = picked)
        }
        Page::Phone => {
            let help = "through your own Telegram bot; setup follows at the end";
            let yes = confirm("Send questions to your phone while you are away?", choices.phone, help)?;
            yes.map(|yes| choices.phone = yes)
        }
        Page::Trial => Some(()),
    };
    Ok(answered.is_some())
}

fn checks(setup: &Setup, choices: &mut Choices) -> Result<Option<()>, CliError> {
    let label = |one: &Candidate| {
        let missing = one.missing.as_ref().map(|program| format!("; {program} is not installed here"));
        clean_line(&format!("{}  ({}{})", one.command, one.evidence, missing.unwrap_or_default()), 120)
    };
    let labels: Vec<String> = setup.checks.iter().map(label).collect();
    let numbered = setup.checks.iter().enumerate();
    let chosen = numbered.filter(|(_, one)| choices.validation.contains(&one.command)).map(|(n, _)| n);
    let chosen: Vec<usize> = chosen.collect();
    let asked = MultiSelect::new("Commands that check every claim:", labels)
        .with_default(&chosen)
        .with_help_message("Space toggle · Enter continue · Esc back")
        .raw_prompt_skippable();
    let Some(picked) = answered(asked)? else { return Ok(None) };
    // What was typed by hand stays.
    let is_listed = |command: &String| setup.checks.iter().any(|one| one.command == *command);
    let typed: Vec<String> = choices.validation.iter().filter(|command| !is_listed(command)).cloned().collect();
    choices.validation = picked.iter().map(|one| setup.checks[one.index].command.clone()).chain(typed).collect();
    Ok(Some(()))
}

/// Runs the commands once, if the person likes; `false`: back.
async fn tried(out: &mut dyn Write, setup: &Setup, choices: &mut Choices) -> Result<bool, CliError> {
    loop {
        let help = "a command that fails now would make every claim fail";
        match block_in_place(|| confirm("Run each command once now?", false, help))? {
            None => return Ok(false),
            Some(false) => return Ok(true),
            Some(true) => {}
        }
        let passed = trial::run(out, &setup.folder, &setup.own, &choices.validation).await?;
        if passed.len() == choices.validation.len() {
            return Ok(true);
        }
        let help = "no phase can be verified until they pass";
        match block_in_place(|| confirm("Keep those that failed?", false, help))? {
            // Back to whether they are run.
            None => {}
            Some(true) => return Ok(true),
            Some(false) => {
                choices.validation = passed;
                return Ok(true);
            }
        }
    }
}

/// A folder as it was typed.
fn folder(project: &Path, typed: &str) -> PathBuf {
    let home = typed.strip_prefix("~/").zip(std::env::var_os("HOME"));
    home.map_or_else(|| project.join(typed), |(rest, home)| Path::new(&home).join(rest))
}

fn one_of<T: Copy + PartialEq>(
    question: &str,
    all: &[(T, impl std::fmt::Display)],
    now: T,
    word: fn(T) -> &'static str,
) -> Result<Option<T>, CliError> {
    let at = all.iter().position(|(one, _)| *one == now).unwrap_or(0);
    let labels: Vec<String> = all.iter().map(|(one, about)| format!("{:10} {about}", word(*one))).collect();
    let asked = Select::new(question, labels).with_starting_cursor(at).raw_prompt_skippable();
    Ok(answered(asked)?.map(|picked| all[picked.index].0))
}

fn confirm(question: &str, default: bool, help: &str) -> Result<Option<bool>, CliError> {
    answered(Confirm::new(question).with_default(default).with_help_message(help).prompt_skippable())
}

fn text(question: &str, now: &str, help: &str) -> Result<Option<String>, CliError> {
    let typed = answered(Text::new(question).with_initial_value(now).with_help_message(help).prompt_skippable())?;
    Ok(typed.map(|typed| Clean::new(&typed).as_str().trim().to_owned()))
}

/// What was answered; `None`: Esc.
fn answered<T>(asked: Result<Option<T>, InquireError>) -> Result<Option<T>, CliError> {
    asked.map_err(|error| match error {
        InquireError::OperationInterrupted | InquireError::OperationCanceled => declined(),
        error => CliError::failure(format!("cannot ask in this terminal: {error}; use --yes")),
    })
}
