//! The command line: what can be typed, and what wins over what.

use clap::Parser;
use programmator::cli::sessions::SessionCommand;
use programmator::cli::{Cli, Command};
use programmator::config::key::Key;
use programmator::config::{FileText, Files, Layers, Trust, resolve};
use std::collections::BTreeMap;

/// The layers, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Layer {
    BuiltIn,
    User,
    Project,
    Environment,
    Flag,
}

/// A flag of runs with everything that can set the same.
struct Knob {
    flag: &'static str,
    key: Key,
    name: &'static str,
    variable: Option<&'static str>,
}

/// `--calls` joins them with its key.
const KNOBS: [Knob; 4] = [
    Knob {
        flag: "--max-iterations",
        key: Key::MaxIterations,
        name: "limits.max_iterations",
        variable: Some("PROGRAMMATOR_MAX_ITERATIONS"),
    },
    Knob {
        flag: "--stagnation-limit",
        key: Key::Stagnation,
        name: "limits.stagnation",
        variable: Some("PROGRAMMATOR_STAGNATION_LIMIT"),
    },
    Knob {
        flag: "--timeout",
        key: Key::IterationTimeout,
        name: "limits.iteration_timeout",
        variable: Some("PROGRAMMATOR_TIMEOUT"),
    },
    Knob { flag: "--calls", key: Key::Calls, name: "limits.calls", variable: Some("PROGRAMMATOR_CALLS") },
];

/// What each layer says, where it says something.
fn value(layer: Layer) -> &'static str {
    match layer {
        Layer::BuiltIn => "",
        Layer::User => "11",
        Layer::Project => "22",
        Layer::Environment => "33",
        Layer::Flag => "44",
    }
}

/// The knob's value and source when these layers say something.
fn resolved(knob: &Knob, layers: &[Layer]) -> (String, String) {
    let file = |layer: Layer, path: &str| {
        let (group, key) = knob.name.split_once('.').unwrap();
        let text = format!("{group}:\n  {key}: {}\n", value(layer));
        let config = layers.contains(&layer).then(|| FileText { path: path.into(), text });
        Files { config, ..Files::default() }
    };
    let mut environment = BTreeMap::new();
    if let Some(name) = knob.variable.filter(|_| layers.contains(&Layer::Environment)) {
        environment.insert(name.to_owned(), value(Layer::Environment).to_owned());
    }
    let flags = layers.contains(&Layer::Flag).then(|| (knob.key, knob.flag, value(Layer::Flag).to_owned()));
    let all = Layers {
        user: file(Layer::User, "user.yaml"),
        project: file(Layer::Project, "project.yaml"),
        // Who may set which key is another matter: this is about who wins.
        trust: Trust::Trusted,
        environment,
        flags: flags.into_iter().collect(),
    };
    let resolved = resolve(&all).unwrap();
    let row = resolved.values.into_iter().find(|row| row.name == knob.name).unwrap();
    (row.value, row.from)
}

fn source(knob: &Knob, layer: Layer) -> String {
    match layer {
        Layer::BuiltIn => "built-in".into(),
        Layer::User => "user.yaml:2".into(),
        Layer::Project => "project.yaml:2".into(),
        Layer::Environment => knob.variable.unwrap_or_default().into(),
        Layer::Flag => knob.flag.into(),
    }
}

#[test]
fn of_every_two_layers_the_stronger_wins() {
    use Layer::{BuiltIn, Environment, Flag, Project, User};
    for knob in &KNOBS {
        for (weaker, stronger) in [
            (BuiltIn, User),
            (BuiltIn, Project),
            (BuiltIn, Environment),
            (BuiltIn, Flag),
            (User, Project),
            (User, Environment),
            (User, Flag),
            (Project, Environment),
            (Project, Flag),
            (Environment, Flag),
        ] {
            let name = format!("{}: {stronger:?} over {weaker:?}", knob.name);
            let (value, from) = resolved(knob, &[weaker, stronger]);
            assert_eq!((value.as_str(), from), (self::value(stronger), source(knob, stronger)), "{name}");
        }
        let (value, from) = resolved(knob, &[User, Project, Environment, Flag]);
        assert_eq!((value.as_str(), from.as_str()), ("44", knob.flag), "{}: all of them", knob.name);
        assert_eq!(resolved(knob, &[]).1, "built-in", "{}: none of them", knob.name);
    }
}

