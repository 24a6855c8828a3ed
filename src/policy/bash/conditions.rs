//! `[[ … ]]` and arithmetic. Both can run text: an index of an array is expanded even where it comes out of a
//! variable.

use super::walker::Walker;
use crate::policy::bash::pieces::Atom;
use crate::policy::unit::{Class, Doubt, Field, Program, Unit};
use brush_parser::ast::{BinaryPredicate, ExtendedTestExpr, ExtendedTestExprCommand, UnaryPredicate};

impl Walker<'_> {
    pub(super) fn extended_test(&mut self, ExtendedTestExprCommand { expr, loc: _ }: &ExtendedTestExprCommand) {
        self.units.push(Unit::new("Bash", Program::Named("[[".to_owned()), format!("[[ {expr} ]]")).does(Class::Read));
        self.test(expr);
    }

    fn test(&mut self, expression: &ExtendedTestExpr) {
        match expression {
            ExtendedTestExpr::And(one, other) | ExtendedTestExpr::Or(one, other) => {
                self.test(one);
                self.test(other);
            }
            ExtendedTestExpr::Not(inner) | ExtendedTestExpr::Parenthesized(inner) => self.test(inner),
            ExtendedTestExpr::UnaryTest(predicate, word) => {
                let field = self.single(&word.value);
                match predicate {
                    UnaryPredicate::ShellVariableIsSetAndAssigned | UnaryPredicate::ShellVariableIsSetAndNameRef => {
                        if !field.text().is_some_and(is_identifier) {
                            self.unseen(&word.value, "bash runs code in an array index");
                        }
                    }
                    UnaryPredicate::FileExists
                    | UnaryPredicate::FileExistsAndIsBlockSpecialFile
                    | UnaryPredicate::FileExistsAndIsCharSpecialFile
                    | UnaryPredicate::FileExistsAndIsDir
                    | UnaryPredicate::FileExistsAndIsRegularFile
                    | UnaryPredicate::FileExistsAndIsSetgid
                    | UnaryPredicate::FileExistsAndIsSymlink
                    | UnaryPredicate::FileExistsAndHasStickyBit
                    | UnaryPredicate::FileExistsAndIsFifo
                    | UnaryPredicate::FileExistsAndIsReadable
                    | UnaryPredicate::FileExistsAndIsNotZeroLength
                    | UnaryPredicate::FdIsOpenTerminal
                    | UnaryPredicate::FileExistsAndIsSetuid
                    | UnaryPredicate::FileExistsAndIsWritable
                    | UnaryPredicate::FileExistsAndIsExecutable
                    | UnaryPredicate::FileExistsAndOwnedByEffectiveGroupId
                    | UnaryPredicate::FileExistsAndModifiedSinceLastRead
                    | UnaryPredicate::FileExistsAndOwnedByEffectiveUserId
                    | UnaryPredicate::FileExistsAndIsSocket
                    | UnaryPredicate::ShellOptionEnabled
                    | UnaryPredicate::StringHasZeroLength
                    | UnaryPredicate::StringHasNonZeroLength => {}
                }
            }
            ExtendedTestExpr::BinaryTest(predicate, one, other) => match predicate {
                BinaryPredicate::ArithmeticEqualTo
                | BinaryPredicate::ArithmeticNotEqualTo
                | BinaryPredicate::ArithmeticLessThan
                | BinaryPredicate::ArithmeticLessThanOrEqualTo
                | BinaryPredicate::ArithmeticGreaterThan
                | BinaryPredicate::ArithmeticGreaterThanOrEqualTo => {
                    self.arithmetic(&one.value);
                    self.arithmetic(&other.value);
                }
                BinaryPredicate::FilesReferToSameDeviceAndInodeNumbers
                | BinaryPredicate::LeftFileIsNewerOrExistsWhenRightDoesNot
                | BinaryPredicate::LeftFileIsOlderOrDoesNotExistWhenRightDoes
                | BinaryPredicate::StringExactlyMatchesPattern
                | BinaryPredicate::StringDoesNotExactlyMatchPattern
                | BinaryPredicate::StringMatchesRegex
                | BinaryPredicate::StringExactlyMatchesString
                | BinaryPredicate::StringDoesNotExactlyMatchString
                | BinaryPredicate::StringContainsSubstring
                | BinaryPredicate::LeftSortsBeforeRight
                | BinaryPredicate::LeftSortsAfterRight => {
                    self.single(&one.value);
                    self.single(&other.value);
                }
            },
        }
    }

    /// An arithmetic expression: numbers, operators, and variables that are known to hold numbers.
    pub(super) fn arithmetic(&mut self, raw: &str) {
        let is_number = |text: &String| !text.is_empty() && text.chars().all(|char| char.is_ascii_digit());
        let mut sure = true;
        for atom in self.atoms(raw) {
            match atom {
                Atom::Number => {}
                Atom::Opaque { .. } | Atom::Guess { .. } => sure = false,
                Atom::OneOf { texts, .. } => sure &= texts.iter().all(is_number),
                Atom::Text { text, .. } => match self.arithmetic_text(&text) {
                    Some(known) => sure &= known,
                    None => return self.unseen(raw, "arithmetic runs code in an index or in quotes"),
                },
            }
        }
        if !sure {
            self.doubtful(&format!("(({raw}))"), "arithmetic runs code in a variable that is not a number");
        }
    }

    /// Whether every variable in a text is known to be a number; `None` when the text could run something.
    fn arithmetic_text(&self, text: &str) -> Option<bool> {
        let allowed = |char: char| char.is_ascii_alphanumeric() || "_ \t\n+-*/%<>=!&|^~?:,().#".contains(char);
        if !text.chars().all(allowed) {
            return None;
        }
        let mut words = text.split(|char: char| !char.is_ascii_alphanumeric() && !matches!(char, '_' | '#'));
        Some(words.all(|word| {
            word.is_empty() || word.starts_with(|char: char| char.is_ascii_digit()) || self.shell.is_number(word)
        }))
    }

    /// The beginning of `for ((i=0; …))`: the variable that it counts with.
    pub(super) fn counts(&mut self, initializer: &str) {
        if let Some((name, first)) = initializer.trim().split_once('=')
            && !first.is_empty()
            && first.chars().all(|char| char.is_ascii_digit())
            && self.is_counter(name)
        {
            self.shell.count(name);
        }
    }
}

