//! The end card: what stands at the end of the Stream pane once a run has ended: how, each phase and how it was verified,
//! what it cost and changed, and the keys that go on from there.

use crate::base::amount::counted;
use crate::base::text::{clean_line, cut};
use crate::base::time::human;
use crate::domain::changes::{Changes, Since};
use crate::domain::commit::{Commits, short};
use crate::domain::merge::MergeHow;
use crate::domain::messages::done_words;
use crate::domain::messages::iterations_words;
use crate::domain::outcome::DoneHow;
use crate::domain::phase::Mark;
use crate::domain::worktree::Worktree;
use crate::orchestrator::state::{PhaseState, State};
use crate::tui::command::Command;
use crate::tui::model::{Mode, Model};
use crate::tui::tab::{PhaseLine, Tab};
use crate::tui::theme::role::Role;
use crate::tui::widgets::row::{Row, wrap_most};
use unicode_width::UnicodeWidthStr;

/// The keys of the card, in their order.
const KEYS: [Command; 9] = [
    Command::Resolve,
    Command::Shell,
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
/// In so few lines they leave none to anything else: they say what to do.
const FEW: usize = 3;
/// Columns of a phase's line at most: what belongs together stands together.
const WIDEST: usize = 96;

/// The keys that the card may offer.
pub fn keys(model: &Model) -> Vec<Command> {
    KEYS.into_iter().filter(|key| *key != Command::Commit || may_commit(model)).collect()
}

/// Something may be left to commit, as far as that is known: files changed, and no commit was made or merged since.
pub fn may_commit(model: &Model) -> bool {
    let unchanged = whole_ticket(model).is_some_and(|changes| changes.total == 0);
    let is_in = |tab: &Tab| {
        let commits = &tab.state.commits;
        tab.state.is_merged || commits.of_work().is_some() && commits.refused.is_none() && commits.without == 0
    };
    !unchanged && !model.tab().is_some_and(is_in)
}

/// The card's lines under the words on how it ended, `most` in all; the fewer there may be, the more is summed up.
pub fn lines(model: &Model, tab: &Tab, (role, words): (Role, String), width: usize, most: usize) -> Vec<Row> {
    let width = width.saturating_sub(1);
    let keys = key_lines(model, width);
    let room = most.saturating_sub(keys.len());
    let glyph = model.standing(tab).sign(model.glyphs).glyph;
    let words =
        wrap_most(&words, width.saturating_sub(2), WORDS.min(room.saturating_sub(usize::from(room > FEW))).max(1))
            .into_iter();
    let mark = |at| if at == 0 { format!("{glyph} ") } else { "  ".to_owned() };
    let mut out: Vec<Row> =
        words.enumerate().map(|(at, line)| Row::new().left(role, mark(at)).left(role, line)).collect();
    let refused = usize::from(tab.state.commits.refused.is_some());
    let merge = tab.state.merge_failed.as_ref().map_or(0, |failed| 1 + usize::from(failed.files.len() > 1));
    // Of the facts one line is told, a second one where there is room for the phases, too.
    let room = room.saturating_sub(out.len() + refused + merge);
    let facts: Vec<Row> = facts(model, tab, width).into_iter().take(room.saturating_sub(1).max(1)).collect();
    out.extend(phases(model, tab, width.min(WIDEST), room.saturating_sub(facts.len())));
    out.extend(facts);
    if let Some(why) = tab.state.commits.refused.as_deref().and_then(|why| why.lines().next()) {
        let words = format!("  not committed: {}", clean_line(why, 400));
        out.push(Row::new().left(Role::Warning, cut(&words, width)));
    }
    if let (Some(failed), Some(worktree)) = (&tab.state.merge_failed, tab.state.workspace.worktree()) {
        if failed.files.len() > 1 {
            let files: Vec<String> = failed.files.iter().map(|file| clean_line(file, 200)).collect();
            out.push(Row::new().left(Role::Dim, "  conflicts ").left(Role::Warning, files.join(", ")));
        }
        let folder = model.short_path(&worktree.directory.display().to_string());
        out.push(Row::new().left(Role::Dim, "  worktree ").left(Role::Text, folder));
    }
    if let Some(worktree) = to_be_merged(tab) {
        let (branch, top) = (clean_line(&worktree.branch, 200), worktree.home_top.display().to_string());
        let row = Row::new().left(Role::Dim, "  to merge it: ").left(Role::Text, format!("git merge {branch}"));
        out.push(row.left(Role::Dim, format!(" in {}", model.short_path(&top))));
    }
    out.truncate(most.saturating_sub(keys.len()));
    out.extend(keys);
    out
}

/// Where the run's commits are, if nobody but the person merges them.
fn to_be_merged(tab: &Tab) -> Option<&Worktree> {
    let state = &tab.state;
    let waits = state.commits.of_work().is_some() && !state.is_merged && state.merge_failed.is_none();
    let by_hand = waits && state.settings.git.merge == MergeHow::Off;
    state.workspace.worktree().filter(|_| by_hand)
}

/// What the run came to, in numbers; what became of its work first. In as many lines as that takes.
fn facts(model: &Model, tab: &Tab, width: usize) -> Vec<Row> {
    let state = &tab.state;
    let iterations = match state.chat {
        Some(_) => counted(state.aside as usize, "message"),
        None => iterations_words(state.counted_iterations(), state.reviews),
    };
    let worked = human(tab.worked(state.updated.unwrap_or(model.now)));
    let merged = state.workspace.worktree().filter(|_| state.is_merged);
    let became = match (&state.commits, merged) {
        (Commits { open: Some(_), .. }, _) => Some((Role::Warning, "committing …".to_owned())),
        (_, Some(worktree)) => Some((Role::Success, format!("merged into {}", worktree.base))),
        (commits, _) => commits.of_work().map(|id| (Role::Success, format!("committed as {}", short(id)))),
    };
    let without = Some(state.commits.without).filter(|files| *files > 0 && !state.is_merged);
    let without = without.map(|files| (Role::Warning, format!("{} not committed", counted(files, "file"))));
    let became = became.into_iter().chain(without);
    let dim = |words: String| Row::new().left(Role::Dim, words);
    let mut all: Vec<Row> = became.map(|(role, words)| Row::new().left(role, words)).collect();
    all.extend([dim(worked), dim(format!("${:.2}", state.cost_usd)), dim(iterations)]);
    // Others have worked in the directory while a chat waited.
    let files = whole_ticket(model).filter(|_| state.chat.is_none()).map(files);
    // What differs, does since the first of the ticket's runs began: it stands with what all of them have cost.
    if state.carried_usd > 0.0 {
        let together = dim(format!("with earlier runs: ${:.2}", state.ticket_usd()));
        all.push(match files {
            Some(files) => {
                let end = together.left_width() + 2;
                together.left(Role::Dim, ", ").beside(end, files)
            }
            None => together,
        });
    } else {
        all.extend(files);
    }
    let mut out: Vec<Row> = Vec::new();
    for fact in all {
        let row = match out.pop() {
            Some(row) if row.left_width() + 3 + fact.left_width() <= width => row.left(Role::Dim, " · "),
            full => {
                out.extend(full);
                Row::new().left(Role::Dim, "  ")
            }
        };
        let end = row.left_width();
        out.push(row.beside(end, fact));
    }
    out
}

/// How many files differ, and by how many lines.
fn files(changes: &Changes) -> Row {
    let words = |text: String| Row::new().left(Role::Dim, text);
    if changes.total == 0 || changes.plain {
        return words(if changes.total == 0 { "no file changed".to_owned() } else { counted(changes.total, "file") });
    }
    words(counted(changes.total, "file"))
        .left(Role::DiffAdd, format!(" +{}", changes.added))
        .left(Role::DiffDel, format!(" −{}", changes.removed))
        .left(Role::Dim, if changes.at_end { "" } else { " with later changes" })
}

/// What differs since the ticket began, where that is known.
fn whole_ticket(model: &Model) -> Option<&Changes> {
    let (_, since) = model.compared()?;
    model.told_changes()?.as_ref().ok().filter(|_| since == Since::Ticket)
}

/// Each phase and how it stands, as Tickets has it; where they have not the room, how many stand how.
fn phases(model: &Model, tab: &Tab, width: usize, room: usize) -> Vec<Row> {
    let lines = tab.phases(model.mode == Mode::Replay);
    let state = &tab.state;
    // The file does not say on what ground its boxes were ticked.
    let mark = |line: &PhaseLine<'_>| {
        let known = line.run.or_else(|| state.phases.iter().find(|phase| phase.text == line.text));
        let known = known.map(PhaseState::stands).filter(|known| matches!(known, Mark::Done(_)));
        known.filter(|_| matches!(line.mark, Mark::Done(_))).unwrap_or(line.mark)
    };
    if lines.is_empty() || room == 0 {
        return Vec::new();
    }
    if lines.len() > room {
        let all: Vec<Mark> = lines.iter().map(mark).collect();
        return vec![Row::new().left(Role::Text, format!("  {}", summed(state, &all)))];
    }
    let each = lines.iter().map(|line| {
        let (mark, is_back) = (mark(line), line.is_taken_back());
        let sign = if is_back { model.glyphs.taken_back() } else { model.glyphs.phase(mark) };
        let how = if is_back { "reverted by a restore".to_owned() } else { how(state, mark) };
        let columns = width.saturating_sub(how.width() + 6);
        let text = cut(&clean_line(line.text, 400), columns);
        let fill = " ".repeat(columns.saturating_sub(text.width()) + 2);
        let role = if mark.is_settled() { Role::Dim } else { sign.role };
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
fn summed(state: &State, marks: &[Mark]) -> String {
    let mut kinds: Vec<(String, usize)> = Vec::new();
    for mark in marks {
        let how = how(state, *mark);
        match kinds.iter_mut().find(|(known, _)| *known == how) {
            Some((_, count)) => *count += 1,
            None => kinds.push((how, 1)),
        }
    }
    // How many they are says the line above.
    if let ([(how, _)], true) = (&kinds[..], marks.iter().all(|mark| matches!(mark, Mark::Done(_)))) {
        return if marks.len() == 1 { how.clone() } else { format!("all {how}") };
    }
    let all = counted(marks.len(), "phase");
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
    use crate::domain::merge::MergeSettled;
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
    fn a_commit_of_some_files_says_how_many_are_left_and_is_offered_again() {
        let mut ui = over();
        let commits = Commits { last: Some("da4283f94aa".into()), ..Commits::default() };
        ui.tabs[0].state.commits = commits.clone();
        assert!(!may_commit(&ui), "all of it is in");
        ui.tabs[0].state.commits = Commits { without: 2, ..commits };
        let card = text(&mut ui, 20).join("\n");
        assert!(may_commit(&ui) && card.contains("committed as da4283f94 · 2 files not committed"), "{card}");
    }

    #[test]
    fn each_phase_says_how_it_was_verified_and_without_the_room_how_many_were() {
        let mut ui = over();
        ui.tabs[0].state.phases[5].mark = Mark::Done(DoneHow::TickedByPerson);
        let card = text(&mut ui, 12).join("\n");
        assert!(card.contains("✓ Token bucket") && card.contains("verified by cargo test and 1 more"), "{card}");
        assert!(card.contains("ticked in the ticket") && card.contains("$1.42 · 7 iterations"), "{card}");
        let brief = text(&mut ui, 4);
        assert_eq!(brief.len(), 4);
        assert_eq!(brief[1], "  6 phases: 5 verified by cargo test and 1 more, 1 ticked in the ticket");
        assert!(brief[3].starts_with("  r run again"), "{brief:?}");
    }

    #[test]
    fn d_shows_what_changed() {
        let mut ui = over();
        update(&mut ui, Msg::Key(sample::key("d")));
        assert_eq!(ui.focus, crate::tui::changes::NAME);
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
    fn only_what_reviewed_is_a_review_and_a_chat_counts_messages_and_no_files() {
        let mut ui = over();
        let asks = update(&mut ui, Msg::Tick(sample::NOW));
        let [Ask::Request(Request::Changes(run, since))] = &asks[..] else { panic!("{asks:?}") };
        let changes = Changes { total: 9, added: 212, removed: 64, at_end: true, ..Changes::default() };
        update(&mut ui, Msg::Replied(Reply::Changes(*run, since.clone(), Ok(changes))));
        (ui.tabs[0].state.aside, ui.tabs[0].state.reviews) = (3, 2);
        assert!(text(&mut ui, 12).join("\n").contains("4 iterations + 2 reviews · 9 files"));
        ui.tabs[0].state.chat = Some(std::sync::Arc::default());
        let card = text(&mut ui, 12).join("\n");
        assert!(card.contains("3 messages") && !card.contains("iteration") && !card.contains("9 files"), "{card}");
    }

    #[test]
    fn a_run_that_was_stopped_is_resumed() {
        let mut ui = sample::model();
        let mut tab = sample::guarded("tk-1");
        tab.state.ended = Some(crate::orchestrator::state::Ended {
            reason: ExitReason::UserStopped,
            detail: String::new(),
            is_left: false,
        });
        ui.tabs.push(tab);
        assert!(text(&mut ui, 14).join("\n").contains("r resume"));
        let start = Ask::Request(Request::Start(sample::id("tk-1")));
        assert!(update(&mut ui, Msg::Key(sample::key("r"))).contains(&start));
    }

    #[test]
    fn a_failed_merge_says_where_the_work_is_and_offers_no_commit_of_what_is_in_one() {
        let mut ui = sample::model();
        let mut tab = sample::guarded("tk-1");
        tab.state.ended = Some(crate::orchestrator::state::Ended {
            reason: ExitReason::MergeFailed,
            detail: "conflict".into(),
            is_left: false,
        });
        tab.state.workspace = std::mem::take(&mut tab.state.workspace).in_worktree(Some(Worktree {
            top: "/trees/tk-1".into(),
            directory: "/trees/tk-1".into(),
            home_top: "/home/ann/shop".into(),
            ..Worktree::default()
        }));
        let failed = MergeSettled::conflict("main", "tk-1", vec!["a.rs".into()]);
        tab.state.merge_failed = Some(failed.clone().into());
        ui.tabs.push(tab);
        let card = text(&mut ui, 14).join("\n");
        assert!(card.contains("worktree /trees/tk-1") && card.contains("r merge again"), "{card}");
        assert!(!card.contains("c commit"), "{card}");
        ui.tabs[0].state.merge_failed = Some(MergeSettled { is_uncommitted: true, ..failed }.into());
        assert!(text(&mut ui, 14).join("\n").contains("c commit"));
    }

    #[test]
    fn a_phase_that_was_opened_again_since_is_open_on_the_card_too() {
        for by_the_file in [false, true] {
            let mut ui = over();
            let tab = &mut ui.tabs[0];
            let phases: Vec<String> = tab.state.phases.iter().map(|phase| phase.text.clone()).collect();
            let read: Vec<_> = phases.iter().enumerate().map(|(at, text)| (text.as_str(), at != 1, &[][..])).collect();
            if by_the_file {
                tab.state.phases.iter_mut().for_each(|phase| phase.ticked = true);
                tab.read(sample::ticket("tk-1", "T", &read));
            } else {
                (tab.state.phases[1].since, tab.ticket) = (Some(Mark::Pending), None);
            }
            let card = text(&mut ui, 14);
            let open: Vec<&String> = card.iter().skip(1).filter(|line| line.trim_start().starts_with('○')).collect();
            assert!(open.len() == 1 && open[0].contains(&phases[1]) && open[0].ends_with("open"), "{card:?}");
            assert_eq!(card.iter().filter(|line| line.contains("verified by cargo test")).count(), 5, "{card:?}");
        }
    }

    #[test]
    fn work_says_whether_it_is_in_its_base_and_how_it_gets_there() {
        let mut ui = over();
        let state = &mut ui.tabs[0].state;
        state.commits.last = Some("abcdef0123".into());
        let (base, branch, home_top) = ("main".into(), "programmator/tk-1".into(), "/w".into());
        let worktree = Worktree { home_top, branch, base, ..Worktree::default() };
        state.workspace = std::mem::take(&mut state.workspace).in_worktree(Some(worktree));
        let card = text(&mut ui, 14).join("\n");
        let by_hand = "to merge it: git merge programmator/tk-1 in /w";
        assert!(card.contains("committed as abcdef012") && card.contains(by_hand), "{card}");
        ui.tabs[0].state.settings.git.merge = MergeHow::Merge;
        assert!(!text(&mut ui, 14).join("\n").contains(by_hand), "programmator does it");
        ui.tabs[0].state.is_merged = true;
        assert!(text(&mut ui, 12).join("\n").contains("merged into main · 14m 32s"));
    }

    #[test]
    fn a_run_of_the_past_has_no_keys() {
        let mut ui = over();
        ui.mode = Mode::Replay;
        assert!(!text(&mut ui, 12).join("\n").contains("run again"));
    }

    #[test]
    fn the_commit_is_named_whole_and_the_numbers_are_those_of_the_run() {
        let mut ui = over();
        let asks = update(&mut ui, Msg::Tick(sample::NOW));
        let [Ask::Request(Request::Changes(run, since))] = &asks[..] else { panic!("{asks:?}") };
        let changes = Changes { total: 9, added: 212, removed: 64, at_end: true, ..Changes::default() };
        update(&mut ui, Msg::Replied(Reply::Changes(*run, since.clone(), Ok(changes))));
        ui.tabs[0].state.commits.last = Some("0ac3047bc5d4e3f2".into());
        ui.tabs[0].state.carried_usd = 0.5;
        for most in [4, 12] {
            let card = text(&mut ui, most).join("\n");
            assert!(card.contains("committed as 0ac3047bc · "), "{card}");
        }
        let card = text(&mut ui, 14).join("\n");
        assert!(card.contains("$1.42 · 7 iterations") && card.contains("with earlier runs: $1.92, "), "{card}");
        assert!(card.contains("9 files +212 −64") && !card.contains('…'), "{card}");
    }
}
