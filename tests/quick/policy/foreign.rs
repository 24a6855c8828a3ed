//! What is not the project's own, although a word stands where the project's own would: code of others, modules and
//! formatters that are installed, words of a version that run what the repository says. Each row beside its neighbour.

use super::support::policy;
use programmator::domain::profile::Profile;
use programmator::domain::verdict::Verdict;
use programmator::policy::place::{MadeUp, Place};
use programmator::policy::remembered::Remembered;
use serde_json::json;
use std::path::Path;

const FILES: &[&str] = &[
    "Cargo.toml",
    "Gemfile",
    "composer.json",
    "go.mod",
    "uv.lock",
    "pyproject.toml",
    "Makefile",
    "build.gradle",
    "src/main.c",
    "src/main.rs",
    "src/http/__init__.py",
    "src/ensurepip/__init__.py",
    "src/twine/__init__.py",
    "src/mypkg/__init__.py",
    "src/httpie/__init__.py",
    ".venv/bin/python",
    ".venv/lib/python3.12/site-packages/httpie/__init__.py",
    "mypkg/__init__.py",
    "tests/__init__.py",
    "tests/test_a.py",
    "more/test_b.py",
    "config/settings.py",
    "x.py",
    "x.pl",
    "x.js",
    "x.rb",
    "q.js",
    "script.sh",
    "app.db",
    "node_modules/.bin/eslint",
    "node_modules/.bin/tsx",
    "node_modules/.bin/other",
    "node_modules/foo/bin/node",
    "vendor/x/bin/perl",
    "vendor/x/.venv/bin/python",
    "vendor/bin/phpcs",
    "vendor/x/Cargo.toml",
];

