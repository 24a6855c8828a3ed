//! What Claude is told: templates filled with what the run knows.
//!
//! Each step brings its templates along; files of the same names in the user's config folder take their place. Rendering is minijinja's; an unknown variable is an error
//! that names file and line. Reading the files is not done here (`adapters::config_files`).
//!
//! Claude Code acts on some of what a message says: it inlines the file behind an `@path` at the start of a
//! word, in stream-json too, without asking for permission, and takes a message that begins with `/` for a
//! command. Ticket text may come from anybody, so every value gets its `@path`s written `\@path`, and no
//! prompt begins with such a character.

use crate::domain::context_file::ContextFile;
use crate::domain::worktree::bad_branch;
use minijinja::{Environment, UndefinedBehavior};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// What several templates say alike, by the name that `{% include %}` takes. A template of the user's may use them too.
pub const PARTS: [(&str, &str); 5] = [
    ("part/context_files.md", include_str!("prompt/part/context_files.md")),
    ("part/draft.md", include_str!("prompt/part/draft.md")),
    ("part/gate.md", include_str!("prompt/part/gate.md")),
    ("part/notes.md", include_str!("prompt/part/notes.md")),
    ("part/project.md", include_str!("prompt/part/project.md")),
];

/// What a template may use. Field names are the variables' names.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[allow(clippy::struct_excessive_bools, reason = "templates ask each by its name")]
pub struct PromptContext {
    pub ticket_id: String,
    pub title: String,
    /// The phase to work on; `None`: the whole ticket.
    pub phase: Option<String>,
    /// Claude knows from its session how to work here and what the gate does.
    pub resumed: bool,
    /// The ticket file is not as Claude knows it (filled in at the edge).
    pub ticket_changed: bool,
    /// What the gate does with calls of the usual kinds, a line each (filled in at the edge).
    pub gate: Vec<String>,
    /// What the project's files say of it, a line each (filled in at the edge).
    pub project: Vec<String>,
    /// The files that the configuration names for each prompt (filled in at the edge).
    pub context_files: Vec<ContextFile>,
    /// The whole ticket file (filled in at the edge).
    pub ticket: String,
    pub ticket_path: String,
    pub done_phases: Vec<String>,
    /// Phases still open, the current one among them.
    pub open_phases: Vec<String>,
    /// What the last iterations said they did, oldest first.
    pub summaries: Vec<String>,
    /// What did not hold about the last claim, with the failing command's output.
    pub dispute: Option<String>,
    /// What Claude should do otherwise than in the last iterations.
    pub corrections: Vec<String>,
    /// Open checkboxes of a ticket without phases: Claude ticks them itself.
    pub open_boxes: u32,
    pub notes: Vec<String>,
    /// Commands that programmator runs to check a claim.
    pub validation: Vec<String>,
    /// What they said last: command, exit code and the end of the output.
    pub validated: Vec<String>,
    /// Files that both sides have changed, where a merge with `base` is open.
    pub conflicts: Vec<String>,
    pub base: String,
    /// What a critic found, an issue each.
    pub issues: Vec<String>,
    /// All phases of a ticket with nothing left to do, and how each was checked.
    pub settled_phases: Vec<String>,
    /// Phases that an evaluator may still propose.
    pub phases_left: u32,
    /// The ticket's file was made to be planned: title and text may be drafted too.
    pub is_new: bool,
    /// The work may be split into several tickets.
    pub splits: bool,
    /// The plan as it was drafted last.
    pub draft: Option<String>,
    /// What the user wants changed in it.
    pub words: Option<String>,
    /// What the chat before was about, a message each.
    pub topics: Vec<String>,
    /// What a reviewer looks for (that of several filled in at the edge).
    pub focus: String,
    /// The names of what the review of a whole ticket looks for.
    pub foci: Vec<String>,
    /// What was changed since the phase began, as a diff (filled in at the edge).
    pub diff: String,
    /// Where the loop stands, at most 500 characters.
    pub loop_context: String,
    pub iteration: u32,
    pub max_iterations: u32,
}

/// What Claude is to be told.
#[derive(Clone, Debug, PartialEq)]
pub struct Prompt {
    pub kind: Kind,
    pub context: PromptContext,
}

