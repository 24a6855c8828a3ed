//! The card on the screen: where its parts go, and which keys it offers now.

use super::body::{self, Body};
use super::call;
use super::choices;
use super::hint::lines_of;
use super::{Card, Page};
use crate::base::text::clean_line;
use crate::base::time::{Timestamp, human};
use crate::domain::approval::ApprovalKind;
use crate::domain::passphrase::{Checked, NOTICE_AT};
use crate::domain::syntax::Code;
use crate::tui::attention::What;
use crate::tui::marks::Glyphs;
use crate::tui::model::Model;
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::frame::{Frame, WIDEST, Weight, lowest};
use crate::tui::widgets::row::{Row, wrap};
use crate::tui::widgets::spelt;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::time::Duration;

/// Lines around the body: border, head, air; the keys' lines come to them.
const AROUND: u16 = 4;
/// Lines of the room below which the call itself is all that matters.
const ROOMY: u16 = 13;

impl Card {
    fn around(&self) -> u16 {
        AROUND + self.key_lines
    }

    /// Lays it out with the keys that it offers now.
    pub fn lay_out_with_keys(&mut self, model: &Model, room: Rect) {
        let columns = room.width.min(WIDEST).saturating_sub(4);
        self.key_lines = lines_of(&self.keys(model), columns).len().max(1) as u16;
        self.lay_out(room, model.glyphs);
    }

    /// Lines of the part below the body.
    fn panel_height(&self, room: Rect) -> u16 {
        match &self.page {
            // Where there is little room the call is worth more than empty lines.
            Page::Deny(_) if room.height < ROOMY => 3,
            Page::Deny(_) => 6,
            // The call itself gives way to the field that holds it.
            Page::Edit(field, _) => {
                let columns = u16::try_from(self.columns).unwrap_or(u16::MAX);
                let rows = field.rows(columns).saturating_add(2).max(6);
                rows.min(room.height.saturating_sub(self.around() + 1))
            }
            Page::Choices(choices) if choices.is_typing() => 5,
            Page::Passphrase(_) | Page::Checking(_) => 4,
            _ if room.height < ROOMY && self.trouble.is_none() && self.checked.is_none() => 0,
            // Longest when it was just told.
            _ => match self.note_rows(Timestamp::default()).len() {
                0 => 0,
                rows => rows as u16 + 1,
            },
        }
    }

    /// Lines of the body that fit.
    pub(super) fn body_height(&self, room: Rect) -> usize {
        let most = usize::from(room.height.saturating_sub(self.around() + self.panel_height(room)));
        most.min(self.lines.len())
    }

    /// Where it lies.
    pub fn area(&self, room: Rect) -> Rect {
        lowest(room, self.body_height(room) as u16 + self.panel_height(room) + self.around())
    }

    /// Lays the body out for the room, when it changed or was never laid out.
    pub fn lay_out(&mut self, room: Rect, glyphs: Glyphs) {
        let columns = usize::from(room.width.min(WIDEST)).saturating_sub(4);
        if self.columns != columns {
            self.columns = columns;
            self.lines = match &self.page {
                Page::Choices(choices) => self.with_trouble(choices.body(columns, glyphs)).lines,
                Page::Rule(rules, _) | Page::Saving(rules) => body::rule(rules, columns).lines,
                Page::Edit(..) => self.with_trouble(body::title(&self.approval, columns)).lines,
                Page::Gone(why) => body::gone(why, columns).lines,
                Page::Deny(_) if self.approval.kind == ApprovalKind::Question => {
                    choices::asked(&self.approval, columns, glyphs)
                }
                _ => {
                    let mut body = call::call(&self.approval, columns);
                    if let Some(kinds) = self.kinds() {
                        body.gap();
                        body.words(0, Role::Dim, "T allows for the rest of this run:");
                        for kind in kinds {
                            body.item(2, 2, Role::Text, kind);
                        }
                    }
                    body.lines
                }
            };
        }
        if let Some(last) = self.lines.iter().rposition(|line| line.selected) {
            let first = self.lines.iter().position(|line| line.selected).unwrap_or(last);
            let height = self.body_height(room);
            self.scrolled = self.scrolled.showing(first, last, height);
        }
        self.scroll(0, room);
    }

