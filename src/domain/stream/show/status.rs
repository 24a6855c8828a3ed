//! The status block inside Claude's words, found for display only: what counts as a claim is decided by
//! `domain::claim`. A block that is not plainly understood stays text, so nothing is hidden.

/// The status block, as far as a card shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// The phase that is claimed to be done.
    pub phase: Option<String>,
    /// `CONTINUE`, `DONE`, `BLOCKED`, or whatever stands there.
    pub status: String,
    /// Files that are claimed to be changed.
    pub files: Vec<String>,
    pub summary: String,
    pub error: Option<String>,
}

const KEY: &str = "PROGRAMMATOR_STATUS:";

/// Splits `text` into what stands before the block, the block, and what follows. `None`: no block that is plainly understood.
pub(super) fn split(text: &str) -> Option<(String, Status, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let key = lines.iter().rposition(|line| line.trim() == KEY)?;
    let indent = lines[key].len() - lines[key].trim_start().len();
    let fenced = key > 0 && lines[key - 1].trim_start().starts_with("```");
    let mut end = key + 1;
    while end < lines.len() && belongs(lines[end], indent) {
        end += 1;
    }
    let status = read(&lines[key + 1..end])?;
    let mut rest = end;
    if fenced {
        while rest < lines.len() && lines[rest].trim().is_empty() {
            rest += 1;
        }
        if lines.get(rest).is_some_and(|line| line.trim() == "```") {
            rest += 1;
        } else if rest < lines.len() {
            return None;
        }
    }
    let start = key - usize::from(fenced);
    Some((lines[..start].join("\n"), status, lines[rest..].join("\n")))
}

fn belongs(line: &str, indent: usize) -> bool {
    let own = line.len() - line.trim_start().len();
    own > indent && !line.trim().is_empty()
}

fn read(lines: &[&str]) -> Option<Status> {
    let mut status = Status::default();
    let mut in_files = false;
    for line in lines {
        let line = line.trim();
        if let Some(item) = line.strip_prefix("- ") {
            if !in_files {
                return None;
            }
            status.files.push(bare(item));
            continue;
        }
        let (key, value) = line.split_once(':')?;
        let value = bare(value);
        in_files = key == "files_changed";
        match key {
            "phase_completed" => {
                status.phase = Some(value).filter(|v| !matches!(v.as_str(), "" | "null" | "~"));
            }
            "status" => status.status = value,
            "summary" => status.summary = value,
            "error" => status.error = Some(value).filter(|v| !matches!(v.as_str(), "" | "null")),
            "files_changed" => {
                if let Some(inner) = value.strip_prefix('[').and_then(|v| v.strip_suffix(']')) {
                    status.files = inner.split(',').map(bare).filter(|file| !file.is_empty()).collect();
                } else if !value.is_empty() {
                    return None;
                }
            }
            _ => return None,
        }
    }
    let block_scalar = |text: &str| matches!(text, "|" | ">" | "|-" | ">-");
    (!status.status.is_empty() && !block_scalar(&status.summary)).then_some(status)
}

/// A value without its quotes.
fn bare(value: &str) -> String {
    let value = value.trim();
    for quote in ['"', '\''] {
        if let Some(inner) = value.strip_prefix(quote).and_then(|v| v.strip_suffix(quote)) {
            return inner.replace("\\\"", "\"");
        }
    }
    value.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_block_is_taken_out() {
        let text = "All done.\n\n```yaml\nPROGRAMMATOR_STATUS:\n  phase_completed: \"Phase 1\"\n  status: CONTINUE\n  files_changed:\n    - a.txt\n    - 'b c.txt'\n  summary: \"did it\"\n```\nBye";
        let (before, status, after) = split(text).expect("a block");
        assert_eq!(before, "All done.\n");
        assert_eq!(after, "Bye");
        assert_eq!(status.phase.as_deref(), Some("Phase 1"));
        assert_eq!(status.status, "CONTINUE");
        assert_eq!(status.files, ["a.txt", "b c.txt"]);
        assert_eq!(status.summary, "did it");
    }

    #[test]
    fn what_is_not_plain_stays_text() {
        for text in [
            "no block",
            "PROGRAMMATOR_STATUS:\n  nonsense",
            "PROGRAMMATOR_STATUS:\n  status: DONE\n  unknown: 1",
            "PROGRAMMATOR_STATUS:\n  status: DONE\n  summary: |\n    two lines: here\n    more",
            "```\nPROGRAMMATOR_STATUS:\n  status: DONE\nsomething else\n```",
        ] {
            assert_eq!(split(text), None, "{text}");
        }
        let (_, status, _) =
            split("PROGRAMMATOR_STATUS:\n  status: DONE\n  files_changed: []\n  phase_completed: null")
                .expect("a block");
        assert_eq!((status.phase, status.files.len()), (None, 0));
    }
}
