//! What Claude runs all day, row by row: the gate is of no use if it is in the way of this. Harmless looks are allowed
//! even by `strict`; proven writes and the project's own commands by `guarded`.

use super::support::decide;
use programmator::domain::profile::Profile;
use programmator::domain::verdict::Verdict;

/// A workspace of many languages.
const FILES: &[&str] = &[
    "script.sh", ".git/config", ".github/workflows/ci.yml", ".gitignore", ".venv/bin/python",
    ".pre-commit-config.yaml", "CMakeLists.txt", "Cargo.toml", "Makefile", "README.md", "build.gradle",
    "docs/guide.md", "go.mod", "node_modules/.bin/eslint", "node_modules/.bin/jest", "node_modules/.bin/prettier",
    "node_modules/.bin/tsc", "node_modules/.bin/vitest", "package.json", "poetry.lock", "pyproject.toml", "src/a.py",
    "src/lib.rs", "src/main.rs", "target/debug/app", "tests/cli.rs", "tox.ini", "uv.lock", "web/package.json",
];

/// Looks.
#[rustfmt::skip]
const READS: &[&str] = &[
    // Where am I, what is here.
    "pwd", "pwd && ls -la", "ls -la; cat README.md", "ls -la src/ tests/ 2>/dev/null", "ls -lah target/debug | head -20",
    "ls src/**/*.rs", "ls -R src | head -50", "ls -t | head -1", "ls -d */", "ls *.md *.toml 2>/dev/null", "tree -L 2 -I 'node_modules|target'",
    "tree -a -I '.git'", "cd src && ls", "cd /home/dev/proj && ls -la", "cd /home/dev/proj/src && pwd", "cd src && grep -n foo main.rs && cd ..",
    "find . -name '*.rs' -not -path './target/*' | xargs wc -l", "find . -name '*.rs' -not -path './target/*' | xargs wc -l | tail -1",
    "find . -type f -name '*.py' | head -20", "find . -type f | grep -v node_modules | head -50", "find src -name '*.rs' | sort | head -100",
    "find . -path ./target -prune -o -name '*.rs' -print", "find . -name '*.rs' -newer Cargo.toml", "find . -maxdepth 2 -type d | sort",
    "find . -name '*.rs' | xargs grep -l 'async fn'", "find . -type f -mtime -1 -not -path './.git/*'", "find . -name *.rs", "find / -name cargo -type f 2>/dev/null | head",
    "find src -name '*.rs' -print0 | xargs -0 grep -n 'TODO'", "find . -name '*.rs' | wc -l", "find src -type f | xargs -I{} wc -l {}",
    "find src -type f | while read f; do echo \"$f\"; done", "find src -print0 | while read -r -d '' f; do echo \"$f\"; done",
    // Files.
    "cat src/main.rs", "cat -n src/main.rs | sed -n '10,40p'", "cat -A src/main.rs | head", "cat package.json | jq '.scripts'", "cat Cargo.toml | grep -A5 dependencies",
    "head -50 src/main.rs", "head -c 200 src/main.rs", "tail -n 30 src/main.rs", "tail -c +100 src/main.rs | head -c 50", "sed -n '1,50p' src/main.rs", "sed -n '100,150p;200,210p' src/main.rs",
    "sed -n '/fn main/,/^}/p' src/main.rs", "sed 's/a/b/' src/main.rs | head", "sed -n '$p' README.md", "sed -n 5p README.md", "awk 'NR>=10 && NR<=20' src/main.rs",
    "awk '{print $1}' README.md", "awk -F, '{print $2}' a.csv | sort -u", "awk '/^## /{print NR\": \"$0}' README.md", "awk 'length > 120' src/*.rs", "awk '{s+=$1} END {print s}'", "awk 'END{print NR}' src/main.rs",
    "wc -l src/*.rs", "wc -l src/**/*.rs | sort -n", "wc -c < src/main.rs", "nl -ba src/main.rs | sed -n '1,20p'", "file target/debug/app", "stat -c '%a %U' src/main.rs", "stat src/main.rs",
    "du -sh target", "du -sh * | sort -h", "du -h --max-depth=1 | sort -rh | head", "df -h .", "diff a.txt b.txt", "diff -u src/main.rs src/lib.rs | head -50", "diff <(sort a.txt) <(sort b.txt)", "diff -rq src tests",
    "cmp a b && echo same", "md5sum target/debug/app", "sha256sum Cargo.lock", "xxd target/debug/app | head -5", "od -c a.txt | head", "hexdump -C a.bin | head -n 3", "strings target/debug/app | grep -i version | head",
    "readlink -f target/debug/app", "realpath src", "basename $(pwd)", "dirname src/main.rs", "column -t -s, a.csv | head", "base64 -d a.b64", "comm -23 a.txt b.txt", "join a.txt b.txt", "paste -d, a b", "tac a.txt", "fold -w 80 README.md", "cut -d: -f1 a.txt | sort | uniq -c | sort -rn | head -20",
    "jq . package.json", "jq -r '.dependencies | to_entries[] | \"\\(.key)@\\(.value)\"' package.json", "jq '.scripts.test' package.json", "jq -r .version package.json", "jq keys package.json",
    "zcat a.gz | head", 
    // Searching.
    "grep -rn foo src | head", "grep -rn 'fn main' --include='*.rs' .", "grep -rn \"TODO\\|FIXME\" src/ --include=*.rs | wc -l", "grep -rnE 'a|b' src tests", "grep -rni 'config' src | grep -v test | head -30", "grep -c '' src/main.rs",
    "grep -A 5 -B 5 'fn run' src/main.rs", "grep -n 'x' src/main.rs || echo 'not found'", "grep -q foo src/main.rs && echo yes || echo no", "grep -rl 'foo' src | xargs sed -n '1,3p'", "grep -rl foo src | xargs wc -l", "grep -oP '(?<=version = \")[^\"]+' Cargo.toml", "grep -rn foo . --exclude-dir=target --exclude-dir=node_modules",
    "grep -v '^#' .gitignore", "grep -L foo src/*.rs", "grep -rhoE '[a-z]+_[a-z]+' src | sort | uniq -c | sort -rn | head -20", "egrep 'a|b' README.md", "rg foo", "rg -n 'fn \\w+' src -t rust", "rg -l foo | head", "rg --files | head -50", "rg -A3 -B3 foo src/main.rs", "rg -c TODO", "rg foo -g '*.rs' -g '!target'", "rg -uu foo src", "rg --type-list | head", "fd -e rs", "fd main src",
    // Texts.
    "echo $?", "echo \"done\"", "echo \"exit: $?\"", "echo \"---\"; ls; echo \"---\"; pwd", "echo -e 'a\\nb'", "echo \"$HOME\" \"$USER\" \"$PWD\"", "echo $PATH | tr ':' '\\n'", "echo $SHELL", "echo ${#x}", "echo \"${x:-default}\"", "printf '%s\\n' \"a\" \"b\"", "printf '%-10s|\\n' x", "printf '\\033[1mbold\\033[0m\\n'", "echo 'x' | tr a-z A-Z", "echo '{\"a\":1}' | jq .a", "echo \"aGk=\" | base64 -d", "echo 'a b' | awk '{print $2}'", "seq 1 5 | paste -sd+ | bc", "echo $((16#ff))", "echo $((1 << 10))", "echo \"scale=2; 10/3\" | bc", "expr 1 + 2", "cat <<EOF\nhello\nEOF", "cat <<'EOF' | sort\nb\na\nEOF", "grep foo <<< \"foo bar\"", "date", "date '+%Y-%m-%d %H:%M:%S'", "date -d '2 days ago' +%F", "date -Iseconds", "cal", "sleep 5", "sleep 2 && echo ok", "sleep 0.5; ls", "true", ":", "ls || true", "ls 2>/dev/null || true", "wc -l < README.md 2>/dev/null || echo 0",
    // Conditions and loops.
    "test -f Cargo.toml && echo yes", "test -d node_modules || echo 'no deps'", "[ -f README.md ] && cat README.md", "[[ -d src ]] && ls src || echo none", "if [ -f Cargo.toml ]; then echo rust; elif [ -f package.json ]; then echo node; else echo unknown; fi", "for f in src/*.rs; do echo \"$f\"; wc -l \"$f\"; done", "for f in *.py; do echo $f; wc -l \"$f\"; done", "for f in $(find src -name '*.rs'); do echo \"== $f\"; done", "for f in a b c; do echo \"== $f ==\"; head -3 src/$f.rs; done", "for i in {1..5}; do echo $i; done", "for i in $(seq 1 3); do echo $i; sleep 1; done", "for ((i=0;i<3;i++)); do echo $i; done", "for ((i=1; i<=5; i++)); do echo $i; done", "total=0; for f in src/*.rs; do n=$(wc -l < \"$f\"); done; echo $total", "for d in src tests; do echo \"$d: $(find $d -name '*.rs' | wc -l)\"; done", "for f in src/*.rs; do n=$(wc -l < \"$f\"); echo \"$n $f\"; done | sort -rn", "while read -r l; do echo \"$l\"; done < README.md", "case \"$(uname)\" in Linux) echo l;; Darwin) echo m;; esac", "{ echo a; echo b; } | sort", "(cd src && ls | wc -l)", "! grep -q foo src/main.rs", "ls && echo && pwd", "x=$(ls | wc -l); echo \"$x files\"", "n=3; head -n $n README.md", "count=0; for f in src/*.rs; do count=$((count+1)); done; echo $count", "set -e; ls; pwd", "set -euo pipefail\nls\npwd",
    // The machine.
    "which cargo", "which node python3 go 2>/dev/null", "command -v jq", "command -v jq >/dev/null 2>&1 && echo yes || echo no", "type -a python3", "uname -a", "uname -s -m", "nproc", "free -h", "whoami", "id -u", "hostname", "uptime", "ps aux | head", "ps aux | grep node | grep -v grep", "ps -ef | grep cargo", "ps -p 123", "pgrep -fl node", "lsof -i :3000", "ss -tlnp", "netstat -tln", "cat /etc/os-release", "cat /proc/cpuinfo | head", "cat /proc/meminfo | head -3", "cat /proc/loadavg", "ulimit -n", "locale", "cargo --version", "rustc --version && cargo --version", "node --version && npm --version", "node -v; npm -v", "python3 --version", "python --version 2>&1", "go version", "java -version 2>&1", "git --version", "make --version | head -1", "gcc --version | head -1", "jq --version", "rg --version | head -1", "docker --version", "tsc --version", "ruby --version", "pip --version", "npx --version", "cmake --version", "rustup --version", "pip show requests", "go env GOPATH", "cargo --list",
    // git.
    "git status", "git status --short", "git status -sb", "git status --porcelain", "git status && git diff --stat", "git log --oneline -5", "git log -1 --format=%H", "git log --oneline --graph --all -20", "git log --stat -3", "git log -p -2 -- src/main.rs", "git log --since='2 weeks ago' --author=dev --pretty=format:'%h %an %s'", "git log main..HEAD --oneline", "git log origin/main..HEAD", "git log -S foo --oneline", "git log -L1,10:src/main.rs", "git log --follow -- src/main.rs", "git log --all --oneline -- docs | head", "git diff", "git diff --cached", "git diff --staged --stat", "git diff HEAD~1", "git diff HEAD~3..HEAD -- src", "git diff main...HEAD --name-only", "git diff --name-status HEAD", "git diff src/main.rs | head -100", "git diff -w --word-diff", "git diff --no-color HEAD -- '*.rs'", "git diff --check", "git show", "git show HEAD", "git show HEAD --stat", "git show HEAD:src/main.rs", "git show HEAD~2:README.md | head -20", "git show --name-only HEAD", "git show abc123 -- src/main.rs", "git blame -L 10,20 src/main.rs", "git blame src/main.rs | head", "git branch", "git branch -a", "git branch --show-current", "git branch -vv", "git branch --merged main", "git branch -r | head", "git remote -v", "git remote get-url origin", "git rev-parse HEAD", "git rev-parse --abbrev-ref HEAD", "git rev-parse --show-toplevel", "git rev-list --count HEAD", "git ls-files | head -50", "git ls-files --others --exclude-standard", "git ls-tree -r HEAD --name-only", "git tag", "git tag --sort=-creatordate | head", "git describe --tags --always", "git stash list", "git stash show -p", "git reflog | head", "git config user.name", "git config --get remote.origin.url", "git config --list --name-only | head", "git shortlog -sn", "git grep -n foo", "git grep foo HEAD -- src", "git merge-base main HEAD", "git cat-file -p HEAD", "git check-ignore -v target", "git worktree list", "git --no-pager diff", "git --no-pager log --oneline -10 | cat", "git diff --stat && git status --short && git log --oneline -3", "git log --oneline -5 2>/dev/null || echo 'no repo'", "git diff HEAD --stat | tail -1", "git symbolic-ref --short HEAD",
];

