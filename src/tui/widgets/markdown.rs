//! Markdown as rows of cells: headings, lists, tables, quotes, links and code. What is laid out here may be about to be
//! approved, so nothing of it goes unseen but the name of a code's language: marks give way to what they mean, HTML and
//! globs stay as they are written, the address of a link stands behind its words.

mod table;

use super::wrap::{Break, Piece, untabbed, width, wrap};
use crate::base::text::Clean;
use crate::domain::syntax;
use crate::tui::theme::role::Role;
use pulldown_cmark::{CodeBlockKind, CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use ratatui::style::Modifier;
use std::ops::Range;
use table::Table;

/// Columns that prose takes at most: longer lines are hard to read.
pub const PROSE: usize = 110;
/// Fewest columns that indents leave to what is indented.
const LEAST: usize = 12;
/// Columns by which code is set in.
const SET_IN: &str = "  ";

/// Lays `text` out in `columns`; one inner list a row.
pub fn rows(text: &str, columns: usize) -> Vec<Vec<Piece>> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let parser = Parser::new_ext(text, options);
    let named: Vec<(String, String)> = parser
        .reference_definitions()
        .iter()
        .map(|(name, definition)| (name.to_owned(), address(&definition.dest, definition.title.as_ref())))
        .collect();
    let mut page = Page { source: text, columns: columns.max(1), ..Page::default() };
    for (event, range) in parser.into_offset_iter() {
        page.take(event, &range);
    }
    for (name, address) in named {
        if !page.shown.contains(&address) {
            page.line = vec![Piece::new(clean(&format!("[{name}]: {address}")), Role::Dim)];
            page.end_line();
        }
    }
    page.rows
}

/// What surrounds a row at its left: the mark of a list item on its first row, the bar of a quote on each.
struct Container {
    first: Option<Piece>,
    rest: Piece,
}

#[derive(Default)]
struct Page<'a> {
    source: &'a str,
    columns: usize,
    rows: Vec<Vec<Piece>>,
    /// How many rows there were with the last empty one.
    apart: usize,
    inside: Vec<Container>,
    /// The number of the next item, by open list.
    lists: Vec<Option<u64>>,
    /// The line that is being written.
    line: Vec<Piece>,
    weights: Vec<Modifier>,
    /// Addresses of the open links, and where in the line their words begin.
    links: Vec<(String, usize)>,
    shown: Vec<String>,
    /// The open code block.
    code: Option<String>,
    /// The language of it.
    language: String,
    table: Option<Table>,
}

