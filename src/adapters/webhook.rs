//! Tells the person's webhooks: a POST of JSON each. Every address has a thread of its own, so that one that does not answer
//! delays nobody. Which there are is `notify.webhooks`.
//!
//! Sources of the shapes: <https://docs.ntfy.sh/publish/#publish-as-json>,
//! <https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks>.

use crate::base::text::clean_line;
use crate::config::webhook::{Format, Webhook, topic};
use crate::domain::credentials::masked;
use crate::domain::notification::{Level, Notification};
use serde_json::{Value, json};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// The pauses before a message is tried again.
const PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(5)];
/// The longest pause that a host may ask for.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// How long the program waits at its end for what is still to be told.
const LAST_WORDS: Duration = Duration::from_secs(5);
/// Messages that wait for an address. Full: dropped, and the log says so.
const WAITING: usize = 64;
/// Columns of a title, of a text, and of what is looked through for credentials.
const TITLE: usize = 200;
const TEXT: usize = 400;
const READ: usize = 4_000;

/// A message was not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WebhookError {
    /// Too many requests (429).
    #[error("rate limited for {} s (HTTP 429)", .0.as_secs())]
    Pause(Duration),
    /// A redirect; the message stays with the host that is named.
    #[error("redirects are not followed (HTTP {0}): configure the target URL")]
    Elsewhere(u16),
    #[error("HTTP {0}")]
    Refused(u16),
    #[error("cannot be reached: {0}")]
    Unreachable(String),
}

impl WebhookError {
    fn may_pass(&self) -> bool {
        match self {
            Self::Pause(_) | Self::Unreachable(_) => true,
            Self::Elsewhere(_) => false,
            Self::Refused(code) => *code >= 500,
        }
    }
}

/// The webhooks of a program with runs.
pub struct Webhooks(Vec<Line>);

/// The way to one address.
struct Line {
    hook: Webhook,
    waiting: SyncSender<(Notification, bool)>,
    /// Closed once everything was told.
    ended: Receiver<()>,
}

impl Webhooks {
    pub fn start(hooks: &[Webhook]) -> Self {
        Self(hooks.iter().filter_map(Line::start).collect())
    }

    /// Tells those that want to hear of it. `minute`: of the day, for their quiet hours. Waits for nothing.
    pub fn tell(&self, notification: &Notification, minute: u16) {
        for line in self.0.iter().filter(|line| line.hook.levels.contains(&notification.level)) {
            let is_quiet = line.hook.quiet.is_some_and(|hours| hours.has(minute));
            // Slack has no message without a sound.
            if is_quiet && line.hook.format == Format::Slack {
                continue;
            }
            if line.waiting.try_send((notification.clone(), is_quiet)).is_err() {
                tracing::warn!(webhook = %line.hook.url, title = notification.title, "too many pending messages");
            }
        }
    }

    /// Waits until everything was told, but not long.
    pub fn finish(self) {
        let until = Instant::now() + LAST_WORDS;
        let ends: Vec<_> = self.0.into_iter().map(|Line { hook, ended, .. }| (hook, ended)).collect();
        for (hook, ended) in ends {
            let left = until.saturating_duration_since(Instant::now());
            if ended.recv_timeout(left) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                tracing::warn!(webhook = %hook.url, "exiting before all messages were sent");
            }
        }
    }
}

impl Line {
    fn start(hook: &Webhook) -> Option<Self> {
        let (waiting, messages) = sync_channel(WAITING);
        let (end, ended) = channel();
        let own = hook.clone();
        let begun = thread::Builder::new().name("webhook".to_owned()).spawn(move || work(&own, &messages, &end));
        match begun {
            Ok(_) => Some(Self { hook: hook.clone(), waiting, ended }),
            Err(error) => {
                tracing::warn!(webhook = %hook.url, %error, "webhook messages cannot be sent");
                None
            }
        }
    }
}

