//! A command's words read by its grammar: options and operands, each with its role, and whatever is not proven.

use super::grammar::{Flag, Grammar, Role, Takes};
use crate::policy::unit::{Doubt, Field, Value};
use std::collections::BTreeSet;

/// What the words say.
#[derive(Debug, Default)]
pub struct Parsed {
    /// Options by canonical name; with a value also as `name=value`.
    pub flags: BTreeSet<String>,
    /// Some word may be an option that is not known.
    pub more_flags: bool,
    /// Options whose value is known to be theirs, by canonical name.
    pub options: Vec<(String, Field)>,
    /// Values of options, then operands, each with its role.
    pub values: Vec<(Role, Field)>,
    pub operands: Vec<Field>,
    /// Where the first operand with the role of a command stands in the words.
    pub command_at: Option<usize>,
    pub doubts: Vec<Doubt>,
}

impl Parsed {
    /// The value of an option, the last one.
    pub fn option(&self, name: &str) -> Option<&Field> {
        self.options.iter().rev().find(|(other, _)| other == name).map(|(_, value)| value)
    }
}

/// Reads the words after a command's name.
pub fn parse(grammar: &Grammar, words: &[Field]) -> Parsed {
    let mut parsed = Parsed::default();
    let mut operands: Vec<(usize, Field)> = Vec::new();
    let mut at = 0;
    let mut over = false;
    while let Some(word) = words.get(at) {
        at += 1;
        if grammar.words && word.text().is_some_and(is_expression) {
            continue;
        }
        if over || !word.may_be_option() || word.text() == Some("-") {
            operands.push((at - 1, word.clone()));
            over |= grammar.stops;
            continue;
        }
        let Some(text) = word.text() else {
            if is_option_with_data(grammar, word, &mut parsed) {
                continue;
            }
            read_unclear(grammar, &mut parsed);
            // What may be an option may as well be an operand.
            operands.push((at - 1, word.clone()));
            over |= grammar.stops;
            continue;
        };
        if text == "--" {
            over = true;
            continue;
        }
        if word.listed {
            parsed.doubts.push(Doubt::Words(format!("the file name {text} would be read as an option")));
        }
        at += read_option(grammar, text, words.get(at), &mut parsed);
    }
    assign_roles(grammar, operands, &mut parsed);
    parsed
}

/// Reads an option and says how many of the next words belong to it.
fn read_option(grammar: &Grammar, text: &str, next: Option<&Field>, parsed: &mut Parsed) -> usize {
    let (name, attached) = match text.split_once('=') {
        Some((name, value)) if text.starts_with("--") || grammar.words => (name, Some(Field::known(value))),
        _ => (text, None),
    };
    if let Some(flag) = grammar.flag(name) {
        // The program may know the short spelling for another option that is not in the table.
        if grammar.flags.get(name).is_none() && !grammar.harmless {
            parsed.doubts.push(Doubt::Meaning(format!("abbreviated option {name}: write it out")));
        }
        return take(flag, attached, next, parsed);
    }
    if grammar.flags.numbers && text.len() > 1 && text[1..].chars().all(|char| char.is_ascii_digit()) {
        return 0;
    }
    if grammar.words || text.starts_with("--") {
        unknown(grammar, text, parsed);
        return 0;
    }
    // A cluster: the letters of options without values, and at most one with a value at the end.
    let letters: Vec<char> = text.chars().skip(1).collect();
    for (at, letter) in letters.iter().enumerate() {
        let Some(flag) = grammar.flag(&format!("-{letter}")) else {
            unknown(grammar, text, parsed);
            parsed.flags.insert(letter.to_string());
            continue;
        };
        let rest: String = letters[at + 1..].iter().collect();
        match flag.takes {
            Takes::Nothing => {
                parsed.flags.insert(flag.name.clone());
            }
            Takes::Attached | Takes::Value(_) => {
                let attached = (!rest.is_empty()).then(|| Field::known(rest));
                return take(flag, attached, next, parsed);
            }
        }
    }
    0
}

/// Takes an option with its value, and says how many of the next words belong to it.
fn take(flag: &Flag, attached: Option<Field>, next: Option<&Field>, parsed: &mut Parsed) -> usize {
    let (name, takes) = (flag.name.clone(), flag.takes);
    if let Some(text) = attached.as_ref().and_then(Field::text) {
        parsed.flags.insert(format!("{name}={text}"));
    }
    let value = match takes {
        Takes::Value(_) => attached.as_ref().or(next),
        Takes::Attached => attached.as_ref(),
        Takes::Nothing => None,
    };
    if let Some(value) = value {
        if value.is_many() {
            parsed.doubts.push(Doubt::Words(format!("the value of {name} may be several words")));
        }
        if !flag.knows(value.text()) {
            parsed.doubts.push(Doubt::Meaning(format!("unrecognized value of {name}")));
        }
        parsed.options.push((name.clone(), value.clone()));
    }
    match (takes, attached) {
        (Takes::Nothing, Some(_)) => {
            parsed.doubts.push(Doubt::Meaning(format!("{name} takes no value")));
            0
        }
        (Takes::Nothing | Takes::Attached, None | Some(_)) => {
            parsed.flags.insert(name);
            0
        }
        (Takes::Value(role), Some(value)) => {
            parsed.flags.insert(name);
            parsed.values.push((role, value));
            0
        }
        (Takes::Value(role), None) => {
            parsed.flags.insert(name.clone());
            match next {
                Some(value) => parsed.values.push((role, value.clone())),
                None => parsed.doubts.push(Doubt::Meaning(format!("{name} needs a value"))),
            }
            1
        }
    }
}

