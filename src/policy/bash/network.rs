//! Commands that talk to other machines: which of them do no more than that, as far as their words say.

use super::walker::Walker;
use crate::policy::commands::Entry;
use crate::policy::commands::args::Parsed;
use crate::policy::unit::{Class, Doubt, Field, Target, Unit, Value};

impl Walker<'_> {
    /// Proven is only what has a grammar and keeps to its plainest words: anything else may run or write what it is
    /// told to by the far end or by its own options.
    pub(super) fn reaches_out(&self, entry: &Entry, name: &str, parsed: &Parsed, unit: &mut Unit) {
        let mut why = sent(parsed).filter(|_| name == "curl");
        if matches!(name, "curl" | "wget") && asks_this_machine(name, parsed, unit) {
            let itself = self.place.view.asks_loopback_itself();
            if itself && !redirects(name, parsed) {
                unit.classes = [Class::Local].into();
                return;
            }
            let elsewhere = if itself {
                "follows redirects, which may lead to another host"
            } else {
                "goes through the proxy set in the environment"
            };
            why = Some(elsewhere.to_owned());
        }
        // A file whose name is not known waits for the person with the rest of the command.
        unit.writes.retain(|target| *target != Target::Unknown);
        let operands: Option<Vec<&str>> = parsed.operands.iter().map(Field::text).collect();
        let plain = operands.is_some_and(|operands| match name {
            "git" => !entry.grammar.flags.is_empty() && self.are_plain_refs(&operands),
            "curl" => unit.writes.is_empty() && are_plain_options(parsed) && operands.iter().all(|text| is_url(text)),
            _ => false,
        });
        if !plain || why.is_some() || (name == "curl" && parsed.operands.is_empty()) {
            let said = match entry.says.as_str() {
                "" if entry.does.contains(&Class::Read) => format!("{} reads from the network", unit.text),
                "" => self.fetched(name, parsed, unit),
                says => says.to_owned(),
            };
            unit.doubts.push(Doubt::Meaning(why.unwrap_or(said)));
        }
    }

    /// A remote by its name, and refs by theirs, one under another's name (`a:b`) too: no address, no path, no `+`, and no
    /// `:b`, which deletes.
    fn are_plain_refs(&self, operands: &[&str]) -> bool {
        let made_of =
            |text: &str, more: &str| text.chars().all(|char| char.is_ascii_alphanumeric() || more.contains(char));
        let is_path = |name: &str| {
            let folders = self.shell.folders().unwrap_or_default();
            folders.is_empty() || folders.iter().any(|folder| self.place.view.exists(&folder.join(name)))
        };
        let is_name = |name: &str| !name.is_empty() && made_of(name, "-_./");
        let is_ref = |name: &str| name.split_once(':').map_or(is_name(name), |(from, to)| is_name(from) && is_name(to));
        match operands {
            [] => true,
            [remote, refs @ ..] => made_of(remote, "-_") && !is_path(remote) && refs.iter().all(|name| is_ref(name)),
        }
    }
}

impl Walker<'_> {
    /// What a command that talks to other machines does, as far as that can be said.
    fn fetched(&self, name: &str, parsed: &Parsed, unit: &Unit) -> String {
        let first = parsed.operands.first().or(unit.args.first()).and_then(Field::text);
        let installed = |program: &str| {
            let file = self.place.workspace.join("node_modules/.bin").join(program);
            matches!(name, "npx" | "bunx") && self.place.view.exists(&file)
        };
        match (name, first.filter(|word| !word.starts_with('-'))) {
            ("npx" | "bunx" | "pnpx" | "uvx", Some(program)) if !installed(program) => {
                format!("{name} downloads {program} and runs it")
            }
            (_, Some(first)) if !matches!(name, "curl" | "wget") => {
                format!("cannot tell what `{name} {first}` does with these arguments")
            }
            _ => format!("cannot tell what {name} does with these arguments"),
        }
    }
}

/// Options of curl that send, save and read nothing, and stay with the host that is asked.
const PLAIN: [&str; 12] = [
    "silent", "show-error", "fail", "head", "include", "verbose", "ipv4", "ipv6", "compressed", "max-time",
    "connect-timeout", "retry",
];

/// The name of an option, without its value.
fn name_of(flag: &str) -> &str {
    flag.split('=').next().unwrap_or(flag)
}

/// Whether curl is told nothing but how to fetch.
fn are_plain_options(parsed: &Parsed) -> bool {
    parsed.flags.iter().map(|flag| name_of(flag)).all(|flag| PLAIN.contains(&flag) || flag == "location")
}

