//! Which pane has the focus.

use super::*;

#[test]
fn the_focus_starts_in_tickets_and_follows_the_first_ticket_that_is_opened() {
    let mut model = sample::model();
    let ticket = sample::ticket("tk-1", "Login", &[]);
    crate::tui::update::news::fold(&mut model, crate::domain::news::News::TicketRead(ticket.clone()));
    assert_eq!(model.focus, panes::tickets::NAME);
    model.open_tab(&ticket.id);
    assert_eq!(model.focus, panes::stream::NAME);
}

#[test]
fn the_focus_goes_round_all_panes() {
    let mut model = with_running();
    model.size = (80, 24);
    model.focus = panes::tickets::NAME;
    let mut seen = Vec::new();
    for _ in 0..4 {
        press(&mut model, "Tab");
        seen.push(model.focus);
    }
    assert_eq!(seen, [panes::stream::NAME, panes::gauges::NAME, panes::log::NAME, panes::tickets::NAME]);
    model.size = (120, 40);
    press(&mut model, "Tab Tab");
    assert_eq!(model.focus, panes::gauges::NAME);
    press(&mut model, "BackTab");
    assert_eq!(model.focus, panes::stream::NAME);
}
