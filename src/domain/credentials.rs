//! Strings that look like credentials, which no text that leaves the machine may hold.
//!
//! Shapes from the issuers' documentation; what only a name tells (`TOKEN=…`) is masked by the name.

use regex::Regex;
use std::sync::LazyLock;

/// What stands for one.
pub const MASK: &str = "[masked]";

/// What a name says that its value is secret.
const NAME: &str =
    r"(?i)(?P<keep>\b(?:[A-Z0-9_-]*(?:TOKEN|SECRET|PASSWORD|PASSWD|_PASS|API[_-]?KEY|ACCESS[_-]?KEY|PRIVATE[_-]?KEY))";
const QUOTED: &str = r#""[^"\n]{4,}"|'[^'\n]{4,}'"#;

static SHAPES: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let shapes: [&str; 18] = [
        // Anthropic, OpenAI, Stripe, npm, GitHub, GitLab, Slack, Google, AWS, a JSON Web Token, Telegram's own.
        r"\bsk-[A-Za-z0-9_-]{16,}",
        r"\b[sr]k_(?:live|test)_[A-Za-z0-9]{16,}",
        r"\bnpm_[A-Za-z0-9]{20,}",
        r"\bgh[pousr]_[A-Za-z0-9]{20,}",
        r"\bgithub_pat_[A-Za-z0-9_]{20,}",
        r"\bglpat-[A-Za-z0-9_-]{16,}",
        r"\bxox[a-z]-[A-Za-z0-9-]{10,}",
        r"\bAIza[A-Za-z0-9_-]{30,}",
        r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
        r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",
        r"(?P<keep>\bbot|\b)[0-9]{8,10}:[A-Za-z0-9_-]{30,}",
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?s:.)*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z)",
        // The password of an address, and what a name or a header says to be secret.
        r"(?P<keep>\b[a-z][a-z0-9+.-]*://[^\s:/@]*:)[^\s@/]+",
        // A value behind `=` or an option is one; behind `:`, as prose has it too, only what is quoted or has a digit.
        &format!(r#"{NAME}["']?[ \t]*=[ \t]*)(?:{QUOTED}|[^\s,;]{{4,}})"#),
        &format!(r#"{NAME}["']?[ \t]*:[ \t]*)(?:{QUOTED}|[^\s,;0-9]*[0-9][^\s,;]{{3,}})"#),
        r"(?i)(?P<keep>--(?:[a-z0-9-]*-)?(?:token|secret|password|pass|key)[ \t]+)[^\s,;-][^\s,;]{3,}",
        r"(?i)(?P<keep>\bbearer[ \t]+)[A-Za-z0-9+/=._~-]{8,}",
        r#"(?i)(?P<keep>\bauthorization["']?[ \t]*[=:][ \t]*["']?(?:basic|token|digest)[ \t]+)[A-Za-z0-9+/=._~-]{4,}"#,
    ];
    shapes.iter().filter_map(|shape| Regex::new(shape).ok()).collect()
});

/// The text without them.
pub fn masked(text: &str) -> String {
    SHAPES.iter().fold(text.to_owned(), |text, shape| {
        let has_kept = shape.capture_names().flatten().next().is_some();
        let with = if has_kept { format!("${{keep}}{MASK}") } else { MASK.to_owned() };
        shape.replace_all(&text, with.as_str()).into_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_is_masked_and_other_words_stay() {
        assert_eq!(SHAPES.len(), 18, "each shape is a regular expression");
        let letters = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
        for secret in [
            format!("sk-ant-{letters}"),
            format!("ghp_{letters}"),
            format!("github_pat_{letters}"),
            format!("glpat-{letters}"),
            "xoxb-1234567890-abcdef".to_owned(),
            "AKIAIOSFODNN7EXAMPLE".to_owned(),
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NSJ9.abc".to_owned(),
            format!("123456789:{letters}"),
            "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----".to_owned(),
        ] {
            assert_eq!(masked(&format!("use {secret} now")), format!("use {MASK} now"));
        }
        assert_eq!(masked("DB_PASSWORD=hunter22 make"), format!("DB_PASSWORD={MASK} make"));
        assert_eq!(
            masked("curl -H 'Authorization: Bearer abcdefgh12'"),
            format!("curl -H 'Authorization: Bearer {MASK}'")
        );
        assert_eq!(masked("git push https://me:pass@host/x"), format!("git push https://me:{MASK}@host/x"));
        let url = format!("https://api.telegram.org/bot123456789:{letters}/getMe");
        assert_eq!(masked(&url), format!("https://api.telegram.org/bot{MASK}/getMe"));
        assert_eq!(masked(r#"{"password": "hunter 22", "a": 1}"#), format!(r#"{{"password": {MASK}, "a": 1}}"#));
        assert_eq!(masked("DB_PASS=hunter X-Api-Key: ab12cd"), format!("DB_PASS={MASK} X-Api-Key: {MASK}"));
        assert_eq!(masked("mysql --password hunter --verbose"), format!("mysql --password {MASK} --verbose"));
        assert_eq!(masked("Authorization: Basic YWxhZGRpbg=="), format!("Authorization: Basic {MASK}"));
        let plain =
            "git push origin HEAD:main # sk-1, token, at 12:30:00; Add basic validation. Fix token: refresh fails";
        assert_eq!(masked(plain), plain);
    }
}