    /// Why the last wish came to nothing, where the panel below is taken.
    fn with_trouble(&self, mut body: Body) -> Body {
        if let Some(why) = &self.trouble {
            body.gap();
            body.words(0, Role::Danger, why);
        }
        body
    }

    /// Scrolls by lines, not beyond the ends.
    pub(super) fn scroll(&mut self, by: i32, room: Rect) {
        let height = self.body_height(room);
        self.scrolled.scroll(by, self.lines.len(), height);
        if height > 0 && self.scrolled.below(self.lines.len(), height) == 0 {
            self.end_seen |= matches!(self.page, Page::Call);
            if let Page::Rule(_, seen) = &mut self.page {
                *seen = true;
            }
        }
    }

    /// The code that is in the window.
    pub fn code(&self, room: Rect) -> impl Iterator<Item = &Code> {
        let shown = self.lines.iter().skip(self.scrolled.above()).take(self.body_height(room));
        shown.flat_map(|line| &line.pieces).filter_map(|piece| piece.code.as_ref())
    }

    pub fn view(&self, model: &Model, theme: &Theme, room: Rect, buf: &mut Buffer) {
        let height = self.body_height(room) as u16;
        let area = self.area(room);
        let below = self.scrolled.below(self.lines.len(), height.into());
        let more = match (below, self.scrolled.above()) {
            (0, 0) => String::new(),
            (0, above) => format!("{above} more {}", model.glyphs.pick("↑", "^")),
            (below, _) => format!("{below} more {}", model.glyphs.pick("↓", "v")),
        };
        let queue = model.attention();
        let is_this = |what: &What| matches!(what, What::Call(id) if *id == self.approval.id);
        let at = queue.iter().position(|item| item.ticket == self.ticket && is_this(&item.what)).unwrap_or(0);
        let title = match &self.page {
            Page::Gone(_) => "no longer waiting".to_owned(),
            _ => format!("{} of {} waiting for you", at + 1, queue.len().max(1)),
        };
        let frame = Frame {
            title: &title,
            status: &more,
            status_role: if below > 0 && matches!(self.page, Page::Call | Page::Rule(..)) {
                Role::Warning
            } else {
                Role::Dim
            },
            weight: Weight::Heavy,
            glyphs: model.glyphs,
        };
        let inside = frame.draw(theme, area, buf);
        let mut rows = inside.rows();
        if let Some(place) = rows.next() {
            self.head(model).draw(theme, place, buf);
        }
        for (place, line) in rows.by_ref().take(height.into()).zip(self.lines.iter().skip(self.scrolled.above())) {
            line.draw(&model.syntax, theme, place, buf);
        }
        let lines = lines_of(&self.keys(model), inside.width);
        let height_of_keys = inside.height.min(lines.len() as u16);
        let keys = Rect { y: inside.bottom().saturating_sub(height_of_keys), height: height_of_keys, ..inside };
        let top = (inside.y + 1 + height + 1).min(keys.y);
        let panel = self.panel_height(room);
        let field = Rect { y: top, height: keys.y.saturating_sub(top + u16::from(panel > 2)), ..inside };
        self.panel(model, theme, field, buf);
        for (place, line) in keys.rows().zip(lines) {
            line.draw(theme, place, buf);
        }
    }

    /// Ticket, phase, and how long it waits.
    fn head(&self, model: &Model) -> Row {
        let tab = model.tab_of(&self.ticket);
        let title = tab.map(|tab| clean_line(tab.title(), 200)).unwrap_or_default();
        let phase = self.approval.phase.as_deref().map(|phase| format!(" · “{}”", clean_line(phase, 200)));
        let waited = human(model.now.since(self.approval.asked));
        let waiting = match self.approval.expires {
            Some(end) => format!("waiting {waited} · denied in {}", human(end.since(model.now))),
            None => format!("waiting {waited}"),
        };
        let outlives = tab.is_some_and(|tab| tab.state.gate.kept);
        let waiting = if outlives { format!("Claude resumes with your answer · {waiting}") } else { waiting };
        Row::new()
            .left(Role::Accent, self.ticket.as_str())
            .left(Role::Text, format!(" · {title}"))
            .left(Role::Dim, phase.unwrap_or_default())
            .right(Role::Warning, if self.is_gone() { "" } else { &waiting })
    }

