//! Commands that talk to other machines: which of them do no more than that, as far as their words say.

use super::walk::Walker;
use crate::policy::commands::Entry;
use crate::policy::commands::args::Parsed;
use crate::policy::unit::{Doubt, Field, Target, Unit};

impl Walker<'_> {
    /// Proven is only what has a grammar and keeps to its plainest words: anything else may run or write what it is
    /// told to by the far end or by its own options.
    pub(super) fn reaches_out(&self, entry: &Entry, name: &str, parsed: &Parsed, unit: &mut Unit) {
        // A file whose name is not known waits for the person with the rest of the command.
        unit.writes.retain(|target| *target != Target::Unknown);
        let operands: Option<Vec<&str>> = parsed.operands.iter().map(Field::text).collect();
        let plain = operands.is_some_and(|operands| match name {
            "git" => !entry.grammar.flags.known.is_empty() && self.are_plain_refs(&operands),
            "curl" => unit.writes.is_empty() && are_plain_options(parsed) && operands.iter().all(|text| is_url(text)),
            _ => false,
        });
        if !plain || (name == "curl" && parsed.operands.is_empty()) {
            let why = format!("what else {name} does with these words is not known");
            unit.doubts.push(Doubt::Meaning(why));
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

/// Options of curl that send, save and read nothing.
fn are_plain_options(parsed: &Parsed) -> bool {
    const PLAIN: [&str; 13] = [
        "silent",
        "show-error",
        "fail",
        "location",
        "head",
        "include",
        "verbose",
        "ipv4",
        "ipv6",
        "compressed",
        "max-time",
        "connect-timeout",
        "retry",
    ];
    parsed.flags.iter().all(|flag| PLAIN.contains(&flag.split('=').next().unwrap_or(flag)))
}

fn is_url(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    rest.is_some_and(|rest| {
        !rest.is_empty() && rest.chars().all(|char| char.is_ascii_alphanumeric() || "-_.~/?=&%:+,".contains(char))
    })
}
