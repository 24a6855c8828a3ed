//! The gate's reading of a script against bash's: soups of quotes, brackets, here-documents and operators, in which a
//! harmless-looking part may be one that runs. What `strict` allows is run, and must leave nothing behind.
//!
//! `PROGRAMMATOR_READINGS=50000 cargo test --test quick readings` makes as many scripts.

#![cfg(unix)]

use super::grammar::Dice;
use super::support::decide;
use programmator::domain::profile::Profile;
use programmator::domain::verdict::Verdict;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// What makes the file that must not be there.
const TOUCH: &[&str] = &["touch PWN", "\ntouch PWN", "$(touch PWN)", "`touch PWN`", ";touch PWN"];

/// Signs and words of which soups are made.
#[rustfmt::skip]
const TOKENS: &[&str] = &[
    "echo", "ls", "touch PWN", "$(touch PWN)", "`touch PWN`", "$(", "`", ")", "(", "((", "))", "[[", "]]", "{", "}", ";", "&", "&&", "||", "|", "\n", "\\", "'", "\"", "$'", "$\"", "#", " # ",
    "<<E", "<<-E", "<<'E'", "<<\"E\"", "\nE\n", "E", "<<<", "<(", "case x in", "x)", ";;", "esac", "if", "then", "fi", "for i in a", "do", "done", "while read", "x=", "x=a", "$x", "${x:-", "${x", "${", "!", "time",
    "cat", "a", "-v", "=", "~", "*", "[", "]", "$((", "$[", "a[", "1", "==", "-eq", "\\\n", "\t", ">&2", "2>&1", "&>", "</dev/null", "coproc", "function", "f()", "select", "in", "eval", "\r", "{a,", "b}", "${x/", "//",
    "@P}", "%", "?", "\\'", "\\\"", "`\\`", "$'\\''", "'\\''", "EOF", "<<\\E",
];

/// Shapes that something stands in.
#[rustfmt::skip]
const SHAPES: &[&str] = &[
    "echo $(cat <<E\n%s\nE\n)", "echo \"$(echo \"%s\")\"", "case x in x) %s;; esac", "cat <<E\n%s\nE", "cat <<'E'\n%s\nE\n", "echo ${x:-%s}", "echo \"${x:-%s}\"", "echo $((1+%s))", "[[ x == %s ]]", "[[ x =~ %s ]]",
    "echo '%s'", "echo $'%s'", "echo \"%s\"", "# %s", "echo `echo %s`", "x=(%s)", "echo {a,%s}", "for i in %s; do echo; done", "cat <<E | cat %s\nE", "cat <<A <<B\n%s\nA\nB", "echo a#%s", "echo ${#x}%s", "echo $#%s",
    "ls ${x#%s}", "ls ${x%%%s}", "echo \\%s", "echo a\\\n%s", "! %s", "(( %s ))", "( %s )", "{ echo; %s }", "sed 's/a/%s/'", "awk '{print %s}'", "grep -n '%s' a", "printf '%s'", "test a = %s", "echo x # %s",
];

/// What closes a shape before its end.
#[rustfmt::skip]
const BREAKS: &[&str] = &[
    "touch PWN", "$(touch PWN)", "`touch PWN`", "\ntouch PWN\n", "';touch PWN;'", "\";touch PWN;\"", ")\ntouch PWN\n(", "\nE\ntouch PWN\n", "}\ntouch PWN\n", "e touch PWN", "\");system(\"touch PWN\");(\"", "'\ntouch PWN\n'",
];

fn tokens(dice: &mut Dice, most: usize) -> String {
    (0..dice.below(most)).flat_map(|_| [dice.pick(TOKENS), dice.pick(&[" ", "", "", " "])]).collect()
}

fn script(dice: &mut Dice) -> String {
    if dice.below(5) < 2 {
        let soup = format!("{}{}", dice.pick(TOKENS), tokens(dice, 10));
        return if soup.contains("touch") { soup } else { soup + dice.pick(TOUCH) };
    }
    let mut text = "%s".to_owned();
    for _ in 0..=dice.below(3) {
        text = text.replace("%s", dice.pick(SHAPES));
    }
    text.replace("%s", &format!("{}{}", tokens(dice, 4), dice.pick(BREAKS)))
}

/// Runs a script in a folder that is empty, and says what is there behind it.
fn left_by(script: &str, folder: &Path) -> Vec<String> {
    let mut bash = Command::new("timeout");
    bash.args(["-s", "KILL", "2", "bash", "-c", script]).current_dir(folder);
    bash.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", folder);
    bash.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    bash.status().unwrap();
    let names = fs::read_dir(folder).unwrap();
    let names: Vec<String> = names.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    for name in &names {
        let path = folder.join(name);
        if path.is_dir() { fs::remove_dir_all(path).unwrap() } else { fs::remove_file(path).unwrap() }
    }
    names
}

#[test]
fn bash_runs_nothing_that_the_gate_took_for_text() {
    let asked = std::env::var("PROGRAMMATOR_READINGS").ok().and_then(|text| text.parse().ok());
    let wanted: usize = asked.unwrap_or(3_000);
    let folder = tempfile::tempdir().unwrap();
    let mut dice = Dice::new(asked.map_or(7, |wanted| wanted as u64));
    let (mut allowed, mut holes) = (0, Vec::new());
    for _ in 0..wanted {
        let text = script(&mut dice);
        if decide(Profile::Strict, &[], &text).verdict == Verdict::Allow {
            allowed += 1;
            let left = left_by(&text, folder.path());
            if !left.is_empty() {
                holes.push(format!("{text:?} left {}", left.join(", ")));
            }
        }
    }
    assert!(allowed * 50 > wanted, "{allowed} of {wanted} were allowed: too few to tell");
    assert!(holes.is_empty(), "{} of {allowed}\n{}", holes.len(), holes.join("\n"));
}
