//! What is at work on the person's other machines; each run there can be shown.

use crate::domain::machine::{AtWork, Machine};
use crate::domain::request::Request;
use crate::tui::command::{Command, Scope, hints};
use crate::tui::modals::timeline::foot::Foot;
use crate::tui::model::Model;
use crate::tui::msg::Ask;
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::frame::{Frame, centred};
use crate::tui::widgets::row::Row;
use crate::tui::widgets::scrolled::Scrolled;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

const NONE: &str = "No other machine is configured. Add one to your own config.yaml: `hosts: {build: {command: [ssh, build, programmator, serve, --stdio]}}`; see `programmator help attach`.";
const SHOWN: &str = "Enter shows the run on its own screen; q there returns here.";

/// The dialog.
#[derive(Default)]
pub struct Machines {
    /// `None`: they are being asked.
    told: Option<Result<Vec<Machine>, String>>,
    /// Among the machines and their runs, line by line.
    at: usize,
}

/// What a key comes to.
pub enum Outcome {
    Stays,
    Leaves,
    Asks(Box<Ask>),
}

/// A line of the list.
enum Line<'a> {
    Machine(&'a Machine),
    Run(&'a Machine, &'a AtWork),
}

impl Machines {
    pub fn key(&mut self, command: Option<Command>, lines: i32) -> Outcome {
        match command {
            Some(Command::Close) => return Outcome::Leaves,
            Some(Command::Choose) => return self.chosen().map_or(Outcome::Stays, |ask| Outcome::Asks(Box::new(ask))),
            Some(Command::Own("again")) if self.told.is_some() => {
                self.told = None;
                return Outcome::Asks(Box::new(Ask::Request(Request::Machines)));
            }
            _ => self.move_to(self.at.saturating_add_signed(lines as isize)),
        }
        Outcome::Stays
    }

    /// The machines, or why they are not known. The cursor stays on its run, and begins on the first that needs the person, or else
    /// is at work.
    pub fn told(&mut self, told: Result<Vec<Machine>, String>) {
        let of = |line: Line<'_>| match line {
            Line::Run(machine, run) => Some((machine.called().to_owned(), run.run.clone())),
            Line::Machine(_) => None,
        };
        let before = self.lines().into_iter().nth(self.at).and_then(of);
        self.told = Some(told);
        if let Some(at) =
            before.and_then(|run| self.lines().into_iter().position(|line| of(line).as_ref() == Some(&run)))
        {
            return self.move_to(at);
        }
        let lines = self.lines();
        let first =
            |holds: fn(&AtWork) -> bool| lines.iter().position(|line| matches!(line, Line::Run(_, run) if holds(run)));
        let at = first(|run| run.needs_you).or_else(|| first(|_| true)).unwrap_or(0);
        self.move_to(at);
    }

    fn move_to(&mut self, at: usize) {
        self.at = at.min(self.lines().len().saturating_sub(1));
    }

    fn lines(&self) -> Vec<Line<'_>> {
        let mut lines = Vec::new();
        for machine in self.told.iter().flatten().flatten() {
            lines.push(Line::Machine(machine));
            lines.extend(machine.at_work.iter().map(|run| Line::Run(machine, run)));
        }
        lines
    }

    /// The run under the cursor is shown; of a machine the first that is at work there.
    fn chosen(&self) -> Option<Ask> {
        let (machine, run) = match self.lines().into_iter().nth(self.at)? {
            Line::Machine(machine) => (machine, machine.at_work.first()?),
            Line::Run(machine, run) => (machine, run),
        };
        let (machine, ticket, run) = (machine.called().to_owned(), run.ticket.clone(), run.run.clone());
        Some(Ask::Attach { machine, ticket, run })
    }

    pub fn view(&self, model: &Model, theme: &Theme, room: Rect, buf: &mut Buffer) {
        let lines = self.lines();
        let said = match &self.told {
            None => "Contacting your other machines …",
            Some(Err(why)) => why.as_str(),
            Some(Ok(machines)) if machines.is_empty() => NONE,
            Some(Ok(_)) if self.chosen().is_some() => SHOWN,
            Some(Ok(_)) => "",
        };
        let mut keys = vec![Command::Close];
        if self.told.is_some() {
            keys.insert(0, Command::Own("again"));
        }
        if self.chosen().is_some() {
            keys.insert(0, Command::Choose);
        }
        let foot = Foot::of(said, hints(model, Scope::Machines, &keys), room.width.saturating_sub(4).into());
        let area = centred(room, room.width, lines.len().max(1) as u16 + 2 + foot.height());
        let inside = Frame::dialog("Other machines", "", model.glyphs).draw(theme, area, buf);
        let list = foot.draw(theme, inside, buf);
        let width = lines.iter().map(|line| line.machine().called().chars().count()).max().unwrap_or(0);
        let rows = lines.iter().map(|line| match line {
            Line::Machine(machine) => {
                let role = if machine.is_reached { Role::Dim } else { Role::Warning };
                Row::new()
                    .left(Role::Title, format!(" {:<width$}", machine.called()))
                    .left(role, format!("  {}", machine.words))
            }
            Line::Run(_, run) => {
                let role = if run.needs_you { Role::Warning } else { Role::Text };
                Row::new()
                    .left(role, format!(" {:width$}  {}", "", run.columns))
                    .left(Role::Dim, format!("  {}", run.about))
            }
        });
        let scrolled = Scrolled::default().showing(self.at, self.at, list.height.into());
        scrolled.list(rows, Some(self.at).filter(|_| !lines.is_empty()), theme, list, buf);
    }
}

