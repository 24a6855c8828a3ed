//! Where a status block begins and ends, and which keys stand in it. Values stay raw (`value` reads them).

use super::super::Source;
use super::flow;
use super::key::{self, Field, KeyLine};
use super::lines::{Line, Role};

/// One block as found.
#[derive(Default)]
pub(super) struct Block {
    pub(super) source: Source,
    pub(super) entries: Vec<Entry>,
    pub(super) warnings: Vec<&'static str>,
    /// Something was begun and not finished when the text ended.
    pub(super) cut: bool,
    /// It stands in a fence that never closes.
    pub(super) fence_open: bool,
    /// It ends with the text, and the text ends without a newline.
    pub(super) mid_line: bool,
}

/// A key with its raw value.
pub(super) struct Entry {
    pub(super) name: String,
    /// Which key of the protocol it is.
    pub(super) field: Option<Field>,
    /// What stands behind the colon.
    pub(super) first: String,
    /// The lines that continue it, as written.
    pub(super) more: Vec<String>,
    /// How far quotes and brackets are open at its end.
    pub(super) balance: flow::Balance,
    /// Nothing but list items so far.
    list: bool,
}

impl Entry {
    fn new(name: &str, field: Option<Field>, first: &str) -> Self {
        let mut balance = flow::Balance::default();
        balance.feed(first);
        Self {
            name: name.to_owned(),
            field,
            first: first.to_owned(),
            more: Vec::new(),
            balance,
            list: first.is_empty(),
        }
    }

    fn extend(&mut self, line: &str, blanks: usize) {
        self.more.extend(std::iter::repeat_n(String::new(), blanks));
        self.balance.feed("\n");
        self.balance.feed(line);
        self.list &= key::bullet(line.trim()).is_some();
        self.more.push(line.to_owned());
    }

    fn is_block_scalar(&self) -> bool {
        self.first.starts_with(['|', '>'])
    }
}

/// A line that announces a block.
struct Marker<'a> {
    source: Source,
    rest: &'a str,
    colon: bool,
    heading: bool,
    markup: bool,
}

/// Reads the block that line `at` announces, if it does; with the index of the line behind it.
pub(super) fn read(lines: &[Line], at: usize) -> Option<(Block, usize)> {
    let start = lines.get(at).filter(|line| line.role == Role::Text)?;
    if let Some(rule) = ruled(&start.text).filter(|rule| rule.opens) {
        return Some(between_rules(lines, at + 1, rule.source));
    }
    let marker = marker(&start.text)?;
    let mut reader = Reader {
        lines,
        next: at + 1,
        base: Some(start.indent),
        fenced: start.fenced,
        key_indent: None,
        bulleted: false,
        block: Block { source: marker.source, ..Block::default() },
    };
    reader.note(start);
    if marker.heading {
        reader.block.warnings.push("heading_marker");
    }
    if marker.markup {
        reader.block.warnings.push("markup_stripped");
    }
    let rest = plain_rest(marker.rest);
    if rest.starts_with('{') {
        reader.flow(rest);
    } else if let Some(key) = key::line(rest).filter(|key| key.field.is_some()) {
        reader.open(&key);
        reader.keys();
    } else if rest.is_empty() || marker.source.status(rest).is_some() {
        reader.keys();
    } else {
        return None;
    }
    if !marker.colon && reader.block.entries.is_empty() {
        return None;
    }
    Some((reader.finish(), reader.next))
}

/// What stands behind the marker, without what YAML would not count as content.
fn plain_rest(rest: &str) -> &str {
    let rest = rest.trim();
    let word = rest.split_whitespace().next().unwrap_or("");
    if rest.starts_with('#') || (word == rest && rest.starts_with(['|', '>', '!', '&'])) { "" } else { rest }
}

