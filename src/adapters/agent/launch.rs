//! How Claude is called: its arguments and its environment. Pure; `start` does the calling.

use crate::domain::approval::Presence;
use serde_json::json;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::Duration;

/// The variable that every process of a run carries; [`super::orphans`] finds them by it.
pub const MARKER: &str = "PROGRAMMATOR_RUN_ID";

/// How often Claude itself sends a failed request again.
const MAX_RETRIES: &str = "CLAUDE_CODE_MAX_RETRIES";

/// Everything that is needed to start Claude once.
#[derive(Clone, Debug, Default)]
pub struct Launch {
    /// The program and its first arguments: `["claude"]`, `["ssh", "host", "claude"]`.
    pub command: Vec<String>,
    /// What it is asked to do.
    pub options: Options,
    /// The whole environment, as [`environment`] makes it.
    pub env: Vec<(OsString, OsString)>,
    /// Where it works; absolute.
    pub folder: PathBuf,
    /// Value of [`MARKER`]: the run's id.
    pub marker: String,
    /// How long it has to answer `initialize`; `None`: as long as the owner waits.
    pub patience: Option<Duration>,
}

/// Whether Claude looks at the repository by itself when it starts, with git and without a question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OwnGit {
    /// It runs `git status` and the like.
    #[default]
    Looks,
    /// It runs none: the repository would have git run programs.
    Stays,
}

/// The options of one call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// `--model`; give it also when resuming, or Claude forgets the variant.
    pub model: Option<String>,
    /// `--resume`: a session of this very folder.
    pub resume: Option<String>,
    /// `--max-budget-usd`.
    pub max_budget_usd: Option<f64>,
    /// `--append-system-prompt-file`.
    pub system_prompt_file: Option<PathBuf>,
    /// `--setting-sources`; empty unless the person opted in (`["user"]`) or trusts the repository's.
    pub setting_sources: Vec<String>,
    /// `--mcp-config`: files of MCP servers that the person trusts.
    pub mcp_config: Vec<PathBuf>,
    /// Claude's own use of git.
    pub own_git: OwnGit,
    /// Who could answer Claude's own questions; with nobody there it has no tools for them.
    pub presence: Presence,
    /// The person's own flags, already checked.
    pub extra: Vec<String>,
}

impl Launch {
    /// The program's name, for messages.
    pub fn program(&self) -> String {
        self.command.first().cloned().unwrap_or_default()
    }
}

/// Claude's arguments. Whatever a repository's settings say, these hold: no setting sources, no MCP
/// servers but given ones, hooks not to be switched off, every question over stdio.
pub fn arguments(options: &Options) -> Vec<String> {
    let mut args: Vec<String> = [
        "-p",
        "--input-format",
        "stream-json",
        "--output-format",
        "stream-json",
        "--verbose",
        "--include-partial-messages",
        "--replay-user-messages",
        "--permission-mode",
        "default",
        "--permission-prompt-tool",
        "stdio",
        "--strict-mcp-config",
        "--settings",
    ]
    .map(str::to_owned)
    .into();
    args.extend([settings(options.own_git), "--setting-sources".to_owned()]);
    args.push(options.setting_sources.join(","));
    if options.presence == Presence::Nobody {
        args.extend(["--disallowedTools", "AskUserQuestion,EnterPlanMode,ExitPlanMode"].map(str::to_owned));
    }
    let mut option = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            args.extend([name.to_owned(), value]);
        }
    };
    option("--model", options.model.clone());
    option("--resume", options.resume.clone());
    option("--max-budget-usd", options.max_budget_usd.map(|usd| usd.to_string()));
    option(
        "--append-system-prompt-file",
        options.system_prompt_file.as_ref().map(|path| path.to_string_lossy().into_owned()),
    );
    for path in &options.mcp_config {
        args.extend(["--mcp-config".to_owned(), path.to_string_lossy().into_owned()]);
    }
    args.extend(options.extra.iter().cloned());
    args
}

