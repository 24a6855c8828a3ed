//! What some versions of Claude Code know and others do not: the one table of it. Pure; [`super::probe`] asks.
//!
//! A row is here because something is done otherwise without it, or because a person must know what they lack.

use super::version::Version;

/// Something that not every version knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    SystemPromptSnapshot,
    /// `crossSessionInbound` in the settings.
    CrossSessionInbound,
    /// `onFailure` beside a callback of `initialize`, and of a command hook.
    OnFailure,
}

/// How it is known whether a version has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// `--help` lists this flag.
    Help(&'static str),
    Since(Version),
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub feature: Feature,
    pub name: &'static str,
    pub sign: Sign,
    pub with: &'static str,
    /// What is so without it; `None`: a version without it does not need it.
    pub without: Option<&'static str>,
}

pub const TABLE: [Row; 3] = [
    Row {
        feature: Feature::SystemPromptSnapshot,
        name: "--system-prompt-snapshot off",
        sign: Sign::Help("--system-prompt-snapshot"),
        with: "a resumed session gets the current system prompt",
        // These versions always send the current system prompt.
        without: None,
    },
    // Older versions ignore the setting and keep the others: measured on 2.1.197.
    Row {
        feature: Feature::CrossSessionInbound,
        name: "crossSessionInbound: refuse",
        sign: Sign::Since(Version(2, 1, 224)),
        with: "messages from your other Claude sessions are refused",
        // In these versions sessions cannot message each other.
        without: None,
    },
    // Older versions ignore the field: measured on 2.1.197.
    Row {
        feature: Feature::OnFailure,
        name: "onFailure: block",
        sign: Sign::Since(Version(2, 1, 295)),
        with: "Claude blocks a tool call that cannot be checked",
        without: Some("Claude asks again about a tool call that cannot be checked (permission mode default)"),
    },
];

/// What one Claude knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Features(Vec<Feature>);

impl Features {
    pub fn of(features: impl IntoIterator<Item = Feature>) -> Self {
        Self(features.into_iter().collect())
    }

    /// By the table, for a version and what its `--help` prints.
    pub fn found(version: Version, help: &str) -> Self {
        let listed = |flag: &str| help.split([' ', '\n', '\t', ',', '=', '<', '[']).any(|word| word == flag);
        let has = |row: &&Row| match row.sign {
            Sign::Help(flag) => listed(flag),
            Sign::Since(since) => version >= since,
        };
        Self(TABLE.iter().filter(has).map(|row| row.feature).collect())
    }

    pub fn have(&self, feature: Feature) -> bool {
        self.0.contains(&feature)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_counts_when_help_lists_it_and_a_field_from_its_version_on() {
        let help = "  --system-prompt-snapshot <on|off>  Record\n  --settings <file>\n";
        let all: Vec<Feature> = TABLE.iter().map(|row| row.feature).collect();
        assert_eq!(Features::found(Version(2, 1, 330), help), Features::of(all));
        let older = Features::found(Version(2, 1, 197), "  --system-prompt <prompt>  see --system-prompt-snapshots");
        assert_eq!(older, Features::default());
        let between = Features::found(Version(2, 1, 224), "");
        assert_eq!(between, Features::of([Feature::CrossSessionInbound]));
    }
}
