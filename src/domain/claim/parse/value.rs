//! One raw value made into text or a list of files: by the YAML library where it can, salvaged where not.
//!
//! Tags, anchors and aliases are text: nothing is expanded, nothing is constructed.

use super::block::Entry;
use super::key;
use crate::base::text::cut;
use serde::de::DeserializeOwned;

/// Longest value handed to the YAML library, and longest text kept, in bytes.
const MAX_VALUE: usize = 64 << 10;
const MAX_FILES: usize = 1_000;
/// What models write when they mean null.
const NONE_WORDS: [&str; 6] = ["none", "n/a", "na", "nil", "-", "null"];
/// Pairs that mark text without being part of it.
const MARKUP: [(&str, &str); 8] =
    [("**", "**"), ("__", "__"), ("`", "`"), ("*", "*"), ("_", "_"), ("“", "”"), ("‘", "’"), ("«", "»")];

/// Parses YAML of a model under limits; `None` for whatever does not parse.
pub(super) fn yaml<T: DeserializeOwned>(source: &str) -> Option<T> {
    if source.len() > MAX_VALUE {
        return None;
    }
    let options = serde_yaml::options! {
        budget: serde_yaml::budget! {
            max_aliases: 0, max_anchors: 0, max_depth: 8, max_nodes: 4_096, flow_nesting_limit: 8, max_documents: 1,
        },
        with_snippet: false,
    };
    serde_yaml::from_str_with_options(source, options).ok()
}

/// A text without the markup around it, with a word in `warnings` when there was any.
pub(super) fn unmarked(text: &str, warnings: &mut Vec<String>) -> String {
    let mut bare = text.trim();
    while let Some(inner) = strip_once(bare) {
        bare = inner.trim();
    }
    if bare.len() != text.trim().len() {
        warnings.push("markup_stripped".to_owned());
    }
    bare.to_owned()
}

fn strip_once(text: &str) -> Option<&str> {
    let wrapped = MARKUP.iter().find_map(|(open, close)| {
        let inner = text.strip_prefix(open)?.strip_suffix(close)?;
        (!inner.is_empty() && !inner.contains(open)).then_some(inner)
    });
    let boxed = || {
        let rest = key::bullet(text).unwrap_or(text);
        ["[x] ", "[X] ", "[ ] "].iter().find_map(|mark| rest.strip_prefix(mark))
    };
    let heading = || text.strip_prefix("##").map(|rest| rest.trim_start_matches('#'));
    wrapped.or_else(boxed).or_else(heading)
}

/// The value as text; `None` is null.
pub(super) fn text(entry: &Entry, warnings: &mut Vec<String>) -> Option<String> {
    let text = if entry.first.starts_with(['|', '>']) {
        block_scalar(entry)
    } else {
        let lines = entry.more.iter().map(|line| line.trim());
        let joined = std::iter::once(entry.first.trim()).chain(lines).collect::<Vec<_>>().join("\n");
        scalar(joined.trim(), warnings)?
    };
    Some(limited(text, warnings))
}

fn limited(text: String, warnings: &mut Vec<String>) -> String {
    if text.len() <= MAX_VALUE {
        return text;
    }
    warnings.push("value_cut".to_owned());
    cut(&text, MAX_VALUE)
}

fn block_scalar(entry: &Entry) -> String {
    let lines: Vec<String> = entry.more.iter().map(|line| line.replace('\t', "    ")).collect();
    let source = format!("v: {}\n{}\n", entry.first, lines.join("\n"));
    let text = yaml::<std::collections::BTreeMap<String, String>>(&source)
        .and_then(|mut map| map.remove("v"))
        .unwrap_or_else(|| lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join("\n"));
    text.trim().to_owned()
}

fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

/// A scalar in any style but the block ones.
fn scalar(source: &str, warnings: &mut Vec<String>) -> Option<String> {
    let source = without_comment(source);
    if is_null(source) {
        return None;
    }
    let text = match source.chars().next()? {
        '!' => as_text(source, "tag_as_text", warnings),
        '&' => as_text(source, "anchor_as_text", warnings),
        quote @ ('"' | '\'') => yaml(source).unwrap_or_else(|| {
            let rest = source.strip_prefix(quote).unwrap_or(source);
            let inner = rest.strip_suffix(quote).or((!rest.contains(quote)).then_some(rest));
            as_text(inner.unwrap_or(source), "unescaped_quote", warnings)
        }),
        _ if strip_once(source).is_some() => unmarked(source, warnings),
        '*' if source.contains("**") => as_text(&source.replace("**", ""), "markup_stripped", warnings),
        '*' => as_text(source, "alias_as_text", warnings),
        // A list of lines, not a scalar: the words are kept as they stand.
        '-' if key::bullet(source).is_some() => source.to_owned(),
        _ if source.contains(": ") || source.ends_with(':') => as_text(source, "unquoted_colon", warnings),
        // YAML would take the `#12` of a sentence for a comment.
        _ if source.contains(" #") => source.to_owned(),
        _ => yaml(source).unwrap_or_else(|| source.to_owned()),
    };
    let text = text.trim().to_owned();
    if NONE_WORDS.iter().any(|word| text.trim_matches(['(', ')', '[', ']', '.']).eq_ignore_ascii_case(word)) {
        warnings.push("none_word".to_owned());
        return None;
    }
    Some(text)
}

