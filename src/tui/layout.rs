//! Where everything is: pure geometry, shared by drawing, preparing and tests.
//!
//! Panes never fall below what is readable: they go. From 160 columns on there are three columns of
//! panes, from 100 two, below that one pane at a time with the gauges as one line. Under 30 lines
//! the log is its last line. The person's sizes and hidden panes count where they leave the Stream its room; one pane may
//! have it all.

use crate::tui::model::Model;
use crate::tui::panes::{gauges, log, now, stream, tickets};
use crate::tui::{changes, home};
use ratatui::layout::Rect;

/// Smallest screen that is drawn, in cells.
pub const SMALLEST: (u16, u16) = (60, 15);

/// Width of the columns beside the stream.
const SIDE: u16 = 34;
/// Width of the tree on the widest screens: titles stand there whole, and states in words.
const WIDE_SIDE: u16 = 52;
/// The same on the right, where names of files stand.
const WIDE_RIGHT: u16 = 40;
/// Lines that the changes need.
const CHANGES_LEAST: u16 = 6;
/// Lines of the log as a pane, borders included.
const LOG: u16 = 6;
/// Least lines of it, and least columns beside the stream.
const LOG_LEAST: u16 = 3;
const SIDE_LEAST: u16 = 20;
/// Lines from which on there is one for what happens now.
const TALL: u16 = 20;
/// Lines that the tree keeps when the gauges stand below it.
const TREE_LEAST: u16 = 9;

/// The places of one screen. A pane without a place is not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Layout {
    pub screen: Rect,
    /// The first line.
    pub tabs: Rect,
    /// What happens now, under the tabs.
    pub now: Option<Rect>,
    /// Everything between the first line and the last.
    pub home: Option<Rect>,
    pub tickets: Option<Rect>,
    /// What Claude says and does.
    pub stream: Option<Rect>,
    pub gauges: Option<Rect>,
    /// The files that differ.
    pub changes: Option<Rect>,
    /// Numbers, as one line.
    pub gauges_line: Option<Rect>,
    /// The log, as a pane.
    pub log: Option<Rect>,
    /// The log, as its last line.
    pub log_line: Option<Rect>,
    /// The last line.
    pub footer: Rect,
    /// Too small for anything but saying so.
    pub too_small: bool,
}

impl Layout {
    pub fn of(&self, pane: &str) -> Option<Rect> {
        match pane {
            home::NAME => self.home,
            tickets::NAME => self.tickets,
            stream::NAME => self.stream,
            gauges::NAME => self.gauges,
            changes::NAME => self.changes,
            log::NAME => self.log,
            _ => None,
        }
    }

    fn set(&mut self, pane: &str, place: Option<Rect>) {
        match pane {
            tickets::NAME => self.tickets = place,
            gauges::NAME => self.gauges = place,
            changes::NAME => self.changes = place,
            log::NAME => self.log = place,
            _ => self.stream = place,
        }
    }

    pub fn line_of(&self, pane: &str) -> Option<Rect> {
        match pane {
            gauges::NAME => self.gauges_line,
            log::NAME => self.log_line,
            _ => None,
        }
    }
}

