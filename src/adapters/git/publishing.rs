//! The branch of a ticket on its way to a remote: what would be pushed, and the push. One commit goes to one branch, never by force
//! and with nothing else beside it. As the person would call git: with their credentials and hooks.

use super::command::{Git, Said, git, line};
use super::error::words;
use super::paths;
use super::worktree::commit_at;
use crate::base::text::clean_line;
use crate::domain::pull_request::Outgoing;
use std::path::Path;
use std::time::Duration;

/// How long a remote may take to answer, and to take the commits.
const ANSWER: Duration = Duration::from_secs(60);
const TAKE: Duration = Duration::from_secs(600);
/// Most commits that are shown, and so pushed.
const MOST: usize = 500;

/// The remote that is pushed to: `named`, else `origin`, else the only one.
pub async fn remote(folder: &Path, named: Option<&str>) -> Result<String, String> {
    let all = printed(git(folder, "remote")).await?;
    let all: Vec<&str> = all.lines().collect();
    let chosen = match named {
        Some(named) => all.iter().find(|name| **name == named),
        None if all.len() == 1 => all.first(),
        None => all.iter().find(|name| **name == "origin"),
    };
    chosen.map(|name| (*name).to_owned()).ok_or_else(|| match (named, &all[..]) {
        (_, []) => "the repository has no remote: add one with `git remote add origin URL`".to_owned(),
        (Some(named), _) => format!("no remote `{}`; remotes: {}", clean_line(named, 80), all.join(", ")),
        (None, _) => format!("choose a remote with --remote: {}", clean_line(&all.join(", "), 300)),
    })
}

/// What a pull request of `branch` into `base` would have, and what of it the remote does not have yet.
pub async fn look(folder: &Path, branch: &str, base: &str, remote: &str) -> Result<Outgoing, String> {
    let commit = commit_at(folder, &format!("refs/heads/{branch}")).await?;
    let commit = commit.ok_or_else(|| format!("the branch {branch} no longer exists here"))?;
    let urls = printed(git(folder, "remote").args(["get-url", "--push", "--all", remote])).await?;
    // Where it is pushed to: what this repository knows of it may be old.
    let address = urls.lines().next().unwrap_or(remote);
    let (there, begins) = there(folder, (branch, base), (remote, address)).await?;
    if let Some(there) = there.as_ref().filter(|there| **there != commit) {
        let is_here = commit_at(folder, there).await?.is_some();
        let said = git(folder, "merge-base").args(["--is-ancestor", there, &commit]).run();
        if !is_here || said.await.map_err(words)?.code != Some(0) {
            return Err(format!(
                "{branch} on {remote} has commits that are not here: run `git fetch {remote}`, review and merge them"
            ));
        }
    }
    let begins = begins.ok_or_else(|| format!("{remote} has no branch {base}: choose another with --base"))?;
    if commit_at(folder, &begins).await?.is_none() {
        return Err(format!("{base} on {remote} has commits that are not here: run `git fetch {remote}` first"));
    }
    let log = |args: &[&str]| git(folder, "log").args(["--no-show-signature", "--format=%h %s"]).args(args);
    let commits = lines(&printed(log(&[&commit, "--not", &begins])).await?);
    let mut unknown = vec![&commit[..], "--not", &begins];
    unknown.extend(there.as_deref());
    let unknown = printed(log(&unknown)).await?;
    let pushed = if there.as_ref() == Some(&commit) { Vec::new() } else { lines(&unknown) };
    if pushed.len() > MOST || commits.len() > MOST {
        return Err(format!("more than {MOST} commits: push {branch} yourself, and open the pull request with `gh`"));
    }
    let range = format!("{begins}...{commit}");
    let stat = printed(git(folder, "diff").args(["--shortstat", "--no-ext-diff", "--no-textconv", &range])).await?;
    Ok(Outgoing {
        branch: branch.to_owned(),
        base: base.to_owned(),
        remote: remote.to_owned(),
        urls: urls.lines().map(without_secret).collect(),
        owner: owner(urls.lines().next().unwrap_or_default()),
        is_there: there.as_ref() == Some(&commit),
        commit,
        commits,
        pushed,
        stat: clean_line(stat.trim(), 200),
    })
}

