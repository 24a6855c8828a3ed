//! Where a status block stands in a text, so that its `error:` key is not taken for evidence. Only its extent;
//! reading it is the work of `domain::claim::parse`.

/// The names of blocks, ours and those of the systems before us.
const MARKERS: [&str; 3] = ["PROGRAMMATOR_STATUS", "HANK_STATUS", "RALPH_STATUS"];

/// Keys that may stand at the block's own indentation.
const KEYS: [&str; 11] = [
    "phase_completed", "status", "files_changed", "summary", "error", "exit_signal", "work_type", "tests_status",
    "tasks_completed", "recommendation", "files_modified",
];

/// Follows a text line by line.
#[derive(Debug, Default)]
pub(super) struct Extent {
    inside: Option<Inside>,
}

#[derive(Clone, Copy, Debug)]
enum Inside {
    /// Behind a YAML marker at this indentation (bytes), before the first key.
    Opened(usize),
    /// In a YAML block whose keys stand deeper than its marker's indentation.
    Deeper(usize),
    /// In a YAML block whose keys stand where its marker does: known keys only, up to a blank line.
    Level(usize),
    /// Until the line that ends it.
    Ruled,
}

impl Extent {
    /// Whether `line` belongs to a status block; lines are given in order.
    pub(super) fn holds(&mut self, line: &str) -> bool {
        match marker(line) {
            Marker::Opens(inside) => self.inside = Some(inside),
            Marker::Closes => self.inside = None,
            Marker::None => {
                self.inside = self.inside.and_then(|inside| inside.beyond(line));
                return self.inside.is_some();
            }
        }
        true
    }
}

impl Inside {
    /// Where the block stands with one more line; `None` when the line is behind it.
    fn beyond(self, line: &str) -> Option<Self> {
        let bare = unquoted(line);
        let deeper = |indent| indentation(line) > indent;
        let level = |indent| deeper(indent) || is_key(bare) || bare.starts_with("- ");
        match self {
            Self::Ruled => Some(self),
            Self::Opened(_) if bare.is_empty() => Some(self),
            Self::Opened(indent) if deeper(indent) => Some(Self::Deeper(indent)),
            Self::Deeper(indent) => (line.trim().is_empty() || deeper(indent)).then_some(self),
            Self::Opened(indent) | Self::Level(indent) => level(indent).then_some(Self::Level(indent)),
        }
    }
}

/// What a line says about a block.
enum Marker {
    None,
    Opens(Inside),
    /// A ruled one ends here.
    Closes,
}

fn marker(line: &str) -> Marker {
    let bare = unquoted(line);
    if let Some(ruled) = bare.strip_prefix("---") {
        let ends = ruled.strip_prefix("END_");
        let name = ends.unwrap_or(ruled).trim_end().strip_suffix("---");
        return match name.filter(|name| MARKERS.contains(name)) {
            None => Marker::None,
            Some(_) if ends.is_some() => Marker::Closes,
            Some(_) => Marker::Opens(Inside::Ruled),
        };
    }
    let rest = MARKERS.iter().find_map(|name| bare.strip_prefix(name));
    match rest.filter(|rest| rest.trim_start_matches(['*', '`', ' ']).starts_with(':')) {
        Some(_) => Marker::Opens(Inside::Opened(indentation(line))),
        None => Marker::None,
    }
}

/// `line` without its indentation and the marks of quotes and emphasis.
fn unquoted(line: &str) -> &str {
    line.trim_matches(|c: char| c.is_whitespace() || matches!(c, '>' | '*' | '`'))
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn is_key(bare: &str) -> bool {
    let Some((key, _)) = bare.split_once(':') else { return false };
    let key = key.trim_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '`' | '"' | '\''));
    KEYS.iter().any(|known| known.eq_ignore_ascii_case(key))
}
