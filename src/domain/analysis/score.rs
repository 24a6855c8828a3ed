//! How sure it is that the work is done, in the points that Hank gives. They are recorded with the iteration, and shown
//! nowhere; of themselves they end nothing.

use super::before::Before;
use super::shape::{Output, Shape};
use super::words;

/// 0 to 100. `exits`: the structure says that the work is done.
pub(super) fn confidence(output: &Output, exits: bool, before: &Before<'_>) -> u32 {
    if exits {
        return 100;
    }
    let points = match output.shape {
        Shape::Text => by_words(&output.text, before),
        Shape::Flat | Shape::Cli | Shape::Frames => 50 + by_structure(output),
    };
    points.min(100)
}

fn by_structure(output: &Output) -> u32 {
    let indicators = u32::try_from(output.indicators).unwrap_or(u32::MAX);
    let found = indicators.saturating_mul(5).saturating_add(if output.has_result { 20 } else { 0 });
    output.confidence.unwrap_or(found).min(100)
}

fn by_words(text: &str, before: &Before<'_>) -> u32 {
    let length = text.len() as u64;
    let points = [
        (words::completes(text), 10),
        (words::nothing_left(text), 15),
        (before.files_changed > 0, 20),
        (before.length.is_some_and(|last| last > 0 && length < last / 2), 10),
    ];
    points.iter().filter(|(holds, _)| *holds).map(|(_, points)| points).sum()
}
