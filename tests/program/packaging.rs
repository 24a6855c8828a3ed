//! What a package has beside the program: completions that know what there is, man pages, and files that exist.

use crate::project::Project;
use crate::watched::{DILIGENT, ran, said, text};

/// What is offered behind these words, of which the last is being typed.
fn offered(project: &Project, words: &[&str]) -> Vec<String> {
    let all = [&["--", "programmator"], words].concat();
    let output = project
        .command(&all)
        .env("PROGRAMMATOR_COMPLETE", "bash")
        .env("_CLAP_COMPLETE_INDEX", words.len().to_string())
        .env("_CLAP_IFS", "\n")
        .output()
        .expect("it starts");
    assert!(output.status.success() && output.stderr.is_empty(), "{}", text(&output));
    String::from_utf8(output.stdout).expect("text").lines().map(str::to_owned).collect()
}

#[test]
fn completions_offer_tickets_runs_and_keys_of_the_configuration() {
    let project = Project::with(&["One"], DILIGENT);
    project.ticket("tk-2", &["Two"]);
    assert!(offered(&project, &["logs", ""]).iter().all(|word| word.starts_with('-')), "there are no runs");
    assert!(!project.path("state/programmator.db").exists(), "asking makes no store");
    assert_eq!(offered(&project, &["run", "tk-"]), ["tk-1", "tk-2"]);
    assert_eq!(offered(&project, &["ticket", "show", "tk-2"]), ["tk-2"]);
    assert_eq!(offered(&project, &["tk-1"]), ["tk-1"]);
    assert_eq!(offered(&project, &["config", "show", "limits.c"]), ["limits.calls"]);
    let records = ran(&project, &["run", "--json", "tk-1"], 0);
    let run = records[0]["run"].as_str().expect("an id");
    let runs = offered(&project, &["logs", ""]);
    assert!(runs.contains(&run[run.len() - 8..].to_owned()) && runs.contains(&"tk-1".to_owned()), "{runs:?}");
    // A ticket that is done is not offered for work.
    assert_eq!(offered(&project, &["run", "tk-"]), ["tk-2"]);
    assert_eq!(offered(&project, &["ticket", "reopen", "tk-"]), ["tk-1"]);
    // Nothing is at work, can be resumed or waits.
    for command in ["stop", "attach", "resume", "answer", "queue"] {
        let ids = offered(&project, &[command, ""]).into_iter().filter(|word| !word.starts_with('-'));
        assert_eq!(ids.filter(|word| word != "help").collect::<Vec<_>>(), [""; 0], "{command}");
    }
    assert_eq!(offered(&project, &["ticket", "status", "tk-2", "in"]), ["in_progress"]);
    assert_eq!(offered(&project, &["run", "tk-2", "--workflow", "s"]), ["simple"]);
    assert_eq!(offered(&project, &["demo", "--theme", "nor"]), ["nord"]);
    assert_eq!(offered(&project, &["init", "--from", "git"]), ["github"]);
}

#[test]
fn the_script_of_each_shell_asks_the_program() {
    let project = Project::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = said(&project, &["completions", shell], 0);
        assert!(script.contains("PROGRAMMATOR_COMPLETE"), "{shell}: {script}");
    }
}

#[test]
fn some_keys_of_the_configuration_are_shown_and_one_that_is_not_there_is_named() {
    let project = Project::new();
    let shown = said(&project, &["config", "show", "limits.calls", "budget"], 0);
    assert!(shown.lines().all(|line| line.starts_with("limits.calls ") || line.starts_with("budget.")), "{shown}");
    let told = said(&project, &["config", "show", "limit"], 2);
    assert!(told.contains("unknown key `limit`; did you mean `limits`?"), "{told}");
    let told = said(&project, &["config", "show", "policy.own_session"], 2);
    assert!(told.contains("did you mean `policy.own_sessions`?"), "{told}");
}

/// What the package takes from the sources is there; the rest is what `packaging/pages` and the build make.
#[test]
fn the_package_is_made_of_files_that_exist() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifest = std::fs::read_to_string(root.join("Cargo.toml")).expect("it");
    let from = manifest.find("\nassets = [").expect("assets");
    let assets = &manifest[from..from + manifest[from..].find("\n]").expect("an end")];
    let sources: Vec<&str> =
        assets.lines().filter_map(|line| line.trim().strip_prefix("[\"")?.split('"').next()).collect();
    assert!(sources.len() >= 7, "{sources:?}");
    for source in sources.iter().filter(|source| !source.starts_with("target/")) {
        let folder = source.strip_suffix("/*.md").unwrap_or(source);
        assert!(root.join(folder).exists(), "{source}");
    }
    let project = Project::new();
    let output = std::process::Command::new(root.join("packaging/pages"))
        .args([crate::project::PROGRAM.into(), project.path("made")])
        .output()
        .expect("bash");
    assert!(output.status.success(), "{}", text(&output));
    for source in sources.iter().filter_map(|source| source.strip_prefix("target/package/")) {
        let made = project.path("made").join(source.replace("*.1", "programmator-run.1"));
        assert!(made.metadata().is_ok_and(|data| data.len() > 100), "{source}");
    }
}