/// Whether a word is surely an option of which only the value is not known, and that is text.
fn is_option_with_data(grammar: &Grammar, word: &Field, parsed: &mut Parsed) -> bool {
    let Value::Opaque { prefix } = &word.value else { return false };
    let name = prefix.split_once('=').map(|(name, _)| name).filter(|name| name.starts_with("--"));
    let flag = name
        .and_then(|name| grammar.flag(name))
        .filter(|flag| flag.takes == Takes::Value(Role::Data) && flag.among.is_empty());
    parsed.flags.extend(flag.map(|flag| flag.name.clone()));
    flag.is_some()
}

/// A word that may be an option, and is not known.
fn read_unclear(grammar: &Grammar, parsed: &mut Parsed) {
    if grammar.harmless {
        return;
    }
    parsed.more_flags = true;
    parsed.doubts.push(Doubt::Words("a word with an unknown value may be an option".to_owned()));
}

fn unknown(grammar: &Grammar, text: &str, parsed: &mut Parsed) {
    let name = text.trim_start_matches('-');
    parsed.flags.insert(name.split('=').next().unwrap_or(name).to_owned());
    if !grammar.harmless {
        parsed.doubts.push(Doubt::Meaning(format!("unrecognized option {text}")));
    }
}

/// Words of `find` between its tests.
fn is_expression(text: &str) -> bool {
    matches!(text, "(" | ")" | "!" | ",")
}

fn assign_roles(grammar: &Grammar, operands: Vec<(usize, Field)>, parsed: &mut Parsed) {
    let given = grammar.instead.split_whitespace().any(|name| parsed.flags.contains(name));
    let first = if given { &grammar.operands.first[1..] } else { &grammar.operands.first[..] };
    let last = if parsed.flags.contains(&grammar.into) { &[][..] } else { &grammar.operands.last[..] };
    let total = operands.len();
    if total < last.len() {
        parsed.doubts.push(Doubt::Meaning("an argument is missing".to_owned()));
    }
    for (nth, (at, field)) in operands.into_iter().enumerate() {
        let role = if nth < first.len() {
            Some(first[nth])
        } else if nth + last.len() >= total && total >= last.len() {
            last.get(nth + last.len() - total).copied()
        } else {
            grammar.operands.rest
        };
        match role {
            Some(Role::Command) => {
                parsed.command_at.get_or_insert(at);
            }
            _ if field.is_many() && !grammar.harmless && !is_anywhere(role, nth, first, last, grammar) => {
                parsed
                    .doubts
                    .push(Doubt::Words("a word with an unknown value may expand to several arguments".to_owned()));
            }
            Some(role) => parsed.values.push((role, field.clone())),
            None if grammar.harmless => parsed.values.push((Role::Data, field.clone())),
            None => parsed.doubts.push(Doubt::Meaning(format!(
                "unrecognized argument{}",
                field.text().map_or(String::new(), |text| format!(" {text}"))
            ))),
        }
        parsed.operands.push(field);
    }
}

/// Whether an operand and all behind it have one role: then it may be any number of words.
fn is_anywhere(role: Option<Role>, nth: usize, first: &[Role], last: &[Role], grammar: &Grammar) -> bool {
    let rest = first.iter().skip(nth).chain(last);
    role.is_some() && grammar.operands.rest == role && rest.copied().all(|other| Some(other) == role)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grammar() -> Grammar {
        serde_yaml::from_str("{flags: '-r|-R|--recursive -f|--force -n|--lines= -o|--output=write', operands: 'read*'}")
            .unwrap()
    }

    fn words(line: &str) -> Vec<Field> {
        line.split(' ').map(Field::known).collect()
    }

    #[test]
    fn options_are_known_by_every_spelling() {
        for line in ["-rf x", "-r -f x", "-fR x", "--rec --fo x", "x -r -f", "-rf -- x", "-frn5 x", "-rfn 5 x"] {
            let parsed = parse(&grammar(), &words(line));
            assert!(parsed.flags.contains("recursive") && parsed.flags.contains("force"), "{line}: {parsed:?}");
            assert_eq!(parsed.doubts.is_empty(), !line.contains("--rec"), "{line}: {parsed:?}");
            assert_eq!(parsed.operands, words("x"), "{line}");
        }
    }

    #[test]
    fn what_is_not_in_the_table_is_not_proven() {
        for line in ["-rz x", "--other x", "--r=1 x", "-n"] {
            assert!(!parse(&grammar(), &words(line)).doubts.is_empty(), "{line}");
        }
    }

    #[test]
    fn values_have_roles() {
        let parsed = parse(&grammar(), &words("--output=x a"));
        assert_eq!(parsed.values, [(Role::Write, Field::known("x")), (Role::Read, Field::known("a"))]);
    }
}
