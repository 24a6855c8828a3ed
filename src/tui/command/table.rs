//! The table of keys: the rows of the whole screen and of dialogs, and between them those of the panes.
//!
//! Adding a key: one row here, one arm in `tui::update` (or in the dialog that it belongs to); for a pane's own both are
//! in its file.

mod hidden;

use self::hidden::{ALT_ENTER, HIDDEN, SHIFT_TAB};
use super::when::{
    beside_others, can_command, can_commit, can_compare, can_edit, can_export, can_go_home, can_go_on, can_go_to_end,
    can_hand_over, can_hide, can_pause, can_pause_now, can_reset_breaker, can_retry, can_search, can_skip, can_stop,
    can_take_wheel, can_undo, can_undo_limit, end_word, has_conflict, has_timeline, has_unmerged, in_replay, live,
    log_word, pause_word, play_word, retry_word, several_tabs, some_are_queued, someone_waits, stop_word,
};
use super::{Command, Row, Scope, alt, always, c, ctrl, press, rows};
use crate::tui::msg::Key;
use crate::tui::panes::{PANES, after};

/// Those before the panes' own, in the order of footer and help.
const FIRST: &[Row] = rows! {
    NextWaiting "attention.next" Scope::Global, "run", [c('!')], Shown, someone_waits, |_| "needs you",
        "the next thing that needs you";
    Pause "run.pause" Scope::Global, "run", [c('p')], Shown, can_pause, pause_word,
        "start; pause after this iteration; resume";
    PauseNow "run.pause_now" Scope::Global, "run", [c('P')], HelpOnly, can_pause_now, |_| "pause now",
        "pause now: interrupt Claude in the middle of its turn";
    Skip "run.skip" Scope::Global, "run", [c('s')], Destructive, can_skip, |_| "skip",
        "skip the phase selected in Tickets, else the current one";
    Retry "run.retry" Scope::Global, "run", [c('r')], Shown, can_retry, retry_word,
        "retry a settled phase; while parked: now; ended: run again";
    Steer "run.steer" Scope::Global, "run", [c('i')], Shown, can_command, |_| "message",
        "send Claude a message, in this turn or the next prompt";
    Queue "attention.queue" Scope::Global, "run", [c('a')], HelpOnly, live, |_| "queue",
        "the queue: calls, questions, plans, disputes";
    End "view.end" Scope::Global, "move", [c('G'), press(Key::End)], Shown, can_go_to_end, end_word,
        "to the end, and follow it";
    FocusNext "focus.next" Scope::Global, "screen", [press(Key::Tab)], Shown, beside_others, |model| after(model, true),
        "next pane";
    Stop "run.stop" Scope::Global, "run", [c('x')], Destructive, can_stop, stop_word,
        "stop the run now; it can be resumed; queued: take it out";
    ResetBreaker "breaker.reset" Scope::Global, "run", [c('b')], Destructive, can_reset_breaker, |_| "reset breaker",
        "close the circuit breaker and reset its counters";
    Commit "run.commit" Scope::Global, "run", [c('c')], Shown, can_commit, |_| "commit",
        "once a run has ended: commit its changes";
    Resolve "merge.resolve" Scope::Global, "run", [c('M')], Shown, has_conflict, |_| "Claude resolves",
        "after a conflict: let Claude resolve it; reviewed";
    Shell "merge.shell" Scope::Global, "run", [c('W')], Shown, has_unmerged, |_| "shell there",
        "after a failed merge: a shell in the ticket's worktree";
    NextReady "ticket.next_ready" Scope::Global, "ticket", [c('n')], Shown, can_go_on, |_| "next ticket",
        "once a run has ended: the next ticket that is ready";
};

