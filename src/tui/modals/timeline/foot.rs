//! What stands below the lists: words, and the keys under them, in as many lines as they need.

use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::row::{Row, wrap};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Lines of words, and of keys, at most.
const WORDS: usize = 7;
const KEYS: usize = 3;

/// Words and keys, in lines.
pub struct Foot {
    words: Vec<String>,
    keys: Vec<Row>,
}

impl Foot {
    /// In lines of this many columns. Without words, one line is left for them.
    pub fn of(words: &str, hints: Vec<(String, &'static str)>, columns: usize) -> Self {
        let mut words = wrap(words, columns);
        if words.len() > WORDS {
            words.truncate(WORDS);
            words[WORDS - 1].push('…');
        }
        if words.is_empty() {
            words.push(String::new());
        }
        let mut keys: Vec<Row> = Vec::new();
        for (key, hint) in hints {
            let one = Row::new().key(Role::Key, &key, hint);
            let fits = |row: &Row| row.left_width() + one.left_width() <= columns;
            match keys.pop() {
                Some(row) if fits(&row) => keys.push(row.key(Role::Key, &key, hint)),
                Some(row) => keys.extend([row, one]),
                None => keys.push(one),
            }
        }
        // Those that lead out are the last.
        let over = keys.len().saturating_sub(KEYS);
        keys.drain(..over);
        Self { words, keys }
    }

    pub fn height(&self) -> u16 {
        (self.words.len() + self.keys.len()) as u16
    }

    /// Draws it at the bottom of a dialog's inside; what is above it.
    pub fn draw(&self, theme: &Theme, inside: Rect, buf: &mut Buffer) -> Rect {
        let words = self.words.iter().map(|line| Row::new().left(Role::Toast, line));
        let rows: Vec<Row> = words.chain(self.keys.iter().cloned()).collect();
        let mut y = inside.bottom();
        for row in rows.iter().rev() {
            if y == inside.y {
                break;
            }
            y -= 1;
            row.draw(theme, Rect { y, height: 1, ..inside }, buf);
        }
        Rect { height: inside.height.saturating_sub(self.height()), ..inside }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_is_cut_and_the_last_one_stays() {
        let hints =
            |n: usize| (0..n).map(|_| ("R".to_owned(), "restore")).chain([("Esc".to_owned(), "close")]).collect();
        for columns in 20..90 {
            let foot = Foot::of("a question that is longer than a line of a small screen", hints(5), columns);
            assert!(foot.keys.iter().all(|row| row.left_width() <= columns), "{columns}");
            assert!(foot.keys.last().unwrap().text().ends_with("Esc close"), "{columns}");
            assert!(foot.words.iter().all(|line| line.len() <= columns), "{columns}");
        }
    }
}
