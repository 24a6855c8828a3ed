//! The built-in tables, each read once. Of one that cannot be read nothing is known, and everything is blocked.

use crate::policy::{call, commands, floor};
use serde::de::DeserializeOwned;
use std::ops::Deref;
use std::sync::LazyLock;

/// A table, and why it is empty where it could not be read.
#[derive(Debug)]
pub struct BuiltIn<T> {
    table: T,
    /// Why it could not be read.
    pub fault: Option<String>,
}

impl<T: DeserializeOwned + Default> BuiltIn<T> {
    /// Reads a table from its file.
    pub fn read(name: &str, text: &str) -> Self {
        match serde_yaml::from_str(text) {
            Ok(table) => Self { table, fault: None },
            Err(error) => Self { table: T::default(), fault: Some(format!("{name}: {error}")) },
        }
    }
}

impl<T> Deref for BuiltIn<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.table
    }
}

/// Why one of the tables cannot be used.
pub fn fault() -> Option<&'static str> {
    static FAULT: LazyLock<Option<String>> =
        LazyLock::new(|| floor::fault().or_else(call::fault).or_else(commands::fault).map(str::to_owned));
    FAULT.as_deref()
}

#[cfg(test)]
mod tests {
    use super::*;
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
