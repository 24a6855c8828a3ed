//! The size guard: outputs beyond 1 MiB are read as JSON only when they hold a result.

use programmator::domain::analysis::shape::{MAX_JSON, Shape, read};

fn frames(bytes: usize, result: &str) -> String {
    let filler = "x".repeat(bytes);
    format!(r#"[{{"type":"assistant","message":{{"content":[{{"type":"text","text":"{filler}"}}]}}}}{result}]"#)
}

const RESULT: &str = r#",{"type":"result","subtype":"success","result":"the end","session_id":"s"}"#;

#[test]
fn sizes() {
    let over = MAX_JSON + 1;
    let line = format!("{{\"type\":\"system\",\"note\":\"{}\"}}\n", "y".repeat(1_000));
    let stream = line.repeat(1_100);
    let object = |kind: &str, bytes: usize| format!(r#"{{{kind}"result":"{}"}}"#, "z".repeat(bytes));
    let cases = [
        ("a small array without a result is JSON", frames(10, ""), Shape::Frames),
        ("a small array with one is JSON", frames(10, RESULT), Shape::Frames),
        ("a huge array without a result is text", frames(over, ""), Shape::Text),
        ("a huge array with one is JSON", frames(over, RESULT), Shape::Frames),
        ("a huge object without a type is text", object("", over), Shape::Text),
        ("a huge result object is JSON", object(r#""type":"result","#, over), Shape::Cli),
        ("with a blank behind the colon too", object(r#""type": "result","#, over), Shape::Cli),
        ("a huge stream that was cut off is text", stream.clone(), Shape::Text),
        ("a huge stream that ended is JSON", format!("{stream}{}\n", &RESULT[1..]), Shape::Frames),
        ("exactly the limit is JSON", object("", MAX_JSON - r#"{"result":""}"#.len()), Shape::Cli),
        ("one byte more is text", object("", MAX_JSON + 1 - r#"{"result":""}"#.len()), Shape::Text),
        ("huge prose is text", "word ".repeat(300_000), Shape::Text),
    ];
    for (name, text, shape) in cases {
        assert_eq!(read(&text).shape, shape, "{name}");
    }
    let whole = read(&format!("{stream}{}\n", &RESULT[1..]));
    assert_eq!((whole.text.as_str(), whole.session.as_deref()), ("the end", Some("s")));
}