/// The expression of `test` and `[`, whose `-v` expands an index.
pub(super) fn test_command(words: &[Field], unit: &mut Unit) {
    let texts: Vec<Option<&str>> = words.iter().map(Field::text).collect();
    let index = |at: usize| {
        let names = texts.get(at + 1).is_some_and(|next| next.is_some_and(is_identifier));
        matches!(texts[at], Some("-v" | "-R")) && at + 1 < texts.len() && !names
    };
    if (0..texts.len()).any(index) {
        unit.program = Program::Opaque;
        unit.doubts.push(Doubt::Words("bash runs code in an array index".to_owned()));
    }
    // A word that is not known could be `-v`, unless what stands around it says that it is none.
    let operands = words.len() - usize::from(texts.last() == Some(&Some("]")));
    let known = |at: usize| texts.get(at).copied().flatten();
    let proven = match operands {
        0 | 1 => true,
        2 => known(0).is_some_and(|first| first.starts_with('-') || first == "!"),
        3 => known(1).is_some_and(|middle| !matches!(middle, "-a" | "-o" | "-v" | "-R")),
        _ => texts.iter().all(Option::is_some),
    };
    if !proven || words.iter().any(Field::is_many) {
        unit.doubts.push(Doubt::Words("the test has a word with an unknown value, which may be -v".to_owned()));
    }
}

fn is_identifier(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|char| char.is_ascii_alphabetic() || char == '_')
        && chars.all(|char| char.is_ascii_alphanumeric() || char == '_')
}