fn as_text(text: &str, warning: &str, warnings: &mut Vec<String>) -> String {
    warnings.push(warning.to_owned());
    text.to_owned()
}

/// Cuts a comment off: `#` with a blank on both sides. `#12` in a sentence is a number of something.
fn without_comment(source: &str) -> &str {
    if source.starts_with(['"', '\'']) {
        return source; // the YAML library knows where the quotes end
    }
    if source.starts_with("# ") || source == "#" {
        return "";
    }
    source.find(" # ").map_or(source, |at| source[..at].trim_end())
}

/// The value as a list of files. They are claims: never opened, only compared and shown.
pub(super) fn files(entry: &Entry, warnings: &mut Vec<String>) -> Vec<String> {
    let lines = std::iter::once(entry.first.trim()).chain(entry.more.iter().map(|line| line.trim()));
    let source = lines.collect::<Vec<_>>().join("\n");
    let source = without_comment(source.trim());
    let files = if source.starts_with('[') {
        let source = source.rfind(']').map_or(source, |end| &source[..=end]);
        yaml(source).unwrap_or_else(|| split(source.trim_matches(['[', ']']), warnings))
    } else if key::bullet(source).is_some() {
        bullets(source, warnings)
    } else if is_wrong_type(source) {
        warnings.push("files_wrong_type".to_owned());
        Vec::new()
    } else {
        text(entry, warnings).map_or_else(Vec::new, |text| {
            warnings.push("list_as_string".to_owned());
            split(&text, warnings)
        })
    };
    let files: Vec<String> = files.into_iter().filter(|file| !is_null(file.trim())).take(MAX_FILES).collect();
    if files.iter().any(|file| leaves_the_folder(file)) {
        warnings.push("path_outside".to_owned());
    }
    files
}

/// The value as a list of texts; one that is no list is its only item.
pub(super) fn items(entry: &Entry, warnings: &mut Vec<String>) -> Vec<String> {
    let lines = std::iter::once(entry.first.trim()).chain(entry.more.iter().map(|line| line.trim()));
    let source = lines.collect::<Vec<_>>().join("\n");
    let source = source.trim();
    let items = if source.starts_with('[') {
        yaml(source).unwrap_or_else(|| split(source.trim_matches(['[', ']']), warnings))
    } else if key::bullet(source).is_some() {
        bullets(source, warnings)
    } else {
        text(entry, warnings).into_iter().collect()
    };
    items.into_iter().filter(|item| !is_null(item.trim())).collect()
}

fn is_wrong_type(source: &str) -> bool {
    source.starts_with('{')
        || source.parse::<f64>().is_ok()
        || ["true", "false", "yes", "no"].iter().any(|word| source.eq_ignore_ascii_case(word))
}

fn split(list: &str, warnings: &mut Vec<String>) -> Vec<String> {
    list.split([',', '\n']).map(|item| unmarked(item.trim().trim_matches(['"', '\'']), warnings)).collect()
}

/// The items of a list written one to a line.
fn bullets(source: &str, warnings: &mut Vec<String>) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    for line in source.lines() {
        match (key::bullet(line), items.last_mut()) {
            (None, Some(last)) => *last = format!("{last} {}", line.trim()),
            (item, _) => items.push(item.unwrap_or(line).to_owned()),
        }
    }
    items
        .iter()
        .take(MAX_FILES)
        .filter_map(|item| scalar(item.trim(), warnings).map(|item| unmarked(&item, warnings)))
        .collect()
}

/// The path is absolute, somebody's home, or climbs out of the folder it starts in.
fn leaves_the_folder(path: &str) -> bool {
    let drive = path.as_bytes().get(1) == Some(&b':') && path.starts_with(|c: char| c.is_ascii_alphabetic());
    let mut depth = 0_i32;
    drive
        || path.starts_with(['/', '\\', '~'])
        || path.split(['/', '\\']).any(|part| {
            depth += match part {
                "" | "." => 0,
                ".." => -1,
                _ => 1,
            };
            depth < 0
        })
}
