//! Words expanded as far as they are known: braces, tildes, variables, quotes, patterns. What a substitution
//! runs becomes units; what it gives is not known.

use super::parse;
use super::pieces::Atom;
use super::walker::Walker;
use crate::policy::unit::{Field, Value};
use brush_parser::word::{BraceExpressionMember, BraceExpressionOrText};

/// Most words that a word may become.
const MAX_WORDS: usize = 256;

impl Walker<'_> {
    /// The words that a word of a command becomes.
    pub(super) fn expand(&mut self, raw: &str) -> Vec<Field> {
        let texts = if raw.contains('{') && (raw.contains(',') || raw.contains("..")) {
            match parse::braces(raw) {
                None => vec![raw.to_owned()],
                Some(parts) => {
                    let Some(texts) = combine(&parts).filter(|_| !pads(raw)) else {
                        self.unseen(raw, "the braces expand to too many words");
                        return vec![Field::many()];
                    };
                    texts
                }
            }
        } else {
            vec![raw.to_owned()]
        };
        texts.iter().flat_map(|text| self.expand_one(text)).collect()
    }

    fn expand_one(&mut self, raw: &str) -> Vec<Field> {
        // bash expands a tilde behind the `=` of what looks like an assignment.
        if let Some((name, value)) = raw.split_once('=')
            && value.starts_with('~')
            && !name.is_empty()
            && name.chars().all(|char| char.is_ascii_alphanumeric() || char == '_')
        {
            let value = self.single(value);
            return vec![prefixed(&format!("{name}="), value)];
        }
        let atoms = self.atoms(raw);
        if let Some(pattern) = pattern(&atoms) {
            return self.matches(&pattern);
        }
        vec![field(&atoms)]
    }

    /// A word that stays one word and is no pattern: the value of an assignment, a target, a condition's side.
    pub(super) fn single(&mut self, raw: &str) -> Field {
        let atoms = self.atoms(raw);
        let colon = raw.contains(":~");
        if colon { Field::opaque("") } else { field(&quoted(atoms)) }
    }
}

/// A word with a known beginning.
fn prefixed(prefix: &str, field: Field) -> Field {
    match field.value {
        Value::OneOf(texts) => {
            let texts = texts.iter().map(|text| format!("{prefix}{text}")).collect();
            Field::one_of(texts)
        }
        Value::Opaque { prefix: rest } => Field::opaque(format!("{prefix}{rest}")),
        Value::Many | Value::Names { .. } => Field::many(),
    }
}

/// The same word in a place where nothing is split.
fn quoted(atoms: Vec<Atom>) -> Vec<Atom> {
    let quote = |atom| match atom {
        Atom::Text { text, .. } => Atom::Text { text, quoted: true },
        Atom::OneOf { texts, .. } => Atom::OneOf { texts, quoted: true },
        Atom::Number => Atom::Number,
        Atom::Opaque { .. } => Atom::Opaque { many: false },
        Atom::Guess { texts, .. } => Atom::Guess { texts, many: false },
    };
    atoms.into_iter().map(quote).collect()
}

/// A word of these pieces, none of which is a pattern.
fn field(atoms: &[Atom]) -> Field {
    Field { might: guesses(atoms), ..sure(atoms) }
}

/// What a word may be when its variables hold what they may have been set to, or the folder that it is in: what is in
/// a secret folder is secret, whatever its name.
fn guesses(atoms: &[Atom]) -> Vec<String> {
    if !atoms.iter().any(|atom| matches!(atom, Atom::Guess { .. } | Atom::Opaque { .. })) {
        return Vec::new();
    }
    let mut texts = vec![String::new()];
    for atom in atoms {
        let more = match atom {
            Atom::Text { text, .. } => std::slice::from_ref(text),
            Atom::OneOf { texts, .. } | Atom::Guess { texts, .. } => texts,
            Atom::Number => return Vec::new(),
            Atom::Opaque { .. } => {
                let folders = texts.iter().filter_map(|text| text.rsplit_once('/'));
                return folders.map(|(folder, _)| format!("{folder}/")).collect();
            }
        };
        texts = texts.iter().flat_map(|head| more.iter().map(move |tail| format!("{head}{tail}"))).collect();
        if texts.len() > MAX_WORDS {
            return Vec::new();
        }
    }
    texts.iter().flat_map(|text| text.split_whitespace()).map(str::to_owned).collect()
}

