//! What a ticket's body is made of: headings, checkboxes and validation commands, each with its place in
//! the file. One pass over the lines; which of them are phases is decided in `phases`.

use super::lines::{self, Line, Place, Unclosed};
use super::phase_settings::{self, PhaseSettings};
use super::section::{self, Section};
use super::{Problem, Severity};

/// A checkbox, wherever it stands.
#[derive(Clone, Debug)]
pub(super) struct Checkbox {
    /// 1-based line.
    pub line: usize,
    /// Offset of the byte between the brackets.
    pub mark: usize,
    /// The byte is `x` or `X`.
    pub done: bool,
    /// Text behind the box, trimmed.
    pub text: String,
    /// The inside of a comment with settings at it.
    pub settings: Option<String>,
    /// Index of the nearest checkbox that it is nested under.
    pub parent: Option<usize>,
    /// Index of the heading that it stands under.
    pub heading: Option<usize>,
}

/// A heading (`# …`, or a line underlined with `===` or `---`).
#[derive(Clone, Debug)]
pub(super) struct Heading {
    /// 1-based line.
    pub line: usize,
    pub level: usize,
    /// Without hashes and without a trailing box, trimmed.
    pub text: String,
    /// Trailing `[ ]` or `[x]`: offset of the byte between the brackets, and whether it is ticked.
    pub tick: Option<(usize, bool)>,
    /// The inside of a comment with settings at it.
    pub settings: Option<String>,
    /// Offset behind the last character of the text that is no blank: where ` [x]` would go.
    pub end: usize,
    /// Index of the heading that it stands under.
    pub parent: Option<usize>,
    pub section: Section,
}

/// Everything of a body that matters.
#[derive(Debug, Default)]
pub(super) struct Outline {
    pub headings: Vec<Heading>,
    pub boxes: Vec<Checkbox>,
    pub commands: Vec<String>,
    pub problems: Vec<Problem>,
}

impl Outline {
    /// Reads the body that starts at offset `start`, which is line `number`.
    pub fn read(bytes: &[u8], start: usize, number: usize) -> Self {
        let (lines, unclosed) = lines::classify(bytes, start, number);
        let mut reader = Reader::default();
        for line in &lines {
            reader.line(line);
        }
        let mut outline = reader.outline;
        if let Some(Unclosed { line, what }) = unclosed {
            outline.problems.push(Problem {
                line,
                column: 1,
                message: format!("{what} is opened here and never closed: everything below is part of it"),
                severity: Severity::Warning,
            });
        }
        outline
    }

    /// What the section around `heading` holds.
    pub fn section(&self, heading: Option<usize>) -> Section {
        heading.map_or(Section::Plain, |index| self.headings[index].section)
    }
}

/// A list item that is open while its nested lines are read.
struct Item {
    column: usize,
    checkbox: Option<usize>,
}

#[derive(Default)]
struct Reader<'a> {
    outline: Outline,
    items: Vec<Item>,
    heading: Option<usize>,
    /// The line before, when it is prose that an underline would make a heading.
    paragraph: Option<Line<'a>>,
    after_blank: bool,
    /// A fenced block of shell commands is open.
    shell: bool,
    /// The last command ended in `\`.
    continued: bool,
    /// The last checkbox or heading, by its line and index.
    last: Option<(usize, Last)>,
}

#[derive(Clone, Copy)]
enum Last {
    Checkbox(usize),
    Heading(usize),
}

impl<'a> Reader<'a> {
    fn line(&mut self, line: &Line<'a>) {
        let paragraph = self.paragraph.take();
        match line.place {
            Place::Prose => self.prose(line, paragraph),
            Place::FenceOpen => self.shell = is_shell(line.indent().1),
            Place::Code if self.shell && self.in_validation() => self.shell_line(line.text),
            Place::FenceClose => (self.shell, self.continued) = (false, false),
            Place::Comment => self.comment(line),
            Place::Code => {}
        }
    }

    /// On the line behind a checkbox or heading, a comment of settings is its own.
    fn comment(&mut self, line: &Line<'_>) {
        let Some((_, last)) = self.last.filter(|(number, _)| number + 1 == line.number) else { return };
        let inside = line.text.trim_ascii().strip_prefix(b"<!--").and_then(|rest| rest.strip_suffix(b"-->"));
        let Some(inside) = inside.map(text_of).filter(|inside| PhaseSettings::read(inside).is_some()) else { return };
        match last {
            Last::Checkbox(at) => self.outline.boxes[at].settings.get_or_insert(inside),
            Last::Heading(at) => self.outline.headings[at].settings.get_or_insert(inside),
        };
    }

    fn prose(&mut self, line: &Line<'a>, paragraph: Option<Line<'a>>) {
        let (column, rest) = line.indent();
        if rest.is_empty() {
            self.after_blank = true;
            return;
        }
        let after_blank = std::mem::take(&mut self.after_blank);
        if column < 4 && self.hash_heading(line) {
            return;
        }
        if let Some(above) = paragraph
            && column < 4
            && let Some(level) = underline_level(rest)
        {
            let start = above.start + above.text.len() - above.indent().1.len();
            self.push_heading(above.number, level, above.indent().1, start);
            return;
        }
        let Some(content) = lines::item_content(rest) else {
            if column == 0 && after_blank {
                self.items.clear();
            }
            if self.items.is_empty() && column < 4 {
                self.paragraph = Some(*line);
            }
            return;
        };
        // A child stands two columns in; less is a sibling, whatever the width of the parent's bullet.
        while self.items.last().is_some_and(|item| column < item.column + 2) {
            self.items.pop();
        }
        if self.items.is_empty() && column >= 4 {
            // Four columns without a list around them are an indented code block.
            return;
        }
        let start = line.start + line.text.len() - rest.len() + content;
        let checkbox = self.checkbox(line.number, &rest[content..], start);
        if self.in_validation() {
            self.command_item(line.number, &rest[content..]);
        }
        self.items.push(Item { column, checkbox });
    }

