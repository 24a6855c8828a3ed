//! What the files of a Python project say: who installs its packages, and what checks it.

use super::part::{Finding, Kind, first, is_file, read};
use std::path::Path;

const MANIFESTS: [&str; 5] = ["pyproject.toml", "setup.py", "setup.cfg", "Pipfile", "requirements.txt"];

/// Who installs packages: its lock file, its table in `pyproject.toml`, and what commands run behind.
const MANAGERS: [(&str, &str, &str, &str); 4] = [
    ("uv", "uv.lock", "[tool.uv", "uv run "),
    ("poetry", "poetry.lock", "[tool.poetry", "poetry run "),
    ("pdm", "pdm.lock", "[tool.pdm", "pdm run "),
    ("pipenv", "Pipfile.lock", "[pipenv]", "pipenv run "),
];

/// A check: its command, files that ask for it, its table in `pyproject.toml`.
const CHECKS: [(&str, &[&str], &str); 4] = [
    ("ruff check .", &["ruff.toml", ".ruff.toml"], "[tool.ruff"),
    ("flake8", &[".flake8"], "[tool.flake8"),
    ("mypy .", &["mypy.ini", ".mypy.ini"], "[tool.mypy"),
    ("pyright", &["pyrightconfig.json"], "[tool.pyright"),
];

/// Files that tell of tests.
const PYTEST: [&str; 4] = ["pytest.ini", "conftest.py", "tests/conftest.py", "test/conftest.py"];
/// Files that list packages.
const LISTS: [&str; 8] = [
    "pyproject.toml", "requirements-dev.txt", "requirements_dev.txt", "dev-requirements.txt", "requirements.txt",
    "setup.cfg", "setup.py", "Pipfile",
];

pub(super) fn add(folder: &Path, found: &mut Vec<Finding>) {
    let Some(manifest) = first(folder, &MANIFESTS).or_else(|| first(folder, &["pytest.ini", "tox.ini"])) else {
        return;
    };
    let project = read(&folder.join("pyproject.toml")).unwrap_or_default();
    let has = |table: &str| project.lines().any(|line| line.trim_start().starts_with(table));
    found.push(Finding::new(Kind::Language, "Python", manifest));
    let by_lock = MANAGERS.iter().find(|(_, lock, ..)| is_file(&folder.join(lock))).map(|row| (row, row.1));
    let by_table = || MANAGERS.iter().find(|(_, _, table, _)| has(table)).map(|row| (row, "pyproject.toml"));
    let manager = by_lock.or_else(by_table);
    let behind = manager.map_or("", |((.., run), _)| run);
    match manager {
        Some(((name, ..), evidence)) => found.push(Finding::new(Kind::Tool, *name, evidence)),
        None if is_file(&folder.join("requirements.txt")) => {
            found.push(Finding::new(Kind::Tool, "pip", "requirements.txt"));
        }
        None => {}
    }
    // These make their own environments.
    let tox = first(folder, &["tox.ini"]).or(has("[tool.tox").then_some("pyproject.toml"));
    let nox = first(folder, &["noxfile.py"]);
    for (command, evidence) in [("tox", tox), ("nox", nox)] {
        found.extend(evidence.map(|file| Finding::new(Kind::Check, command, file)));
    }
    if tox.is_none() && nox.is_none() {
        let by_table = || has("[tool.pytest").then_some("pyproject.toml");
        let listed = || LISTS.into_iter().find(|file| lists_pytest(&folder.join(file)));
        if let Some(file) = first(folder, &PYTEST).or_else(by_table).or_else(listed) {
            found.push(Finding::new(Kind::Check, format!("{behind}pytest"), file));
        } else if is_file(&folder.join("manage.py")) {
            found.push(Finding::new(Kind::Check, format!("{behind}python manage.py test"), "manage.py"));
        }
    }
    if is_file(&folder.join("manage.py")) {
        found.push(Finding::new(Kind::Framework, "Django", "manage.py"));
    }
    for (command, files, table) in CHECKS {
        let file = first(folder, files).or(has(table).then_some("pyproject.toml"));
        found.extend(file.map(|file| Finding::new(Kind::Check, format!("{behind}{command}"), file)));
    }
}

/// A line that is no comment names the package.
fn lists_pytest(path: &Path) -> bool {
    let text = read(path).unwrap_or_default();
    text.lines().any(|line| !line.trim_start().starts_with('#') && line.contains("pytest"))
}
