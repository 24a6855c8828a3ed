//! What a `package.json` and the lock files beside it say.

use super::part::{CHECKING, Finding, Kind, first, is_file, read};
use super::words::only_checks;
use serde_json::Value;
use std::path::Path;

/// Lock files, and whose they are.
const LOCKS: [(&str, &str); 6] = [
    ("pnpm-lock.yaml", "pnpm"),
    ("yarn.lock", "yarn"),
    ("bun.lock", "bun"),
    ("bun.lockb", "bun"),
    ("package-lock.json", "npm"),
    ("npm-shrinkwrap.json", "npm"),
];

/// Packages that a project depends on, and the frameworks that they are.
const FRAMEWORKS: [(&str, &str); 10] = [
    ("next", "Next.js"),
    ("nuxt", "Nuxt"),
    ("@sveltejs/kit", "SvelteKit"),
    ("@angular/core", "Angular"),
    ("react", "React"),
    ("vue", "Vue"),
    ("svelte", "Svelte"),
    ("express", "Express"),
    ("fastify", "Fastify"),
    ("@nestjs/core", "NestJS"),
];

/// What `npm init` writes for the script `test`.
const NO_TEST: &str = "no test specified";

pub(super) fn add(folder: &Path, found: &mut Vec<Finding>) {
    if !is_file(&folder.join("package.json")) {
        return;
    }
    let text = read(&folder.join("package.json")).unwrap_or_default();
    let json: Value = serde_json::from_str(&text).unwrap_or_default();
    let depends = |name: &str| {
        let lists = ["dependencies", "devDependencies", "peerDependencies"];
        lists.iter().any(|list| json.get(list).and_then(|list| list.get(name)).is_some())
    };
    let typescript = first(folder, &["tsconfig.json"]).or(depends("typescript").then_some("package.json"));
    found.push(match typescript {
        Some(evidence) => Finding::new(Kind::Language, "TypeScript", evidence),
        None => Finding::new(Kind::Language, "JavaScript", "package.json"),
    });
    let frameworks = FRAMEWORKS.iter().filter(|(package, _)| depends(package));
    found.extend(frameworks.map(|(_, name)| Finding::new(Kind::Framework, *name, "package.json")));
    let (manager, evidence) = manager(folder, &json);
    found.push(Finding::new(Kind::Tool, manager, evidence));
    let script = |name: &str| json.pointer(&format!("/scripts/{name}")).and_then(Value::as_str);
    for name in CHECKING {
        // What stands around a script runs with it.
        let text = |name: &str| {
            let around = |when: &str| script(&format!("{when}{name}")).unwrap_or_default();
            script(name).map(|own| [around("pre"), own, around("post")].join("\n"))
        };
        if script(name).is_some_and(|words| !words.contains(NO_TEST)) && only_checks(name, text) {
            found.push(Finding::new(Kind::Check, format!("{manager} run {name}"), "package.json"));
        }
    }
    let has_types = ["typecheck", "type-check", "check"].iter().any(|name| script(name).is_some());
    if depends("typescript") && is_file(&folder.join("tsconfig.json")) && !has_types {
        let run = match manager {
            "npm" => "npx tsc",
            "pnpm" => "pnpm exec tsc",
            "bun" => "bunx tsc",
            _ => "yarn tsc",
        };
        let check = Finding::new(Kind::Check, format!("{run} --noEmit"), "tsconfig.json");
        found.push(Finding { is_own: false, ..check });
    }
}

/// The package manager, and the file that says so.
fn manager(folder: &Path, json: &Value) -> (&'static str, &'static str) {
    let named = json.get("packageManager").and_then(Value::as_str).unwrap_or_default();
    let named = ["pnpm", "yarn", "bun", "npm"].into_iter().find(|name| named.split('@').next() == Some(name));
    let by_lock = || LOCKS.iter().find(|(file, _)| is_file(&folder.join(file))).map(|(file, name)| (*name, *file));
    named.map(|name| (name, "package.json")).or_else(by_lock).unwrap_or(("npm", "package.json"))
}