/// Places everything on a screen of `width` × `height` cells.
pub fn solve((width, height): (u16, u16), model: &Model) -> Layout {
    let screen = Rect::new(0, 0, width, height);
    let mut layout = Layout { screen, ..Layout::default() };
    if width < SMALLEST.0 || height < SMALLEST.1 {
        layout.too_small = true;
        return layout;
    }
    layout.tabs = Rect { height: 1, ..screen };
    layout.footer = Rect { y: height - 1, height: 1, ..screen };
    let mut body = Rect { y: 1, height: height - 2, ..screen };
    let focus = model.focus;
    if model.is_home() {
        let top = model.sheet.unwrap_or(height);
        layout.home = Some(Rect { height: body.height.min(top.saturating_sub(body.y)), ..body });
        return layout;
    }
    if height >= TALL && now::has_words(model) {
        layout.now = Some(take_top(&mut body, 1));
    }
    let own = &model.arrangement;
    if own.is_zoomed {
        layout.set(focus, Some(body));
        return layout;
    }
    let [shows_tickets, shows_gauges, shows_changes, shows_log] =
        [tickets::NAME, gauges::NAME, changes::NAME, log::NAME].map(|pane| own.shows(pane));
    if width < 100 && focus != gauges::NAME && shows_gauges {
        layout.gauges_line = Some(take_top(&mut body, 1));
    }
    if !shows_log {
    } else if height >= 30 {
        let usual = if model.is_log_open { LOG.max(body.height / 2) } else { LOG };
        let lines = usual.saturating_add_signed(own.log).clamp(LOG_LEAST, body.height / 2);
        layout.log = Some(take_bottom(&mut body, lines));
    } else if width >= 100 || focus != log::NAME {
        layout.log_line = Some(take_bottom(&mut body, 1));
    }
    // The Stream keeps a third of three columns, and more than a half of two.
    let side = |usual: u16, more: i16, parts: u16| usual.saturating_add_signed(more).clamp(SIDE_LEAST, width / parts);
    match width {
        160.. => {
            let (left, right) = if width < 190 { (SIDE, SIDE) } else { (WIDE_SIDE, WIDE_RIGHT) };
            if shows_tickets {
                layout.tickets = Some(take_left(&mut body, side(left, own.left, 3)));
            }
            if shows_gauges || shows_changes {
                let mut side = take_right(&mut body, side(right, own.right, 3));
                let gauges = gauges::height(model);
                if shows_gauges && shows_changes && side.height >= gauges + CHANGES_LEAST {
                    layout.gauges = Some(take_bottom(&mut side, gauges));
                    layout.changes = Some(side);
                } else if shows_gauges {
                    layout.gauges = Some(side);
                } else {
                    layout.changes = Some(side);
                }
            }
            layout.stream = Some(body);
        }
        100.. => {
            if !shows_tickets {
                layout.gauges_line = shows_gauges.then(|| take_top(&mut body, 1));
            }
            let mut side = take_left(&mut body, if shows_tickets { side(SIDE, own.left, 2) } else { 0 });
            layout.stream = Some(body);
            let gauges = gauges::height(model);
            if !shows_gauges || !shows_tickets {
            } else if side.height >= gauges + TREE_LEAST {
                layout.gauges = Some(take_bottom(&mut side, gauges));
            } else {
                // The line takes its place above everything.
                let line = take_top(&mut side, 1);
                layout.gauges_line = Some(Rect { width, ..line });
                layout.stream = Some(Rect { y: side.y, height: side.height, ..body });
            }
            layout.tickets = shows_tickets.then_some(side);
        }
        _ => match focus {
            tickets::NAME => layout.tickets = Some(body),
            gauges::NAME => layout.gauges = Some(body),
            log::NAME if layout.log.is_none() => layout.log = Some(body),
            changes::NAME => layout.changes = Some(body),
            _ => layout.stream = Some(body),
        },
    }
    if layout.of(focus).is_none() && focus != log::NAME {
        // What has no place of its own takes the stream's while it has the focus.
        let place = layout.stream.take();
        layout.set(focus, place);
    }
    if let (Some(top), Some(stream)) = (model.sheet, &mut layout.stream) {
        stream.height = stream.height.min(top.saturating_sub(stream.y));
    }
    if layout.log.is_none() && focus == log::NAME {
        // Wide and low: the log takes the stream's place while it has the focus.
        layout.log = layout.stream.take();
        layout.log_line = None;
        layout.log = layout.log.map(|place| Rect { height: layout.footer.y - place.y, ..place });
        if let Some(tickets) = &mut layout.tickets {
            stretch(tickets, layout.gauges, layout.footer.y);
        }
        if let Some(changes) = &mut layout.changes {
            stretch(changes, layout.gauges, layout.footer.y);
        }
        if let Some(gauges) = &mut layout.gauges {
            gauges.height = layout.footer.y - gauges.y;
        }
    }
    layout
}

