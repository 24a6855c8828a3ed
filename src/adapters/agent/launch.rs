//! How Claude is called: its arguments and its environment. Pure; `start` does the calling.

use super::features::{Feature, Features};
use super::marker::MARKER;
use super::settings;

pub use super::settings::OwnGit;
use crate::adapters::environment::{Variables, begins, claudes, of_builds, set_scratch};
use crate::adapters::scratch_folder::VARIABLES;
use crate::adapters::shell::BASH;
use crate::domain::approval::Presence;
use serde_json::{Value, json};
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::Duration;

/// How often Claude itself sends a failed request again.
const MAX_RETRIES: &str = "CLAUDE_CODE_MAX_RETRIES";

/// Everything that is needed to start Claude once.
#[derive(Clone, Debug, Default)]
pub struct Launch {
    /// The program and its first arguments: `["claude"]`, `["ssh", "host", "claude"]`.
    pub command: Vec<String>,
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

/// The options of one call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// `--model`; give it also when resuming, or Claude forgets the variant.
    pub model: Option<String>,
    /// `--fallback-model`: for what an overloaded model refuses; not given where it is the model itself.
    pub fallback_model: Option<String>,
    /// `--effort`; the person's own flag comes after it.
    pub effort: Option<String>,
    /// `--resume`: a session of this very folder.
    pub resume: Option<String>,
    pub max_budget_usd: Option<f64>,
    pub system_prompt_file: Option<PathBuf>,
    /// `--setting-sources`; empty unless the person opted in (`["user"]`) or trusts the repository's.
    pub setting_sources: Vec<String>,
    /// `--mcp-config`: files of MCP servers that the person trusts.
    pub mcp_config: Vec<PathBuf>,
    pub own_git: OwnGit,
    /// Who could answer Claude's own questions; with nobody there it has no tools for them.
    pub presence: Presence,
    /// It plans: Claude itself refuses what would change something, too.
    pub plan_mode: bool,
    /// The person's own flags, already checked.
    pub extra: Vec<String>,
    /// What this Claude knows, as [`super::probe`] found.
    pub features: Features,
}

impl Launch {
    pub fn program(&self) -> String {
        self.command.first().cloned().unwrap_or_default()
    }

    /// The settings that Claude is started with.
    pub fn settings(&self) -> Value {
        let variable = |name: &str| {
            let found = self.env.iter().find(|(key, _)| key == name);
            found.map(|(_, value)| value.to_string_lossy().into_owned())
        };
        let shell = variable(SHELL).unwrap_or_else(|| BASH.to_owned());
        let temporary = VARIABLES.into_iter().filter_map(|name| Some((name, variable(name)?)));
        settings::ours(self.options.own_git, &shell, temporary)
    }
}

/// Claude's arguments. Whatever a repository's settings say, these hold: no setting sources, no MCP
/// servers but given ones, hooks not to be switched off, every question over stdio.
pub fn arguments(launch: &Launch) -> Vec<String> {
    let options = &launch.options;
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
        if options.plan_mode { "plan" } else { "default" },
        "--permission-prompt-tool",
        "stdio",
        "--strict-mcp-config",
        "--settings",
    ]
    .map(str::to_owned)
    .into();
    args.extend([launch.settings().to_string(), "--setting-sources".to_owned()]);
    args.push(options.setting_sources.join(","));
    let mut disallowed = OWN_TURNS.to_vec();
    match (options.presence, options.plan_mode) {
        (Presence::Nobody, _) => disallowed.extend(FOR_A_PERSON),
        (Presence::Screen, true) => disallowed.extend(PLAN_MODE),
        (Presence::Screen, false) => {}
    }
    args.extend(["--disallowedTools".to_owned(), disallowed.join(",")]);
    let mut option = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            args.extend([name.to_owned(), value]);
        }
    };
    option("--model", options.model.clone());
    option("--fallback-model", options.fallback_model.clone().filter(|model| options.model.as_ref() != Some(model)));
    option("--effort", options.effort.clone());
    option("--resume", options.resume.clone());
    option("--max-budget-usd", options.max_budget_usd.map(|usd| usd.to_string()));
    option(
        "--append-system-prompt-file",
        options.system_prompt_file.as_ref().map(|path| path.to_string_lossy().into_owned()),
    );
    let off = options.features.have(Feature::SystemPromptSnapshot).then(|| "off".to_owned());
    option("--system-prompt-snapshot", off);
    for path in &options.mcp_config {
        args.extend(["--mcp-config".to_owned(), path.to_string_lossy().into_owned()]);
    }
    args.extend(options.extra.iter().cloned());
    args
}

