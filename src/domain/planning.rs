//! The planning of a ticket: the draft of its phases and validation commands that Claude makes, and what a person wants
//! done with it. Nothing of a draft is in the ticket's file before the person has accepted it.
//!
//! A draft is [`checked`] wherever it comes from, Claude or the person's editor: what it says is what a ticket made of it
//! reads as.

use crate::base::text::{Clean, clean_line};
use crate::domain::answerer::Answerer;
use crate::domain::ticket::PhaseSettings;
use crate::domain::ticket::draft::Draft;
use crate::domain::ticket::part::Part;
use crate::domain::verdict::Verdict;
use crate::domain::worded::worded;
use serde::{Deserialize, Serialize};

/// Phases of a draft, commands, and tickets that it splits off, at most.
pub const MOST: usize = 20;
/// Longest text of a phase, of a command and of the ticket, in bytes.
const LONGEST_LINE: usize = 1_000;
const LONGEST_TEXT: usize = 20_000;

/// Phases are wanted for a ticket that has none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanAsked {
    /// The ticket's file was made for it, and says this: title and text may be drafted too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made: Option<Draft>,
    /// The draft is accepted unseen.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub saves: bool,
    /// The work may be split into several tickets.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub splits: bool,
    #[serde(default, skip_serializing_if = "Answerer::is_screen")]
    pub by: Answerer,
}

/// What a person wants done with a draft.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DraftAnswer {
    /// It goes into the ticket.
    Accept,
    /// The person has changed it: this is the draft now.
    Edit(Draft),
    /// Claude is to change it.
    Revise { words: String },
    /// Its validation commands are run once.
    Try,
    /// Nothing of it goes into the ticket.
    Refuse,
}

/// A person has said so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DraftAnswered {
    pub answer: DraftAnswer,
    #[serde(default, skip_serializing_if = "Answerer::is_screen")]
    pub by: Answerer,
}

/// What came of a validation command that was tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tried {
    pub command: String,
    /// What the gate says of it: only what it allows was run.
    pub verdict: Verdict,
    /// Why it was not run; empty: it was.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Its exit code; `None` when it did not run, or was ended by a signal or the timeout.
    pub exit: Option<i32>,
    /// The last of its output.
    #[serde(default)]
    pub tail: String,
}

worded! {
    /// Why a draft is none.
    pub enum DraftFault {
        /// There is no status block with phases.
        Missing = "missing",
        Truncated = "truncated",
        NoPhases = "no_phases",
        TooMany = "too_many_phases",
        EmptyPhase = "empty_phase",
        SamePhase = "same_phase_twice",
        LongPhase = "phase_too_long",
        TooManyCommands = "too_many_commands",
        BadCommand = "command_not_one_line",
        LongText = "text_too_long",
        TooManyTickets = "too_many_tickets",
        /// One ticket was asked for.
        NoSplit = "tickets_not_asked_for",
        /// The list of tickets cannot be read.
        BadTickets = "tickets_unreadable",
        NoTitle = "ticket_without_title",
        SameTitle = "same_title_twice",
        /// A ticket waits for one that is not before it.
        BadOrder = "tickets_out_of_order",
        /// A ticket made of it would not read as it does.
        Unreadable = "unreadable",
    }
}

impl DraftFault {
    /// What is wrong, for Claude and the person.
    pub fn sentence(self) -> String {
        match self {
            Self::Missing => "There is no status block with `phases`.".to_owned(),
            Self::Truncated => "The status block is cut off.".to_owned(),
            Self::NoPhases => "The draft has no phases.".to_owned(),
            Self::TooMany => format!("The draft has more than {MOST} phases."),
            Self::EmptyPhase => "A phase has no text.".to_owned(),
            Self::SamePhase => "Two phases have the same text.".to_owned(),
            Self::LongPhase => format!("The text of a phase is longer than {LONGEST_LINE} bytes."),
            Self::TooManyCommands => format!("The draft has more than {MOST} validation commands."),
            Self::BadCommand => {
                format!("A validation command is not one line of at most {LONGEST_LINE} bytes.")
            }
            Self::LongText => format!("The text is longer than {LONGEST_TEXT} bytes."),
            Self::TooManyTickets => format!("The draft has more than {MOST} tickets."),
            Self::NoSplit => "The draft is for one ticket: leave `tickets` out.".to_owned(),
            Self::BadTickets => "The list `tickets` is not YAML: put texts in double quotes.".to_owned(),
            Self::NoTitle => "A ticket of the draft has no title.".to_owned(),
            Self::SameTitle => "Two tickets of the draft have the same title.".to_owned(),
            Self::BadOrder => {
                "A ticket of the draft waits for one that is not before it: `after` takes numbers of earlier tickets."
                    .to_owned()
            }
            Self::Unreadable => {
                "The phases or commands would not be read from the ticket as they are here: look for an open code \
                 block or comment, or boxes, in the text, and for markup in a phase."
                    .to_owned()
            }
        }
    }
}

