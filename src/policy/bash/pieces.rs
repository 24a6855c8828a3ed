//! The pieces of a word: what each is, as far as it is known, and what each runs.

use super::parse::{self, Grammar};
use super::quotes;
use super::walker::Walker;
use brush_parser::word::{
    Parameter, ParameterExpr, ParameterTransformOp, SpecialParameter, TildeExpr, WordPiece, WordPieceWithSource,
};

/// A piece of a word, as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Atom {
    /// This text; a pattern when it is not quoted and has wildcards.
    Text { text: String, quoted: bool },
    /// One of these values.
    OneOf { texts: Vec<String>, quoted: bool },
    /// Digits.
    Number,
    /// Anything.
    Opaque {
        /// It may be several words, or none.
        many: bool,
    },
    /// Anything, perhaps one of these.
    Guess { texts: Vec<String>, many: bool },
}

impl Walker<'_> {
    /// The pieces of a word. What they run becomes units.
    pub(super) fn atoms(&mut self, raw: &str) -> Vec<Atom> {
        let Some(pieces) = parse::word(raw) else {
            self.refuse(raw, "the word could not be parsed");
            return vec![Atom::Opaque { many: true }];
        };
        self.pieces(pieces, false)
    }

    /// Runs what a here-document substitutes; the rest of it is data.
    pub(super) fn heredoc(&mut self, body: &str) {
        match parse::heredoc(body) {
            Some(pieces) => drop(self.pieces(pieces, true)),
            None => self.refuse(body, "the here-document could not be parsed"),
        }
    }

    fn pieces(&mut self, pieces: Vec<WordPieceWithSource>, quoted: bool) -> Vec<Atom> {
        let mut atoms: Vec<Atom> = Vec::new();
        for WordPieceWithSource { piece, .. } in pieces {
            // A `$` that the parser takes for itself, before what bash would take it to begin.
            let dollar = matches!(atoms.last(), Some(Atom::Text { text, .. }) if text == "$");
            if dollar && matches!(&piece, WordPiece::Text(text) if text.starts_with(['{', '(', '['])) {
                self.refuse("$", "not a valid expansion");
            }
            match piece {
                WordPiece::Text(text) => atoms.push(Atom::Text { text, quoted }),
                WordPiece::SingleQuotedText(text) => atoms.push(Atom::Text { text, quoted: true }),
                WordPiece::AnsiCQuotedText(text) => atoms.push(match quotes::ansi_c(&text) {
                    Some(text) => Atom::Text { text, quoted: true },
                    None => Atom::Opaque { many: false },
                }),
                WordPiece::DoubleQuotedSequence(inner) => {
                    // `""` is a word, too.
                    atoms.push(Atom::Text { text: String::new(), quoted: true });
                    atoms.extend(self.pieces(inner, true));
                }
                WordPiece::GettextDoubleQuotedSequence(inner) => {
                    self.pieces(inner, true);
                    atoms.push(Atom::Opaque { many: false });
                }
                WordPiece::TildeExpansion(tilde) => atoms.push(self.tilde(&tilde)),
                WordPiece::ParameterExpansion(expression) => atoms.push(self.parameter(&expression, quoted)),
                WordPiece::CommandSubstitution(script) => {
                    if script.starts_with('(') && script.ends_with(')') {
                        self.unseen(&script, "bash reads the brackets as arithmetic");
                    }
                    atoms.push(self.substitution(&script, quoted));
                }
                WordPiece::BackquotedCommandSubstitution(script) => {
                    // What a backslash means there depends on what it stands in.
                    if script.contains('\\') {
                        self.unseen(&script, "a backslash inside backquotes hides what runs");
                    }
                    atoms.push(self.substitution(&script, quoted));
                }
                WordPiece::EscapeSequence(text) => {
                    let text = text.strip_prefix('\\').unwrap_or(&text).to_owned();
                    atoms.push(Atom::Text { text, quoted: true });
                }
                WordPiece::ArithmeticExpression(expression) => {
                    self.arithmetic(&expression.value);
                    // A negative number begins with a dash.
                    atoms.push(Atom::Opaque { many: false });
                }
            }
        }
        atoms
    }

    fn substitution(&mut self, script: &str, quoted: bool) -> Atom {
        self.subscript(script, Grammar::Bash);
        match (script.trim(), self.shell.folder()) {
            ("pwd", Some(folder)) => Atom::OneOf { texts: vec![folder.display().to_string()], quoted },
            _ => Atom::Opaque { many: !quoted },
        }
    }

    fn tilde(&self, tilde: &TildeExpr) -> Atom {
        let text = match tilde {
            TildeExpr::Home => Some(self.place.home),
            TildeExpr::UserHome(user) if user == self.place.user => Some(self.place.home),
            TildeExpr::WorkingDir => self.shell.folder(),
            TildeExpr::UserHome(_)
            | TildeExpr::OldWorkingDir
            | TildeExpr::NthDirFromTopOfDirStack { .. }
            | TildeExpr::NthDirFromBottomOfDirStack { .. } => None,
        };
        match text {
            Some(path) => Atom::Text { text: path.display().to_string(), quoted: true },
            None => Atom::Opaque { many: false },
        }
    }

    fn parameter(&mut self, expression: &ParameterExpr, quoted: bool) -> Atom {
        let opaque = Atom::Opaque { many: !quoted };
        let (parameter, indirect) = match expression {
            ParameterExpr::Parameter { parameter, indirect: false } => return self.value(parameter, quoted),
            ParameterExpr::ParameterLength { parameter, indirect: false } => {
                self.value(parameter, quoted);
                return Atom::Number;
            }
            // What stands behind `:-` counts for nothing where the variable is known to hold something.
            ParameterExpr::UseDefaultValues {
                parameter: parameter @ Parameter::Named(name),
                indirect: false,
                default_value,
                ..
            } if self.is_full(name) => {
                self.inner(default_value.as_deref(), quoted);
                return self.value(parameter, quoted);
            }
            ParameterExpr::VariableNames { .. } | ParameterExpr::MemberKeys { .. } => return opaque,
            ParameterExpr::Parameter { parameter, indirect }
            | ParameterExpr::ParameterLength { parameter, indirect } => (parameter, indirect),
            ParameterExpr::UseDefaultValues { parameter, indirect, default_value: word, .. }
            | ParameterExpr::IndicateErrorIfNullOrUnset { parameter, indirect, error_message: word, .. }
            | ParameterExpr::UseAlternativeValue { parameter, indirect, alternative_value: word, .. }
            | ParameterExpr::RemoveSmallestSuffixPattern { parameter, indirect, pattern: word }
            | ParameterExpr::RemoveLargestSuffixPattern { parameter, indirect, pattern: word }
            | ParameterExpr::RemoveSmallestPrefixPattern { parameter, indirect, pattern: word }
            | ParameterExpr::RemoveLargestPrefixPattern { parameter, indirect, pattern: word }
            | ParameterExpr::UppercaseFirstChar { parameter, indirect, pattern: word }
            | ParameterExpr::UppercasePattern { parameter, indirect, pattern: word }
            | ParameterExpr::LowercaseFirstChar { parameter, indirect, pattern: word }
            | ParameterExpr::LowercasePattern { parameter, indirect, pattern: word } => {
                self.inner(word.as_deref(), quoted);
                (parameter, indirect)
            }
            ParameterExpr::AssignDefaultValues { parameter, indirect, default_value, .. } => {
                self.inner(default_value.as_deref(), quoted);
                self.unseen(&parameter.to_string(), "an expansion sets a variable");
                (parameter, indirect)
            }
            ParameterExpr::ReplaceSubstring { parameter, indirect, pattern, replacement, .. } => {
                self.inner(Some(pattern), quoted);
                self.inner(replacement.as_deref(), quoted);
                (parameter, indirect)
            }
            ParameterExpr::Substring { parameter, indirect, offset, length } => {
                for value in std::iter::once(offset).chain(length) {
                    self.arithmetic(&value.value);
                    self.inner(Some(&value.value), quoted);
                }
                (parameter, indirect)
            }
            ParameterExpr::Transform { parameter, indirect, op } => {
                match op {
                    ParameterTransformOp::PromptExpand => {
                        self.unseen(&parameter.to_string(), "@P runs what stands in the variable");
                    }
                    ParameterTransformOp::CapitalizeInitial
                    | ParameterTransformOp::ExpandEscapeSequences
                    | ParameterTransformOp::PossiblyQuoteWithArraysExpanded { .. }
                    | ParameterTransformOp::Quoted
                    | ParameterTransformOp::ToAssignmentLogic
                    | ParameterTransformOp::ToAttributeFlags
                    | ParameterTransformOp::ToLowerCase
                    | ParameterTransformOp::ToUpperCase => {}
                }
                (parameter, indirect)
            }
        };
        self.value(parameter, quoted);
        if *indirect {
            self.unseen(&parameter.to_string(), "the variable is a reference to another one");
        }
        opaque
    }

    /// Whether the variable surely holds some text.
    fn is_full(&mut self, name: &str) -> bool {
        match self.shell.get(name) {
            Some(texts) => texts.iter().all(|text| !text.is_empty()),
            None => {
                matches!(name, "TMPDIR" | "TMP" | "TEMP") && matches!(self.variable(name, true), Atom::OneOf { .. })
            }
        }
    }

    /// A word inside of an expansion: only what it runs is of interest. Where the parser and bash see its end in different
    /// places it is not read: between double quotes a single one means nothing to bash, and `<<` means nothing to it here.
    fn inner(&mut self, word: Option<&str>, quoted: bool) {
        let Some(word) = word else { return };
        if word.contains("<<") || quoted && word.contains('\'') {
            return self.unseen(word, "bash ends the expansion elsewhere");
        }
        match parse::word(word) {
            Some(pieces) => drop(self.pieces(pieces, quoted)),
            None => self.refuse(word, "the word could not be parsed"),
        }
    }

    fn value(&mut self, parameter: &Parameter, quoted: bool) -> Atom {
        match parameter {
            Parameter::Named(name) => self.variable(name, quoted),
            Parameter::Special(special) => match special {
                SpecialParameter::PositionalParameterCount
                | SpecialParameter::LastExitStatus
                | SpecialParameter::ProcessId
                | SpecialParameter::LastBackgroundProcessId => Atom::Number,
                SpecialParameter::AllPositionalParameters { concatenate } => {
                    Atom::Opaque { many: !(quoted && *concatenate) }
                }
                SpecialParameter::CurrentOptionFlags | SpecialParameter::ShellName => Atom::Opaque { many: !quoted },
            },
            Parameter::Positional(_) => Atom::Opaque { many: !quoted },
            Parameter::NamedWithIndex { name, index } => {
                self.arithmetic(index);
                self.inner(Some(index), quoted);
                self.variable(name, quoted);
                Atom::Opaque { many: !quoted }
            }
            Parameter::NamedWithAllIndices { name, .. } => {
                self.variable(name, quoted);
                Atom::Opaque { many: true }
            }
        }
    }

    fn variable(&mut self, name: &str, quoted: bool) -> Atom {
        if let Some(texts) = self.shell.get(name) {
            return Atom::OneOf { texts: texts.to_vec(), quoted };
        }
        let known = match name {
            "HOME" => Some(self.place.home.display().to_string()),
            "USER" | "LOGNAME" => Some(self.place.user.to_owned()),
            "PWD" => self.shell.folder().map(|folder| folder.display().to_string()),
            "TMPDIR" | "TMP" | "TEMP" if !self.is_named(name) => {
                self.place.view.scratch().map(|scratch| scratch.display().to_string())
            }
            _ => None,
        };
        if let Some(text) = known {
            return Atom::OneOf { texts: vec![text], quoted };
        }
        // What the script may have set it to, it may have been before.
        let inherited = quotes::is_secret_small_name(name) && !self.is_named(name);
        if quotes::is_secret_name(name) && self.shell.is_assigned(name) {
            self.doubtful(&format!("${name}"), "the variable is named like a secret");
        } else if quotes::is_secret_name(name) || inherited {
            self.refuse(&format!("${name}"), "the variable may hold a secret");
        } else if !quotes::is_public_name(name) && !self.shell.is_assigned(name) {
            self.doubtful(&format!("${name}"), "the value of the variable may be secret");
        }
        if !self.shell.guesses(name).is_empty() {
            return Atom::Guess { texts: self.shell.guesses(name).to_vec(), many: !quoted };
        }
        Atom::Opaque { many: !quoted }
    }
}
