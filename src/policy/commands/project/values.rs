//! What a word of a project's command may be: a name, a setting, a place for output, a module of the workspace.

use crate::policy::commands::grammar::Role;
use crate::policy::commands::programs;
use crate::policy::floor::Floor;
use crate::policy::place::Place;
use std::path::{Path, PathBuf};

/// Whether `app.main:app` is a module that stands in the present folder, and not one of its name that is installed.
pub fn is_own_module(text: &str, place: &Place<'_>) -> bool {
    let name = text.split(':').next().unwrap_or(text);
    let plain = |char: char| char.is_ascii_alphanumeric() || "_.:".contains(char);
    let top = name.split('.').next().unwrap_or("");
    let there = |path: String| place.resolve(place.cwd, &path).is_some_and(|path| is_own_file(&path, place));
    let file = name.replace('.', "/");
    // `pkg.module.Class` too.
    let files = || std::iter::successors(Some(file.as_str()), |file| file.rsplit_once('/').map(|(file, _)| file));
    let inside =
        || files().any(|file| there(format!("{file}.py"))) && !programs::is_module(top) && !programs::is_tool(top);
    !top.is_empty()
        && text.chars().all(plain)
        && (there(format!("{top}.py")) || there(format!("{top}/__init__.py")) || inside())
}

/// Whether a file stands in the workspace and is none of what others wrote.
pub(super) fn is_own_file(path: &Path, place: &Place<'_>) -> bool {
    path.starts_with(place.workspace) && place.view.exists(path) && !is_foreign(path, place)
}

/// Whether a path leads into what others wrote.
pub(super) fn is_foreign(path: &Path, place: &Place<'_>) -> bool {
    let inside = path.strip_prefix(place.workspace).unwrap_or(path);
    inside.iter().any(|part| programs::is_foreign(&part.to_string_lossy()))
}

/// Whether a path may be written as a whole: a file, a new folder, or one of what was built. Some empty a folder first.
pub(super) fn is_output(path: &Path, place: &Place<'_>) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let made = is_built(&name) && path != place.workspace && path != place.cwd;
    made || !place.view.is_folder(path)
}

/// Whether a folder of this name holds what was built: `dist`, `build-debug`, and not `site-packages`.
fn is_built(name: &str) -> bool {
    const NAMES: [&str; 12] = [
        "target", "build", "dist", "out", "bin", "obj", "site", "_site", "_build", "coverage", "htmlcov",
        "storybook-static",
    ];
    const REPORTS: [&str; 5] = ["test-results", "test-result", "test-reports", "test-report", "playwright-report"];
    /// What a build is called by.
    const KINDS: [&str; 30] = [
        "debug", "release", "relwithdebinfo", "minsizerel", "dev", "development", "prod", "production", "test",
        "tests", "ci", "cov", "coverage", "asan", "tsan", "ubsan", "ssr", "server", "client", "web", "wasm",
        "electron", "types", "esm", "cjs", "es", "tsc", "docs", "check", "clippy",
    ];
    let of_kind = |rest: &str| rest.strip_prefix(['-', '_']).is_some_and(|kind| KINDS.contains(&kind));
    let built =
        |head: &&str| name.strip_prefix(*head).is_some_and(|rest| rest.is_empty() || of_kind(&rest.to_lowercase()));
    // As CLion names them: `cmake-build-debug-wsl`.
    NAMES.iter().any(built) || REPORTS.contains(&name) || name.starts_with("cmake-build-")
}

/// Whether a package is named by its place in the project, and not by an address.
#[expect(clippy::case_sensitive_file_extension_comparisons, reason = "the programs compare so")]
pub(super) fn is_own_package(name: &str) -> bool {
    let first = name.split('/').next().unwrap_or(name);
    first.starts_with('.') || !first.contains('.') || name.ends_with(".go")
}

/// Whether a text has an address in it, or code that stands for a file: `data:text/javascript,…`.
pub(super) fn holds_code(text: &str) -> bool {
    let lower = text.to_lowercase();
    let scheme =
        |scheme: &str| lower.match_indices(scheme).any(|(at, _)| !lower[..at].ends_with(char::is_alphanumeric));
    text.contains("://") || ["data:", "javascript:", "blob:", "node:", "eval:"].into_iter().any(scheme)
}