/// A template as a step brings it along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Name of the file that takes its place.
    pub file: &'static str,
    /// The text that is built in.
    pub builtin: &'static str,
}

/// A template's text and the name it has in messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// Path of the file, or `built-in phased.md`.
    pub file: String,
    pub source: String,
}

/// The person's own templates, by the names of the built-in ones that they stand for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Templates(BTreeMap<&'static str, Template>);

/// A template that cannot be rendered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {message}")]
pub struct PromptError {
    pub file: String,
    /// 1-based line in it.
    pub line: usize,
    /// What is wrong, with the variables there are when one is unknown.
    pub message: String,
}

impl Templates {
    /// Puts a file of the user's in the place of the built-in template.
    pub fn set(&mut self, kind: Kind, template: Template) {
        self.0.insert(kind.file, template);
    }

    /// The person's own template of a kind.
    pub fn own(&self, kind: Kind) -> Option<&Template> {
        self.0.get(kind.file)
    }

    pub fn get(&self, kind: Kind) -> Template {
        let builtin = || Template { file: format!("built-in {}", kind.file), source: kind.builtin.to_owned() };
        self.own(kind).cloned().unwrap_or_else(builtin)
    }

    /// Fills the template. The result never begins with a character that Claude Code acts on.
    pub fn render(&self, kind: Kind, context: &PromptContext) -> Result<String, PromptError> {
        let template = &self.get(kind);
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
        environment.set_debug(true);
        environment.add_filter("fenced", |text: String| fenced(&text));
        environment.add_filter("quoted", |text: String| quoted(&text));
        let failed = |error: minijinja::Error| explain(template, &error);
        for (name, source) in PARTS {
            environment.add_template(name, source).map_err(failed)?;
        }
        let values = serde_json::to_value(context).map(escaped).map_err(|error| PromptError {
            file: template.file.clone(),
            line: 1,
            message: error.to_string(),
        })?;
        let text = environment
            .template_from_named_str(&template.file, &template.source)
            .and_then(|template| template.render(values))
            .map_err(failed)?;
        Ok(guarded(&text))
    }

    /// Renders these templates once with made-up values, so that a mistake in one shows before a run begins.
    pub fn check(&self, kinds: &[Kind]) -> Result<(), PromptError> {
        let some = || vec!["x".to_owned(), "y".to_owned()];
        let context = PromptContext {
            phase: Some("x".to_owned()),
            dispute: Some("x".to_owned()),
            loop_context: "x".to_owned(),
            done_phases: some(),
            open_phases: some(),
            summaries: some(),
            corrections: some(),
            open_boxes: 1,
            gate: some(),
            project: some(),
            context_files: vec![ContextFile { path: "x".to_owned(), text: Some("x".to_owned()), note: None }],
            notes: some(),
            validation: some(),
            validated: some(),
            issues: some(),
            settled_phases: some(),
            phases_left: 5,
            draft: Some("x".to_owned()),
            words: Some("x".to_owned()),
            topics: some(),
            diff: "x".to_owned(),
            focus: "x".to_owned(),
            foci: some(),
            ..PromptContext::default()
        };
        let resumed = PromptContext { resumed: true, ..context.clone() };
        let all = kinds.iter().flat_map(|kind| [(kind, &context), (kind, &resumed)]);
        all.into_iter().try_for_each(|(kind, context)| self.render(*kind, context).map(drop))
    }
}

/// The branch of a ticket's worktree from the person's template.
pub fn branch_name(template: &str, id: &str) -> Result<String, String> {
    let name = strictly(template, minijinja::context! { id })?;
    bad_branch(&name).map_or(Ok(name), Err)
}

fn strictly(template: &str, values: minijinja::Value) -> Result<String, String> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.render_str(template, values).map_err(|error| error.to_string())
}

/// A commit's message from the person's template.
pub fn commit_message(template: &str, id: &str, ticket: &str, phase: &str) -> Result<String, String> {
    let message = strictly(template, minijinja::context! { id, ticket, phase })?;
    if message.trim().is_empty() { Err("a commit needs a message".to_owned()) } else { Ok(message) }
}