/// The arguments of a Claude that a person drives, in the run's session. `hook`: the command that decides about each of
/// its calls. Where it is killed, stopped or too slow, Claude refuses the call; a version that cannot would go by its own
/// rules, which let it read, and what the person's settings allow: it is told to ask about every call.
pub fn interactive(launch: &Launch, hook: Option<&str>) -> Vec<String> {
    let options = &launch.options;
    let mut settings = launch.settings();
    if let Some(command) = hook {
        let hook = json!({"type": "command", "command": command, "timeout": HOOK_TIMEOUT, "onFailure": "block"});
        let hooks = json!([{"hooks": [hook]}]);
        settings["hooks"] = json!({"PreToolUse": hooks, "SessionStart": hooks});
        if !options.features.have(Feature::OnFailure) {
            settings["permissions"] = json!({"ask": ASKED});
        }
    }
    let mut args: Vec<String> =
        ["--permission-mode", "default", "--strict-mcp-config", "--settings"].map(str::to_owned).into();
    args.extend([settings.to_string(), "--setting-sources".to_owned(), options.setting_sources.join(",")]);
    for (name, value) in [("--model", &options.model), ("--resume", &options.resume)] {
        args.extend(value.iter().flat_map(|value| [name.to_owned(), value.clone()]));
    }
    args
}

/// Tools that act: a rule that asks comes before one that allows, and before a hook that does (measured on 2.1.197).
const ASKED: [&str; 9] = ["Bash", "Read", "Edit", "Write", "NotebookEdit", "Glob", "Grep", "WebFetch", "WebSearch"];

/// Seconds that Claude waits for its hook, which gives up before.
const HOOK_TIMEOUT: u32 = 60;

/// Tools that start turns which nobody asked for, later.
const OWN_TURNS: [&str; 2] = ["ScheduleWakeup", "CronCreate"];

/// Tools that only a person can answer.
const FOR_A_PERSON: [&str; 3] = ["AskUserQuestion", "EnterPlanMode", "ExitPlanMode"];

/// Tools that begin the work after a plan: who plans for us only answers.
const PLAN_MODE: [&str; 2] = ["EnterPlanMode", "ExitPlanMode"];

/// Which shell Claude runs commands in. The policy reads bash; another would read the same words otherwise.
const SHELL: &str = "CLAUDE_CODE_SHELL";

/// Variables of a Claude session around us: with them ours would take itself for another, be reached through it, or
/// belong to it.
const OUTER_SESSION: [&str; 14] = [
    "CLAUDE_PID", "CLAUDE_EFFORT", "CLAUDE_JOB_DIR", "CLAUDE_CODE_AGENT", "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_EXECPATH", "CLAUDE_CODE_LAUNCHED_BY_SESSION_IDS", "CLAUDE_CODE_RESUME_FROM_SESSION",
    "CLAUDE_CODE_SSE_PORT", "CLAUDE_PROJECT_DIR", "CLAUDE_ENV_FILE", SHELL,
    // What `--bare` and `--safe-mode` set: with them the gate is not asked.
    "CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_SAFE_MODE",
];

const OUTER_SESSION_PREFIXES: [&str; 10] = [
    "CLAUDE_CODE_MESSAGING_", "CLAUDE_CODE_CHILD_", "CLAUDE_CODE_SESSION_", "CLAUDE_CODE_BRIDGE_", "CLAUDE_BG_",
    "CLAUDE_BRIDGE_", "CLAUDE_PTY_HOST_", "CLAUDE_RELAUNCH_", "CLAUDE_SESSION_",
    // Another program's, which names its bot's token so.
    "CLAUDE_AFK_",
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
    pub env: Variables,
    /// Claude's shell, as [`crate::adapters::shell`] finds it; `None`: where it usually is.
    pub shell: Option<PathBuf>,
    /// `CLAUDE_CODE_MAX_RETRIES`, where `env` has none.
    pub max_retries: Option<u32>,
    pub marker: String,
    /// The run's scratch folder; nothing else may say where temporary files go.
    pub scratch: Option<PathBuf>,
}

