//! A lasting yes as a rule: YAML that names exactly what was asked about, in the folder where it was asked, and
//! nothing that could be more.
//!
//! What the words of a rule mean is the policy's. Where the call cannot be named word for word there is no rule.

use crate::domain::approval::{Approval, UnitView, runs_in_shell};
use crate::domain::verdict::Verdict;
use serde_json::Value;
use std::fmt::Write as _;

/// Characters of a command that the shell does not take as they are.
const SPECIAL: &[char] = &[
    '$', '`', '*', '?', '[', ']', '{', '}', '~', '<', '>', '|', '&', ';', '(', ')', '\\', '!', '#', '\n', '\r', '\t',
    '=', '^',
];

/// A rule that could be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Proposal {
    /// A YAML list item.
    pub yaml: String,
    /// What it would let through, for people.
    pub reach: String,
}

/// The rules, as YAML list items; `None` when the call cannot be named.
pub fn of(approval: &Approval) -> Option<String> {
    Some(rules(approval)?.into_iter().map(|rule| rule.yaml).collect())
}

/// A rule for each part of the call that was asked about; `None` when one cannot be named.
pub fn rules(approval: &Approval) -> Option<Vec<Proposal>> {
    let input: Value = serde_json::from_str(&approval.input).ok()?;
    let place = Place::of(approval)?;
    let rules = if runs_in_shell(&approval.tool) {
        let mut rules: Vec<Proposal> = Vec::new();
        let whole = input.get("command")?.as_str()?;
        for unit in approval.units.iter().filter(|unit| unit.verdict == Verdict::Ask) {
            if may_be_fed(whole, &unit.text) {
                return None;
            }
            let rule = command(unit, &place)?;
            if !rules.contains(&rule) {
                rules.push(rule);
            }
        }
        rules
    } else {
        vec![tool(&approval.tool, &input, &place)?]
    };
    (!rules.is_empty()).then_some(rules)
}

struct Place(Option<String>);

impl Place {
    /// Where the call was made, and below; `None` where that cannot be named.
    fn of(approval: &Approval) -> Option<Self> {
        match &approval.cwd {
            None => Some(Self(None)),
            Some(cwd) => exact(cwd).map(|_| Self(Some(format!("{}/**", cwd.trim_end_matches('/'))))),
        }
    }

    /// The same in words.
    fn words(&self) -> String {
        match &self.0 {
            Some(cwd) => format!("in {} and below", cwd.trim_end_matches("/**")),
            None => "in every project".to_owned(),
        }
    }

    /// The same in a rule.
    fn line(&self) -> String {
        match &self.0 {
            Some(cwd) => format!("  cwd: [{}]\n", quoted(cwd)),
            None => "    note: applies to every project\n".to_owned(),
        }
    }
}

/// Whether a part of a command may get more than its words: by a pipe, a file or a text. A rule could not say of what.
fn may_be_fed(whole: &str, part: &str) -> bool {
    let Some(at) = whole.rfind(part) else { return true };
    let pipe = whole.replace("||", "  ").find('|');
    // What stands behind a pipe as a function or in a group may run before it.
    whole.contains('<') || pipe.is_some_and(|pipe| pipe < at || whole.contains(['{', '(']))
}

/// A rule for one simple command with all its words.
fn command(unit: &UnitView, place: &Place) -> Option<Proposal> {
    let words = words(&unit.text)?;
    let (program, args) = words.split_first()?;
    // A program by its path is another one tomorrow.
    if program.contains('/') || unit.text != unit.text.trim() {
        return None;
    }
    let verb = args.first().filter(|word| word.bytes().all(|b| b.is_ascii_lowercase()));
    let name = match verb {
        Some(verb) => format!("always-{program}-{verb}"),
        None => format!("always-{program}"),
    };
    let args: Vec<String> = args.iter().map(|word| quoted(word)).collect();
    let mut rule = head(&name, &unit.text, place);
    let _ = writeln!(rule, "  tools: [Bash]\n  command: {}", quoted(program));
    if !args.is_empty() {
        let _ = writeln!(rule, "  args: {{prefix: [[{}]]}}", args.join(", "));
    }
    // Without it words that follow would be allowed too.
    let _ = writeln!(rule, "  regex: {}", quoted(&literal(&unit.text)));
    // An example is looked at in no folder of the person's.
    if place.0.is_none() {
        let _ = writeln!(rule, "  examples: {{match: [{}]}}", quoted(&unit.text));
    }
    rule.push_str(&place.line());
    Some(Proposal { yaml: rule, reach: format!("this command word for word, {}", place.words()) })
}

