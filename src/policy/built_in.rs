//! A built-in table, read once.

use serde::de::DeserializeOwned;
use std::ops::Deref;

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