/// Settings that outrank a repository's. `env` there can switch the gate off (`CLAUDE_CODE_SIMPLE`) or change what
/// bash makes of a command that was judged, even from files that the person trusts.
fn settings(own_git: OwnGit) -> String {
    let mut settings = json!({
        "disableAllHooks": false,
        "env": {"BASH_ENV": "", "CLAUDE_CODE_SAFE_MODE": "", "CLAUDE_CODE_SHELL": SHELL, "CLAUDE_CODE_SIMPLE": ""},
    });
    if own_git == OwnGit::Stays {
        settings["includeGitInstructions"] = false.into();
    }
    settings.to_string()
}

/// The policy reads bash; another shell would read the same words otherwise.
const SHELL: &str = "/bin/bash";

/// Variables of the person's environment that Claude gets.
const PASSED: [&str; 10] =
    ["PATH", "HOME", "USER", "SHELL", "LANG", "TERM", "TZ", "TMPDIR", "SSH_AUTH_SOCK", "IS_SANDBOX"];

/// Beginnings of such variables.
const PASSED_PREFIXES: [&str; 5] = ["LC_", "XDG_", "ANTHROPIC_", "CLAUDE_", "DISABLE_"];

/// Variables of a Claude session around us; they would tell ours that it is somebody else.
const OUTER_SESSION: [&str; 6] = [
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_PROJECT_DIR",
    "CLAUDE_ENV_FILE",
    // What `--bare` and `--safe-mode` set: with them the gate is not asked.
    "CLAUDE_CODE_SIMPLE",
    "CLAUDE_CODE_SAFE_MODE",
];

/// What git is told whatever a repository's own configuration says, so that looking at one runs nothing of its own: as
/// if each were given with `-c`. (An empty `diff.external` would make every `git diff` fail: measured, git 2.47.)
const GIT: [(&str, &str); 3] =
    [("core.fsmonitor", "false"), ("core.pager", "cat"), ("safe.bareRepository", "explicit")];

/// What else keeps git from running what a repository names, where the person sets nothing: looking refreshes no
/// index, which would call a hook, and no editor of the repository's is opened (nobody could type into it).
const GIT_VARIABLES: [(&str, &str); 2] = [("GIT_OPTIONAL_LOCKS", "0"), ("GIT_EDITOR", "true")];

/// What is set on top of the person's environment.
#[derive(Clone, Debug, Default)]
pub struct Additions {
    /// `agent.env` of the person's own config; wins over what is passed on.
    pub env: Vec<(OsString, OsString)>,
    /// `CLAUDE_CODE_MAX_RETRIES`, where `env` has none.
    pub max_retries: Option<u32>,
    /// Value of [`MARKER`].
    pub marker: String,
}

/// Claude's environment: an allow list of the person's own, then ours. Nothing from the repository.
pub fn environment(
    parent: impl IntoIterator<Item = (OsString, OsString)>,
    additions: &Additions,
) -> Vec<(OsString, OsString)> {
    let parent: Vec<_> = parent.into_iter().collect();
    let on = |name: &str| {
        parent
            .iter()
            .chain(&additions.env)
            .any(|(key, value)| key == name && !value.is_empty() && value != "0" && value != "false")
    };
    let clouds = [("AWS_", on("CLAUDE_CODE_USE_BEDROCK")), ("GOOGLE_", on("CLAUDE_CODE_USE_VERTEX"))];
    let mut env: Vec<(OsString, OsString)> = parent.iter().filter(|(key, _)| passes(key, &clouds)).cloned().collect();
    let mut set = |key: &OsStr, value: OsString| {
        env.retain(|(present, _)| present != key);
        env.push((key.to_owned(), value));
    };
    for (key, value) in &additions.env {
        set(key, value.clone());
    }
    set(OsStr::new("DISABLE_AUTOUPDATER"), "1".into());
    for (key, value) in GIT_VARIABLES {
        if !additions.env.iter().any(|(own, _)| own == key) {
            set(OsStr::new(key), value.into());
        }
    }
    let own = additions.env.iter().any(|(key, _)| key == MAX_RETRIES);
    if let Some(retries) = additions.max_retries.filter(|_| !own) {
        set(OsStr::new(MAX_RETRIES), retries.to_string().into());
    }
    set(OsStr::new(MARKER), additions.marker.clone().into());
    set(OsStr::new("CLAUDE_CODE_SHELL"), SHELL.into());
    let theirs = additions.env.iter().find(|(key, _)| key == "GIT_CONFIG_COUNT");
    let theirs: usize = theirs.and_then(|(_, count)| count.to_str()?.parse().ok()).unwrap_or(0);
    for (at, (key, value)) in (theirs..).zip(GIT) {
        set(OsStr::new(&format!("GIT_CONFIG_KEY_{at}")), key.into());
        set(OsStr::new(&format!("GIT_CONFIG_VALUE_{at}")), value.into());
    }
    set(OsStr::new("GIT_CONFIG_COUNT"), (theirs + GIT.len()).to_string().into());
    env
}