/// `_end`: dropped once there are no more messages.
fn work(hook: &Webhook, messages: &Receiver<(Notification, bool)>, _end: &Sender<()>) {
    for (notification, is_quiet) in messages {
        let mut pauses = PAUSES.into_iter();
        while let Err(error) = post(hook, &notification, is_quiet) {
            let pause = pauses.next().filter(|_| error.may_pass());
            let Some(pause) = pause else {
                tracing::warn!(webhook = %hook.url, title = notification.title, %error, "a webhook message could not be sent");
                break;
            };
            thread::sleep(if let WebhookError::Pause(wanted) = error { wanted } else { pause });
        }
    }
}

/// Sends one message, once. `is_quiet`: it makes no sound.
pub fn post(hook: &Webhook, notification: &Notification, is_quiet: bool) -> Result<(), WebhookError> {
    let uri = hook.url.expose();
    let config = ureq::Agent::config_builder().http_status_as_error(false).max_redirects(0).https_only(false);
    let config = config.timeout_global(Some(PATIENCE));
    // What stays on this machine passes no proxy, which could read the address.
    let is_local = matches!(uri.host(), Some("127.0.0.1" | "localhost" | "[::1]"));
    let config = if is_local { config.proxy(None) } else { config };
    let agent: ureq::Agent = config.build().into();
    let (address, body) = message(hook, notification, is_quiet);
    let answer = agent.post(&address).send_json(&body).map_err(|error| {
        let query = uri.path_and_query().map_or("", |query| query.as_str());
        let words = error.to_string().replace(&address, "…");
        let words = if query.len() > 1 { words.replace(query, "/…") } else { words };
        WebhookError::Unreachable(clean_line(&words, TITLE))
    })?;
    let after = answer.headers().get("retry-after").and_then(|value| value.to_str().ok()?.parse().ok());
    match answer.status().as_u16() {
        200..=299 => Ok(()),
        429 => Err(WebhookError::Pause(after.map_or(PAUSES[1], Duration::from_secs).min(LONGEST_PAUSE))),
        code @ 300..=399 => Err(WebhookError::Elsewhere(code)),
        code => Err(WebhookError::Refused(code)),
    }
}

/// Where it is sent to, and what.
fn message(hook: &Webhook, notification: &Notification, is_quiet: bool) -> (String, Value) {
    let uri = hook.url.expose();
    let (title, text) = (fit(&notification.title, TITLE), fit(&notification.text, TEXT));
    let phase = notification.phase.as_deref().map(|phase| fit(phase, TITLE));
    let level = notification.level;
    match hook.format {
        Format::Json => {
            let body = json!({
                "level": level.word(), "ticket": fit(&notification.ticket, TITLE), "phase": phase, "title": title,
                "text": text, "silent": is_quiet,
            });
            (uri.to_string(), body)
        }
        Format::Ntfy => {
            let topic = topic(uri).unwrap_or_default();
            let server = uri.path().trim_end_matches('/').strip_suffix(topic).unwrap_or("/");
            let query = uri.query().map_or_else(String::new, |query| format!("?{query}"));
            let (scheme, host) =
                (uri.scheme_str().unwrap_or_default(), uri.authority().map_or("", |host| host.as_str()));
            let lines: Vec<String> = phase.into_iter().chain([text]).filter(|line| !line.is_empty()).collect();
            // From 1 to 5; below 3 there is no sound.
            let priority = if is_quiet { 2 } else { 3 + u8::from(level.is_urgent()) };
            let tag = match level {
                Level::NeedsYou => "bell",
                Level::Finished => "white_check_mark",
                Level::Parked => "hourglass",
                Level::Failed => "warning",
            };
            let message = lines.join("\n");
            let body = json!({
                "topic": topic, "title": title, "message": message, "priority": priority, "tags": [tag],
            });
            (format!("{scheme}://{host}{server}{query}"), body)
        }
        Format::Slack => {
            let phase = phase.map_or_else(String::new, |phase| format!(" · {phase}"));
            let text = if text.is_empty() { text } else { format!("\n{text}") };
            (uri.to_string(), json!({"text": escaped(&format!("{title}{phase}{text}"))}))
        }
    }
}

/// A line without what a terminal obeys, and without what looks like a credential.
fn fit(text: &str, most: usize) -> String {
    clean_line(&masked(&clean_line(text, READ)), most)
}

/// What Slack takes for markup, as it wants it: no text can name a person or a channel.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
