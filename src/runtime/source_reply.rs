//! Sends what a person or their settings want told to the issue that a ticket came from, through its issue tool: looked at first, noted
//! before it is sent and after, and never twice unasked.

use crate::adapters::clock::fresh_id;
use crate::adapters::issue_tool::{self, GH, ToolError};
use crate::adapters::private_file::PrivateFileError;
use crate::adapters::source_ledger::SourceLedger;
use crate::adapters::store::Store;
use crate::adapters::tickets;
use crate::base::text::clean_line;
use crate::base::time::Clock;
use crate::domain::credentials::masked;
use crate::domain::import::issues;
use crate::domain::source_reply::{
    Deed, End, Issue, Progress, Sent, SourceReply, Upstream, comment, open_words, upstream,
};
use crate::domain::ticket::Ticket;
use crate::runtime::export::stored::Secrets;
use crate::runtime::report::runs_of_ticket;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Whose wish it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// A person; `again`: what was sent already, too; `looks`: they only look, and nothing is sent or noted.
    Person { again: bool, looks: bool },
    /// The settings: what was tried once is left to the person.
    Settings,
}

/// A ticket whose issue is replied to.
pub struct Source {
    pub folder: PathBuf,
    /// The state folder.
    pub state: PathBuf,
    pub path: PathBuf,
    pub ticket: Ticket,
    pub reference: String,
    pub upstream: Upstream,
}

/// What would be sent, while nobody else sends anything for the ticket.
pub struct PlannedReply {
    pub upstream: Upstream,
    /// The issue's title, and where it is; may be empty.
    pub title: String,
    pub url: String,
    pub deeds: Vec<Deed>,
    /// What the person should know.
    pub notes: Vec<String>,
    /// The comment's.
    pub id: String,
    ledger: SourceLedger,
    folder: PathBuf,
}

impl Source {
    /// That of the ticket in this file; the error says why it has none.
    pub fn of(path: &Path, folder: &Path, state: &Path) -> Result<Self, String> {
        let ticket = tickets::load(path).map_err(|error| error.to_string())?;
        let Some(reference) = tickets::reference(&ticket).map(str::to_owned) else {
            return Err(format!("{} was not imported: it has no external-ref", ticket.id));
        };
        let upstream = upstream(&reference).map_err(|why| format!("{}: {why}", ticket.id))?;
        let (folder, state, path) = (folder.to_owned(), state.to_owned(), path.to_owned());
        Ok(Self { folder, state, path, ticket, reference, upstream })
    }

    /// Looks at what there is to send, and at the issue. The error says why nothing is sent.
    pub async fn plan(&self, wanted: SourceReply, by: By) -> Result<PlannedReply, String> {
        let (again, looks) = match by {
            By::Person { again, looks } => (again, looks),
            By::Settings => (false, false),
        };
        let (state, id, path, reference) = (&self.state, &self.ticket.id, &self.path, &self.reference);
        let ledger = if looks {
            SourceLedger::look(state, id, path, reference).map(Some)
        } else {
            SourceLedger::open(state, id, path, reference)
        };
        let mut ledger = ledger
            .map_err(|error| error.to_string())?
            .ok_or("another process is sending for this ticket: try again when it has ended")?;
        let (mut deeds, mut open, mut notes) = (Vec::new(), Vec::new(), Vec::new());
        for deed in wanted.deeds() {
            match (ledger.replies().last(deed).cloned(), by) {
                (None, _) | (Some(Sent { end: Some(End::Done { .. }), .. }), By::Person { again: true, .. }) => {
                    deeds.push(deed);
                }
                (Some(Sent { end: None, .. }), By::Settings) => notes.push(unsettled(self, deed)),
                (Some(_), By::Settings) => {}
                (Some(sent @ Sent { end: None, .. }), _) => open.push(sent),
                // It may have arrived for all that.
                (Some(sent @ Sent { end: Some(End::Failed { .. }), .. }), _) => {
                    if let Some(End::Failed { why }) = &sent.end {
                        notes.push(format!("the {} failed before: {}", deed.word(), clean_line(why, 300)));
                    }
                    open.push(sent);
                }
                (Some(Sent { end: Some(End::Done { url }), .. }), _) => notes.push(self.already(deed, &url)),
            }
        }
        let mut title = String::new();
        let mut url = String::new();
        if !(deeds.is_empty() && open.is_empty()) {
            let issue = self.look(!open.is_empty()).await?;
            for sent in open {
                let (found, at) = match sent.deed {
                    Deed::Comment => {
                        let there = issue.comment(&sent.id);
                        (there.is_some(), there.map(|one| one.url.clone()).unwrap_or_default())
                    }
                    Deed::Close => (issue.is_closed(), String::new()),
                };
                let what = sent.deed.word();
                if found {
                    notes.push(format!("the earlier {what} has arrived"));
                    ledger.end(sent.deed, End::Done { url: at }).map_err(|error| error.to_string())?;
                    continue;
                }
                notes.push(format!("the earlier {what} has not arrived"));
                match ledger.replies().done(sent.deed) {
                    Some(url) if !again => notes.push(self.already(sent.deed, url)),
                    _ => deeds.push(sent.deed),
                }
            }
            if issue.is_closed() && deeds.contains(&Deed::Close) {
                notes.push(format!("{} is already closed", self.upstream));
                deeds.retain(|deed| *deed != Deed::Close);
            }
            (title, url) = (issue.title, issue.url);
        }
        let (id, folder, upstream) = (fresh_id(), self.folder.clone(), self.upstream.clone());
        deeds.sort_by_key(|deed| *deed == Deed::Close);
        Ok(PlannedReply { upstream, title, url, deeds, notes, id, ledger, folder })
    }

