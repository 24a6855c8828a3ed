//! All tickets of a folder as `tk` lists them: which are ready, which are blocked and by what, how they hang together.
//! Pure; the lines have the form that `tk` prints.

use super::card::Card;
use std::collections::HashMap;

/// The tickets of a folder.
#[derive(Clone, Debug, Default)]
pub struct Board {
    cards: Vec<Card>,
    /// Where the card with an id is; of several the last, as `tk` has it.
    places: HashMap<String, usize>,
}

/// What a list leaves out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    pub status: Option<String>,
    pub assignee: Option<String>,
    pub tag: Option<String>,
}

impl Filter {
    pub fn takes(&self, card: &Card) -> bool {
        let same = |wanted: &Option<String>, is: String| wanted.as_ref().is_none_or(|wanted| *wanted == is);
        same(&self.status, card.status())
            && same(&self.assignee, card.text("assignee"))
            && self.tag.as_ref().is_none_or(|tag| card.list("tags").contains(tag))
    }
}

impl Board {
    pub fn new(cards: Vec<Card>) -> Self {
        let places = cards.iter().enumerate().map(|(at, card)| (card.id.clone(), at)).collect();
        Self { cards, places }
    }

    /// In the order of the folder.
    pub fn cards(&self) -> &[Card] {
        &self.cards
    }

    pub fn get(&self, id: &str) -> Option<&Card> {
        self.places.get(id).map(|at| &self.cards[*at])
    }

    /// What a ticket waits for: its deps that are not closed, those that are not there among them.
    pub fn blockers(&self, card: &Card) -> Vec<String> {
        let is_open = |id: &String| !self.get(id).is_some_and(Card::is_closed);
        card.list("deps").into_iter().filter(is_open).collect()
    }

    /// `id       [open] - Title <- [deps]`, for each.
    pub fn listed(&self, filter: &Filter) -> Vec<String> {
        let line = |card: &Card| {
            let deps = card.list("deps");
            let deps = if deps.is_empty() { String::new() } else { format!(" <- [{}]", deps.join(", ")) };
            format!("{}{deps}", closed_line(card))
        };
        self.cards.iter().filter(|card| filter.takes(card)).map(line).collect()
    }

    /// Active tickets that wait for nothing, by priority, then id.
    pub fn ready(&self, filter: &Filter) -> Vec<&Card> {
        self.active(filter).into_iter().filter(|card| self.blockers(card).is_empty()).collect()
    }

    /// Active tickets that wait for others, by priority, then id.
    pub fn blocked(&self, filter: &Filter) -> Vec<(&Card, Vec<String>)> {
        let with = |card| (card, self.blockers(card));
        self.active(filter).into_iter().map(with).filter(|(_, blockers)| !blockers.is_empty()).collect()
    }

    fn active(&self, filter: &Filter) -> Vec<&Card> {
        let mut active: Vec<&Card> = self.cards.iter().filter(|card| card.is_active() && filter.takes(card)).collect();
        // A priority that is no number comes behind all that are.
        let rank = |card: &Card| card.priority().parse::<u32>().unwrap_or(u32::MAX);
        active.sort_by(|a, b| (rank(a), &a.id).cmp(&(rank(b), &b.id)));
        active
    }

    /// What `show` adds below the file: what the ticket waits for, what waits for it, its children, its links.
    pub fn relations(&self, card: &Card) -> Vec<(&'static str, Vec<String>)> {
        let named = |ids: Vec<String>| ids.iter().map(|id| self.named(id)).collect::<Vec<_>>();
        let of = |is: &dyn Fn(&Card) -> bool| self.cards.iter().filter(|one| is(one)).map(Self::card_line).collect();
        let sections = [
            ("Blockers", named(self.blockers(card))),
            ("Blocking", of(&|one| !one.is_closed() && one.list("deps").contains(&card.id))),
            ("Children", of(&|one| one.text("parent") == card.id)),
            ("Linked", named(card.list("links"))),
        ];
        sections.into_iter().filter(|(_, lines)| !lines.is_empty()).collect()
    }

    /// `id [open] Title`; of a ticket that is not there the id alone, in the same form.
    pub(super) fn named(&self, id: &str) -> String {
        self.get(id).map_or_else(|| format!("{id} [] "), Self::card_line)
    }

    fn card_line(card: &Card) -> String {
        format!("{} [{}] {}", card.id, card.status(), card.title)
    }
}

/// `id       [closed] - Title`.
pub fn closed_line(card: &Card) -> String {
    format!("{:<8} [{}] - {}", card.id, card.status(), card.title)
}

/// `id       [P2][open] - Title`.
pub fn ready_line(card: &Card) -> String {
    format!("{:<8} [P{}][{}] - {}", card.id, card.priority(), card.status(), card.title)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board(fronts: &[&str]) -> Board {
        let read = |front: &&str| Card::read(format!("---\n{front}\n---\n# About it\n").as_bytes()).unwrap();
        Board::new(fronts.iter().map(read).collect())
    }

    #[test]
    fn what_waits_for_nothing_is_ready_by_priority_and_id() {
        let board = board(&[
            "id: c\nstatus: open\npriority: 10",
            "id: b\nstatus: open\npriority: 9\ndeps: [shut]",
            "id: a\nstatus: in_progress\npriority: 9\ntags: [web]",
            "id: odd\nstatus: open\npriority: high",
            "id: waits\nstatus: open\ndeps: [a, shut, gone]",
            "id: shut\nstatus: closed\ndeps: [a]",
        ]);
        let ready: Vec<String> = board.ready(&Filter::default()).into_iter().map(ready_line).collect();
        assert_eq!(
            ready,
            [
                "a        [P9][in_progress] - About it", "b        [P9][open] - About it",
                "c        [P10][open] - About it", "odd      [Phigh][open] - About it"
            ]
        );
        let blocked = board.blocked(&Filter::default());
        assert_eq!(blocked.len(), 1);
        assert_eq!((blocked[0].0.id.as_str(), &blocked[0].1), ("waits", &vec!["a".to_owned(), "gone".to_owned()]));
        let web = Filter { tag: Some("web".to_owned()), ..Filter::default() };
        assert_eq!(board.ready(&web).len(), 1);
        assert_eq!(board.listed(&web), ["a        [in_progress] - About it"]);
        assert!(board.listed(&Filter::default())[1].ends_with("[open] - About it <- [shut]"));
    }

    #[test]
    fn a_ticket_is_shown_with_those_it_hangs_together_with() {
        let board = board(&[
            "id: a\nstatus: open\ndeps: [b, shut]\nlinks: [gone]",
            "id: b\nstatus: open\nparent: a",
            "id: c\nstatus: closed\ndeps: [a]",
            "id: d\nstatus: open\ndeps: [a]",
            "id: shut\nstatus: closed",
        ]);
        let relations = board.relations(board.get("a").unwrap());
        let expected = [
            ("Blockers", vec!["b [open] About it".to_owned()]),
            ("Blocking", vec!["d [open] About it".to_owned()]),
            ("Children", vec!["b [open] About it".to_owned()]),
            ("Linked", vec!["gone [] ".to_owned()]),
        ];
        assert_eq!(relations, expected);
    }
}
