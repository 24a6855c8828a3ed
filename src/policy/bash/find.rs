//! `find`, and the command of its `-exec`: judged with the names that it is handed, which stand below where `find` looks.

use super::command::named;
use super::listers::kinds;
use super::walker::Walker;
use crate::policy::commands::args::{self, Parsed};
use crate::policy::commands::grammar::Role;
use crate::policy::commands::{self, Language};
use crate::policy::unit::{Class, Doubt, Field, Target, Unit};

/// What stands for names that come many at once (`{} +`): more than a command has operands of different meaning.
const MANY: usize = 5;

/// The command of an `-exec`.
struct Run<'a> {
    words: &'a [Field],
    /// `{} +` rather than `;`.
    many: bool,
    /// How many words of find's own stand before it.
    before: usize,
}

impl Walker<'_> {
    /// `find`, judged without what it runs; that has been judged for itself.
    pub(super) fn found(&mut self, args: &[Field], text: &str) -> Unit {
        let Some(entry) = commands::entry("find") else { return named("find", args, text).unknown("find") };
        let (own, runs) = split(args);
        let mut unit = self.known(entry, "find", &own, text);
        unit.args = args.to_vec();
        for run in &runs {
            let only = kinds(entry, "find", &own[..=run.before], &Parsed::default());
            self.handed_over(run, &own, &unit, &only);
        }
        unit
    }

    fn handed_over(&mut self, run: &Run<'_>, own: &[Field], find: &Unit, only: &[String]) {
        let exact = match only {
            [name] if !name.contains(['*', '?', '[', '\\']) => Some(name.clone()),
            _ => None,
        };
        let places = starts(own);
        let known = find.proven() && !find.follows && !places.is_empty();
        let below = |place: &String| {
            let name = exact.as_deref().unwrap_or("_");
            let place = place.trim_end_matches('/');
            // At any depth, and the place itself.
            let mut texts = vec![format!("{place}/{name}"), format!("{place}/_/_/_/_/{name}")];
            if exact.is_none() {
                texts.push(if place.is_empty() { "/".to_owned() } else { place.to_owned() });
            }
            texts
        };
        let name = Field::one_of(places.iter().flat_map(below).collect());
        let mut words: Vec<Field> = Vec::new();
        for word in run.words {
            match word.text() {
                Some("{}") if run.many => words.extend(std::iter::repeat_n(name.clone(), MANY)),
                Some("{}") => words.push(name.clone()),
                Some(text) if text.contains("{}") => words.push(Field::opaque("")),
                _ => words.push(word.clone()),
            }
        }
        let before = self.units.len();
        // What is handed no name does the same each time.
        if run.words.iter().all(|word| word.text().is_some_and(|word| !word.contains("{}"))) && !run.many {
            return self.apart(|walker| walker.run(&words, "find -exec …"));
        }
        if !known || !takes_names(&words, &name) {
            let unclear = |word: &Field| if *word == name { Field::opaque("") } else { word.clone() };
            let words: Vec<Field> = words.iter().map(unclear).collect();
            return self.apart(|walker| walker.run(&words, "find -exec …"));
        }
        self.apart(|walker| walker.run(&words, "find -exec …"));
        for unit in &mut self.units[before..] {
            let looks = |class: &Class| matches!(class, Class::Read | Class::Write | Class::Delete);
            if !unit.classes.iter().all(looks) {
                unit.doubts.push(Doubt::Words("cannot tell which files it runs on".to_owned()));
            }
            if unit.classes.contains(&Class::Delete) {
                // Each is a folder of that very name.
                if exact.is_none() || !unit.flags.contains("recursive") {
                    unit.doubts.push(Doubt::Words("cannot tell which files are deleted".to_owned()));
                }
            } else if !unit.writes.is_empty() {
                unit.writes.extend(find.names.roots.iter().cloned());
                unit.tree = true;
            }
            if !unit.reads.is_empty() {
                unit.only = only.to_vec();
                unit.reads.extend(find.names.roots.iter().cloned());
                unit.tree = true;
                unit.follows = true;
            }
            unit.reads.dedup_by(|one, other| one == other && matches!(one, Target::Path(_)));
        }
    }
}

/// The words of find's own, with `-print` in the place of each `-exec … ;`, and what those run.
fn split(args: &[Field]) -> (Vec<Field>, Vec<Run<'_>>) {
    let (mut own, mut runs) = (Vec::new(), Vec::new());
    let mut at = 0;
    while let Some(word) = args.get(at) {
        at += 1;
        let end = args[at..].iter().position(|word| matches!(word.text(), Some(";" | "+"))).map(|end| at + end);
        let plain = word.text() == Some("-exec");
        let (Some(end), true) = (end, plain || matches!(word.text(), Some("-execdir" | "-ok" | "-okdir"))) else {
            own.push(word.clone());
            continue;
        };
        let words = &args[at..end];
        let marks = words.iter().filter(|word| word.text() == Some("{}")).count();
        let many = args[end].text() == Some("+");
        let ends_so = words.last().is_some_and(|word| word.text() == Some("{}")) && marks == 1;
        // `-execdir` gives names that mean something in another folder, `-ok` waits for an answer, and without `{}`
        // before it a `+` ends nothing.
        let known = plain && (!many || ends_so);
        own.push(if known { Field::known("-print") } else { word.clone() });
        runs.push(Run { words, many, before: own.len() - 1 });
        at = end + 1;
    }
    (own, runs)
}

/// Where find looks, as its words say it.
fn starts(own: &[Field]) -> Vec<String> {
    let begins = |text: &str| text.starts_with('-') || matches!(text, "(" | "!" | ")" | ",");
    let mut places = Vec::new();
    for word in own.iter().skip_while(|word| matches!(word.text(), Some("-L" | "-P" | "-H"))) {
        match word.texts() {
            Some([text]) if begins(text) => break,
            Some(texts) if !texts.iter().any(|text| begins(text) || text.is_empty()) => {
                places.extend(texts.iter().cloned());
            }
            _ => return Vec::new(),
        }
    }
    if places.is_empty() { vec![".".to_owned()] } else { places }
}

/// Whether a command takes names where they stand as names: no program and no command of its own comes out of them.
fn takes_names(words: &[Field], name: &Field) -> bool {
    let Some((first, rest)) = words.split_first() else { return false };
    let Some(entry) = first.text().and_then(commands::entry) else { return false };
    let language = matches!(entry.program, None | Some(Language::Sed | Language::Awk | Language::Jq | Language::Test));
    let parsed = args::parse(&entry.grammar, rest);
    let runs =
        |(role, field): &(Role, Field)| matches!(role, Role::Program | Role::Command | Role::Rev) && field == name;
    language
        && !entry.wraps
        && first.text() != Some("git")
        && first != name
        && parsed.command_at.is_none()
        && !parsed.values.iter().any(runs)
}