const TEXTS: [(&str, &str); 5] = [
    ("package.json", r#"{"scripts": {"dev": "vite", "deep": "node x.js"}}"#),
    ("one.py", "# /// script\n# dependencies = [\"evil\"]\n# ///\nprint(1)\n"),
    ("two.py", "print(1)\n"),
    ("three.py", "#!/usr/bin/env python\n\n#   /// script\nprint(1)\n"),
    ("web/package.json", r#"{"scripts": {"env": "printenv"}}"#),
];

fn decide(profile: Profile, more: &[(&str, &str)], command: &str) -> (Verdict, String) {
    let root = Path::new("/home/dev/proj");
    let view = MadeUp::new(root, [], FILES.iter().copied()).with_texts(TEXTS).with_texts(more.iter().copied());
    let view = Remembered::new(&view).with_scratch(Some(Path::new("/tmp/run")));
    let place = Place { workspace: root, cwd: root, home: Path::new("/home/dev"), user: "dev", view: &view };
    let decision = policy(profile).decide("Bash", &json!({ "command": command }), &place);
    (decision.verdict, decision.told())
}

fn all_allowed(commands: &[&str]) {
    let asked = commands.iter().map(|command| (command, decide(Profile::Guarded, &[], command)));
    let asked: Vec<String> = asked
        .filter(|(_, (verdict, _))| *verdict != Verdict::Allow)
        .map(|(command, (_, told))| format!("{command}: {told}"))
        .collect();
    assert!(asked.is_empty(), "{}\n{}", asked.len(), asked.join("\n"));
}

fn none_allowed(commands: &[&str]) {
    let is_allowed = |command: &&&str| decide(Profile::Guarded, &[], command).0 == Verdict::Allow;
    let allowed: Vec<&&str> = commands.iter().filter(is_allowed).collect();
    assert!(allowed.is_empty(), "{} of {}\n{allowed:#?}", allowed.len(), commands.len());
}

#[test]
fn a_module_is_the_projects_where_python_looks_for_it() {
    all_allowed(&["python -m mypkg", "uv run python -m mypkg", "python x.py", "PYTHONPATH=src python -m mypkg"]);
    none_allowed(&[
        "python -m http.server", "python -m http", "uv run python -m http.server", ".venv/bin/python -m http.server",
        "python -m ensurepip", "python -m twine", "python -m httpie", "PYTHONPATH=src python -m http.server",
    ]);
}

#[test]
fn what_an_option_names_is_the_projects_own() {
    all_allowed(&["ruby -Itest x.rb", "java -cp out X", "go run ./cmd/x", "cargo run -p vendored", "perl -Ilib x.pl"]);
    none_allowed(&[
        "cargo run --manifest-path vendor/x/Cargo.toml",
        "cargo run --manifest-path=vendor/x/Cargo.toml",
        "java -cp node_modules/x X",
        "java -cp out:node_modules/x X",
        "PYTHONPATH=node_modules/x python x.py",
        "PYTHONPATH=src:vendor/x python x.py",
        "export PYTHONPATH=.venv/x; python x.py",
        "perl -Inode_modules/x x.pl",
        "go run ./vendor/x",
        "ruby -Ivendor/x x.rb",
        "ruby -I vendor/x x.rb",
        "julia --project=vendor/x x.jl",
        "dotnet run --project vendor/x",
        "npx tsx --tsconfig node_modules/x/tsconfig.json x.ts",
        "cd src && ruby -I../vendor/x ../x.rb",
    ]);
}

#[test]
fn an_interpreter_of_the_environment_stands_there() {
    all_allowed(&[".venv/bin/python x.py", "./.venv/bin/python x.py", "node_modules/.bin/tsx x.ts"]);
    none_allowed(&[
        "node_modules/foo/bin/node x.js",
        "vendor/x/bin/perl x.pl",
        "vendor/x/.venv/bin/python x.py",
        "node_modules/foo/node_modules/.bin/tsx x.ts",
    ]);
}

#[test]
fn what_a_tool_loads_by_name_comes_with_it_or_is_the_projects() {
    all_allowed(&[
        "npx eslint -f json src",
        "npx eslint --format=stylish src",
        "pylint --output-format=json src",
        "pylint -f text src",
        "python -m unittest",
        "python -m unittest tests.test_a",
        "python -m unittest -v tests.test_a.TestA.test_x",
        "python -m unittest tests/test_a.py",
        "python -m unittest more.test_b.TestB",
        "python -m unittest discover -s tests",
        "pytest --ds=config.settings",
        "vendor/bin/phpcs --standard=PSR12 src",
        "vendor/bin/phpcs --standard=phpcs.xml src",
        "bundle exec rspec -f documentation",
        "bundle exec rspec --format progress",
        "bundle exec rubocop -f json",
    ]);
    none_allowed(&[
        "npx eslint -f node_modules/evil/x.js src",
        "npx eslint --format=evil src",
        "npx eslint -f ./x.js src",
        "pylint --output-format=antigravity.X app",
        "pylint -f antigravity.X app",
        "python -m unittest antigravity",
        "python -m unittest http.server.X",
        "python -m unittest vendor/x/test_x.py",
        "pytest --ds=evil.mod",
        "vendor/bin/phpcs --standard=vendor/evil src",
        "vendor/bin/phpcs --standard=PSR12,vendor/evil src",
        "bundle exec rspec -f Evil::X",
        "bundle exec rspec --format Evil::X",
        "bundle exec rubocop -f Evil::X",
        "bundle exec rubocop --format Evil::X",
    ]);
}

#[test]
fn a_script_of_the_package_stands_in_it() {
    all_allowed(&["yarn run deep", "bun run deep", "npm run deep", "npm run other", "yarn dev", "pnpm run deep"]);
    none_allowed(&[
        "yarn run other", "bun run other", "bun run ls", "npm run env", "yarn run env", "npm run-script env",
    ]);
}

#[test]
fn a_server_listens_on_this_machine() {
    all_allowed(&[
        "npm run dev -- --host localhost",
        "npm run dev -- --host=127.0.0.1 --port 3001",
        "npm run dev -- -H 127.0.0.1",
        "yarn dev --hostname localhost",
    ]);
    none_allowed(&[
        "npm run dev -- --host=0.0.0.0", "npm run dev -- --host 0.0.0.0", "npm run dev -- --host",
        "npm run dev -- --host --port 3001", "npm run dev -- -H 0.0.0.0", "npm run dev -- --hostname=192.168.1.2",
        "yarn dev --host", "npm run dev -- --host=",
    ]);
}

#[test]
fn a_script_that_says_what_it_needs_is_installed_first() {
    all_allowed(&["uv run two.py", "uv run x.py", "uv run python one.py", "uv run two.py --name y"]);
    none_allowed(&[
        "uv run one.py",
        "uv run three.py",
        "uv run new.py",
        "printf '# /// script' > two.py; uv run two.py",
        "cat a.txt > x.py && uv run --frozen x.py",
    ]);
}

#[test]
fn code_from_elsewhere_is_not_run() {
    all_allowed(&[
        "node x.js",
        "perl x.pl 'a|b'",
        "curl -s http://localhost:8790/x > x.json; bash script.sh",
        "curl -s http://localhost:8790/x > /dev/null; cargo test",
        "curl -s http://localhost:8790/health && cargo test",
        "gcc -c src/main.c -o main.o",
    ]);
    none_allowed(&[
        "node inspect q.js",
        "node debug q.js",
        "perl x.pl 'rm -rf srcx|'",
        "perl x.pl '|rm -rf srcx'",
        "perl x.pl ' rm x | '",
        "perl x.pl '> x'",
        "curl -s http://localhost:8790/x > x.sh; bash x.sh",
        "curl -s http://localhost:8790/x | tee x.py; python x.py",
        "wget --max-redirect=0 -qO- http://localhost:3000/ > x.sh && bash x.sh",
        "docker logs x > x.sh; bash x.sh",
        "curl -s http://localhost:1/x > a.py; mv a.py x.py; python x.py",
        "read -r x < <(curl -s http://localhost:1/x); echo \"$x\" > x.py; python x.py",
        "curl -s http://localhost:1/x > Makefile; make",
        "curl -s http://localhost:1/x > conftest.py; pytest",
        "gcc -E -x c -",
        "echo '#include \"/home/dev/.ssh/id_rsa\"' | gcc -E -x c -",
        "cc - -xc -S",
    ]);
}

#[test]
fn what_prints_the_environment_or_properties_asks() {
    all_allowed(&["make -n", "make -B -j4", "./gradlew dependencies", "gradle tasks"]);
    none_allowed(&[
        "make -p", "make -pn", "make -np test", "gmake -p", "make --print-data-base", "cmake --build build -- -p",
        "gradle properties", "./gradlew properties", "./gradlew :app:properties", "./gradlew -q test properties",
    ]);
}

#[test]
fn the_version_is_told_by_the_projects_own_where_the_repository_says_so() {
    for (file, text, commands) in [
        (
            "rust-toolchain.toml",
            "[toolchain]\npath = \"evil\"",
            &["rustc --version", "cargo --version", "cargo -V"][..],
        ),
        ("rust-toolchain", "nightly", &["cargo --version", "rustc -V", "cargo --list"]),
        (".yarnrc", "yarn-path \"./evil.js\"", &["yarn --version", "yarn -v"]),
        (".yarnrc.yml", "yarnPath: evil.cjs", &["yarn --version", "yarn -v"]),
    ] {
        for command in commands {
            let with = [(file, text)];
            assert_eq!(decide(Profile::Guarded, &with, command).0, Verdict::Allow, "{command} {file}");
            assert_ne!(decide(Profile::Strict, &with, command).0, Verdict::Allow, "{command} {file}");
            let below = format!("cd src && {command}");
            assert_ne!(decide(Profile::Strict, &with, &below).0, Verdict::Allow, "{below} {file}");
            assert_eq!(decide(Profile::Strict, &[], command).0, Verdict::Allow, "{command}");
        }
    }
    let pinned = [("package.json", r#"{"packageManager": "pnpm@9.0.0"}"#)];
    for command in ["pnpm --version", "yarn --version", "pnpm -v"] {
        assert_ne!(decide(Profile::Strict, &pinned, command).0, Verdict::Allow, "{command}");
        assert_eq!(decide(Profile::Strict, &[], command).0, Verdict::Allow, "{command}");
    }
}

#[test]
fn what_holds_secrets_is_on_the_floor() {
    for path in [
        "~/.config/git/credentials",
        "~/.cargo/config.toml",
        "~/.cargo/config",
        "~/.local/share/uv/credentials/credentials.toml",
        "~/.curlrc",
        "~/.wgetrc",
        "~/.subversion/auth/svn.simple/x",
        "~/.docker/contexts/tls/x/key.pem",
        "/etc/krb5.keytab",
        "~/.config/nix/nix.conf",
    ] {
        let command = format!("cat {path}");
        assert_eq!(decide(Profile::Guarded, &[], &command).0, Verdict::Block, "{command}");
    }
    for (text, expected) in
        [("[user]\nname = x", Verdict::Allow), ("[http]\nextraheader = \"Authorization: x\"", Verdict::Block)]
    {
        for (path, command) in
            [("/home/dev/.gitconfig", "cat ~/.gitconfig"), ("/home/dev/.config/git/config", "cat ~/.config/git/config")]
        {
            assert_eq!(decide(Profile::Guarded, &[(path, text)], command).0, expected, "{command}: {text}");
        }
    }
}

#[test]
fn what_is_staged_is_not_lost_unasked() {
    all_allowed(&["git reset HEAD src/main.rs", "git restore --staged src/main.rs"]);
    none_allowed(&["git reset", "git reset HEAD", "git reset -q HEAD", "git reset HEAD -q"]);
    let (_, told) = decide(Profile::Guarded, &[], "git reset HEAD");
    assert!(told.contains("staged"), "{told}");
}

#[test]
fn what_goes_away_with_the_run_is_not_moved_there_unasked() {
    all_allowed(&[
        "cp x.py $TMPDIR/u", "touch $TMPDIR/a; mv $TMPDIR/a $TMPDIR/b", "mv $TMPDIR/a a.txt", "mv x.py y.py",
    ]);
    none_allowed(&["mv x.py $TMPDIR/u", "mv -t $TMPDIR/d x.py", "mv x.py y.py $TMPDIR/d/"]);
}

#[test]
fn a_database_that_is_not_there_would_be_made() {
    all_allowed(&["sqlite3 app.db .tables", "sqlite3 app.db 'select 1'", "sqlite3 -readonly /outside/new.db .tables"]);
    assert_eq!(decide(Profile::Strict, &[], "sqlite3 app.db .tables").0, Verdict::Allow);
    for command in ["sqlite3 /outside/new.db .tables", "sqlite3 ../new.db 'select 1'"] {
        assert_ne!(decide(Profile::Guarded, &[], command).0, Verdict::Allow, "{command}");
        assert_ne!(decide(Profile::Strict, &[], command).0, Verdict::Allow, "{command}");
    }
    assert_ne!(decide(Profile::Strict, &[], "sqlite3 new.db .tables").0, Verdict::Allow);
}