/// Work in the workspace.
#[rustfmt::skip]
const WORK: &[&str] = &[
    // Files.
    "mkdir -p src/x && touch src/x/y.rs", "mkdir -p src/{a,b,c}", "touch src/new.rs", "cat > src/new.rs <<'EOF'\nfn main() { println!(\"$x `y`\"); }\nEOF", "cat > src/new.rs << 'EOF'\nuse std::fs;\nEOF\ncargo check", "cat >> README.md <<EOF\n\nmore\nEOF", "echo 'x' > notes.txt", "echo 'target/' >> .gitignore", "printf 'a\\n' > a.txt", "ls > out.txt 2>&1", "tee out.txt <<< x", "cargo test 2>&1 | tee test.log | tail -20", "sed -i 's/foo/bar/g' src/main.rs", "sed -i 's/a/b/' src/x.rs", "sed -i '' 's/a/b/' src/x.rs", "sed -i.bak 's/a/b/' src/x.rs && rm src/x.rs.bak", "sed -i '10d' src/main.rs", "sed -i '/^use foo/d' src/main.rs src/lib.rs", "sed -i -e 's/a/b/' -e 's/c/d/' src/main.rs", "sed -i '5i use std::fs;' src/main.rs", "sed -i -E 's/(a)(b)/\\2\\1/' src/main.rs", "sed -i '1s/^/\\/\\/ head\\n/' src/main.rs", "sed -i 's/a/b/' src/*.rs", "rm src/x.rs", "rm -f out.txt", "rm -f src/a.rs src/b.rs", "rm src/*.bak", "rm -rf target", "rm -rf node_modules dist build", "rm -rf web/node_modules && ls", "rmdir src/empty", "grep -rl foo src | xargs sed -i 's/foo/bar/g'", "find src -name '*.rs' | xargs sed -i 's/a/b/'", "find src tests -name '*.rs' -print0 | xargs -0 sed -i -e 's/a/b/'", "mv a.txt b.txt", "mv src/a.rs src/b/a.rs", "cp src/main.rs src/main.rs.bak", "cp -r src src2", "cp -r docs/ docs2/", "cp -a tests/fixtures tests/fixtures2", "cp .env.example .env.sample", "chmod +x script.sh", "chmod 755 script.sh && ls -l script.sh", "truncate -s 0 log.txt", "> empty.txt", ": > empty.txt", "jq '.version=\"2\"' package.json > p.json && mv p.json package.json", "sort -o a.txt a.txt", "sort a.txt > b.txt", "for f in src/*.rs; do sed -i 's/a/b/' \"$f\"; done", "for f in a b; do mkdir -p \"src/$f\"; touch \"src/$f/mod.rs\"; done", "for f in src/*.rs; do cp \"$f\" \"$f.bak\"; done", "mkdir -p out && cp README.md out/", "cd src && touch x.rs && cd ..", "cat a.txt b.txt > c.txt", "awk '{print $1}' a.txt > b.txt", "curl_out=x; echo $curl_out > y.txt", "x=a.txt; echo hi > \"$x\"", "if [ ! -f a.txt ]; then touch a.txt; fi", "test -d out || mkdir out", "[ -e out ] || mkdir -p out && touch out/x", "diff a b > d.patch || true",
    // git.
    "git add -A", "git add .", "git add src/main.rs tests/", "git add -u && git status", "git commit -m 'msg'", "git commit -am 'msg'", "git add -A && git commit -m \"feat: x\" && git log --oneline -1", "git commit -m \"$(cat <<'EOF'\nfeat: x\n\nbody with `ticks` and $vars\n\nCo-Authored-By: X <x@y>\nEOF\n)\"", "git add -A && git commit -q -m \"$(cat <<'EOF'\nx\nEOF\n)\" && git status", "git commit --allow-empty -m x", "git commit -m 'a' -m 'b'", "git mv a.rs b.rs", "git checkout -b feature/x", "git switch -c feature/x",
    // Rust.
    "cargo test 2>&1 | tail -20", "cd /home/dev/proj && cargo test 2>&1 | tail -20", "cargo test --lib -- --nocapture", "cargo test foo::bar -- --exact", "timeout 60 cargo test", "timeout 300 cargo test 2>&1 | tail -50", "time cargo build --release", "RUSTFLAGS='-D warnings' cargo check", "RUSTFLAGS=-Dwarnings RUST_LOG=x cargo test", "cargo build 2>&1 | grep -E '^(warning|error)' | head -20", "cargo check --all-targets", "cargo clippy --all-targets --all-features -- -D warnings", "cargo fmt", "cargo fmt --check", "cargo fmt --all -- --check", "cargo doc --no-deps", "cargo tree -i serde", "cargo metadata --format-version 1 | jq .", "cargo nextest run", "cargo test; echo \"exit: $?\"", "RUST_BACKTRACE=1 cargo test", "RUST_LOG=debug cargo test", "CARGO_TERM_COLOR=never cargo test", "cargo clean", "cargo test --manifest-path ./Cargo.toml", "cargo test -p app --test cli", "cargo bench --no-run", "cargo test > test.log 2>&1; tail -5 test.log", "nice cargo build", "cargo check --message-format=short 2>&1 | head -40", "cargo test -- --test-threads=1", "(cargo test 2>&1 || true) | tail", "if cargo build; then echo ok; fi", "cargo build & wait", "for i in 1 2 3; do cargo test --quiet || break; done", "cargo machete", "rustfmt src/main.rs",
    // Node.
    "npm test", "npm test -- --watch=false", "npm run build", "npm run lint -- --fix", "npm run test:unit", "npm run typecheck 2>&1 | tail", "CI=true npm test", "npx tsc --noEmit", "npx tsc --noEmit -p tsconfig.json", "npx eslint src --fix", "npx eslint . --ext .ts,.tsx", "npx prettier --check .", "npx prettier --write src/a.ts", "npx jest --coverage", "npx jest src/a.test.ts -t 'name'", "npx vitest run", "npx --no-install tsc --noEmit", "yarn test", "pnpm test", "pnpm -r build", "npm run build && npm test", "NODE_ENV=test npm test", "cd web && npm test", "npm run format:check",
    // Python.
    "python -m pytest -q", "python3 -m pytest tests/test_a.py::test_b -x -q", "pytest -q", "pytest -k foo --tb=short 2>&1 | tail -30", "pytest --cov=src", "python -m pytest -p no:cacheprovider", "python -m unittest discover", "ruff check .", "ruff check --fix src", "ruff format --check", "mypy src", "black --check .", "python -m mypy src", "python -m ruff check", "python3 -m py_compile src/a.py", "python -m compileall src", "uv run pytest", "PYTHONPATH=. pytest", "PYTHONPATH=src:. python -m pytest -q", "env PYTHONPATH=. pytest", "poetry run pytest -q", "tox -e py311", "flake8 src", "python -m black .", "isort --check .", "pre-commit run --all-files", "source .venv/bin/activate && pytest", ".venv/bin/pytest -q", "python3 -m json.tool package.json", "coverage run -m pytest",
    // Go, make and the rest.
    "go build ./... && go vet ./...", "go test ./...", "go test -run TestX -v ./pkg/...", "go test -race -count=1 ./...", "go vet ./...", "gofmt -l .", "gofmt -w src", "go fmt ./...", "go list ./...", "golangci-lint run", "staticcheck ./...", "make", "make test", "make build 2>&1 | tail -5", "make -j4", "make lint fmt", "make clean", "./gradlew test", "gradle test", "shellcheck script.sh", "cmake --build build",
];

