//! Quotes and brackets: whether a value is closed, and the entries of a `{…}` (YAML flow or JSON).

/// Follows quotes and brackets through a value that may go on over lines.
///
/// A quote opens only where a value may begin, so that apostrophes in words are words.
#[derive(Default)]
pub(super) struct Balance {
    begun: bool,
    /// Neither quote nor bracket at its start: nothing to close.
    plain: bool,
    quote: Option<char>,
    escaped: bool,
    depth: usize,
    may_quote: bool,
    done: bool,
}

impl Balance {
    /// Takes more of the value in; linear over all calls.
    pub(super) fn feed(&mut self, text: &str) {
        for c in text.chars() {
            if self.plain || self.done {
                return;
            }
            self.step(c);
        }
    }

    /// Takes one character in.
    fn step(&mut self, c: char) {
        if let Some(quote) = self.quote {
            if self.escaped {
                self.escaped = false;
            } else if c == '\\' && quote == '"' {
                self.escaped = true;
            } else if c == quote {
                self.quote = None;
                self.may_quote = quote == '\''; // `''` inside quotes goes on
                self.done = self.depth == 0;
            }
            return;
        }
        match c {
            _ if c.is_whitespace() => {}
            '"' | '\'' if !self.begun || self.may_quote => {
                self.quote = Some(c);
                self.begun = true;
                self.may_quote = false;
            }
            '[' | '{' if !self.begun || self.depth > 0 => {
                self.depth += 1;
                self.begun = true;
                self.may_quote = true;
            }
            ']' | '}' if self.depth > 0 => {
                self.depth -= 1;
                self.done = self.depth == 0;
            }
            _ if self.begun => self.may_quote = matches!(c, ',' | ':'),
            _ => self.plain = true,
        }
    }

    /// A quote or bracket waits for its end.
    pub(super) fn is_open(&self) -> bool {
        self.quote.is_some() || self.depth > 0
    }

    /// It began with a quote or bracket, which is closed.
    pub(super) fn is_closed(&self) -> bool {
        self.done
    }
}

/// The `key: value` pairs of a `{…}`, raw. A part without a colon belongs to the value before it.
pub(super) fn entries(body: &str) -> Vec<(&str, &str)> {
    let body = body.trim_start().strip_prefix('{').unwrap_or(body);
    let mut balance = Balance {
        begun: true,
        may_quote: true,
        depth: 1,
        ..Balance::default()
    };
    let mut pairs: Vec<(usize, usize, usize)> = Vec::new(); // key start, value start, value end
    let (mut start, mut colon) = (0, None);
    for (at, c) in body.char_indices() {
        let top = balance.quote.is_none() && balance.depth == 1;
        if top && c == ':' && colon.is_none() {
            colon = Some(at);
        }
        balance.step(c);
        let ends = (top && c == ',') || balance.done;
        if ends || at + c.len_utf8() == body.len() {
            let end = if ends { at } else { body.len() };
            match (colon.take(), pairs.last_mut()) {
                (Some(colon), _) => pairs.push((start, colon, end)),
                (None, Some(last)) if !body[start..end].trim().is_empty() => last.2 = end,
                (None, _) => {}
            }
            start = at + c.len_utf8();
        }
        if balance.done {
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
