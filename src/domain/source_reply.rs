//! What goes back to the issue that a ticket was imported from: a comment on what was done, and its closing. Which issue that is, what
//! has been sent already, and the comment's text. Sending is `runtime::source_reply`'s.

use crate::base::id::TicketId;
use crate::base::text::clean_line;
use crate::base::time::Timestamp;
use crate::domain::pull_request;
use crate::domain::report::RunReport;
use crate::domain::worded::worded;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Longest comment, in bytes: GitHub takes 65,536 characters.
const COMMENT: usize = 60_000;

worded! {
    /// What is sent there.
    pub enum Deed {
        Comment = "comment",
        Close = "close",
    }
}

impl Deed {
    /// That it happened.
    pub fn done(self) -> &'static str {
        match self {
            Self::Comment => "commented on",
            Self::Close => "closed",
        }
    }
}

/// What is wanted to be sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SourceReply {
    pub comment: bool,
    pub close: bool,
}

impl SourceReply {
    /// In the order in which it is sent.
    pub fn deeds(self) -> Vec<Deed> {
        let wants = |deed: &Deed| match deed {
            Deed::Comment => self.comment,
            Deed::Close => self.close,
        };
        Deed::ALL.iter().copied().filter(wants).collect()
    }
}

/// The issue that a ticket came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Upstream {
    /// `repository`: owner and name.
    Github {
        repository: String,
        number: u64,
    },
    Beads(String),
}

impl fmt::Display for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Github { repository, number } => write!(f, "{repository}#{number}"),
            Self::Beads(id) => f.write_str(id),
        }
    }
}

/// The issue that a ticket's `external-ref` names; the error says why there is none.
pub fn upstream(reference: &str) -> Result<Upstream, String> {
    let is_name = |text: &str| {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        !text.is_empty() && !text.starts_with(['-', '.']) && text.chars().all(is_plain)
    };
    let found = match reference.split_once(':') {
        Some(("github", key)) => key.rsplit_once('#').and_then(|(repository, number)| {
            let (owner, name) = repository.split_once('/')?;
            let number: u64 = number.parse().ok()?;
            let repository = repository.to_owned();
            (is_name(owner) && is_name(name)).then_some(Upstream::Github { repository, number })
        }),
        Some(("beads", id)) => is_name(id).then(|| Upstream::Beads(id.to_owned())),
        _ => None,
    };
    found.ok_or_else(|| {
        let shown = clean_line(reference, 200);
        format!("external-ref `{shown}` is not an issue: only tickets imported from github or beads have one")
    })
}

/// What was sent, or is being sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sent {
    pub deed: Deed,
    /// A comment has it in its text, so that it is found again.
    pub id: String,
    pub begun: Timestamp,
    /// What came of it; `None`: not known.
    #[serde(default)]
    pub end: Option<End>,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "came", rename_all = "snake_case")]
pub enum End {
    /// `url`: of the comment; may be empty.
    Done {
        url: String,
    },
    Failed {
        why: String,
    },
}

/// All that was sent for a ticket to its issue, oldest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replies {
    pub ticket: TicketId,
    /// Its file when the last of it was sent.
    pub path: String,
    pub reference: String,
    pub sent: Vec<Sent>,
    /// What could not even be tried the last time, and why. It was not begun, so the settings try it again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub untried: Vec<Untried>,
}

/// Why something could not even be tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Untried {
    pub deed: Deed,
    pub why: String,
}

impl Replies {
    /// The last of its kind.
    pub fn last(&self, deed: Deed) -> Option<&Sent> {
        self.sent.iter().rev().find(|sent| sent.deed == deed)
    }

    /// Where the last of its kind is that has arrived; may be empty.
    pub fn done(&self, deed: Deed) -> Option<&str> {
        self.sent.iter().rev().filter(|sent| sent.deed == deed).find_map(|sent| match &sent.end {
            Some(End::Done { url }) => Some(url.as_str()),
            _ => None,
        })
    }

    /// What is not known to have arrived, in words, each with what tries it again. `ticket`: as it is typed.
    pub fn troubles(&self, ticket: &str) -> Vec<String> {
        let issue = upstream(&self.reference).map_or(self.reference.clone(), |issue| issue.to_string());
        let failed = Deed::ALL.iter().filter_map(|deed| match &self.last(*deed)?.end {
            Some(End::Failed { why }) => Some((*deed, why)),
            _ => None,
        });
        let failed = failed.chain(self.untried.iter().map(|one| (one.deed, &one.why)));
        let words = |(deed, why): (Deed, &String)| {
            let (why, ticket, flag) = (clean_line(why, 300), clean_line(ticket, 1_000), deed.word());
            format!("{issue} was not {} (`programmator source {ticket} --{flag}` tries again): {why}", deed.done())
        };
        failed.map(words).chain(self.open().map(|deed| open_words(&issue, ticket, deed))).collect()
    }

    /// Those of which nobody knows what came of them.
    pub fn open(&self) -> impl Iterator<Item = Deed> {
        Deed::ALL.iter().copied().filter(|deed| self.last(*deed).is_some_and(|sent| sent.end.is_none()))
    }
}

/// For the person, of something that was begun and whose end is not known; the ticket's name as it is typed.
pub fn open_words(upstream: &str, ticket: &str, deed: Deed) -> String {
    let (what, ticket) = (deed.word(), clean_line(ticket, 1_000));
    format!("a {what} of {upstream} was interrupted: `programmator source {ticket} --{what}` checks whether it arrived")
}

