//! Keys that cannot act, and one that asks before it does.

use super::*;

#[test]
fn a_tick_of_the_running_phase_asks_first() {
    let mut model = with_running();
    model.focus = panes::tickets::NAME;
    let running = model.tabs[0].state.open_iteration().and_then(|open| open.phase).unwrap();
    assert_eq!(press(&mut model, "d"), []);
    assert!(sample::draw(&mut model, (120, 40)).contains("Tick the running phase"));
    assert_eq!(press(&mut model, "n d y"), command(UserCommand::TickPhase { phase: running }));
}

#[test]
fn no_key_is_silent() {
    let told = |model: &mut Ui, key: &str| {
        model.toast = None;
        assert_eq!(press(model, key), []);
        model.toast.as_ref().map(|(words, _)| words.clone()).unwrap_or_default()
    };
    let mut model = sample::model();
    for key in "p P s r i x c e".split(' ') {
        assert_eq!(told(&mut model, key), "no ticket is open; t opens one", "{key}");
    }
    let mut model = with_running();
    assert!(told(&mut model, "r").contains("nothing to retry"));
    assert_eq!(told(&mut model, "c"), "the circuit breaker is closed and at zero");
    assert_eq!(told(&mut model, "]"), "only one ticket is open");
    assert_eq!(told(&mut model, "!"), "nothing is waiting for you");
    assert_eq!(told(&mut model, "z"), "z does nothing here; ? lists the keys");
    model.tabs[0] = sample::finished("tk-1");
    for key in "s r i x P".split(' ') {
        assert_eq!(told(&mut model, key), "the run of tk-1 has ended; p starts it again", "{key}");
    }
    assert_eq!(told(&mut model, "p"), "tk-1 is complete");
    model.mode = crate::tui::model::Mode::Replay;
    assert_eq!(told(&mut model, "x"), "not available in a replay");
}
