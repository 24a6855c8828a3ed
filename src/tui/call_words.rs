//! A call of Claude's in a few words.

use crate::base::text::clean_line;
use crate::domain::approval::{Approval, ApprovalKind};

/// A call in a few words: tool and target, or the question.
pub fn call_words(approval: &Approval) -> String {
    let input: serde_json::Value = serde_json::from_str(&approval.input).unwrap_or_default();
    let field = |name: &str| input.get(name).and_then(|value| value.as_str()).map(str::to_owned);
    let first = |names: &[&str]| names.iter().find_map(|name| field(name));
    let words = match approval.kind {
        ApprovalKind::Question => {
            let asked = input.pointer("/questions/0/question").and_then(|value| value.as_str()).unwrap_or_default();
            format!("asks: {}", first_line(asked))
        }
        ApprovalKind::Plan => "has a plan: approve it?".into(),
        ApprovalKind::Call | ApprovalKind::Passphrase => {
            let target = first(&["command", "file_path", "notebook_path", "path", "url", "query", "pattern"]);
            format!("{} {}", approval.tool, first_line(&target.unwrap_or_default()))
        }
    };
    clean_line(&crate::tui::widgets::spelt::visible(words.trim_end()), 400)
}

/// The first line, and that there are more: the card shows them all.
fn first_line(text: &str) -> String {
    match text.trim().split_once('\n') {
        Some((first, _)) => format!("{} …", first.trim_end()),
        None => text.trim().to_owned(),
    }
}
