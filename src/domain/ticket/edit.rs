//! Changes a ticket's bytes: ticks a phase, sets the status. Everything else stays as it is, byte for byte;
//! nothing is ever written anew from what was read.
//!
//! Pure: writing the file is `adapters::tickets`' part.

use super::TicketStatus;
use super::front::{self, Front};
use super::outline::Outline;
use super::phases::{self, Spot};

/// Why there is nothing to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unchanged {
    /// The text has no such phase (renamed, removed) or no such front matter key.
    #[error("there is no such place in the ticket")]
    NotThere,
    #[error("nothing to change")]
    AlreadySo,
}

/// Ticks the phase with this text, of several the `nth`, from 0. A box flips one byte; a heading without a box gets
/// ` [x]`.
pub fn complete_phase(bytes: &[u8], text: &str, nth: usize) -> Result<Vec<u8>, Unchanged> {
    match spot(bytes, text, nth, Tick::Open)? {
        Spot::Mark(at) => Ok(with_byte(bytes, at, b'x')),
        Spot::Append(at) => Ok([&bytes[..at], b" [x]", &bytes[at..]].concat()),
    }
}

/// Unticks the phase with this text, of several the `nth`, from 0. Flips one byte; a ticket that is closed is open again:
/// others may wait for it.
pub fn reopen_phase(bytes: &[u8], text: &str, nth: usize) -> Result<Vec<u8>, Unchanged> {
    match spot(bytes, text, nth, Tick::Done)? {
        Spot::Mark(at) => {
            let open = with_byte(bytes, at, b' ');
            let is_closed = super::parse::parse(&open, "").status == Some(TicketStatus::Closed);
            Ok(if is_closed { set_status(&open, TicketStatus::Open).unwrap_or(open) } else { open })
        }
        // A heading without a box is open.
        Spot::Append(_) => Err(Unchanged::AlreadySo),
    }
}

