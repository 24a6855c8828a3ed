//! Violations planted on purpose, each of which its rule must catch, and look-alikes that it must not.

/// Rule, file, text.
pub const CAUGHT: &[(&str, &str, &str)] = &[
    ("rooms", "src/base/x.rs", "//! A file.\nuse crate::domain::ticket::Ticket;\n"),
    ("rooms", "src/domain/x.rs", "//! A file.\nuse crate::{base::id, orchestrator::state::{State, Mark}};\n"),
    ("rooms", "src/policy/x.rs", "//! A file.\nfn f() -> crate::orchestrator::State { todo }\n"),
    ("rooms", "src/config/x.rs", "//! A file.\nuse super::super::adapters::git;\n"),
    ("rooms", "src/tui/panes/x.rs", "//! A file.\nuse crate::runtime::effects as e;\n"),
    ("rooms", "src/tui.rs", "//! A file.\nuse super::adapters::store;\n"),
    (
        "rooms",
        "src/adapters/git.rs",
        "//! A file.\nuse crate::{\n    base::id::RunId,\n    orchestrator::input::Input,\n};\n",
    ),
    ("rooms", "src/runtime/x.rs", "//! A file.\nuse crate::tui;\n"),
    ("rooms", "src/demo/x.rs", "//! A file.\nuse programmator::tui::Model;\n"),
    ("rooms", "src/brandnew/x.rs", "//! A file.\n"),
    ("purity", "src/orchestrator/x.rs", "//! A file.\nuse std::{collections::BTreeMap, fs};\n"),
    ("purity", "src/domain/x.rs", "//! A file.\nfn now() -> i64 { jiff::Timestamp::now().as_second() }\n"),
    ("purity", "src/base/x.rs", "//! A file.\nuse std::time::Instant;\nfn f() { Instant::now(); }\n"),
    ("purity", "src/policy/x.rs", "//! A file.\nfn f() { tokio::spawn(async {}); }\n"),
    ("purity", "src/tui/panes/x.rs", "//! A file.\nuse std::fs::File;\n"),
    ("crossterm", "src/tui/panes/x.rs", "//! A file.\nuse ratatui::crossterm::event::KeyCode;\n"),
    ("crossterm", "src/runtime/x.rs", "//! A file.\nuse crossterm;\n"),
    ("colours", "src/tui/panes/x.rs", "//! A file.\nfn f() -> ratatui::style::Color { ratatui::style::Color::Red }\n"),
    ("colours", "src/tui/widgets/x.rs", "//! A file.\nuse ratatui::style::{Style, Stylize};\n"),
    ("header", "src/base/x.rs", "use std::fmt;\n"),
    ("header", "src/base/y.rs", "//!\n"),
    ("docs", "src/base/x.rs", "//! A file.\n\n#[derive(Debug)]\npub struct Bare;\n"),
    ("docs", "src/base/x.rs", "//! A file.\n/// Told.\npub struct S {\n    pub n: u32,\n}\n\npub trait T {}\n"),
    ("mod.rs", "src/tui/mod.rs", "//! A file.\n"),
    ("names", "src/tui/utils.rs", "//! A file.\n"),
    ("names", "src/adapters/git_helpers/x.rs", "//! A file.\n"),
    ("re-exports", "src/domain/x.rs", "//! A file.\npub use crate::base::id::RunId;\n"),
    ("printing", "src/adapters/x.rs", "//! A file.\nfn f() { eprintln!(\"x\"); }\n"),
    ("tests last", "src/base/x.rs", "//! A file.\n/// Told.\n#[cfg(test)]\npub fn only_for_tests() {}\n"),
    ("tests last", "src/base/x.rs", "//! A file.\n#[cfg(test)]\nmod tests {\n}\n\nuse crate::tui;\n"),
];

/// File and text of what looks like a violation and is none.
pub const LET_PASS: &[(&str, &str)] = &[
    ("src/base/x.rs", "//! Not crate::tui.\n// use std::fs;\nconst T: &str = \"use crate::tui; println!(1)\";\n"),
    (
        "src/base/x.rs",
        "//! A file.\nconst R: &str = r#\"std::fs \" std::net\"#;\nconst C: char = '\"';\nfn f<'a>(x: &'a str) -> &'a str { x }\n",
    ),
    (
        "src/domain/x.rs",
        "//! A file.\nuse crate::base::id::RunId;\nuse super::ticket::Ticket;\n\n#[cfg(test)]\nmod tests {\n    use std::fs;\n}\n",
    ),
    ("src/tui/terminal/raw.rs", "//! A file.\nuse crossterm::event::Event;\nuse std::io::stdout;\n"),
    ("src/tui/theme/load.rs", "//! A file.\nuse ratatui::style::{Color, Modifier};\n"),
    ("src/tui.rs", "//! A file.\n#[cfg(test)]\npub mod sample;\nmod panes;\nuse self::panes::Pane;\n"),
    ("src/tui/process_list.rs", "//! A file.\nuse crate::tui::tokio_look::X;\n"),
    ("src/runtime/headless/text.rs", "//! A file.\nfn f() { println!(\"x\"); }\n"),
    ("src/lib.rs", "//! A file.\npub use crate::base::id;\n"),
];
