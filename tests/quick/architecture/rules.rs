//! The rules of the house, one function each: what breaks it, and what to do instead.

use super::source::Source;
use regex::Regex;
use std::fmt;
use std::sync::LazyLock;

/// Something that breaks a rule.
#[derive(Debug)]
pub struct Violation {
    pub rule: &'static str,
    /// `file:line`.
    pub place: String,
    /// What is wrong, and what to do instead.
    pub cure: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n  {} [{}] {}", self.place, self.rule, self.cure)
    }
}

/// Which rooms a room may name. `main` and `lib` are the program's and the crate's front.
const MAY_KNOW: [(&str, &[&str]); 10] = [
    ("base", &[]),
    ("domain", &["base"]),
    ("orchestrator", &["base", "domain"]),
    ("policy", &["base", "domain"]),
    ("config", &["base", "domain", "orchestrator", "policy"]),
    ("tui", &["base", "domain", "orchestrator", "policy", "config"]),
    ("adapters", &["base", "domain", "policy", "config"]),
    ("runtime", &["base", "domain", "orchestrator", "policy", "config", "adapters", "demo"]),
    ("demo", &["base", "domain", "config", "adapters"]),
    ("cli", &["base", "domain", "orchestrator", "policy", "config", "tui", "adapters", "runtime", "demo"]),
];

/// Paths that do I/O, wait, or read a clock or the environment.
const IMPURE: [&str; 14] = [
    "tokio", "std::fs", "std::process", "std::net", "std::env", "std::thread::sleep", "std::io::stdin",
    "std::io::stdout", "std::io::stderr", "SystemTime::now", "Instant::now", "Timestamp::now", "Zoned::now",
    "std::time::SystemTime",
];

/// Half of the screen's room: what talks to the terminal. All else there only draws.
const TERMINAL_HALF: [&str; 3] = ["src/tui/terminal", "src/tui/input", "src/tui/screen_loop"];

const MAX_LINES: usize = 400;

type Rule = fn(&Source) -> Vec<(usize, String)>;

/// Every rule about a single file, by name.
const RULES: [(&str, Rule); 12] = [
    ("rooms", rooms),
    ("purity", purity),
    ("crossterm", crossterm),
    ("colours", colours),
    ("length", length),
    ("header", header),
    ("docs", docs),
    ("mod.rs", mod_rs),
    ("names", names),
    ("re-exports", re_exports),
    ("printing", printing),
    ("tests last", tests_last),
];

pub fn violations(sources: &[Source]) -> Vec<Violation> {
    let mut found = Vec::new();
    for source in sources {
        for (rule, check) in RULES {
            found.extend(check(source).into_iter().map(|(line, cure)| Violation {
                rule,
                place: format!("{}:{line}", source.path),
                cure,
            }));
        }
    }
    found
}

pub fn rules() -> impl Iterator<Item = &'static str> {
    RULES.iter().map(|(name, _)| *name)
}

fn rooms(source: &Source) -> Vec<(usize, String)> {
    let room = source.room();
    if matches!(room, "main" | "lib") {
        return Vec::new();
    }
    let Some((_, known)) = MAY_KNOW.iter().find(|(name, _)| *name == room) else {
        return vec![(
            1,
            format!(
                "`{room}` is no room of the house: put it into one of base, domain, orchestrator, policy, config, adapters, runtime, tui, demo, cli"
            ),
        )];
    };
    source
        .paths()
        .into_iter()
        .filter_map(|(line, path)| {
            let mut words = path.split("::");
            let ours = matches!(words.next(), Some("crate" | "programmator"));
            let other = words.next().filter(|_| ours)?.to_owned();
            let foreign = MAY_KNOW.iter().any(|(name, _)| *name == other) && other != room;
            (foreign && !known.contains(&other.as_str())).then(|| {
                let cure = match (room, other.as_str()) {
                    ("tui", "adapters" | "runtime") => {
                        "let the screen send an Ask and read records; the edge does the work"
                    }
                    ("adapters", _) => "take what is needed as an argument, or move the shared noun into domain",
                    (_, "tui" | "cli") => {
                        "nothing but the wiring in cli knows the front: answer with a record or a channel"
                    }
                    _ => "move the shared noun down into domain or base, or pass it in as an argument",
                };
                (line, format!("`{room}` may not know `{other}`: {cure}"))
            })
        })
        .collect()
}

