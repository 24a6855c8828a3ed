//! Lines that are too long to be read whole.

use super::*;

#[tokio::test]
async fn what_is_left_out_of_a_line_is_told_once_also_of_the_last_that_has_no_end() {
    let big = r#"big() { printf '{"type":"other","text":"'; head -c "$1" /dev/zero | tr '\0' 'x'; }"#;
    for (script, told) in [
        // A short line without an end behind a long one.
        ("big 40000000; printf '\"}\\n{\"type\"'", 1),
        ("big 40000000", 1),
        ("big 40000000; printf '\"}\\n'; big 40000001", 2),
    ] {
        let (_agent, mut events) = spawn(&format!("{POLITE}\n{big}\n{script}")).await.unwrap();
        let seen = timeout(Duration::from_secs(60), rest(&mut events)).await.unwrap();
        let of = |event: &AgentEvent| match event {
            AgentEvent::LineShortened { left_out } => Some(*left_out),
            _ => None,
        };
        let left_out: Vec<u64> = seen.iter().filter_map(of).collect();
        assert_eq!(left_out.len(), told, "{script}: {left_out:?}");
    }
}

#[tokio::test]
async fn a_line_that_is_too_long_counts_and_is_short_in_memory_and_on_disk() {
    let script = format!(
        r#"{POLITE}
big() {{ head -c 40000000 /dev/zero | tr '\0' 'x'; }}
printf '{{"type":"control_request","request_id":"r1","request":{{"subtype":"can_use_tool","tool_name":"Write","tool_use_id":"t1","input":{{"content":"'; big
printf '"}}}}}}\n'
read -r answer
printf '{{"type":"assistant","message":{{"role":"assistant","content":[{{"type":"text","text":"'; big
printf ' the end"}}]}}}}\n'
printf '{{"type":"result","subtype":"success","is_error":false,"result":"'; big
printf '","total_cost_usd":0.5}}\n'
printf '%s' "$answer" >&2"#
    );
    let sink = Memory::default();
    let kept = Arc::clone(&sink.lines);
    let (_agent, mut events) = spawn_into(launch(&script), sink).await.unwrap();
    let seen = timeout(Duration::from_secs(60), rest(&mut events)).await.unwrap();
    assert!(!seen.iter().any(|event| matches!(event, AgentEvent::ToolAsked(_))), "what would run was not read");
    let answer = &exit(&seen).stderr_tail;
    assert!(answer.contains("deny") && answer.contains("could not read"), "{answer}");
    let shortened = seen.iter().filter(|event| matches!(event, AgentEvent::LineShortened { .. })).count();
    assert_eq!(shortened, 3);
    let result = seen.iter().find_map(|event| match event {
        AgentEvent::TurnFinished(result) => Some(result),
        _ => None,
    });
    let result = result.unwrap();
    assert_eq!((result.is_error, result.cost_usd), (false, 0.5));
    assert!(result.text.ends_with(" the end"), "{}", result.text.len());
    let most = kept.lock().unwrap().iter().map(|(line, _)| line.len()).max().unwrap();
    assert!(most < 4 << 20, "{most}");
}
