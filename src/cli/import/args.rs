//! What can be typed behind `programmator import`.

use crate::cli::options::whole;
use crate::domain::import::foreign::Taken;
use crate::domain::import::item::Source;
use crate::runtime::importing::{Form, LIMIT, Wanted};
use clap::Args;
use std::path::PathBuf;

/// What is imported, and how.
#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub struct ImportArgs {
    /// Source: beads, github, prd, hank, autoclaude, ralph, ralphex or tasks; optionally with a document after a colon.
    #[arg(value_name = "SOURCE", value_parser = Origin::parse)]
    origin: Origin,
    /// Documents; optional for hank, autoclaude, ralph, ralphex and beads: uses the files found in the folder.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Import all new tasks without asking; with --plan, write the draft into the ticket without review.
    #[arg(long, short)]
    pub(super) yes: bool,
    /// Only show the state of the tasks.
    #[arg(long)]
    pub dry_run: bool,
    /// Print a JSON object; needs --yes, --dry-run or --plan.
    #[arg(long)]
    pub(super) json: bool,
    /// Maximum number of tasks; 0: all.
    #[arg(long, value_name = "N", default_value_t = LIMIT, value_parser = whole)]
    pub(in crate::cli) limit: usize,
    /// With github: only issues with this label.
    #[arg(long)]
    pub(in crate::cli) label: Option<String>,
    /// Create one ticket per list, with its tasks as phases.
    #[arg(long)]
    pub(super) one: bool,
    /// Of prd: make a ticket of the document, and let Claude draft its phases in plan mode, or split it into tickets.
    #[arg(long, conflicts_with_all = ["one", "commands", "label", "limit"])]
    pub(super) plan: bool,
    /// Import validation commands, too: they will be run.
    #[arg(long)]
    pub(super) commands: bool,
    /// Import links, too.
    #[arg(long)]
    pub(super) links: bool,
}

impl ImportArgs {
    /// What a person is asked about who has named a source and nothing else.
    pub(in crate::cli) fn of(source: Source, files: Vec<PathBuf>) -> Self {
        let (label, limit) = (None, LIMIT);
        let [yes, dry_run, json, one, plan, commands, links] = [false; 7];
        let origin = Origin { source, file: None };
        Self { origin, files, yes, dry_run, json, limit, label, one, plan, commands, links }
    }

    pub(super) fn source(&self) -> Source {
        self.origin.source
    }

    /// The documents that are named.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        self.origin.file.iter().chain(&self.files).cloned().collect()
    }

    /// What is to be imported by them.
    pub(super) fn wanted(&self) -> Wanted {
        let taken = Taken { commands: self.commands, links: self.links };
        let (files, label) = (self.files(), self.label.clone());
        let form = match (self.one, self.plan) {
            (_, true) => Form::Whole,
            (true, false) => Form::One,
            (false, false) => Form::Tasks,
        };
        Wanted { source: self.source(), files, limit: self.limit, label, form, taken }
    }

    /// The same, with or without a question, as an object or as text.
    pub(in crate::cli) fn asking(self, asks: bool, json: bool) -> Self {
        Self { yes: !asks, json, ..self }
    }
}

/// A source of tasks, with its document where one is named behind a colon: `prd:docs/shop.md`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) struct Origin {
    pub(in crate::cli) source: Source,
    pub(in crate::cli) file: Option<PathBuf>,
}

impl Origin {
    pub(in crate::cli) fn parse(typed: &str) -> Result<Self, String> {
        let (word, file) = typed.split_once(':').map_or((typed, None), |(word, file)| (word, Some(file)));
        let source = Source::from_word(word).ok_or_else(|| format!("use one of {}", Source::WORDS.join(", ")))?;
        let file = file.filter(|file| !file.is_empty()).map(PathBuf::from);
        Ok(Self { source, file })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_a_word_or_a_word_and_a_document() {
        let of = |source, file: Option<&str>| Origin { source, file: file.map(PathBuf::from) };
        assert_eq!(Origin::parse("beads"), Ok(of(Source::Beads, None)));
        assert_eq!(Origin::parse("prd:a:b.md"), Ok(of(Source::Prd, Some("a:b.md"))));
        assert_eq!(Origin::parse("prd:"), Ok(of(Source::Prd, None)));
        assert!(Origin::parse("jira").unwrap_err().contains("beads, github"));
    }
}
