//! What reaches the terminal, byte by byte: only sequences of a list, whatever Claude, tickets and files hold; no colour
//! where none is wanted.

use super::stage::{ROOMY, at_the_gate, gated_project, start, start_with, wait_at_the_gate};
use crate::project::Project;
use crate::terminal::Terminal;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// What the bytes of a terminal did.
#[derive(Default)]
struct Seen {
    /// Sequences and controls, spelt: `CSI ?[25]h`, `ESC c`, `control 07`.
    sequences: BTreeSet<String>,
    /// `m` with a colour in it.
    colours: BTreeSet<String>,
    text: String,
}

fn seen(raw: &[u8]) -> Seen {
    let (mut parser, mut seen) = (vte::Parser::new(), Seen::default());
    parser.advance(&mut seen, raw);
    seen
}

impl vte::Perform for Seen {
    fn print(&mut self, c: char) {
        self.text.push(c);
    }

    fn execute(&mut self, byte: u8) {
        self.sequences.insert(format!("control {byte:02x}"));
    }

    fn csi_dispatch(&mut self, params: &vte::Params, intermediates: &[u8], _: bool, action: char) {
        let marks = String::from_utf8_lossy(intermediates).into_owned();
        let numbers: Vec<u16> = params.iter().flatten().copied().collect();
        match (marks.as_str(), action) {
            ("", 'm') => {
                let colour = |n: &u16| matches!(n, 30..=38 | 40..=48 | 58 | 90..=97 | 100..=107);
                if numbers.iter().any(colour) {
                    self.colours.insert(format!("{numbers:?}"));
                }
                self.sequences.insert("CSI m".into());
            }
            // Places and amounts are any.
            ("", 'H' | 'A' | 'B' | 'C' | 'D' | 'G' | 'd') => {
                self.sequences.insert(format!("CSI {action}"));
            }
            _ => {
                self.sequences.insert(format!("CSI {marks}{numbers:?}{action}"));
            }
        }
    }

    fn esc_dispatch(&mut self, intermediates: &[u8], _: bool, byte: u8) {
        self.sequences.insert(format!("ESC {}{}", String::from_utf8_lossy(intermediates), byte as char));
    }

    fn osc_dispatch(&mut self, params: &[&[u8]], _: bool) {
        // A title of ours says how the runs stand.
        let ours =
            params.first() == Some(&&b"0"[..]) && params.last().is_some_and(|text| text.ends_with(b"programmator"));
        let told = if ours { &params[..1] } else { params };
        self.sequences.insert(format!("OSC {}", String::from_utf8_lossy(&told.join(&b';'))));
    }

    fn hook(&mut self, _: &vte::Params, _: &[u8], _: bool, action: char) {
        self.sequences.insert(format!("DCS {action}"));
    }
}

/// All that the program says to a terminal by itself: to take and return it, to name its window, to ask for its background,
/// to place and style text, to clear. Not what only somebody who looks away hears (the bell, OSC 9), and not what a key
/// asks for (the clipboard by OSC 52, the mouse).
const ALLOWED: [&str; 19] = [
    "CSI m", "CSI H", "CSI [2]J", "CSI ?[25]h", "CSI ?[25]l", "CSI ?[1049]h", "CSI ?[1049]l", "CSI ?[2004]h",
    "CSI ?[2004]l", "CSI ?[1004]h", "CSI ?[1004]l", "CSI ?[2026]h", "CSI ?[2026]l", "OSC 0", "OSC 11;?",
    "CSI [22, 2]t", "CSI [23, 2]t", "control 0a", "control 0d",
];

/// Sets the title, clears the screen, asks for the terminal's name, writes the clipboard, beeps, leaves the alternate
/// screen, turns text around: in 7 and in 8 bits. For YAML and JSON, as escapes.
const PAYLOAD: &str = concat!(
    r"A\u001b]0;pwned\u0007\u001b[2J\u001b[31m\u001b[6n\u001b]52;c;cHduZWQ=\u0007\u001bPq#0\u001b\\",
    r"\u001bc\u0007\u0008\u001b[?1049l\u009b31m\u009d0;pwned\u009c\u0090q\u009c\u202e\u2066\u200b\u000d\u007fZ",
);

