//! A change of some lines of a ticket, as it is kept: what stands there before and after it, and between which lines.
//! It is made only where exactly that stands, so nothing that a person has written there meanwhile is lost; taken back,
//! it is the same change the other way round.

use super::edit::Unchanged;
use serde::{Deserialize, Serialize};

/// Lines of a ticket's file, without `\n`, that other lines take the place of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revision {
    /// How many lines stand above them in the file that was read.
    pub line: usize,
    /// The line above them and the one below, whatever they are ticked; `None`: the file begins or ends there.
    pub above: Option<String>,
    pub below: Option<String>,
    pub before: Vec<String>,
    pub after: Vec<String>,
}

impl Revision {
    /// What makes one file of another. `None`: nothing differs.
    pub(super) fn between(old: &[&str], new: &[String]) -> Option<Self> {
        let same = |(old, new): &(&&str, &String)| *old == new;
        let head = old.iter().zip(new).take_while(same).count();
        let tail = old[head..].iter().rev().zip(new[head..].iter().rev()).take_while(same).count();
        let (before, after) = (&old[head..old.len() - tail], &new[head..new.len() - tail]);
        let owned = |line: &&str| (*line).to_owned();
        (!(before.is_empty() && after.is_empty())).then(|| Self {
            line: head,
            above: head.checked_sub(1).map(|above| owned(&old[above])),
            below: old.get(old.len() - tail).map(owned),
            before: before.iter().map(owned).collect(),
            after: after.to_vec(),
        })
    }

    /// The same change taken back.
    #[must_use]
    pub fn reversed(self) -> Self {
        Self { before: self.after, after: self.before, ..self }
    }

    /// Makes the change. `NotThere`: the lines are not those that were to be changed.
    pub fn apply(&self, bytes: &[u8]) -> Result<Vec<u8>, Unchanged> {
        let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
        let Some(at) = self.find(&lines, &self.before) else {
            let is_made = self.find(&lines, &self.after).is_some();
            return Err(if is_made { Unchanged::AlreadySo } else { Unchanged::NotThere });
        };
        let after = self.after.iter().map(String::as_bytes);
        let all = lines[..at].iter().copied().chain(after).chain(lines[at + self.before.len()..].iter().copied());
        Ok(all.collect::<Vec<_>>().join(&b'\n'))
    }

    /// Where these lines stand in their surroundings: in their place, else in the only such place.
    fn find(&self, lines: &[&[u8]], wanted: &[String]) -> Option<usize> {
        let stands = |at: usize| {
            let end = at + wanted.len();
            let above = at.checked_sub(1).map(|above| lines[above]);
            end <= lines.len()
                && wanted.iter().zip(&lines[at..end]).all(|(wanted, line)| wanted.as_bytes() == *line)
                && is_same(self.above.as_deref(), above)
                && is_same(self.below.as_deref(), lines.get(end).copied())
        };
        if self.line <= lines.len() && stands(self.line) {
            return Some(self.line);
        }
        let mut places = (0..=lines.len()).filter(|at| stands(*at));
        places.next().filter(|_| places.next().is_none())
    }
}

/// The same line, but for a tick.
fn is_same(kept: Option<&str>, line: Option<&[u8]>) -> bool {
    let (Some(kept), Some(line)) = (kept, line) else { return kept.is_none() && line.is_none() };
    let open = |text: &str| text.replace("[x]", "[ ]").replace("[X]", "[ ]");
    kept.as_bytes() == line || std::str::from_utf8(line).is_ok_and(|line| open(line) == open(kept))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn between(old: &str, new: &str) -> Revision {
        let (old, new): (Vec<&str>, Vec<String>) =
            (old.split('\n').collect(), new.split('\n').map(str::to_owned).collect());
        Revision::between(&old, &new).unwrap()
    }

    #[test]
    fn what_a_person_has_written_there_meanwhile_stays() {
        let revision = between("a\nb\nc\n", "a\nB\nc\n");
        for (file, expected) in [
            ("a\nb\nc\n", Ok("a\nB\nc\n")),
            ("new\na\nb\nc\nx\n", Ok("new\na\nB\nc\nx\n")),
            ("a\nB\nc\n", Err(Unchanged::AlreadySo)),
            ("a\nmine\nc\n", Err(Unchanged::NotThere)),
            ("a\nb\nmine\nc\n", Err(Unchanged::NotThere)),
            ("x\na\nb\nc\na\nb\nc\n", Err(Unchanged::NotThere)),
            ("", Err(Unchanged::NotThere)),
        ] {
            assert_eq!(revision.apply(file.as_bytes()), expected.map(|text| text.as_bytes().to_vec()), "{file:?}");
        }
    }

    #[test]
    fn a_tick_beside_it_is_no_conflict_and_stays() {
        let revision = between("- [ ] a\n- [ ] b\n", "- [ ] a\n- [ ] new\n- [ ] b\n");
        let ticked = revision.apply(b"- [x] a\n- [ ] b\n").unwrap();
        assert_eq!(ticked, b"- [x] a\n- [ ] new\n- [ ] b\n");
        assert_eq!(revision.clone().reversed().apply(b"- [x] a\n- [x] new\n- [ ] b\n"), Err(Unchanged::NotThere));
        assert_eq!(revision.reversed().apply(&ticked), Ok(b"- [x] a\n- [ ] b\n".to_vec()));
    }

    proptest! {
        #[test]
        fn a_change_is_made_and_taken_back_to_the_byte(
            old in prop::collection::vec("[ab]{0,2}\r?", 0..8),
            new in prop::collection::vec("[ab]{0,2}\r?", 0..8),
        ) {
            let (old, new) = (old.join("\n"), new.join("\n"));
            prop_assume!(old != new);
            let revision = between(&old, &new);
            prop_assert_eq!(revision.apply(old.as_bytes()), Ok(new.clone().into_bytes()));
            prop_assert_eq!(revision.reversed().apply(new.as_bytes()), Ok(old.into_bytes()));
        }
    }
}