fn marker(text: &str) -> Option<Marker<'_>> {
    let text = text.trim();
    let (bullet, text) = key::bullet(text).map_or((false, text), |rest| (true, rest));
    let level = text.len() - text.trim_start_matches('#').len();
    let heading = (1..=6).contains(&level) && text[level..].starts_with(char::is_whitespace);
    let text = if heading { text[level..].trim_start() } else { text };
    let text = text.strip_prefix('{').map_or(text, str::trim_start);
    let (open, text) = key::opening(text);
    let named = |(name, source): (&str, Source)| text.strip_prefix(name).map(|behind| (behind, source));
    let (behind, source) = Source::NAMES.into_iter().find_map(named)?;
    let (colon, rest) = key::closing(behind, open)?;
    let markup = bullet || open.contains(['*', '_', '`']);
    Some(Marker { source, rest, colon, heading, markup })
}

/// `---HANK_STATUS---` and `---END_HANK_STATUS---`: a line that a block stands between.
struct Rule {
    source: Source,
    opens: bool,
}

fn ruled(text: &str) -> Option<Rule> {
    let name = text.trim().strip_prefix("---")?.strip_suffix("---")?;
    let (opens, name) = name.strip_prefix("END_").map_or((true, name), |name| (false, name));
    let (_, source) = Source::NAMES.into_iter().find(|(known, _)| *known == name)?;
    Some(Rule { source, opens })
}

/// Reads a block from `next` to the rule that ends it, or as far as there are lines of it.
fn between_rules(lines: &[Line], mut next: usize, source: Source) -> (Block, usize) {
    let mut block = Block { source, ..Block::default() };
    while let Some(line) = lines.get(next).filter(|line| line.role == Role::Text) {
        if let Some(rule) = ruled(&line.text) {
            next += usize::from(!rule.opens);
            return (block, next);
        }
        if marker(&line.text).is_some() {
            return (block, next);
        }
        block.warnings.extend(&line.oddities);
        match (key::line(&line.text), block.entries.last_mut()) {
            (Some(key), _) => {
                block.warnings.extend(key.warnings.iter());
                block.entries.push(Entry::new(key.name, key.field, key.value));
            }
            (None, Some(last)) if !line.is_blank() => last.extend(&line.text, 0),
            (None, _) => {}
        }
        next += 1;
    }
    block.mid_line = next == lines.len() && lines.last().is_some_and(|line| !line.ended);
    (block, next)
}

struct Reader<'a> {
    lines: &'a [Line],
    next: usize,
    /// Indentation of the marker; `None` when the keys stand in a fence of their own.
    base: Option<usize>,
    fenced: bool,
    key_indent: Option<usize>,
    bulleted: bool,
    block: Block,
}

