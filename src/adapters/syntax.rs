//! Reading code for its colours, by the syntaxes that come with `syntect`, on one thread of its own: the first snippet of a
//! language takes as long as its rules take to compile. Only what is wanted now is read: what is no longer wanted is
//! given up. The thread ends, and frees the syntaxes, when nothing was wanted for a while.

use crate::domain::syntax::{Kind, Snippet, Span, Spans};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxReference, SyntaxSet};

/// Languages whose rules are kept, the last ones: those of each take about ten megabytes.
const LANGUAGES: usize = 3;
/// How long the thread waits for more.
const REST: Duration = Duration::from_secs(60);

/// Names of languages that are read as another one, which is near enough.
const LIKE: [(&str, &[&str]); 5] = [
    ("js", &["ts", "tsx", "jsx", "mjs", "cjs", "mts", "cts", "typescript"]),
    ("sh", &["shell", "console", "dockerfile", "containerfile", ".envrc", ".bashrc", ".profile", "just", "justfile"]),
    ("json", &["jsonc", "json5", "jsonl"]),
    ("properties", &["toml", "ini", "conf", "cfg", ".gitconfig", ".editorconfig"]),
    ("java", &["kt", "kts", "kotlin"]),
];

/// What a scope makes of a part, the first that fits; `None` is plain text.
const SCOPES: [(&str, Option<Kind>); 26] = [
    ("comment", Some(Kind::Comment)),
    ("constant.character.escape", Some(Kind::Number)),
    ("constant.numeric", Some(Kind::Number)),
    ("constant", Some(Kind::Number)),
    ("string", Some(Kind::String)),
    ("keyword.operator.word", Some(Kind::Keyword)),
    ("keyword.operator.logical.python", Some(Kind::Keyword)),
    ("keyword.operator", None),
    ("keyword", Some(Kind::Keyword)),
    ("storage", Some(Kind::Keyword)),
    ("variable.language", Some(Kind::Keyword)),
    ("variable.function", Some(Kind::Function)),
    ("entity.name.function", Some(Kind::Function)),
    ("support.function", Some(Kind::Function)),
    ("support.macro", Some(Kind::Function)),
    ("entity.name.tag", Some(Kind::Keyword)),
    ("entity.name.section", Some(Kind::Keyword)),
    ("markup.heading", Some(Kind::Keyword)),
    ("entity.other.attribute-name", Some(Kind::Type)),
    ("entity.other.inherited-class", Some(Kind::Type)),
    ("entity.name", Some(Kind::Type)),
    ("support.type", Some(Kind::Type)),
    ("support.class", Some(Kind::Type)),
    // Code within a string.
    ("meta.interpolation", None),
    ("meta.template.expression", None),
    ("source.shell.embedded", None),
];

static KINDS: LazyLock<Vec<(Scope, Option<Kind>)>> =
    LazyLock::new(|| SCOPES.iter().filter_map(|(name, kind)| Some((Scope::new(name).ok()?, *kind))).collect());

#[derive(Default)]
struct Queue {
    wanted: VecDeque<Arc<Snippet>>,
    reading: Option<Arc<Snippet>>,
    is_running: bool,
    is_closed: bool,
}

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    more: Condvar,
    /// What is being read is no longer wanted.
    stop: AtomicBool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next snippet, or `None` when the thread may end.
    fn next(&self) -> Option<Arc<Snippet>> {
        let mut queue = self.lock();
        queue.reading = None;
        loop {
            if queue.is_closed {
                return None;
            }
            if let Some(snippet) = queue.wanted.pop_front() {
                queue.reading = Some(snippet.clone());
                self.stop.store(false, Ordering::Relaxed);
                return Some(snippet);
            }
            let (woken, waited) = self.more.wait_timeout(queue, REST).unwrap_or_else(PoisonError::into_inner);
            queue = woken;
            if waited.timed_out() && queue.wanted.is_empty() {
                queue.is_running = false;
                return None;
            }
        }
    }
}

/// The thread that reads snippets, begun when the first one is wanted.
pub struct SyntaxReader {
    shared: Arc<Shared>,
    tell: Arc<dyn Fn(Arc<Snippet>, Spans) + Send + Sync>,
}

impl SyntaxReader {
    /// What was read is told, from the thread.
    pub fn new(tell: impl Fn(Arc<Snippet>, Spans) + Send + Sync + 'static) -> Self {
        Self { shared: Arc::default(), tell: Arc::new(tell) }
    }

    /// What is wanted now, in this order; nothing else is read any more. Returns at once.
    pub fn want(&self, wanted: Vec<Arc<Snippet>>) {
        let mut queue = self.shared.lock();
        // What was stopped already is read again.
        let stopped = self.shared.stop.load(Ordering::Relaxed);
        let kept = queue.reading.clone().filter(|reading| !stopped && wanted.contains(reading));
        self.shared.stop.store(kept.is_none(), Ordering::Relaxed);
        queue.wanted = wanted.into_iter().filter(|snippet| kept.as_ref() != Some(snippet)).collect();
        if queue.wanted.is_empty() {
            return;
        }
        self.shared.more.notify_one();
        if !queue.is_running {
            let (shared, tell) = (self.shared.clone(), self.tell.clone());
            let read = std::thread::Builder::new().name("syntax".into()).spawn(move || read_all(&shared, &*tell));
            // Without a thread all stays plain.
            match read {
                Ok(_) => queue.is_running = true,
                Err(error) => tracing::warn!(%error, "no thread to colour code with"),
            }
        }
    }
}

impl Drop for SyntaxReader {
    fn drop(&mut self) {
        self.shared.lock().is_closed = true;
        self.shared.stop.store(true, Ordering::Relaxed);
        self.shared.more.notify_one();
    }
}

