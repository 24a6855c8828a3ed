//! A reader of sed scripts: proves that a script prints and edits the text that goes through it, and no more.
//! What could read or write a file or run a program (`r R w W e`, the flags `w` and `e`) is not proven.

use std::iter::Peekable;
use std::str::Chars;

/// Why a script is not proven harmless; `Ok` for one that is.
pub fn check(script: &str) -> Result<(), String> {
    let mut sed = Sed { chars: script.chars().peekable() };
    while sed.command()? {}
    Ok(())
}

const CUT: &str = "the sed script is incomplete";
/// Seds disagree about where such an expression ends.
const SETS: &str = "cannot tell where an expression of sed ends: a slash or bracket is in its brackets";

struct Sed<'a> {
    chars: Peekable<Chars<'a>>,
}

impl Sed<'_> {
    /// Reads a command with its addresses. False at the end of the script.
    fn command(&mut self) -> Result<bool, String> {
        self.skip(|char| char.is_whitespace() || char == ';' || char == '}');
        if self.chars.peek().is_none() {
            return Ok(false);
        }
        self.address()?;
        self.skip(char::is_whitespace);
        if self.next_is(',') {
            self.skip(char::is_whitespace);
            self.address()?;
        }
        self.skip(|char| char.is_whitespace() || char == '!');
        match self.chars.next() {
            Some('{' | '=' | 'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | 'z' | 'F') => Ok(true),
            Some('q' | 'Q' | 'l' | 'L') => {
                self.skip(|char| char == ' ' || char.is_ascii_digit());
                Ok(true)
            }
            Some('s') => self.substitution(),
            Some('y') => {
                let delimiter = self.delimiter()?;
                self.until(delimiter)?;
                self.until(delimiter)?;
                Ok(true)
            }
            // A label ends where any sed ends it: GNU's at a blank, too, and the next command may follow at once.
            Some('b' | 't' | 'T' | ':') => {
                self.skip(|char| char == ' ' || char == '\t');
                self.skip(|char| !char.is_whitespace() && char != ';' && char != '}');
                Ok(true)
            }
            Some('#') => {
                self.skip(|char| char != '\n');
                Ok(true)
            }
            Some('a' | 'i' | 'c') => {
                self.text();
                Ok(true)
            }
            Some(other) => Err(format!("sed's command {other} may read, write or run something else")),
            None => Err(CUT.to_owned()),
        }
    }

    fn address(&mut self) -> Result<(), String> {
        match self.chars.peek() {
            Some('/') => {
                self.chars.next();
                self.until('/')?;
            }
            Some('\\') => {
                self.chars.next();
                let delimiter = self.delimiter()?;
                self.until(delimiter)?;
            }
            Some('$') => {
                self.chars.next();
            }
            Some(char) if char.is_ascii_digit() || matches!(char, '+' | '~') => {
                self.skip(|char| char.is_ascii_digit() || matches!(char, '+' | '~'));
            }
            _ => return Ok(()),
        }
        // Flags of a regex.
        self.skip(|char| matches!(char, 'I' | 'M'));
        Ok(())
    }

    fn substitution(&mut self) -> Result<bool, String> {
        let delimiter = self.delimiter()?;
        self.until(delimiter)?;
        self.replacement(delimiter)?;
        loop {
            match self.chars.peek() {
                Some('g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9') => {
                    self.chars.next();
                }
                None | Some(' ' | '\t' | ';' | '\n' | '}' | '#') => return Ok(true),
                Some(other) => return Err(format!("the flag {other} of sed's s command may write or run something")),
            }
        }
    }

    /// The text of `a`, `i` and `c`: to the end of the line, over lines that end in a backslash.
    fn text(&mut self) {
        while let Some(char) = self.chars.next() {
            match char {
                '\\' => {
                    self.chars.next();
                }
                '\n' => break,
                _ => {}
            }
        }
    }

    fn delimiter(&mut self) -> Result<char, String> {
        match self.chars.next() {
            Some(char) if char != '\n' && char != '\\' => Ok(char),
            _ => Err(CUT.to_owned()),
        }
    }

    /// Reads past the next delimiter that is not escaped. A set in brackets may hold one, and is not proven then:
    /// seds disagree about it.
    fn until(&mut self, delimiter: char) -> Result<(), String> {
        let mut in_set = false;
        while let Some(char) = self.chars.next() {
            match char {
                '\\' => {
                    self.chars.next();
                }
                _ if char == delimiter && in_set => return Err(SETS.to_owned()),
                _ if char == delimiter => return Ok(()),
                '\n' => return Err(CUT.to_owned()),
                // Seds disagree about a bracket that comes first in a set, too.
                '[' if !in_set => {
                    in_set = true;
                    self.next_is('^');
                    if self.next_is(']') {
                        return Err(SETS.to_owned());
                    }
                }
                // `[:alpha:]` in a set: its bracket does not end the set.
                '[' if matches!(self.chars.peek(), Some(':' | '.' | '=')) => self.class(delimiter)?,
                ']' => in_set = false,
                _ => {}
            }
        }
        Err(CUT.to_owned())
    }

    /// Reads past the delimiter behind a replacement, in which brackets stand for themselves.
    fn replacement(&mut self, delimiter: char) -> Result<(), String> {
        while let Some(char) = self.chars.next() {
            match char {
                '\\' => {
                    self.chars.next();
                }
                _ if char == delimiter => return Ok(()),
                '\n' => break,
                _ => {}
            }
        }
        Err(CUT.to_owned())
    }

    /// `[:alpha:]` behind its first bracket.
    fn class(&mut self, delimiter: char) -> Result<(), String> {
        let kind = self.chars.next();
        while let Some(char) = self.chars.next() {
            if Some(char) == kind && self.next_is(']') {
                return Ok(());
            }
            if char == delimiter || char == '\n' {
                break;
            }
        }
        Err(SETS.to_owned())
    }

    fn next_is(&mut self, char: char) -> bool {
        self.chars.next_if_eq(&char).is_some()
    }

    fn skip(&mut self, skipped: impl Fn(char) -> bool) {
        while self.chars.next_if(|char| skipped(*char)).is_some() {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_that_only_edit_the_stream_are_proven() {
        for script in [
            "s/a/b/", "s/a/b/g", "s|/usr|/opt|gI", "1,5p", "$d", "/x/,/y/p", "10q", "1!G;h;$!d", "n;d", "y/abc/xyz/",
            "/a/{s/b/c/;p}", "1~2p", "s/\\//x/2p", "/^$/d", "a hello", "s/[a-z]*/X/", "s/^/[/", "s/$/],/;s/a/[]/",
            "s/[[:space:]]*$//", "s/[^[:alnum:]_]//g", "\\,x,p", "2,+3p", ":a;N;$!ba;s/x/y/g", ":a N;$!ba\n s/x/y/",
            "{:a;ba}", "/x/b end;p;:end",
        ] {
            assert_eq!(check(script), Ok(()), "{script}");
        }
    }

    #[test]
    fn files_and_programs_are_not() {
        for script in [
            "w out", "1e rm -rf x", "s/a/[/w out", "s/a/b/w out", "s/a/b/e", "s/a/b/gw out", "r /etc/passwd", "1r x",
            "W x", "R x", "e", "/a/w out", "p;w out", "s/a/b", "{p;r x}", "1,2r x", "s/[/]/x/w f", "s/[]/a/#]/b/w f",
            "s/[^]/a/#]/b/w f", "s/[[:alpha:]/a/#]/b/w f", "s/[[:al/a/#:]]/b/w f", "v", "\u{41}", "s/a/b/;e",
            "p\nw out", "y/a/b/w x", ":a w out", ":a r x", ":a s/.*/id/e", "b a w out", "t;w out", ":a}w out",
            "{b};w out", "ba\tw out",
        ] {
            assert!(check(script).is_err(), "{script}");
        }
    }
}