/// The project's own programs, and what this machine tells.
#[rustfmt::skip]
const PROGRAMS: &[&str] = &[
    "bash script.sh", "bash -x scripts/build.sh", "sh ./install.sh --prefix=x", "bash -n script.sh", "./run.sh", "python3 script.py", "node index.js", "cargo run -- --help", "./target/debug/app",
    "git rm a.txt", "curl -s localhost:3000/health", "docker ps", "npm start", "npm run dev",
];

/// What reaches further: the person is asked, and could say yes.
#[rustfmt::skip]
const ASKS: &[&str] = &[
    "source ./env.sh && make", 
    "cd .. && cargo test", "cd ~/other && make test", "cargo test --manifest-path ../x/Cargo.toml", "npx tsc -p ../x/tsconfig.json", "npx eslint --config /tmp/e.js .", "PYTHONPATH=/tmp pytest", "PYTHONPATH=src:../x pytest", "PYTHONPATH=$X pytest", "RUSTFLAGS='-D warnings -C linker=./x' cargo build", "RUSTFLAGS='-C linker=./x' cargo build",
    "git push", "git push -u origin feature/x", "git pull --rebase", "git stash", "git stash pop", "git restore src/main.rs", "git checkout -- src/main.rs", "git checkout main", "git checkout -b x origin/main", "git merge main", "git reset --soft HEAD~1", "git commit --amend --no-edit", "git commit -n -m x",
    "npm install", "npm i -D x", "npm ci", "pip install -r requirements.txt", "cargo add serde", "cargo update", "cargo install x", "go get x", "go mod tidy", "gh pr view 1", "brew install x",
    "npm run deploy", "make deploy", "find . -name '*.pyc' -delete", "ln -s a b", "kill 123", "pkill -f node", "tar xzf a.tgz", "env | grep FOO", "printenv PATH", "sed -i 's/a/b/w /tmp/x' a.txt", "sed -i 's/a/b/e' a.txt",
];