    /// Notes why nothing of this could be tried. What another program is sending is its own matter. Blocking.
    pub fn note_untried(&self, wanted: SourceReply, why: &str) -> Result<(), PrivateFileError> {
        let ledger = SourceLedger::open(&self.state, &self.ticket.id, &self.path, &self.reference)?;
        ledger.map_or(Ok(()), |mut ledger| ledger.not_tried(&wanted.deeds(), why))
    }

    /// That it was sent before.
    fn already(&self, deed: Deed, url: &str) -> String {
        let at = if url.is_empty() { String::new() } else { format!(" ({})", clean_line(url, 300)) };
        let hint = if deed == Deed::Comment { "; --again sends it again" } else { "" };
        format!("{} was already {}{at}{hint}", self.upstream, deed.done())
    }

    /// The issue as it is now; an error where it is not the one that the ticket records.
    async fn look(&self, with_comments: bool) -> Result<Issue, String> {
        match &self.upstream {
            Upstream::Github { repository, number } => {
                let here = issue_tool::repository(&self.folder).await.map_err(|error| error.to_string())?;
                if !here.eq_ignore_ascii_case(repository) {
                    let here = clean_line(&here, 200);
                    return Err(format!(
                        "nothing was sent: the ticket came from {repository}#{number}, but `gh` works with {here} in \
                         this folder; go to a clone of {repository}, or `gh repo set-default {repository}`"
                    ));
                }
                let number_text = number.to_string();
                let fields = if with_comments { "title,state,url,comments" } else { "title,state,url" };
                let view = ["issue", "view", &number_text, "--json", fields];
                let issue: Issue = GH.json(&view, &self.folder).await.map_err(|error| error.to_string())?;
                issue.is_the(repository, *number).map_err(|why| format!("nothing was sent: {why}"))?;
                Ok(issue)
            }
            Upstream::Beads(id) => {
                let show = ["show", id, "--json"];
                let tool = issue_tool::beads().map_err(|error| error.to_string())?;
                let text = tool.printed(&show, &self.folder).await.map_err(|error| error.to_string())?;
                // Older ones print the issue alone.
                let text = if text.trim_start().starts_with('{') { format!("[{text}]") } else { text };
                let items = issues::beads(&text).map_err(|_| tool.unexpected(&show).to_string())?;
                let item = items.into_iter().find(|item| item.key == *id);
                let item = item.ok_or_else(|| format!("{id} no longer exists"))?;
                let state = if item.is_done { "closed" } else { "open" }.to_owned();
                Ok(Issue { title: item.title, state, url: String::new(), comments: Vec::new() })
            }
        }
    }

