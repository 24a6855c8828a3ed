//! Scripts made by a grammar from a seed: most of it what people write, some of it what nobody should.

/// Numbers that look like chance and are the same for the same seed (`SplitMix64`).
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    pub fn one_in(&mut self, odds: usize) -> bool {
        self.below(odds) == 0
    }

    pub fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

const READERS: &[&str] = &[
    "ls", "cat", "head -n 2", "tail -3", "wc -l", "sort", "sort -r", "uniq", "uniq -c", "cut -c1-3", "tr a b",
    "grep a", "grep -n a", "grep -rn a", "find .", "find . -name", "echo", "printf '%s\\n'", "test -f", "[ -e", "date",
    "seq 3", "basename", "dirname", "realpath", "stat", "file", "du -s", "nl", "rev", "tac", "fold -w 9", "paste",
    "comm", "cmp", "diff", "md5sum", "od -c", "strings", "base64", "expr 1 +", "awk '{print $1}'", "sed -n 1p",
    "sed s/a/b/", "true", "cd src &&", "cd src;", "sort --", "ls -a | xargs cat --", "git status; ls", "seq 1",
];

const ACTORS: &[&str] = &[
    "rm -rf", "rm", "touch", "mkdir -p", "cp", "mv", "tee", "dd if=a.txt", "sed -i s/a/b/", "sort -o",
    "find . -delete -name", "find . -exec rm {} ;", "awk 'BEGIN{system(\"touch w\")}'", "awk '{print > \"w\"}'",
    "sed 'w w'", "xargs rm", "xargs touch", "sh -c", "bash -c", "eval", "source", ".", "exec", "env", "env A=b",
    "nohup", "timeout 2", "nice", "command", "builtin", "alias", "trap 'touch w' EXIT", "export", "unset", "read",
    "set --", "curl", "git status", "git log", "python3 -c", "perl -e", "make", "chmod +x", "ln -s", "xargs cat",
    "printf '%n' x; echo", "printf '%n' PATH; ls", "dc -e '!touch w'", "env cd src; touch", "nice cd src;",
    "sed 's/[]/a/#]/b/w w'", "echo {x}> /dev/null", "true {PATH}> /dev/null; ls", "uniq a.txt", "cd -P src/.. &&",
    "git tag --format --list", "cp -R", "cp -rT", "cp --parents", "git add", "git grep --untracked a --",
    "git diff --cached", "git add -A; git diff --cached", "git blame -S",
];

const WORDS: &[&str] = &[
    "a.txt", "b.txt", "src", "src/a.rs", "./a.txt", "src/../a.txt", "*", "*.txt", "src/*", "?", "[ab].txt", "-n", "-r",
    "-o", "-la", "--", "-e", "--help", "w", "-ow", "--output=w", "'a b'", "\"a b\"", "\"$x\"", "$x", "${x}",
    "${x:-a.txt}", "${x:=w}", "${x@P}", "${#x}", "${x%.txt}", "$HOME", "$PWD", "~", "~/x", "$?", "$#", "$@", "$1",
    "{a,b}.txt", "{1..3}", "a\\ b", "$'a\\tb'", "$'\\x61'", "\"\"", "''", "-", "/etc/hostname", "/dev/null", "../x",
    "'a[$(touch w)]'", "-exec", "[[:lower:]]*", "[\\a].txt", "{01..03}", ".env", "'.e*'", "':/'", "d", "d/.",
    ".claude", ".git/x", "{x}", "'[]/w w'",
];

const TARGETS: &[&str] = &[
    "/dev/null", "w", "src/w", "../w", "$x", "/dev/stdout", "&2", "a.txt", "~/w", "\"w\"", "*", "/dev/tcp/127.0.0.1/9",
    "-",
];

/// How much of a script should be what nobody should write: one in this many.
#[derive(Clone, Copy)]
pub struct Malice(pub usize);