impl Page<'_> {
    fn take(&mut self, event: Event<'_>, range: &Range<usize>) {
        match event {
            Event::Start(tag) => self.start(tag, range),
            Event::End(tag) => self.end(tag, range),
            Event::Text(text) => match &mut self.code {
                Some(code) => code.push_str(&text),
                None => self.say(&text, Role::StreamText),
            },
            Event::Code(text) => self.say(&text, Role::StreamCode),
            Event::SoftBreak | Event::HardBreak if self.table.is_none() => self.end_line(),
            Event::Rule => {
                self.gap(range.start);
                self.line = vec![Piece::new("─".repeat(LEAST * 2), Role::Dim)];
                self.end_line();
            }
            Event::TaskListMarker(done) => {
                if let Some(item) = self.inside.last_mut() {
                    item.first = Some(Piece::new(if done { "☑ " } else { "☐ " }, Role::StreamText));
                }
            }
            Event::Html(text) | Event::InlineHtml(text) => {
                for line in text.split_inclusive('\n') {
                    self.say(line, Role::StreamText);
                    if line.ends_with('\n') {
                        self.end_line();
                    }
                }
            }
            // Soft breaks in a table; what the options leave out.
            _ => self.say(" ", Role::StreamText),
        }
    }

    fn start(&mut self, tag: Tag<'_>, range: &Range<usize>) {
        match tag {
            Tag::Paragraph | Tag::HtmlBlock => self.gap(range.start),
            Tag::Heading { level, .. } => {
                self.gap(range.start);
                let more = if level == HeadingLevel::H1 { Modifier::UNDERLINED } else { Modifier::empty() };
                self.weights.push(Modifier::BOLD | more);
            }
            Tag::BlockQuote(_) => {
                self.gap(range.start);
                self.inside.push(Container { first: None, rest: Piece::new("│ ", Role::Dim) });
            }
            Tag::CodeBlock(kind) => {
                self.end_line();
                self.gap(range.start);
                self.language.clear();
                if let CodeBlockKind::Fenced(info) = kind {
                    syntax::of_fence(&info).clone_into(&mut self.language);
                    if info.contains(char::is_whitespace) {
                        // More than the name of a language.
                        self.line = vec![Piece::new(clean(&info), Role::Dim)];
                        self.end_line();
                    }
                }
                self.code = Some(String::new());
            }
            Tag::List(first) => {
                self.end_line();
                self.gap(range.start);
                self.lists.push(first);
            }
            Tag::Item => {
                self.gap(range.start);
                let mark = match self.lists.last_mut() {
                    Some(Some(n)) => {
                        *n += 1;
                        format!("{}. ", *n - 1)
                    }
                    _ => "• ".to_owned(),
                };
                let rest = Piece::new(" ".repeat(width(&[Piece::new(mark.as_str(), Role::Dim)])), Role::Dim);
                self.inside.push(Container { first: Some(Piece::new(mark, Role::Dim)), rest });
            }
            Tag::Table(sides) => {
                self.gap(range.start);
                self.table = Some(Table::new(sides));
            }
            Tag::Emphasis => self.weigh(Modifier::ITALIC, range, 1),
            Tag::Strong => self.weigh(Modifier::BOLD, range, 2),
            Tag::Strikethrough => self.weights.push(Modifier::CROSSED_OUT),
            Tag::Link { dest_url, title, .. } => self.link(&dest_url, &title),
            Tag::Image { dest_url, title, .. } => {
                self.link(&dest_url, &title);
                self.say("image: ", Role::Dim);
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd, range: &Range<usize>) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.end_line(),
            TagEnd::Heading(_) => {
                self.end_line();
                self.weights.pop();
            }
            TagEnd::BlockQuote(_) => {
                self.inside.pop();
            }
            TagEnd::CodeBlock => self.end_code(),
            TagEnd::List(_) => {
                self.lists.pop();
            }
            TagEnd::Item => {
                if self.inside.last().is_some_and(|item| item.first.is_some()) || !self.line.is_empty() {
                    self.emit(Break::Words);
                }
                self.inside.pop();
            }
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.line);
                if let Some(table) = &mut self.table {
                    table.cell(cell);
                }
            }
            TagEnd::TableHead | TagEnd::TableRow => {
                if let Some(table) = &mut self.table {
                    table.end_row();
                }
            }
            TagEnd::Table => {
                let room = self.room(self.columns);
                for row in self.table.take().map(|table| table.rows(room)).unwrap_or_default() {
                    let lead = self.lead();
                    self.rows.push(lead.into_iter().chain(row).collect());
                }
            }
            TagEnd::Emphasis => self.unweigh(range, 1),
            TagEnd::Strong => self.unweigh(range, 2),
            TagEnd::Strikethrough => {
                self.weights.pop();
            }
            TagEnd::Link | TagEnd::Image => self.end_link(),
            _ => {}
        }
    }

    /// Words, in the weight of the moment.
    fn say(&mut self, text: &str, role: Role) {
        let weight = self.weights.iter().fold(Modifier::empty(), |all, weight| all | *weight);
        // Only now: an entity may stand for any character.
        let text = clean(text);
        if !text.is_empty() {
            self.line.push(Piece { modifier: weight, ..Piece::new(text, role) });
        }
    }

    fn weigh(&mut self, weight: Modifier, range: &Range<usize>, marks: usize) {
        if let Some(kept) = kept(self.source, range, marks) {
            self.say(kept, Role::StreamText);
            self.weights.push(Modifier::empty());
        } else {
            self.weights.push(weight);
        }
    }

    fn unweigh(&mut self, range: &Range<usize>, marks: usize) {
        self.weights.pop();
        if let Some(kept) = kept(self.source, range, marks) {
            self.say(kept, Role::StreamText);
        }
    }

    fn link(&mut self, to: &str, title: &CowStr<'_>) {
        self.links.push((address(to, Some(title)), self.line.len()));
        self.weights.push(Modifier::UNDERLINED);
    }

    fn end_link(&mut self) {
        self.weights.pop();
        let Some((address, from)) = self.links.pop() else { return };
        let words: String = self.line.iter().skip(from).map(|piece| piece.text.as_str()).collect();
        if words != address && !address.is_empty() && address.strip_prefix("mailto:") != Some(&words) {
            self.line.push(Piece::new(clean(&format!(" ({address})")), Role::Dim));
        }
        self.shown.push(address);
    }

    fn end_code(&mut self) {
        let Some(code) = self.code.take() else { return };
        let role = Role::Dim;
        self.inside.push(Container { first: None, rest: Piece::new(SET_IN, role) });
        let code = Clean::new(code.trim_end_matches('\n'));
        let lines: Vec<String> = code.as_str().split('\n').map(untabbed).collect();
        let places = syntax::together(&self.language, &lines);
        for (line, code) in lines.into_iter().zip(places) {
            self.line = vec![Piece { code, ..Piece::new(line, Role::StreamTarget) }];
            self.emit(Break::Anywhere);
        }
        self.inside.pop();
    }

    /// An empty row, where the text has a blank line before this place.
    fn gap(&mut self, at: usize) {
        let blank = self.source[..at].bytes().rev().take_while(|byte| b" \t>\n".contains(byte));
        if self.rows.len() > self.apart && blank.filter(|byte| *byte == b'\n').count() > 1 {
            let quotes = self.inside.iter().filter(|container| container.rest.text.trim() != "");
            let row = quotes.map(|container| container.rest.clone()).collect();
            self.rows.push(row);
            self.apart = self.rows.len();
        }
    }

    /// The columns that the indents leave.
    fn room(&self, columns: usize) -> usize {
        let taken: usize = self.inside.iter().map(|container| width(std::slice::from_ref(&container.rest))).sum();
        columns.saturating_sub(taken).max(LEAST)
    }

    fn lead(&mut self) -> Vec<Piece> {
        self.inside
            .iter_mut()
            .map(|container| container.first.take().unwrap_or_else(|| container.rest.clone()))
            .collect()
    }

    fn end_line(&mut self) {
        if !self.line.is_empty() {
            self.emit(Break::Words);
        }
    }

    /// The line that was written, as rows.
    fn emit(&mut self, at: Break) {
        let columns = if at == Break::Words { self.columns.min(PROSE) } else { self.columns };
        let line = std::mem::take(&mut self.line);
        for row in wrap(&line, self.room(columns), 0, at) {
            let lead = self.lead();
            self.rows.push(lead.into_iter().chain(row).collect());
        }
        for (_, from) in &mut self.links {
            *from = 0;
        }
    }
}