/// What `packaging/archive` packs for each kind of machine, and the formula that names them.
/// Releases are made on Linux, with its tar and sha256sum.
#[cfg(target_os = "linux")]
#[test]
fn archives_hold_the_program_and_the_formula_their_checksums() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let project = Project::new();
    let script = |name: &str, args: &[&str]| {
        let output = std::process::Command::new(root.join("packaging").join(name))
            .args(args)
            .current_dir(project.path(""))
            .output()
            .expect("bash");
        let told = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8(told).expect("text"))
    };
    // Another text for each target, so that no checksum stands in another's place.
    let targets =
        ["aarch64-apple-darwin", "x86_64-apple-darwin", "aarch64-unknown-linux-musl", "x86_64-unknown-linux-musl"];
    assert!(script("pages", &[crate::project::PROGRAM, "pages"]).0);
    for target in targets {
        let (is_made, told) = script("formula", &["https://example.com/shop", "files"]);
        assert!(!is_made && told.contains("there is no files/programmator-"), "{told}");
        project.write("program", target);
        assert_eq!(script("archive", &["program", "pages", target, "files"]), (true, String::new()));
    }
    let (is_made, formula) = script("formula", &["https://example.com/shop", "files"]);
    assert!(is_made, "{formula}");
    let [url, binary] = ["pkg-url", "bin-dir"].map(binstall);
    let version = env!("CARGO_PKG_VERSION");
    for target in targets {
        let name = format!("programmator-{version}-{target}");
        let archive = project.path(&format!("files/{name}.tar.gz"));
        let sum = std::process::Command::new("sha256sum").arg(&archive).output().expect("sha256sum");
        let sum = String::from_utf8(sum.stdout).expect("text").split(' ').next().unwrap().to_owned();
        let lines = format!(
            "url \"https://example.com/shop/releases/download/v{version}/{name}.tar.gz\"\n      sha256 \"{sum}\""
        );
        assert!(formula.contains(&lines), "{lines}: {formula}");
        let unpacked = std::process::Command::new("tar")
            .args(["-xzf", &archive.display().to_string(), "-C", &project.path("").display().to_string()])
            .status()
            .expect("tar");
        assert!(unpacked.success());
        assert_eq!(project.read(&format!("{name}/programmator")), target);
        // What `cargo binstall` downloads and takes out of it.
        assert!(lines.contains(&format!("{:?}", filled(&url, target))), "{url}: {lines}");
        assert_eq!(project.read(&filled(&binary, target)), target);
        for file in ["man/programmator-run.1", "completions/_programmator", "LICENSE", "docs/install.md"] {
            assert!(project.path(&format!("{name}/{file}")).exists(), "{file}");
        }
    }
}

/// A template for `cargo binstall`, from the manifest.
#[cfg(target_os = "linux")]
fn binstall(key: &str) -> String {
    let manifest = include_str!("../../Cargo.toml");
    let (_, section) = manifest.split_once("\n[package.metadata.binstall]\n").expect("a section");
    let section = section.split("\n[").next().expect("its lines");
    assert!(section.contains("pkg-fmt = \"tgz\"\n"), "what `packaging/archive` makes: {section}");
    let value = section.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = \"")?.strip_suffix('"'));
    value.expect(key).to_owned()
}

/// The template as `cargo binstall` fills it in.
#[cfg(target_os = "linux")]
fn filled(template: &str, target: &str) -> String {
    let values = [
        ("repo", "https://example.com/shop"),
        ("name", env!("CARGO_PKG_NAME")),
        ("version", env!("CARGO_PKG_VERSION")),
        ("target", target),
        ("bin", "programmator"),
        ("binary-ext", ""),
    ];
    let put = |text: String, (name, value): &(&str, &str)| text.replace(&format!("{{ {name} }}"), value);
    let text = values.iter().fold(template.to_owned(), put);
    assert!(!text.contains('{'), "{text}");
    text
}

/// A release says which repository it is of; the sources name none, and nobody who does not exist.
#[test]
fn the_repository_is_named_by_who_releases() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let project = Project::new();
    let manifest = std::fs::read_to_string(root.join("Cargo.toml")).expect("it");
    project.write("package/Cargo.toml", &manifest);
    let folder = project.path("package").display().to_string();
    let named = |address: &str| {
        let output = std::process::Command::new(root.join("packaging/repository"))
            .args([address, &folder])
            .output()
            .expect("bash");
        (output.status.success(), project.read("package/Cargo.toml"))
    };
    let release = std::fs::read_to_string(root.join(".github/workflows/release.yml")).expect("it");
    let steps: Vec<&str> = release.lines().filter(|line| line.contains("packaging/repository ")).collect();
    let of_its_own = "packaging/repository \"$GITHUB_SERVER_URL/$GITHUB_REPOSITORY\"";
    assert!(steps.len() == 2 && steps.iter().all(|step| step.ends_with(of_its_own)), "{steps:?}");
    assert!(release.contains("--maintainer \"$GITHUB_REPOSITORY_OWNER <"), "{release}");
    for invented in [".invalid", "example.", "@"] {
        assert!(!manifest.contains(invented), "{invented} in Cargo.toml");
    }

    let without =
        manifest.lines().filter(|line| !line.starts_with("repository = ")).collect::<Vec<_>>().join("\n") + "\n";
    project.write("package/Cargo.toml", &without);
    assert_eq!(named("shop\"\nname = \"x"), (false, without.clone()));
    let (is_done, with) = named("https://example.com/shop.git");
    assert!(is_done && with.contains("\nrepository = \"https://example.com/shop\"\n"), "{with}");
    assert_eq!(with.lines().count(), without.lines().count() + 1);
    assert_eq!(named("https://example.com/shop/"), (true, with.clone()), "said twice");
    assert_eq!(named("https://example.com/other"), (false, with));
}
