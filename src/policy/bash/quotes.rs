//! `$'…'` as bash reads it, and the names of variables that are secret or public.

use std::iter::Peekable;
use std::str::Chars;

/// The text that stands in `$'…'`. `None` for what cannot be text, or would hide some: control characters, bytes
/// beyond ASCII, a zero that ends the word.
pub fn ansi_c(inner: &str) -> Option<String> {
    let mut out = String::new();
    let mut chars = inner.chars().peekable();
    while let Some(char) = chars.next() {
        if char != '\\' {
            out.push(char);
            continue;
        }
        let decoded = match chars.next()? {
            'n' => '\n',
            't' => '\t',
            quoted @ ('\\' | '\'' | '"' | '?') => quoted,
            'x' => char::from_u32(number(&mut chars, 16, 2)?).filter(char::is_ascii)?,
            'u' => char::from_u32(number(&mut chars, 16, 4)?)?,
            'U' => char::from_u32(number(&mut chars, 16, 8)?)?,
            digit @ '0'..='7' => {
                let first = digit.to_digit(8)?;
                let rest: String = std::iter::from_fn(|| chars.next_if(|char| char.is_digit(8))).take(2).collect();
                let code = rest.chars().fold(first, |code, char| code * 8 + char.to_digit(8).unwrap_or(0));
                char::from_u32(code).filter(char::is_ascii)?
            }
            'a' | 'b' | 'e' | 'E' | 'f' | 'r' | 'v' | 'c' => return None,
            other => {
                out.push('\\');
                other
            }
        };
        out.push(decoded);
    }
    crate::policy::chars::refused(&out).is_none().then_some(out)
}

fn number(chars: &mut Peekable<Chars<'_>>, radix: u32, most: usize) -> Option<u32> {
    let mut digits = String::new();
    while digits.len() < most {
        let Some(digit) = chars.next_if(|char| char.is_digit(radix)) else { break };
        digits.push(digit);
    }
    u32::from_str_radix(&digits, radix).ok()
}

/// Whether a name in small letters may be that of a secret in the environment.
pub fn is_secret_small_name(name: &str) -> bool {
    const SIGNS: [&str; 8] = ["token", "secret", "passw", "credential", "api_key", "apikey", "_auth", "npm_config"];
    name.ends_with("_proxy") || SIGNS.iter().any(|sign| name.contains(sign))
}

/// Whether a variable's name says that it holds a secret.
pub fn is_secret_name(name: &str) -> bool {
    const SIGNS: [&str; 9] = ["KEY", "TOKEN", "SECRET", "PASS", "CREDENTIAL", "AUTH", "COOKIE", "PRIVATE", "SESSION"];
    let upper = name.to_uppercase();
    name.chars().any(|char| char.is_ascii_uppercase()) && SIGNS.iter().any(|sign| upper.contains(sign))
}

/// Whether a variable holds nothing that may not be shown: one of a script's own, or one of these.
pub fn is_public_name(name: &str) -> bool {
    const PUBLIC: [&str; 40] = [
        "PATH", "SHELL", "LANG", "TERM", "EDITOR", "VISUAL", "PAGER", "OLDPWD", "HOSTNAME", "HOSTTYPE", "OSTYPE",
        "MACHTYPE", "UID", "EUID", "GROUPS", "PPID", "RANDOM", "SECONDS", "LINENO", "SHLVL", "BASH", "BASHPID",
        "BASH_VERSION", "BASH_VERSINFO", "PIPESTATUS", "REPLY", "IFS", "TMPDIR", "TZ", "COLUMNS", "LINES", "CI",
        "NO_COLOR", "DISPLAY", "EPOCHSECONDS", "LC_ALL", "GOPATH", "CARGO_HOME", "JAVA_HOME", "VIRTUAL_ENV",
    ];
    PUBLIC.contains(&name) || !name.chars().any(|char| char.is_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_spell_what_bash_reads() {
        for (inner, expected) in [
            ("rm", Some("rm")),
            ("\\x72\\x6d", Some("rm")),
            ("\\162m", Some("rm")),
            ("a\\tb", Some("a\tb")),
            ("\\u0072m", Some("rm")),
            ("it\\'s", Some("it's")),
            ("\\q", Some("\\q")),
            ("a\\0b", None),
            ("\\e[2K", None),
            ("\\xff", None),
            ("\\u202e", None),
        ] {
            assert_eq!(ansi_c(inner).as_deref(), expected, "{inner}");
        }
    }
}
