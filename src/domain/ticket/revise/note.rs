//! Adds a note below `## Notes`, with the time it was made.

use super::{File, LONGEST_NOTE, Made, NotRevised};
use crate::base::time::Timestamp;

impl File<'_> {
    /// A note as it is written, else quoted: nothing of it may be read as a heading or a box. One without words is its time.
    pub(super) fn noted(&self, note: &str, now: Timestamp) -> Result<Vec<Made>, NotRevised> {
        let note = note.trim();
        if note.len() > LONGEST_NOTE || note.chars().any(|c| c.is_control() && c != '\n' && c != '\t') {
            return Err(NotRevised::NoNote);
        }
        let notes = self.outline.headings.iter().rposition(|heading| heading.text.eq_ignore_ascii_case("notes"));
        let end = notes.map_or_else(|| self.end(), |at| self.section(at).1);
        let title = if notes.is_some() { &[][..] } else { &["", "## Notes"] };
        let written = |quote: &str| {
            let head = title.iter().map(|line| (*line).to_owned());
            let stamp = [String::new(), format!("**{}Z**", now.second().replace(' ', "T")), String::new()];
            let text = note.lines().map(|line| format!("{quote}{line}").trim_end().to_owned());
            let mut made = self.unchanged();
            self.insert(&mut made, end, head.chain(stamp).chain(text));
            made
        };
        Ok(["", "> "].map(written).into())
    }
}