/// Down to `bottom` when nothing of the same column stands below.
fn stretch(pane: &mut Rect, gauges: Option<Rect>, bottom: u16) {
    if gauges.is_none_or(|gauges| gauges.x != pane.x) {
        pane.height = bottom - pane.y;
    }
}

fn take_top(rest: &mut Rect, height: u16) -> Rect {
    let height = height.min(rest.height);
    let taken = Rect { height, ..*rest };
    rest.y += height;
    rest.height -= height;
    taken
}

fn take_bottom(rest: &mut Rect, height: u16) -> Rect {
    let height = height.min(rest.height);
    rest.height -= height;
    Rect { y: rest.y + rest.height, height, ..*rest }
}

fn take_left(rest: &mut Rect, width: u16) -> Rect {
    let width = width.min(rest.width);
    let taken = Rect { width, ..*rest };
    rest.x += width;
    rest.width -= width;
    taken
}

fn take_right(rest: &mut Rect, width: u16) -> Rect {
    let width = width.min(rest.width);
    rest.width -= width;
    Rect { x: rest.x + rest.width, width, ..*rest }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::arrangement::Arrangement;
    use crate::tui::sample;
    use proptest::prelude::*;

    const ALL: [&str; 5] = [tickets::NAME, stream::NAME, gauges::NAME, log::NAME, changes::NAME];

    fn shown(size: (u16, u16), focus: &'static str) -> Vec<&'static str> {
        let mut model = sample::model();
        model.focus = focus;
        let layout = solve(size, &model);
        ALL.into_iter().filter(|pane| layout.of(pane).is_some()).collect()
    }

    #[test]
    fn breakpoints() {
        let [tickets, stream, gauges, log, changes] = ALL;
        assert_eq!(shown((160, 50), stream), ALL);
        assert_eq!(shown((160, 15), stream), [tickets, stream, gauges, changes]);
        assert_eq!(shown((100, 40), stream), ALL[..4]);
        assert_eq!(shown((100, 40), changes), [tickets, gauges, log, changes]);
        assert_eq!(shown((80, 24), changes), [changes]);
        assert_eq!(shown((120, 24), stream), [tickets, stream, gauges]);
        assert_eq!(shown((120, 20), stream), [tickets, stream, gauges]);
        assert_eq!(shown((120, 17), stream), [tickets, stream]);
        assert_eq!(shown((120, 24), log), [tickets, gauges, log]);
        assert_eq!(shown((99, 40), stream), [stream, log]);
        assert_eq!(shown((80, 24), stream), [stream]);
        assert_eq!(shown((80, 24), log), [log]);
        assert_eq!(shown((80, 24), gauges), [gauges]);
        assert!(shown((59, 24), stream).is_empty());
        assert!(shown((80, 14), stream).is_empty());
    }

    proptest! {
        #[test]
        fn no_two_places_overlap_and_every_cell_has_one(
            width in 60u16..300, height in 15u16..100, focus in 0usize..5,
            left in -70i16..70, log in -70i16..70, hidden in 0u8..32, is_zoomed in any::<bool>(),
        ) {
            let mut model = sample::model();
            model.focus = ALL[focus];
            model.arrangement = Arrangement { left, right: -left, log, is_zoomed, ..Arrangement::default() };
            for (at, pane) in ALL.into_iter().enumerate().filter(|(_, pane)| *pane != stream::NAME) {
                if hidden & (1 << at) != 0 {
                    model.arrangement.toggle(pane);
                }
            }
            let layout = solve((width, height), &model);
            prop_assert!(layout.of(ALL[focus]).is_some());
            let places: Vec<Rect> = [
                Some(layout.tabs), layout.now, layout.tickets, layout.stream, layout.gauges, layout.gauges_line,
                layout.changes, layout.log, layout.log_line, Some(layout.footer),
            ].into_iter().flatten().collect();
            for (at, one) in places.iter().enumerate() {
                for other in &places[at + 1..] {
                    prop_assert!(one.intersection(*other).is_empty(), "{one:?} {other:?}");
                }
            }
            let covered: u32 = places.iter().map(|place| place.area()).sum();
            prop_assert_eq!(covered, u32::from(width) * u32::from(height));
        }
    }
}
