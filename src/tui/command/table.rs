//! The rows. What the columns mean is told in `tui::command`.

use super::{
    Command, Flag, PaneScope, Row, Scope, always, can_command, can_edit, can_pause, can_pause_now, can_reset_breaker,
    can_retry, can_skip, can_tick, details_word, has_stream, is_searching, live, pause_word, retry_word, several_tabs,
    someone_waits, stream_is_behind,
};
use crate::tui::model::Model;
use crate::tui::msg::{Input, Key};

const fn press(key: Key) -> Input {
    Input { key, ctrl: false, alt: false, shift: false }
}

const fn c(letter: char) -> Input {
    press(Key::Char(letter))
}

const fn ctrl(letter: char) -> Input {
    Input { key: Key::Char(letter), ctrl: true, alt: false, shift: false }
}

const SHIFT_TAB: Input = Input { key: Key::Tab, ctrl: false, alt: false, shift: true };

const ALT_ENTER: Input = Input { key: Key::Enter, ctrl: false, alt: true, shift: false };

macro_rules! rows {
    ($($command:ident $id:literal $scope:expr, $group:literal, [$($key:expr),+], $flag:ident, $enabled:expr, $hint:expr, $doc:literal;)+) => {
        /// Every key of the program, in the order of footer and help.
        pub const TABLE: &[Row] = &[$(Row {
            command: Command::$command,
            id: $id,
            scope: $scope,
            group: $group,
            doc: $doc,
            keys: &[$($key),+],
            flag: Flag::$flag,
            enabled: $enabled,
            hint: $hint,
        }),+];
    };
}

const TICKETS: Scope = Scope::Pane(PaneScope::Tickets);
const STREAM: Scope = Scope::Pane(PaneScope::Stream);
const GAUGES: Scope = Scope::Pane(PaneScope::Gauges);
const LOG: Scope = Scope::Pane(PaneScope::Log);

