//! A call of Claude's in a few words that hide nothing.

use crate::base::text::clean_line;
use crate::domain::approval::Approval;
use crate::tui::widgets::spelt;

/// A call in a few words: tool and target, or the question.
pub fn call_words(approval: &Approval) -> String {
    clean_line(&spelt::visible(&approval.words()), 400)
}