fn read_all(shared: &Shared, tell: &dyn Fn(Arc<Snippet>, Spans)) {
    // Rules are compiled into the set in which a language is first used, and stay there.
    let names = SyntaxSet::load_defaults_newlines();
    let mut sets: Vec<(&str, SyntaxSet)> = Vec::new();
    while let Some(snippet) = shared.next() {
        let name = syntax_of(&names, &snippet.language).map_or("", |syntax| syntax.name.as_str());
        let set = match sets.iter().position(|(language, _)| *language == name) {
            Some(at) => sets.remove(at),
            None => (name, SyntaxSet::load_defaults_newlines()),
        };
        sets.truncate(LANGUAGES - 1);
        sets.insert(0, set);
        if let Some(spans) = parts(&sets[0].1, &snippet, &shared.stop) {
            tell(snippet, spans);
        }
    }
}

/// The parts of a snippet, read here and now. Takes as long as it takes.
pub fn read(snippet: &Snippet) -> Spans {
    static SYNTAXES: LazyLock<SyntaxSet> = LazyLock::new(SyntaxSet::load_defaults_newlines);
    parts(&SYNTAXES, snippet, &AtomicBool::new(false)).unwrap_or_default()
}

fn syntax_of<'a>(syntaxes: &'a SyntaxSet, language: &str) -> Option<&'a SyntaxReference> {
    let like = LIKE.iter().find(|(_, names)| names.contains(&language)).map(|(like, _)| *like);
    syntaxes.find_syntax_by_token(like.unwrap_or(language))
}

/// `None`: it was stopped.
fn parts(syntaxes: &SyntaxSet, snippet: &Snippet, stop: &AtomicBool) -> Option<Spans> {
    let Some(syntax) = syntax_of(syntaxes, &snippet.language) else { return Some(Spans::default()) };
    let (mut state, mut stack) = (ParseState::new(syntax), ScopeStack::new());
    let mut spans: Vec<Span> = Vec::new();
    let mut add = |from: usize, to: usize, stack: &ScopeStack| {
        let Some(kind) = kind(stack).filter(|_| from < to) else { return };
        match spans.last_mut() {
            Some(last) if last.kind == kind && last.range.end == from => last.range.end = to,
            _ => spans.push(Span { range: from..to, kind }),
        }
    };
    let mut start = 0;
    for line in snippet.text.split('\n') {
        if stop.load(Ordering::Relaxed) {
            return None;
        }
        // Rules that match an end of line need one. What cannot be read stays plain, and so does what follows.
        let Ok(changes) = state.parse_line(&format!("{line}\n"), syntaxes) else { break };
        let mut from = 0;
        for (to, change) in changes {
            let to = to.min(line.len());
            add(start + from, start + to, &stack);
            from = to;
            if stack.apply(&change).is_err() {
                return Some(spans.into());
            }
        }
        add(start + from, start + line.len(), &stack);
        start += line.len() + 1;
    }
    Some(spans.into())
}

/// What the innermost scope that says something says.
fn kind(stack: &ScopeStack) -> Option<Kind> {
    let of = |scope: &Scope| KINDS.iter().find(|(prefix, _)| prefix.is_prefix_of(*scope)).map(|(_, kind)| *kind);
    stack.as_slice().iter().rev().find_map(of).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    fn seen(language: &str, text: &str) -> Vec<(String, Kind)> {
        let spans = read(&Snippet::new(language, text.into()).unwrap());
        spans.iter().map(|span| (text[span.range.clone()].to_owned(), span.kind)).collect()
    }

    fn has(language: &str, text: &str, parts: &[(&str, Kind)]) {
        let seen = seen(language, text);
        for (part, kind) in parts {
            let found = seen.iter().any(|(text, is)| text.trim() == *part && is == kind);
            assert!(found, "{language}: no {part} as {kind:?} in {seen:?}");
        }
    }

    #[test]
    fn parts_of_code_are_told_apart() {
        use Kind::{Comment, Function, Keyword, Number, String, Type};
        let rust = "// é\nfn main() -> Option<u8> {\n    let x: Thing = call(\"a\\n\", 12);\n}";
        has("rust", rust, &[("// é", Comment), ("fn", Keyword), ("main", Function), ("12", Number), ("\"a", String)]);
        has(
            "py",
            "def f(x):\n    return 'a'  # c",
            &[("def", Keyword), ("f", Function), ("'a'", String), ("# c", Comment)],
        );
        has("ts", "class A { f() { return 1; } }", &[("class", Keyword), ("A", Type), ("1", Number)]);
        has("toml", "# c\na = 1", &[("# c", Comment)]);
        has("Makefile", "all: a.c\n    cc a.c", &[("all", Function)]);
        assert_eq!(seen("no such language", "fn main() {}"), []);
        assert!(!seen("rust", "/*\n\n*/ a\r").is_empty());
    }

    #[test]
    fn what_is_wanted_is_told_and_the_rest_is_given_up() {
        let (told, heard) = mpsc::channel();
        let reader = SyntaxReader::new(move |snippet, spans| drop(told.send((snippet, spans))));
        let one = Snippet::new("json", "[1]".into()).unwrap();
        let slow = Snippet::new("json", "[\"a\", 1],\n".repeat(20_000)).unwrap();
        reader.want(vec![slow, one.clone()]);
        reader.want(vec![one.clone()]);
        let (snippet, spans) = heard.recv().unwrap();
        assert_eq!((snippet, spans.len()), (one, 1));
        drop(reader);
        assert!(heard.recv().is_err(), "the thread ends with who wants something");
    }
}