/// Replaces the value of `status:` in the front matter; quotes, blanks and comments around it stay.
/// Where there is no front matter or no status in it, none is added.
pub fn set_status(bytes: &[u8], to: TicketStatus) -> Result<Vec<u8>, Unchanged> {
    let range = front::split(bytes).yaml.ok_or(Unchanged::NotThere)?;
    let yaml = std::str::from_utf8(&bytes[range.clone()]).map_err(|_| Unchanged::NotThere)?;
    let old = Front::read(yaml).status.ok_or(Unchanged::NotThere)?;
    if old.value == to.word() {
        return Err(Unchanged::AlreadySo);
    }
    let written = old.bytes.ok_or(Unchanged::NotThere)?;
    let value = yaml.get(written.clone()).ok_or(Unchanged::NotThere)?;
    let at = value.find(&old.value).ok_or(Unchanged::NotThere)? + written.start + range.start;
    let edited = [&bytes[..at], to.word().as_bytes(), &bytes[at + old.value.len()..]].concat();
    // An unusual spelling may read differently once replaced; then it is left to the person.
    let now = super::parse::parse(&edited, "").status;
    (now == Some(to)).then_some(edited).ok_or(Unchanged::NotThere)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Tick {
    Open,
    Done,
}

/// Where the phase stands, if it has this tick.
fn spot(bytes: &[u8], text: &str, nth: usize, tick: Tick) -> Result<Spot, Unchanged> {
    let split = front::split(bytes);
    let outline = Outline::read(bytes, split.body, split.body_line);
    let mut named = phases::find(&outline).into_iter().filter(|found| found.phase.text == text.trim());
    let found = named.nth(nth).ok_or(Unchanged::NotThere)?;
    let is_so = found.phase.done != (tick == Tick::Done);
    if is_so { Err(Unchanged::AlreadySo) } else { Ok(found.spot) }
}

fn with_byte(bytes: &[u8], at: usize, byte: u8) -> Vec<u8> {
    let mut edited = bytes.to_vec();
    edited[at] = byte;
    edited
}

#[cfg(test)]
mod tests {
    use super::super::parse::parse;
    use super::*;
    use proptest::prelude::*;

    fn text(result: Result<Vec<u8>, Unchanged>) -> String {
        String::from_utf8(result.unwrap()).unwrap()
    }

    #[test]
    fn each_form_is_ticked_in_its_own_way() {
        let cases = [
            ("- [ ] a\n- [ ] b", "b", "- [ ] a\n- [x] b"),
            ("* [ ] a\r\n", "a", "* [x] a\r\n"),
            ("\u{feff}1. [ ] größer 日本", "größer 日本", "\u{feff}1. [x] größer 日本"),
            ("+ [ ]   a  \t\n", "a", "+ [x]   a  \t\n"),
            ("## Phase 1: A\r\nx\r\n", "Phase 1: A", "## Phase 1: A [x]\r\nx\r\n"),
            ("## Phase 1: A", "Phase 1: A", "## Phase 1: A [x]"),
            ("## Phase 1: A  \n", "Phase 1: A", "## Phase 1: A [x]  \n"),
            ("## Step 1. A [ ]\n", "Step 1. A", "## Step 1. A [x]\n"),
            ("## Phase 1: A ##\n", "Phase 1: A", "## Phase 1: A ## [x]\n"),
            ("## 1. A\n## 2. B\n", "2. B", "## 1. A\n## 2. B [x]\n"),
            ("- [ ] a\0b\n", "a\0b", "- [x] a\0b\n"),
            ("- [ ] a <!-- model: m -->\n", "a", "- [x] a <!-- model: m -->\n"),
            ("## Phase 1: A <!-- model: m -->\n", "Phase 1: A", "## Phase 1: A [x] <!-- model: m -->\n"),
        ];
        for (before, phase, after) in cases {
            let edited = text(complete_phase(before.as_bytes(), phase, 0));
            assert_eq!(edited, after);
            assert_eq!(
                complete_phase(after.as_bytes(), phase, 0).is_err(),
                parse(after.as_bytes(), "t.md").phases.iter().all(|p| p.text != phase || p.done),
                "{after:?}"
            );
        }
    }

    #[test]
    fn of_several_with_one_text_the_one_that_is_meant_is_changed() {
        let file = b"- [x] a\n- [ ] a\n- [ ] b\n- [ ] a\n";
        assert_eq!(text(complete_phase(file, "a", 2)), "- [x] a\n- [ ] a\n- [ ] b\n- [x] a\n");
        assert_eq!(text(reopen_phase(file, "a", 0)), "- [ ] a\n- [ ] a\n- [ ] b\n- [ ] a\n");
        assert_eq!(complete_phase(file, "a", 0), Err(Unchanged::AlreadySo));
        assert_eq!(reopen_phase(file, "a", 1), Err(Unchanged::AlreadySo));
        assert_eq!(complete_phase(file, "a", 3), Err(Unchanged::NotThere));
    }

    #[test]
    fn what_is_not_there_or_done_is_left_alone() {
        let cases = [
            ("- [x] a", "a", Unchanged::AlreadySo),
            ("## Phase 1: A [X]", "Phase 1: A", Unchanged::AlreadySo),
            ("- [ ] a", "b", Unchanged::NotThere),
            ("```\n- [ ] a\n```", "a", Unchanged::NotThere),
            ("- [ ] a\n  - [ ] nested", "nested", Unchanged::NotThere),
            ("", "a", Unchanged::NotThere),
        ];
        for (before, phase, expected) in cases {
            assert_eq!(complete_phase(before.as_bytes(), phase, 0), Err(expected), "{before:?}");
        }
    }

    #[test]
    fn a_phase_is_reopened_by_one_byte() {
        let reopened = |before: &str, phase: &str| text(reopen_phase(before.as_bytes(), phase, 0));
        assert_eq!(reopened("- [X] a\r\n", "a"), "- [ ] a\r\n");
        assert_eq!(reopened("## Phase 1: A [x]", "Phase 1: A"), "## Phase 1: A [ ]");
        for open in ["- [ ] Phase 1: A", "## Phase 1: A"] {
            assert_eq!(reopen_phase(open.as_bytes(), "Phase 1: A", 0), Err(Unchanged::AlreadySo));
        }
    }

    #[test]
    fn only_the_status_word_is_replaced() {
        let cases = [
            ("status: open", "status: in_progress"),
            ("status:   open   # why not", "status:   in_progress   # why not"),
            ("status: \"open\"", "status: \"in_progress\""),
            ("status: 'open' ", "status: 'in_progress' "),
            ("status: someday", "status: in_progress"),
            ("id: open\r\nstatus: open\r\nx: ü", "id: open\r\nstatus: in_progress\r\nx: ü"),
            ("note: ü日 status\n\"status\": open", "note: ü日 status\n\"status\": in_progress"),
        ];
        for (before, after) in cases {
            for bom in ["", "\u{feff}"] {
                let file = |yaml| format!("{bom}---\n{yaml}\n---\n# T\nstatus: open\n");
                let edited = text(set_status(file(before).as_bytes(), TicketStatus::InProgress));
                assert_eq!(edited, file(after));
            }
        }
    }

    #[test]
    fn a_status_is_never_added() {
        for before in [
            "# Plan\nstatus: open\n", "---\nid: a\n---\n", "---\nstatus:\n---\n", "---\nstatus: [open]\n---\n",
            "---\nstatus: open\nstatus: open\n---\n", "---\nstatus: open\n",
        ] {
            let edited = set_status(before.as_bytes(), TicketStatus::Closed);
            assert_eq!(edited, Err(Unchanged::NotThere), "{before:?}");
        }
        let closed = b"---\nstatus: closed\n---\n";
        assert_eq!(set_status(closed, TicketStatus::Closed), Err(Unchanged::AlreadySo));
    }

    /// Lines that make phases, hide them, or only look like them.
    fn line() -> impl Strategy<Value = String> {
        prop_oneof![
            "[-*+] \\[[ x]\\] [a-cü日]{1,2}",
            "  [-*] \\[[ x]\\] [a-c]{1,2}",
            "[1-3][.)] \\[[ xX]\\] [a-c]{1,2} {0,2}",
            "#{1,3} (Phase|Step) [1-3][:. ]{1,2}[a-c]{0,2}( \\[[ x]\\])?",
            "#{2,3} [1-3]\\. [a-c]{1,2}( #{1,2})?( \\[x\\])?",
            "## (Design|Notes|Tasks|Acceptance Criteria)",
            "```|~~~|<!--|-->|---|===| {0,5}",
            "\\PC{0,12}",
        ]
    }

    proptest! {
        #[test]
        fn ticking_changes_that_phase_and_no_other_byte(
            lines in prop::collection::vec(line(), 0..14),
            end in prop_oneof![Just("\n"), Just("\r\n")],
            bom in prop_oneof![Just(""), Just("\u{feff}")],
            last in any::<bool>(),
            choice in any::<prop::sample::Index>(),
        ) {
            let mut file = format!("{bom}{}", lines.join(end));
            if last { file.push_str(end); }
            let before = parse(file.as_bytes(), "t.md");
            let open: Vec<_> = (0..before.phases.len()).filter(|&at| !before.phases[at].done).collect();
            prop_assume!(!open.is_empty());
            let ticked = *choice.get(&open);
            let text = &before.phases[ticked].text;
            let nth = before.phases[..ticked].iter().filter(|phase| phase.text == *text).count();
            let edited = complete_phase(file.as_bytes(), text, nth).unwrap();
            let after = parse(&edited, "t.md");

            let mut expected = before.phases.clone();
            expected[ticked].done = true;
            prop_assert_eq!(&after.phases, &expected);

            let at = file.bytes().zip(&edited).position(|(a, b)| a != *b).unwrap_or(file.len());
            let grown = edited.len() - file.len();
            prop_assert!(grown == 0 || grown == 4);
            let same_from = if grown == 0 { at + 1 } else { at };
            prop_assert_eq!(&file.as_bytes()[..at], &edited[..at]);
            prop_assert_eq!(&file.as_bytes()[same_from..], &edited[same_from + grown..]);

            let reopened = parse(&reopen_phase(&edited, text, nth).unwrap(), "t.md");
            prop_assert_eq!(reopened.phases.len(), before.phases.len());
        }
    }
}
