//! The end card: what stands at the end of the Stream pane once a run has ended: how, each phase and how it was verified,
//! what it cost and changed, and the keys that go on from there.

use crate::base::amount::counted;
use crate::base::text::{clean_line, cut};
use crate::base::time::human;
use crate::domain::changes::{Changes, Since};
use crate::domain::commit::{Commits, short};
use crate::domain::messages::done_words;
use crate::domain::outcome::DoneHow;
use crate::domain::phase::Mark;
use crate::orchestrator::state::{PhaseState, State};
use crate::tui::command::Command;
use crate::tui::model::{Mode, Model};
use crate::tui::tab::Tab;
use crate::tui::theme::role::Role;
use crate::tui::widgets::row::{Row, wrap};
use unicode_width::UnicodeWidthStr;

/// The keys of the card, in their order.
const KEYS: [Command; 7] = [
    Command::Retry,
    Command::Commit,
    Command::Changes,
    Command::NextReady,
    Command::ResetBreaker,
    Command::Edit,
    Command::Home,
];
/// Lines that the words on the end take at most.
const WORDS: usize = 4;
/// Columns of a phase's line at most: what belongs together stands together.
const WIDEST: usize = 96;

/// The keys that the card may offer: where no file changed there is nothing to commit.
pub fn keys(model: &Model) -> Vec<Command> {
    let unchanged = whole_ticket(model).is_some_and(|changes| changes.total == 0);
    KEYS.into_iter().filter(|key| !(unchanged && *key == Command::Commit)).collect()
}

/// The card's lines under the words on how it ended, `most` in all; the fewer there may be, the more is summed up.
pub fn lines(model: &Model, tab: &Tab, (role, words): (Role, String), width: usize, most: usize) -> Vec<Row> {
    let width = width.saturating_sub(1);
    let keys = key_lines(model, width);
    let room = most.saturating_sub(keys.len());
    let glyph = model.standing(tab).sign(model.glyphs).glyph;
    let words = wrap(&words, width.saturating_sub(2)).into_iter().take(WORDS.min(room.saturating_sub(1)).max(1));
    let mark = |at| if at == 0 { format!("{glyph} ") } else { "  ".to_owned() };
    let mut out: Vec<Row> =
        words.enumerate().map(|(at, line)| Row::new().left(role, mark(at)).left(role, line)).collect();
    let refused = usize::from(tab.state.commits.refused.is_some());
    let room = room.saturating_sub(out.len() + 1 + refused);
    out.extend(phases(model, &tab.state, width.min(WIDEST), room));
    out.push(facts(model, tab));
    if let Some(why) = tab.state.commits.refused.as_deref().and_then(|why| why.lines().next()) {
        let words = format!("  not committed: {}", clean_line(why, 400));
        out.push(Row::new().left(Role::Warning, cut(&words, width)));
    }
    out.truncate(most.saturating_sub(keys.len()));
    out.extend(keys);
    out
}

/// What the run came to, in numbers.
fn facts(model: &Model, tab: &Tab) -> Row {
    let state = &tab.state;
    let iterations = counted(state.counted_iterations() as usize, "iteration");
    let in_all = if state.carried_usd > 0.0 { " in all" } else { "" };
    let worked = human(tab.worked(state.updated.unwrap_or(model.now)));
    let row = Row::new().left(Role::Dim, format!("  {worked} · ${:.2}{in_all} · {iterations}", state.ticket_usd()));
    let row = match &state.commits {
        Commits { open: Some(_), .. } => row.left(Role::Warning, " · committing …"),
        Commits { last: Some(id), .. } => row.left(Role::Success, format!(" · committed as {}", short(id))),
        _ => row,
    };
    match whole_ticket(model) {
        Some(Changes { total: 0, .. }) => row.left(Role::Dim, " · no file changed"),
        Some(changes) => {
            let row = row.left(Role::Dim, format!(" · {}", counted(changes.total, "file")));
            if changes.plain {
                return row;
            }
            let later = if changes.at_end { "" } else { " with later changes" };
            row.left(Role::DiffAdd, format!(" +{}", changes.added))
                .left(Role::DiffDel, format!(" −{}", changes.removed))
                .left(Role::Dim, later)
        }
        None => row,
    }
}