/// Those behind them, and those of dialogs that are shown.
const REST: &[Row] = rows! {
    Edit "ticket.edit" Scope::Global, "ticket", [c('e')], Shown, can_edit, |_| "edit",
        "edit the ticket in $EDITOR";
    TakeWheel "ticket.wheel" Scope::Global, "ticket", [c('O')], HelpOnly, can_take_wheel, |_| "take the wheel",
        "open Claude on the session of a paused or ended run";
    Chat "screen.chat" Scope::Global, "ticket", [c('C')], HelpOnly, live, |_| "chat",
        "talk with Claude without a ticket, in a new tab";
    Undo "run.undo" Scope::Global, "run", [c('u')], HelpOnly, can_undo, |_| "undo",
        "undo a tick, skip, phase edit or limit change";
    Timeline "run.timeline" Scope::Global, "run", [c('U')], HelpOnly, has_timeline, |_| "timeline",
        "the ticket's snapshots: compare, restore or fork them";
    Export "run.export" Scope::Global, "run", [c('E')], HelpOnly, can_export, |_| "export",
        "export the run, or one iteration, to a file";
    Background "run.background" Scope::Global, "run", [c('B')], HelpOnly, can_hand_over, |_| "to the background",
        "move all runs of this screen to the background, and leave it";
    Home "screen.home" Scope::Global, "screen", [c('h')], Shown, can_go_home, |_| "home",
        "Home: all tickets and runs";
    Changes "screen.changes" Scope::Global, "screen", [c('D')], Shown, can_compare, |_| "changes",
        "Changes: the changed files";
    Log "screen.log" Scope::Global, "screen", [c('L')], HelpOnly, beside_others, log_word,
        "Log: larger and focused; again: back";
    OpenTicket "ticket.open" Scope::Global, "ticket", [c('t')], Shown, live, |_| "open",
        "open another ticket";
    QueuedTickets "ticket.queue" Scope::Global, "ticket", [c('Q')], HelpOnly, some_are_queued, |_| "queued tickets",
        "the queue of tickets waiting to start, on Home";
    Prompt "view.search" Scope::Global, "move", [c('/')], HelpOnly, can_search, |_| "search",
        "search the Stream, from a pane without its own search";
    Find "view.find" Scope::Global, "move", [c('F')], HelpOnly, always, |_| "find",
        "search all runs and tickets; open a match";
    Top "view.top" Scope::Global, "move", [c('g'), press(Key::Home)], HelpOnly, always, |_| "top",
        "to the beginning";
    Down "view.down" Scope::Global, "move", [c('j'), press(Key::Down)], HelpOnly, always, |_| "down",
        "down one line";
    Up "view.up" Scope::Global, "move", [c('k'), press(Key::Up)], HelpOnly, always, |_| "up",
        "up one line";
    PageDown "view.page_down" Scope::Global, "move", [press(Key::PageDown), ctrl('f')], HelpOnly, always, |_| "page down",
        "down one page";
    PageUp "view.page_up" Scope::Global, "move", [press(Key::PageUp), ctrl('b')], HelpOnly, always, |_| "page up",
        "up one page";
    FocusPrevious "focus.previous" Scope::Global, "screen", [SHIFT_TAB], HelpOnly, beside_others, |_| "previous pane",
        "previous pane";
    GoToTab "tab.go" Scope::Global, "screen", [c('1'), c('2'), c('3'), c('4'), c('5'), c('6'), c('7'), c('8'), c('9'),
        alt('1'), alt('2'), alt('3'), alt('4'), alt('5'), alt('6'), alt('7'), alt('8'), alt('9')],
        HelpOnly, several_tabs, |_| "tab", "tab by its number; `05j`: a count, five lines down";
    TabPrevious "tab.previous" Scope::Global, "screen", [c('[')], HelpOnly, several_tabs, |_| "previous tab",
        "previous tab";
    TabNext "tab.next" Scope::Global, "screen", [c(']')], HelpOnly, several_tabs, |_| "next tab",
        "next tab";
    Redraw "screen.redraw" Scope::Global, "screen", [ctrl('l')], HelpOnly, always, |_| "redraw",
        "redraw the screen";
    Theme "screen.theme" Scope::Global, "screen", [c('T')], HelpOnly, always, |_| "theme",
        "choose a theme, with a live preview";
    Suspend "screen.suspend" Scope::Global, "screen", [ctrl('z')], HelpOnly, always, |_| "suspend",
        "suspend to the shell; `fg` brings it back";
    Mouse "screen.mouse" Scope::Global, "screen", [c('m')], HelpOnly, always, |_| "mouse",
        "the mouse on or off: wheel, click, drag to select";
    Zoom "pane.zoom" Scope::Global, "screen", [c('z')], HelpOnly, beside_others, |_| "zoom",
        "zoom this pane to the full screen, or back";
    Larger "pane.larger" Scope::Global, "screen", [c('>')], HelpOnly, beside_others, |_| "larger",
        "this pane larger";
    Smaller "pane.smaller" Scope::Global, "screen", [c('<')], HelpOnly, beside_others, |_| "smaller",
        "this pane smaller";
    Hide "pane.hide" Scope::Global, "screen", [c('H')], HelpOnly, can_hide, |_| "hide",
        "hide this pane, or show it again; Tab still goes there";
    Palette "screen.palette" Scope::Global, "screen", [c(':'), ctrl('p')], HelpOnly, always, |_| "commands",
        "find a command by its name, and run it";
    Help "screen.help" Scope::Global, "screen", [c('?')], Shown, always, |_| "help",
        "this list; `/` filters it";
    Quit "screen.quit" Scope::Global, "screen", [c('q'), ctrl('c')], Shown, always, |_| "quit",
        "quit; asks while something runs";

    Own("play") "replay.play" Scope::Replay, "replay", [c(' ')], Shown, in_replay, play_word,
        "in a replay: play or pause";
    Own("speed") "replay.speed" Scope::Replay, "replay", [c('x')], Shown, in_replay, |_| "speed",
        "in a replay: ×1, ×4 or ×16";
    Own("record_previous") "replay.record_previous" Scope::Replay, "replay", [c(',')], HelpOnly, in_replay, |_| "record back",
        "in a replay: one record back";
    Own("record_next") "replay.record_next" Scope::Replay, "replay", [c('.')], Shown, in_replay, |_| "step",
        "in a replay: one record forward";
    Own("iteration_previous") "replay.iteration_previous" Scope::Replay, "replay", [c('(')], HelpOnly, in_replay, |_| "iteration back",
        "in a replay: to the previous iteration";
    Own("iteration_next") "replay.iteration_next" Scope::Replay, "replay", [c(')')], Shown, in_replay, |_| "iteration",
        "in a replay: to the next iteration";
    Own("copy") "select.copy" Scope::Visual, "selection", [c('y'), press(Key::Enter)], Shown, always, |_| "copy",
        "in a selection: copy its lines";
    Own("card_down") "select.card_down" Scope::Visual, "selection", [c('J')], HelpOnly, always, |_| "card below",
        "selecting in Stream: to the end of the card below";
    Own("card_up") "select.card_up" Scope::Visual, "selection", [c('K')], HelpOnly, always, |_| "card above",
        "selecting in Stream: to the start of the card above";
    Close "select.close" Scope::Visual, "selection", [press(Key::Esc), c('v'), c('q'), ctrl('c')], Shown, always, |_| "leave",
        "in a selection: cancel it";
    Send "steer.send" Scope::Steer, "message", [press(Key::Enter), ctrl('s')], Shown, always, |_| "send",
        "in the message dialog: send";
    NewLine "steer.new_line" Scope::Steer, "message", [ALT_ENTER, ctrl('j')], Shown, always, |_| "new line",
        "in the message dialog: a new line";
    Close "steer.close" Scope::Steer, "message", [press(Key::Esc), ctrl('c')], Shown, always, |_| "keep for later",
        "in the message dialog: close it and keep the text";
    Own("git") "confirm.git" Scope::Confirm, "dialogs", [c('I')], Hidden, always, |_| "git init",
        "before a start: `git init`, if there is no repository";
    Own("save") "draft.save" Scope::Draft, "new ticket", [ctrl('s')], Shown, always, |_| "save",
        "new ticket: save it";
    Own("start") "draft.start" Scope::Draft, "new ticket", [ctrl('r')], Shown, always, |_| "start",
        "new ticket: save and start it";
    Own("plan") "draft.plan" Scope::Draft, "new ticket", [ctrl('p')], Shown, always, |_| "plan",
        "new ticket: save it; Claude drafts phases; asks first";
    Own("editor") "draft.editor" Scope::Draft, "new ticket", [ctrl('e')], Shown, always, |_| "edit",
        "new ticket: save it and open it in $EDITOR";
    Own("suggest") "draft.suggest" Scope::Draft, "new ticket", [ctrl('n')], Shown, always, |_| "check",
        "new ticket: complete or add a command that usually checks";
    Own("template") "draft.template" Scope::Draft, "new ticket", [ctrl('t')], Shown, always, |_| "template",
        "new ticket: begin with the next of your templates";
    FocusNext "draft.next" Scope::Draft, "new ticket", [press(Key::Tab)], Shown, always, |_| "next",
        "new ticket: the next field";
    FocusPrevious "draft.previous" Scope::Draft, "new ticket", [SHIFT_TAB], HelpOnly, always, |_| "previous field",
        "new ticket: the previous field";
    NewLine "draft.new_line" Scope::Draft, "new ticket", [press(Key::Enter)], HelpOnly, always, |_| "new line",
        "new ticket: a new line";
    Close "draft.close" Scope::Draft, "new ticket", [press(Key::Esc), ctrl('c')], Shown, always, |_| "close",
        "new ticket: close it and keep the text";
    Yes "plan.accept" Scope::Plan, "draft", [c('y')], Shown, always, |_| "accept",
        "in a draft: write it into the ticket";
    Own("revise") "plan.revise" Scope::Plan, "draft", [c('r')], Shown, always, |_| "revise",
        "in a draft: say what Claude should change";
    Own("editor") "plan.editor" Scope::Plan, "draft", [c('e')], Shown, always, |_| "editor",
        "in a draft: edit it in $EDITOR";
    Own("try") "plan.try" Scope::Plan, "draft", [c('t')], Shown, always, |_| "try commands",
        "in a draft: try its commands once, if the gate allows";
    Own("refuse") "plan.refuse" Scope::Plan, "draft", [c('x')], Shown, always, |_| "discard",
        "in a draft: discard it, if pressed twice; nothing is written";
    NextWaiting "plan.next" Scope::Plan, "draft", [c('!')], HelpOnly, always, |_| "next",
        "in a draft: the next thing that waits for you";
    Close "plan.close" Scope::Plan, "draft", [press(Key::Esc), c('q'), ctrl('c')], Shown, always, |_| "later",
        "in a draft: close it; it keeps waiting";
    Own("hunk_next") "diff.hunk_next" Scope::Diff, "diff", [c('n')], Shown, always, |_| "next hunk",
        "in a diff: the next hunk";
    Own("hunk_previous") "diff.hunk_previous" Scope::Diff, "diff", [c('N')], Shown, always, |_| "previous",
        "in a diff: the previous hunk";
    Own("file_next") "diff.file_next" Scope::Diff, "diff", [c(']')], Shown, always, |_| "next file",
        "in a diff: the next file";
    Own("file_previous") "diff.file_previous" Scope::Diff, "diff", [c('[')], Shown, always, |_| "previous",
        "in a diff: the previous file";
    Edit "diff.edit" Scope::Diff, "diff", [c('e')], Shown, always, |_| "edit",
        "in a diff: edit the file in $EDITOR, at the line";
    Own("select") "diff.select" Scope::Diff, "diff", [c('v')], HelpOnly, always, |_| "select",
        "in a diff: select lines, to copy them";
    Own("copy_hunk") "diff.copy_hunk" Scope::Diff, "diff", [c('y') => c('y')], HelpOnly, always, |_| "copy hunk",
        "in a diff: copy the hunk";
    Own("copy_path") "diff.copy_path" Scope::Diff, "diff", [c('y') => c('p')], HelpOnly, always, |_| "copy path",
        "in a diff: copy the file's path";
    Own("revert") "diff.revert" Scope::Diff, "diff", [c('R')], Destructive, always, |_| "revert hunk",
        "in a diff: revert the hunk; in the timeline: restore file";
    Close "diff.close" Scope::Diff, "diff", [press(Key::Esc), c('q'), c('D'), c('d'), ctrl('c')], Shown, always, |_| "close",
        "in a diff: close it";
    Send "commit.send" Scope::Commit, "commit", [ctrl('s')], Shown, always, |_| "commit",
        "in the commit dialog: commit";
    FocusNext "commit.files" Scope::Commit, "commit", [press(Key::Tab)], Shown, always, |_| "files",
        "in the commit dialog: to the files, and back";
    NewLine "commit.new_line" Scope::Commit, "commit", [press(Key::Enter)], HelpOnly, always, |_| "new line",
        "in the commit dialog: a new line";
    Own("editor") "commit.editor" Scope::Commit, "commit", [ctrl('e')], Shown, always, |_| "editor",
        "in the commit dialog: write the message in $EDITOR";
    Close "commit.close" Scope::Commit, "commit", [press(Key::Esc), ctrl('c')], Shown, always, |_| "close",
        "in the commit dialog: close it and keep the message";
    Own("accept") "matter.accept" Scope::Matter, "dialogs", [c('y')], Hidden, always, |_| "accept it",
        "accept the disputed phase, with a reason";
    Send "phase.save" Scope::PhaseForm, "phase", [press(Key::Enter), ctrl('s')], Shown, always, |_| "save",
        "in the dialog of a phase: save it in the ticket";
    NewLine "phase.new_line" Scope::PhaseForm, "phase", [ALT_ENTER, ctrl('j')], Shown, always, |_| "new line",
        "in the dialog of a phase: new line, for one more phase";
    Close "phase.close" Scope::PhaseForm, "phase", [press(Key::Esc), ctrl('c')], Shown, always, |_| "cancel",
        "in the dialog of a phase: close it";
    Changes "evidence.diff" Scope::Evidence, "phase", [c('D')], Shown, always, |_| "diff",
        "in its evidence: the diff";
    Own("iteration_previous") "evidence.iteration_previous" Scope::Evidence, "phase", [c('[')], Shown, always, |_| "iteration back",
        "in its evidence: the iteration before";
    Own("iteration_next") "evidence.iteration_next" Scope::Evidence, "phase", [c(']')], HelpOnly, always, |_| "iteration",
        "in its evidence: the next iteration";
    Own("jump") "evidence.jump" Scope::Evidence, "phase", [press(Key::Enter), c('o')], Shown, always, |_| "in the Stream",
        "in its evidence: the iteration in the Stream";
    Close "evidence.close" Scope::Evidence, "phase", [press(Key::Esc), c('q'), ctrl('c')], Shown, always, |_| "close",
        "in its evidence: close it";
    Choose "timeline.before" Scope::Timeline, "timeline", [press(Key::Enter), c('d')], Shown, always, |_| "diff",
        "in the timeline: diff with the previous snapshot";
    Own("start") "timeline.start" Scope::Timeline, "timeline", [c('D')], Shown, always, |_| "since the start",
        "in the timeline: diff with the start of the run";
    Own("now") "timeline.now" Scope::Timeline, "timeline", [c('n')], Shown, always, |_| "against now",
        "in the timeline: diff with the current files";
    Own("mark") "timeline.mark" Scope::Timeline, "timeline", [c('x')], Shown, always, |_| "mark",
        "in the timeline: mark a snapshot; on another, compare both";
    Own("restore") "timeline.restore" Scope::Timeline, "timeline", [c('R')], Destructive, always, |_| "restore",
        "in the timeline: restore all files; asks, saves a snapshot";
    Own("fork") "timeline.fork" Scope::Timeline, "timeline", [c('f')], Shown, always, |_| "fork",
        "in the timeline: fork the ticket into a new worktree";
    Choose "timeline_files.diff" Scope::TimelineFiles, "timeline", [press(Key::Enter), c('d')], Shown, always, |_| "diff",
        "in its files: show the file's diff";
    Toggle "timeline_files.tick" Scope::TimelineFiles, "timeline", [c(' ')], Shown, always, |_| "tick",
        "in its files: tick single files to restore";
    Own("restore") "timeline_files.restore" Scope::TimelineFiles, "timeline", [c('R')], Destructive, always, |_| "restore",
        "in its files: restore ticked files, or all";
    Own("more") "limits.more" Scope::Limits, "limits", [c('+'), press(Key::Right)], Shown, always, |_| "more",
        "in Limits: one more, a budget by $1";
    Own("less") "limits.less" Scope::Limits, "limits", [c('-'), press(Key::Left)], Shown, always, |_| "less",
        "in Limits: one less";
    Choose "limits.choose" Scope::Limits, "limits", [press(Key::Enter)], Shown, always, |_| "type a value",
        "in Limits: enter a value, or none";
    Undo "limits.undo" Scope::Limits, "limits", [c('u')], Shown, can_undo_limit, |_| "undo",
        "in Limits: undo the last change";
    Send "export.send" Scope::Export, "export", [press(Key::Enter), ctrl('s')], Shown, always, |_| "write",
        "in the export dialog: write the file";
    FocusNext "export.what" Scope::Export, "export", [press(Key::Tab), SHIFT_TAB], Shown, always, |_| "run/iteration",
        "in the export dialog: the run, or one iteration";
    Own("form") "export.form" Scope::Export, "export", [ctrl('t')], Shown, always, |_| "format",
        "in the export dialog: Markdown, JSON lines or asciinema";
    Close "export.close" Scope::Export, "export", [press(Key::Esc), ctrl('c')], Shown, always, |_| "close",
        "in the export dialog: close it";
    Choose "import.choose" Scope::Import, "import", [press(Key::Enter)], Shown, always, |_| "open",
        "in Import: open the source";
    Choose "import_tasks.import" Scope::ImportTasks, "import", [press(Key::Enter)], Shown, always, |_| "import",
        "in its tasks: import ticked tasks, or open the ticket";
    Toggle "import_tasks.tick" Scope::ImportTasks, "import", [c(' ')], Shown, always, |_| "tick",
        "in its tasks: tick or untick a new task";
    Own("all") "import_tasks.all" Scope::ImportTasks, "import", [c('a')], Shown, always, |_| "all/none",
        "in its tasks: tick all new tasks, or none";
    Own("open") "import_tasks.open" Scope::ImportTasks, "import", [c('o')], Shown, always, |_| "open ticket",
        "in its tasks: open the ticket of an imported task";
    Own("below") "import_tasks.below" Scope::ImportTasks, "import", [c('J'), ctrl('d')], Shown, always, |_| "scroll",
        "in its tasks: scroll the ticket below the list";
    Own("above") "import_tasks.above" Scope::ImportTasks, "import", [c('K'), ctrl('u')], HelpOnly, always, |_| "scroll up",
        "in its tasks: scroll the ticket back up";
    Choose "machines.attach" Scope::Machines, "machines", [press(Key::Enter)], Shown, always, |_| "show",
        "in Machines: open the run on a new screen";
    Own("again") "machines.again" Scope::Machines, "machines", [c('r')], Shown, always, |_| "refresh",
        "in Machines: refresh";
    Choose "find.open" Scope::Find, "find", [press(Key::Enter)], Shown, always, |_| "open",
        "in Find: open the run or ticket there";
    Own("only") "find.only" Scope::Find, "find", [press(Key::Tab)], Shown, always, |_| "tools/errors/edits",
        "in Find: calls, errors or edits only";
    QuitFinish "quit.finish" Scope::Quit, "quit", [c('f'), press(Key::Enter)], Hidden, always, |_| "finish the iteration and quit",
        "finish the iteration, then quit";
    QuitAway "quit.away" Scope::Quit, "quit", [c('b')], Hidden, can_hand_over, |_| "keep working in the background",
        "keep working in the background";
    QuitNow "quit.now" Scope::Quit, "quit", [c('s')], Hidden, always, |_| "stop now",
        "stop now and quit";
    Close "quit.close" Scope::Quit, "quit", [press(Key::Esc), c('n'), c('q'), ctrl('c')], Hidden, always, |_| "cancel",
        "stay";
    Yes "question.yes" Scope::Question, "question", [c('y')], Shown, always, |_| "use the new list",
        "changed validation commands: use the new list";
    No "question.no" Scope::Question, "question", [c('n')], Shown, always, |_| "keep the old",
        "changed validation commands: keep the old list";
    Yes "more_work.yes" Scope::MoreWork, "question", [c('y')], Shown, always, |_| "add them",
        "proposed phases: add them to the ticket";
    EditInput "more_work.edit" Scope::MoreWork, "question", [c('e')], Shown, always, |_| "edit",
        "proposed phases: edit them first";
    No "more_work.no" Scope::MoreWork, "question", [c('n')], Shown, always, |_| "done without them",
        "proposed phases: the ticket is done without them";
    Allow "card.allow" Scope::Card, "card", [c('y')], Shown, always, |_| "allow once",
        "allow the call once; it may ask for the passphrase";
    AllowTicket "card.allow_ticket" Scope::Card, "card", [c('t')], Shown, always, |_| "allow for this run",
        "allow this exact call during this run";
    AllowKind "card.allow_kind" Scope::Card, "card", [c('T')], Shown, always, |_| "allow this kind",
        "allow every call of this kind during this run";
    AllowAlways "card.allow_always" Scope::Card, "card", [c('A')], Shown, always, |_| "always",
        "show the rule that would always allow it; `y` saves it";
    Deny "card.deny" Scope::Card, "card", [c('d')], Shown, always, |_| "deny with a reason",
        "deny the call, with a reason for Claude";
    EditInput "card.edit" Scope::Card, "card", [c('e')], Shown, always, |_| "edit",
        "edit what it runs";
    Close "card.close" Scope::Card, "card", [press(Key::Esc), c('q'), ctrl('c')], Shown, always, |_| "later",
        "close the card; the call keeps waiting";
    Choose "choices.choose" Scope::Choices, "question of Claude's", [press(Key::Enter)], Shown, always, |_| "answer",
        "answer with the selected or all chosen options";
    Toggle "choices.toggle" Scope::Choices, "question of Claude's", [c(' ')], Shown, always, |_| "choose",
        "select or deselect the option; digits do, too";
    Deny "choices.deny" Scope::Choices, "question of Claude's", [c('d')], Shown, always, |_| "deny with a reason",
        "decline to answer, with a reason for Claude";
};