fn draws(source: &Source) -> bool {
    source.room() == "tui" && !TERMINAL_HALF.iter().any(|half| source.path.starts_with(half))
}

fn purity(source: &Source) -> Vec<(usize, String)> {
    let pure = matches!(source.room(), "base" | "domain" | "orchestrator" | "policy");
    if !pure && !draws(source) {
        return Vec::new();
    }
    source
        .paths()
        .into_iter()
        .filter(|(_, path)| {
            IMPURE.iter().any(|banned| {
                path.strip_prefix(banned)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
                    || path.ends_with(&format!("::{banned}"))
            })
        })
        .map(|(line, path)| {
            (
                line,
                format!("`{path}` in a pure room: take the value (the time, the bytes) as an argument and do the deed in adapters or runtime"),
            )
        })
        .collect()
}

fn crossterm(source: &Source) -> Vec<(usize, String)> {
    let home = ["src/tui/terminal", "src/tui/input", "src/adapters/clipboard"];
    if home.iter().any(|home| source.path.starts_with(home)) {
        return Vec::new();
    }
    let named = source.paths().into_iter().filter(|(_, path)| path.split("::").any(|word| word == "crossterm"));
    named
        .map(|(line, path)| (line, format!("`{path}`: only tui/terminal, tui/input and adapters/clipboard speak to crossterm; use the keys of tui/input")))
        .collect()
}

fn colours(source: &Source) -> Vec<(usize, String)> {
    // A picture and `sample`, scaffolding of tests, read back what was drawn.
    if ["src/tui/theme", "src/tui/sample", "src/tui/picture"].iter().any(|home| source.path.starts_with(home)) {
        return Vec::new();
    }
    let raw =
        source.paths().into_iter().filter(|(_, path)| path.split("::").any(|word| matches!(word, "Color" | "Stylize")));
    raw.map(|(line, path)| {
        (line, format!("`{path}`: take `theme.style(Role::…)`; a new meaning is a new role in tui/theme/role.rs"))
    })
    .collect()
}

fn length(source: &Source) -> Vec<(usize, String)> {
    let lines = source.code.lines().count();
    if lines <= MAX_LINES {
        return Vec::new();
    }
    vec![(
        MAX_LINES,
        format!("{lines} lines before the tests: split by idea into `{}/…`", source.path.trim_end_matches(".rs")),
    )]
}

fn header(source: &Source) -> Vec<(usize, String)> {
    let opens = source.text.lines().next().is_some_and(|line| line.starts_with("//! ") && line.len() > 5);
    if opens {
        return Vec::new();
    }
    vec![(1, "begin with `//!`: what the file owns, what it does not, where to go instead".to_owned())]
}

/// What a field, a variant or a short function is may be said by its name; a public type says it in words.
fn docs(source: &Source) -> Vec<(usize, String)> {
    static ITEM: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^\s*pub (?:struct|enum|trait|type) ").unwrap());
    let (code, text): (Vec<&str>, Vec<&str>) = (source.code.lines().collect(), source.text.lines().collect());
    let says = |at: usize| {
        let above = text[..at].iter().rev().map(|line| line.trim());
        above.take_while(|line| !line.is_empty() && *line != "}").any(|line| line.starts_with("///"))
    };
    let bare = (0..code.len()).filter(|at| ITEM.is_match(code[*at]) && !says(*at));
    bare.map(|at| (at + 1, "say above it what it is, with its units and its errors".to_owned())).collect()
}

fn mod_rs(source: &Source) -> Vec<(usize, String)> {
    match source.path.strip_suffix("/mod.rs") {
        Some(folder) => vec![(1, format!("name it `{folder}.rs`"))],
        None => Vec::new(),
    }
}

fn names(source: &Source) -> Vec<(usize, String)> {
    let empty = ["util", "utils", "helper", "helpers", "common", "manager", "managers", "misc"];
    let module = source.module();
    let words = module.iter().flat_map(|part| part.split('_'));
    words
        .filter(|word| empty.contains(word))
        .map(|word| (1, format!("`{word}` says nothing: name the file for the idea it owns")))
        .collect()
}

