//! Bars of eighths, counters of little boxes, and the heartbeat: small pictures of numbers.

use crate::tui::marks::Glyphs;

const LEVELS: [&str; 8] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

/// A bar of `cells` cells: the filled part and the rest. Anything above zero fills at least one cell,
/// and only `share` 1.0 fills all.
pub fn bar(glyphs: Glyphs, share: f64, cells: usize) -> (String, String) {
    let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
    let mut full = (share * cells as f64).floor() as usize;
    if share > 0.0 {
        full = full.max(1).min(cells);
    }
    (glyphs.pick("▇", "#").repeat(full), glyphs.pick("▁", ".").repeat(cells - full))
}

/// `done` of `limit` little boxes; nothing when there are more than `most`.
pub fn boxes(glyphs: Glyphs, done: u32, limit: u32, most: u32) -> (String, String) {
    if limit > most {
        return (String::new(), String::new());
    }
    let done = done.min(limit) as usize;
    (glyphs.pick("▮", "#").repeat(done), glyphs.pick("▯", ".").repeat(limit as usize - done))
}

/// A line of levels, one cell a count, relative to the highest.
pub fn spark(glyphs: Glyphs, counts: &[u32]) -> String {
    let highest = counts.iter().copied().max().unwrap_or(0).max(1);
    counts
        .iter()
        .map(|count| match glyphs {
            Glyphs::Unicode => {
                let level = (*count as usize * 7).div_ceil(highest as usize);
                LEVELS[level.min(7)]
            }
            Glyphs::Ascii if *count == 0 => "_",
            Glyphs::Ascii => "^",
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_wide_as_asked_and_never_full_too_early() {
        let text = |share| {
            let (fill, track) = bar(Glyphs::Unicode, share, 8);
            fill + &track
        };
        assert_eq!(text(0.0), "▁▁▁▁▁▁▁▁");
        assert_eq!(text(0.01), "▇▁▁▁▁▁▁▁");
        assert_eq!(text(0.99), "▇▇▇▇▇▇▇▁");
        assert_eq!(text(7.0), "▇▇▇▇▇▇▇▇");
        assert_eq!(text(f64::NAN), "▁▁▁▁▁▁▁▁");
    }

    #[test]
    fn boxes_give_way_to_the_number_when_there_are_too_many() {
        assert_eq!(boxes(Glyphs::Unicode, 1, 3, 8), ("▮".into(), "▯▯".into()));
        assert_eq!(boxes(Glyphs::Ascii, 9, 3, 8), ("###".into(), String::new()));
        assert_eq!(boxes(Glyphs::Unicode, 1, 50, 8), (String::new(), String::new()));
    }

    #[test]
    fn a_heart_that_stands_still_is_a_flat_line() {
        assert_eq!(spark(Glyphs::Unicode, &[0, 0, 0]), "▁▁▁");
        assert_eq!(spark(Glyphs::Unicode, &[0, 4, 8]), "▁▅█");
    }
}