fn explain(template: &Template, error: &minijinja::Error) -> PromptError {
    let known = || {
        let context = serde_json::to_value(PromptContext::default()).unwrap_or_default();
        context.as_object().map(|map| map.keys().cloned().collect::<Vec<_>>().join(", ")).unwrap_or_default()
    };
    let at_fault = error.template_source().zip(error.range()).and_then(|(source, range)| source.get(range));
    let message = match (error.kind(), at_fault) {
        (minijinja::ErrorKind::UndefinedError, Some(name)) => {
            format!("unknown variable `{name}`; use {}", known())
        }
        (minijinja::ErrorKind::UndefinedError, None) => {
            format!("unknown variable; use {}", known())
        }
        _ => error.detail().map_or_else(|| error.kind().to_string(), str::to_owned),
    };
    PromptError { file: template.file.clone(), line: error.line().unwrap_or(1), message }
}

/// Every text in `value` with its `@path`s written `\@path`.
fn escaped(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(without_mentions(&text)),
        Value::Array(items) => Value::Array(items.into_iter().map(escaped).collect()),
        Value::Object(map) => Value::Object(map.into_iter().map(|(key, item)| (key, escaped(item))).collect()),
        other => other,
    }
}

/// Writes an `@` that begins a word as `\@`. A letter, digit or backslash before it makes it harmless
/// (measured on the CLI 2.1.197).
fn without_mentions(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut before = ' ';
    for c in text.chars() {
        if c == '@' && !(before.is_alphanumeric() || before == '\\') {
            out.push('\\');
        }
        out.push(c);
        before = c;
    }
    out
}

/// The text between fences longer than any run of backticks in it, so that it cannot close them.
fn fenced(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}text\n{}\n{fence}", text.trim_end_matches(['\n', '\r']))
}

/// The text as a double-quoted YAML scalar on one line.
fn quoted(text: &str) -> String {
    Value::String(text.to_owned()).to_string()
}