/// What differs since the ticket began, where that is known.
fn whole_ticket(model: &Model) -> Option<&Changes> {
    let (_, since) = model.compared()?;
    model.told_changes()?.as_ref().ok().filter(|_| since == Since::Ticket)
}

/// Each phase and how it stands; where they have not the room, how many stand how.
fn phases(model: &Model, state: &State, width: usize, room: usize) -> Vec<Row> {
    if state.phases.is_empty() || room == 0 {
        return Vec::new();
    }
    if state.phases.len() > room {
        return vec![Row::new().left(Role::Text, format!("  {}", summed(state)))];
    }
    let each = state.phases.iter().map(|phase| {
        let sign = model.glyphs.phase(phase.mark);
        let how = how(state, phase.mark);
        let columns = width.saturating_sub(how.width() + 6);
        let text = cut(&clean_line(&phase.text, 400), columns);
        let fill = " ".repeat(columns.saturating_sub(text.width()) + 2);
        let role = if phase.mark.is_settled() { Role::Dim } else { sign.role };
        Row::new().left(sign.role, format!("  {} ", sign.glyph)).left(Role::Text, text).left(role, fill + &how)
    });
    each.collect()
}

/// How a phase stands, and on what ground.
fn how(state: &State, mark: Mark) -> String {
    match mark {
        Mark::Done(DoneHow::Verified) => format!("verified{}", by(state)),
        Mark::Done(how) => done_words(how).to_owned(),
        Mark::Skipped => "skipped".to_owned(),
        Mark::Checked(_) => "not reviewed".to_owned(),
        Mark::Rejected => "to be fixed".to_owned(),
        Mark::Disputed => "disputed".to_owned(),
        Mark::Blocked => "blocked".to_owned(),
        Mark::Pending | Mark::Running | Mark::Claimed => "open".to_owned(),
    }
}

/// The commands that verified it.
fn by(state: &State) -> String {
    match &state.validation[..] {
        [] => String::new(),
        [one] => format!(" by {}", cut(&clean_line(one, 200), 30)),
        [first, rest @ ..] => format!(" by {} and {} more", cut(&clean_line(first, 200), 30), rest.len()),
    }
}

/// How many phases stand how, in the order in which they first do.
fn summed(state: &State) -> String {
    let mut kinds: Vec<(String, usize)> = Vec::new();
    for PhaseState { mark, .. } in &state.phases {
        let how = how(state, *mark);
        match kinds.iter_mut().find(|(known, _)| *known == how) {
            Some((_, count)) => *count += 1,
            None => kinds.push((how, 1)),
        }
    }
    let all = counted(state.phases.len(), "phase");
    let kinds: Vec<String> = kinds.into_iter().map(|(how, count)| format!("{count} {how}")).collect();
    format!("{all}: {}", kinds.join(", "))
}