fn passes(key: &OsStr, clouds: &[(&str, bool)]) -> bool {
    let Some(key) = key.to_str() else {
        return false;
    };
    !OUTER_SESSION.contains(&key)
        && (PASSED.contains(&key)
            || PASSED_PREFIXES.iter().any(|prefix| key.starts_with(prefix))
            || key.to_ascii_uppercase().ends_with("_PROXY")
            || clouds.iter().any(|(prefix, on)| *on && key.starts_with(prefix)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(options: &Options) -> String {
        arguments(options).join(" ")
    }

    const FIXED: &str = "-p --input-format stream-json --output-format stream-json --verbose --include-partial-messages --replay-user-messages --permission-mode default --permission-prompt-tool stdio --strict-mcp-config --settings {\"disableAllHooks\":false,\"env\":{\"BASH_ENV\":\"\",\"CLAUDE_CODE_SAFE_MODE\":\"\",\"CLAUDE_CODE_SHELL\":\"/bin/bash\",\"CLAUDE_CODE_SIMPLE\":\"\"}} --setting-sources ";
    const ALONE: &str = " --disallowedTools AskUserQuestion,EnterPlanMode,ExitPlanMode";

    #[test]
    fn arguments_are_exactly_these() {
        let cases = [
            (Options::default(), ""),
            (Options { model: Some("opus".into()), ..Options::default() }, " --model opus"),
            (
                Options { model: Some("m[1m]".into()), resume: Some("id-1".into()), ..Options::default() },
                " --model m[1m] --resume id-1",
            ),
            (Options { max_budget_usd: Some(1.5), ..Options::default() }, " --max-budget-usd 1.5"),
            (
                Options { system_prompt_file: Some("/t/x.md".into()), ..Options::default() },
                " --append-system-prompt-file /t/x.md",
            ),
            (Options { setting_sources: vec!["user".into(), "project".into()], ..Options::default() }, ""),
            (Options { mcp_config: vec!["/w/.mcp.json".into()], ..Options::default() }, " --mcp-config /w/.mcp.json"),
            (Options { extra: vec!["--max-turns".into(), "9".into()], ..Options::default() }, " --max-turns 9"),
        ];
        for (options, rest) in cases {
            let sources = options.setting_sources.join(",");
            assert_eq!(line(&options), format!("{FIXED}{sources}{ALONE}{rest}"));
            let attended = Options { presence: Presence::Screen, ..options };
            assert_eq!(line(&attended), format!("{FIXED}{sources}{rest}"));
        }
        let quiet = line(&Options { own_git: OwnGit::Stays, ..Options::default() });
        assert!(quiet.contains(r#""includeGitInstructions":false} --setting-sources"#), "{quiet}");
        let sources = arguments(&Options::default());
        let at = sources.iter().position(|word| word == "--setting-sources").unwrap();
        assert_eq!(sources[at + 1], "", "an empty list of sources");
    }

    #[test]
    fn git_is_hardened_behind_what_the_person_sets() {
        let own = [("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_KEY_0", "a.b"), ("GIT_CONFIG_VALUE_0", "c")];
        let env = own.map(|(key, value)| (OsString::from(key), OsString::from(value))).into();
        let additions = Additions { env, ..Additions::default() };
        let all = environment([], &additions);
        let get = |name: &str| all.iter().find(|(key, _)| key == name).map(|(_, value)| value.to_str().unwrap());
        assert_eq!((get("GIT_CONFIG_COUNT"), get("GIT_CONFIG_KEY_0")), (Some("4"), Some("a.b")));
        assert_eq!(
            (get("GIT_CONFIG_KEY_3"), get("GIT_CONFIG_VALUE_3")),
            (Some("safe.bareRepository"), Some("explicit"))
        );
        assert_eq!(get("CLAUDE_CODE_SHELL"), Some("/bin/bash"));
        assert_eq!((get("GIT_OPTIONAL_LOCKS"), get("GIT_EDITOR")), (Some("0"), Some("true")));
        let additions = Additions { env: vec![("GIT_EDITOR".into(), "mine".into())], ..Additions::default() };
        assert!(environment([], &additions).contains(&("GIT_EDITOR".into(), "mine".into())));
    }

    /// What every environment has; it has a test of its own.
    fn ours(key: &OsStr) -> bool {
        key == "CLAUDE_CODE_SHELL" || key.to_string_lossy().starts_with("GIT_")
    }

    fn kept(parent: &[(&str, &str)], additions: &Additions) -> Vec<String> {
        let mut kept: Vec<String> = environment(parent.iter().map(|(k, v)| ((*k).into(), (*v).into())), additions)
            .into_iter()
            .filter(|(key, _)| !ours(key))
            .map(|(k, v)| format!("{}={}", k.to_string_lossy(), v.to_string_lossy()))
            .collect();
        kept.sort();
        kept
    }

    #[test]
    fn only_the_allow_list_passes() {
        let parent = [
            ("PATH", "/bin"),
            ("HOME", "/h"),
            ("LC_ALL", "C"),
            ("XDG_CONFIG_HOME", "/x"),
            ("ANTHROPIC_API_KEY", "k"),
            ("CLAUDE_CONFIG_DIR", "/c"),
            ("https_proxy", "p"),
            ("NO_PROXY", "n"),
            ("IS_SANDBOX", "1"),
            ("AWS_SECRET_ACCESS_KEY", "s"),
            ("GOOGLE_APPLICATION_CREDENTIALS", "g"),
            ("GITHUB_TOKEN", "t"),
            ("LD_PRELOAD", "x.so"),
            ("NODE_OPTIONS", "--require x"),
            ("CLAUDECODE", "1"),
            ("CLAUDE_CODE_SESSION_ID", "outer"),
            ("BASH_ENV", "x"),
            ("PROGRAMMATOR_RUN_ID", "outer"),
            ("DISABLE_AUTOUPDATER", "0"),
        ];
        let additions = Additions { marker: "run-1".into(), ..Additions::default() };
        assert_eq!(
            kept(&parent, &additions),
            [
                "ANTHROPIC_API_KEY=k",
                "CLAUDE_CONFIG_DIR=/c",
                "DISABLE_AUTOUPDATER=1",
                "HOME=/h",
                "IS_SANDBOX=1",
                "LC_ALL=C",
                "NO_PROXY=n",
                "PATH=/bin",
                "PROGRAMMATOR_RUN_ID=run-1",
                "XDG_CONFIG_HOME=/x",
                "https_proxy=p",
            ]
        );
    }

    #[test]
    fn cloud_credentials_pass_only_with_their_cloud() {
        let credentials = [("AWS_PROFILE", "a"), ("GOOGLE_CLOUD_PROJECT", "g")];
        let cases = [
            (("CLAUDE_CODE_USE_BEDROCK", "1"), true, false),
            (("CLAUDE_CODE_USE_VERTEX", "true"), false, true),
            (("CLAUDE_CODE_USE_BEDROCK", "0"), false, false),
        ];
        for (switch, aws, google) in cases {
            let parent = [&credentials[..], &[switch]].concat();
            let kept = kept(&parent, &Additions::default()).join(" ");
            assert_eq!(kept.contains("AWS_PROFILE=a"), aws, "{switch:?}");
            assert_eq!(kept.contains("GOOGLE_CLOUD_PROJECT=g"), google, "{switch:?}");
        }
    }

    #[test]
    fn the_persons_config_wins_but_not_over_the_marker() {
        let additions = Additions {
            env: vec![("PATH".into(), "/mine".into()), (MARKER.into(), "forged".into())],
            max_retries: Some(2),
            marker: "run-1".into(),
        };
        assert_eq!(
            kept(&[("PATH", "/bin")], &additions),
            ["CLAUDE_CODE_MAX_RETRIES=2", "DISABLE_AUTOUPDATER=1", "PATH=/mine", "PROGRAMMATOR_RUN_ID=run-1",]
        );
    }
}
