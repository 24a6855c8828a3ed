//! `programmator job`: prints a Kubernetes Job that works through a ticket, for `kubectl apply -f -`. Nothing is contacted.

use super::error::CliError;
use super::session::Session;
use crate::adapters::git::head::on_branch;
use crate::adapters::git::origin::origin;
use crate::adapters::tickets;
use crate::base::text::clean_line;
use crate::domain::job::{Job, LARGEST};
use clap::Args;
use std::io::Write;
use std::path::Path;

/// Which ticket, and where it is worked on.
#[derive(Debug, Args)]
pub struct JobArgs {
    /// The ticket: id, unique part of an id, or path.
    ticket: String,
    /// The container image, with programmator, claude, git and the tools the work needs.
    #[arg(long, default_value = concat!("programmator:", env!("CARGO_PKG_VERSION")))]
    image: String,
    /// The repository to clone, by https [default: the remote `origin` of this one].
    #[arg(long, value_name = "URL")]
    repo: Option<String>,
    /// The branch to start from [default: the current one].
    #[arg(long)]
    branch: Option<String>,
    /// Push the work to this branch (without a name: `programmator/` and the ticket's id); otherwise it becomes a patch on the volume.
    #[arg(long, value_name = "BRANCH", num_args = 0..=1, default_missing_value = "")]
    push: Option<String>,
    /// The namespace [default: that of `kubectl`].
    #[arg(long)]
    namespace: Option<String>,
    /// The name of the secret with `ANTHROPIC_API_KEY` and, to clone and push, `GIT_TOKEN`.
    #[arg(long, default_value = "programmator")]
    secret: String,
    /// The size of the volume.
    #[arg(long, value_name = "SIZE", default_value = "10Gi")]
    storage: String,
}

/// Prints the ticket's `ConfigMap`, the volume's claim and the Job.
pub async fn run(out: &mut dyn Write, session: &Session, args: JobArgs) -> Result<(), CliError> {
    let resolved = session.resolve(&session.folder)?;
    let found = tickets::find(&args.ticket, &session.places(&resolved))?;
    let failed = |error: tickets::LoadError| CliError::failure(error.to_string());
    let ticket = tickets::load(&found).map_err(failed)?.id.to_string();
    let shown = found.display();
    let text = String::from_utf8(tickets::read(&found).map_err(failed)?);
    let text = text.map_err(|_| CliError::failure(format!("{shown} is not UTF-8: save it as UTF-8")))?;
    if text.len() > LARGEST {
        return Err(CliError::failure(format!("{shown} is too large for a ConfigMap: {LARGEST} bytes at most")));
    }
    let name = found.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    // What is cloned begins at the top of the repository, wherever in it we are.
    let top = session.folder.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(&session.folder);
    let below = |path: &Path| path.strip_prefix(top).ok().and_then(Path::to_str).map(str::to_owned);
    let folder = below(&session.folder).ok_or_else(|| {
        CliError::failure(format!("the name of the folder {} is not UTF-8", session.folder.display()))
    })?;
    let own = Path::new(&folder).join(".tickets").join(&name).display().to_string();
    let path = std::fs::canonicalize(&found).ok().and_then(|found| below(&found)).unwrap_or(own);
    let repo = match args.repo {
        Some(repo) => Some(repo),
        None => origin(&session.folder).await,
    };
    let repo = repo.ok_or_else(|| CliError::usage("no remote `origin` here: set the repository with --repo"))?;
    if let Some(why) = is_unfit(&repo) {
        return Err(CliError::usage(why));
    }
    let push = args.push.map(|push| if push.is_empty() { format!("programmator/{ticket}") } else { push });
    let branch = args.branch.or_else(|| on_branch(&session.folder));
    if let Some(wrong) = [&push, &branch].into_iter().flatten().find(|name| !is_branch(name)) {
        return Err(CliError::usage(format!("`{}` is not a branch name", clean_line(wrong, 80))));
    }
    let (image, namespace, secret, storage) = (args.image, args.namespace, args.secret, args.storage);
    let job = Job { ticket, path, folder, text, image, repo, branch, push, namespace, secret, storage };
    for object in job.objects() {
        let text = serde_yaml::to_string(&object).map_err(|error| CliError::failure(error.to_string()))?;
        write!(out, "---\n{text}")?;
    }
    Ok(())
}

/// Why a repository cannot be cloned in a container by this address.
fn is_unfit(repo: &str) -> Option<String> {
    let uri = repo.parse::<http::Uri>().ok().filter(|uri| matches!(uri.scheme_str(), Some("https" | "http")));
    let host = uri.as_ref().and_then(|uri| uri.authority());
    match host {
        Some(host) if host.as_str().contains('@') => Some(
            "the repository URL contains a user name or password, which would be printed: pass one without them with --repo; GIT_TOKEN from the secret is used"
                .to_owned(),
        ),
        Some(_) => None,
        None => Some(format!("`{}` is not an https URL: pass one with --repo https://…", clean_line(repo, 100))),
    }
}

/// git takes it, and no shell or option is meant.
fn is_branch(name: &str) -> bool {
    let is_fit = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '+' | '#');
    !name.is_empty() && !name.starts_with(['-', '/', '.']) && !name.contains("..") && name.chars().all(is_fit)
}
