//! The person's account is paired with the double of Telegram's Bot API, by the real command.

use crate::bot_api::{BotApi, PERSON, TOKEN};
use crate::project::Project;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Stdio;

/// Pairs the person's account.
pub fn paired(project: &Project, api: &BotApi, more: &[&str]) {
    let url = api.url();
    let args = [&["away", "setup", "--api", &url], more].concat();
    let mut command = project.command(&args);
    command.env("PROGRAMMATOR_TELEGRAM_TOKEN", TOKEN).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("/start") {
        line.clear();
        assert!(out.read_line(&mut line).unwrap() > 0, "a code is told");
    }
    api.write(PERSON + 1, "/start AAAAAAAA");
    api.write(PERSON, line.trim());
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("Paired with Ada."), "{rest}");
    assert!(child.wait().unwrap().success());
    api.wait_for("the pairing is told", |sent| sent.chat == PERSON && sent.text.starts_with("Paired."));
}
