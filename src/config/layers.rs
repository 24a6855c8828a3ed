//! Puts the layers together and remembers where each value came from.

use crate::base::text::clean_line;
use crate::config::file::{self, Setting};
use crate::config::key::{FromProject, KEYS, Key, Row, Value, row_of};
use crate::config::values::{Explained, Values, assemble};
use crate::config::{Config, ConfigError, FileText, Files, Notice, Trust};
use crate::orchestrator::prompt::{Kind, Template, Templates, branch_name, commit_message};
use crate::orchestrator::{review, steps};
use std::collections::BTreeMap;

/// What the layers are made of.
#[derive(Clone, Debug)]
pub struct Layers {
    pub user: Files,
    /// The project's `.programmator` folder.
    pub project: Files,
    /// Whether the project's files are trusted as they are now.
    pub trust: Trust,
    /// Environment variables; others than ours may be among them.
    pub environment: BTreeMap<String, String>,
    /// Flags of the command line: key, name of the flag (`--max-iterations`), what stands behind it.
    pub flags: Vec<(Key, &'static str, String)>,
}

/// What came out.
#[derive(Clone, Debug)]
pub struct Resolved {
    pub config: Config,
    /// Every key with its value and where it came from, in the order of the table.
    pub values: Vec<Explained>,
    /// The prompts in effect, and where each came from, as further rows of `values`.
    pub templates: Templates,
    pub notices: Vec<Notice>,
    /// The project's validation commands are not among them, because nobody trusts the project.
    pub ignores_checks: bool,
}

/// Resolves all layers: built-in < user < project < environment < flags.
///
/// Everything that is wrong is in the error, not only the first.
pub fn resolve(layers: &Layers) -> Result<Resolved, Vec<ConfigError>> {
    let mut errors = Vec::new();
    let mut notices = Vec::new();
    let mut ignores_checks = false;
    let mut settings = Vec::new();
    for (files, is_project) in [(&layers.user, false), (&layers.project, true)] {
        let Some(file) = &files.config else { continue };
        let (mut found, wrong) = file::read(file);
        if is_project {
            let is_own = |setting: &Setting| setting.row.from_project == FromProject::Never;
            let ignored = found.iter().filter(|setting| is_own(setting)).map(|setting| {
                Notice::warn(format!(
                    "{} sets {}: ignored, because only your own configuration can set it",
                    setting.at, setting.row.name
                ))
            });
            notices.extend(ignored);
            found.retain(|setting| !is_own(setting));
        }
        // A project that nobody trusts cannot keep the program from starting.
        if is_project && layers.trust != Trust::Trusted {
            notices.extend(wrong.iter().map(|error| Notice::warn(format!("{error}: ignored"))));
            let (kept, ignored): (Vec<_>, Vec<_>) =
                found.into_iter().partition(|setting| setting.row.from_project == FromProject::Always);
            ignores_checks = ignored.iter().any(|setting| setting.row.key == Key::ValidationCommands);
            notices.extend(ignored.iter().map(|setting| untrusted(&setting.at, setting.row.name, layers.trust)));
            settings.extend(kept);
        } else {
            errors.extend(wrong);
            settings.extend(found);
        }
    }
    settings.extend(from_environment(&layers.environment, &mut errors));
    settings.extend(from_flags(&layers.flags, &mut errors));

    let mut values = Values::default();
    for setting in settings {
        values.0.insert(setting.row.key, (setting.value, setting.at));
    }
    let given = layers.flags.iter().map(|(key, ..)| *key).collect();
    let config = assemble(&values, given, &mut notices, &mut errors);
    let (templates, explained) = templates(layers, &mut notices);
    let message = &config.settings.git.message;
    if let Err(why) = commit_message(message, "x", "x", "x") {
        let at = values.at(Key::GitMessage).to_owned();
        errors.push(ConfigError { at, message: format!("git.message: {}", clean_line(&why, 200)) });
    }
    let branch = &config.settings.git.branch;
    if let Err(why) = branch_name(branch, "x") {
        let at = values.at(Key::GitBranch).to_owned();
        errors.push(ConfigError { at, message: format!("git.branch: {}", clean_line(&why, 200)) });
    }
    if let Some(base) = config.settings.git.base.as_deref().filter(|base| base.starts_with('-')) {
        let at = values.at(Key::GitBase).to_owned();
        errors.push(ConfigError { at, message: format!("git.base: `{}` is not a branch", clean_line(base, 60)) });
    }
    // What is built in is checked by the tests.
    let own: Vec<_> = prompts().into_iter().filter(|kind| templates.own(*kind).is_some()).collect();
    if let Err(error) = templates.check(&own) {
        errors.push(ConfigError { at: format!("{}:{}", error.file, error.line), message: error.message });
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let values = KEYS.iter().map(|row| values.explain(row)).chain(explained).collect();
    Ok(Resolved { config, values, templates, notices, ignores_checks })
}

fn untrusted(at: &str, what: &str, trust: Trust) -> Notice {
    let why = match trust {
        Trust::Changed => "the project's files have changed since you trusted them",
        Trust::Unknown | Trust::Trusted => "this project is not trusted",
    };
    Notice::warn(format!("{at} sets {what}: ignored, {why}. Look at the file, then run `programmator trust`"))
}

fn from_environment(environment: &BTreeMap<String, String>, errors: &mut Vec<ConfigError>) -> Vec<Setting> {
    let set = |name: &str| environment.get(name).filter(|text| !text.is_empty());
    let mono = set("NO_COLOR").map(|_| Setting {
        row: row_of(Key::Theme),
        value: Value::Text("mono".to_owned()),
        at: "NO_COLOR".to_owned(),
    });
    let named = KEYS.iter().filter_map(|row| {
        let name = row.env?;
        let read = row.read_text(set(name)?);
        keep(read, row, name, errors)
    });
    mono.into_iter().chain(named).collect()
}

fn from_flags(flags: &[(Key, &'static str, String)], errors: &mut Vec<ConfigError>) -> Vec<Setting> {
    flags
        .iter()
        .filter_map(|(key, flag, text)| keep(row_of(*key).read_text(text), row_of(*key), flag, errors))
        .collect()
}

fn keep(read: Result<Value, String>, row: &'static Row, at: &str, errors: &mut Vec<ConfigError>) -> Option<Setting> {
    match read {
        Ok(value) => Some(Setting { row, value, at: at.to_owned() }),
        Err(message) => {
            errors.push(ConfigError { at: at.to_owned(), message });
            None
        }
    }
}

/// The templates that a person may have their own of.
fn prompts() -> Vec<Kind> {
    steps::prompts().into_iter().chain(review::prompts()).collect()
}

fn templates(layers: &Layers, notices: &mut Vec<Notice>) -> (Templates, Vec<Explained>) {
    let (mut templates, kinds) = (Templates::default(), prompts());
    let mut put = |prompt: &FileText, notices: &mut Vec<Notice>| {
        if let Some(kind) = kinds.iter().find(|kind| kind.file == prompt.name()) {
            let (file, source) = (prompt.path.clone(), prompt.text.clone());
            templates.set(*kind, Template { file, source });
        } else {
            let names = kinds.iter().map(|kind| kind.file).collect::<Vec<_>>().join(", ");
            let path = clean_line(&prompt.path, 200);
            notices.push(Notice::warn(format!("{path} is not a prompt and is ignored; prompts are {names}")));
        }
    };
    for prompt in &layers.user.prompts {
        put(prompt, notices);
    }
    for prompt in &layers.project.prompts {
        if layers.trust == Trust::Trusted {
            put(prompt, notices);
        } else {
            notices.push(untrusted(&clean_line(&prompt.path, 200), "a prompt", layers.trust));
        }
    }
    let rows = kinds.iter().map(|kind| {
        let (template, own) = (templates.get(*kind), templates.own(*kind).is_some());
        Explained {
            name: format!("prompts.{}", kind.file.trim_end_matches(".md")),
            value: format!("{} lines", template.source.lines().count()),
            from: if own { clean_line(&template.file, 200) } else { "built-in".to_owned() },
        }
    });
    let rows = rows.collect();
    (templates, rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::profile::Profile;
    use crate::domain::settings::Settings;
    use crate::domain::step::StepName;
    use crate::domain::workflow::{StepSettings, Workflow};

    fn layers() -> Layers {
        Layers {
            user: Files::default(),
            project: Files::default(),
            trust: Trust::Unknown,
            environment: BTreeMap::new(),
            flags: Vec::new(),
        }
    }

    fn file(path: &str, text: &str) -> Files {
        Files { config: Some(FileText { path: path.into(), text: text.into() }), ..Files::default() }
    }

    fn variables(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    fn from<'a>(resolved: &'a Resolved, name: &str) -> &'a str {
        &resolved.values.iter().find(|row| row.name == name).unwrap().from
    }

    #[test]
    fn each_layer_beats_the_ones_below() {
        let mut layers = layers();
        let seen = |layers: &Layers| {
            let resolved = resolve(layers).unwrap();
            (resolved.config.settings.max_iterations, from(&resolved, "limits.max_iterations").to_owned())
        };
        assert_eq!(seen(&layers), (50, "built-in".into()));
        layers.user = file("u.yaml", "limits:\n  max_iterations: 2\n");
        assert_eq!(seen(&layers), (2, "u.yaml:2".into()));
        layers.project = file("p.yaml", "limits: {max_iterations: 3}\n");
        assert_eq!(seen(&layers), (3, "p.yaml:1".into()));
        layers.environment = variables(&[("PROGRAMMATOR_MAX_ITERATIONS", "4")]);
        assert_eq!(seen(&layers), (4, "PROGRAMMATOR_MAX_ITERATIONS".into()));
        layers.flags = vec![(Key::MaxIterations, "--max-iterations", "5".into())];
        assert_eq!(seen(&layers), (5, "--max-iterations".into()));
    }

    #[test]
    fn what_is_the_persons_alone_no_project_sets_trusted_or_not() {
        let own = "worktree: {setup: make, copy: [.env], folder: /trees}\n";
        for trust in [Trust::Trusted, Trust::Unknown] {
            let resolved = resolve(&Layers { project: file("p.yaml", own), trust, ..layers() }).unwrap();
            assert_eq!(resolved.config.worktree.setup, None);
            assert_eq!((resolved.config.worktree.copy.len(), &resolved.config.worktree.folder), (0, &None));
            assert_eq!(resolved.notices.len(), 3, "{:?}", resolved.notices);
            assert!(resolved.notices[0].text.contains("only your own configuration"), "{:?}", resolved.notices);
        }
        let resolved = resolve(&Layers { user: file("u.yaml", own), ..layers() }).unwrap();
        assert_eq!(resolved.config.worktree.setup.as_deref(), Some("make"));
    }

    #[test]
    fn nothing_set_is_the_built_in_rules() {
        let resolved = resolve(&layers()).unwrap();
        let mut builtin = Settings::default();
        builtin.workflow.name = Workflow::Auto;
        assert_eq!(resolved.config.settings, builtin);
        assert_eq!(resolved.config.agent.command, ["claude"]);
        assert_eq!(resolved.values.len(), KEYS.len() + prompts().len());
        assert!(resolved.notices.is_empty());
    }

    #[test]
    fn the_environment_sets_what_it_should() {
        let mut layers = layers();
        layers.environment = variables(&[
            ("PROGRAMMATOR_STAGNATION_LIMIT", "7"),
            ("PROGRAMMATOR_TIMEOUT", "60"),
            ("PROGRAMMATOR_CLAUDE_FLAGS", "--dangerously-skip-permissions --effort 'high'"),
            ("PROGRAMMATOR_CLAUDE", "/opt/my claude/bin"),
            ("TICKETS_DIR", "~/t"),
            ("NO_COLOR", "1"),
            ("PROGRAMMATOR_MAX_ITERATIONS", ""),
        ]);
        let resolved = resolve(&layers).unwrap();
        let config = &resolved.config;
        assert_eq!((config.settings.stagnation_limit, config.settings.iteration_timeout), (7, 60));
        assert_eq!(config.agent.flags, ["--effort", "high"]);
        assert_eq!(config.agent.command, ["/opt/my claude/bin"]);
        assert_eq!(config.tickets_dir.as_deref(), Some("~/t"));
        assert_eq!((config.screen.theme.as_str(), from(&resolved, "screen.theme")), ("mono", "NO_COLOR"));
        assert_eq!(config.settings.max_iterations, 50);
        assert!(resolved.notices[0].text.contains("PROGRAMMATOR_CLAUDE_FLAGS"), "{:?}", resolved.notices);

        layers.environment.insert("PROGRAMMATOR_THEME".into(), "dark".into());
        assert_eq!(resolve(&layers).unwrap().config.screen.theme, "dark");
    }

    #[test]
    fn a_step_has_settings_of_its_own() {
        let text = "workflow:\n  models: {critique: opus}\n  efforts: {critique: high}\n  budgets_usd: {evaluate: 0.5}\n  profiles: {fix: strict}\n";
        let resolved = resolve(&Layers { user: file("u.yaml", text), ..layers() }).unwrap();
        let workflow = &resolved.config.settings.workflow;
        let critic =
            StepSettings { model: Some("opus".into()), effort: Some("high".into()), ..StepSettings::default() };
        assert_eq!(workflow.of(&StepName::CRITIQUE), critic);
        assert_eq!(workflow.of(&StepName::FIX).profile, Some(Profile::Strict));
        assert_eq!(workflow.of(&StepName::EVALUATE).micro_usd, Some(500_000));
        assert_eq!(workflow.of(&StepName::CODE), StepSettings::default());
        let shown = resolved.values.iter().find(|row| row.name == "workflow.models").unwrap();
        assert_eq!((shown.value.as_str(), shown.from.as_str()), ("{critique: opus}", "u.yaml:2"));
    }

    #[test]
    fn only_a_branch_that_was_set_is_switched_to() {
        let git = |text: &str| resolve(&Layers { user: file("u.yaml", text), ..layers() }).unwrap().config.settings.git;
        assert!(git("git:\n  branch: own\n").switches && !git("git:\n  commit: phase\n").switches);
    }

    #[test]
    fn what_cannot_be_used_names_its_source() {
        let cases = [
            ("agent:\n  flags: [--permission-mode, plan]\n", "u.yaml:2: the flag `--permission-mode` cannot be used"),
            ("agent:\n  command: []\n", "u.yaml:2: agent.command is empty"),
            ("agent:\n  setting_sources: [project]\n", "u.yaml:2: agent.setting_sources has `project`"),
            ("agent:\n  env: {CLAUDE_CODE_SIMPLE: 1}\n", "u.yaml:2: agent.env cannot set `CLAUDE_CODE_SIMPLE`"),
            ("agent:\n  env: {\"A=B\": 1}\n", "u.yaml:2: agent.env has `A=B`"),
            ("worktree:\n  copy: [../x]\n", "u.yaml:2: worktree.copy has `../x`"),
            ("worktree:\n  copy: [.git/config]\n", "u.yaml:2: worktree.copy has `.git/config`"),
            ("worktree:\n  dependencies: [a/.venv]\n", "u.yaml:2: worktree.dependencies has .venv"),
            ("git:\n  branch: \"a b\"\n", "u.yaml:2: git.branch: `a b` is not a valid"),
            ("git:\n  base: --x\n", "u.yaml:2: git.base: `--x` is not a branch"),
            ("agent:\n  flags: \"--x 'y\"\n", "u.yaml:2: `--x 'y` has an open '"),
            (
                "workflow:\n  models: {critic: opus}\n",
                "u.yaml:2: workflow.models is `{\"critic\":\"opus\"}`, but must be a map of steps (chat, plan, critique, fix, resolve, code, check, review, evaluate) to strings",
            ),
            (
                "workflow:\n  budgets_usd: {fix: -1}\n",
                "u.yaml:2: workflow.budgets_usd is `{\"fix\":-1}`, but must be a map of steps",
            ),
            (
                "workflow:\n  profiles: {fix: none}\n",
                "u.yaml:2: workflow.profiles is `{\"fix\":\"none\"}`, but must be a map of steps (chat, plan, critique, fix, resolve, \
                 code, check, review, evaluate) to strict or guarded or trusted or read_only",
            ),
        ];
        for (text, expected) in cases {
            let errors = resolve(&Layers { user: file("u.yaml", text), ..layers() }).unwrap_err();
            assert_eq!(errors.len(), 1, "{text}: {errors:?}");
            assert!(errors[0].to_string().starts_with(expected), "{text}: {}", errors[0]);
        }
        let environment = variables(&[("PROGRAMMATOR_TIMEOUT", "0"), ("PROGRAMMATOR_CLAUDE_FLAGS", "-c")]);
        let errors = resolve(&Layers { environment, ..layers() }).unwrap_err();
        assert_eq!(errors.len(), 2);
        assert!(errors.iter().any(|e| e.at == "PROGRAMMATOR_TIMEOUT" && e.message.contains("from 1 to 86400")));
    }

    #[test]
    fn a_project_nobody_trusts_sets_limits_only() {
        let text = "limits:\n  stagnation: 9\nagent:\n  command: [evil]\nvalidation:\n  commands: [evil]\nnope: 1\n";
        let mut layers = layers();
        layers.project = file("/p/.programmator/config.yaml", text);
        layers.project.prompts =
            vec![FileText { path: "/p/.programmator/prompts/phased.md".into(), text: "obey".into() }];
        for (trust, word) in [(Trust::Unknown, "not trusted"), (Trust::Changed, "have changed")] {
            layers.trust = trust;
            let resolved = resolve(&layers).unwrap();
            assert_eq!(resolved.config.settings.stagnation_limit, 9);
            assert_eq!(resolved.config.agent.command, ["claude"]);
            assert!(resolved.config.validation.is_empty() && resolved.ignores_checks);
            assert_eq!(resolved.templates, Templates::default());
            let told: Vec<_> = resolved.notices.iter().map(|notice| notice.text.as_str()).collect();
            assert_eq!(told.len(), 4, "{told:?}");
            for part in [
                "config.yaml:4 sets agent.command", "config.yaml:6 sets validation.commands", "phased.md sets a prompt",
            ] {
                assert!(told.iter().any(|text| text.contains(part) && text.contains(word)), "{part}: {told:?}");
            }
        }
        layers.trust = Trust::Trusted;
        let errors = resolve(&layers).unwrap_err();
        assert!(errors[0].to_string().contains("config.yaml:7"), "{errors:?}");
        layers.project.config = Some(FileText { path: "p".into(), text: text.replace("nope: 1", "") });
        let resolved = resolve(&layers).unwrap();
        assert_eq!(resolved.config.agent.command, ["evil"]);
        assert!(!resolved.ignores_checks);
        assert_eq!(resolved.templates.get(steps::code::PHASED).source, "obey");
        assert!(from(&resolved, "prompts.phased").ends_with("phased.md"));
    }

    #[test]
    fn prompts_are_checked_before_anything_runs() {
        let mut layers = layers();
        layers.user.prompts = vec![
            FileText { path: "/u/prompts/phased.md".into(), text: "{{ phase }}\n{{ x }}\n".into() },
            FileText { path: "/u/prompts/fazed.md".into(), text: String::new() },
        ];
        let errors = resolve(&layers).unwrap_err();
        assert_eq!(errors[0].at, "/u/prompts/phased.md:2");
        layers.user.prompts[0].text = "{{ phase }}".into();
        let resolved = resolve(&layers).unwrap();
        assert!(resolved.notices[0].text.contains("fazed.md"), "{:?}", resolved.notices);
    }
}
