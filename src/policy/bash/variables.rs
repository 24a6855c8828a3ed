//! Which variables a script may set: its own, and those of the environment that change nothing but looks and counts.

use crate::policy::unit::Field;

/// Whether a name may be given to a variable of a script's own: none that the shell or programs listen to, were it
/// exported already.
pub fn is_own_name(name: &str) -> bool {
    const HEARD: [&str; 16] = [
        "path",
        "fpath",
        "cdpath",
        "manpath",
        "module_path",
        "mailpath",
        "fignore",
        "http_proxy",
        "https_proxy",
        "ftp_proxy",
        "all_proxy",
        "no_proxy",
        "rsync_proxy",
        "prompt",
        "histchars",
        "auto_resume",
    ];
    if name.contains(|char: char| char.is_ascii_uppercase()) {
        return is_name(name) && !is_heard(name);
    }
    let mut chars = name.chars();
    let first = chars.next().is_some_and(|char| char.is_ascii_lowercase() || char == '_');
    first
        && chars.all(|char| char.is_ascii_lowercase() || char.is_ascii_digit() || char == '_')
        && name != "_"
        && !name.starts_with("npm_config")
        && !HEARD.contains(&name)
}

fn is_name(name: &str) -> bool {
    !name.starts_with(|char: char| char.is_ascii_digit())
        && name.chars().all(|char| char.is_ascii_alphanumeric() || char == '_')
}