    fn checkbox(&mut self, line: usize, content: &[u8], start: usize) -> Option<usize> {
        let [b'[', mark @ (b' ' | b'x' | b'X'), b']', blank, text @ ..] = content else { return None };
        let (text, settings) = phase_settings::split(text);
        let text = text_of(text);
        if !matches!(blank, b' ' | b'\t') || text.is_empty() {
            return None;
        }
        let parent = self.items.iter().rev().find_map(|item| item.checkbox);
        self.outline.boxes.push(Checkbox {
            line,
            mark: start + 1,
            done: *mark != b' ',
            text,
            settings: settings.map(text_of),
            parent,
            heading: self.heading,
        });
        let at = self.outline.boxes.len() - 1;
        self.last = Some((line, Last::Checkbox(at)));
        Some(at)
    }

    fn hash_heading(&mut self, line: &Line<'_>) -> bool {
        let (_, rest) = line.indent();
        let level = rest.iter().take_while(|&&byte| byte == b'#').count();
        let text = &rest[level..];
        if !(1..=6).contains(&level) || !(text.is_empty() || matches!(text[0], b' ' | b'\t')) {
            return false;
        }
        let start = line.start + line.text.len() - text.len();
        self.push_heading(line.number, level, text, start);
        true
    }

    fn push_heading(&mut self, line: usize, level: usize, text: &[u8], start: usize) {
        let (text, settings) = phase_settings::split(text);
        let text = text.trim_ascii_end();
        let end = start + text.len();
        let (text, tick) = match text {
            [before @ .., b'[', mark @ (b' ' | b'x' | b'X'), b']']
                if before.last().is_some_and(|byte| matches!(byte, b' ' | b'\t')) =>
            {
                (before, Some((end - 2, *mark != b' ')))
            }
            _ => (text, None),
        };
        let text = without_closing_hashes(text);
        let mut parent = self.heading;
        while let Some(above) = parent.filter(|&above| self.outline.headings[above].level >= level) {
            parent = self.outline.headings[above].parent;
        }
        let index = self.outline.headings.len();
        let text = text_of(text);
        let section = match section::named(&text, level, index) {
            Section::Plain => self.outline.section(parent),
            named => named,
        };
        let settings = settings.map(text_of);
        self.outline.headings.push(Heading { line, level, text, tick, settings, end, parent, section });
        self.last = Some((line, Last::Heading(index)));
        self.heading = Some(index);
        self.items.clear();
    }

    fn in_validation(&self) -> bool {
        self.outline.section(self.heading) == Section::Validation
    }

    /// A list item among the validation commands: `` `cmd` ``, maybe with words behind it.
    fn command_item(&mut self, line: usize, content: &[u8]) {
        let text = text_of(content);
        let text = ["[ ] ", "[x] ", "[X] "].iter().find_map(|mark| text.strip_prefix(mark)).unwrap_or(&text);
        match code_span(text) {
            Some((command, rest)) if !rest.contains('`') => {
                self.outline.commands.push(command.to_owned());
            }
            _ => self.outline.problems.push(Problem {
                line,
                column: 1,
                message: "not a validation command: write one command in backticks, like - `make test`".to_owned(),
                severity: Severity::Warning,
            }),
        }
    }

    fn shell_line(&mut self, text: &[u8]) {
        let text = text_of(text);
        let continues = text.ends_with('\\');
        if self.continued {
            if let Some(command) = self.outline.commands.last_mut() {
                command.push('\n');
                command.push_str(&text);
            }
        } else {
            let command = text.strip_prefix("$ ").unwrap_or(&text).trim_start();
            if command.is_empty() || command.starts_with('#') {
                return;
            }
            self.outline.commands.push(command.to_owned());
        }
        self.continued = continues;
    }
}

/// Text as a person sees it: invalid UTF-8 replaced, outer blanks trimmed.
fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim().to_owned()
}

/// `Heading ##` is `Heading`.
fn without_closing_hashes(text: &[u8]) -> &[u8] {
    let text = text.trim_ascii_end();
    let bare = text.len() - text.iter().rev().take_while(|&&byte| byte == b'#').count();
    match text[..bare].last() {
        None | Some(b' ' | b'\t') => &text[..bare],
        Some(_) => text,
    }
}

/// `=====` is level 1, `-----` is level 2.
fn underline_level(rest: &[u8]) -> Option<usize> {
    let rest = rest.trim_ascii_end();
    let all = |mark| rest.iter().all(|&byte| byte == mark);
    if all(b'=') { Some(1) } else { (rest.len() > 1 && all(b'-')).then_some(2) }
}

/// The first code span of a text that starts with one, and what follows it.
fn code_span(text: &str) -> Option<(&str, &str)> {
    let ticks = text.len() - text.trim_start_matches('`').len();
    let mark = text.get(..ticks).filter(|mark| !mark.is_empty())?;
    let (command, rest) = text[ticks..].split_once(mark)?;
    (!command.trim().is_empty()).then_some((command.trim(), rest))
}

fn is_shell(fence: &[u8]) -> bool {
    let info = text_of(fence);
    let language = info.trim_start_matches(['`', '~']).trim();
    matches!(language.split_whitespace().next().unwrap_or(""), "" | "sh" | "bash" | "zsh" | "shell" | "console")
}