/// Claude's environment: what builds need, and its own, then ours. Nothing from the repository.
pub fn environment(parent: impl IntoIterator<Item = (OsString, OsString)>, additions: &Additions) -> Variables {
    let parent: Variables = parent.into_iter().collect();
    let claudes = claudes(&parent, &additions.env);
    let own = parent.iter().filter(|(key, _)| begins(key, &claudes) && !is_outer(key)).cloned();
    let mut env: Variables = own.chain(of_builds(parent.iter().cloned())).collect();
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
    set(OsStr::new(SHELL), additions.shell.clone().map_or_else(|| BASH.into(), PathBuf::into_os_string));
    let theirs = additions.env.iter().find(|(key, _)| key == "GIT_CONFIG_COUNT");
    let theirs: usize = theirs.and_then(|(_, count)| count.to_str()?.parse().ok()).unwrap_or(0);
    for (at, (key, value)) in (theirs..).zip(GIT) {
        set(OsStr::new(&format!("GIT_CONFIG_KEY_{at}")), key.into());
        set(OsStr::new(&format!("GIT_CONFIG_VALUE_{at}")), value.into());
    }
    set(OsStr::new("GIT_CONFIG_COUNT"), (theirs + GIT.len()).to_string().into());
    if let Some(scratch) = &additions.scratch {
        set_scratch(&mut env, scratch);
    }
    env
}