/// Whether a name in capitals is one that the shell, the system or a tool may listen to: by what it begins with, or by a
/// word in it.
fn is_heard(name: &str) -> bool {
    const HEADS: [&str; 124] = [
        "GIT",
        "LD",
        "DYLD",
        "BASH",
        "ZSH",
        "KSH",
        "SH",
        "ENV",
        "IFS",
        "PS",
        "HIST",
        "COMP",
        "READLINE",
        "OPT",
        "REPLY",
        "TIMEFORMAT",
        "TMOUT",
        "MAIL",
        "FC",
        "FIGNORE",
        "GLOB",
        "IGNOREEOF",
        "INPUTRC",
        "INSIDE",
        "POSIX",
        "POSIXLY",
        "OPTIND",
        "OPTARG",
        "OPTERR",
        "RANDOM",
        "SRANDOM",
        "SECONDS",
        "LINENO",
        "LINES",
        "COLUMNS",
        "DIRSTACK",
        "GROUPS",
        "UID",
        "EUID",
        "PPID",
        "FUNC",
        "EXEC",
        "CHILD",
        "COPROC",
        "MAPFILE",
        "PROMPT",
        "AUTO",
        "EDITOR",
        "VISUAL",
        "PAGER",
        "MAN",
        "LESS",
        "MORE",
        "BROWSER",
        "DISPLAY",
        "WAYLAND",
        "ZDOTDIR",
        "TERM",
        "USER",
        "LOGNAME",
        "PWD",
        "OLDPWD",
        "TMP",
        "TMPDIR",
        "TEMP",
        "TZ",
        "HOST",
        "RES",
        "LOCAL",
        "LOC",
        "LC",
        "LANG",
        "NLS",
        "MALLOC",
        "GLIBC",
        "GCONV",
        "GETCONF",
        "TAR",
        "GZIP",
        "BZIP",
        "XZ",
        "ZSTD",
        "ZIP",
        "UNZIP",
        "GREP",
        "LS",
        "DF",
        "DU",
        "BLOCK",
        "BLOCKSIZE",
        "QUOTING",
        "TIME",
        "RIPGREP",
        "RG",
        "FZF",
        "FD",
        "BAT",
        "JQ",
        "AWK",
        "GAWK",
        "SED",
        "DIFF",
        "SSH",
        "SSL",
        "CURL",
        "WGET",
        "XDG",
        "DBUS",
        "SUDO",
        "NO",
        "FORCE",
        "CLICOLOR",
        "CI",
        "DEBUG",
        "PYTHON",
        "NODE",
        "NPM",
        "YARN",
        "PNPM",
        "BUN",
        "DENO",
        "CLAUDE",
        "ANTHROPIC",
        "PROGRAMMATOR",
    ];
    const TOOLS: [&str; 93] = [
        "ANDROID",
        "ASDF",
        "MISE",
        "SDKMAN",
        "VOLTA",
        "FLUTTER",
        "NIX",
        "VCPKG",
        "GHCUP",
        "CARGO",
        "RUST",
        "GO",
        "CGO",
        "JAVA",
        "JDK",
        "JVM",
        "MAVEN",
        "MVN",
        "GRADLE",
        "KOTLIN",
        "SBT",
        "SCALA",
        "RUBY",
        "GEM",
        "BUNDLE",
        "RAILS",
        "RACK",
        "RAKE",
        "PERL",
        "PHP",
        "COMPOSER",
        "DOCKER",
        "COMPOSE",
        "BUILDKIT",
        "KUBE",
        "HELM",
        "AWS",
        "AZURE",
        "GOOGLE",
        "GCLOUD",
        "CLOUDSDK",
        "TF",
        "CMAKE",
        "CTEST",
        "MAKE",
        "MF",
        "NINJA",
        "CC",
        "CXX",
        "CPP",
        "CPATH",
        "CPLUS",
        "AR",
        "AS",
        "NM",
        "LEX",
        "YACC",
        "M",
        "PKG",
        "ACLOCAL",
        "AUTO",
        "LIB",
        "INCLUDE",
        "PIP",
        "PIPX",
        "UV",
        "POETRY",
        "PDM",
        "CONDA",
        "VIRTUAL",
        "VIRTUALENV",
        "VENV",
        "PYENV",
        "PYTEST",
        "TOX",
        "MYPY",
        "RUFF",
        "NVM",
        "VITE",
        "NEXT",
        "JEST",
        "VITEST",
        "ESLINT",
        "TS",
        "DOTNET",
        "NUGET",
        "MSBUILD",
        "SWIFT",
        "XCODE",
        "ZIG",
        "MIX",
        "ERL",
        "ELIXIR",
    ];
    const PARTS: [&str; 26] = [
        "PATH", "HOME", "OPT", "OPTS", "OPTIONS", "FLAGS", "ARGS", "CONFIG", "PAGER", "EDITOR", "SHELL", "PRELOAD",
        "LIBRARY", "PROXY", "STARTUP", "INIT", "RC", "HOOK", "HOOKS", "COMMAND", "TRACE", "AUDIT", "WRAPPER", "PLUGIN",
        "PLUGINS", "ASKPASS",
    ];
    let parts: Vec<&str> = name.split('_').filter(|part| !part.is_empty()).collect();
    let Some(first) = parts.first() else { return true };
    let plain = first.trim_end_matches(|char: char| char.is_ascii_digit());
    let joined = ["PATH", "FLAGS", "OPTS", "OPT", "OPTIONS", "ARGS", "HOME", "RC", "PAGER", "SHELL"];
    // `PERL5LIB`, `TERMINFO`; `TIMESTAMP` and `TEMPLATE` are anybody's.
    let mut families = HEADS.iter().chain(&TOOLS).filter(|head| !matches!(**head, "TIME" | "TEMP" | "MORE" | "USER"));
    HEADS.contains(&plain)
        || TOOLS.contains(&plain)
        || (parts.len() == 1 && families.any(|head| head.len() > 3 && first.starts_with(*head)))
        || parts.iter().any(|part| PARTS.contains(part))
        || parts.iter().any(|part| joined.iter().any(|end| part.ends_with(end) && part.len() > end.len()))
}

