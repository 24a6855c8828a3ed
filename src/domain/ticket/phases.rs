//! Which headings and checkboxes of a ticket are its phases.
//!
//! Three forms are in use (see [`PhaseForm`]); a ticket's phases all have one form. In this order:
//!
//! 1. top-level checkboxes of a Design, Phases, Tasks, Plan or Implementation section;
//! 2. `Phase N` / `Step N` headings with checkboxes beneath them: those are the phases' tasks;
//! 3. top-level checkboxes of any other section but criteria and notes;
//! 4. `Phase N` / `Step N` headings without checkboxes;
//! 5. numbered headings, at least two in sequence from 1, at the shallowest level that has such;
//! 6. top-level checkboxes of criteria and notes: somebody wrote nothing else.
//!
//! So a list of checkboxes wins over headings, as it always has among these tools, except where the
//! checkboxes plainly belong to phase headings: there a person means the headings.

use super::outline::{Checkbox, Heading, Outline};
use super::section::{Section, phase_number};
use super::{Phase, PhaseForm, PhaseSettings, Task};

/// A phase and where its tick goes.
pub(super) struct Found {
    pub phase: Phase,
    pub spot: Spot,
}

/// Where in the file a phase is ticked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spot {
    /// The byte between the brackets, by its offset.
    Mark(usize),
    /// There are no brackets yet: ` [x]` goes to this offset.
    Append(usize),
}

pub(super) fn find(outline: &Outline) -> Vec<Found> {
    let headings = phase_headings(outline);
    let in_section = |wanted: Section| move |box_: &Checkbox| outline.section(box_.heading) == wanted;
    let with_boxes = outline.boxes.iter().any(|box_| matches!(outline.section(box_.heading), Section::Phase(_)));
    let from_phase_headings = || from_headings(outline, &headings, PhaseForm::PhaseHeading);
    let ways: [&dyn Fn() -> Vec<Found>; 6] = [
        &|| from_boxes(outline, in_section(Section::Plan)),
        &|| {
            if with_boxes { from_phase_headings() } else { Vec::new() }
        },
        &|| from_boxes(outline, in_section(Section::Plain)),
        &from_phase_headings,
        &|| from_headings(outline, &numbered(outline), PhaseForm::NumberedHeading),
        &|| from_boxes(outline, in_section(Section::Criteria)),
    ];
    ways.into_iter().map(|way| way()).find(|found| !found.is_empty()).unwrap_or_default()
}

/// The phases of a Hank project's plan: its boxes are tasks (see `boxes`), so only `Phase N` headings count.
pub(super) fn find_in_hanks_plan(outline: &Outline) -> Vec<Found> {
    from_headings(outline, &phase_headings(outline), PhaseForm::PhaseHeading)
}

fn from_boxes(outline: &Outline, belongs: impl Fn(&Checkbox) -> bool) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    // For each box, which of `found` it is or is nested under.
    let mut owner: Vec<Option<usize>> = Vec::with_capacity(outline.boxes.len());
    for box_ in &outline.boxes {
        let of = match box_.parent {
            Some(parent) => {
                let of = owner[parent];
                if let Some(phase) = of {
                    found[phase].phase.tasks.push(task(box_));
                }
                of
            }
            None if belongs(box_) => {
                found.push(Found {
                    phase: Phase {
                        n: found.len() + 1,
                        text: box_.text.clone(),
                        done: box_.done,
                        line: box_.line,
                        form: PhaseForm::Checkbox,
                        settings: settings(box_.settings.as_deref()),
                        tasks: Vec::new(),
                    },
                    spot: Spot::Mark(box_.mark),
                });
                Some(found.len() - 1)
            }
            None => None,
        };
        owner.push(of);
    }
    found
}

fn from_headings(outline: &Outline, headings: &[usize], form: PhaseForm) -> Vec<Found> {
    headings
        .iter()
        .enumerate()
        .map(|(n, &index)| {
            let heading = &outline.headings[index];
            let line_at = |line: usize| outline.boxes.partition_point(|box_| box_.line < line);
            let section = line_at(heading.line)..line_at(section_end(outline, index));
            let tasks = outline.boxes[section]
                .iter()
                .filter(|box_| outline.section(box_.heading) != Section::Criteria)
                .map(task)
                .collect();
            Found {
                phase: Phase {
                    n: n + 1,
                    text: heading.text.clone(),
                    done: heading.tick.is_some_and(|(_, done)| done),
                    line: heading.line,
                    form,
                    settings: settings(heading.settings.as_deref()),
                    tasks,
                },
                spot: heading.tick.map_or(Spot::Append(heading.end), |(mark, _)| Spot::Mark(mark)),
            }
        })
        .collect()
}

/// The line where the section of a heading is over.
fn section_end(outline: &Outline, index: usize) -> usize {
    let level = outline.headings[index].level;
    outline.headings[index + 1..].iter().find(|next| next.level <= level).map_or(usize::MAX, |next| next.line)
}

fn settings(comment: Option<&str>) -> PhaseSettings {
    comment.and_then(PhaseSettings::read).map_or_else(PhaseSettings::default, |(settings, _)| settings)
}

fn task(box_: &Checkbox) -> Task {
    Task { text: box_.text.clone(), done: box_.done }
}

/// `Phase N` and `Step N` headings of the shallowest level that has any.
fn phase_headings(outline: &Outline) -> Vec<usize> {
    let all = || {
        indexed(outline).filter(|(_, heading)| {
            phase_number(&heading.text).is_some() && outline.section(heading.parent) != Section::Criteria
        })
    };
    let level = all().map(|(_, heading)| heading.level).min();
    all().filter(|(_, heading)| Some(heading.level) == level).map(|(index, _)| index).collect()
}

/// `N. text` headings in sequence from 1.
fn numbered(outline: &Outline) -> Vec<usize> {
    for level in 1..=6 {
        let mut sequence = Vec::new();
        for (index, heading) in indexed(outline).filter(|(_, heading)| heading.level == level) {
            let counts = !matches!(heading.section, Section::Criteria | Section::Validation);
            if counts && leading_number(&heading.text) == Some(sequence.len() + 1) {
                sequence.push(index);
            }
        }
        if sequence.len() >= 2 {
            return sequence;
        }
    }
    Vec::new()
}

fn indexed(outline: &Outline) -> impl Iterator<Item = (usize, &Heading)> {
    outline.headings.iter().enumerate()
}

fn leading_number(text: &str) -> Option<usize> {
    let (digits, rest) = text.split_once('.')?;
    let is_text = rest.starts_with([' ', '\t']) && !rest.trim().is_empty();
    (is_text && digits.bytes().all(|byte| byte.is_ascii_digit())).then(|| digits.parse().ok()).flatten()
}
