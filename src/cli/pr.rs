//! `programmator pr`: a ticket's branch as a pull request, through `gh`. All that goes out is shown and asked about first.

use super::agree::agree_or;
use super::error::CliError;
use super::session::Session;
use crate::adapters::git::{head, publishing, worktree};
use crate::adapters::issue_tool::{GH, ToolError};
use crate::adapters::tickets;
use crate::base::amount::counted;
use crate::base::text::clean_line;
use crate::domain::credentials::masked;
use crate::domain::pull_request::{self, Outgoing};
use crate::domain::summary::{RunState, RunSummary};
use crate::runtime::export::stored::Secrets;
use crate::runtime::report::runs_of_ticket;
use crate::runtime::supervisor::Typed;
use clap::Args;
use serde::Deserialize;
use std::io::Write;
use std::path::{Path, PathBuf};

/// What stands below the options in its `--help`.
pub const HELP: &str = "\
Examples:
  programmator pr tk-4f2a --draft
  programmator pr tk-4f2a --dry-run           only show what would be sent
  programmator pr tk-4f2a --base develop --yes

The branch is that of the ticket's worktree, else the one checked out where its last run worked. Its commits are pushed to the remote, never with force, and `gh` opens the pull request. The title is the ticket's; the description lists what was done, how it was verified, and which claims failed. If the ticket was imported from an issue of the same repository, merging closes the issue. Uncommitted changes are left out. If it is interrupted, run the command again to continue.

Exit codes: 0 done, 1 failed, 2 wrong usage, 5 you said no, 77 inside a run.";

/// What is opened, and how.
#[derive(Debug, Args)]
pub struct PrArgs {
    /// The ticket: id, unique part of an id, or path; or a run.
    ticket: String,
    /// Open it as a draft.
    #[arg(long)]
    draft: bool,
    /// Branch to push [default: that of the ticket's worktree, else the one checked out where its last run worked].
    #[arg(long, value_name = "NAME")]
    branch: Option<String>,
    /// Branch to merge into [default: the one that the ticket's branch started from, else the repository's default].
    #[arg(long, value_name = "BRANCH")]
    base: Option<String>,
    /// The remote to push to [default: origin, else the only one].
    #[arg(long, value_name = "NAME")]
    remote: Option<String>,
    /// Push and open it without asking first.
    #[arg(long, short)]
    yes: bool,
    /// Only show what would be sent.
    #[arg(long)]
    dry_run: bool,
}

/// What `gh repo view` prints.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Repository {
    name_with_owner: String,
    default_branch_ref: Named,
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

/// What `gh pr list` prints of each.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct There {
    number: u64,
    url: String,
    head_repository_owner: Option<Owner>,
}

#[derive(Deserialize)]
struct Owner {
    login: String,
}

/// Carries it out.
pub async fn run(out: &mut dyn Write, session: &Session, args: &PrArgs) -> Result<(), CliError> {
    let store = session.store_to_read()?;
    let run = store.as_seen(session.find_run(&store, &args.ticket, Typed::Part)?)?;
    let (folder, branch) = place(&run, args.branch.clone())?;
    let failed = |error: ToolError| CliError::failure(error.to_string());
    let remote = publishing::remote(&folder, args.remote.as_deref()).await.map_err(CliError::failure)?;
    let view = ["repo", "view", "--json", "nameWithOwner,defaultBranchRef"];
    let repository: Repository = GH.json(&view, &folder).await.map_err(failed)?;
    let begun = run.worktree.as_ref().map(|own| own.base.clone()).filter(|base| !base.is_empty());
    let base = args.base.clone().or(begun).unwrap_or(repository.default_branch_ref.name);
    if base == branch {
        let cure = "let runs work on their own branch (git.branch, --worktree), or set another base with --base";
        return Err(CliError::failure(format!(
            "the work is on {}, which is the base: {cure}",
            clean_line(&branch, 100)
        )));
    }
    let outgoing = publishing::look(&folder, &branch, &base, &remote).await.map_err(CliError::failure)?;
    if outgoing.commits.is_empty() {
        let cure = "commit the work first (or set `git.commit`)";
        return Err(CliError::failure(format!(
            "{} has no commit that {base} does not have: {cure}",
            clean_line(&branch, 100)
        )));
    }
    let report = runs_of_ticket(&store, &run.ticket_path, session.clock().now())?;
    let is_guessed = run.worktree.is_none() && args.branch.is_none();
    if let Some(commit) = report.runs.iter().rev().find_map(|run| run.commits.last()).filter(|_| is_guessed)
        && !publishing::has(&folder, &branch, commit).await.map_err(CliError::failure)?
    {
        let (branch, commit) = (clean_line(&branch, 100), clean_line(commit, 9));
        return Err(CliError::failure(format!(
            "{branch} does not contain the ticket's commit {commit}: switch to its branch, or set --branch if the commit was rebased"
        )));
    }
    let owner = repository.name_with_owner.split('/').next().unwrap_or_default();
    let head = match &outgoing.owner {
        Some(other) if !other.eq_ignore_ascii_case(owner) => format!("{other}:{branch}"),
        _ => branch.clone(),
    };
    let open = ["pr", "list", "--head", &branch, "--state", "open", "--json", "number,url,headRepositoryOwner"];
    let whose = outgoing.owner.as_deref().unwrap_or(owner);
    // Anybody's fork may have a branch of this name.
    let is_ours =
        |there: &There| there.head_repository_owner.as_ref().is_none_or(|of| of.login.eq_ignore_ascii_case(whose));
    let there: Vec<There> = GH.json(&open, &folder).await.map_err(failed)?;
    if let Some(There { number, url, .. }) = there.into_iter().find(is_ours) {
        let (url, remote) = (clean_line(&url, 300), clean_line(&remote, 80));
        let cure = if outgoing.is_there {
            String::new()
        } else {
            format!("; `git push {remote} {}` adds the new commits", clean_line(&branch, 100))
        };
        return Err(CliError::failure(format!("pull request #{number} of this branch is already open: {url}{cure}")));
    }
    let file = tickets::load(Path::new(&run.ticket_path)).ok();
    let reference = file.as_ref().and_then(tickets::reference);
    let closes = reference.and_then(|reference| pull_request::issue_of(reference, &repository.name_with_owner));
    let config = session.resolve(&session.folder)?.config;
    let secrets = Secrets::of(session.environment.iter().chain(&config.agent.env));
    // Before anything of it is cut: half a secret would not be known as one.
    let mask = |text: &str| masked(&secrets.mask(text.to_owned()));
    let title = pull_request::title(&mask(file.as_ref().map_or(&run.title, |file| &file.title)));
    let body = masked(&secrets.mask(pull_request::body(&run.ticket, &report.runs, closes, &mask)));
    show(out, args, &repository.name_with_owner, &outgoing, (&title, &body))?;
    caveats(out, &run, &folder).await?;
    if args.dry_run {
        return Ok(());
    }
    if !args.yes {
        agree_or(out, "Push and open this pull request?", "pushes and opens it", "nothing was pushed")?;
    }
    if !outgoing.is_there {
        publishing::push(&folder, &outgoing).await.map_err(CliError::failure)?;
        writeln!(out, "Pushed {} to {}.", clean_line(&branch, 100), clean_line(&remote, 80))?;
    }
    let mut text = tempfile::NamedTempFile::new()?;
    text.write_all(body.as_bytes())?;
    let path = text.path().to_string_lossy().into_owned();
    let mut create = vec!["pr", "create", "--base", &base, "--head", &head, "--title", &title, "--body-file", &path];
    create.extend(args.draft.then_some("--draft"));
    let url = GH.printed(&create, &folder).await.map_err(|error| {
        CliError::failure(format!("{error}; the branch is on {remote}: run the command again to continue"))
    })?;
    Ok(writeln!(out, "Opened {}", clean_line(url.trim(), 300))?)
}