/// Whether a variable of the environment may be set for a command: it changes how text looks, how much is said and
/// how a build counts, and no more.
pub fn is_harmless_setting(name: &str, value: &Field) -> bool {
    const NAMES: [&str; 33] = [
        "DO_NOT_TRACK",
        "NEXT_TELEMETRY_DISABLED",
        "DOTNET_CLI_TELEMETRY_OPTOUT",
        "HOMEBREW_NO_AUTO_UPDATE",
        "PYTHONIOENCODING",
        "PYTHONUTF8",
        "UV_NO_SYNC",
        "RUST_MIN_STACK",
        "PORT",
        "LOG_LEVEL",
        "VERBOSE",
        "DEBUG",
        "NO_COLOR",
        "FORCE_COLOR",
        "CLICOLOR",
        "COLUMNS",
        "LINES",
        "CI",
        "RUST_BACKTRACE",
        "RUST_LOG",
        "RUST_TEST_THREADS",
        "CARGO_TERM_COLOR",
        "CARGO_INCREMENTAL",
        "CARGO_BUILD_JOBS",
        "PROPTEST_CASES",
        "INSTA_UPDATE",
        "NODE_ENV",
        "CGO_ENABLED",
        "GOOS",
        "GOARCH",
        "PYTHONDONTWRITEBYTECODE",
        "PYTHONUNBUFFERED",
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

/// Whether an address is that of a database in a file or on this machine.
fn is_database_here(url: &str) -> bool {
    if let Some(path) = url.strip_prefix("sqlite:///") {
        let plain = |char: char| char.is_ascii_alphanumeric() || "/:._-".contains(char);
        return path.chars().all(plain) && !path.starts_with('/') && !path.contains("..");
    }
    let Some((_, rest)) = url.split_once("://").filter(|(scheme, _)| !scheme.contains("file")) else { return false };
    let authority = rest.split(['/', '?']).next().unwrap_or("");
    let host = authority.rsplit('@').next().unwrap_or("").split(':').next().unwrap_or("");
    matches!(host, "localhost" | "127.0.0.1") && !rest.contains(['?', '#'])
}

/// Options of node that load and run nothing.
fn is_option_of_node(option: &str) -> bool {
    const PLAIN: [&str; 6] = [
        "--no-warnings",
        "--trace-warnings",
        "--enable-source-maps",
        "--experimental-vm-modules",
        "--no-deprecation",
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_something_listens_to_are_not_a_scripts_own() {
        for name in ["x", "count", "_BRANCH", "COMMIT", "FOUND", "B", "VERSION", "_UPD", "OUT", "RESULT", "STATUS"] {
            assert!(is_own_name(name), "{name}");
        }
        for name in [
            "PATH",
            "LD_PRELOAD",
            "GIT_DIR",
            "BASH_ENV",
            "ENV",
            "IFS",
            "PYTHONSTARTUP",
            "NODE_OPTIONS",
            "_JAVA_OPTIONS",
            "JAVA_TOOL_OPTIONS",
            "RUBYOPT",
            "PERL5LIB",
            "PERL5OPT",
            "PS4",
            "PROMPT_COMMAND",
            "SHELLOPTS",
            "BASHOPTS",
            "CDPATH",
            "HOME",
            "TMPDIR",
            "CC",
            "CFLAGS",
            "MAKEFLAGS",
            "MY_OPTS",
            "LESSOPEN",
            "MANPAGER",
            "AWKPATH",
            "GREP_OPTIONS",
            "HTTP_PROXY",
            "SSH_ASKPASS",
            "GOFLAGS",
            "RUSTC_WRAPPER",
            "CARGO_HOME",
            "_",
            "HISTFILE",
            "DOCKER_HOST",
            "BASH_XTRACEFD",
            "GLOBIGNORE",
            "OPTIND",
            "LINES",
            "PYTHONPATH",
            "ZDOTDIR",
            "TERMINFO",
            "POSIXLY_CORRECT",
        ] {
            assert!(!is_own_name(name), "{name}");
        }
    }
}
