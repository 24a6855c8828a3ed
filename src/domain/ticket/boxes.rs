//! How many of a ticket's checkboxes are ticked, whatever they are boxes of. Which of them are phases is decided in
//! `phases`; what follows when all are ticked is the orchestrator's.
//!
//! **Hank's plans.** A file called `fix_plan.md` or `@fix_plan.md` without front matter is the plan of a Hank (or
//! Ralph) project. Claude itself ticks its boxes, several in one iteration if it likes, so they are tasks and no
//! phases: only `Phase N` and `Step N` headings are phases there. Without such headings the whole plan is worked
//! through as a ticket without phases.

use super::outline::Outline;
use super::section::Section;
use serde::{Deserialize, Serialize};

/// Headings whose boxes may stay open, in lower case: data, one to a line.
const OPTIONAL: &str = include_str!("optional_sections.txt");

/// A ticket's checkboxes, those among its validation commands left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Boxes {
    pub ticked: u32,
    /// Open, and to be done.
    pub open: u32,
    /// Open in a section that is optional.
    pub optional: u32,
}

impl Boxes {
    /// There are boxes, and none that counts is open.
    pub fn all_ticked(self) -> bool {
        self.ticked > 0 && self.open == 0
    }

    pub(super) fn count(outline: &Outline) -> Self {
        let mut boxes = Self::default();
        for one in &outline.boxes {
            let which = match outline.section(one.heading) {
                Section::Validation => continue,
                _ if one.done => &mut boxes.ticked,
                _ if is_optional(outline, one.heading) => &mut boxes.optional,
                _ => &mut boxes.open,
            };
            *which += 1;
        }
        boxes
    }
}

/// Whether a heading, or one above it, makes what is below it optional.
fn is_optional(outline: &Outline, mut heading: Option<usize>) -> bool {
    while let Some(at) = heading {
        if names_option(&outline.headings[at].text) {
            return true;
        }
        heading = outline.headings[at].parent;
    }
    false
}

/// The heading is one of the listed names, maybe with more behind a colon, a dash or a bracket.
fn names_option(text: &str) -> bool {
    let bare = text.trim_matches(|c: char| !c.is_alphanumeric() && c != ')').to_lowercase();
    OPTIONAL.lines().any(|name| {
        bare.strip_prefix(name).is_some_and(|rest| {
            let apart = rest.trim_start();
            apart.is_empty()
                || apart.starts_with([':', '('])
                || (apart.len() < rest.len() && apart.starts_with(['-', '–', '—']))
        })
    })
}

/// Whether a file of this name (without folder) is the plan of a Hank project.
pub(super) fn is_hanks_plan(name: &str) -> bool {
    matches!(name, "fix_plan.md" | "@fix_plan.md")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_that_make_boxes_optional() {
        for heading in [
            "Optional", "OPTIONAL", "Future", "Nice to Have", "**Future Enhancements**", "Optional: polish",
            "Future - maybe",
        ] {
            assert!(names_option(heading), "{heading}");
        }
        for heading in ["Optional arguments", "Future-proof parsing", "Not optional", "High Priority", ""] {
            assert!(!names_option(heading), "{heading}");
        }
    }
}