/// The keys that act, in as many lines as they take.
fn key_lines(model: &Model, width: usize) -> Vec<Row> {
    if model.mode == Mode::Replay {
        return Vec::new();
    }
    let mut out: Vec<Row> = Vec::new();
    for (key, hint) in &model.card_keys {
        let fits = out.last().is_some_and(|row| row.left_width() + key.width() + 1 + hint.width() <= width);
        let row = if fits { out.pop() } else { None };
        out.push(row.unwrap_or_else(|| Row::new().left(Role::Text, "  ")).key(Role::Key, key, hint));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::outcome::ExitReason;
    use crate::domain::request::{Reply, Request};
    use crate::tui::msg::{Ask, Msg};
    use crate::tui::sample;
    use crate::tui::ui::Ui;
    use crate::tui::update::update;

    fn over() -> Ui {
        let mut ui = sample::model();
        ui.tabs.push(sample::finished("tk-1"));
        ui
    }

    fn text(ui: &mut Ui, most: usize) -> Vec<String> {
        ui.prepare();
        let mut buf = ratatui::buffer::Buffer::empty(ratatui::layout::Rect::new(0, 0, 78, 30));
        let words = crate::tui::panes::notice::banner(ui, &ui.tabs[0]).unwrap();
        let rows = lines(ui, &ui.tabs[0], words, 78, most);
        for (place, row) in buf.area.rows().zip(&rows) {
            row.draw(&crate::tui::theme::Theme::plain(), place, &mut buf);
        }
        let line = |y| (0..78).map(|x| buf[(x, y as u16)].symbol()).collect::<String>().trim_end().to_owned();
        (0..rows.len()).map(line).collect()
    }

    #[test]
    fn each_phase_says_how_it_was_verified_and_without_the_room_how_many_were() {
        let mut ui = over();
        ui.tabs[0].state.phases[5].mark = Mark::Done(DoneHow::TickedByPerson);
        let card = text(&mut ui, 12).join("\n");
        assert!(card.contains("✓ Token bucket") && card.contains("verified by cargo test and 1 more"), "{card}");
        assert!(card.contains("ticked by a person") && card.contains("$1.42 · 7 iterations"), "{card}");
        let brief = text(&mut ui, 4);
        assert_eq!(brief.len(), 4);
        assert_eq!(brief[1], "  6 phases: 5 verified by cargo test and 1 more, 1 ticked by a person");
        assert!(brief[3].starts_with("  r run again"), "{brief:?}");
    }

    #[test]
    fn what_is_left_is_said() {
        let mut ui = sample::model();
        ui.tabs.push(sample::guarded("tk-1"));
        let card = text(&mut ui, 14).join("\n");
        assert!(card.contains("○ Docs") && card.contains("open") && card.contains("r run again"), "{card}");
    }

    #[test]
    fn the_changes_since_the_ticket_began_are_asked_for_and_counted() {
        let mut ui = over();
        let asks = update(&mut ui, Msg::Tick(sample::NOW));
        let [Ask::Request(Request::Changes(run, since))] = &asks[..] else { panic!("{asks:?}") };
        assert_eq!(*since, Since::Ticket);
        let changes = Changes { total: 9, added: 212, removed: 64, at_end: true, ..Changes::default() };
        update(&mut ui, Msg::Replied(Reply::Changes(*run, since.clone(), Ok(changes))));
        assert!(text(&mut ui, 12).join("\n").contains("9 files +212 −64"));
        assert!(text(&mut ui, 12).join("\n").contains("c commit"));
        update(&mut ui, Msg::Replied(Reply::Changes(*run, since.clone(), Ok(Changes::default()))));
        let card = text(&mut ui, 12).join("\n");
        assert!(card.contains("no file changed") && !card.contains("c commit"), "{card}");
    }

    #[test]
    fn a_run_that_was_stopped_is_resumed() {
        let mut ui = sample::model();
        let mut tab = sample::guarded("tk-1");
        tab.state.ended =
            Some(crate::orchestrator::state::Ended { reason: ExitReason::UserStopped, detail: String::new() });
        ui.tabs.push(tab);
        assert!(text(&mut ui, 14).join("\n").contains("r resume"));
        let start = Ask::Request(Request::Start(sample::id("tk-1")));
        assert!(update(&mut ui, Msg::Key(sample::key("r"))).contains(&start));
    }

    #[test]
    fn a_run_of_the_past_has_no_keys() {
        let mut ui = over();
        ui.mode = Mode::Replay;
        assert!(!text(&mut ui, 12).join("\n").contains("run again"));
    }
}
