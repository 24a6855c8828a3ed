//! From the bytes of Claude's stdout to classified lines in a file, beside the limits of this very
//! run: splitting alone, and one typed borrowed pass by the JSON library.
//!
//! `cargo bench --bench ingest`; every row reads the same 20,000 records (about 45 MB).

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use programmator::base::lines::Lines;
use programmator::domain::stream::envelope::{Envelope, Kind, Line, decode, read};
use programmator::domain::stream::turn::{TurnReader, tool_ends};
use std::hint::black_box;
use std::io::{BufWriter, Write};
use std::sync::LazyLock;

const RECORDS: usize = 20_000;

/// Texts, calls and results in the mix of a real run: two thirds of the bytes are tool results,
/// which the CLI prints twice.
static STREAM: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut out = String::new();
    for n in 0..RECORDS {
        let size = 200 + (n * 7919) % 4_000;
        let words = r#"fn main() { println!(\"日本 \\u{1b}[31m\"); }\n"#.repeat(size / 40);
        let line = match n % 6 {
            0 => format!(
                r#"{{"type":"assistant","message":{{"id":"m{n}","model":"claude-opus-4-8","content":[{{"type":"text","text":"{words}"}}],"usage":{{"input_tokens":100,"output_tokens":1}}}},"parent_tool_use_id":null,"session_id":"s","uuid":"u{n}"}}"#
            ),
            1 | 3 | 5 => format!(
                r#"{{"type":"assistant","message":{{"id":"m{n}","content":[{{"type":"tool_use","id":"t{n}","name":"Bash","input":{{"command":"cargo test {n}"}}}}]}},"parent_tool_use_id":null,"session_id":"s","uuid":"u{n}"}}"#
            ),
            _ => format!(
                r#"{{"type":"user","message":{{"role":"user","content":[{{"tool_use_id":"t{n}","type":"tool_result","content":"{words}","is_error":false}}]}},"parent_tool_use_id":null,"session_id":"s","uuid":"u{n}","tool_use_result":{{"stdout":"{words}","stderr":""}}}}"#
            ),
        };
        out.push_str(&line);
        out.push('\n');
    }
    out.into_bytes()
});

fn bench(bencher: Bencher<'_, '_>, mut each: impl FnMut(&[u8])) {
    bencher.counter(BytesCount::new(STREAM.len())).counter(ItemsCount::new(RECORDS)).bench_local(|| {
        let mut lines = Lines::default();
        for chunk in STREAM.chunks(256 << 10) {
            lines.feed(chunk, &mut each);
        }
    });
}

#[divan::bench]
fn limit_split(bencher: Bencher<'_, '_>) {
    bench(bencher, |line| {
        black_box(line);
    });
}

#[divan::bench]
fn limit_typed_pass(bencher: Bencher<'_, '_>) {
    bench(bencher, |line| {
        black_box(std::str::from_utf8(line).ok().and_then(Envelope::parse).is_some());
    });
}

#[divan::bench]
fn ingest(bencher: Bencher<'_, '_>) {
    let mut turn = TurnReader::default();
    let mut kept = BufWriter::new(std::io::sink());
    bench(bencher, |line| {
        let text = decode(line);
        if let Line::Record(envelope) = read(&text) {
            black_box(envelope.shows());
            match envelope.kind() {
                Kind::Assistant => turn.assistant(&envelope),
                Kind::User => {
                    black_box(tool_ends(&envelope));
                }
                _ => {}
            }
        }
        kept.write_all(line).ok();
    });
}

fn main() {
    divan::main();
}