    fn panel(&self, model: &Model, theme: &Theme, area: Rect, buf: &mut Buffer) {
        let dressed = (theme, model.glyphs);
        match &self.page {
            Page::Deny(field) => {
                let trouble = self.trouble.as_ref().map(|why| spelt::visible(why));
                let head = ("deny", trouble.as_deref().unwrap_or("reason for Claude (optional)"));
                field.view(head, "Why not, and what should Claude do instead?", dressed, area, buf);
            }
            Page::Edit(field, _) => field.view(("edit", "nothing runs before you press y"), "", dressed, area, buf),
            Page::Choices(choices) => choices.view_field(dressed, area, buf),
            Page::Passphrase(secret) | Page::Checking(secret) => {
                let checking = matches!(self.page, Page::Checking(_));
                let room = usize::from(area.width).saturating_sub(16);
                let mask = model.glyphs.pick("•", "*").repeat(secret.letters().min(room));
                let row = Row::new()
                    .left(Role::Key, "passphrase  ")
                    .left(Role::Input, mask)
                    .left(Role::Accent, model.glyphs.pick("█", "_"));
                row.draw(theme, area, buf);
                let note = if checking {
                    vec![Row::new().left(Role::Dim, "checking the passphrase …")]
                } else {
                    self.note_rows(model.now)
                };
                for (place, row) in area.rows().skip(1).zip(note) {
                    row.draw(theme, place, buf);
                }
            }
            _ => {
                for (place, row) in area.rows().zip(self.note_rows(model.now)) {
                    row.draw(theme, place, buf);
                }
            }
        }
    }

    /// What there is to know about the last wish, the passphrase, or what is not offered.
    fn note(&self, now: Timestamp) -> Option<(Role, String)> {
        if let Some(why) = &self.trouble {
            return Some((Role::Danger, spelt::visible(why)));
        }
        let one_by_one = self.approval.kind == ApprovalKind::Call && !self.approval.provable && !self.is_barred();
        if one_by_one && matches!(self.page, Page::Call) {
            return Some((Role::Dim, "“Always” is unavailable: this call can't be verified.".into()));
        }
        if self.approval.kind != ApprovalKind::Passphrase {
            return None;
        }
        let (checked, _) = self.checked.as_ref()?;
        let many = |failures: u32| {
            if failures >= NOTICE_AT {
                format!(" {failures} wrong attempts in a row: was it you?")
            } else {
                String::new()
            }
        };
        let wait = match self.wait_left(now) {
            None => String::new(),
            // A part of a second is a second of waiting.
            Some(left) => format!(" Wait {}.", human(Duration::from_secs(left.as_millis().div_ceil(1_000) as u64))),
        };
        match checked {
            Checked::Ready | Checked::Right => None,
            Checked::Unset => {
                let words = "Blocked: no passphrase is set. In a shell: programmator passphrase set";
                Some((Role::Danger, words.into()))
            }
            Checked::Wrong { failures, .. } => {
                Some((Role::Danger, format!("Wrong passphrase.{wait}{}", many(*failures))))
            }
            Checked::Locked { failures, .. } => {
                Some((Role::Danger, format!("Not checked: too many wrong attempts.{wait}{}", many(*failures))))
            }
            Checked::Failed(why) => Some((Role::Danger, clean_line(why, 400))),
        }
    }

    fn note_rows(&self, now: Timestamp) -> Vec<Row> {
        let Some((role, words)) = self.note(now) else { return Vec::new() };
        wrap(&words, self.columns).into_iter().map(|line| Row::new().left(role, line)).collect()
    }
}