/// Whether a text is a name or a pattern of names, and no program and no list of arguments.
pub(super) fn is_name(text: &str) -> bool {
    let harmless = |char: char| char.is_alphanumeric() || "._/-+,*?[](){}@: =#".contains(char);
    // `npm:x`, and not `a.py::x` or `a.py:12`.
    let scheme = text.split_once(':').is_some_and(|(head, rest)| {
        head.len() > 1
            && head.chars().all(|char| char.is_ascii_alphanumeric())
            && !rest.starts_with(|char: char| char == ':' || char.is_ascii_digit())
    });
    !text.starts_with('@') && !scheme && text.chars().all(harmless)
}

/// A flag of a compiler that names no file and no program: `-g`, `-O2`, `-Wall`, `-DX=1`.
pub(super) fn is_plain_flag(flag: &str) -> bool {
    let plain = flag.chars().all(|char| char.is_ascii_alphanumeric() || "-=_+".contains(char));
    let known = ["-g", "-O", "-W", "-D", "-U", "-std=", "-fsanitize=", "-fno-", "-pedantic", "-m64", "-m32"];
    plain && (flag.is_empty() || known.iter().any(|head| flag.starts_with(head)))
}

/// `V=1`: a setting of make that names no program.
pub(super) fn is_setting(word: &str) -> bool {
    const VALUES: [&str; 10] = ["true", "false", "yes", "no", "on", "off", "y", "n", "debug", "release"];
    let Some((name, value)) = word.split_once('=') else { return false };
    if matches!(name, "CFLAGS" | "CXXFLAGS") {
        return value.split(' ').all(is_plain_flag);
    }
    let number = !value.is_empty() && value.chars().all(|char| char.is_ascii_digit() || char == '.');
    (number || VALUES.contains(&value.to_lowercase().as_str()))
        && !name.is_empty()
        && !name.starts_with("MAKE")
        && name != "SHELL"
        && name.chars().all(|char| char.is_ascii_alphanumeric() || char == '_')
}

/// Why it does not run in the workspace, or which path in its words is not in it or one of the floor's. What it writes
/// may be in the run's scratch folder, too. The files count beside the words: a letter of an option may stand before one.
pub(super) fn strays(words: &[&str], files: &[(Role, String)], place: &Place<'_>) -> Option<String> {
    let floor = Floor::of_built_in();
    let inside = |path: &str| place.resolve(place.cwd, path).filter(|path| path.starts_with(place.workspace));
    let strays = |path: &&str| {
        let free = |path: PathBuf| {
            !floor.is_secret(&path, place) && floor.protects(&path, place).is_none() && !floor.orders(&path, place)
        };
        let is_scratch = || place.resolve(place.cwd, path).is_some_and(|path| place.is_scratch(&path));
        let kept = files.iter().any(|(role, file)| *role == Role::Write && file == path) && is_scratch();
        !kept && (path.starts_with('~') || !inside(path).is_some_and(free))
    };
    if inside(".").is_none() {
        return Some("runs outside the working directory".to_owned());
    }
    // In a text of JSON a backslash may be any letter.
    if let Some(word) = words.iter().find(|word| word.contains('"') && word.contains('\\')) {
        return Some(format!("{word} may name any file"));
    }
    let named = files.iter().flat_map(|(_, file)| std::iter::once(file.as_str()).chain(paths(file)));
    let path = words.iter().flat_map(|word| paths(word)).chain(named).find(strays)?;
    Some(format!("{path} is not a usable file in the working directory"))
}

/// What may be a path in a word: its parts between signs, and what follows an option's letter.
pub fn paths(word: &str) -> impl Iterator<Item = &str> {
    let parts = word.split(['=', ':', ',', ';', ' ', '@', '"']).map(|part| part.trim_start_matches('-'));
    let attached = word.strip_prefix('-').and_then(|rest| rest.get(1..));
    parts.chain(attached).filter(|part| !part.is_empty())
}
