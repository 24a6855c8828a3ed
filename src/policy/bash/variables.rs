//! Which variables a script may set as its own.

/// Whether a name may be given to a variable of a script's own: none that the shell or programs listen to, were it
/// exported already.
pub fn is_own_name(name: &str) -> bool {
    const HEARD: [&str; 16] = [
        "path", "fpath", "cdpath", "manpath", "module_path", "mailpath", "fignore", "http_proxy", "https_proxy",
        "ftp_proxy", "all_proxy", "no_proxy", "rsync_proxy", "prompt", "histchars", "auto_resume",
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
        "GIT", "LD", "DYLD", "BASH", "ZSH", "KSH", "SH", "ENV", "IFS", "PS", "HIST", "COMP", "READLINE", "OPT",
        "REPLY", "TIMEFORMAT", "TMOUT", "MAIL", "FC", "FIGNORE", "GLOB", "IGNOREEOF", "INPUTRC", "INSIDE", "POSIX",
        "POSIXLY", "OPTIND", "OPTARG", "OPTERR", "RANDOM", "SRANDOM", "SECONDS", "LINENO", "LINES", "COLUMNS",
        "DIRSTACK", "GROUPS", "UID", "EUID", "PPID", "FUNC", "EXEC", "CHILD", "COPROC", "MAPFILE", "PROMPT", "AUTO",
        "EDITOR", "VISUAL", "PAGER", "MAN", "LESS", "MORE", "BROWSER", "DISPLAY", "WAYLAND", "ZDOTDIR", "TERM", "USER",
        "LOGNAME", "PWD", "OLDPWD", "TMP", "TMPDIR", "TEMP", "TZ", "HOST", "RES", "LOCAL", "LOC", "LC", "LANG", "NLS",
        "MALLOC", "GLIBC", "GCONV", "GETCONF", "TAR", "GZIP", "BZIP", "XZ", "ZSTD", "ZIP", "UNZIP", "GREP", "LS", "DF",
        "DU", "BLOCK", "BLOCKSIZE", "QUOTING", "TIME", "RIPGREP", "RG", "FZF", "FD", "BAT", "JQ", "AWK", "GAWK", "SED",
        "DIFF", "SSH", "SSL", "CURL", "WGET", "XDG", "DBUS", "SUDO", "NO", "FORCE", "CLICOLOR", "CI", "DEBUG",
        "PYTHON", "NODE", "NPM", "YARN", "PNPM", "BUN", "DENO", "CLAUDE", "ANTHROPIC", "PROGRAMMATOR",
    ];
    const TOOLS: [&str; 93] = [
        "ANDROID", "ASDF", "MISE", "SDKMAN", "VOLTA", "FLUTTER", "NIX", "VCPKG", "GHCUP", "CARGO", "RUST", "GO", "CGO",
        "JAVA", "JDK", "JVM", "MAVEN", "MVN", "GRADLE", "KOTLIN", "SBT", "SCALA", "RUBY", "GEM", "BUNDLE", "RAILS",
        "RACK", "RAKE", "PERL", "PHP", "COMPOSER", "DOCKER", "COMPOSE", "BUILDKIT", "KUBE", "HELM", "AWS", "AZURE",
        "GOOGLE", "GCLOUD", "CLOUDSDK", "TF", "CMAKE", "CTEST", "MAKE", "MF", "NINJA", "CC", "CXX", "CPP", "CPATH",
        "CPLUS", "AR", "AS", "NM", "LEX", "YACC", "M", "PKG", "ACLOCAL", "AUTO", "LIB", "INCLUDE", "PIP", "PIPX", "UV",
        "POETRY", "PDM", "CONDA", "VIRTUAL", "VIRTUALENV", "VENV", "PYENV", "PYTEST", "TOX", "MYPY", "RUFF", "NVM",
        "VITE", "NEXT", "JEST", "VITEST", "ESLINT", "TS", "DOTNET", "NUGET", "MSBUILD", "SWIFT", "XCODE", "ZIG", "MIX",
        "ERL", "ELIXIR",
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_something_listens_to_are_not_a_scripts_own() {
        for name in ["x", "count", "_BRANCH", "COMMIT", "FOUND", "B", "VERSION", "_UPD", "OUT", "RESULT", "STATUS"] {
            assert!(is_own_name(name), "{name}");
        }
        for name in [
            "PATH", "LD_PRELOAD", "GIT_DIR", "BASH_ENV", "ENV", "IFS", "PYTHONSTARTUP", "NODE_OPTIONS",
            "_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "RUBYOPT", "PERL5LIB", "PERL5OPT", "PS4", "PROMPT_COMMAND",
            "SHELLOPTS", "BASHOPTS", "CDPATH", "HOME", "TMPDIR", "CC", "CFLAGS", "MAKEFLAGS", "MY_OPTS", "LESSOPEN",
            "MANPAGER", "AWKPATH", "GREP_OPTIONS", "HTTP_PROXY", "SSH_ASKPASS", "GOFLAGS", "RUSTC_WRAPPER",
            "CARGO_HOME", "_", "HISTFILE", "DOCKER_HOST", "BASH_XTRACEFD", "GLOBIGNORE", "OPTIND", "LINES",
            "PYTHONPATH", "ZDOTDIR", "TERMINFO", "POSIXLY_CORRECT",
        ] {
            assert!(!is_own_name(name), "{name}");
        }
    }
}
