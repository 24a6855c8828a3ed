//! Quotes and brackets: whether a value is closed, and the entries of a `{…}` (YAML flow or JSON).

/// Follows quotes and brackets through a value that may go on over lines.
///
/// A quote opens only where a value may begin, so that apostrophes in words are words.
#[derive(Default)]
pub(super) struct Balance {
    stage: Stage,
    quote: Option<char>,
    /// The next character inside a quote is taken as it is.
    escaped: bool,
    depth: usize,
    /// A value may begin here, and with it a quote.
    may_quote: bool,
}

#[derive(Default, PartialEq, Eq)]
enum Stage {
    /// Nothing but white space so far.
    #[default]
    Before,
    /// Began with neither quote nor bracket: nothing to close.
    Plain,
    /// Something is open.
    Inside,
    Done,
}

impl Balance {
    /// Takes more of the value in; linear over all calls.
    pub(super) fn feed(&mut self, text: &str) {
        for c in text.chars() {
            if matches!(self.stage, Stage::Plain | Stage::Done) {
                return;
            }
            self.step(c);
        }
    }

    fn step(&mut self, c: char) {
        if let Some(quote) = self.quote {
            if self.escaped {
                self.escaped = false;
            } else if c == '\\' && quote == '"' {
                self.escaped = true;
            } else if c == quote {
                self.quote = None;
                self.may_quote = quote == '\''; // `''` inside quotes goes on
                self.close();
            }
            return;
        }
        let before = self.stage == Stage::Before;
        match c {
            _ if c.is_whitespace() => {}
            '"' | '\'' if before || self.may_quote => {
                self.quote = Some(c);
                self.stage = Stage::Inside;
                self.may_quote = false;
            }
            '[' | '{' if before || self.depth > 0 => {
                self.depth += 1;
                self.stage = Stage::Inside;
                self.may_quote = true;
            }
            ']' | '}' if self.depth > 0 => {
                self.depth -= 1;
                self.close();
            }
            _ if before => self.stage = Stage::Plain,
            _ => self.may_quote = matches!(c, ',' | ':'),
        }
    }

    fn close(&mut self) {
        if self.depth == 0 {
            self.stage = Stage::Done;
        }
    }

    /// A quote or bracket waits for its end.
    pub(super) fn is_open(&self) -> bool {
        self.stage == Stage::Inside
    }

    /// It began with a quote or bracket, which is closed.
    pub(super) fn is_closed(&self) -> bool {
        self.stage == Stage::Done
    }
}

/// The `key: value` pairs of a `{…}`, raw. A part without a colon belongs to the value before it.
pub(super) fn entries(body: &str) -> Vec<(&str, &str)> {
    let body = body.trim_start().strip_prefix('{').unwrap_or(body);
    let mut balance = Balance { stage: Stage::Inside, depth: 1, may_quote: true, ..Balance::default() };
    let mut pairs: Vec<(usize, usize, usize)> = Vec::new(); // key start, value start, value end
    let (mut start, mut colon) = (0, None);
    for (at, c) in body.char_indices() {
        let top = balance.quote.is_none() && balance.depth == 1;
        if top && c == ':' && colon.is_none() {
            colon = Some(at);
        }
        balance.step(c);
        let ends = (top && c == ',') || balance.is_closed();
        if ends || at + c.len_utf8() == body.len() {
            let end = if ends { at } else { body.len() };
            match (colon.take(), pairs.last_mut()) {
                (Some(colon), _) => pairs.push((start, colon, end)),
                (None, Some(last)) if !body[start..end].trim().is_empty() => last.2 = end,
                (None, _) => {}
            }
            start = at + c.len_utf8();
        }
        if balance.is_closed() {
            break;
        }
    }
    pairs
        .into_iter()
        .map(|(key, colon, end)| {
            let name = body[key..colon].trim().trim_matches(['"', '\'']);
            (name, body[colon + 1..end].trim())
        })
        .collect()
}
