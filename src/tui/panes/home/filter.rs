//! Which rows are shown, and in which order. All words of the filter must fit. `#tag` is a tag, `status:word` how the ticket stands, anything
//! else stands in the id, the title or the front matter.

use super::rows::{Entry, entry};
use crate::domain::ticket::TicketKey;
use crate::domain::ticket::TicketStatus;
use crate::tui::home::Shows;
use crate::tui::model::Model;
use std::collections::BTreeSet;
use std::path::Path;

/// All rows that the filter leaves, in their groups, sorted as Home says.
pub fn entries(model: &Model) -> Vec<Entry<'_>> {
    let ran = model.runs.keys().filter(|id| model.last_run(id).is_some());
    let open = model.tabs.iter().map(|tab| &tab.id);
    let own =
        model.own.iter().filter(|(_, own)| model.home.everywhere || Path::new(&own.folder).starts_with(&model.folder));
    let ids: BTreeSet<&TicketKey> = model.listed.keys().chain(ran).chain(open).chain(own.map(|(id, _)| id)).collect();
    let filter = Filter::new(&model.home.filter);
    let is_shown = |entry: &Entry<'_>| is_left(model, &filter, entry);
    let mut rows: Vec<Entry<'_>> = ids.into_iter().map(|id| entry(model, id)).filter(is_shown).collect();
    rows.sort_by_cached_key(|entry| (entry.group, entry.place(model.home.sort)));
    rows
}

/// The ticket has a row.
pub fn is_shown(model: &Model, entry: &Entry<'_>) -> bool {
    is_left(model, &Filter::new(&model.home.filter), entry)
}

fn is_left(model: &Model, filter: &Filter, entry: &Entry<'_>) -> bool {
    let is_here = entry.is_archived(model) == (model.home.shows == Shows::Archive);
    is_here && !entry.is_over() && filter.fits(model, entry)
}

/// The words of a filter, in small letters.
struct Filter(Vec<String>);

impl Filter {
    fn new(text: &str) -> Self {
        Self(text.to_lowercase().split_whitespace().map(str::to_owned).collect())
    }

    /// The ticket is shown.
    fn fits(&self, model: &Model, entry: &Entry<'_>) -> bool {
        if self.0.is_empty() {
            return true;
        }
        let extra = entry.ticket.iter().flat_map(|ticket| ticket.extra.iter().map(|(_, value)| value.as_str()));
        let text: Vec<&str> = [entry.id.as_str(), entry.title()].into_iter().chain(extra).collect();
        let text = text.join(" ").to_lowercase();
        self.0.iter().all(|word| {
            if let Some(tag) = word.strip_prefix('#') {
                entry.tags().any(|own| own.to_lowercase().starts_with(tag))
            } else if let Some(status) = word.strip_prefix("status:") {
                let of_file = entry.ticket.and_then(|ticket| ticket.status).map(TicketStatus::word);
                let words = [entry.sign(model).word, entry.group.words()].into_iter().chain(of_file);
                // `status:needs-you` is one word.
                words
                    .into_iter()
                    .any(|own| own.to_lowercase().replace([' ', '_'], "-").starts_with(&status.replace('_', "-")))
            } else {
                text.contains(word)
            }
        })
    }
}