/// A rule for another tool: this file, this host, else this tool.
fn tool(tool: &str, input: &Value, place: &Place) -> Option<Proposal> {
    let field = |name: &str| input.get(name).and_then(Value::as_str);
    let path = field("file_path").or_else(|| field("notebook_path"));
    let (about, matcher, reach) = match (tool, path) {
        ("Edit" | "MultiEdit" | "Write" | "NotebookEdit", Some(path)) => {
            (path, format!("  paths: {{write: [{}]}}\n", exact(path)?), format!("any {tool} of this file"))
        }
        ("Read", Some(path)) => {
            (path, format!("  paths: {{read: [{}]}}\n", exact(path)?), "any Read of this file".to_owned())
        }
        ("WebFetch", _) => {
            let host = host(field("url")?)?;
            let matcher = format!("  domains: [{}]\n{}", quoted(host), place.line());
            (host, matcher, format!("any page of {host}, {}", place.words()))
        }
        _ if tool.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b)) => {
            let matcher = format!("  reason: any call of it, whatever its input\n{}", place.line());
            ("", matcher, format!("any call of {tool}, whatever its input, {}", place.words()))
        }
        _ => return None,
    };
    let mut rule = head(&format!("always-{}", tool.to_lowercase()), &format!("{tool} {about}"), place);
    let _ = write!(rule, "  tools: [{tool}]\n{matcher}");
    Some(Proposal { yaml: rule, reach })
}

/// The beginning of every rule. The name tells rules for different things apart.
fn head(name: &str, about: &str, place: &Place) -> String {
    let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '-' }).collect();
    // FNV-1a: a mark to tell names apart, no protection.
    let place = place.0.as_deref().unwrap_or_default();
    let mark = about
        .bytes()
        .chain(place.bytes())
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    format!("- name: {plain}-{mark:08x}\n  action: allow\n")
}

/// A path that is no pattern.
fn exact(path: &str) -> Option<String> {
    let hidden = crate::base::text::hides(path) || path.contains(['\n', '\t']);
    let plain = path.starts_with('/') && !hidden && !path.contains(['*', '?', '[', '{', '$', '\\', '!']);
    (plain && !path.split('/').any(|part| part == ".." || part == ".")).then(|| quoted(path))
}

/// The host of a plain URL: no name before it, no port, no trick.
fn host(url: &str) -> Option<&str> {
    let rest = url.strip_prefix("https://")?;
    let host = rest.split(['/', '?', '#']).next()?;
    let plain = host.bytes().all(|b| b.is_ascii_alphanumeric() || b".-".contains(&b));
    (plain && host.contains('.')).then_some(host)
}

/// A regex for this text and no other; a policy takes it as the whole of a command.
fn literal(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if r"\.+*?()|[]{}^$".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// A YAML text in double quotes: JSON is one.
fn quoted(text: &str) -> String {
    Value::String(text.to_owned()).to_string()
}

/// The words of a command in which nothing is left for the shell to do but taking quotes off.
fn words(text: &str) -> Option<Vec<String>> {
    if crate::base::text::hides(text) {
        return None;
    }
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    for c in text.chars() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (Some('"'), '$' | '`' | '\\' | '!') => return None,
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, ' ') => words.extend(word.take()),
            // An assignment before the command is another command; after it a plain word.
            (None, '=') if !words.is_empty() => word.get_or_insert_default().push(c),
            (None, _) if SPECIAL.contains(&c) => return None,
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}