fn clean(text: &str) -> String {
    Clean::new(text).as_str().trim_end_matches('\n').replace('\t', "    ").replace('\n', " ")
}

fn address(to: &str, title: Option<&CowStr<'_>>) -> String {
    match title.filter(|title| !title.is_empty()) {
        Some(title) => format!("{to} “{title}”"),
        None => to.to_owned(),
    }
}

/// The marks of an emphasis that is likely none, for they are kept: `2**3`, `src/**/*.rs`, `__init__`.
fn kept<'a>(source: &'a str, range: &Range<usize>, marks: usize) -> Option<&'a str> {
    let (mark, inner) = source.get(range.clone())?.split_at_checked(marks)?;
    let inner = inner.get(..inner.len().checked_sub(marks)?)?;
    let joins = |c: char| c.is_ascii_alphanumeric() || c == '/';
    let glob = |c: char| c == '/' || c == '.';
    let name = mark.starts_with('_') && !inner.contains(char::is_whitespace);
    let inside = inner.starts_with(glob) || inner.ends_with('/');
    let outside = source[..range.start].ends_with(joins) || source[range.end..].starts_with(joins);
    (name || inside || outside).then_some(mark)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn seen(text: &str, columns: usize) -> Vec<String> {
        rows(text, columns).iter().map(|row| row.iter().map(|piece| piece.text.as_str()).collect()).collect()
    }

    fn styled(text: &str) -> Vec<(String, Role, Modifier)> {
        rows(text, 80).into_iter().flatten().map(|piece| (piece.text, piece.role, piece.modifier)).collect()
    }

    #[test]
    fn a_text_of_all_blocks() {
        let text = "# Head\n\nSome **bold** words\non two lines.\n\n1. one\n2. two\n   - nested, long enough to wrap\n\n\
                    - [x] done\n- [ ] open\n\n> said\n>\n> twice\n\n```rust\nfn a() {\n\tb();\n}\n```\nafter\n\n---\n";
        assert_eq!(
            seen(text, 24),
            [
                "Head",
                "",
                "Some bold words",
                "on two lines.",
                "",
                "1. one",
                "2. two",
                "   • nested, long enough",
                "     to wrap",
                "",
                "☑ done",
                "☐ open",
                "",
                "│ said",
                "│ ",
                "│ twice",
                "",
                "  fn a() {",
                "      b();",
                "  }",
                "after",
                "",
                "────────────────────────",
            ]
        );
    }

    #[test]
    fn weight_and_code_are_seen() {
        let text = |text: &str| (text.to_owned(), Role::StreamText, Modifier::empty());
        let of = styled("a **b** `c` *d* ~~e~~ ***f***");
        assert_eq!(of[1], ("b".into(), Role::StreamText, Modifier::BOLD));
        assert_eq!(of[3], ("c".into(), Role::StreamCode, Modifier::empty()));
        assert_eq!(of[5], ("d".into(), Role::StreamText, Modifier::ITALIC));
        assert_eq!(of[7], ("e".into(), Role::StreamText, Modifier::CROSSED_OUT));
        assert_eq!(of[9], ("f".into(), Role::StreamText, Modifier::BOLD | Modifier::ITALIC));
        assert_eq!(of[0], text("a "));
        assert_eq!(styled("**日本語**です")[0].2, Modifier::BOLD);
    }

    #[test]
    fn the_address_of_a_link_is_seen_unless_it_is_its_text() {
        let of = styled("See [the docs](https://a.example/x \"t\").");
        assert_eq!(of[1], ("the docs".into(), Role::StreamText, Modifier::UNDERLINED));
        assert_eq!(of[2], (" (https://a.example/x “t”)".into(), Role::Dim, Modifier::empty()));
        assert_eq!(seen("<https://a.example> <me@a.example>", 80), ["https://a.example me@a.example"]);
        assert_eq!(seen("![a picture](x.png)", 80), ["image: a picture (x.png)"]);
        assert_eq!(
            seen("[x][1]\n\n[1]: https://one.example\n[2]: https://two.example", 80),
            ["x (https://one.example)", "[2]: https://two.example"]
        );
    }

    #[test]
    fn characters_that_matter_stay() {
        for line in [
            "2**3 and 4**5", "src/**/*.rs and **/*.toml", "(*.rs|*.toml)", "a ` b", "int **p, **q;", "f(**kw)",
            "__init__ and snake_case_name", "Vec<String> and <T>", "a <!-- hidden --> b", "<!-- a block of it -->",
        ] {
            assert_eq!(seen(line, 80), [line]);
        }
        assert_eq!(seen("``` rm -rf /\nx\n```", 80), ["rm -rf /", "  x"]);
    }

    #[test]
    fn an_entity_cannot_bring_an_escape() {
        assert_eq!(seen("a&#27;[31mb &#x202e;c &amp; d", 80), ["a[31mb c & d"]);
    }

    #[test]
    fn prose_is_no_wider_than_can_be_read_and_code_is() {
        let words = "word ".repeat(60);
        assert!(seen(&words, 200).iter().all(|row| row.len() <= PROSE));
        assert_eq!(seen(&format!("```\n{words}\n```"), 200)[0].len(), 200);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn no_letter_is_lost(text in "[a-z`*#_> |~!()\\[\\]\n.é日/-]{0,90}", columns in 1_usize..60) {
            // What follows a fence is the name of a language.
            prop_assume!(!text.contains("```") && !text.contains("~~~"));
            let letters = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
            let mut all: Vec<char> = letters(&seen(&text, columns).concat().replace("image: ", "")).chars().collect();
            for letter in letters(&text).chars() {
                let at = all.iter().position(|seen| *seen == letter);
                prop_assert!(at.is_some(), "{letter} of {text:?} is not in {:?}", seen(&text, columns));
                all.swap_remove(at.unwrap_or_default());
            }
        }
    }
}