rows! {
    Pause "run.pause" Scope::Global, "run", [c('p')], Shown, can_pause, pause_word,
        "start; pause after this iteration; resume";
    PauseNow "run.pause_now" Scope::Global, "run", [c('P')], HelpOnly, can_pause_now, |_| "pause now",
        "pause now: interrupt Claude in the middle of its turn";
    Skip "run.skip" Scope::Global, "run", [c('s')], Destructive, can_skip, |_| "skip",
        "skip the phase selected in Tickets, else the current one";
    Retry "run.retry" Scope::Global, "run", [c('r')], Shown, can_retry, retry_word,
        "work on a settled phase again; while parked: try now";
    Steer "run.steer" Scope::Global, "run", [c('i')], Shown, can_command, |_| "steer",
        "write to Claude: into the turn, or into the next prompt";
    NextWaiting "attention.next" Scope::Global, "run", [c('!')], Shown, someone_waits, |_| "needs you",
        "the next thing that needs you";
    Queue "attention.queue" Scope::Global, "run", [c('a')], HelpOnly, live, |_| "queue",
        "the queue: calls, questions, plans, disputes";
    End "view.end" Scope::Global, "move", [c('G'), press(Key::End)], Shown, stream_is_behind, |_| "follow",
        "to the end, and follow it";
    FocusNext "focus.next" Scope::Global, "screen", [press(Key::Tab)], Shown, always, next_pane,
        "next pane";
    Stop "run.stop" Scope::Global, "run", [c('x')], Destructive, can_command, |_| "stop",
        "stop the run now; it can be resumed";
    ResetBreaker "breaker.reset" Scope::Global, "run", [c('c')], Destructive, can_reset_breaker, |_| "reset breaker",
        "close the circuit breaker and forget what it has counted";
    Choose "tickets.choose" TICKETS, "ticket", [press(Key::Enter)], Shown, always, |_| "open",
        "in Tickets: open the selected ticket, or fold it";
    Fold "tickets.fold" TICKETS, "ticket", [c(' '), press(Key::Left), press(Key::Right)], HelpOnly, always, |_| "fold",
        "in Tickets: fold or unfold the selected ticket";
    Tick "tickets.tick" TICKETS, "ticket", [c('d')], Shown, can_tick, |_| "tick",
        "in Tickets: tick the selected phase: it is done";
    Copy "tickets.copy" TICKETS, "ticket", [c('y')], HelpOnly, always, |_| "copy",
        "in Tickets: copy the selected line";
    Search "stream.search" STREAM, "stream", [c('/')], Shown, has_stream, |_| "search",
        "in Stream: search";
    SearchNext "stream.next" STREAM, "stream", [c('n')], Shown, is_searching, |_| "next match",
        "in Stream: next match";
    SearchPrevious "stream.previous" STREAM, "stream", [c('N')], HelpOnly, is_searching, |_| "match before",
        "in Stream: match before";
    ClearSearch "stream.clear" STREAM, "stream", [press(Key::Esc)], Shown, is_searching, |_| "clear",
        "in Stream: end the search";
    Details "stream.details" STREAM, "stream", [press(Key::Enter)], Shown, has_stream, details_word,
        "in Stream: everything in full, or in brief again";
    Explain "gauges.explain" GAUGES, "gauges", [press(Key::Enter)], Shown, has_stream, |_| "explain",
        "in Gauges: what the breaker counts, and what moved it";
    LogLevel "log.level" LOG, "log", [c('l')], Shown, always, |_| "level",
        "in Log: show less, or everything again";
    LogTicket "log.ticket" LOG, "log", [c('o')], Shown, always, |_| "all/this ticket",
        "in Log: all tickets, or this one";
    LogFilter "log.filter" LOG, "log", [press(Key::Enter), c('/')], Shown, always, |_| "filter",
        "in Log: show the lines with these words";
    Edit "ticket.edit" Scope::Global, "ticket", [c('e')], Shown, can_edit, |_| "edit",
        "edit the ticket in $EDITOR";
    OpenTicket "ticket.open" Scope::Global, "ticket", [c('t')], Shown, live, |_| "open",
        "open another ticket";
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
    FocusPrevious "focus.previous" Scope::Global, "screen", [SHIFT_TAB], HelpOnly, always, |_| "pane before",
        "pane before";
    GoToTab "tab.go" Scope::Global, "screen", [c('1'), c('2'), c('3'), c('4'), c('5'), c('6'), c('7'), c('8'), c('9')],
        HelpOnly, several_tabs, |_| "tab", "tab by its number";
    TabPrevious "tab.previous" Scope::Global, "screen", [c('[')], HelpOnly, several_tabs, |_| "tab before",
        "tab before";
    TabNext "tab.next" Scope::Global, "screen", [c(']')], HelpOnly, several_tabs, |_| "next tab",
        "next tab";
    Redraw "screen.redraw" Scope::Global, "screen", [ctrl('l')], HelpOnly, always, |_| "redraw",
        "draw everything anew";
    Suspend "screen.suspend" Scope::Global, "screen", [ctrl('z')], HelpOnly, always, |_| "suspend",
        "to the background; `fg` brings it back";
    Help "screen.help" Scope::Global, "screen", [c('?')], Shown, always, |_| "help",
        "this list";
    Quit "screen.quit" Scope::Global, "screen", [c('q'), ctrl('c')], Shown, always, |_| "quit",
        "quit; asks while something runs";

    Close "help.close" Scope::Help, "dialogs", [press(Key::Esc), c('q'), c('?'), press(Key::Enter), ctrl('c')], Hidden, always, |_| "close",
        "close";
    Down "help.down" Scope::Help, "dialogs", [c('j'), press(Key::Down)], Hidden, always, |_| "down",
        "down";
    Up "help.up" Scope::Help, "dialogs", [c('k'), press(Key::Up)], Hidden, always, |_| "up",
        "up";
    PageDown "help.page_down" Scope::Help, "dialogs", [press(Key::PageDown), c(' '), ctrl('f')], Hidden, always, |_| "page down",
        "down one page";
    PageUp "help.page_up" Scope::Help, "dialogs", [press(Key::PageUp), ctrl('b')], Hidden, always, |_| "page up",
        "up one page";
    Top "help.top" Scope::Help, "dialogs", [c('g'), press(Key::Home)], Hidden, always, |_| "top",
        "to the beginning";
    End "help.end" Scope::Help, "dialogs", [c('G'), press(Key::End)], Hidden, always, |_| "end",
        "to the end";
    Yes "confirm.yes" Scope::Confirm, "dialogs", [c('y')], Hidden, always, |_| "yes",
        "yes";
    No "confirm.no" Scope::Confirm, "dialogs", [c('n'), press(Key::Esc), c('q'), ctrl('c')], Hidden, always, |_| "no",
        "no";
    Send "steer.send" Scope::Steer, "steer", [press(Key::Enter), ctrl('s')], Shown, always, |_| "send",
        "in the steer dialog: send";
    NewLine "steer.new_line" Scope::Steer, "steer", [ALT_ENTER, ctrl('j')], Shown, always, |_| "new line",
        "in the steer dialog: a new line";
    Close "steer.close" Scope::Steer, "steer", [press(Key::Esc), ctrl('c')], Shown, always, |_| "keep for later",
        "in the steer dialog: close it; the words are kept";
    Choose "open.choose" Scope::Open, "dialogs", [press(Key::Enter)], Hidden, always, |_| "open",
        "open";
    Down "open.down" Scope::Open, "dialogs", [press(Key::Down), ctrl('n')], Hidden, always, |_| "down",
        "down";
    Up "open.up" Scope::Open, "dialogs", [press(Key::Up), ctrl('p')], Hidden, always, |_| "up",
        "up";
    Close "open.close" Scope::Open, "dialogs", [press(Key::Esc), ctrl('c')], Hidden, always, |_| "cancel",
        "cancel";
    QuitFinish "quit.finish" Scope::Quit, "quit", [c('f'), press(Key::Enter)], Hidden, always, |_| "finish the iteration and quit",
        "finish the iteration, then quit";
    QuitNow "quit.now" Scope::Quit, "quit", [c('s')], Hidden, always, |_| "stop now",
        "stop now";
    Close "quit.close" Scope::Quit, "quit", [press(Key::Esc), c('n'), c('q'), ctrl('c')], Hidden, always, |_| "cancel",
        "cancel";
    Yes "question.yes" Scope::Question, "question", [c('y')], Shown, always, |_| "use the new list",
        "changed validation commands: use the new list";
    No "question.no" Scope::Question, "question", [c('n')], Shown, always, |_| "keep the old",
        "changed validation commands: keep the old list";
    Close "question.close" Scope::Question, "question", [press(Key::Esc), c('q'), ctrl('c')], Hidden, always, |_| "later",
        "later";
    Down "question.down" Scope::Question, "question", [c('j'), press(Key::Down)], Hidden, always, |_| "down",
        "down";
    Up "question.up" Scope::Question, "question", [c('k'), press(Key::Up)], Hidden, always, |_| "up",
        "up";
    PageDown "question.page_down" Scope::Question, "question", [press(Key::PageDown), c(' '), ctrl('f')], Hidden, always, |_| "page down",
        "down one page";
    PageUp "question.page_up" Scope::Question, "question", [press(Key::PageUp), ctrl('b')], Hidden, always, |_| "page up",
        "up one page";
    Top "question.top" Scope::Question, "question", [c('g'), press(Key::Home)], Hidden, always, |_| "top",
        "to the beginning";
    End "question.end" Scope::Question, "question", [c('G'), press(Key::End)], Hidden, always, |_| "end",
        "to the end";
    Choose "queue.choose" Scope::Queue, "queue", [press(Key::Enter)], Hidden, always, |_| "look at it",
        "look at it";
    Down "queue.down" Scope::Queue, "queue", [c('j'), press(Key::Down), press(Key::PageDown)], Hidden, always, |_| "down",
        "down";
    Up "queue.up" Scope::Queue, "queue", [c('k'), press(Key::Up), press(Key::PageUp)], Hidden, always, |_| "up",
        "up";
    Close "queue.close" Scope::Queue, "queue", [press(Key::Esc), c('q'), c('a'), ctrl('c')], Hidden, always, |_| "close",
        "close";
    Allow "card.allow" Scope::Card, "card", [c('y')], Shown, always, |_| "once",
        "let the call run once; a passphrase may be asked for";
    AllowTicket "card.allow_ticket" Scope::Card, "card", [c('t')], Shown, always, |_| "this call, for this run",
        "let it run, and this call again until the run ends";
    AllowKind "card.allow_kind" Scope::Card, "card", [c('T')], Shown, always, |_| "this kind",
        "allow every call of this kind until the run ends";
    AllowAlways "card.allow_always" Scope::Card, "card", [c('A')], Shown, always, |_| "always",
        "show the rule that would always allow it; `y` saves it";
    Deny "card.deny" Scope::Card, "card", [c('d')], Shown, always, |_| "deny with words",
        "deny the call, with words that Claude reads";
    EditInput "card.edit" Scope::Card, "card", [c('e')], Shown, always, |_| "edit",
        "change what is to run";
    Close "card.close" Scope::Card, "card", [press(Key::Esc), c('q'), ctrl('c')], Shown, always, |_| "later",
        "leave it waiting; never a yes";
    NextWaiting "card.next" Scope::Card, "card", [c('!')], Hidden, always, |_| "next",
        "leave it waiting, and go to the next";
    Down "card.down" Scope::Card, "card", [c('j'), press(Key::Down)], Hidden, always, |_| "down",
        "down";
    Up "card.up" Scope::Card, "card", [c('k'), press(Key::Up)], Hidden, always, |_| "up",
        "up";
    PageDown "card.page_down" Scope::Card, "card", [press(Key::PageDown), c(' '), ctrl('f')], Hidden, always, |_| "page down",
        "down one page";
    PageUp "card.page_up" Scope::Card, "card", [press(Key::PageUp), ctrl('b')], Hidden, always, |_| "page up",
        "up one page";
    Top "card.top" Scope::Card, "card", [c('g'), press(Key::Home)], Hidden, always, |_| "top",
        "to the beginning";
    End "card.end" Scope::Card, "card", [c('G'), press(Key::End)], Hidden, always, |_| "end",
        "to the end";
    Send "words.send" Scope::Words, "card", [press(Key::Enter), ctrl('s')], Hidden, always, |_| "send",
        "send";
    NewLine "words.new_line" Scope::Words, "card", [ALT_ENTER, ctrl('j')], Hidden, always, |_| "new line",
        "a new line";
    Close "words.close" Scope::Words, "card", [press(Key::Esc), ctrl('c')], Hidden, always, |_| "back",
        "back";
    Send "edit_input.take" Scope::EditInput, "card", [ctrl('s')], Hidden, always, |_| "take it",
        "take the changed input";
    Close "edit_input.close" Scope::EditInput, "card", [press(Key::Esc), ctrl('c')], Hidden, always, |_| "back",
        "back";
    Yes "rule.yes" Scope::Rule, "card", [c('y')], Hidden, always, |_| "save it",
        "save the rule";
    No "rule.no" Scope::Rule, "card", [c('n'), press(Key::Esc), c('q'), ctrl('c')], Hidden, always, |_| "back",
        "back";
    Down "rule.down" Scope::Rule, "card", [c('j'), press(Key::Down)], Hidden, always, |_| "down",
        "down";
    Up "rule.up" Scope::Rule, "card", [c('k'), press(Key::Up)], Hidden, always, |_| "up",
        "up";
    PageDown "rule.page_down" Scope::Rule, "card", [press(Key::PageDown), c(' '), ctrl('f')], Hidden, always, |_| "page down",
        "down one page";
    PageUp "rule.page_up" Scope::Rule, "card", [press(Key::PageUp), ctrl('b')], Hidden, always, |_| "page up",
        "up one page";
    Top "rule.top" Scope::Rule, "card", [c('g'), press(Key::Home)], Hidden, always, |_| "top",
        "to the beginning";
    End "rule.end" Scope::Rule, "card", [c('G'), press(Key::End)], Hidden, always, |_| "end",
        "to the end";
    Send "passphrase.send" Scope::Passphrase, "card", [press(Key::Enter)], Hidden, always, |_| "check it",
        "check it";
    Close "passphrase.close" Scope::Passphrase, "card", [press(Key::Esc), ctrl('c')], Hidden, always, |_| "back",
        "back";
    Choose "choices.choose" Scope::Choices, "question of Claude's", [press(Key::Enter)], Shown, always, |_| "answer",
        "answer with the selected option, or with all that are chosen";
    NextWaiting "choices.next_waiting" Scope::Choices, "question of Claude's", [c('!')], Hidden, always, |_| "next",
        "leave it waiting, and go to the next";
    Yes "choices.yes" Scope::Choices, "question of Claude's", [c('y')], Hidden, always, |_| "send",
        "send the answers that are shown once more";
    Toggle "choices.toggle" Scope::Choices, "question of Claude's", [c(' ')], Shown, always, |_| "choose",
        "choose the option, or take it back; digits do so too";
    Deny "choices.deny" Scope::Choices, "question of Claude's", [c('d')], Shown, always, |_| "deny with words",
        "do not answer, with words that Claude reads";
    QuestionNext "choices.next" Scope::Choices, "question of Claude's", [press(Key::Right), press(Key::Tab)], Hidden, always, |_| "next",
        "next question";
    QuestionPrevious "choices.previous" Scope::Choices, "question of Claude's", [press(Key::Left), SHIFT_TAB], Hidden, always, |_| "before",
        "question before";
    Down "choices.down" Scope::Choices, "question of Claude's", [c('j'), press(Key::Down)], Hidden, always, |_| "down",
        "down";
    Up "choices.up" Scope::Choices, "question of Claude's", [c('k'), press(Key::Up)], Hidden, always, |_| "up",
        "up";
    Top "choices.top" Scope::Choices, "question of Claude's", [c('g'), press(Key::Home)], Hidden, always, |_| "top",
        "to the first option";
    End "choices.end" Scope::Choices, "question of Claude's", [c('G'), press(Key::End)], Hidden, always, |_| "end",
        "to words of your own";
    Close "choices.close" Scope::Choices, "question of Claude's", [press(Key::Esc), c('q'), ctrl('c')], Hidden, always, |_| "later",
        "later";
    Retry "matter.retry" Scope::Matter, "disputes", [c('r')], Hidden, always, |_| "work on it again",
        "work on it again";
    Skip "matter.skip" Scope::Matter, "disputes", [c('s')], Hidden, always, |_| "skip it",
        "skip it";
    Edit "matter.edit" Scope::Matter, "disputes", [c('e')], Hidden, always, |_| "edit the ticket",
        "edit the ticket";
    Seen "matter.seen" Scope::Matter, "disputes", [c('d')], Hidden, always, |_| "seen",
        "seen";
    NextWaiting "matter.next" Scope::Matter, "disputes", [c('!')], Hidden, always, |_| "next",
        "leave it waiting, and go to the next";
    Close "matter.close" Scope::Matter, "disputes", [press(Key::Esc), c('q'), ctrl('c')], Hidden, always, |_| "later",
        "later";
    Choose "prompt.keep" Scope::Prompt, "dialogs", [press(Key::Enter)], Hidden, always, |_| "keep",
        "keep";
    Close "prompt.close" Scope::Prompt, "dialogs", [press(Key::Esc), ctrl('c')], Hidden, always, |_| "clear",
        "clear";
}

/// Where `Tab` leads, in small letters.
fn next_pane(model: &Model) -> &'static str {
    use crate::tui::panes::Pane;
    match model.next_focus(1) {
        Pane::Tickets => "tickets",
        Pane::Stream => "stream",
        Pane::Gauges => "gauges",
        Pane::Log => "log",
    }
}