/// The draft without what is only markup or invisible, if the tickets made of it read as it does.
pub fn checked(draft: Draft) -> Result<Draft, DraftFault> {
    let Draft { parts, .. } = draft.clone();
    let own = one_checked(Draft { parts: Vec::new(), ..draft })?;
    if parts.len() > MOST {
        return Err(DraftFault::TooManyTickets);
    }
    let mut draft = own.clone();
    for (before, part) in parts.into_iter().enumerate() {
        let one = one_checked(own.of_part(&part))?;
        let mut after = part.after;
        after.sort_unstable();
        after.dedup();
        if one.title.is_empty() {
            return Err(DraftFault::NoTitle);
        }
        if draft.parts.iter().any(|earlier: &Part| earlier.title == one.title) {
            return Err(DraftFault::SameTitle);
        }
        if after.iter().any(|after| !(1..=before).contains(after)) {
            return Err(DraftFault::BadOrder);
        }
        draft.parts.push(Part { title: one.title, text: one.text, phases: one.phases, after });
    }
    // What a person edits is read again.
    if Draft::of_body(&draft.body()).parts == draft.parts { Ok(draft) } else { Err(DraftFault::Unreadable) }
}

fn one_checked(draft: Draft) -> Result<Draft, DraftFault> {
    if draft.phases.iter().any(|phase| phase.trim().is_empty()) {
        return Err(DraftFault::EmptyPhase);
    }
    if draft.phases.len() > MOST {
        return Err(DraftFault::TooMany);
    }
    let phases: Vec<String> = draft.phases().collect();
    match phases.len() {
        0 => return Err(DraftFault::NoPhases),
        some if some < draft.phases.len() => return Err(DraftFault::EmptyPhase),
        _ => {}
    }
    let clean = |command: &String| Clean::new(command.trim()).as_str().trim().to_owned();
    let validation: Vec<String> = draft.validation.iter().map(clean).collect();
    let is_line = |text: &String| !text.is_empty() && text.len() <= LONGEST_LINE && !text.contains(['\n', '\t']);
    let texts: Vec<&str> = phases.iter().map(|phase| PhaseSettings::off(phase)).collect();
    if (1..texts.len()).any(|at| texts[..at].contains(&texts[at])) {
        return Err(DraftFault::SamePhase);
    }
    if phases.iter().any(|phase| phase.len() > LONGEST_LINE) {
        return Err(DraftFault::LongPhase);
    }
    if validation.len() > MOST {
        return Err(DraftFault::TooManyCommands);
    }
    if !validation.iter().all(is_line) {
        return Err(DraftFault::BadCommand);
    }
    let text = Clean::new(draft.text.trim()).into_string();
    if text.len() > LONGEST_TEXT {
        return Err(DraftFault::LongText);
    }
    let draft = Draft { title: clean_line(&draft.title, 200), text, phases, validation, ..draft };
    if draft.hidden().is_some() { Err(DraftFault::Unreadable) } else { Ok(draft) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ticket::Phase;
    use crate::domain::ticket::parse::parse;
    use proptest::prelude::*;

    fn draft(phases: &[&str], validation: &[&str]) -> Draft {
        let all = |texts: &[&str]| texts.iter().map(ToString::to_string).collect();
        Draft { title: "T".into(), phases: all(phases), validation: all(validation), ..Draft::default() }
    }

    #[test]
    fn a_draft_that_is_none_is_named() {
        let many: Vec<String> = (0..=MOST).map(|n| format!("p{n}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let long = "x".repeat(LONGEST_LINE + 1);
        for (draft, fault) in [
            (draft(&[], &[]), DraftFault::NoPhases),
            (draft(&["a", " "], &[]), DraftFault::EmptyPhase),
            (draft(&["a", "- [ ]"], &[]), DraftFault::EmptyPhase),
            (draft(&["a", "\u{200b}"], &[]), DraftFault::EmptyPhase),
            (draft(&many, &[]), DraftFault::TooMany),
            (draft(&["a", "- [ ] a "], &[]), DraftFault::SamePhase),
            (draft(&[&long], &[]), DraftFault::LongPhase),
            (draft(&["a"], &many), DraftFault::TooManyCommands),
            (draft(&["a"], &["cd x\nmake"]), DraftFault::BadCommand),
            (draft(&["a"], &[""]), DraftFault::BadCommand),
            (draft(&["a <!-- model: m, color: red -->"], &[]), DraftFault::Unreadable),
            (draft(&["a <!-- model: m -->", "a"], &[]), DraftFault::SamePhase),
            (Draft { text: "```\nopen".into(), ..draft(&["a"], &["make"]) }, DraftFault::Unreadable),
            (Draft { text: "x".repeat(LONGEST_TEXT + 1), ..draft(&["a"], &[]) }, DraftFault::LongText),
        ] {
            assert_eq!(checked(draft.clone()), Err(fault), "{:?}", draft.phases.first());
        }
        assert!(checked(draft(&many[1..], &many[1..])).is_ok(), "as many as there may be");
    }

    #[test]
    fn tickets_of_a_draft_wait_only_for_earlier_ones_and_are_read_back_as_they_are() {
        let part = |title: &str, phases: &[&str], after: &[usize]| {
            let text = "As the **document** says.\n\nMore of it.".to_owned();
            let phases = phases.iter().map(ToString::to_string).collect();
            Part { title: title.into(), text, phases, after: after.to_vec() }
        };
        let whole = |parts: Vec<Part>| Draft { parts, ..draft(&["Check it all"], &["make test"]) };
        let good = whole(vec![
            part("Count", &["a", "b <!-- model: opus -->"], &[]),
            part("Refuse: 429", &["c"], &[1]),
            part("Tell", &["a"], &[2, 1, 2]),
        ]);
        let made = checked(good).unwrap();
        assert_eq!(made.parts[2].after, [1, 2]);
        assert_eq!(Draft::of_body(&made.body()).parts, made.parts, "{}", made.body());
        assert_eq!(checked(made.clone()), Ok(made.clone()), "checked twice, it is the same");
        // The person takes the first one away: what waited for it waits for none that is there.
        let body = made.body();
        let (own, rest) = body.split_once("# Ticket 1:").unwrap();
        let without = format!("{own}# Ticket 2:{}", rest.split_once("# Ticket 2:").unwrap().1);
        assert_eq!(checked(Draft::of_body(&without)), Err(DraftFault::BadOrder));
        let freed =
            checked(Draft::of_body(&without.replace("After: 1, 2", "After: 2").replace("After: 1\n", ""))).unwrap();
        assert_eq!(freed.parts.iter().map(|part| part.after.clone()).collect::<Vec<_>>(), [vec![], vec![1]]);
        let many: Vec<Part> = (0..=MOST).map(|n| part(&format!("t{n}"), &["a"], &[])).collect();
        for (parts, fault) in [
            (vec![part("", &["a"], &[])], DraftFault::NoTitle),
            (vec![part("a", &["a"], &[]), part("a", &["b"], &[])], DraftFault::SameTitle),
            (vec![part("a", &["a"], &[1])], DraftFault::BadOrder),
            (vec![part("a", &["a"], &[0])], DraftFault::BadOrder),
            (vec![part("a", &[], &[])], DraftFault::NoPhases),
            (vec![Part { text: "# Ticket 2: x".into(), ..part("a", &["a"], &[]) }], DraftFault::Unreadable),
            (many, DraftFault::TooManyTickets),
        ] {
            assert_eq!(checked(whole(parts)), Err(fault));
        }
    }

    #[test]
    fn what_is_only_markup_or_invisible_is_left_out() {
        let made = checked(draft(&["- [ ] **Say** \u{1b}[31mso", " * b  c "], &[" make \u{202e}"])).unwrap();
        assert_eq!((made.phases, made.validation), (vec!["**Say** so".into(), "b c".into()], vec!["make".into()]));
    }

    proptest! {
        #[test]
        fn a_ticket_made_of_an_accepted_draft_reads_as_it_does(
            phases in prop::collection::vec(
                "(- \\[[ x]\\] |# |> |[*] |<!-- |`|[0-9]\\. )?\\PC{0,12}( <!-- (model: m|critique:off|effort: x y) -->)?",
                0..6,
            ),
            validation in prop::collection::vec("[`a-z *#&|$>-]{0,10}|\\PC{0,8}", 0..4),
            text in "(\\PC{0,8}\n|```\n|<!--|- \\[ \\] a\n|## Design\n|## Phase 1: x\n){0,5}",
            title in "\\PC{0,12}",
        ) {
            let draft = Draft { title, text, phases, validation, ..Draft::default() };
            if let Ok(made) = checked(draft) {
                let ticket = parse(made.markdown().as_bytes(), "t.md");
                let read: Vec<String> = ticket.phases.iter().map(Phase::typed).collect();
                prop_assert_eq!(&read, &made.phases);
                prop_assert_eq!(&ticket.validation, &made.validation);
                prop_assert_eq!(checked(made.clone()), Ok(made), "checked twice, it is the same");
            }
        }
    }
}
