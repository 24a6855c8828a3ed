//! Panes larger, smaller and hidden, as the person wants them from now on.

use crate::tui::command::Command;
use crate::tui::layout::solve;
use crate::tui::msg::Ask;
use crate::tui::panes::{gauges, log, stream, tickets};
use crate::tui::ui::Ui;

/// Columns of a step.
const STEP: i16 = 2;

pub fn run(ui: &mut Ui, command: Command) -> Vec<Ask> {
    let before = (ui.arrangement.clone(), solve(ui.size, ui));
    let (focus, wide, more) = (ui.focus, ui.size.0 >= 160, command == Command::Larger);
    let step = |by: i16| if more { by } else { -by };
    let own = &mut ui.arrangement;
    own.is_zoomed = false;
    let size = match focus {
        log::NAME => &mut own.log,
        tickets::NAME | stream::NAME => &mut own.left,
        gauges::NAME if !wide => &mut own.left,
        _ => &mut own.right,
    };
    match (command, focus) {
        (Command::Hide, _) => {
            own.toggle(focus);
            if !own.shows(focus) {
                ui.focus = stream::NAME;
            }
            return vec![Ask::KeepArrangement];
        }
        (_, log::NAME) => *size = size.saturating_add(step(1)),
        // What it gains its neighbour loses.
        (_, stream::NAME) => *size = size.saturating_sub(step(STEP)),
        _ => *size = size.saturating_add(step(STEP)),
    }
    if solve(ui.size, ui) == before.1 {
        ui.arrangement = before.0;
        ui.tell(if more { "no room for more" } else { "it cannot be smaller" });
        return Vec::new();
    }
    vec![Ask::KeepArrangement]
}

/// The mouse is ours from now on, or the terminal's again.
pub fn mouse(ui: &mut Ui) -> Vec<Ask> {
    let on = !ui.arrangement.mouse;
    ui.arrangement.mouse = on;
    let shift = "hold Shift to select as usual";
    ui.tell(if on { format!("mouse on; {shift}") } else { "mouse off".to_owned() });
    vec![Ask::Mouse(on), Ask::KeepArrangement]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::changes::NAME as CHANGES;
    use crate::tui::msg::Msg;
    use crate::tui::sample;
    use crate::tui::update::update;

    fn press(ui: &mut Ui, keys: &str) -> Vec<Ask> {
        keys.split(' ').flat_map(|key| update(ui, Msg::Key(sample::key(key)))).collect()
    }

    fn at(size: (u16, u16), focus: &'static str) -> Ui {
        let mut ui = sample::busy();
        ui.size = size;
        ui.focus = focus;
        ui
    }

    #[test]
    fn the_pane_in_front_takes_the_screen_and_gives_it_back() {
        let mut ui = at((120, 40), stream::NAME);
        let usual = solve(ui.size, &ui);
        for back in ["z", "Esc"] {
            assert_eq!(press(&mut ui, "z"), [], "not kept for the next start");
            let place = solve(ui.size, &ui).stream.unwrap();
            assert_eq!((place.width, place.height), (120, 37));
            let screen = sample::draw(&mut ui, (120, 40));
            assert!(
                !screen.contains("Tickets") && screen.lines().last().unwrap().contains("Esc all panes"),
                "{screen}"
            );
            press(&mut ui, back);
            assert_eq!(solve(ui.size, &ui), usual);
        }
        // The focus takes it along, and Home has no panes.
        press(&mut ui, "z Tab");
        assert!(ui.focus != stream::NAME && solve(ui.size, &ui).of(ui.focus).unwrap().width == 120);
        press(&mut ui, "h");
        assert!(solve(ui.size, &ui).home.is_some());
    }

    #[test]
    fn each_pane_grows_and_shrinks_as_far_as_there_is_room() {
        let cases = [
            (tickets::NAME, (120, 40)),
            (stream::NAME, (120, 40)),
            (gauges::NAME, (120, 40)),
            (log::NAME, (120, 40)),
            (tickets::NAME, (200, 50)),
            (CHANGES, (200, 50)),
            (gauges::NAME, (200, 50)),
        ];
        for (pane, size) in cases {
            let mut ui = at(size, pane);
            let cells = |ui: &Ui| solve(ui.size, ui).of(pane).unwrap().area();
            let before = cells(&ui);
            assert_eq!(press(&mut ui, ">"), [Ask::KeepArrangement]);
            assert!(cells(&ui) > before, "{pane} at {size:?}");
            press(&mut ui, "<");
            assert_eq!(cells(&ui), before, "{pane} at {size:?}");
            press(&mut ui, "0 9 9 >");
            let most = ui.arrangement.clone();
            assert!(ui.toast.is_some() && solve(ui.size, &ui).stream.unwrap().width >= size.0 / 3);
            assert_eq!(press(&mut ui, ">"), []);
            assert_eq!(ui.arrangement, most, "no step that nobody sees");
        }
    }

    #[test]
    fn a_hidden_pane_leaves_its_room_and_is_still_reached() {
        let mut ui = at((200, 50), CHANGES);
        assert_eq!(press(&mut ui, "H"), [Ask::KeepArrangement]);
        assert_eq!((ui.focus, solve(ui.size, &ui).changes), (stream::NAME, None));
        assert_eq!(press(&mut ui, "H"), [], "the Stream stays");
        press(&mut ui, "D");
        assert!(solve(ui.size, &ui).changes.is_some(), "it takes the Stream's place");
        press(&mut ui, "H");
        assert!(ui.arrangement.shows(CHANGES));
    }
}