/// An issue as `gh issue view --json` prints it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Issue {
    pub title: String,
    pub state: String,
    pub url: String,
    #[serde(default)]
    pub comments: Vec<Comment>,
}

/// A comment of an issue.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Comment {
    #[serde(default)]
    pub body: String,
    #[serde(default)]
    pub url: String,
}

impl Issue {
    /// It is this one; an error where it is another one by now, or none.
    pub fn is_the(&self, repository: &str, number: u64) -> Result<(), String> {
        let place = self.url.to_lowercase();
        let wanted = format!("/{}/issues/{number}", repository.to_lowercase());
        if place.starts_with("https://") && place.ends_with(&wanted) {
            return Ok(());
        }
        let url = clean_line(&self.url, 300);
        Err(if place.contains("/pull/") {
            format!("{repository}#{number} is a pull request, not an issue: {url}")
        } else {
            format!("{repository}#{number} is now a different issue: {url}")
        })
    }

    pub fn is_closed(&self) -> bool {
        self.state.eq_ignore_ascii_case("closed")
    }

    /// The comment with this id.
    pub fn comment(&self, id: &str) -> Option<&Comment> {
        self.comments.iter().find(|comment| comment.body.contains(&mark(id)))
    }
}

/// What a comment is found again by. It is not shown there.
fn mark(id: &str) -> String {
    format!("<!-- programmator {id} -->")
}

/// How far a ticket is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    Done,
    /// It has no phases, and is not done.
    Begun,
    Phases {
        done: usize,
        all: usize,
    },
}

/// The comment's text. `runs`: of the ticket, oldest first; `mask` takes secrets out.
pub fn comment(
    ticket: &TicketId,
    runs: &[RunReport],
    progress: Progress,
    id: &str,
    mask: &dyn Fn(&str) -> String,
) -> String {
    let begin = match progress {
        Progress::Done => "The work on this is done.".to_owned(),
        Progress::Begun => "Work in progress.".to_owned(),
        Progress::Phases { done, all } => format!("Work in progress: {done} of {all} phases are done."),
    };
    let body = if runs.is_empty() { String::new() } else { pull_request::body(ticket, runs, None, mask) };
    let mut end = body.len().min(COMMENT);
    if end < body.len() {
        end = body[..floor(&body, end)].rfind('\n').unwrap_or(0);
    }
    let cut = if end < body.len() { "\n\n(Truncated: too long.)" } else { "" };
    format!("{begin}\n\n{}{cut}\n\n{}\n", body[..end].trim_end(), mark(id)).replace("\n\n\n\n", "\n\n")
}

fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_issues_that_can_be_named_have_a_place_to_reply_to() {
        let github = Upstream::Github { repository: "Ada/shop.js".into(), number: 7 };
        assert_eq!(upstream("github:Ada/shop.js#7"), Ok(github));
        assert_eq!(upstream("beads:bd-a1.2"), Ok(Upstream::Beads("bd-a1.2".into())));
        for other in [
            "prd:docs/a.md#x", "github:ada/shop#x", "github:ada/shop/more#7", "github:-R/shop#7", "github:ada/--web#7",
            "github:ada#7", "beads:--all", "beads:bd…a1b2c3", "beads:", "JIRA-7", "",
        ] {
            assert!(upstream(other).unwrap_err().contains("is not an issue"), "{other}");
        }
    }

    #[test]
    fn an_issue_that_was_moved_or_is_a_pull_request_is_another_one() {
        let of = |url: &str| {
            let issue = Issue { title: "T".into(), state: "OPEN".into(), url: url.into(), comments: Vec::new() };
            issue.is_the("ada/shop", 7)
        };
        assert!(of("https://github.com/Ada/shop/issues/7").is_ok());
        assert!(of("https://ghe.example/ada/shop/issues/7").is_ok());
        assert!(of("https://github.com/ada/shop/pull/7").unwrap_err().contains("pull request"));
        for other in [
            "https://github.com/eve/shop/issues/7", "https://github.com/ada/shop/issues/17",
            "ftp://github.com/ada/shop/issues/7",
        ] {
            assert!(of(other).unwrap_err().contains("a different issue"), "{other}");
        }
    }

    #[test]
    fn a_comment_is_found_again_and_is_not_too_long() {
        let id = TicketId::parse("tk-1").unwrap();
        let of = |progress| comment(&id, &[], progress, "a1", &str::to_owned);
        let text = of(Progress::Done);
        assert_eq!(text, "The work on this is done.\n\n<!-- programmator a1 -->\n");
        assert!(of(Progress::Phases { done: 1, all: 2 }).starts_with("Work in progress: 1 of 2 phases are done."));
        assert!(of(Progress::Begun).starts_with("Work in progress.\n"), "without phases there is nothing to count");
        let there = |body: &str| Issue {
            title: String::new(),
            state: "closed".into(),
            url: String::new(),
            comments: vec![Comment { body: body.to_owned(), url: "u".into() }],
        };
        assert!(there(&text).comment("a1").is_some() && there(&text).is_closed());
        assert!(there(&text).comment("a").is_none());
        assert!(there("programmator a1").comment("a1").is_none());
    }
}