/// What is decided where a secret lies at the root: it is in nobody's way who reads elsewhere.
#[test]
fn a_secret_hides_itself_alone() {
    let files: Vec<&str> = FILES.iter().copied().chain([".env"]).collect();
    for (command, verdict) in [
        ("find src -name '*.rs' | xargs grep -n foo", Verdict::Allow),
        ("find . -name '*.rs' -not -path './target/*' | xargs wc -l", Verdict::Allow),
        ("find . -name '*.rs' -print0 | xargs -0 cat", Verdict::Allow),
        ("grep -rl foo src | xargs cat", Verdict::Allow),
        ("grep -rn foo src", Verdict::Allow),
        ("grep -rn foo . --include='*.rs'", Verdict::Allow),
        ("grep -rln foo . --include='*.rs' | xargs head -3", Verdict::Allow),
        ("rg foo", Verdict::Allow),
        ("git grep foo", Verdict::Allow),
        ("grep -rn foo .", Verdict::Block),
        ("grep -rn foo . --include='*.rs' --include='.e*'", Verdict::Block),
        ("grep -rn foo . --include='*.rs' --include '.e*'", Verdict::Block),
        ("grep -rn foo . --include='*.rs' --include=.e*", Verdict::Block),
        ("find . -type f | xargs cat", Verdict::Block),
        ("find . -print -name '*.rs' | xargs cat", Verdict::Block),
        ("find . -name '*.rs' -o -name '.env' | xargs cat", Verdict::Block),
        ("find . -not -name '*.rs' | xargs cat", Verdict::Block),
        ("find src . -type f | xargs cat", Verdict::Block),
        ("cd src && find .. -type f | xargs cat", Verdict::Block),
        ("find src -name '*.rs' | xargs rm", Verdict::Ask),
    ] {
        let decision = decide(Profile::Guarded, &files, command);
        assert_eq!(decision.verdict, verdict, "{command}: {}", decision.told());
    }
}

