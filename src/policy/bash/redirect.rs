//! Redirections: what the shell itself opens for a command.

use super::walker::Walker;
use crate::policy::unit::{Class, Field, Program, Unit};
use brush_parser::ast::{
    Command, CommandPrefixOrSuffixItem, IoFileRedirectKind, IoFileRedirectTarget, IoHereDocument, IoRedirect,
};

/// Which way a file is opened.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Read,
    Write,
}

/// Whether a command of a pipeline has the pipe's own streams.
pub struct Streams {
    /// What it reads is what comes through the pipe.
    pub input: bool,
    /// What it hands on is what it prints, and no message of an error.
    pub output: bool,
}

impl Streams {
    /// Those of a simple command without redirections that would change them. A group has none that are known.
    pub fn of(command: &Command) -> Self {
        let Command::Simple(simple) = command else { return Self { input: false, output: false } };
        let before = simple.prefix.iter().flat_map(|prefix| &prefix.0);
        let items = before.chain(simple.suffix.iter().flat_map(|suffix| &suffix.0));
        let redirects = items.filter_map(|item| match item {
            CommandPrefixOrSuffixItem::IoRedirect(redirect) => Some(redirect),
            CommandPrefixOrSuffixItem::Word(_)
            | CommandPrefixOrSuffixItem::AssignmentWord(..)
            | CommandPrefixOrSuffixItem::ProcessSubstitution(..) => None,
        });
        redirects.fold(Self { input: true, output: true }, |so_far, redirect| {
            let (writes, errors) = match redirect {
                IoRedirect::File(fd, kind, _) => match kind {
                    IoFileRedirectKind::Write | IoFileRedirectKind::Append | IoFileRedirectKind::Clobber => {
                        (*fd != Some(0), *fd == Some(2))
                    }
                    IoFileRedirectKind::DuplicateOutput => (*fd != Some(0), false),
                    IoFileRedirectKind::Read
                    | IoFileRedirectKind::ReadAndWrite
                    | IoFileRedirectKind::DuplicateInput => (false, false),
                },
                IoRedirect::OutputAndError(..) => (true, false),
                IoRedirect::HereDocument(..) | IoRedirect::HereString(..) => (false, false),
            };
            Self { input: so_far.input && writes, output: so_far.output && errors }
        })
    }
}

impl Walker<'_> {
    pub(super) fn redirect(&mut self, redirect: &IoRedirect) {
        match redirect {
            IoRedirect::File(_, kind, target) => self.file(kind, target),
            IoRedirect::HereDocument(_, IoHereDocument { remove_tabs: _, requires_expansion, here_end: _, doc }) => {
                if *requires_expansion {
                    self.heredoc(&doc.value);
                }
            }
            IoRedirect::HereString(_, word) => {
                self.single(&word.value);
            }
            IoRedirect::OutputAndError(word, append) => {
                self.open(if *append { "&>>" } else { "&>" }, &word.value, Way::Write);
            }
        }
    }

    fn file(&mut self, kind: &IoFileRedirectKind, target: &IoFileRedirectTarget) {
        let (sign, way) = match kind {
            IoFileRedirectKind::Read => ("<", Way::Read),
            IoFileRedirectKind::Write => (">", Way::Write),
            IoFileRedirectKind::Append => (">>", Way::Write),
            IoFileRedirectKind::ReadAndWrite => ("<>", Way::Write),
            IoFileRedirectKind::Clobber => (">|", Way::Write),
            IoFileRedirectKind::DuplicateInput => ("<&", Way::Read),
            IoFileRedirectKind::DuplicateOutput => (">&", Way::Write),
        };
        match target {
            IoFileRedirectTarget::Filename(word) => self.open(sign, &word.value, way),
            IoFileRedirectTarget::Fd(_) => {}
            IoFileRedirectTarget::ProcessSubstitution(_, subshell) => self.subshell(subshell),
            IoFileRedirectTarget::Duplicate(word) => {
                // `>&2`, `<&-`, `>&3-`; any other word is a file.
                let number = word.value.trim_end_matches('-');
                if !number.chars().all(|char| char.is_ascii_digit()) {
                    self.open(sign, &word.value, way);
                }
            }
        }
    }

    fn open(&mut self, sign: &str, raw: &str, way: Way) {
        let text = format!("{sign} {raw}");
        let wild = |field: &Field| field.text().is_some_and(|text| text.contains(['*', '?', '[', '{']));
        let quoted = raw.contains(['\'', '"', '\\']);
        let field = self.single(raw);
        let mut unit = Unit::new("Bash", Program::Redirect, &text);
        // A pattern or braces would be expanded here, too.
        let field = if !quoted && wild(&field) { Field::opaque("") } else { field };
        match way {
            Way::Read => {
                unit = unit.does(Class::Read);
                self.reads(&field, &mut unit);
            }
            Way::Write => self.writes(&field, &mut unit),
        }
        if unit.writes.is_empty() && unit.proven() && way == Way::Write {
            // The command's own streams: nothing is opened.
            return;
        }
        self.units.push(unit);
    }
}