/// Every key of the program, in the order of footer and help.
pub fn table() -> impl Iterator<Item = &'static Row> {
    FIRST.iter().chain(PANES.iter().flat_map(|pane| pane.keys)).chain(REST).chain(HIDDEN)
}

/// The rows of a scope; where a text is scrolled, those for that too.
pub(super) fn in_scope(scope: Scope) -> impl Iterator<Item = &'static Row> {
    let scrolls = matches!(
        scope,
        Scope::Help
            | Scope::Question
            | Scope::MoreWork
            | Scope::Plan
            | Scope::Card
            | Scope::Rule
            | Scope::Diff
            | Scope::Visual
            | Scope::Evidence
            | Scope::Timeline
    );
    table().filter(move |row| row.scope == scope || scrolls && row.scope == Scope::Scroll)
}

pub fn row_of(scope: Scope, command: Command) -> Option<&'static Row> {
    in_scope(scope).find(|row| row.command == command)
}

#[cfg(test)]
mod tests {
    use super::super::{Found, markdown_table};
    use super::*;
    use crate::tui::keys::{Chord, Keymap, same};
    use crate::tui::msg::Input;
    use std::collections::HashSet;

    fn find(scope: Scope, input: &Input) -> Option<&'static Row> {
        match Keymap::default().find(scope, std::slice::from_ref(input))? {
            Found::Row(row) => Some(row),
            Found::Begun => table().find(|row| row.keys.iter().any(|keys| keys.len() > 1 && same(&keys[0], input))),
        }
    }

    /// One is the other, or its beginning.
    fn clash(one: &[Input], other: &[Input]) -> bool {
        one.iter().zip(other).all(|(one, other)| same(one, other))
    }

    #[test]
    fn no_key_means_two_things_in_one_scope() {
        for (at, row) in table().enumerate() {
            for other in table().skip(at + 1) {
                for key in row.keys {
                    assert!(
                        row.scope != other.scope || !other.keys.iter().any(|k| clash(k, key)),
                        "`{}` is bound twice in {:?}: {} and {}",
                        Chord(key.to_vec()).text(),
                        row.scope,
                        row.id,
                        other.id
                    );
                }
            }
        }
    }

    #[test]
    fn a_pane_hides_a_global_key_only_on_purpose() {
        for row in table().filter(|row| matches!(row.scope, Scope::Pane(_))) {
            // At Home a ticket is chosen, not a phase: there is none to skip. `P` gives way where there is something to
            // pause, and while there is no search, `n` does.
            let own_search = ["stream.search", "log.filter", "home.filter"];
            let on_purpose = [
                &["home.start", "home.plan", "home.new", "home.undo", "stream.next", "tickets.reopen"],
                &own_search[..],
            ]
            .concat();
            for key in row.keys.iter().filter(|_| !on_purpose.contains(&row.id)) {
                let hidden = find(Scope::Global, &key[0]);
                assert!(hidden.is_none(), "{} hides {}", row.id, hidden.unwrap().id);
            }
        }
    }

    #[test]
    fn ids_are_unique_and_every_row_says_what_it_does() {
        let ids: HashSet<_> = table().map(|row| row.id).collect();
        assert_eq!(ids.len(), table().count());
        for row in table() {
            assert!(!row.doc.is_empty() && !row.keys.is_empty(), "{}", row.id);
        }
    }

    #[test]
    fn shift_is_told_by_the_letter() {
        let big_p = Input { key: Key::Char('P'), shift: true, ..Input::default() };
        assert_eq!(find(Scope::Global, &big_p).unwrap().command, Command::PauseNow);
        let back_tab = Input { key: Key::Tab, shift: true, ..Input::default() };
        assert_eq!(find(Scope::Global, &back_tab).unwrap().command, Command::FocusPrevious);
    }

    #[test]
    fn the_table_for_the_readme_names_every_key_of_the_runs() {
        let table = markdown_table();
        for line in ["| run | `p` |", "| run | `P` |", "| run | `s` |", "| screen | `1–9 Alt-1–9` |"] {
            assert!(table.contains(line), "{line} is not in\n{table}");
        }
    }
}
