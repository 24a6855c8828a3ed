//! Keys and pasted text while a dialog is open.

use crate::domain::command::UserCommand;
use crate::domain::request::{Closing, Request};
use crate::tui::command::when::can_hand_over;
use crate::tui::command::{self, Command, Scope};
use crate::tui::modals::question::Question;
use crate::tui::modals::{Modal, commit, import, machines, more_work, prompt, timeline};
use crate::tui::msg::{Ask, Input};
use crate::tui::ui::Ui;
use crate::tui::update::{attention, find, importing, phases, planning, unsent};
use crate::tui::widgets::scrolled::Scrolled;

/// A key for the dialog on top, and what it means there. It is taken out, and put back unless the key closes it.
pub fn key(ui: &mut Ui, command: Option<Command>, input: &Input) -> Vec<Ask> {
    let Some(dialog) = ui.modals.pop() else { return Vec::new() };
    let room = ui.room();
    let lines = command::lines(command, Scrolled::page(room));
    let stays = match dialog {
        Modal::Help(mut help) => help.key(ui, command, input, room).then_some(Modal::Help(help)),
        Modal::Palette(mut palette) => match command {
            Some(Command::Close) => None,
            Some(Command::Down | Command::Up) => {
                palette.step(lines, ui);
                Some(Modal::Palette(palette))
            }
            _ => {
                palette.typed(input);
                Some(Modal::Palette(palette))
            }
        },
        Modal::Explain(mut explain) => {
            explain.scroll(lines, ui, room);
            (command != Some(Command::Close)).then_some(Modal::Explain(explain))
        }
        Modal::Import(mut dialog) => match dialog.key(command, lines, room.width.saturating_sub(4).into()) {
            import::Outcome::Stays => Some(Modal::Import(dialog)),
            import::Outcome::Leaves => None,
            import::Outcome::Opens(id) => return importing::open_ticket(ui, dialog, &id),
            import::Outcome::Asks(ask) => {
                ui.modals.push(Modal::Import(dialog));
                return vec![*ask];
            }
        },
        Modal::Machines(mut dialog) => match dialog.key(command, lines) {
            machines::Outcome::Stays => Some(Modal::Machines(dialog)),
            machines::Outcome::Leaves => None,
            machines::Outcome::Asks(ask) => {
                ui.modals.push(Modal::Machines(dialog));
                return vec![*ask];
            }
        },
        Modal::Listing(mut listing) => {
            listing.scroll(lines, room);
            (command != Some(Command::Close)).then_some(Modal::Listing(listing))
        }
        Modal::Diff(diff) if command == Some(Command::Close) && !diff.selects() => None,
        Modal::Diff(mut diff) => {
            let ask = diff.key(&ui.model, command, lines, room);
            if let Some(path) = diff.wants_restored()
                && let Some(Modal::Timeline(dialog)) = ui.modals.last_mut()
            {
                let timeline::Outcome::Asks(asks) = dialog.restore([path].into()) else { return Vec::new() };
                return asks;
            }
            ui.modals.push(Modal::Diff(diff));
            return ask.into_iter().collect();
        }
        Modal::Commit(mut commit) => match commit.key(command, input) {
            commit::Outcome::Stays => Some(Modal::Commit(commit)),
            commit::Outcome::Leaves => {
                if unsent::keep_commit(ui, &commit) {
                    let key = ui.model.keys.key_of(Scope::Global, Command::Commit);
                    ui.model.tell(format!("message kept; {key} continues it"));
                }
                None
            }
            commit::Outcome::Asks(ask) => {
                ui.modals.push(Modal::Commit(commit));
                return vec![ask];
            }
            commit::Outcome::Shows(diff, ask) => {
                ui.modals.extend([Modal::Commit(commit), Modal::Diff(diff)]);
                return vec![ask];
            }
        },
        Modal::Evidence(evidence) => return phases::evidence_key(ui, evidence, command, lines),
        Modal::Timeline(mut dialog) => {
            let outcome = dialog.key(command, (input, lines), ui.now);
            if !matches!(outcome, timeline::Outcome::Closes) {
                ui.modals.push(Modal::Timeline(dialog));
            }
            return match outcome {
                timeline::Outcome::Stays | timeline::Outcome::Closes => Vec::new(),
                timeline::Outcome::Asks(asks) => asks,
                timeline::Outcome::Shows(diff, ask) => {
                    ui.modals.push(Modal::Diff(diff));
                    vec![ask]
                }
            };
        }
        Modal::Phase(mut form) => {
            let (stays, ask) = form.key(command, input);
            ui.modals.extend(stays.then_some(Modal::Phase(form)));
            return ask.into_iter().collect();
        }
        Modal::Limits(limits) => {
            let (stays, ask) = limits.key(&ui.model, command, input);
            ui.modals.extend(stays.map(Modal::Limits));
            return ask.into_iter().collect();
        }
        Modal::Export(export) => {
            let (stays, ask) = export.key(command, input);
            ui.modals.extend(stays.map(|export| Modal::Export(Box::new(export))));
            return ask.into_iter().collect();
        }
        Modal::Find(finder) => return find::key(ui, *finder, command, input, lines),
        Modal::Confirm(confirm) => match command {
            Some(Command::Yes) => return confirm.agreed(),
            Some(Command::No) => None,
            Some(Command::Own("git")) if confirm.offers_git(ui) => {
                ui.modals.push(Modal::Confirm(confirm));
                return vec![Ask::Request(Request::InitGit)];
            }
            _ => Some(Modal::Confirm(confirm)),
        },
        Modal::Quit => match command {
            Some(Command::QuitFinish) => return quit(ui, Closing::AfterIteration),
            Some(Command::QuitNow) => return quit(ui, Closing::Now),
            Some(Command::QuitAway) if can_hand_over(ui) => return hand_over(ui),
            Some(Command::Close) => return stay(ui),
            _ => Some(Modal::Quit),
        },
        Modal::Steer(mut steer) => match command {
            Some(Command::Send) => {
                let text = steer.text();
                ui.unsent.keep_message(&steer.ticket, steer.left());
                if text.is_empty() {
                    return Vec::new();
                }
                return vec![Ask::Request(Request::Command(steer.ticket, UserCommand::Steer { text }))];
            }
            Some(Command::Close) => {
                ui.unsent.keep_message(&steer.ticket, steer.draft());
                None
            }
            Some(Command::NewLine) => {
                steer.new_line();
                Some(Modal::Steer(steer))
            }
            _ => {
                steer.typed(input);
                Some(Modal::Steer(steer))
            }
        },
        Modal::Open(mut open) => match command {
            Some(Command::Choose) => match open.choice(ui) {
                Some(name) => return ui.open(name),
                None => Some(Modal::Open(open)),
            },
            Some(Command::Close) => None,
            Some(Command::Down | Command::Up) => {
                let fitting = open.fitting(ui).len();
                open.step(lines, fitting);
                Some(Modal::Open(open))
            }
            _ => {
                open.typed(input);
                Some(Modal::Open(open))
            }
        },
        Modal::Draft(form) if form.sent.is_none() && command == Some(Command::Close) => {
            ui.unsent.keep_ticket(&ui.model.folder, form.draft());
            if !form.draft().is_empty() {
                ui.tell("draft kept; n continues it");
            }
            None
        }
        Modal::Draft(mut form) => {
            let ask = if form.sent.is_none() { form.key(command, input) } else { None };
            ui.modals.push(Modal::Draft(form));
            return ask.into_iter().collect();
        }
        Modal::Question(mut question) => {
            let accept = match command {
                Some(Command::Yes) if question.end_seen(ui, room) => Some(true),
                Some(Command::No) => Some(false),
                _ => None,
            };
            if let Some(accept) = accept {
                let tab = ui.tab_of(&question.ticket);
                let now = tab.and_then(|tab| tab.state.validation_change.clone()).unwrap_or_default();
                let Question { ticket, seen, .. } = question;
                if now != seen {
                    ui.tell("the validation commands have changed again: this is the new list");
                    ui.modals.push(Modal::Question(Question::new(ticket, now)));
                    return Vec::new();
                }
                let answer = UserCommand::AnswerValidationChange { accept, seen };
                return vec![Ask::Request(Request::Command(ticket, answer))];
            }
            question.scroll(lines, ui, room);
            (command != Some(Command::Close)).then_some(Modal::Question(question))
        }
        Modal::MoreWork(mut card) => match card.key(command, input, room) {
            more_work::Outcome::Stays => Some(Modal::MoreWork(card)),
            more_work::Outcome::Leaves => None,
            more_work::Outcome::Asks(ask) => return vec![ask],
        },
        Modal::Plan(plan) => return planning::key(ui, plan, command, input),
        Modal::Card(card) => return attention::key(ui, card, command, input),
        Modal::Matter(matter) => return attention::matter(ui, matter, command),
        Modal::Queue(mut queue) => match command {
            Some(Command::Close) => None,
            Some(Command::Choose) => match queue.chosen(ui) {
                Some(item) => return attention::show(ui, &item),
                None => None,
            },
            _ => {
                queue.step(lines, ui);
                Some(Modal::Queue(queue))
            }
        },
        Modal::Themes(mut themes) => match command {
            Some(Command::Close) => {
                ui.looks.show(&themes.before);
                None
            }
            Some(Command::Choose) => return vec![Ask::KeepTheme(ui.looks.name().to_owned())],
            _ => {
                if let Some(problem) = ui.looks.show(themes.step(lines)).first() {
                    ui.tell(problem.to_string());
                }
                Some(Modal::Themes(themes))
            }
        },
        Modal::Prompt(mut line) => match command {
            Some(Command::Choose) => None,
            Some(Command::Close) => {
                line.text.clear();
                ui.typed(&line.text);
                None
            }
            _ => {
                if line.typed(input) {
                    ui.typed(&line.text);
                }
                Some(Modal::Prompt(line))
            }
        },
    };
    ui.modals.extend(stays);
    Vec::new()
}