/// What curl is told to send, in words.
fn sent(parsed: &Parsed) -> Option<String> {
    parsed.options.iter().find_map(|(name, value)| {
        let value = value.beginning();
        let file = match name.as_str() {
            "data" | "data-binary" | "json" => value.strip_prefix('@'),
            "data-urlencode" => value.split_once('@').map(|(_, file)| file).filter(|_| !value.contains('=')),
            "form" => value.split_once(['@', '<']).map(|(_, file)| file.split(';').next().unwrap_or(file)),
            "upload-file" => Some(value),
            "data-raw" => None,
            _ => return None,
        };
        Some(file.map_or("sends data".to_owned(), |file| match file {
            "-" => "sends its input".to_owned(),
            _ => format!("sends the file {file}"),
        }))
    })
}

/// Whether a request goes where the answer says: wget does unless it is told not to.
fn redirects(name: &str, parsed: &Parsed) -> bool {
    match name {
        "wget" => parsed.option("max-redirect").and_then(Field::text) != Some("0"),
        _ => parsed.flags.contains("location"),
    }
}

/// Whether a request only reads from a server on this machine, and nothing is saved or sent.
fn asks_this_machine(name: &str, parsed: &Parsed, unit: &Unit) -> bool {
    const HERE: [&str; 7] = ["insecure", "no-buffer", "user-agent", "header", "write-out", "output", "request"];
    const WGET: [&str; 8] =
        ["quiet", "no-verbose", "output-document", "tries", "timeout", "header", "user-agent", "max-redirect"];
    let known = |flag: &str| match name {
        "wget" => WGET.contains(&flag),
        _ => PLAIN.contains(&flag) || HERE.contains(&flag) || flag == "location",
    };
    // A value that is a file's name, or that would write one.
    let plain = |(_, value): &(_, Field)| {
        value.text().is_some_and(|value| !value.starts_with('@') && !value.contains("%output"))
    };
    let text = |at: usize| unit.args.get(at).and_then(Field::text).unwrap_or("");
    let gets = |method: &str| matches!(method, "GET" | "HEAD");
    let reads = (0..unit.args.len()).all(|at| match text(at) {
        "-X" | "--request" => gets(text(at + 1)),
        word => match word.strip_prefix("--request=").or_else(|| word.strip_prefix("-X")) {
            Some(method) => gets(method),
            None => !(word.starts_with('-') && !word.starts_with("--") && word.contains('X')),
        },
    });
    let saved = name == "wget" && !parsed.flags.contains("output-document");
    parsed.doubts.is_empty()
        && unit.doubts.is_empty()
        && unit.writes.is_empty()
        && unit.reads.is_empty()
        && !saved
        && reads
        && parsed.flags.iter().map(|flag| name_of(flag)).all(known)
        && parsed.values.iter().filter(|(_, value)| !parsed.operands.contains(value)).all(plain)
        && !parsed.operands.is_empty()
        && parsed.operands.iter().all(|operand| match &operand.value {
            Value::OneOf(texts) => texts.iter().all(|text| is_loopback(text)),
            // What follows the host does not change it.
            Value::Opaque { prefix } => prefix.matches('/').count() >= 3 && is_loopback(prefix),
            Value::Many | Value::Names { .. } => false,
        })
}

/// Whether an address is one of a server on this machine.
pub(super) fn is_loopback(url: &str) -> bool {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://")).unwrap_or(url);
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let plain = |char: char| char.is_ascii_alphanumeric() || "-_.~/?=&%:+,@!'()*;".contains(char);
    is_this_machine(authority)
        && path.chars().all(plain)
        && (url.contains("://") || authority.contains(':') || !path.is_empty())
}

/// Whether a host, and a port perhaps, are this machine's, and nothing more is said.
pub(super) fn is_this_machine(authority: &str) -> bool {
    let host = ["localhost", "127.0.0.1", "[::1]", "0.0.0.0"].iter().find_map(|host| authority.strip_prefix(host));
    let is_port = |port: &str| !port.is_empty() && port.chars().all(|char| char.is_ascii_digit());
    host.is_some_and(|rest| rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port))
}

fn is_url(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    rest.is_some_and(|rest| {
        !rest.is_empty() && rest.chars().all(|char| char.is_ascii_alphanumeric() || "-_.~/?=&%:+,".contains(char))
    })
}
