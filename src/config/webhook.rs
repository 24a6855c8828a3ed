//! The addresses that are told what runs come to: `notify.webhooks`. The person's own, never a project's.

use crate::base::text::clean_line;
use crate::domain::notification::Level;
use crate::domain::quiet_hours::QuietHours;
use crate::domain::worded::worded;
use serde_json::{Map, Value as Yaml};
use std::fmt;

/// Most addresses.
const MOST: usize = 16;

/// What of an entry may be said.
const FIELDS: [&str; 4] = ["url", "format", "levels", "quiet"];

/// An address, and what it is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhook {
    pub url: WebhookUrl,
    pub format: Format,
    /// Never empty.
    pub levels: Vec<Level>,
    /// Nothing makes a sound then.
    pub quiet: Option<QuietHours>,
}

worded! {
    /// What is sent there.
    #[derive(Default)]
    pub enum Format {
        /// An object with everything in fields of its own.
        #[default]
        Json = "json",
        /// A message of ntfy; the last part of the path is its topic.
        Ntfy = "ntfy",
        /// A message of Slack's incoming webhooks, which others understand too.
        Slack = "slack",
    }
}

/// An http or https address, of which path and query may be secrets: what is shown of it is only where it leads.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookUrl(http::Uri);

impl WebhookUrl {
    fn read(text: &str) -> Option<Self> {
        let uri: http::Uri = text.trim().parse().ok()?;
        let is_http = matches!(uri.scheme_str(), Some("http" | "https"));
        // A name and a password before the host would be sent nowhere.
        let is_host = uri.authority().is_some_and(|authority| !authority.as_str().contains('@'));
        (is_http && is_host).then_some(Self(uri))
    }

    /// The whole address, which is not to be told.
    pub fn expose(&self) -> &http::Uri {
        &self.0
    }
}

impl fmt::Display for WebhookUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, authority) = (self.0.scheme_str().unwrap_or_default(), self.0.authority());
        write!(f, "{scheme}://{}/…", authority.map_or("", |authority| authority.as_str()))
    }
}

impl fmt::Debug for WebhookUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Webhook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let levels: Vec<&str> = self.levels.iter().map(|level| level.word()).collect();
        write!(f, "{} {} ({})", self.format.word(), self.url, levels.join(", "))
    }
}

/// Reads the list as it stands in a file; the error says which entry is wrong and what would be right, without its address.
pub(super) fn read(yaml: &Yaml) -> Result<Vec<Webhook>, String> {
    let list = yaml.as_array().ok_or("notify.webhooks takes a list, each entry with `url`")?;
    if list.len() > MOST {
        return Err(format!("notify.webhooks has {} entries, but takes {MOST} at most", list.len()));
    }
    let numbered = (1..).zip(list);
    numbered.map(|(at, entry)| one(entry).map_err(|wrong| format!("notify.webhooks, entry {at}: {wrong}"))).collect()
}

fn one(entry: &Yaml) -> Result<Webhook, String> {
    let entry = entry.as_object().ok_or("it takes `url`, and optionally `format`, `levels` and `quiet`")?;
    if let Some(other) = entry.keys().find(|name| !FIELDS.contains(&name.as_str())) {
        return Err(format!("unknown `{}`; use {}", clean_line(other, 40), FIELDS.join(", ")));
    }
    let url = text(entry, "url")?.and_then(WebhookUrl::read);
    let url = url.ok_or("`url` must start with https:// or http://, without user name and password")?;
    let format = match text(entry, "format")? {
        None => Format::default(),
        Some(word) => Format::from_word(word).ok_or_else(|| one_of("format", word, Format::WORDS))?,
    };
    if format == Format::Ntfy && topic(url.expose()).is_none() {
        return Err("`url` must be an ntfy URL with a topic, such as https://ntfy.sh/my-topic".to_owned());
    }
    let levels = match entry.get("levels") {
        None => Level::ALL.to_vec(),
        Some(Yaml::Array(words)) if !words.is_empty() => words.iter().map(level).collect::<Result<_, _>>()?,
        Some(_) => return Err(format!("`levels` takes a list of {}", Level::WORDS.join(", "))),
    };
    let quiet = match text(entry, "quiet")? {
        None => None,
        Some(hours) => Some(QuietHours::read(hours).ok_or("`quiet` must be a time range, such as 22:00-07:00")?),
    };
    Ok(Webhook { url, format, levels, quiet })
}

/// The topic that an ntfy address names.
pub fn topic(uri: &http::Uri) -> Option<&str> {
    uri.path().trim_matches('/').rsplit('/').next().filter(|topic| !topic.is_empty())
}

fn level(word: &Yaml) -> Result<Level, String> {
    let word = word.as_str().unwrap_or_default();
    Level::from_word(word).ok_or_else(|| one_of("levels", word, Level::WORDS))
}

fn one_of(field: &str, word: &str, words: &[&str]) -> String {
    format!("`{field}` is `{}`, but takes {}", clean_line(word, 40), words.join(", "))
}

fn text<'a>(entry: &'a Map<String, Yaml>, field: &str) -> Result<Option<&'a str>, String> {
    match entry.get(field) {
        None => Ok(None),
        Some(Yaml::String(text)) => Ok(Some(text)),
        Some(_) => Err(format!("`{field}` must be a string")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_entry_needs_only_its_address_which_is_shown_without_what_may_be_secret() {
        let read = read(&json!([
            {"url": "https://hooks.example.com/services/T0/B0/secret?key=secret"},
            {"url": "http://127.0.0.1:81/alerts", "format": "ntfy", "levels": ["needs_you", "failed"], "quiet": "22:00-07:00"},
        ]));
        let hooks = read.unwrap();
        assert_eq!(hooks[0].to_string(), "json https://hooks.example.com/… (needs_you, finished, parked, failed)");
        assert_eq!(hooks[1].to_string(), "ntfy http://127.0.0.1:81/… (needs_you, failed)");
        assert_eq!((topic(hooks[1].url.expose()), hooks[1].quiet.is_some()), (Some("alerts"), true));
        assert!(!format!("{hooks:?}").contains("secret"));
    }

    #[test]
    fn what_is_wrong_is_named_without_the_address() {
        for (entry, expected) in [
            (json!("https://a/secret"), "entry 1: it takes `url`"),
            (json!({"format": "json"}), "`url` must start with"),
            (json!({"url": "ftp://a/secret"}), "`url` must start with"),
            (json!({"url": "https://me:secret@a/"}), "`url` must start with"),
            (json!({"url": "not secret"}), "`url` must start with"),
            (json!({"url": 3}), "`url` must be a string"),
            (json!({"url": "https://a/secret", "format": "xml"}), "`format` is `xml`, but takes json, ntfy, slack"),
            (json!({"url": "https://a/?secret", "format": "ntfy"}), "with a topic"),
            (json!({"url": "https://a/secret", "levels": ["news"]}), "`levels` is `news`, but takes needs_you, "),
            (json!({"url": "https://a/secret", "levels": []}), "`levels` takes a list"),
            (json!({"url": "https://a/secret", "quiet": "night"}), "`quiet` must be a time range"),
            (json!({"url": "https://a/secret", "header": "x"}), "unknown `header`; use url, "),
        ] {
            let error = read(&json!([entry])).unwrap_err();
            assert!(error.contains(expected) && !error.contains("secret"), "{error}");
        }
        assert!(read(&json!({})).unwrap_err().contains("takes a list"));
    }
}
