//! Rows of our own for each rule of the tables, and what holds for any text.

use super::found::SHOWN_COLUMNS;
use super::*;
use proptest::prelude::*;

/// Every one of these is a report.
const REPORTS: &[(&str, &str)] = &[
    ("error", "error: linking failed"),
    ("error", "Error: cannot open the database"),
    ("error", "    Error: ENOSPC in the middle of things"),
    ("error", "Error: none of the inputs could be read"),
    ("error", "prog: error: the following arguments are required: name"),
    ("error", "Error (exit 2): boom"),
    ("error", "❌ Error: upload refused"),
    ("error", "│ Error: Invalid provider configuration"),
    ("error", "An unexpected error occurred while saving"),
    ("error", "Failed to load config from app.toml"),
    ("error", "Upload failed with error 7"),
    ("error", "10%\r50%\rerror: stream closed"),
    ("log", "ERROR:root:it broke"),
    ("log", "ERROR app.db: cannot connect"),
    ("log", "2026-01-02T03:04:05.678Z ERROR app::db: cannot connect"),
    ("log", "2026-01-02 03:04:05,678 - app - ERROR - cannot connect"),
    ("error", "[2026-01-02 03:04:05] error: cannot connect"),
    ("error", "Error: 接続できません"),
    ("log", "03:04:05 FATAL worker gone"),
    ("log", "[ERROR] something is wrong"),
    ("log", "host app[123]: error opening the socket"),
    ("log", "time=2026 level=error msg=boom"),
    ("log", "##[error]Process completed with exit code 1."),
    ("compiler", "error[E0308]: mismatched types"),
    ("compiler", "src/main.c:3: error: expected ';' before '}'"),
    ("compiler", "src/main.c:1:10: fatal error: missing.h: No such file or directory"),
    ("compiler", "C:\\src\\a.cpp(3): error C2065: 'x': undeclared identifier"),
    ("compiler", "src/a.ts:3:5 - error TS2345: Argument of type"),
    ("compiler", "error TS18003: No inputs were found"),
    ("compiler", "Main.java:3: error: ';' expected"),
    ("compiler", "  3:5  error  'x' is not defined  no-undef"),
    ("compiler", "./main.go:8:2: undefined: frob"),
    ("compiler", "PHP Fatal error:  Uncaught Error: x in /a.php:3"),
    ("linker", "main.o: undefined reference to `frob'"),
    ("linker", "/usr/bin/ld: cannot find -lfrob"),
    ("linker", "collect2: error: ld returned 1 exit status"),
    ("linker", "LINK : fatal error LNK1120: 1 unresolved externals"),
    ("panic", "thread 'main' panicked at src/main.rs:2:5:"),
    ("panic", "thread 'worker' (4711) panicked at src/main.rs:2:5:"),
    ("panic", "panic: runtime error: index out of range [5] with length 3"),
    ("exception", "Traceback (most recent call last):"),
    ("exception", "ValueError: invalid literal for int()"),
    ("exception", "sqlalchemy.exc.OperationalError: (sqlite3) no such table"),
    ("exception", "Exception in thread \"main\" java.lang.IllegalStateException"),
    ("exception", "Caused by: java.io.IOException: closed"),
    ("exception", "java.io.FileNotFoundException"),
    ("exception", "Unhandled exception. System.NullReferenceException: Object reference"),
    ("exception", "Uncaught TypeError: x is not a function"),
    ("exception", "TypeError [ERR_INVALID_ARG_TYPE]: The argument must be a string"),
    ("exception", "** (RuntimeError) boom"),
    ("exception", "a.rb:3:in `frob': undefined method (NoMethodError)"),
    ("crash", "Aborted (core dumped)"),
    ("crash", "./run.sh: line 3:  4711 Segmentation fault      ./prog"),
    ("crash", "==4711==ERROR: AddressSanitizer: heap-use-after-free"),
    ("crash", "terminate called after throwing an instance of 'std::bad_alloc'"),
    ("crash", "Killed"),
    ("git", "fatal: not a git repository (or any of the parent directories): .git"),
    ("git", " ! [rejected]        main -> main (fetch first)"),
    ("git", "CONFLICT (content): Merge conflict in src/a.rs"),
    ("package", "npm ERR! missing script: frob"),
    ("package", "npm error code E404"),
    ("package", "ERR_PNPM_NO_LOCKFILE  Cannot install"),
    ("package", "error Command failed with exit code 1."),
    ("package", "E: Unable to locate package frob"),
    ("build", "make: *** [Makefile:3: all] Error 2"),
    ("build", "make[1]: *** No rule to make target 'x'.  Stop."),
    ("build", "ninja: build stopped: subcommand failed."),
    ("build", "CMake Error at CMakeLists.txt:3 (find_package):"),
    ("build", "FAILURE: Build failed with an exception."),
    ("build", "BUILD FAILED in 3s"),
    ("build", "go: cannot find main module, but found .git/config"),
    ("build", "Found 2 errors in 1 file."),
    ("build", "1 error"),
    ("build", "✖ 3 problems (3 errors, 0 warnings)"),
    ("build", "ERROR in ./src/index.js"),
    ("shell", "bash: line 1: frob: command not found"),
    ("shell", "/bin/sh: 1: frob: not found"),
    ("shell", "zsh: command not found: frob"),
    ("shell", "ls: cannot access 'x': No such file or directory"),
    ("shell", "cat: x: Permission denied"),
    ("shell", "bash: syntax error near unexpected token `)'"),
    ("shell", "ENOENT: no such file or directory, open 'x'"),
    ("shell", "exit status 1"),
    ("shell", "Exit code 127"),
    ("shell", "Process exited with code 3"),
    ("test", "test parse::reads ... FAILED"),
    ("test", "--- FAIL: TestFrob (0.00s)"),
    ("test", "FAIL\texample.com/frob\t0.1s"),
    ("test", "FAILED tests/test_a.py::test_b - AssertionError"),
    ("test", "FAILED (failures=1)"),
    ("test", "E       assert 1 == 2"),
    ("test", "=== 1 failed, 3 passed in 0.12s ==="),
    ("test", "Tests:       2 failed, 3 passed, 5 total"),
    ("test", "5 examples, 1 failure"),
    ("test", "Tests run: 5, Failures: 1, Errors: 0, Skipped: 0"),
    ("test", "     Summary [   0.1s] 5 tests run: 4 passed, 1 failed, 0 skipped"),
    ("test", "not ok 3 - adds"),
    ("test", "1 failing"),
    ("http", "HTTP/1.1 503 Service Unavailable"),
    ("http", "HTTP 404 Not Found"),
    ("http", "500 Internal Server Error"),
    ("http", "curl: (7) Failed to connect to localhost port 80"),
    ("http", "Request failed with status code 502"),
    ("api", "API Error: 529 {\"type\":\"error\"}"),
    ("api", r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#),
    ("api", r#"{"type":"assistant","error":"rate_limit","message":{"content":[]}}"#),
    ("api", r#"{"type":"result","is_error":true,"result":"cut in the mid"#),
    ("result", r#"{"type":"result","subtype":"success","is_error":true,"result":"no"}"#),
    ("result", r#"[{"type":"system"},{"type":"result","is_error":true}]"#),
    ("json", r#"{"result":"x","metadata":{"has_errors":true}}"#),
    ("json", r#"{"status":"COMPLETE","error_count":2}"#),
    ("json", r#"{"level":"error","msg":"boom"}"#),
    ("json", r#"{"error":"half \ud83c emoji"}"#),
    ("json", "  \"is_error\": true,"),
    ("json", "{\n  \"ok\": 1,\n  \"errors\": [\n    \"x\"\n  ]\n}"),
];

/// None of these is.
const MENTIONS: &[&str] = &[
    "Error: None.",
    "Errors: 0",
    "error: \"\"",
    "error = none",
    "Error: no errors found",
    "error:",
    "Error:\n\nAll is well",
    "Error:\nNone",
    "0 errors, 0 warnings",
    "Found 0 errors.",
    "No errors occurred",
    "no Error occurred in the last run",
    "No exceptions were thrown.",
    "No exceptions",
    "with the exception of two",
    "test result: ok. 3 passed; 0 failed; 0 ignored",
    "5 examples, 0 failures",
    "Tests run: 5, Failures: 0, Errors: 0, Skipped: 0",
    "Tests:       5 passed, 5 total",
    "not ok 3 - later # TODO not there yet",
    "I fixed the error: the parser was off by one",
    "The test that failed with error 7 is fixed now",
    "If an Error occurred, retry.",
    "- Error: is now a proper type",
    "# Error: handling",
    "## Fatal errors",
    "Error handling",
    "Error codes and exceptions are documented",
    "> error: quoted from the ticket",
    "ParseException.java",
    "ParseException",
    "src/errors/FatalError.ts",
    "ParseException: raised when the input is bad",
    "} catch (Exception e) {",
    "throw new Exception(\"x\");",
    "raise ValueError('x')",
    "    except FatalError:",
    "import java.io.IOException;",
    "println!(\"Error occurred\");",
    "echo \"Error occurred\"",
    "$ grep -rn 'panic: ' src",
    "git log --grep 'error:'",
    "return Err(Error::new(\"failed with error\"));",
    "    \"fatal: not a git repository\" => Kind::Git,",
    "+    error: changed,",
    "src/a.rs:10:    error: String,",
    "https://example.com/docs/error:404",
    "See http://example.com/500 for the error",
    "warning: error: is not a level",
    "src/a.c:3:5: warning: error in macro",
    "[WARN] Error occurred, retrying",
    "2026-01-02T03:04:05Z INFO Error occurred: none of ours",
    "npm warn deprecated error@1.0.0",
    "note: run with `RUST_BACKTRACE=1`",
    "go: downloading example.com/errors v1.0.0",
    "HTTP/1.1 200 OK",
    "Exit code 0",
    "exit status 0",
    "2 errors fixed",
    "Fixed 3 failing tests; 10 passed",
    "modified:   src/error.rs",
    "-rw-r--r-- 1 me me 12 Jan  1 12:00 error.log",
    "error_rate=0.0 errors_total=0",
    "Compiling thiserror v2.0.0",
    "test errors::fatal ... ok",
    "PROGRAMMATOR_STATUS:\n  status: BLOCKED\n  error: \"fatal: no repository\"",
    "PROGRAMMATOR_STATUS:\nstatus: BLOCKED\nerror: no database",
    "PROGRAMMATOR_STATUS:\n  error: |\n    fatal: x\n\n    error: y\n",
    "---RALPH_STATUS---\nSTATUS: BLOCKED\nERROR: x\n---END_RALPH_STATUS---",
    r#"{"type":"result","subtype":"success","is_error":false,"result":"Error: quoted\nfatal: too"}"#,
    r#"{"type":"assistant","message":{"content":[{"type":"tool_use","input":{"error":"x"}}]}}"#,
    r#"{"type":"assistant","message":{"content":[{"type":"text","text":"error: x"}]}}"#,
    r#"{"type":"user","message":{"content":[{"type":"tool_result","is_error":false,"content":"error: x"}]}}"#,
    r#"{"is_error":false,"errors":[],"error":null,"error_count":0}"#,
    r#"{"type":"rate_limit_event","rate_limit_info":{"status":"rejected"}}"#,
    "  \"error\": null,",
    "  \"error_count\": 0",
    "\"is_error\": false",
];

#[test]
fn reports_are_found_and_named() {
    let wrong: Vec<String> = REPORTS
        .iter()
        .filter_map(|(kind, text)| {
            let found = read(text);
            let named = found.lines.first().map(|line| line.kind.word());
            (named != Some(kind)).then(|| format!("{kind}: {text:?} gave {found:?}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), REPORTS.len(), wrong.join("\n"));
}

#[test]
fn mentions_are_no_reports() {
    let wrong: Vec<String> = MENTIONS
        .iter()
        .map(|text| (text, read(text)))
        .filter(|(_, found)| found.is_error)
        .map(|(text, found)| format!("{text:?} gave {found:?}"))
        .collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), MENTIONS.len(), wrong.join("\n"));
}

#[test]
fn lines_are_numbered_and_safe_to_show() {
    let found = read("fine\n\x1b[31merror\x1b[0m: a\x1b]0;t\x07b\r\nPROGRAMMATOR_STATUS:\n  error: x\nerror: after\n");
    let said: Vec<(usize, &str)> = found.lines.iter().map(|line| (line.line, line.text.as_str())).collect();
    assert_eq!(said, [(2, "error: ab"), (5, "error: after")]);
    let behind = "PROGRAMMATOR_STATUS:\nstatus: DONE\nerror: x\n```\n\nerror: after\n";
    assert_eq!(read(behind).lines.iter().map(|line| line.line).collect::<Vec<_>>(), [6]);
    let json = read("x\n{\"type\":\"result\",\"is_error\":true,\"result\":\"no\\u001b[31m luck\"}\n");
    assert_eq!(json.lines, [ErrorLine { line: 2, kind: ErrorKind::Result, text: "no luck".to_owned() }]);
    let pretty = read("{\n \"a\": 1,\n \"is_error\": true\n}\n");
    assert_eq!(pretty.lines.iter().map(|line| line.line).collect::<Vec<_>>(), [3]);
}

#[test]
fn every_pattern_compiles() {
    assert!(lines::Rules::compiled().is_some());
    assert!(hank_literal("Fatal"), "Hank's patterns compile");
}

#[test]
fn hanks_first_stage_hides_what_its_second_would_count() {
    assert!(hank_literal("a\nno exception here"));
    assert!(!hank_literal("\"last_error\": \"Fatal\""));
    assert!(hank_literal("{\"note\": \"error\"} Fatal"));
    assert!(hank_literal("\"error\" : Fatal"), "a blank before the colon is no key to grep");
    assert!(!hank_literal("  Error: indented\nexecption"));
}

#[test]
fn long_lines_and_deep_json_are_read_in_bounded_work() {
    let deep = format!("{}\nerror: x", "[".repeat(200_000));
    assert_eq!(read(&deep).lines.iter().map(|line| line.line).collect::<Vec<_>>(), [2]);
    let long = format!("error: {}", "é".repeat(500_000));
    assert!(read(&long).lines[0].text.len() < 2 * SHOWN_COLUMNS);
    let many = "error: again and again and again\n".repeat(2_000);
    assert_eq!(read(&many).lines.len(), 2_000);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_text_is_read(text in "(\\PC|[\\x00-\\x1f\\u{9b}\\n\\r]){0,80}") {
        let found = read(&text);
        prop_assert_eq!(found.is_error, !found.lines.is_empty());
        hank_literal(&text);
    }

    #[test]
    fn pieces_of_reports_in_any_order_are_read(
        pieces in prop::collection::vec(prop::sample::select(vec![
            "error", ": ", "\n", "PROGRAMMATOR_STATUS:", "  ", "\"is_error\":", "true", "{", "}", "[", "]", ",", "\r",
            "---RALPH_STATUS---", "Exception", "é", "\u{1b}[31m", "2026-01-02 ", "❌", "\\ud83c", "\"",
        ]), 0..24)
    ) {
        let text = pieces.concat();
        let found = read(&text);
        let count = text.split('\n').count();
        prop_assert!(found.lines.iter().all(|line| (1..=count).contains(&line.line)));
        prop_assert!(found.lines.is_sorted_by_key(|line| line.line));
    }

    #[test]
    fn a_report_is_found_wherever_it_stands(before in "[a-z ]{0,20}", indent in 0usize..9) {
        let text = format!("{before}\n{}error: it broke\nfine", " ".repeat(indent));
        prop_assert!(read(&text).lines.iter().any(|line| line.line == 2));
    }
}
