//! Variables of the environment that a command may be given: those that change looks, counts and places of the project,
//! and none that loads or runs something.

use super::network::is_this_machine;
use crate::policy::unit::Field;

/// Whether a variable of the environment may be set for a command: it changes how text looks, how much is said and
/// how a build counts, and no more.
pub fn is_harmless_setting(name: &str, value: &Field) -> bool {
    const NAMES: [&str; 33] = [
        "DO_NOT_TRACK", "NEXT_TELEMETRY_DISABLED", "DOTNET_CLI_TELEMETRY_OPTOUT", "HOMEBREW_NO_AUTO_UPDATE",
        "PYTHONIOENCODING", "PYTHONUTF8", "UV_NO_SYNC", "RUST_MIN_STACK", "PORT", "LOG_LEVEL", "VERBOSE", "DEBUG",
        "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "COLUMNS", "LINES", "CI", "RUST_BACKTRACE", "RUST_LOG",
        "RUST_TEST_THREADS", "CARGO_TERM_COLOR", "CARGO_INCREMENTAL", "CARGO_BUILD_JOBS", "PROPTEST_CASES",
        "INSTA_UPDATE", "NODE_ENV", "CGO_ENABLED", "GOOS", "GOARCH", "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED",
        "PYTHONHASHSEED",
    ];
    match name {
        "TERM" => value.text() == Some("dumb"),
        "LANG" | "LANGUAGE" | "TZ" => is_of_locale(value),
        "RAILS_ENV" | "RACK_ENV" | "APP_ENV" | "FLASK_ENV" | "MIX_ENV" => {
            matches!(value.text(), Some("test" | "testing" | "development" | "dev"))
        }
        "ENV" => matches!(value.text(), Some("test" | "testing" | "development" | "dev" | "local" | "ci")),
        "DATABASE_URL" | "TEST_DATABASE_URL" => value.text().is_some_and(is_database_here),
        "NODE_OPTIONS" => value.text().is_some_and(|options| options.split(' ').all(is_option_of_node)),
        "GOFLAGS" => {
            matches!(value.text(), Some("-mod=mod" | "-mod=vendor" | "-mod=readonly" | "-count=1" | "-race" | "-v"))
        }
        "JAVA_HOME" => value.text().is_some_and(is_of_system),
        _ if name.starts_with("LC_") && name.len() > 3 => is_of_locale(value),
        _ => NAMES.contains(&name),
    }
}

/// Whether an address is that of a database in a file or on this machine. What no address needs is not understood: a
/// driver may read a list of hosts, or another host, out of it.
fn is_database_here(url: &str) -> bool {
    let made_of = |text: &str, more: &str| text.chars().all(|char| char.is_ascii_alphanumeric() || more.contains(char));
    if let Some(path) = url.strip_prefix("sqlite:///") {
        return made_of(path, "/:._-") && !path.starts_with('/') && !path.contains("..");
    }
    let Some((scheme, rest)) = url.split_once("://") else { return false };
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let (login, host) = authority.split_once('@').unwrap_or(("", authority));
    made_of(scheme, "+:.-")
        && !scheme.contains("file")
        && made_of(login, "-_.~:!*")
        && is_this_machine(host)
        && made_of(path, "-_.")
}

/// Options of node that load and run nothing.
fn is_option_of_node(option: &str) -> bool {
    const PLAIN: [&str; 6] = [
        "--no-warnings", "--trace-warnings", "--enable-source-maps", "--experimental-vm-modules", "--no-deprecation",
        "--trace-deprecation",
    ];
    let sized = option.strip_prefix("--max-old-space-size=").or_else(|| option.strip_prefix("--max_old_space_size="));
    PLAIN.contains(&option)
        || sized.is_some_and(|size| !size.is_empty() && size.chars().all(|char| char.is_ascii_digit()))
}

/// Whether a value names a language, an encoding or a zone that the system knows, and no file elsewhere.
fn is_of_locale(value: &Field) -> bool {
    let plain = |text: &String| {
        text.chars().all(|char| char.is_ascii_alphanumeric() || "_.@:/+-".contains(char))
            && !text.starts_with(['/', ':'])
            && !text.contains("..")
            && !text.contains(":/")
    };
    value.texts().is_some_and(|texts| texts.iter().all(plain))
}

/// Whether a JDK stands where the system keeps them.
fn is_of_system(path: &str) -> bool {
    let system = ["/usr/lib/jvm/", "/Library/Java/JavaVirtualMachines/", "/opt/homebrew/opt/"];
    let plain = |char: char| char.is_ascii_alphanumeric() || "/._-@+".contains(char);
    system.iter().any(|head| path.starts_with(head)) && !path.contains("..") && path.chars().all(plain)
}

/// Whether a value of `RUSTFLAGS` says which warnings count, and no more.
pub fn is_of_lints(value: &str) -> bool {
    let mut words = value.split_whitespace();
    let is_lint = |name: &str| {
        name.starts_with(|char: char| char.is_ascii_lowercase())
            && name.chars().all(|char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-' | ':'))
    };
    while let Some(word) = words.next() {
        let Some(name) = ["-D", "-W", "-A", "-F"].iter().find_map(|flag| word.strip_prefix(flag)) else { return false };
        if !is_lint(if name.is_empty() { words.next().unwrap_or("") } else { name }) {
            return false;
        }
    }
    true
}