    /// The comment that would be sent, without secrets. Blocking: reads the ticket's runs.
    pub fn comment(
        &self,
        store: Option<&Store>,
        id: &str,
        clock: &dyn Clock,
        secrets: &Secrets,
    ) -> Result<String, String> {
        let path = self.path.display().to_string();
        let runs = match store {
            Some(store) => runs_of_ticket(store, &path, clock.now()).map_err(|error| error.to_string())?.runs,
            None => Vec::new(),
        };
        let mask = |text: &str| masked(&secrets.mask(text.to_owned()));
        let all = self.ticket.phases.len();
        let done = self.ticket.phases.iter().filter(|phase| phase.done).count();
        let progress = match all {
            0 if !self.ticket.is_closed() => Progress::Begun,
            _ if done == all => Progress::Done,
            _ => Progress::Phases { done, all },
        };
        Ok(masked(&secrets.mask(comment(&self.ticket.id, &runs, progress, id, &mask))))
    }
}

impl PlannedReply {
    /// Notes why nothing of it could be tried.
    pub fn note_untried(&mut self, why: &str) -> Result<(), PrivateFileError> {
        self.ledger.not_tried(&self.deeds, why)
    }

    /// Sends it. What was sent, and why the rest was not.
    pub async fn send(&mut self, text: &str, clock: &dyn Clock) -> (Vec<String>, Option<String>) {
        let mut said = Vec::new();
        for deed in self.deeds.clone() {
            if let Err(error) = self.ledger.begin(deed, &self.id, clock.now()) {
                return (said, Some(format!("{} was not {}: {error}", self.upstream, deed.done())));
            }
            let (end, failed) = match self.carry_out(deed, text).await {
                Ok(url) => {
                    let at = if url.is_empty() { String::new() } else { format!(": {}", clean_line(&url, 300)) };
                    said.push(format!("{} was {}{at}", self.upstream, deed.done()));
                    (End::Done { url }, None)
                }
                Err(why) => {
                    let told = format!("{} was not {}: {why}", self.upstream, deed.done());
                    (End::Failed { why }, Some(told))
                }
            };
            if let Err(error) = self.ledger.end(deed, end) {
                let known = failed.unwrap_or_else(|| format!("{} was {}", self.upstream, deed.done()));
                return (said, Some(format!("{known}; this could not be recorded: {error}")));
            }
            if failed.is_some() {
                return (said, failed);
            }
        }
        (said, None)
    }

    async fn carry_out(&self, deed: Deed, text: &str) -> Result<String, String> {
        let failed = |error: ToolError| error.to_string();
        match (&self.upstream, deed) {
            (Upstream::Github { .. }, Deed::Comment) => {
                let mut file = tempfile::NamedTempFile::new().map_err(|error| error.to_string())?;
                file.write_all(text.as_bytes()).map_err(|error| error.to_string())?;
                let path = file.path().to_string_lossy().into_owned();
                let args = ["issue", "comment", &self.url, "--body-file", &path];
                let url = GH.printed(&args, &self.folder).await.map_err(failed)?;
                Ok(url.trim().to_owned())
            }
            (Upstream::Github { .. }, Deed::Close) => {
                let args = ["issue", "close", &self.url];
                GH.printed(&args, &self.folder).await.map_err(failed)?;
                Ok(String::new())
            }
            (Upstream::Beads(_), Deed::Comment) => Err("issues of beads can only be closed".to_owned()),
            (Upstream::Beads(id), Deed::Close) => {
                let args = ["close", id, "--reason", "Done by programmator"];
                issue_tool::beads().map_err(failed)?.printed(&args, &self.folder).await.map_err(failed)?;
                Ok(String::new())
            }
        }
    }
}

/// The issue that the ticket in this file names, if it can be read. Blocking.
pub fn reference(path: &Path) -> Option<String> {
    tickets::reference(&tickets::load(path).ok()?).map(str::to_owned)
}

/// For the person, of something that was begun and whose end is not known.
pub fn unsettled(source: &Source, deed: Deed) -> String {
    open_words(&source.upstream.to_string(), source.ticket.id.as_str(), deed)
}