/// What a word is without doubt.
fn sure(atoms: &[Atom]) -> Field {
    let splits = |atom: &Atom| match atom {
        Atom::Opaque { many } | Atom::Guess { many, .. } => *many,
        Atom::OneOf { texts, quoted } => !quoted && texts.iter().any(|text| is_split(text)),
        Atom::Text { .. } | Atom::Number => false,
    };
    // It may become several words or none, and any of them an option.
    if atoms.iter().any(splits) {
        return Field::many();
    }
    let mut texts = vec![String::new()];
    for atom in atoms {
        match atom {
            Atom::Text { text, .. } => texts.iter_mut().for_each(|so_far| so_far.push_str(text)),
            Atom::OneOf { texts: more, .. } => {
                texts = texts.iter().flat_map(|head| more.iter().map(move |tail| format!("{head}{tail}"))).collect();
            }
            Atom::Number | Atom::Opaque { .. } | Atom::Guess { .. } => {
                let mut prefix = if texts.len() == 1 { texts.swap_remove(0) } else { String::new() };
                // A number begins with a digit; which one does not matter.
                prefix.push_str(if matches!(atom, Atom::Number) { "0" } else { "" });
                return Field::opaque(prefix);
            }
        }
        if texts.len() > MAX_WORDS {
            return Field::opaque("");
        }
    }
    Field::one_of(texts)
}

/// A value that does not stay one word without quotes.
fn is_split(text: &str) -> bool {
    text.is_empty() || text.contains(|char: char| char.is_whitespace() || matches!(char, '*' | '?' | '[' | '\\'))
}

/// The pattern that a word is, with what is quoted escaped. `None` for a word that is none, or not known.
fn pattern(atoms: &[Atom]) -> Option<String> {
    let mut pattern = String::new();
    let (mut wild, mut set) = (false, false);
    for atom in atoms {
        match atom {
            Atom::Text { text, quoted: false } => {
                wild |= text.contains(['*', '?']) || (set && text.contains(']'));
                wild |= text.split_once('[').is_some_and(|(_, rest)| rest.contains(']'));
                set |= text.contains('[');
                pattern.push_str(text);
            }
            // What is quoted in a set has its backslash, too.
            Atom::Text { text, quoted: true } if set => pattern.extend(text.chars().flat_map(|char| ['\\', char])),
            Atom::Text { text, quoted: true } => pattern.push_str(&escaped(text)),
            Atom::OneOf { texts, .. } => match texts.as_slice() {
                [only] if !is_split(only) => pattern.push_str(&escaped(only)),
                _ => return None,
            },
            Atom::Number | Atom::Opaque { .. } | Atom::Guess { .. } => return None,
        }
    }
    wild.then_some(pattern)
}

fn escaped(text: &str) -> String {
    text.chars().fold(String::new(), |mut out, char| {
        if matches!(char, '*' | '?' | '[' | ']' | '\\' | '-' | '!' | '^' | ':') {
            out.push('\\');
        }
        out.push(char);
        out
    })
}

/// Whether zeroes before a number in braces make the others as long; the parser does not keep them.
fn pads(raw: &str) -> bool {
    let begins = |at: usize| raw[..at].ends_with("..") || raw[..at].trim_end_matches('-').ends_with(['{', '.']);
    let longer = |at: usize| raw[at + 1..].starts_with(|char: char| char.is_ascii_digit());
    raw.contains("..") && raw.match_indices('0').any(|(at, _)| begins(at) && longer(at))
}

/// Every text of a word with braces; `None` when there are too many.
fn combine(parts: &[BraceExpressionOrText]) -> Option<Vec<String>> {
    let mut texts = vec![String::new()];
    for part in parts {
        let more = match part {
            BraceExpressionOrText::Text(text) => vec![text.clone()],
            BraceExpressionOrText::Expr(members) => {
                let mut all = Vec::new();
                for member in members {
                    all.extend(of_member(member)?);
                }
                all
            }
        };
        texts = texts.iter().flat_map(|head| more.iter().map(move |tail| format!("{head}{tail}"))).collect();
        if texts.len() > MAX_WORDS {
            return None;
        }
    }
    Some(texts)
}

fn of_member(member: &BraceExpressionMember) -> Option<Vec<String>> {
    match member {
        BraceExpressionMember::Child(parts) => combine(parts),
        BraceExpressionMember::NumberSequence { start, end, increment } => {
            let step = increment.unsigned_abs().max(1);
            let count = start.abs_diff(*end) / step + 1;
            let sign = if start <= end { 1 } else { -1 };
            let step = i64::try_from(step).ok()?;
            let at = |nth: i64| start.checked_add(nth.checked_mul(step)?.checked_mul(sign)?).map(|n| n.to_string());
            (count <= MAX_WORDS as u64).then(|| (0..count as i64).map_while(at).collect())
        }
        BraceExpressionMember::CharSequence { start, end, increment } => {
            let (low, high) = (start.min(end), start.max(end));
            // Between the cases there are signs that mean something to the shell.
            let same_case = start.is_ascii_lowercase() == end.is_ascii_lowercase();
            let plain = same_case && increment.unsigned_abs() <= 1;
            plain.then(|| (*low..=*high).map(String::from).collect())
        }
    }
}