/// Keeps a prompt from being taken for a flag, a command, a shell line or a note to memory.
fn guarded(text: &str) -> String {
    let text = text.trim_start();
    if text.starts_with(['-', '/', '!', '#', '@']) { format!("Your task:\n\n{text}") } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::claim::parse::{parse, parse_critique, parse_draft};
    use crate::orchestrator::steps;
    use crate::orchestrator::steps::code::{PHASED, PHASELESS, STATUS_ONLY};
    use proptest::prelude::*;

    fn context() -> PromptContext {
        PromptContext {
            ticket_id: "tk-1".into(),
            title: "Parse dates".into(),
            phase: Some("Phase 2: \"quoted\" work".into()),
            ticket: "# Parse dates\n- [x] Phase 1: look\n- [ ] Phase 2: \"quoted\" work\n".into(),
            ticket_path: "/t/tk-1.md".into(),
            resumed: false,
            ticket_changed: true,
            gate: vec!["Refused: `git push`.".into()],
            project: vec!["Languages: Rust (`Cargo.toml`).".into()],
            context_files: vec![ContextFile { path: "AGENT.md".into(), text: Some("Run make.".into()), note: None }],
            done_phases: vec!["Phase 1: look".into()],
            open_phases: vec!["Phase 2: \"quoted\" work".into(), "Phase 3: end".into()],
            summaries: vec!["Looked around.".into()],
            dispute: Some("`cargo test` failed:\n```\nassertion\n```".into()),
            corrections: vec!["Nobody answers questions.".into()],
            open_boxes: 0,
            notes: vec!["Use jiff.".into()],
            validation: vec!["cargo test".into()],
            validated: vec!["$ cargo test\nexit code 0\nok".into()],
            conflicts: Vec::new(),
            base: "main".into(),
            issues: vec!["major: src/a.rs:3: wrong".into()],
            settled_phases: vec!["Phase 1: look (verified)".into()],
            phases_left: 5,
            is_new: true,
            splits: true,
            draft: Some("# Parse dates".into()),
            words: None,
            topics: vec!["- Ask".into()],
            diff: "+++ b/src/a.rs\n+x".into(),
            focus: "bugs".into(),
            foci: vec!["bug-deep".into()],
            loop_context: "Open phases: 2 of 3.".into(),
            iteration: 3,
            max_iterations: 50,
        }
    }

    fn render(kind: Kind, context: &PromptContext) -> String {
        Templates::default().render(kind, context).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn the_phase_prompt_says_everything_it_knows() {
        let text = render(PHASED, &context());
        for part in [
            "`tk-1`: Parse dates",
            "iteration 3 of at most 50",
            "Open phases: 2 of 3.",
            "```text\nPhase 2: \"quoted\" work\n```",
            "- Phase 1: look\n",
            "- Phase 3: end\n",
            "````text\n`cargo test` failed:\n```\nassertion\n```\n````",
            "Use jiff.",
            "Nobody answers questions.",
            "Looked around.",
            "```text\ncargo test\n```",
            "/t/tk-1.md",
            "phase_completed: <\"Phase 2: \\\"quoted\\\" work\" if all of it",
        ] {
            assert!(text.contains(part), "{part:?} is missing in:\n{text}");
        }
        assert!(!text.contains("{{") && !text.contains("{%"), "{text}");
        assert!(!text.contains("\n\n\n"), "{text}");
    }

    #[test]
    fn what_is_not_known_leaves_no_trace() {
        let bare = PromptContext { phase: Some("One".into()), ..PromptContext::default() };
        let text = render(PHASED, &bare);
        for heading in [
            "Where the run stands", "What the gate does", "Why your claim was disputed", "What to do differently",
            "Messages from the user", "last iterations reported", "Done before", "Open, in",
        ] {
            assert!(!text.contains(heading), "{heading:?} in:\n{text}");
        }
        assert!(!text.contains("\n\n\n"), "{text}");
        assert!(!render(PHASELESS, &context()).contains("checkboxes"));
        let with_boxes = PromptContext { open_boxes: 2, ..context() };
        assert!(render(PHASELESS, &with_boxes).contains("has 2 open checkboxes: in the file"));
        assert!(render(STATUS_ONLY, &PromptContext::default()).contains("phase_completed: <null>"));
    }

    #[test]
    fn an_echo_of_the_prompt_is_no_claim() {
        for kind in steps::prompts() {
            let text = render(kind, &context());
            // A chat is asked for no block.
            assert_eq!(text.contains("PROGRAMMATOR_STATUS:"), kind != steps::chat::CHAT);
            assert!(parse(&text).claim.is_none(), "{text}");
            assert!(parse_critique(&text).is_err(), "{text}");
            assert!(parse_draft(&text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_unknown_variable_is_an_error_with_file_and_line() {
        let mut templates = Templates::default();
        let file = "/c/prompts/phased.md".to_owned();
        templates.set(PHASED, Template { file: file.clone(), source: "One\n\n{{ fase }}\n".into() });
        let error = templates.render(PHASED, &context()).unwrap_err();
        assert_eq!((error.file.as_str(), error.line), (file.as_str(), 3));
        assert!(error.message.contains("`fase`") && error.message.contains("done_phases"), "{error}");
        assert_eq!(templates.check(&steps::prompts()), Err(error));

        templates.set(PHASED, Template { file, source: "a\n{% if %}".into() });
        assert_eq!(templates.check(&steps::prompts()).unwrap_err().line, 2);
        Templates::default().check(&steps::prompts()).unwrap();
    }

    #[test]
    fn nothing_in_a_value_is_inlined_or_obeyed() {
        let mut hostile = context();
        hostile.ticket = "@/etc/passwd\n(@~/.ssh/id) \"@x\" a@b.org @Component \\\\@y\n````\n{{ 1 + 1 }}".into();
        let text = render(PHASED, &hostile);
        for part in ["\\@/etc/passwd", "(\\@~/.ssh/id)", "\"\\@x\"", "a@b.org", "`````text\n\\@/etc", "{{ 1 + 1 }}"] {
            assert!(text.contains(part), "{part:?} is missing in:\n{text}");
        }
        for start in ["-p", "/clear", "!ls", "\n \n/clear", "#x", "@a"] {
            let mut templates = Templates::default();
            templates.set(PHASED, Template { file: "f".into(), source: start.into() });
            let text = templates.render(PHASED, &context()).unwrap();
            assert!(text.starts_with("Your task:"), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_leaves_its_fence(text in "[`a\\n@ ]{0,60}") {
            let fenced = fenced(&text);
            let fence: String = fenced.chars().take_while(|&c| c == '`').collect();
            prop_assert_eq!(fenced.matches(&fence).count(), 2);
        }
    }
}
