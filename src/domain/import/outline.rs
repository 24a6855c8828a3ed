//! A markdown document as sections with the entries of their lists and tables. Code blocks and quotes hold none.

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use std::ops::Range;

/// A heading and what stands below it, up to the next one. The first of a document may have no title.
#[derive(Debug, Default)]
pub(super) struct Section {
    /// From 1; 0 before the first heading.
    pub level: u8,
    pub title: String,
    pub entries: Vec<Entry>,
    /// Bytes of the document below the heading.
    pub body: Range<usize>,
    /// Commands in code, one a list entry or a line of a block.
    pub commands: Vec<String>,
}

/// An item of a list, or a row of a table.
#[derive(Debug, Default)]
pub(super) struct Entry {
    pub text: String,
    /// Whether its box is ticked, where it has one.
    pub ticked: Option<bool>,
    pub is_numbered: bool,
    pub is_row: bool,
    /// What stands for its priority in a table.
    pub priority: String,
    /// Its code blocks, each whole with its fences.
    pub code: String,
    pub inner: Vec<Entry>,
}

/// The columns of a table of requirements.
const WHAT: [&str; 9] =
    ["requirement", "description", "user story", "story", "feature", "task", "title", "name", "capability"];
const PRIORITY: [&str; 4] = ["priority", "prio", "importance", "moscow"];
/// Deepest nesting of lists that is kept.
const DEEPEST: usize = 16;

#[derive(Default)]
struct Reader {
    sections: Vec<Section>,
    /// Lists that are open, and whether they are numbered; items that are open.
    lists: Vec<bool>,
    items: Vec<Entry>,
    /// Text of a heading or cell that is open.
    line: Option<String>,
    /// Blocks that are open whose text is nobody's.
    hidden: usize,
    /// The text of a code block that is open, and its language.
    code: Option<(String, String)>,
    head: Vec<String>,
    cells: Vec<String>,
}

pub(super) fn sections(text: &str) -> Vec<Section> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_TASKLISTS | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
    let mut reader = Reader { sections: vec![Section::default()], ..Reader::default() };
    for (event, at) in Parser::new_ext(text, options).into_offset_iter() {
        reader.event(event, &at);
    }
    let ends: Vec<usize> = reader.sections.iter().skip(1).map(|one| one.body.end).chain([text.len()]).collect();
    // Until here the end of a body is where its heading begins.
    for (section, end) in reader.sections.iter_mut().zip(ends) {
        section.body.end = end.max(section.body.start);
    }
    reader.sections
}

impl Reader {
    fn event(&mut self, event: Event<'_>, at: &Range<usize>) {
        match event {
            Event::Start(tag) => self.start(&tag, at),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.code {
                Some((code, _)) => code.push_str(&text),
                None => self.text(&text),
            },
            Event::Code(code) => {
                self.text(&code);
                if !self.items.is_empty() {
                    self.section().commands.push(code.into_string());
                }
            }
            Event::SoftBreak | Event::HardBreak => self.text(" "),
            Event::TaskListMarker(ticked) => {
                if let Some(item) = self.items.last_mut() {
                    item.ticked = Some(ticked);
                }
            }
            _ => {}
        }
    }

    fn section(&mut self) -> &mut Section {
        if self.sections.is_empty() {
            self.sections.push(Section::default());
        }
        let last = self.sections.len() - 1;
        &mut self.sections[last]
    }

    fn text(&mut self, text: &str) {
        if self.hidden > 0 {
            return;
        }
        let open = self.line.as_mut().or_else(|| self.items.last_mut().map(|item| &mut item.text));
        if let Some(open) = open {
            open.push_str(text);
        }
    }

    fn start(&mut self, tag: &Tag<'_>, at: &Range<usize>) {
        match tag {
            Tag::Heading { level, .. } => {
                let level = level_of(*level);
                self.sections.push(Section { level, body: at.end..at.start, ..Section::default() });
                self.line = Some(String::new());
            }
            Tag::List(first) => self.lists.push(first.is_some()),
            Tag::Item => {
                let is_numbered = self.lists.last().copied().unwrap_or_default();
                self.items.push(Entry { is_numbered, ..Entry::default() });
            }
            Tag::Paragraph => {
                // A second paragraph of an item goes on behind its first.
                if let Some(item) = self.items.last_mut().filter(|item| !item.text.is_empty()) {
                    item.text.push(' ');
                }
            }
            Tag::CodeBlock(kind) => {
                let language =
                    if let CodeBlockKind::Fenced(language) = kind { language.to_string() } else { String::new() };
                self.code = Some((String::new(), language));
            }
            Tag::BlockQuote(_) | Tag::MetadataBlock(_) | Tag::HtmlBlock => self.hidden += 1,
            Tag::TableHead | Tag::TableRow => self.cells.clear(),
            Tag::TableCell => self.line = Some(String::new()),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) => {
                let title = self.line.take().unwrap_or_default();
                title.trim().clone_into(&mut self.section().title);
            }
            TagEnd::List(_) => drop(self.lists.pop()),
            TagEnd::Item => {
                let Some(mut item) = self.items.pop() else { return };
                item.text = item.text.trim().into();
                let is_deep = self.items.len() > DEEPEST;
                match self.items.last_mut() {
                    _ if is_deep || self.hidden > 0 => {}
                    Some(above) => above.inner.push(item),
                    None => self.section().entries.push(item),
                }
            }
            TagEnd::CodeBlock => self.block(),
            TagEnd::BlockQuote(_) | TagEnd::MetadataBlock(_) | TagEnd::HtmlBlock => {
                self.hidden = self.hidden.saturating_sub(1);
            }
            TagEnd::TableCell => {
                let cell = self.line.take().unwrap_or_default();
                self.cells.push(cell.trim().to_owned());
            }
            TagEnd::TableHead => self.head = self.cells.iter().map(|cell| cell.to_lowercase()).collect(),
            TagEnd::TableRow => self.row(),
            _ => {}
        }
    }

    /// A code block is the item's in which it stands, and its lines may be commands.
    fn block(&mut self) {
        let Some((code, language)) = self.code.take() else { return };
        let lines = code.lines().map(|line| line.trim().trim_start_matches("$ ").to_owned());
        let commands: Vec<String> = lines.filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
        self.section().commands.extend(commands);
        if let Some(item) = self.items.last_mut().filter(|_| self.hidden == 0) {
            // Longer than any fence in it.
            let longest = code.split(|c| c != '`').map(str::len).max().unwrap_or_default();
            let fence = "`".repeat(longest.saturating_add(1).max(3));
            let end = if code.ends_with('\n') || code.is_empty() { "" } else { "\n" };
            item.code.extend([&fence, &language, "\n", &code, end, &fence, "\n"]);
        }
    }

    /// A row of a table that has a column for what is wanted.
    fn row(&mut self) {
        let column = |names: &[&str]| {
            names.iter().find_map(|name| self.head.iter().position(|cell| cell == name || cell == &format!("{name}s")))
        };
        let cell = |at: Option<usize>| at.and_then(|at| self.cells.get(at)).cloned().unwrap_or_default();
        let (text, priority) = (cell(column(&WHAT)), cell(column(&PRIORITY)));
        if !text.is_empty() && self.hidden == 0 && self.items.is_empty() {
            self.section().entries.push(Entry { text, priority, is_row: true, ..Entry::default() });
        }
    }
}

fn level_of(level: HeadingLevel) -> u8 {
    level as u8
}