/// Whether it belongs to a Claude session around us.
fn is_outer(key: &OsStr) -> bool {
    OUTER_SESSION.iter().any(|name| key == *name) || begins(key, &OUTER_SESSION_PREFIXES)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(options: &Options) -> String {
        arguments(&Launch { options: options.clone(), ..Launch::default() }).join(" ")
    }

    const FIXED: &str = "-p --input-format stream-json --output-format stream-json --verbose --include-partial-messages --replay-user-messages --permission-mode default --permission-prompt-tool stdio --strict-mcp-config --settings {\"crossSessionInbound\":\"refuse\",\"disableAllHooks\":false,\"env\":{\"BASH_ENV\":\"\",\"CLAUDE_CODE_SAFE_MODE\":\"\",\"CLAUDE_CODE_SHELL\":\"/bin/bash\",\"CLAUDE_CODE_SIMPLE\":\"\"}} --setting-sources ";
    const ALWAYS: &str = " --disallowedTools ScheduleWakeup,CronCreate";
    const ALONE: &str = ",AskUserQuestion,EnterPlanMode,ExitPlanMode";

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
                Options { model: Some("m".into()), fallback_model: Some("f".into()), ..Options::default() },
                " --model m --fallback-model f",
            ),
            (Options { model: Some("m".into()), fallback_model: Some("m".into()), ..Options::default() }, " --model m"),
            (
                Options { system_prompt_file: Some("/t/x.md".into()), ..Options::default() },
                " --append-system-prompt-file /t/x.md",
            ),
            (Options { setting_sources: vec!["user".into(), "project".into()], ..Options::default() }, ""),
            (Options { mcp_config: vec!["/w/.mcp.json".into()], ..Options::default() }, " --mcp-config /w/.mcp.json"),
            (Options { extra: vec!["--max-turns".into(), "9".into()], ..Options::default() }, " --max-turns 9"),
            (
                Options { features: Features::of([Feature::SystemPromptSnapshot]), ..Options::default() },
                " --system-prompt-snapshot off",
            ),
        ];
        for (options, rest) in cases {
            let sources = options.setting_sources.join(",");
            assert_eq!(line(&options), format!("{FIXED}{sources}{ALWAYS}{ALONE}{rest}"));
            let attended = Options { presence: Presence::Screen, ..options };
            assert_eq!(line(&attended), format!("{FIXED}{sources}{ALWAYS}{rest}"));
        }
        let quiet = line(&Options { own_git: OwnGit::Stays, ..Options::default() });
        assert!(quiet.contains(r#""includeGitInstructions":false} --setting-sources"#), "{quiet}");
        let sources = arguments(&Launch::default());
        let at = sources.iter().position(|word| word == "--setting-sources").unwrap();
        assert_eq!(sources[at + 1], "", "an empty list of sources");
    }

    #[test]
    fn a_person_drives_with_our_settings_and_a_hook_for_every_call() {
        let options = Options { resume: Some("id-1".into()), model: Some("opus".into()), ..Options::default() };
        let launch = Launch { options, ..Launch::default() };
        let settings = |args: &[String]| -> Value {
            let at = args.iter().position(|word| word == "--settings").unwrap();
            serde_json::from_str(&args[at + 1]).unwrap()
        };
        let gated = interactive(&launch, Some("'/p' hook"));
        let hook = |event: &str| settings(&gated)["hooks"][event][0]["hooks"][0]["command"].clone();
        assert_eq!([hook("PreToolUse"), hook("SessionStart")], ["'/p' hook", "'/p' hook"]);
        assert_eq!(settings(&gated)["disableAllHooks"], false);
        // Of a hook that fails nothing is let through: the call is refused, or asked about where that is not known.
        assert_eq!(settings(&gated)["hooks"]["PreToolUse"][0]["hooks"][0]["onFailure"], "block");
        assert!(settings(&gated)["permissions"]["ask"].as_array().is_some_and(|asked| asked.contains(&json!("Read"))));
        let options = Options { features: Features::of([Feature::OnFailure]), ..launch.options.clone() };
        let newer = interactive(&Launch { options, ..launch.clone() }, Some("'/p' hook"));
        assert!(settings(&newer)["permissions"].is_null());
        assert!(gated.join(" ").ends_with("--setting-sources  --model opus --resume id-1"), "{gated:?}");
        assert!(!gated.iter().any(|word| word == "-p" || word.contains("skip-permissions")));
        assert_eq!(settings(&interactive(&launch, None)), launch.settings());
    }

    #[test]
    fn temporary_files_go_to_the_scratch_folder_whatever_the_person_or_settings_say() {
        let own = vec![("TMPDIR".into(), "/mine".into())];
        let additions = Additions { env: own, scratch: Some("/scratch".into()), ..Additions::default() };
        let env = environment([("TMP".into(), "/theirs".into())], &additions);
        let launch = Launch { env, ..Launch::default() };
        for name in VARIABLES {
            let said: Vec<_> = launch.env.iter().filter(|(key, _)| key == name).map(|(_, value)| value).collect();
            assert_eq!(said, ["/scratch"], "{name}");
            assert_eq!(launch.settings()["env"][name], "/scratch", "{name}");
        }
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
        let elsewhere = Additions { shell: Some("/nix/bash".into()), ..Additions::default() };
        let launch = Launch { env: environment([], &elsewhere), ..Launch::default() };
        assert!(launch.env.contains(&("CLAUDE_CODE_SHELL".into(), "/nix/bash".into())));
        assert_eq!(launch.settings()["env"]["CLAUDE_CODE_SHELL"], "/nix/bash");
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
            ("CLAUDE_AFK_TELEGRAM_TOKEN", "t"),
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
            ("CLAUDE_CODE_SESSION_ATTENDED", "1"),
            ("CLAUDE_CODE_MESSAGING_SOCKET", "/outer.sock"),
            ("CLAUDE_CODE_MESSAGING_TOKEN", "outer"),
            ("CLAUDE_CODE_CHILD_NOTES_DIR", "/outer"),
            ("CLAUDE_CODE_CHILD_SESSION", "1"),
            ("CLAUDE_CODE_ENTRYPOINT", "cli"),
            ("CLAUDE_CODE_EXECPATH", "/outer"),
            ("CLAUDE_CODE_SIMPLE", "1"),
            ("CLAUDE_CODE_SHELL", "/bin/zsh"),
            ("CLAUDE_EFFORT", "low"),
            ("CLAUDE_PID", "1"),
            ("CARGO_HOME", "/cargo"),
            ("CARGO_REGISTRY_TOKEN", "t"),
            ("BASH_ENV", "x"),
            ("PROGRAMMATOR_RUN_ID", "outer"),
            ("DISABLE_AUTOUPDATER", "0"),
        ];
        let additions = Additions { marker: "run-1".into(), ..Additions::default() };
        assert_eq!(
            kept(&parent, &additions),
            [
                "ANTHROPIC_API_KEY=k", "CARGO_HOME=/cargo", "CLAUDE_CONFIG_DIR=/c", "DISABLE_AUTOUPDATER=1", "HOME=/h",
                "IS_SANDBOX=1", "LC_ALL=C", "NO_PROXY=n", "PATH=/bin", "PROGRAMMATOR_RUN_ID=run-1",
                "XDG_CONFIG_HOME=/x", "https_proxy=p",
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
            ..Additions::default()
        };
        assert_eq!(
            kept(&[("PATH", "/bin")], &additions),
            ["CLAUDE_CODE_MAX_RETRIES=2", "DISABLE_AUTOUPDATER=1", "PATH=/mine", "PROGRAMMATOR_RUN_ID=run-1",]
        );
    }
}
