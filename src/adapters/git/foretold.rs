//! What a restore would do, as one word: another one says that the person has agreed to something else.

use super::history::Difference;
use super::paths;
use crate::domain::restore::{OthersWork, Spared, WantedFiles};
use sha2::{Digest, Sha256};

/// What the person is shown of a restore, as far as it may be another one at the next look: the files, and which of them other
/// tickets have changed.
pub(super) fn shown_as(tree: String, differ: &[Difference], wanted: &WantedFiles, others: &OthersWork) -> String {
    let of = |one: &Difference| others.of(&paths::shown(&one.path)).filter(|one| wanted.covers(&one.path));
    let words = |one: Spared| format!("{}\0{}\n", one.path, Spared::tickets(std::slice::from_ref(&one)));
    let told: String = differ.iter().filter_map(of).map(words).chain(others.unknown.iter().cloned()).collect();
    if told.is_empty() {
        return tree;
    }
    let digest = Sha256::digest(told);
    let word: [u8; 8] = std::array::from_fn(|at| digest[at]);
    format!("{tree}-{:016x}", u64::from_be_bytes(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn what_other_tickets_have_changed_is_part_of_it() {
        let differ = [Difference { status: b'M', submodule: false, path: b"a".to_vec() }];
        let shown = |files: &[(&str, &str)], wanted: &WantedFiles| {
            let of = |(path, ticket): &(&str, &str)| ((*path).to_owned(), BTreeSet::from([(*ticket).to_owned()]));
            let others = OthersWork { files: files.iter().map(of).collect(), ..OthersWork::default() };
            shown_as("t".into(), &differ, wanted, &others)
        };
        let all = WantedFiles::default();
        assert_eq!((shown(&[], &all), shown(&[("b", "tk-2")], &all)), ("t".to_owned(), "t".to_owned()));
        let (one, other) = (shown(&[("a", "tk-2")], &all), shown(&[("a", "tk-3")], &all));
        assert!(one.starts_with("t-") && other.starts_with("t-") && one != other, "{one} {other}");
        // Of files that are not meant nothing counts.
        let wanted = WantedFiles { only: BTreeSet::from(["c".to_owned()]), ..WantedFiles::default() };
        assert_eq!(shown(&[("a", "tk-2")], &wanted), "t");
    }
}