/// Where the ticket's branch is, and its name.
fn place(run: &RunSummary, named: Option<String>) -> Result<(PathBuf, String), CliError> {
    if let Some(own) = &run.worktree {
        let folder = if own.top.is_dir() { own.top.clone() } else { own.home_top.clone() };
        return Ok((folder, named.unwrap_or_else(|| own.branch.clone())));
    }
    let folder = PathBuf::from(&run.folder);
    if let Some(branch) = named {
        return Ok((folder, branch));
    }
    let branch = head::on_branch(&folder).ok_or_else(|| {
        CliError::failure(format!("{} is on no branch: `git switch` to the ticket's", clean_line(&run.folder, 300)))
    })?;
    Ok((folder, branch))
}

/// Shows all that would go out.
fn show(
    out: &mut dyn Write,
    args: &PrArgs,
    repository: &str,
    outgoing: &Outgoing,
    (title, body): (&str, &str),
) -> Result<(), CliError> {
    let Outgoing { branch, base, remote, urls, commits, pushed, stat, .. } = outgoing;
    let shown = |text: &str| clean_line(text, 200);
    let kind = if args.draft { "draft pull request" } else { "pull request" };
    writeln!(out, "{kind} in {}: {} into {}", shown(repository), shown(branch), shown(base))?;
    let stat = if stat.is_empty() { "no files changed" } else { stat };
    writeln!(out, "commits    {}, {stat}", commits.len())?;
    for commit in commits {
        writeln!(out, "           {commit}")?;
    }
    if outgoing.is_there {
        writeln!(out, "push       nothing: {} is up to date", shown(remote))?;
    } else {
        let count = counted(pushed.len(), "commit");
        writeln!(out, "push       {count} to {} ({})", shown(remote), urls.join(", "))?;
        // What else would be published by it.
        for commit in pushed.iter().filter(|commit| !commits.contains(commit)) {
            writeln!(out, "           {commit}  (not only in this branch)")?;
        }
    }
    writeln!(out, "title      {title}\n\n{}\n", body.trim_end())?;
    Ok(())
}

/// What does not go along.
async fn caveats(out: &mut dyn Write, run: &RunSummary, folder: &Path) -> Result<(), CliError> {
    // Of a worktree that is gone nothing is left; the folder is the person's own.
    let is_its_own = run.worktree.as_ref().is_none_or(|own| own.top == folder);
    let (changed, unknown) =
        if is_its_own { worktree::changed(folder).await.map_err(CliError::failure)? } else { Default::default() };
    if !changed.is_empty() || !unknown.is_empty() {
        let files = counted(changed.len() + unknown.len(), "file");
        writeln!(out, "note       uncommitted changes in {files} stay here")?;
    }
    if !matches!(run.state, RunState::Ended | RunState::Interrupted) {
        writeln!(out, "note       a run of {} is active: its further work is not included", run.ticket)?;
    }
    Ok(())
}
