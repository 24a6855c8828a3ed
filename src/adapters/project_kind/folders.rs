//! Which folders of a repository are built for themselves. A workspace's members are not: its top builds them.

use super::part::{Kind, Part, is_file, read};
use std::collections::VecDeque;
use std::path::Path;

/// Folders whose contents are somebody else's, made, or there for tests.
const NOT_OURS: [&str; 19] = [
    "node_modules", "target", "vendor", "dist", "build", "out", "bin", "obj", "third_party", "deps", "_build", "venv",
    "env", "test", "tests", "testdata", "fixtures", "examples", "templates",
];
/// A folder is one of these alone not for its own sake: `docs/Makefile`.
const MANIFESTS: [&str; 17] = [
    "Cargo.toml", "go.mod", "package.json", "pyproject.toml", "setup.py", "Pipfile", "requirements.txt", "mix.exs",
    "Gemfile", "pom.xml", "build.gradle", "build.gradle.kts", "composer.json", "CMakeLists.txt", "meson.build",
    "Package.swift", "deno.json",
];
/// Levels below the top.
const DEEPEST: usize = 3;
/// Most folders that are opened, and most parts.
const MOST_FOLDERS: usize = 2_000;
const MOST_PARTS: usize = 24;
/// Most entries of one folder that are looked at.
const MOST_ENTRIES: usize = 5_000;

/// The top, as an empty name, and the folders below that have a manifest, by level, then by name.
pub(super) fn with_manifests(top: &Path) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut open = VecDeque::from([(String::new(), 0)]);
    let mut opened = 0;
    while let Some((folder, depth)) = open.pop_front() {
        opened += 1;
        if opened > MOST_FOLDERS || found.len() >= MOST_PARTS {
            break;
        }
        if depth > 0 && has_manifest(&top.join(&folder)) {
            found.push(folder.clone());
        }
        if depth < DEEPEST {
            let inner = below(&top.join(&folder)).into_iter();
            let named = inner.map(|name| if folder.is_empty() { name } else { format!("{folder}/{name}") });
            open.extend(named.map(|name| (name, depth + 1)));
        }
    }
    found
}

fn has_manifest(folder: &Path) -> bool {
    MANIFESTS.iter().any(|name| is_file(&folder.join(name)))
        || std::fs::read_dir(folder).into_iter().flatten().take(MOST_ENTRIES).flatten().any(|entry| {
            let name = entry.file_name();
            let ending = Path::new(&name).extension().and_then(|ending| ending.to_str()).unwrap_or_default();
            ["csproj", "fsproj", "sln", "slnx"].contains(&ending)
        })
}

/// Folders in which a part may lie: no links, nothing hidden, and only names that need no quoting.
fn below(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().take(MOST_ENTRIES).flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut names: Vec<String> = folders
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| !name.starts_with(['.', '-']) && !NOT_OURS.contains(&name.as_str()))
        .filter(|name| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte)))
        .collect();
    names.sort();
    names
}

/// A part above builds this one too.
pub(super) fn is_covered(top: &Path, part: &Part, parts: &[Part]) -> bool {
    let tools: Vec<&str> = part.of(Kind::Tool).map(|one| one.name.as_str()).collect();
    let is_above = |one: &&Part| {
        one.folder.is_empty() || part.folder.strip_prefix(&one.folder).is_some_and(|rest| rest.starts_with('/'))
    };
    !part.folder.is_empty()
        && parts.iter().filter(is_above).any(|above| {
            let folder = top.join(&above.folder);
            // A tool of the part that the part above has as well, and for which it speaks for all below.
            above.of(Kind::Tool).any(|one| {
                let is_shared = tools.contains(&one.name.as_str()) || is_of_node(&one.name);
                is_shared && covers(&folder, &one.name, above)
            })
        })
}

fn is_of_node(tool: &str) -> bool {
    ["npm", "pnpm", "yarn", "bun"].contains(&tool)
}

/// This tool, run in the folder, is run for what lies below.
fn covers(folder: &Path, tool: &str, part: &Part) -> bool {
    let says = |file: &str, words: &str| read(&folder.join(file)).is_some_and(|text| text.contains(words));
    let has = |file: &str| is_file(&folder.join(file));
    match tool {
        "cargo" => says("Cargo.toml", "[workspace"),
        "maven" => says("pom.xml", "<modules>"),
        "gradle" => has("settings.gradle") || has("settings.gradle.kts"),
        "uv" => says("pyproject.toml", "[tool.uv.workspace]"),
        "dotnet" | "cmake" | "meson" | "mix" => true,
        "npm" | "pnpm" | "yarn" | "bun" => {
            let is_workspace = says("package.json", "\"workspaces\"") || has("pnpm-workspace.yaml");
            is_workspace && part.of(Kind::Check).any(|check| check.evidence == "package.json")
        }
        _ => false,
    }
}
