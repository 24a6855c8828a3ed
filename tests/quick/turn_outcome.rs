//! How a turn ended, by what the real CLI was seen to print: a named row for each row of the measured table of
//! results, exit codes and signals. The results are recorded ones where there is a recording.

use programmator::domain::outcome::IterationOutcome;
use programmator::domain::stream::envelope::{Envelope, Kind, decode};
use programmator::domain::stream::turn::TurnReader;
use programmator::domain::turn::TurnResult;
use programmator::orchestrator::turn_outcome::{Ending, Exit, TurnOutcome, turn_outcome};
use std::path::Path;

/// Where a row's result comes from.
enum From {
    /// The last `result` of a recording.
    Recorded(&'static str),
    Lines(&'static str),
    /// None came.
    Nothing,
}
use From::{Lines, Nothing, Recorded};

/// What is expected: the kind of ending, and of a failure its error, its status and a part of its message.
#[derive(Debug, PartialEq)]
enum Expected {
    Answered,
    Unknown,
    Failed(&'static str, Option<u16>, &'static str),
    Cut(IterationOutcome),
    Running,
}
use Expected::{Answered, Cut, Failed, Running, Unknown};

fn result(lines: &[u8]) -> Option<TurnResult> {
    let mut reader = TurnReader::default();
    let mut last = None;
    for line in lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let line = decode(line);
        let Some(envelope) = Envelope::parse(&line) else { continue };
        match envelope.kind() {
            Kind::Assistant => drop(reader.assistant(&envelope)),
            Kind::Result => last = Some(reader.finish(&envelope, &line)),
            _ => {}
        }
    }
    last
}

fn recorded(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/recorded/{name}.jsonl"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The process still runs.
const NO_EXIT: (Option<i32>, Option<i32>, &str) = (None, None, "no exit yet");

fn code(code: i32) -> (Option<i32>, Option<i32>, &'static str) {
    (Some(code), None, "")
}

fn signal(signal: i32) -> (Option<i32>, Option<i32>, &'static str) {
    (None, Some(signal), "")
}

fn said(words: &'static str) -> (Option<i32>, Option<i32>, &'static str) {
    (Some(1), None, words)
}

#[test]
#[allow(clippy::too_many_lines, reason = "a table")]
fn every_row_of_the_measured_table() {
    use IterationOutcome::{Idle, Interrupted, TimedOut};
    const EXITED: &str = "ended_without_result";
    const EXECUTION: &str = "error_during_execution";
    const HOOK: &str =
        r#"{"type":"result","subtype":"success","is_error":false,"result":"","terminal_reason":"hook_stopped"}"#;
    const COMMAND: &str =
        r#"{"type":"result","subtype":"success","is_error":false,"result":"Unknown command: /nosuchcommand"}"#;
    let rows = [
        ("ok", Recorded("01_plain"), code(0), None, Answered),
        ("ok, and the process still runs", Recorded("01_plain"), NO_EXIT, None, Answered),
        ("ok after a retry", Recorded("06g_drop_before_once"), code(0), None, Answered),
        ("ok, but empty", Recorded("08e_empty"), code(0), None, Answered),
        ("ok, and ended by us after the grace", Recorded("01_plain"), signal(9), None, Answered),
        ("API error 429", Recorded("06b_429_forever_max2"), code(1), None, Failed("rate_limit", Some(429), "429")),
        (
            "429 with a long retry-after",
            Recorded("13c_429_retryafter_3600"),
            code(1),
            None,
            Failed("rate_limit", Some(429), ""),
        ),
        (
            "API error 529",
            Recorded("06d2_529_forever_max2"),
            code(1),
            None,
            Failed("server_error", Some(529), "Overloaded"),
        ),
        ("API error 403", Recorded("06j_403"), code(1), None, Failed("authentication_failed", Some(403), "403")),
        ("API error 404", Recorded("06k_404_model"), code(1), None, Failed("model_not_found", Some(404), "")),
        (
            "API error 400, no credit",
            Recorded("06i_400_other"),
            code(1),
            None,
            Failed("billing_error", Some(400), "Credit"),
        ),
        (
            "API error without a connection",
            Recorded("06z2_connrefused_default"),
            code(1),
            None,
            Failed("server_error", None, "connect"),
        ),
        (
            "an API error whose exit code is 0",
            Recorded("06b_429_forever_max2"),
            code(0),
            None,
            Failed("rate_limit", Some(429), ""),
        ),
        ("prompt too long", Recorded("06h_400"), code(1), None, Failed("invalid_request", Some(400), "too long")),
        (
            "output over max_tokens",
            Recorded("08c_maxtokens_stop"),
            code(1),
            None,
            Failed("max_output_tokens", None, "64000"),
        ),
        ("refusal", Recorded("08d_refusal"), code(1), None, Failed("invalid_request", None, "Usage Policy")),
        (
            "max turns",
            Recorded("08a_maxturns"),
            code(1),
            None,
            Failed("error_max_turns", None, "maximum number of turns"),
        ),
        ("max budget", Recorded("08b_budget"), code(1), None, Failed("error_max_budget_usd", None, "maximum budget")),
        (
            "json schema never satisfied",
            Recorded("14c_schema_bad"),
            code(1),
            None,
            Failed("error_max_structured_output_retries", None, ""),
        ),
        ("SIGINT during a tool, by us", Recorded("09a_sigint_bash"), code(1), Some(Interrupted), Cut(Interrupted)),
        (
            "SIGINT during a tool, by somebody",
            Recorded("09a_sigint_bash"),
            code(1),
            None,
            Failed(EXECUTION, None, "ede_diagnostic"),
        ),
        ("SIGINT while the API streams, by us", Recorded("09f_sigint_api"), code(0), Some(Idle), Cut(Idle)),
        (
            "SIGINT while the API streams, by somebody",
            Recorded("09f_sigint_api"),
            code(0),
            None,
            Failed(EXECUTION, None, ""),
        ),
        ("SIGTERM, by us", Nothing, code(143), Some(TimedOut), Cut(TimedOut)),
        ("SIGTERM, by somebody", Nothing, code(143), None, Failed(EXITED, None, "exit code 143")),
        ("SIGHUP", Nothing, code(129), None, Failed(EXITED, None, "exit code 129")),
        ("SIGKILL", Nothing, signal(9), None, Failed(EXITED, None, "signal 9")),
        ("a result that was lost: exit 0 without one", Nothing, code(0), None, Failed(EXITED, None, "exit code 0")),
        ("resume of an unknown id", Recorded("07f_resume_unknown"), code(1), None, Unknown),
        ("hook continue:false", Lines(HOOK), code(0), None, Answered),
        ("hook defer", Recorded("h22_defer_default"), code(0), None, Answered),
        ("UserPromptSubmit blocked", Recorded("h32_ups_block"), code(0), None, Answered),
        ("unknown /command", Lines(COMMAND), code(0), None, Answered),
        ("bad flag", Nothing, said("error: unknown option '--nope'"), None, Failed(EXITED, None, "unknown option")),
        (
            "bad settings path",
            Nothing,
            said("Settings file not found: {bad json"),
            None,
            Failed(EXITED, None, "Settings file"),
        ),
        (
            "session id in use",
            Recorded("07e2_session_id_reuse"),
            said("Error: Session ID x is already in use."),
            None,
            Failed(EXITED, None, "already in use"),
        ),
        (
            "stdin line not JSON",
            Nothing,
            said("Error parsing streaming input line: x"),
            None,
            Failed(EXITED, None, "parsing streaming input"),
        ),
        ("nothing has happened yet", Nothing, NO_EXIT, None, Running),
        ("cut off, and not ended yet", Nothing, NO_EXIT, Some(Idle), Cut(Idle)),
    ];
    for (name, from, (code, signal, stderr), by_us, expected) in rows {
        let result = match from {
            Recorded(name) => result(&recorded(name)),
            Lines(lines) => result(lines.as_bytes()),
            Nothing => None,
        };
        let exit = Exit { code, signal, stderr };
        let exit = (stderr != NO_EXIT.2).then_some(exit);
        let outcome = turn_outcome(Ending { result: result.as_ref(), exit, by_us });
        let as_expected = match (&outcome, &expected) {
            (TurnOutcome::Answered, Answered)
            | (TurnOutcome::UnknownSession(_), Unknown)
            | (TurnOutcome::Running, Running) => true,
            (TurnOutcome::Cut(cut), Cut(expected)) => cut == expected,
            (TurnOutcome::Failed(failure), Failed(error, status, words)) => {
                (failure.error.as_str(), failure.status) == (*error, *status) && failure.message.contains(words)
            }
            _ => false,
        };
        assert!(as_expected, "{name}: {outcome:?}, not {expected:?}");
    }
}
