//! The stream that the benches read: the mix of a long run (a sixth texts, the rest calls and their results,
//! 2.5 KB a record, sizes spread as widely as in life), the same bytes every time.

/// `records` lines.
pub fn corpus(records: usize) -> Vec<u8> {
    let mut out = String::new();
    let mut random = 1_u64;
    let mut next = move || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize
    };
    for n in 0..records {
        let line = match n % 12 {
            0 | 6 => text(n, 100 + next() % 1_500),
            n_in_round if n_in_round % 2 == 1 => call(n),
            // One in sixteen is large, as the output of a build is.
            _ if next() % 16 == 0 => result(n, next() % 30_000),
            _ => result(n, 200 + next() % 1_800),
        };
        out.push_str(&line);
        out.push('\n');
    }
    out.into_bytes()
}

const TAIL: &str = r#""parent_tool_use_id":null,"session_id":"17eb9055-861e-0a8b-31e8-6cdcf75b7a4a","uuid":"08897e7d-8890-a9d8-86d0-ea00da25e718""#;

fn words(bytes: usize) -> String {
    const WORDS: &str = r#"fn main() { println!(\"日本 \\u{1b}[31m ✅\"); } // as it was\n"#;
    WORDS.repeat(bytes / WORDS.len() + 1)
}

fn text(n: usize, bytes: usize) -> String {
    let words = words(bytes);
    format!(
        r#"{{"type":"assistant","message":{{"model":"claude-opus-4-8","id":"m{n}","type":"message","role":"assistant","content":[{{"type":"text","text":"{words}"}}],"usage":{{"input_tokens":11,"cache_read_input_tokens":35979,"output_tokens":1}}}},{TAIL}}}"#
    )
}

fn call(n: usize) -> String {
    format!(
        r#"{{"type":"assistant","message":{{"model":"claude-opus-4-8","id":"m{n}","type":"message","role":"assistant","content":[{{"type":"tool_use","id":"toolu_{n}","name":"Bash","input":{{"command":"cargo test {n}","description":"Run the tests"}}}}],"usage":{{"input_tokens":11,"cache_read_input_tokens":35979,"output_tokens":1}}}},{TAIL}}}"#
    )
}

/// The CLI prints a result twice: for the model and for whoever shows it.
fn result(n: usize, bytes: usize) -> String {
    let (id, words) = (n - 1, words(bytes));
    format!(
        r#"{{"type":"user","message":{{"role":"user","content":[{{"tool_use_id":"toolu_{id}","type":"tool_result","content":"{words}","is_error":false}}]}},{TAIL},"tool_use_result":{{"stdout":"{words}","stderr":"","interrupted":false}}}}"#
    )
}
