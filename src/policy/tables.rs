//! The built-in tables, each read once. Of one that cannot be read nothing is known, and everything is blocked.

use crate::policy::{call, commands, floor};
use std::sync::LazyLock;

/// Why one of the tables cannot be used.
pub fn fault() -> Option<&'static str> {
    static FAULT: LazyLock<Option<String>> =
        LazyLock::new(|| floor::fault().or_else(call::fault).or_else(commands::fault).map(str::to_owned));
    FAULT.as_deref()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::built_in::BuiltIn;
    use std::collections::BTreeMap;

    #[test]
    fn every_built_in_table_is_read() {
        assert_eq!(fault(), None);
    }

    /// The reader follows only so many references to a part of a table.
    #[test]
    fn a_table_that_cannot_be_read_says_why() {
        let lines: Vec<String> = (0..20_000).map(|at| format!("k{at}: *a\n")).collect();
        let text = format!("a: &a [{}]\n{}", "x, ".repeat(500), lines.concat());
        let read = BuiltIn::<BTreeMap<String, Vec<String>>>::read("services.yaml", &text);
        let fault = read.fault.as_deref().unwrap_or_default();
        assert!(read.is_empty() && fault.starts_with("services.yaml: "), "{fault}");
        let read = BuiltIn::<BTreeMap<String, Vec<String>>>::read("a.yaml", "a: [b]");
        assert!(read.fault.is_none() && read.contains_key("a"));
    }
}