impl Reader<'_> {
    fn note(&mut self, line: &Line) {
        self.block.warnings.extend(&line.oddities);
    }

    fn open(&mut self, key: &KeyLine<'_>) {
        self.block.warnings.extend(key.warnings.iter());
        self.block.entries.push(Entry::new(key.name, key.field, key.value));
    }

    /// Reads key lines and their continuations up to the end of the block.
    fn keys(&mut self) {
        let mut blanks = 0;
        while let Some(line) = self.lines.get(self.next) {
            match line.role {
                Role::Opens if !self.fenced && self.block.entries.is_empty() => {
                    self.fenced = true;
                    self.base = None;
                }
                Role::Closes => {
                    self.next += 1;
                    return;
                }
                Role::Opens | Role::Hidden => return,
                Role::Text if line.is_blank() => blanks += 1,
                Role::Text => {
                    if self.block.entries.is_empty() && line.text.trim_start().starts_with('{') {
                        self.next += 1;
                        self.note(line);
                        return self.flow(line.text.trim());
                    }
                    if !self.take(line, blanks) {
                        return;
                    }
                    self.note(line);
                    blanks = 0;
                }
            }
            self.next += 1;
        }
    }

    /// Takes a line into the block, as a key or as more of the last value; `false`: the block is over.
    fn take(&mut self, line: &Line, blanks: usize) -> bool {
        let inside_scalar = self.block.entries.last().is_some_and(Entry::is_block_scalar)
            && self.key_indent.is_some_and(|indent| line.indent > indent);
        if !inside_scalar {
            if marker(&line.text).is_some() || ruled(&line.text).is_some() {
                return false;
            }
            if let Some(key) = key::line(&line.text).filter(|key| self.is_key(key, line, blanks)) {
                if self.key_indent.is_none() {
                    self.key_indent = Some(line.indent);
                    self.bulleted = key.bullet;
                }
                self.open(&key);
                return true;
            }
            if self.is_cut_key(line) {
                self.block.cut = true;
                return true;
            }
        }
        if !self.continues(line, blanks) {
            return false;
        }
        if let Some(entry) = self.block.entries.last_mut() {
            entry.extend(&line.text, blanks);
        }
        true
    }

    fn is_key(&self, key: &KeyLine<'_>, line: &Line, blanks: usize) -> bool {
        let deeper_than_marker = self.base.is_none_or(|base| line.indent > base);
        let sheltered = self.fenced || deeper_than_marker;
        let Some(indent) = self.key_indent else { return key.field.is_some() || (sheltered && !key.bullet) };
        if key.bullet != self.bulleted {
            return false;
        }
        let known = key.field.is_some();
        if line.indent == indent {
            return sheltered || (known && (blanks == 0 || key.is_verbatim()));
        }
        if line.indent < indent {
            return known && deeper_than_marker && blanks == 0;
        }
        let closed = self.block.entries.last().is_some_and(|last| last.balance.is_closed());
        known && closed && blanks == 0
    }

    /// The text ends in the middle of a key.
    fn is_cut_key(&self, line: &Line) -> bool {
        let text = line.text.trim();
        !line.ended
            && self.next + 1 == self.lines.len()
            && self.key_indent.is_none_or(|indent| indent == line.indent)
            && self.base.is_none_or(|base| line.indent > base)
            && Field::WORDS.iter().any(|word| word.starts_with(text))
    }

    fn continues(&self, line: &Line, blanks: usize) -> bool {
        let (Some(entry), indent) = (self.block.entries.last(), self.key_indent) else { return false };
        let indent = indent.unwrap_or(0);
        line.indent > indent
            || (blanks == 0
                && (entry.balance.is_open()
                    || (line.indent == indent && entry.list && key::bullet(line.text.trim()).is_some())
                    || (line.indent == indent && self.base.is_some_and(|base| indent > base))))
    }

    /// Reads a `{…}` that begins with `first` and may go on over lines.
    fn flow(&mut self, first: &str) {
        let mut body = first.to_owned();
        let mut balance = flow::Balance::default();
        balance.feed(first);
        while balance.is_open() {
            let Some(line) = self.lines.get(self.next) else {
                self.block.cut = true;
                break;
            };
            if line.role != Role::Text || marker(&line.text).is_some() {
                break;
            }
            balance.feed("\n");
            balance.feed(&line.text);
            body.push('\n');
            body.push_str(&line.text);
            self.next += 1;
        }
        for (name, value) in flow::entries(&body) {
            let (field, warning) = key::field(name);
            self.block.warnings.extend(warning);
            self.block.entries.push(Entry::new(name, field, value));
        }
        // Braces around the block and the end of its fence belong to it.
        while let Some(line) = self.lines.get(self.next) {
            let tail = line.role == Role::Text && (line.is_blank() || line.text.trim() == "}");
            if !tail && line.role != Role::Closes {
                return;
            }
            self.next += 1;
            if line.role == Role::Closes {
                return;
            }
        }
    }

    fn finish(&mut self) -> Block {
        let mut block = std::mem::take(&mut self.block);
        let at_end = self.lines[self.next..].iter().all(Line::is_blank);
        let closed = self.next > 0 && self.lines[self.next - 1].role == Role::Closes;
        if at_end && !closed {
            block.fence_open = self.fenced;
            block.mid_line = self.lines.last().is_some_and(|line| !line.ended);
            block.cut |= block.entries.last().is_some_and(|entry| entry.balance.is_open());
        }
        block
    }
}
