//! Whatever comes and however it is scrolled: no panic, no jump, no row lost.

use super::claim;
use super::pane::{Pane, call, failure, result, text, thinking, within};
use programmator::domain::record::{Level, Record};
use programmator::domain::scrollback::{Live, Scrollback};
use programmator::tui::panes::stream::StreamMsg;
use proptest::prelude::*;
use serde_json::json;

/// One thing that happens to a pane.
#[derive(Clone, Debug)]
enum Op {
    Push(u8),
    Live(String),
    Mark(u8),
    Iterate,
    Resize(u16, u16),
    Msg(u8),
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        6 => any::<u8>().prop_map(Op::Push),
        2 => "[a-z 日\n]{0,60}".prop_map(Op::Live),
        1 => any::<u8>().prop_map(Op::Mark),
        1 => Just(Op::Iterate),
        1 => (1_u16..90, 1_u16..12).prop_map(|(w, h)| Op::Resize(w, h)),
        5 => any::<u8>().prop_map(Op::Msg),
    ];
    proptest::collection::vec(op, 1..70)
}

impl Pane {
    fn n(&self) -> u32 {
        self.memory.iterations().last().copied().unwrap_or(1)
    }

    fn happen(&mut self, op: &Op) {
        let n = self.n();
        match op {
            Op::Push(kind) => {
                *self.memory.live.lock().unwrap() = Live::default();
                let i = self.memory.len(n);
                let id = format!("{n}-{}", i.saturating_sub(usize::from(kind % 3)));
                let record = match kind % 11 {
                    0 | 1 => call(&format!("{n}-{i}"), "Read", json!({"file_path": format!("f{i}")})),
                    2 => call(
                        &format!("{n}-{i}"),
                        "Edit",
                        json!({"file_path":"x","old_string":"a\nb\n","new_string":"a\nc\nd\n"}),
                    ),
                    3 => result(&id, "one\ntwo", json!({"stdout":"one\ntwo"})),
                    4 => failure(&id, "Exit code 1\nbad\nworse"),
                    5 => thinking("hmm\nand\nso\non\nand on"),
                    6 => within(text("sub"), "t"),
                    7 => json!({"type":"system","subtype":"api_retry","attempt":1}),
                    8 => json!({"type":"result","subtype":"success","result":"x"}),
                    9 => text(&format!("many words {i} ").repeat(usize::from(*kind) / 4 + 1)),
                    _ => text(&format!("words {i}")),
                };
                self.push(n, &record);
            }
            Op::Live(words) => self.memory.say(words),
            Op::Mark(kind) => {
                let record = match kind % 4 {
                    0 => Record::Noticed { level: Level::Info, text: "a notice".into() },
                    1 => Record::NoteGiven { id: "n".into(), text: "a note".into() },
                    2 => Record::ClaimMade { n, claim: claim("p"), about: None },
                    _ => Record::PhaseDisputed { n, phase: None, why: "no".into(), id: None },
                };
                self.record(0, record);
            }
            Op::Iterate => {
                self.start(n + 1, "next", None);
                self.push(n + 1, &text("begins"));
            }
            Op::Resize(width, height) => self.size = (*width, *height),
            Op::Msg(kind) => self.state.update(match kind % 14 {
                0 | 1 => StreamMsg::Lines(-1),
                2 => StreamMsg::Lines(i32::from(*kind) - 128),
                3 => StreamMsg::Page(-1),
                4 => StreamMsg::Page(1),
                5 => StreamMsg::Top,
                6 => StreamMsg::End,
                7 => StreamMsg::ToggleFold,
                8 => StreamMsg::Search("words".into()),
                9 => StreamMsg::NextHit,
                10 => StreamMsg::Card(-2),
                11 => StreamMsg::Card(1),
                12 => StreamMsg::Toggle,
                _ => StreamMsg::PrevHit,
            }),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_it_draws(ops in ops()) {
        let mut pane = Pane::new(40, 8);
        pane.start(1, "one", None);
        pane.push(1, &text("begins"));
        for op in &ops {
            pane.happen(op);
            let screen = pane.screen();
            prop_assert_eq!(screen.len(), usize::from(pane.size.1));
        }
    }

    #[test]
    fn a_scrolled_view_does_not_move_while_the_stream_grows(before in ops(), after in ops(), up in 1_i32..40) {
        let mut pane = Pane::new(40, 8);
        pane.start(1, "one", None);
        pane.push(1, &text("begins"));
        for op in before.iter().filter(|op| !matches!(op, Op::Msg(_))) {
            pane.happen(op);
            pane.prepare();
        }
        pane.size = (50, 7);
        *pane.memory.live.lock().unwrap() = Live::default();
        pane.prepare();
        pane.update(StreamMsg::Lines(-up));
        if pane.behind() {
            // What later records write into rows stands flush right; the left half is what must not move.
            let left = |pane: &mut Pane| -> Vec<String> {
                pane.screen().iter().map(|row| row.chars().take(20).collect::<String>().trim_end().to_owned()).collect()
            };
            let held = left(&mut pane);
            for op in after.iter().filter(|op| matches!(op, Op::Push(_) | Op::Live(_) | Op::Iterate)) {
                pane.happen(op);
                prop_assert_eq!(&left(&mut pane), &held, "{:?}", op);
            }
        }
    }

    #[test]
    fn every_row_is_reached_once_in_either_direction(ops in ops(), height in 1_u16..9) {
        let mut pane = Pane::new(40, 8);
        pane.start(1, "one", None);
        pane.push(1, &text("begins"));
        for op in ops.iter().filter(|op| !matches!(op, Op::Msg(_) | Op::Resize(..))) {
            pane.happen(op);
            pane.prepare();
        }
        // One tall window shows everything there is.
        pane.size = (40, 4_000);
        let mut all = pane.screen();
        while all.last().is_some_and(String::is_empty) {
            all.pop();
        }
        pane.size = (40, height);
        pane.update(StreamMsg::End);
        let down = pane.walk();
        let down: Vec<&String> = down.iter().take(all.len()).collect();
        prop_assert_eq!(down, all.iter().collect::<Vec<_>>());
        // And back up.
        pane.update(StreamMsg::End);
        let mut up: Vec<String> = pane.screen();
        for _ in 0..all.len() {
            pane.update(StreamMsg::Lines(-1));
            if !pane.behind() {
                break;
            }
            let first = pane.screen()[0].clone();
            up.insert(0, first);
            if up.len() >= all.len() {
                break;
            }
        }
        prop_assert_eq!(&up[..all.len().min(up.len())], &all[..all.len().min(up.len())]);
    }

    #[test]
    fn every_record_can_be_reached(count in 1_usize..120) {
        let mut pane = Pane::new(40, 7);
        pane.start(1, "one", None);
        for i in 0..count {
            let record = match i % 3 {
                0 => text(&format!("record-{i}-")),
                1 => call(&format!("t{i}"), "Read", json!({"file_path": format!("record-{i}-")})),
                _ => failure(&format!("t{}", i - 1), &format!("record-{i}-")),
            };
            pane.push(1, &record);
        }
        let all = pane.walk().join("\n");
        let reached = (0..count).filter(|i| all.contains(&format!("record-{i}-"))).count();
        prop_assert_eq!(reached, count);
    }
}
