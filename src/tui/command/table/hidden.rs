//! Keys of dialogs that help and documentation leave out.

use crate::tui::command::{Row, Scope, always, c, ctrl, press, rows};
use crate::tui::msg::{Input, Key};

pub(super) const SHIFT_TAB: Input = Input { key: Key::Tab, ctrl: false, alt: false, shift: true };

pub(super) const ALT_ENTER: Input = Input { key: Key::Enter, ctrl: false, alt: true, shift: false };

/// Command, id, scope, keys, hint.
macro_rules! hidden {
    ($($command:ident $id:literal $scope:expr, [$($key:expr),+], $hint:literal;)+) => {
        rows! { $($command $id $scope, "dialogs", [$($key),+], Hidden, always, |_| $hint, $hint;)+ }
    };
}

pub(super) const HIDDEN: &[Row] = hidden! {
    Down "limits.down" Scope::Limits, [c('j'), press(Key::Down)], "choose";
    Up "limits.up" Scope::Limits, [c('k'), press(Key::Up)], "up";
    Close "limits.close" Scope::Limits, [press(Key::Esc), c('q'), ctrl('c')], "close";
    Choose "limit_value.choose" Scope::LimitValue, [press(Key::Enter)], "set";
    Close "limit_value.close" Scope::LimitValue, [press(Key::Esc), ctrl('c')], "back";
    Close "zoomed.close" Scope::Zoomed, [press(Key::Esc)], "all panes";
    Prompt "help.filter" Scope::Help, [c('/')], "filter";
    Choose "palette.choose" Scope::Palette, [press(Key::Enter)], "run";
    Down "palette.down" Scope::Palette, [press(Key::Down), ctrl('n')], "choose";
    Up "palette.up" Scope::Palette, [press(Key::Up), ctrl('p')], "up";
    Close "palette.close" Scope::Palette, [press(Key::Esc), ctrl('c')], "close";
    Send "commit_files.send" Scope::CommitFiles, [ctrl('s')], "commit";
    Toggle "commit_files.toggle" Scope::CommitFiles, [c(' ')], "include/exclude";
    Choose "commit_files.diff" Scope::CommitFiles, [press(Key::Enter)], "diff";
    Down "commit_files.down" Scope::CommitFiles, [c('j'), press(Key::Down)], "choose";
    Up "commit_files.up" Scope::CommitFiles, [c('k'), press(Key::Up)], "up";
    PageDown "commit_files.page_down" Scope::CommitFiles, [press(Key::PageDown)], "page down";
    PageUp "commit_files.page_up" Scope::CommitFiles, [press(Key::PageUp)], "page up";
    Top "commit_files.top" Scope::CommitFiles, [c('g'), press(Key::Home)], "top";
    End "commit_files.end" Scope::CommitFiles, [c('G'), press(Key::End)], "end";
    FocusNext "commit_files.message" Scope::CommitFiles, [press(Key::Tab), SHIFT_TAB], "message";
    Close "commit_files.close" Scope::CommitFiles, [press(Key::Esc), c('q'), ctrl('c')], "close";
    Close "timeline.close" Scope::Timeline, [press(Key::Esc), c('q'), c('U'), ctrl('c')], "close";
    Down "timeline_files.down" Scope::TimelineFiles, [c('j'), press(Key::Down)], "choose";
    Up "timeline_files.up" Scope::TimelineFiles, [c('k'), press(Key::Up)], "up";
    PageDown "timeline_files.page_down" Scope::TimelineFiles, [press(Key::PageDown), ctrl('f')], "page down";
    PageUp "timeline_files.page_up" Scope::TimelineFiles, [press(Key::PageUp), ctrl('b')], "page up";
    Top "timeline_files.top" Scope::TimelineFiles, [c('g'), press(Key::Home)], "top";
    End "timeline_files.end" Scope::TimelineFiles, [c('G'), press(Key::End)], "end";
    Close "timeline_files.close" Scope::TimelineFiles, [press(Key::Esc), c('q'), ctrl('c')], "back";
    Close "help.close" Scope::Help, [press(Key::Esc), c('q'), c('?'), press(Key::Enter), ctrl('c')], "close";
    Down "scroll.down" Scope::Scroll, [c('j'), press(Key::Down)], "down";
    Up "scroll.up" Scope::Scroll, [c('k'), press(Key::Up)], "up";
    PageDown "scroll.page_down" Scope::Scroll, [c(' '), press(Key::PageDown), ctrl('f')], "page down";
    PageUp "scroll.page_up" Scope::Scroll, [press(Key::PageUp), ctrl('b')], "page up";
    Top "scroll.top" Scope::Scroll, [c('g'), press(Key::Home)], "top";
    End "scroll.end" Scope::Scroll, [c('G'), press(Key::End)], "end";
    Yes "confirm.yes" Scope::Confirm, [c('y')], "yes";
    No "confirm.no" Scope::Confirm, [c('n'), press(Key::Esc), c('q'), ctrl('c')], "no";
    Down "find.down" Scope::Find, [press(Key::Down), ctrl('n')], "choose";
    Up "find.up" Scope::Find, [press(Key::Up), ctrl('p')], "up";
    PageDown "find.page_down" Scope::Find, [press(Key::PageDown), ctrl('f')], "page down";
    PageUp "find.page_up" Scope::Find, [press(Key::PageUp), ctrl('b')], "page up";
    Close "find.close" Scope::Find, [press(Key::Esc), ctrl('c')], "close";
    Choose "open.choose" Scope::Open, [press(Key::Enter)], "open";
    Down "open.down" Scope::Open, [press(Key::Down), ctrl('n')], "choose";
    Up "open.up" Scope::Open, [press(Key::Up), ctrl('p')], "up";
    Close "open.close" Scope::Open, [press(Key::Esc), ctrl('c')], "cancel";
    Close "question.close" Scope::Question, [press(Key::Esc), c('q'), ctrl('c')], "later";
    Close "more_work.close" Scope::MoreWork, [press(Key::Esc), c('q'), ctrl('c')], "later";
    Choose "queue.choose" Scope::Queue, [press(Key::Enter)], "open it";
    Down "queue.down" Scope::Queue, [c('j'), press(Key::Down), press(Key::PageDown)], "choose";
    Up "queue.up" Scope::Queue, [c('k'), press(Key::Up), press(Key::PageUp)], "up";
    Close "queue.close" Scope::Queue, [press(Key::Esc), c('q'), c('a'), ctrl('c')], "close";
    Down "import.down" Scope::Import, [c('j'), press(Key::Down)], "choose";
    Up "import.up" Scope::Import, [c('k'), press(Key::Up)], "up";
    PageDown "import.page_down" Scope::Import, [press(Key::PageDown), ctrl('f')], "page down";
    PageUp "import.page_up" Scope::Import, [press(Key::PageUp), ctrl('b')], "page up";
    Top "import.top" Scope::Import, [c('g'), press(Key::Home)], "top";
    End "import.end" Scope::Import, [c('G'), press(Key::End)], "end";
    Close "import.close" Scope::Import, [press(Key::Esc), c('q'), ctrl('c')], "close";
    Down "import_tasks.down" Scope::ImportTasks, [c('j'), press(Key::Down)], "choose";
    Up "import_tasks.up" Scope::ImportTasks, [c('k'), press(Key::Up)], "up";
    PageDown "import_tasks.page_down" Scope::ImportTasks, [press(Key::PageDown), ctrl('f')], "page down";
    PageUp "import_tasks.page_up" Scope::ImportTasks, [press(Key::PageUp), ctrl('b')], "page up";
    Top "import_tasks.top" Scope::ImportTasks, [c('g'), press(Key::Home)], "top";
    End "import_tasks.end" Scope::ImportTasks, [c('G'), press(Key::End)], "end";
    Close "import_tasks.close" Scope::ImportTasks, [press(Key::Esc), c('q'), ctrl('c')], "back";
    Down "machines.down" Scope::Machines, [c('j'), press(Key::Down)], "choose";
    Up "machines.up" Scope::Machines, [c('k'), press(Key::Up)], "up";
    PageDown "machines.page_down" Scope::Machines, [press(Key::PageDown), ctrl('f')], "page down";
    PageUp "machines.page_up" Scope::Machines, [press(Key::PageUp), ctrl('b')], "page up";
    Top "machines.top" Scope::Machines, [c('g'), press(Key::Home)], "top";
    End "machines.end" Scope::Machines, [c('G'), press(Key::End)], "end";
    Close "machines.close" Scope::Machines, [press(Key::Esc), c('q'), ctrl('c')], "close";
    Choose "themes.choose" Scope::Themes, [press(Key::Enter)], "keep";
    Down "themes.down" Scope::Themes, [c('j'), press(Key::Down)], "choose";
    Up "themes.up" Scope::Themes, [c('k'), press(Key::Up)], "up";
    Close "themes.close" Scope::Themes, [press(Key::Esc), c('q'), c('T'), ctrl('c')], "back";
    NextWaiting "card.next" Scope::Card, [c('!')], "next";
    Send "words.send" Scope::Words, [press(Key::Enter), ctrl('s')], "send";
    NewLine "words.new_line" Scope::Words, [ALT_ENTER, ctrl('j')], "new line";
    Close "words.close" Scope::Words, [press(Key::Esc), ctrl('c')], "back";
    Send "edit_input.take" Scope::EditInput, [press(Key::Enter), ctrl('s')], "save";
    NewLine "edit_input.new_line" Scope::EditInput, [ALT_ENTER, ctrl('j')], "new line";
    Close "edit_input.close" Scope::EditInput, [press(Key::Esc), ctrl('c')], "back";
    Yes "rule.yes" Scope::Rule, [c('y')], "save it";
    No "rule.no" Scope::Rule, [c('n'), press(Key::Esc), c('q'), ctrl('c')], "back";
    Send "passphrase.send" Scope::Passphrase, [press(Key::Enter)], "check it";
    Close "passphrase.close" Scope::Passphrase, [press(Key::Esc), ctrl('c')], "back";
    NextWaiting "choices.next_waiting" Scope::Choices, [c('!')], "next";
    Yes "choices.yes" Scope::Choices, [c('y')], "send";
    QuestionNext "choices.next" Scope::Choices, [press(Key::Right), press(Key::Tab)], "next";
    QuestionPrevious "choices.previous" Scope::Choices, [press(Key::Left), SHIFT_TAB], "before";
    Down "choices.down" Scope::Choices, [c('j'), press(Key::Down)], "down";
    Up "choices.up" Scope::Choices, [c('k'), press(Key::Up)], "up";
    Top "choices.top" Scope::Choices, [c('g'), press(Key::Home)], "top";
    End "choices.end" Scope::Choices, [c('G'), press(Key::End)], "end";
    Close "choices.close" Scope::Choices, [press(Key::Esc), c('q'), ctrl('c')], "later";
    Pause "matter.start" Scope::Matter, [c('p')], "start again";
    ResetBreaker "matter.reset_breaker" Scope::Matter, [c('b')], "reset the breaker";
    Resolve "matter.resolve" Scope::Matter, [c('M')], "Claude resolves";
    Shell "matter.shell" Scope::Matter, [c('W')], "shell there";
    Retry "matter.retry" Scope::Matter, [c('r')], "retry it";
    Skip "matter.skip" Scope::Matter, [c('s')], "skip it";
    Edit "matter.edit" Scope::Matter, [c('e')], "edit the ticket";
    Seen "matter.seen" Scope::Matter, [c('d')], "seen";
    NextWaiting "matter.next" Scope::Matter, [c('!')], "next";
    Close "matter.close" Scope::Matter, [press(Key::Esc), c('q'), ctrl('c')], "later";
    Choose "prompt.keep" Scope::Prompt, [press(Key::Enter)], "keep";
    Close "prompt.close" Scope::Prompt, [press(Key::Esc), ctrl('c')], "clear";
};