/// Pasted text for the dialog on top; without one it is dropped: keys that were meant as text must
/// not act.
pub fn pasted(ui: &mut Ui, text: &str) -> Vec<Ask> {
    let mut asks = Vec::new();
    let fits = match ui.modals.last_mut() {
        Some(Modal::Steer(steer)) => steer.pasted(text),
        Some(Modal::Card(card)) => card.pasted(text),
        Some(Modal::MoreWork(card)) => card.pasted(text),
        Some(Modal::Draft(form)) => form.pasted(text),
        Some(Modal::Plan(plan)) => plan.pasted(text),
        Some(Modal::Commit(commit)) => commit.pasted(text),
        Some(Modal::Open(open)) => {
            open.cursor = 0;
            prompt::insert(&mut open.query, text)
        }
        Some(Modal::Help(help)) => help.pasted(text),
        Some(Modal::Phase(form)) => form.pasted(text),
        Some(Modal::Limits(limits)) => limits.pasted(text),
        Some(Modal::Export(export)) => export.pasted(text),
        Some(Modal::Palette(palette)) => prompt::insert(&mut palette.query, text),
        Some(Modal::Timeline(timeline)) => timeline.pasted(text),
        Some(Modal::Find(finder)) => finder.pasted(text).is_some_and(|ask| {
            asks.extend(ask);
            true
        }),
        Some(Modal::Prompt(line)) => {
            let fits = prompt::insert(&mut line.text, text);
            let text = line.text.clone();
            ui.typed(&text);
            fits
        }
        _ => true,
    };
    if !fits {
        ui.tell(format!("pasted text is too long ({} KB): ignored", text.len() / 1_000));
    }
    asks
}

/// Another program goes on with the runs, and the screen ends.
pub fn hand_over(ui: &mut Ui) -> Vec<Ask> {
    ui.handed_over = ui.unfinished();
    vec![Ask::Request(Request::LeaveCommits), Ask::Leave]
}

fn quit(ui: &mut Ui, mode: Closing) -> Vec<Ask> {
    ui.quitting = Some(mode);
    vec![Ask::Request(Request::Close(mode))]
}

/// Takes back a quit that waits for the end of the iteration: the runs go on after it.
fn stay(ui: &mut Ui) -> Vec<Ask> {
    if ui.quitting.take_if(|quitting| *quitting == Closing::AfterIteration).is_none() {
        return Vec::new();
    }
    let stopping = ui.tabs.iter().filter(|tab| tab.is_active());
    stopping.map(|tab| Ask::Request(Request::Command(tab.id.clone(), UserCommand::Resume))).collect()
}
