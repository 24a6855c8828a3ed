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

/// A large number with separators: "74,064".
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A size in bytes: "512 bytes", "14 KiB", "1.5 MiB", "20.0 GiB".
pub fn size(bytes: u64) -> String {
    let tenths = |shift: u32| format!("{}.{}", bytes >> shift, ((bytes % (1 << shift)) * 10) >> shift);
    match bytes {
        0..1_024 => counted(usize::try_from(bytes).unwrap_or(usize::MAX), "byte"),
        1_024..1_048_576 => format!("{} KiB", bytes >> 10),
        1_048_576..1_073_741_824 => format!("{} MiB", tenths(20)),
        _ => format!("{} GiB", tenths(30)),
    }
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

    #[test]
    fn a_large_number_has_separators() {
        let told = [0, 999, 1_000, 74_064, 1_234_567].map(grouped);
        assert_eq!(told, ["0", "999", "1,000", "74,064", "1,234,567"]);
    }

    #[test]
    fn sizes_are_told_in_the_unit_that_fits() {
        let told: Vec<String> = [0, 1, 1_023, 1_024, 3 << 19, 1 << 30, u64::MAX].map(size).into();
        let expected = ["0 bytes", "1 byte", "1023 bytes", "1 KiB", "1.5 MiB", "1.0 GiB", "17179869183.9 GiB"];
        assert_eq!(told, expected);
    }
}