impl Line<'_> {
    fn machine(&self) -> &Machine {
        match self {
            Self::Machine(machine) | Self::Run(machine, _) => machine,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::request::Reply;
    use crate::tui::home::NAME;
    use crate::tui::msg::Msg;
    use crate::tui::sample;
    use crate::tui::update::update;

    fn run(ticket: &str, needs_you: bool) -> AtWork {
        AtWork {
            run: format!("run of {ticket}"),
            ticket: ticket.to_owned(),
            columns: ticket.to_owned(),
            about: "words".to_owned(),
            needs_you,
        }
    }

    #[test]
    fn they_are_asked_listed_and_the_run_under_the_cursor_is_shown() {
        let mut ui = sample::model();
        ui.focus = NAME;
        let asks = [Ask::Request(Request::Machines)];
        assert_eq!(update(&mut ui, Msg::Key(sample::key("@"))), asks);
        assert!(sample::draw(&mut ui, (80, 24)).contains("Contacting your other machines"));
        let machine = |name: &str, at_work: Vec<AtWork>| Machine {
            name: Some(name.to_owned()),
            words: format!("{} at work", at_work.len()),
            is_reached: true,
            at_work,
        };
        let machines = vec![machine("box", Vec::new()), machine("build", vec![run("tk-1", false), run("tk-2", true)])];
        update(&mut ui, Msg::Replied(Reply::Machines(Ok(machines))));
        let screen = sample::draw(&mut ui, (80, 24));
        assert!(screen.contains("build  2 at work") && screen.contains("tk-2  words"), "{screen}");
        let shows = |ui: &mut crate::tui::ui::Ui| update(ui, Msg::Key(sample::key("Enter")));
        let of = |ticket: &str| {
            let run = format!("run of {ticket}");
            [Ask::Attach { machine: "build".to_owned(), ticket: ticket.to_owned(), run }]
        };
        assert_eq!(shows(&mut ui), of("tk-2"), "the one that needs the person");
        update(&mut ui, Msg::Key(sample::key("k")));
        update(&mut ui, Msg::Key(sample::key("k")));
        assert_eq!(shows(&mut ui), of("tk-1"), "of a machine its first");
        update(&mut ui, Msg::Key(sample::key("g")));
        assert_eq!(shows(&mut ui), [], "nothing is at work there");
        assert_eq!(update(&mut ui, Msg::Key(sample::key("r"))), asks);
        update(&mut ui, Msg::Replied(Reply::Machines(Err("config.yaml is broken".to_owned()))));
        assert!(sample::draw(&mut ui, (80, 24)).contains("config.yaml is broken"));
        update(&mut ui, Msg::Key(sample::key("Esc")));
        assert!(ui.modals.is_empty());
    }
}