#[test]
fn an_empty_variable_says_nothing() {
    for knob in &KNOBS {
        let environment = BTreeMap::from([(knob.variable.unwrap().to_owned(), String::new())]);
        let (user, project) = (Files::default(), Files::default());
        let all = Layers { user, project, trust: Trust::Unknown, environment, flags: vec![] };
        let resolved = resolve(&all).unwrap();
        let row = resolved.values.iter().find(|row| row.name == knob.name).unwrap();
        assert_eq!(row.from, "built-in", "{}", knob.name);
    }
}

#[test]
fn values_behind_flags_are_looked_at() {
    for (name, knob, text, right) in [
        ("the least", 0, "1", true),
        ("the most", 0, "10000", true),
        ("nothing to do", 0, "0", false),
        ("too many", 0, "10001", false),
        ("below nothing", 0, "-5", false),
        ("no number", 0, "many", false),
        ("half a number", 0, "1.5", false),
        ("a number with a unit", 2, "15m", false),
        ("empty", 0, "", false),
        ("blanks around it", 0, " 7 ", true),
        ("a limit of one", 1, "1", true),
        ("no limit", 1, "0", false),
        ("a second", 2, "1", true),
        ("two hours", 2, "7200", true),
        ("a day", 2, "86400", true),
        ("more than a day", 2, "86401", false),
        ("no time", 2, "0", false),
        ("a shell's command", 2, "$(reboot)", false),
    ] {
        let Knob { key, flag, .. } = KNOBS[knob];
        let (user, project) = (Files::default(), Files::default());
        let flags = vec![(key, flag, text.to_owned())];
        let all = Layers { user, project, trust: Trust::Unknown, environment: BTreeMap::new(), flags };
        match resolve(&all) {
            Ok(_) => assert!(right, "{name}: {flag} {text} was taken"),
            Err(errors) => {
                assert!(!right, "{name}: {errors:?}");
                assert!(errors[0].to_string().starts_with(flag), "{name}: {}", errors[0]);
            }
        }
    }
}

fn parse(line: &str) -> Result<Cli, clap::Error> {
    Cli::try_parse_from(line.split_whitespace())
}

#[test]
fn what_can_be_typed() {
    for (name, line) in [
        ("nothing", "programmator"),
        ("a ticket", "programmator tk-1"),
        ("several tickets", "programmator tk-1 tk-2 plan.md"),
        ("a ticket and a flag", "programmator tk-1 --timeout 60"),
        ("a flag and a ticket", "programmator --timeout 60 tk-1"),
        ("a flag with an equals sign", "programmator --timeout=60 tk-1"),
        ("the short flag", "programmator -n 5 tk-1"),
        ("the short flag without a blank", "programmator -n5 tk-1"),
        (
            "all flags of runs",
            "programmator run --max-iterations 5 --stagnation-limit 2 --timeout 60 --model opus tk-1",
        ),
        ("the same in another order", "programmator run tk-1 --model opus --timeout 60 --stagnation-limit 2 -n 5"),
        ("fresh sessions", "programmator run --no-continue tk-1"),
        ("another expiry", "programmator run --session-expiry 48 tk-1"),
        ("flags on resume", "programmator resume -n 5 --model opus --no-continue tk-1"),
        ("resume of the latest", "programmator resume"),
        ("a folder", "programmator -C /tmp run tk-1"),
        ("a folder behind the command", "programmator run -C /tmp tk-1"),
        ("machine output", "programmator run --json tk-1"),
        ("sessions of all tickets", "programmator session show"),
        ("sessions of one, for machines", "programmator session show tk-1 --json"),
        ("giving a session up", "programmator session reset tk-1"),
        ("the breaker", "programmator circuit status --json"),
        ("closing the breaker", "programmator circuit reset"),
        ("a prompt-like ticket name", "programmator ./--odd.md"),
    ] {
        assert!(parse(line).is_ok(), "{name}: {line}");
    }
}