pub fn script(dice: &mut Dice, malice: Malice, depth: usize) -> String {
    let deeper = depth.saturating_sub(1);
    let part = |dice: &mut Dice| script(dice, malice, deeper);
    let Some(kind) = (depth > 0).then(|| dice.below(20)) else { return command(dice, malice, 0) };
    match kind {
        0..=6 => command(dice, malice, deeper),
        7 => format!("{} | {}", part(dice), part(dice)),
        8 => format!("{} && {}", part(dice), part(dice)),
        9 => format!("{} || {}", part(dice), part(dice)),
        10 => format!("{}; {}", part(dice), part(dice)),
        11 => format!("{}\n{}", part(dice), part(dice)),
        12 => format!("({})", part(dice)),
        13 => format!("{{ {}; }}", part(dice)),
        14 => format!("if {}; then {}; else {}; fi", part(dice), part(dice), part(dice)),
        15 => {
            format!("for x in {} {}; do {}; done", word(dice, malice, deeper), word(dice, malice, deeper), part(dice))
        }
        16 => format!("case {} in a*) {};; *) {};; esac", word(dice, malice, deeper), part(dice), part(dice)),
        17 => format!("x={}; {}", word(dice, malice, deeper), part(dice)),
        18 if dice.one_in(malice.0) => match dice.below(6) {
            0 => format!("f() {{ {}; }}; f", part(dice)),
            1 => format!("while {}; do {}; break; done", part(dice), part(dice)),
            2 => format!("[[ -v {} ]]", word(dice, malice, deeper)),
            3 => format!("(( {} ))", word(dice, malice, deeper)),
            4 => format!("coproc {}", part(dice)),
            _ => format!("{} &", part(dice)),
        },
        18 => format!("! {}", part(dice)),
        _ => format!("cat <<{}\n{} $({})\nE", if dice.one_in(2) { "E" } else { "'E'" }, part(dice), part(dice)),
    }
}

fn command(dice: &mut Dice, malice: Malice, depth: usize) -> String {
    let mut text = String::new();
    if dice.one_in(malice.0 * 3) {
        text.push_str(dice.pick(&["x=1 ", "PATH=. ", "LC_ALL=C ", "IFS=/ ", "BASH_ENV=a.txt "]));
    }
    if dice.one_in(8) {
        text.push_str(dice.pick(&["command ", "timeout 2 ", "nice ", "env LANG=C ", "find . -type f | xargs "]));
    }
    let name = if dice.one_in(malice.0) { dice.pick(ACTORS) } else { dice.pick(READERS) };
    text.push_str(name);
    for _ in 0..dice.below(3) {
        text.push(' ');
        text.push_str(&word(dice, malice, depth));
    }
    if name.starts_with('[') {
        text.push_str(" ]");
    }
    if dice.one_in(malice.0 * 2) {
        let sign = dice.pick(&[">", ">>", "<", "2>", "&>", ">|", "<>", "<<<", "2>&1 >"]);
        text.extend([" ", sign, " ", dice.pick(TARGETS)]);
    }
    text
}

fn word(dice: &mut Dice, malice: Malice, depth: usize) -> String {
    if depth > 0 && dice.one_in(5) {
        let inner = script(dice, malice, depth - 1);
        return match dice.below(6) {
            0 => format!("$({inner})"),
            1 => format!("\"$({inner})\""),
            2 => format!("`{inner}`"),
            3 => format!("<({inner})"),
            4 => format!("${{x:-$({inner})}}"),
            _ => format!("$(( $({inner}) + 1 ))"),
        };
    }
    // The first words are plain ones.
    if dice.one_in(malice.0) { dice.pick(WORDS).to_owned() } else { dice.pick(&WORDS[..10]).to_owned() }
}

/// Signs without a grammar.
pub fn noise(dice: &mut Dice) -> String {
    const SIGNS: [&str; 64] = [
        "$", "(", ")", "{", "}", "[", "]", "`", "'", "\"", "\\", "\n", " ", "\t", ";", "&", "|", "<", ">", "!", "#",
        "*", "?", "~", "=", "-", "a", "rm", "ls", "if", "then", "fi", "do", "done", "case", "esac", "in", "for",
        "while", "[[", "]]", "$((", "))", "${", "$(", "<<E", "\nE\n", "<<<", "<(", ">&", "&>", "$'", "\\x", "é",
        "\u{202e}", "0", "99", "1..9", ",", "@", "/", ".", "\0", "\u{1b}",
    ];
    (0..dice.below(60)).map(|_| dice.pick(&SIGNS)).collect()
}
