//! What runs without a screen tell a person elsewhere, by a double of hosts with webhooks.

use crate::away::{PUSH, asked, away, name};
use crate::hook_host::HookHost;
use crate::project::Project;
use crate::watched::{DILIGENT, json, said, text};
use serde_json::json as value;
use std::net::TcpListener;

/// A configuration with these entries of `notify.webhooks`.
fn config(entries: &[String]) -> String {
    format!("notify:\n  webhooks: [{}]\n", entries.join(", "))
}

#[test]
fn the_end_of_a_run_is_told_in_the_shape_of_each_address() {
    let host = HookHost::start();
    let entries = [
        format!("{{url: \"{}\"}}", host.url("/json?key=s3cret")),
        format!("{{url: \"{}\", format: ntfy}}", host.url("/my-topic?auth=x")),
        format!("{{url: \"{}\", format: slack}}", host.url("/services/T/B/s3cret")),
        format!("{{url: \"{}\", levels: [needs_you]}}", host.url("/others")),
    ];
    let project = Project::with_config(&["Alpha"], DILIGENT, &config(&entries));
    // The first answers do not end it.
    host.trouble("/json?key=s3cret", 429, &[("retry-after", "0")]);
    host.trouble("/?auth=x", 503, &[]);
    said(&project, &["run", "tk-1"], 0);
    let told = value!({
        "level": "finished", "ticket": "tk-1", "phase": null, "title": "tk-1 is complete", "text": "Work on tk-1", "silent": false,
    });
    assert_eq!(host.sent("/json?key=s3cret"), [told.clone(), told]);
    let told = value!({
        "topic": "my-topic", "title": "tk-1 is complete", "message": "Work on tk-1", "priority": 3,
        "tags": ["white_check_mark"],
    });
    assert_eq!(host.sent("/?auth=x"), [told.clone(), told]);
    assert_eq!(host.sent("/services/T/B/s3cret"), [value!({"text": "tk-1 is complete\nWork on tk-1"})]);
    assert!(host.sent("/others").is_empty());
    // No address is told anywhere.
    let shown = [said(&project, &["config", "show"], 0), said(&project, &["notify", "test"], 0)].concat();
    assert!(
        shown.contains(": slack http://127.0.0.1:")
            && shown.contains("sent      webhook 1: ")
            && !shown.contains("s3cret"),
        "{shown}"
    );
    let doctor = text(&project.run(&["doctor"]));
    assert!(doctor.contains("ok    notify    json http://127.0.0.1:"), "{doctor}");
    let log = project.run(&["logs", "tk-1"]);
    assert!(!text(&log).contains("s3cret"));
}

#[test]
fn a_question_of_a_run_in_the_background_is_told_with_its_phase_and_without_credentials() {
    let host = HookHost::start();
    let entries =
        [format!("{{url: \"{}\", format: slack}}", host.url("/slack")), format!("{{url: \"{}\"}}", host.url("/json"))];
    let turn = format!(
        "turns:\n  - when: {{phase: \"\"}}\n    steps:\n      - {}\n      - status: {{summary: did}}\n",
        PUSH.replace("HEAD:work", "HEAD:ghp_abcdefghijklmnopqrstuvwx")
    );
    let config = format!("policy:\n  profile: guarded\n{}", config(&entries));
    let project = away(Project::with_config(&["Alpha <@all>"], &turn, &config));
    said(&project, &["run", "--detach", "tk-1"], 0);
    let told = host.wait_for("/json", "the question", |body| body["level"] == "needs_you");
    assert_eq!(
        told,
        value!({
            "level": "needs_you", "ticket": "tk-1", "phase": "Alpha <@all>", "title": "tk-1 needs you",
            "text": "Bash git push -q origin HEAD:[masked]", "silent": false,
        })
    );
    let told = host.wait_for("/slack", "the question", |_| true);
    assert_eq!(told["text"], "tk-1 needs you · Alpha &lt;@all&gt;\nBash git push -q origin HEAD:[masked]");
    let question = asked(&project);
    assert_eq!(host.sent("/json"), [host.sent("/json")[0].clone()], "once");
    said(&project, &["answer", &name(&question), "deny"], 0);
}

#[test]
fn an_address_that_does_not_answer_or_leads_elsewhere_keeps_no_run_from_its_end() {
    let (host, silent) = (HookHost::start(), TcpListener::bind("127.0.0.1:0").unwrap());
    let silent_url = format!("http://{}/s3cret", silent.local_addr().unwrap());
    let entries = [format!("{{url: \"{silent_url}\"}}"), format!("{{url: \"{}\"}}", host.url("/away"))];
    let project = Project::with_config(&["Alpha"], DILIGENT, &config(&entries));
    let elsewhere = host.url("/elsewhere");
    host.trouble("/away", 307, &[("location", &elsewhere)]);
    said(&project, &["run", "tk-1"], 0);
    assert_eq!(json(&project, &["status", "--json"])[0]["reason"], "complete");
    assert!(host.sent("/elsewhere").is_empty(), "a redirect is not followed");
    drop(silent);
    host.trouble("/away", 302, &[("location", &elsewhere)]);
    let tried = said(&project, &["notify", "test"], 1);
    assert!(tried.contains("redirects are not followed (HTTP 302)"), "{tried}");
    assert!(tried.contains("cannot be reached") && !tried.contains("s3cret"), "{tried}");
}

#[test]
fn no_project_names_an_address_trusted_or_not() {
    let host = HookHost::start();
    let project = Project::with(&["Alpha"], DILIGENT);
    project.write("work/.programmator/config.yaml", &config(&[format!("{{url: \"{}\"}}", host.url("/theirs"))]));
    said(&project, &["trust"], 0);
    let told = said(&project, &["run", "tk-1"], 0);
    assert!(told.contains("sets notify.webhooks: ignored, because only your own configuration can set it"), "{told}");
    assert!(host.sent("/theirs").is_empty());
}