#[test]
fn what_is_refused_before_anything_begins() {
    for (name, line) in [
        ("an unknown flag", "programmator --max-iteration-count 5 tk-1"),
        ("a mistyped flag", "programmator run --timout 60 tk-1"),
        ("a flag without its value", "programmator run tk-1 --timeout"),
        ("a short flag without its value", "programmator run tk-1 -n"),
        ("a switch with a value", "programmator run --no-continue=yes tk-1"),
        ("the same flag twice", "programmator run --timeout 60 --timeout 70 tk-1"),
        ("run without a ticket", "programmator run"),
        ("reset without a ticket", "programmator session reset"),
        ("session without a word", "programmator session"),
        ("a negative number", "programmator run --timeout -5 tk-1"),
        ("claude's own --continue", "programmator run --continue tk-1"),
        ("two runs to resume", "programmator resume a b"),
    ] {
        let error = parse(line).expect_err(name);
        assert_eq!(error.exit_code(), 2, "{name}: {line}");
    }
}

#[test]
fn help_and_version_are_no_failure() {
    for line in ["programmator --help", "programmator -h", "programmator --version", "programmator run --help"] {
        assert_eq!(parse(line).expect_err("it is an answer").exit_code(), 0, "{line}");
    }
}

#[test]
fn what_is_typed_is_what_is_meant() {
    let Some(Command::Run { tickets, json, run, .. }) =
        parse("programmator run -n 7 --stagnation-limit 2 --timeout 60 --no-continue --session-expiry 2 --json a b")
            .unwrap()
            .command
    else {
        panic!("run");
    };
    assert_eq!((tickets, json), (vec!["a".to_owned(), "b".to_owned()], true));
    assert_eq!(run.max_iterations.as_deref(), Some("7"));
    assert_eq!(run.stagnation_limit.as_deref(), Some("2"));
    assert_eq!(run.timeout.as_deref(), Some("60"));
    assert_eq!((run.no_continue, run.session_expiry.as_deref()), (true, Some("2")));
    let Some(Command::Session { command: SessionCommand::Show { ticket, json } }) =
        parse("programmator session show --json").unwrap().command
    else {
        panic!("session show");
    };
    assert_eq!((ticket, json), (None, true));
}

#[test]
fn a_resumed_run_keeps_its_rules_but_for_what_is_typed() {
    use programmator::domain::settings::Settings;
    let frozen = Settings { max_iterations: 9, stagnation_limit: 9, iteration_timeout: 9, ..Settings::default() };
    let layers = |flags: Vec<(Key, &'static str, String)>| {
        let environment = BTreeMap::from([("PROGRAMMATOR_TIMEOUT".to_owned(), "33".to_owned())]);
        let all =
            Layers { user: Files::default(), project: Files::default(), trust: Trust::Unknown, environment, flags };
        resolve(&all).unwrap().config.over(&frozen)
    };
    assert_eq!(layers(vec![]), frozen, "the environment of today changes nothing");
    let flag = |key, name, text: &str| (key, name, text.to_owned());
    for (name, given, expected) in [
        ("-n", flag(Key::MaxIterations, "--max-iterations", "4"), Settings { max_iterations: 4, ..frozen.clone() }),
        (
            "stagnation",
            flag(Key::Stagnation, "--stagnation-limit", "4"),
            Settings { stagnation_limit: 4, ..frozen.clone() },
        ),
        ("timeout", flag(Key::IterationTimeout, "--timeout", "4"), Settings { iteration_timeout: 4, ..frozen.clone() }),
        ("model", flag(Key::Model, "--model", "opus"), Settings { model: Some("opus".into()), ..frozen.clone() }),
        (
            "no continue",
            flag(Key::SessionContinuity, "--no-continue", "false"),
            Settings { session_continuity: false, ..frozen.clone() },
        ),
        (
            "expiry",
            flag(Key::SessionExpiry, "--session-expiry", "2"),
            Settings { session_expiry_hours: 2, ..frozen.clone() },
        ),
    ] {
        assert_eq!(layers(vec![given]), expected, "{name}");
    }
}
