//! Output shapes: flat object, CLI object, array, text; what is missing, odd or broken in them.

use programmator::domain::analysis::shape::{Output, Shape, read, status};
use programmator::domain::analysis::words::{completes, nothing_left, question, tests_only};
use programmator::domain::analysis::{Before, read as analyse};
use programmator::domain::claim::parse::{Reason, parse};
use programmator::domain::claim::{ClaimStatus, Source, TestsStatus, WorkType};

/// A name, an output, and what must hold of it.
type Row = (&'static str, &'static str, fn(&Output) -> bool);

const BLOCK: &str = "Done.\\n\\n---RALPH_STATUS---\\nSTATUS: COMPLETE\\nEXIT_SIGNAL: true\\n---END_RALPH_STATUS---";

#[test]
fn which_shape() {
    let cases = [
        ("a flat object", r#"{"status":"IN_PROGRESS","exit_signal":false}"#, Shape::Flat),
        ("the CLI's object", r#"{"result":"x","sessionId":"s"}"#, Shape::Cli),
        ("the CLI's object by its type", r#"{"type":"result","is_error":true}"#, Shape::Cli),
        ("an array", r#"[{"type":"system"},{"type":"result","result":"x"}]"#, Shape::Frames),
        ("an empty array", "[]", Shape::Frames),
        ("records, one to a line", "{\"type\":\"system\"}\n{\"type\":\"result\",\"result\":\"x\"}\n", Shape::Frames),
        ("with blanks around it", "\n  {\"result\":\"x\"}\n", Shape::Cli),
        ("text", "All done.", Shape::Text),
        ("nothing", "", Shape::Text),
        ("blanks", " \n\t", Shape::Text),
        ("a broken object", r#"{"status":"COMPLETE""#, Shape::Text),
        ("a broken array", r#"[{"type":"result""#, Shape::Text),
        ("an object with words behind it", r#"{"a":1} and so on"#, Shape::Text),
        ("words before an object", r#"Here: {"status":"COMPLETE"}"#, Shape::Text),
        ("a number", "42", Shape::Text),
        ("a list of numbers", "[1, 2]", Shape::Frames),
        ("bytes that are no text", "\u{0}\u{1}\u{fffd}", Shape::Text),
    ];
    for (name, text, shape) in cases {
        assert_eq!(read(text).shape, shape, "{name}");
    }
}

#[test]
fn fields_of_the_flat_object() {
    let whole = read(
        r#"{"status":"COMPLETE","exit_signal":true,"work_type":"TEST_ONLY","files_modified":5,"error_count":2,
            "summary":"did it","confidence":80,"loop_number":3,"session_id":"s1"}"#,
    );
    let expected = Output {
        shape: Shape::Flat,
        text: "did it".into(),
        status: Some(ClaimStatus::Done),
        exit_signal: Some(true),
        work_type: Some(WorkType::Testing),
        files_modified: 5,
        error_count: 2,
        confidence: Some(80),
        loop_number: Some(3),
        session: Some("s1".into()),
        ..Output::default()
    };
    assert_eq!(whole, expected);
    let cases: [Row; 14] = [
        ("an empty object", "{}", |o| *o == Output { shape: Shape::Flat, ..Output::default() }),
        ("no status", r#"{"exit_signal":true}"#, |o| o.status.is_none() && o.exit_signal == Some(true)),
        ("no exit signal", r#"{"status":"COMPLETE"}"#, |o| o.exit_signal.is_none()),
        ("the signal as a word", r#"{"exit_signal":"true"}"#, |o| o.exit_signal == Some(true)),
        ("the signal as another word", r#"{"exit_signal":"later"}"#, |o| o.exit_signal.is_none()),
        ("null everywhere", r#"{"status":null,"exit_signal":null,"files_modified":null}"#, |o| o.files_modified == 0),
        ("files as a number in quotes", r#"{"files_modified":"4"}"#, |o| o.files_modified == 4),
        ("files as a list", r#"{"files_modified":["a","b"]}"#, |o| o.files_modified == 2),
        ("a negative count", r#"{"files_modified":-3}"#, |o| o.files_modified == 0),
        ("a count that is no number", r#"{"error_count":"many"}"#, |o| o.error_count == 0),
        ("errors without a count", r#"{"has_errors":true}"#, |o| o.error_count == 1),
        ("errors with a count", r#"{"has_errors":true,"error_count":7}"#, |o| o.error_count == 7),
        ("an unknown status", r#"{"status":"PERHAPS"}"#, |o| o.status.is_none()),
        ("an unknown key", r#"{"colour":"red","status":"BLOCKED"}"#, |o| o.status == Some(ClaimStatus::Blocked)),
    ];
    for (name, text, holds) in cases {
        assert!(holds(&read(text)), "{name}: {:?}", read(text));
    }
}

#[test]
fn fields_of_the_clis_object() {
    let whole = read(
        r#"{"type":"result","result":"words","sessionId":"s1","is_error":false,
            "metadata":{"files_changed":3,"has_errors":true,"completion_status":"complete","loop_number":4,
            "progress_indicators":["a","b"]},
            "permission_denials":[{"tool_name":"Bash","tool_use_id":"t1","tool_input":{"command":"npm i"}}]}"#,
    );
    assert_eq!((whole.text.as_str(), whole.session.as_deref()), ("words", Some("s1")));
    assert_eq!((whole.files_modified, whole.error_count, whole.indicators, whole.loop_number), (3, 1, 2, Some(4)));
    assert_eq!((whole.status, whole.has_result, whole.is_error), (Some(ClaimStatus::Done), true, false));
    assert_eq!((whole.denials[0].shown().as_ref(), whole.denials[0].tool_use_id.as_str()), ("Bash(npm i)", "t1"));
    let cases: [Row; 12] = [
        ("without metadata", r#"{"result":"x"}"#, |o| o.text == "x" && o.files_modified == 0),
        ("session_id", r#"{"result":"x","session_id":"s2"}"#, |o| o.session.as_deref() == Some("s2")),
        ("a session in the metadata", r#"{"result":"x","metadata":{"session_id":"s3"}}"#, |o| {
            o.session.as_deref() == Some("s3")
        }),
        ("an empty session", r#"{"result":"x","session_id":""}"#, |o| o.session.is_none()),
        ("a result of null", r#"{"result":null,"is_error":true}"#, |o| o.is_error && !o.has_result),
        ("a result that is an object", r#"{"result":{"a":1}}"#, |o| o.text.is_empty()),
        ("an error with exit code 0", r#"{"subtype":"success","result":"API Error","is_error":true}"#, |o| o.is_error),
        ("metadata that is a list", r#"{"result":"x","metadata":[]}"#, |o| o.indicators == 0),
        ("denials of another type", r#"{"result":"x","permission_denials":"none"}"#, |o| o.denials.is_empty()),
        ("no denials", r#"{"result":"x","permission_denials":[]}"#, |o| o.denials.is_empty()),
        (
            "several denials",
            r#"{"result":"x","permission_denials":[{"tool_name":"Bash"},{"tool_name":"Write"},7]}"#,
            |o| o.denials.len() == 2,
        ),
        ("a denial without a name", r#"{"result":"x","permission_denials":[{}]}"#, |o| {
            o.denials[0].shown() == "unknown"
        }),
    ];
    for (name, text, holds) in cases {
        assert!(holds(&read(text)), "{name}: {:?}", read(text));
    }
}

#[test]
fn frames_of_an_array() {
    let init = r#"{"type":"system","subtype":"init","session_id":"of-init"}"#;
    let said =
        |text: &str| format!(r#"{{"type":"assistant","message":{{"content":[{{"type":"text","text":"{text}"}}]}}}}"#);
    let result = |text: &str| format!(r#"{{"type":"result","result":"{text}"}}"#);
    let array = |frames: &[&str]| format!("[{}]", frames.join(","));
    let cases = [
        ("the result speaks", array(&[init, &said("a"), &result("b")]), ("b", Some("of-init"))),
        ("the last of two results", array(&[&result("a"), &result("b")]), ("b", None)),
        (
            "its own session first",
            array(&[init, r#"{"type":"result","result":"x","session_id":"own"}"#]),
            ("x", Some("own")),
        ),
        ("no result yet", array(&[init, &said("so"), &said("far")]), ("so\nfar", Some("of-init"))),
        (
            "a subagent's words",
            array(&[
                r#"{"type":"assistant","parent_tool_use_id":"t","message":{"content":[{"type":"text","text":"no"}]}}"#,
            ]),
            ("", None),
        ),
        ("nothing", array(&[]), ("", None)),
        ("frames that are none", "[1,null,\"x\"]".to_owned(), ("", None)),
        ("a line that was cut", format!("{init}\n{{\"type\":\"assis\n{}\n", result("end")), ("end", Some("of-init"))),
    ];
    for (name, text, (words, session)) in cases {
        let output = read(&text);
        assert_eq!((output.text.as_str(), output.session.as_deref()), (words, session), "{name}");
    }
}

#[test]
fn what_the_structure_says_of_the_work() {
    // Exit signal, done, tests only, stuck, confidence.
    let cases = [
        (
            "an explicit signal beats the status",
            r#"{"status":"COMPLETE","exit_signal":false}"#.to_owned(),
            (Some(false), false, false, false, 50),
        ),
        ("COMPLETE alone is done", r#"{"status":"COMPLETE"}"#.to_owned(), (None, true, false, false, 100)),
        (
            "a signal is certain",
            r#"{"status":"IN_PROGRESS","exit_signal":true}"#.to_owned(),
            (Some(true), false, false, false, 100),
        ),
        (
            "stated confidence",
            r#"{"status":"IN_PROGRESS","confidence":30}"#.to_owned(),
            (None, false, false, false, 80),
        ),
        ("never above 100", r#"{"status":"IN_PROGRESS","confidence":90}"#.to_owned(), (None, false, false, false, 100)),
        (
            "tests only",
            r#"{"status":"IN_PROGRESS","work_type":"TEST_ONLY"}"#.to_owned(),
            (None, false, true, false, 50),
        ),
        ("five errors are not stuck", r#"{"error_count":5}"#.to_owned(), (None, false, false, false, 50)),
        ("six are", r#"{"error_count":6}"#.to_owned(), (None, false, false, true, 50)),
        ("a result", r#"{"result":"x"}"#.to_owned(), (None, false, false, false, 70)),
        (
            "a result and two indicators",
            r#"{"result":"x","metadata":{"progress_indicators":[1,2]}}"#.to_owned(),
            (None, false, false, false, 80),
        ),
        (
            "complete in the metadata",
            r#"{"result":"x","metadata":{"completion_status":"complete"}}"#.to_owned(),
            (None, true, false, false, 100),
        ),
        ("a block in the result", format!(r#"{{"result":"{BLOCK}"}}"#), (Some(true), true, false, false, 100)),
        (
            "a block in the array's result",
            format!(r#"[{{"type":"result","result":"{BLOCK}"}}]"#),
            (Some(true), true, false, false, 100),
        ),
        (
            "a YAML block in the result",
            r#"{"result":"x\nRALPH_STATUS:\n  STATUS: IN_PROGRESS\n  EXIT_SIGNAL: false\n"}"#.to_owned(),
            (Some(false), false, false, false, 70),
        ),
        (
            "words of completion in JSON are none",
            r#"{"result":"All tasks are complete. Done. Nothing to do."}"#.to_owned(),
            (None, false, false, false, 70),
        ),
        (
            "words of completion in text are too little",
            "All tasks are complete, nothing to do.".to_owned(),
            (None, false, false, false, 25),
        ),
        ("text that says nothing", "Hm.".to_owned(), (None, false, false, false, 0)),
    ];
    for (name, text, expected) in cases {
        let (_, said) = analyse(1, &text, &Before::default());
        let found = (said.exit_signal, said.done, said.tests_only, said.stuck, said.confidence);
        assert_eq!(found, expected, "{name}");
    }
    let before = Before { files_changed: 2, length: Some(1_000), ..Before::default() };
    let (_, said) = analyse(1, "Complete; nothing to do.", &before);
    assert_eq!((said.confidence, said.done), (55, false), "all signs of text together are not enough");
}

#[test]
fn blocks_in_both_spellings_and_what_is_none() {
    let yaml = |name: &str| format!("Words.\n\n{name}:\n  STATUS: IN_PROGRESS\n  EXIT_SIGNAL: true\n");
    let ruled = |name: &str| format!("---{name}---\nSTATUS: IN_PROGRESS\nEXIT_SIGNAL: true\n---END_{name}---\n");
    let cases = [
        ("RALPH in rules", ruled("RALPH_STATUS"), true),
        ("HANK in rules", ruled("HANK_STATUS"), true),
        ("RALPH in YAML", yaml("RALPH_STATUS"), true),
        ("HANK in YAML", yaml("HANK_STATUS"), true),
        ("in a fence", format!("```\n{}```\n", ruled("RALPH_STATUS")), true),
        ("YAML in a fence", format!("```yaml\n{}```\n", yaml("RALPH_STATUS")), true),
        ("indented", ruled("RALPH_STATUS").replace('\n', "\n  ").replacen("---", "  ---", 1), true),
        ("YAML, indented", yaml("HANK_STATUS").replace('\n', "\n    "), true),
        ("CRLF", ruled("RALPH_STATUS").replace('\n', "\r\n"), true),
        ("without its end", "---RALPH_STATUS---\nSTATUS: COMPLETE\nEXIT_SIGNAL: true\n".to_owned(), true),
        ("words behind it", format!("{}\nBye.", ruled("HANK_STATUS")), true),
        ("a mention in a sentence", "I end with RALPH_STATUS: STATUS COMPLETE, EXIT_SIGNAL: true.\n".to_owned(), false),
        ("a mention of the rule", "The ---RALPH_STATUS--- block comes last.\n".to_owned(), false),
        ("a quote", "> RALPH_STATUS:\n>   STATUS: COMPLETE\n>   EXIT_SIGNAL: true\n".to_owned(), false),
        ("another name", yaml("MY_RALPH_STATUS"), false),
        ("a name that goes on", yaml("RALPH_STATUS_OLD"), false),
        ("lower case", yaml("ralph_status"), false),
        ("only the end", "---END_RALPH_STATUS---\nSTATUS: COMPLETE\n".to_owned(), false),
        ("the template", "---RALPH_STATUS---\nSTATUS: IN_PROGRESS | COMPLETE | BLOCKED\nEXIT_SIGNAL: false | true\n---END_RALPH_STATUS---\n".to_owned(), false),
    ];
    for (name, text, found) in cases {
        let reading = parse(&text);
        assert_eq!(reading.found, found, "{name}");
        assert_eq!(reading.claim.is_some_and(|claim| claim.signals.exit_signal == Some(true)), found, "{name}");
    }
}

#[test]
fn fields_of_hanks_block() {
    let text = "---RALPH_STATUS---\nSTATUS: BLOCKED\nTASKS_COMPLETED_THIS_LOOP: 2\nFILES_MODIFIED: 5\nTESTS_STATUS: NOT_RUN\nWORK_TYPE: DEBUGGING\nEXIT_SIGNAL: false\nRECOMMENDATION: ask for\n the key\n---END_RALPH_STATUS---\n";
    let reading = parse(text);
    assert_eq!(reading.warnings, Vec::<String>::new(), "capitals are its own way");
    let claim = reading.claim.unwrap();
    assert_eq!((claim.status, claim.source), (ClaimStatus::Blocked, Source::Hank));
    let signals = claim.signals;
    assert_eq!((signals.tasks_completed, signals.files_modified), (Some(2), Some(5)));
    assert_eq!((signals.tests_status, signals.work_type), (Some(TestsStatus::NotRun), Some(WorkType::Debugging)));
    assert_eq!(claim.error.as_deref(), Some("ask for the key"), "what it recommends is why it is blocked");
    let odd = parse("RALPH_STATUS:\n  STATUS: COMPLETE\n  FILES_MODIFIED: [a.rs, b.rs]\n  WORK_TYPE: SLEEPING\n");
    assert_eq!(odd.warnings, ["unreadable_key:work_type"]);
    assert_eq!(odd.claim.unwrap().files_changed, ["a.rs", "b.rs"]);
    for (text, reason) in [
        ("RALPH_STATUS:\n  EXIT_SIGNAL: true\n", "missing_status"),
        ("RALPH_STATUS:\n  STATUS: SOON\n", "unknown_status"),
        ("RALPH_STATUS:\n  STATUS: COMP", "truncated"),
        ("---RALPH_STATUS---\nSTATUS: COMP", "truncated"),
        ("PROGRAMMATOR_STATUS:\n  status: COMPLETE\n", "unknown_status"),
    ] {
        assert_eq!(parse(text).reason.map(Reason::word), Some(reason), "{text}");
    }
}

#[test]
fn several_blocks_and_signs_that_disagree() {
    let ours =
        "PROGRAMMATOR_STATUS:\n  phase_completed: null\n  status: CONTINUE\n  files_changed: []\n  summary: s\n\n";
    let hanks =
        |exit: &str| format!("---HANK_STATUS---\nSTATUS: COMPLETE\nEXIT_SIGNAL: {exit}\n---END_HANK_STATUS---\n\n");
    // Status, exit signal.
    let cases = [
        ("the last of two", hanks("true") + &hanks("false"), (ClaimStatus::Done, Some(false))),
        (
            "ours has the status, Hank's the signal",
            format!("{ours}{}", hanks("false")),
            (ClaimStatus::Continue, Some(false)),
        ),
        ("in either order", format!("{}{ours}", hanks("true")), (ClaimStatus::Continue, Some(true))),
        (
            "our own signal comes first",
            format!("{}  exit_signal: false\n\n{}", ours.trim_end().to_owned() + "\n", hanks("true")),
            (ClaimStatus::Continue, Some(false)),
        ),
        (
            "Ralph's behind Hank's",
            format!("{}RALPH_STATUS:\n  STATUS: IN_PROGRESS\n", hanks("true")),
            (ClaimStatus::Continue, None),
        ),
        ("in Unicode", format!("äöü 日本 🎉\n\n{}", hanks("true")), (ClaimStatus::Done, Some(true))),
        (
            "among bytes that are no text",
            format!("\u{0}\u{7}\u{fffd}\n{}", hanks("true")),
            (ClaimStatus::Done, Some(true)),
        ),
        (
            "behind a huge text",
            format!("{}\n{}", "word ".repeat(400_000), hanks("true")),
            (ClaimStatus::Done, Some(true)),
        ),
    ];
    for (name, text, expected) in cases {
        let claim = parse(&text).claim.unwrap_or_else(|| panic!("{name}"));
        assert_eq!((claim.status, claim.signals.exit_signal), expected, "{name}");
    }
    let broken = format!("{}PROGRAMMATOR_STATUS:\n  status: MAYBE\n", hanks("true"));
    assert!(parse(&broken).claim.is_none(), "a broken block of ours is asked for again, not replaced");
}

#[test]
fn the_status_of_any_shape() {
    let ours = r"PROGRAMMATOR_STATUS:\n  phase_completed: null\n  status: DONE\n  files_changed: []\n  summary: s\n";
    let cases = [
        ("in the CLI's result", format!(r#"{{"result":"{ours}"}}"#), Some("DONE")),
        ("in the array's result", format!(r#"[{{"type":"result","result":"{ours}"}}]"#), Some("DONE")),
        (
            "in lines of records",
            format!("{{\"type\":\"system\"}}\n{{\"type\":\"result\",\"result\":\"{ours}\"}}\n"),
            Some("DONE"),
        ),
        ("a flat object", r#"{"status":"IN_PROGRESS","exit_signal":false}"#.to_owned(), Some("CONTINUE")),
        ("a flat object without a status", r#"{"exit_signal":false}"#.to_owned(), None),
        ("some other object", r#"{"status":"DONE"}"#.to_owned(), None),
        ("a result without a block", r#"{"result":"done"}"#.to_owned(), None),
    ];
    for (name, text, expected) in cases {
        assert_eq!(status(&text).claim.map(|claim| claim.status.word()), expected, "{name}");
    }
}

#[test]
fn questions() {
    let asked = [
        "Should I use the file or the table?", "SHALL I go on?", "Do you want me to add tests?",
        "Would you like a summary?", "Which approach do we take?", "Please confirm the plan.",
        "Could you clarify the second point?", "I stopped here; please let me know.",
        "I am waiting for your decision.", "Before I proceed, one thing.", "Is that okay?", "How would you like it?",
        "May\nI delete it?",
    ];
    for text in asked {
        assert!(question(text).is_some(), "{text}");
    }
    let not_asked = [
        "I looked whether it should increase.", "The shallow copy is gone.", "Added the question mark.",
        "```\nShould I?\n```\nDone.", "> Should I?\n\nYes, it said, and I did.",
        "The function `may_increment` is new.", "Mayi is a name.", "",
    ];
    for text in not_asked {
        assert_eq!(question(text), None, "{text}");
    }
    assert!(question("```\nan open fence\nShould I go on?").is_some(), "a forgotten fence hides nothing");
}

#[test]
fn words() {
    let cases = [
        ("completion", completes("The work is Finished."), true),
        ("no completion in a longer word", completes("It is incomplete and undone."), false),
        ("nothing to do", nothing_left("There was nothing to do."), true),
        ("something to do", nothing_left("There was something to do."), false),
        ("tests only", tests_only("Ran cargo test, all green."), true),
        ("tests and work", tests_only("Implemented the parser, then ran cargo test."), false),
        ("work only", tests_only("Fixed the parser."), false),
        ("neither", tests_only("Looked around."), false),
    ];
    for (name, found, expected) in cases {
        assert_eq!(found, expected, "{name}");
    }
}