fn re_exports(source: &Source) -> Vec<(usize, String)> {
    static RE_EXPORT: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^\s*pub(\([^)]*\))? use crate::").unwrap());
    if source.path == "src/lib.rs" {
        return Vec::new();
    }
    lines(
        source,
        &RE_EXPORT,
        "a second name for the same thing: import it from where it lives (only lib.rs re-exports)",
    )
}

fn printing(source: &Source) -> Vec<(usize, String)> {
    static PRINT: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\b(e?println?|dbg)!\s*[(\[{]").unwrap());
    let prints = matches!(source.room(), "cli" | "main" | "demo") || source.path.starts_with("src/runtime/headless");
    if prints {
        return Vec::new();
    }
    lines(
        source,
        &PRINT,
        "a full screen may be up: answer with a record or a tracing event; cli, headless and demo print",
    )
}

fn tests_last(source: &Source) -> Vec<(usize, String)> {
    static TEST_ONLY: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(?m)^[ \t]*#\[cfg\(test\)\]\s*(?:#\[[^\n]*\]\s*)*(?<item>[^\n]*)").unwrap());
    let mut found: Vec<(usize, String)> = TEST_ONLY
        .captures_iter(&source.code)
        .filter(|hit| !is_module(&hit["item"]))
        .map(|hit| {
            let start = hit.get(0).map_or(0, |all| all.start());
            let line = source.code[..start].matches('\n').count() + 1;
            (line, "code only for tests in the product: move it into `mod tests` or into tests/".to_owned())
        })
        .collect();
    // What stands behind the inline tests would escape all other rules.
    let tests = source.text.lines().skip(source.code.lines().count());
    let mut closed = false;
    for (index, line) in tests.enumerate() {
        if closed && !line.trim().is_empty() {
            let line = source.code.lines().count() + index + 1;
            found.push((line, "put the code above the inline tests".to_owned()));
            break;
        }
        closed |= line == "}";
    }
    found
}

fn is_module(item: &str) -> bool {
    let item = item.trim_start_matches("pub ").trim_start_matches("pub(crate) ");
    item.starts_with("mod ") && item.trim_end().ends_with(';')
}

fn lines(source: &Source, banned: &Regex, cure: &str) -> Vec<(usize, String)> {
    source
        .code
        .lines()
        .enumerate()
        .filter(|(_, line)| banned.is_match(line))
        .map(|(index, _)| (index + 1, cure.to_owned()))
        .collect()
}

/// Dependencies of a `Cargo.toml` that no source names.
pub fn unused_dependencies(manifest: &str, sources: &[Source]) -> Vec<String> {
    let mut names = Vec::new();
    let mut listed = false;
    for line in manifest.lines() {
        if let Some(section) = line.strip_prefix('[') {
            listed = section.trim_end_matches(']').ends_with("dependencies");
        } else if listed
            && let Some((name, _)) = line.split_once('=')
            && !line.starts_with(['#', ' '])
        {
            names.push(name.trim().replace('-', "_"));
        }
    }
    names.retain(|name| {
        let mention = Regex::new(&format!(r"\b{name}\s*(::|;|!|,|\s+as\s)")).unwrap();
        !sources.iter().any(|source| mention.is_match(&blank_comments(&source.text)))
    });
    names
}

fn blank_comments(text: &str) -> String {
    let code: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    code.join("\n")
}

/// Homes that are invented for test data.
const INVENTED_HOMES: [&str; 3] = ["dev", "ann", "user"];

/// Absolute paths of somebody's machine.
pub fn machine_paths(sources: &[Source]) -> Vec<Violation> {
    static MACHINE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(concat!(r"(?:^|[^\w./~}-])(?:/ro", r"ot/|/wo", r"rk/|/ho", r"me/(?<who>[A-Za-z][\w-]*)/)")).unwrap()
    });
    let mut found = Vec::new();
    for source in sources {
        for (index, line) in source.text.lines().enumerate() {
            let ours = MACHINE
                .captures_iter(line)
                .any(|hit| hit.name("who").is_none_or(|who| !INVENTED_HOMES.contains(&who.as_str())));
            if ours {
                found.push(Violation {
                    rule: "machine paths",
                    place: format!("{}:{}", source.path, index + 1),
                    cure: "a path of one machine: build it from CARGO_MANIFEST_DIR or a temporary folder, or invent a home (dev, ann, user)".to_owned(),
                });
            }
        }
    }
    found
}