fn refused(profile: Profile, commands: &[&str]) -> Vec<String> {
    let judged = commands.iter().map(|command| (command, decide(profile, FILES, command)));
    let refused = judged.filter(|(_, decision)| decision.verdict != Verdict::Allow);
    refused
        .map(|(command, decision)| format!("{:5} {command:?}: {}", decision.verdict.word(), decision.told()))
        .collect()
}

#[test]
fn looking_is_never_in_the_way() {
    for profile in [Profile::Strict, Profile::Guarded] {
        let refused = refused(profile, READS);
        assert!(refused.is_empty(), "{}: {} of {}\n{}", profile.word(), refused.len(), READS.len(), refused.join("\n"));
    }
}

#[test]
fn guarded_lets_the_work_be_done() {
    for work in [WORK, PROGRAMS] {
        let refused = refused(Profile::Guarded, work);
        assert!(refused.is_empty(), "{} of {}\n{}", refused.len(), work.len(), refused.join("\n"));
    }
}

#[test]
fn what_reaches_further_is_for_the_person() {
    let judged = ASKS.iter().map(|command| (command, decide(Profile::Guarded, FILES, command)));
    let other = judged.filter(|(_, decision)| decision.verdict != Verdict::Ask);
    let other: Vec<String> = other
        .map(|(command, decision)| format!("{:5} {command:?}: {}", decision.verdict.word(), decision.told()))
        .collect();
    assert!(other.is_empty(), "{} of {}\n{}", other.len(), ASKS.len(), other.join("\n"));
}
