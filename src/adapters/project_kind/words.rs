//! What the words of a command, a script or a recipe give away: that it changes files, publishes or checks nothing. Words prove
//! no more than that: a person still looks at each command before it is run.

/// Words with which a program checks nothing or changes files.
const NOT_CHECKING: [&str; 28] = [
    "--no-run", "--collect-only", "--co", "--help", "--version", "--dry-run", "--setup-plan", "--setup-only",
    "--fixtures", "--markers", "--exit-zero", "--install-types", "--write", "--apply", "--in-place", "--autocorrect",
    "--autocorrect-all", "--snapshot-update", "--update", "--update-snapshot", "--update-snapshots",
    "--updateSnapshot", "-list", "uninstall", "upload", "push", "commit", "--noop",
];
/// How such words begin.
const BEGINNINGS: [&str; 4] = ["--fix", "--list", "--init", "--show-"];
/// Such letters anywhere in a command.
const NOWHERE: [&str; 5] = ["release", "publish", "deploy", "skiptests", "test.skip"];
/// Programs that change files unless one of these words keeps them from it.
const FORMATTERS: [(&str, &[&str]); 10] = [
    ("cargo fmt", &["--check"]),
    ("rustfmt", &["--check"]),
    ("go fmt", &["-n"]),
    ("black", &["--check", "--diff"]),
    ("isort", &["--check", "--check-only", "-c", "--diff"]),
    ("ruff format", &["--check", "--diff"]),
    ("mix format", &["--check-formatted"]),
    ("deno fmt", &["--check"]),
    ("dotnet format", &["--verify-no-changes"]),
    ("terraform fmt", &["-check"]),
];
/// Programs that change files with one of these words.
const CHANGING: [(&str, &[&str]); 9] = [
    ("gofmt", &["-w"]),
    ("goimports", &["-w"]),
    ("shfmt", &["-w"]),
    ("prettier", &["-w"]),
    ("sed", &["-i"]),
    ("clang-format", &["-i"]),
    ("jest", &["-u"]),
    ("vitest", &["-u"]),
    ("rubocop", &["-a", "-A"]),
];
/// Programs that pass the next word on to another one.
const BEFORE: [&str; 12] = [
    "uv run ", "poetry run ", "pdm run ", "pipenv run ", "python -m ", "python3 -m ", "npx ", "bunx ", "pnpm exec ",
    "bundle exec ", "yarn ", "pnpm ",
];
/// What runs a script, target or recipe that is named behind it.
const RUNNERS: [&str; 10] = ["run", "npm", "pnpm", "yarn", "bun", "make", "just", "run-s", "run-p", "npm-run-all"];
/// Most scripts that are looked at for one; a set of them may name each other.
const MOST: usize = 64;

/// The words of one command say that it checks nothing or does more than check.
pub(super) fn does_more(command: &str) -> bool {
    let lower = command.to_ascii_lowercase();
    let has = |wanted: &[&str]| command.split_whitespace().any(|word| wanted.contains(&word));
    let is_wrong = |word: &str| {
        let name = word.split('=').next().unwrap_or(word);
        NOT_CHECKING.contains(&name) || BEGINNINGS.iter().any(|begin| name.starts_with(begin))
    };
    let mut program = command;
    while let Some(rest) = BEFORE.iter().find_map(|before| program.strip_prefix(before)) {
        program = rest;
    }
    NOWHERE.iter().any(|letters| lower.contains(letters))
        || command.split_whitespace().any(is_wrong)
        || FORMATTERS.iter().any(|(formatter, kept)| is_at(program, formatter) && !has(kept))
        || CHANGING.iter().any(|(changing, with)| is_at(program, changing) && has(with))
}

/// The command begins with these words.
pub(super) fn is_at(command: &str, begin: &str) -> bool {
    command.strip_prefix(begin).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// A script, target or recipe does no more than check, as far as its text and that of all it runs say. `text`: of the one of this
/// name, one command a line; `None`: there is none.
pub(super) fn only_checks(name: &str, text: impl Fn(&str) -> Option<String>) -> bool {
    let mut seen = vec![name.to_owned()];
    let mut at = 0;
    while at < seen.len() && at < MOST {
        let runs = text(&seen[at]).unwrap_or_default();
        for command in runs.split(['\n', ';', '&', '|']).map(simple) {
            if does_more(&command) {
                return false;
            }
            let words: Vec<&str> = command.split_whitespace().collect();
            let named = words.iter().enumerate().filter(|(n, _)| words[..*n].iter().any(|word| RUNNERS.contains(word)));
            for (_, other) in named.filter(|(_, other)| text(other).is_some()) {
                if !seen.iter().any(|one| one == other) {
                    seen.push((*other).to_owned());
                }
            }
        }
        at += 1;
    }
    at == seen.len()
}

/// Without what may stand before a command: variables, quotes and brackets. A build for a release is a build.
fn simple(command: &str) -> String {
    let words = command.split_whitespace().map(|word| word.trim_matches(['"', '\'', '(', ')']));
    let is_set = |word: &&str| word.is_empty() || word.split_once('=').is_some_and(|(name, _)| !name.starts_with('-'));
    words.skip_while(is_set).filter(|word| *word != "--release").collect::<Vec<_>>().join(" ")
}
