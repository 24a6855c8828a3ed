//! What is known of calls in a row that are one line: what makes one, and what its line says.

use crate::base::amount::counted;
use crate::domain::stream::show::{Block, Shown, Tool};
use std::collections::HashSet;

/// What a row of calls does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Look,
    Plan,
}

/// What is known of a row of calls.
#[derive(Default)]
pub(super) struct Run {
    /// Records that were looked at.
    pub(super) upto: usize,
    /// Nothing more belongs to it.
    pub(super) closed: bool,
    pub(super) calls: usize,
    pub(super) files: HashSet<String>,
    pub(super) searches: usize,
    pub(super) named: Vec<String>,
    /// Calls that were not seen to end.
    pub(super) open: Vec<(usize, String)>,
    pub(super) failed: usize,
    pub(super) denied: usize,
    pub(super) is_plan: bool,
}

pub(super) fn class(shown: &Shown) -> Option<(Class, &Tool)> {
    let [Block::Tool(tool)] = &shown.blocks[..] else { return None };
    let class = match tool.name.as_str() {
        "Read" | "Grep" | "Glob" | "LS" => Class::Look,
        "TodoWrite" | "TaskCreate" | "TaskUpdate" | "TaskList" | "TaskGet" => Class::Plan,
        _ => return None,
    };
    shown.parent.is_none().then_some((class, tool))
}

impl Run {
    /// "Read 6 files, searched 2 times".
    pub(super) fn words(&self) -> String {
        let times = match self.searches {
            0 => String::new(),
            1 => "earched once".to_owned(),
            more => format!("earched {more} times"),
        };
        match (self.files.len(), times.as_str()) {
            (0, times) => format!("S{times}"),
            (files, times) => {
                let read = format!("Read {}", counted(files, "file"));
                if times.is_empty() { read } else { format!("{read}, s{times}") }
            }
        }
    }
}