/// The payload as characters.
fn payload() -> String {
    serde_json::from_str(&format!("\"{PAYLOAD}\"")).unwrap()
}

fn assert_allowed(terminal: &Terminal) {
    let seen = seen(&terminal.raw());
    let other: Vec<&String> = seen.sequences.iter().filter(|one| !ALLOWED.contains(&one.as_str())).collect();
    assert_eq!(other, Vec::<&String>::new(), "sequences that nothing of ours writes");
    let hidden = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
    };
    let hidden: BTreeSet<u32> = seen.text.chars().filter(|c| hidden(*c)).map(u32::from).collect();
    assert_eq!(hidden, BTreeSet::new(), "characters that nobody sees");
}

#[test]
fn nothing_but_our_own_sequences_reaches_the_terminal() {
    let project = Project::new();
    let bad = payload();
    // As YAML: every character by its number.
    let quoted =
        |text: &str| text.chars().fold(String::from("\""), |all, c| format!("{all}\\U{:08x}", u32::from(c))) + "\"";
    let line = bad.replace('\r', "");
    project.write(
        "work/.tickets/tk-1.md",
        &format!(
            "---\nid: tk-1\nstatus: open\ntitle: {}\n---\n# Title {line}\n\n## Design\n\n- [ ] Phase {line}\n  - [ ] task {line}\n- [ ] Last\n\n\
             ## Validation Commands\n\n- `printf 'checked {line}'; test -e fixed`\n",
            quoted(&bad)
        ),
    );
    project.write("work/.tickets/tk-2.md", &format!("---\nid: {0}\nstatus: open\n---\n# Other {line}\n", quoted(&bad)));
    let raw = |record: &str| format!("      - raw: {}\n", quoted(&format!("{record}\n")));
    let mut steps = String::new();
    for step in ["say", "think", "stderr", "surrogate", "bash", "read"] {
        let _ = writeln!(steps, "      - {step}: \"{step} {PAYLOAD}\"");
    }
    let _ = write!(
        steps,
        "      - drip: {{text: \"{PAYLOAD}\", every_ms: 0}}
      - write: {{path: \"made{PAYLOAD}.txt\", content: \"old {PAYLOAD}\"}}
      - edit: {{path: \"made{PAYLOAD}.txt\", old: \"old\", new: \"new {PAYLOAD}\"}}
      - bash: \"printf '\\\\033]0;x\\\\007\\\\033[2J\\\\233\\\\377'; cat made*\"
      - bash: \"printf '\\\\033[31mred'; exit 3\"
      - api_retry: {{error: \"overloaded {PAYLOAD}\", delay_ms: 1}}
      - rate_limit_event: {{status: \"allowed_warning\", kind: \"{PAYLOAD}\"}}
"
    );
    steps += &raw(&format!(r#"{{"type":"unheard of {PAYLOAD}","text":"{PAYLOAD}"}}"#));
    steps += &raw(&format!(r#"{{"type":"system","subtype":"{PAYLOAD}","session_id":"{PAYLOAD}"}}"#));
    steps += &raw(&format!(
        r#"{{"type":"system","subtype":"init","session_id":"00000000-0000-4000-8000-000000000000","model":"m{PAYLOAD}","cwd":"{PAYLOAD}","tools":[],"claude_code_version":"{PAYLOAD}"}}"#
    ));
    steps += &raw(&format!(
        r#"{{"type":"assistant","message":{{"role":"assistant","model":"{PAYLOAD}","content":[{{"type":"text","text":"raw {PAYLOAD}"}},{{"type":"tool_use","id":"{PAYLOAD}","name":"Tool{PAYLOAD}","input":{{"x{PAYLOAD}":"{PAYLOAD}"}}}}]}}}}"#
    ));
    steps += &raw(&bad);
    steps += "      - raw_hex: \"1b5d303b78071b5b324a9b33316dff0a\"\n";
    let scenario = format!(
        "turns:
  - times: 1
    when: {{phase: Phase}}
    steps:
{steps}      - status: {{phase: \"Phase {PAYLOAD}\", summary: \"sum {PAYLOAD}\", files: [\"f {PAYLOAD}\"], error: \"err {PAYLOAD}\"}}
  - times: 1
    when: {{phase: Phase}}
    steps:
      - api_error: {{status: 529, kind: \"server {PAYLOAD}\", text: \"fail {PAYLOAD}\"}}
  - when: {{phase: \"\"}}
    steps:
      - bash: \"touch fixed\"
      - status: {{status: BLOCKED, error: \"blocked {PAYLOAD}\"}}
"
    );
    project.scenario(&scenario);
    let mut terminal = start(&project, &["tk-1"], ROOMY);
    terminal.wait_for("run ended: ");
    let kinds: Vec<String> =
        project.journal().iter().map(|record| record["kind"].as_str().unwrap().to_owned()).collect();
    for kind in
        ["tool_judged", "tool_finished", "api_retried", "claim_made", "validation_ran", "phase_disputed", "turn_failed"]
    {
        assert!(kinds.iter().any(|one| one == kind), "{kind} is missing: {kinds:?}");
    }
    // Every line of every pane is drawn once: the stream from its top, the log, the tree, the help.
    terminal.keys("g");
    for _ in 0..8 {
        terminal.keys("\x1b[6~");
    }
    terminal.keys_until("\t\tg\t?", "/ filters");
    terminal.keys("\x1b");
    terminal.wait_until("no help", |screen| !screen.contains("/ filters"));
    terminal.keys("\x0c");
    assert!(seen(&terminal.raw()).text.contains("pwned"), "the payloads' words are shown, as words");
    terminal.keys("q");
    terminal.wait_end();
    assert_allowed(&terminal);
}

#[test]
fn the_reader_of_sequences_sees_what_is_not_allowed() {
    let seen = seen(payload().as_bytes());
    for bad in
        ["OSC 0;pwned", "OSC 52;c;cHduZWQ=", "CSI [2]J", "CSI [6]n", "DCS q", "ESC c", "control 07", "control 08"]
    {
        assert!(seen.sequences.contains(bad), "{bad} is missing: {:?}", seen.sequences);
    }
    assert_eq!(seen.colours.len(), 1);
}

#[test]
fn no_color_is_heard() {
    let run = |more: &[(&str, &str)]| {
        let project = gated_project(&["Alpha", "Beta"]);
        project.open_gate("alpha");
        project.open_gate("beta");
        let mut terminal = start_with(&project, &["tk-1"], ROOMY, more);
        terminal.wait_for("complete: 2/2 phases");
        terminal.keys_until("?", "/ filters");
        terminal.keys("\x1b");
        terminal.wait_until("no help", |screen| !screen.contains("/ filters"));
        terminal.keys("q");
        terminal.wait_end();
        seen(&terminal.raw()).colours
    };
    assert_eq!(run(&[("NO_COLOR", "1")]), BTreeSet::new());
    assert!(!run(&[]).is_empty(), "without it there are colours");
}

/// Where the person wants it, the terminal is told how far the runs are, and of nothing any more in the end.
#[test]
fn a_terminal_that_shows_progress_is_told_of_it() {
    for wants in [true, false] {
        let project = gated_project(&["Alpha", "Beta"]);
        project.write(
            "config/config.yaml",
            &format!("{}screen:\n  progress: {wants}\n", project.read("config/config.yaml")),
        );
        let mut terminal = at_the_gate(&project, "Alpha");
        project.open_gate("alpha");
        wait_at_the_gate(&terminal, "Beta");
        terminal.keys_until("q", "stop now");
        terminal.keys("s");
        terminal.wait_end();
        let raw = terminal.raw();
        let told: Vec<String> = String::from_utf8_lossy(&raw)
            .split("\x1b]9;4;")
            .skip(1)
            .map(|rest| rest.split('\x07').next().expect("an end").to_owned())
            .collect();
        let mut share: Vec<&str> = told.iter().map(String::as_str).filter(|told| told.starts_with("1;")).collect();
        // A frame between a ticket's opening and its run may have none.
        share.dedup();
        let (expected, last): (&[&str], _) = if wants { (&["1;0", "1;50"], Some("0;0")) } else { (&[], None) };
        assert_eq!((&share[..], told.last().map(String::as_str)), (expected, last), "{told:?}");
    }
}