/// The commits that the two branches are at on the remote.
async fn there(
    folder: &Path,
    (branch, base): (&str, &str),
    (remote, address): (&str, &str),
) -> Result<(Option<String>, Option<String>), String> {
    let [branch, base] = [branch, base].map(|name| format!("refs/heads/{name}"));
    let asked = Git::as_person(folder, "ls-remote").args(["--", address, &branch, &base]).within(ANSWER);
    let said = asked.run().await.map_err(words)?;
    if said.code != Some(0) {
        return Err(format!("the remote {remote} cannot be reached: {}", told(&said)));
    }
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    let at = |name: &str| {
        let row = text.lines().filter_map(|line| line.split_once('\t')).find(|(_, of)| *of == name);
        row.map(|(commit, _)| commit.to_owned())
    };
    Ok((at(&branch), at(&base)))
}

/// Pushes the commit to the branch of the remote. Words for the person where it was refused.
pub async fn push(folder: &Path, outgoing: &Outgoing) -> Result<(), String> {
    let Outgoing { remote, branch, commit, .. } = outgoing;
    let to = format!("{commit}:refs/heads/{branch}");
    let options = ["--no-force", "--no-follow-tags", "--recurse-submodules=no", "--porcelain"];
    let call = Git::as_person(folder, "push").args(options).args([remote, &to]).within(TAKE).grace(ANSWER);
    let said = call.run().await.map_err(words)?;
    if said.code == Some(0) { Ok(()) } else { Err(format!("`git push` failed: {}", told(&said))) }
}

/// The branch has this commit.
pub async fn has(folder: &Path, branch: &str, commit: &str) -> Result<bool, String> {
    let branch = format!("refs/heads/{branch}");
    let said = git(folder, "merge-base").args(["--is-ancestor", commit, &branch]).run().await.map_err(words)?;
    Ok(said.code == Some(0))
}

fn told(said: &Said) -> String {
    let lines = said.stderr.lines().filter(|line| !line.trim().is_empty()).map(without_secret).collect::<Vec<_>>();
    clean_line(&lines.join(" "), 400)
}

async fn printed(call: Git) -> Result<String, String> {
    Ok(paths::shown(&line(call.ok().await.map_err(words)?)))
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(|line| clean_line(line, 200)).collect()
}

/// An address without what stands in it for a password.
fn without_secret(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("://") {
        out.push_str(before);
        out.push_str("://");
        let host = after.find(['/', ' ', '\'', '"']).unwrap_or(after.len());
        rest = after[..host].rfind('@').map_or(after, |at| {
            out.push_str("•••");
            &after[at..]
        });
    }
    clean_line(&(out + rest), 300)
}

/// The owner in an address of a repository, as `ada` in `git@github.com:ada/shop.git`.
fn owner(url: &str) -> Option<String> {
    let url = url.trim_end_matches('/').trim_end_matches(".git");
    let mut parts = url.rsplit(['/', ':']);
    let (_, owner) = (parts.next()?, parts.next()?);
    (!owner.is_empty()).then(|| owner.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_its_password_and_tells_the_owner() {
        for (url, shown, of) in [
            ("https://github.com/ada/shop.git", "https://github.com/ada/shop.git", Some("ada")),
            ("https://ada:ghp_x@github.com/ada/shop", "https://•••@github.com/ada/shop", Some("ada")),
            ("https://a@b:ghp_x@github.com/ada/shop", "https://•••@github.com/ada/shop", Some("ada")),
            ("git@github.com:ada/shop.git", "git@github.com:ada/shop.git", Some("ada")),
            ("/srv/git/ada/shop.git/", "/srv/git/ada/shop.git/", Some("ada")),
            ("shop", "shop", None),
        ] {
            assert_eq!((without_secret(url).as_str(), owner(url).as_deref()), (shown, of));
        }
        let error = "fatal: unable to access 'https://ada:ghp_x@example.com/': no route, see https://example.com/a@b";
        let told = without_secret(error);
        assert!(!told.contains("ghp_x") && told.ends_with("see https://example.com/a@b"), "{told}");
    }
}
