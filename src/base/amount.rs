//! Numbers of things, in words.

/// So many of them: "1 file", "2 files", "3 matches".
pub fn counted(n: usize, noun: &str) -> String {
    let hisses = ["s", "x", "z", "ch", "sh"].iter().any(|end| noun.ends_with(end));
    let plural = match (n, hisses) {
        (1, _) => "",
        (_, true) => "es",
        (_, false) => "s",
    };
    format!("{n} {noun}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_noun_has_its_plural() {
        let cases = [(1, "file"), (2, "file"), (0, "issue"), (3, "match"), (1, "process"), (2, "leftover process")];
        let words = cases.map(|(n, noun)| counted(n, noun));
        assert_eq!(words, ["1 file", "2 files", "0 issues", "3 matches", "1 process", "2 leftover processes"]);
    }
}
