//! Kinds of calls that a person can allow for the rest of a run: inline code, requests to one host, one program with the
//! same options on other files of the project. The name of a kind says all of it, and two units are of one kind
//! when their names are the same.

use crate::policy::call;
use crate::policy::commands::programs;
use crate::policy::place::Place;
use crate::policy::unit::{Class, Doubt, Field, Program, Unit};

/// Options with which an interpreter takes its program from the command line.
const INLINE: [(&str, &[&str]); 9] = [
    ("python", &["-c"]),
    ("python3", &["-c"]),
    ("node", &["-e", "--eval", "-p", "--print"]),
    ("bun", &["-e", "--eval"]),
    ("deno", &["eval"]),
    ("ruby", &["-e"]),
    ("perl", &["-e", "-E"]),
    ("php", &["-r"]),
    ("lua", &["-e"]),
];

/// Programs whose operands are programs, hosts or persons: the same options on another file are another thing.
const OF_OTHERS: [&str; 8] = ["sudo", "doas", "su", "pkexec", "ssh", "docker", "kubectl", "screen"];

/// The kind of a unit that a person is asked about; `None` where the engine cannot name one.
/// Where the call goes to another folder first, its words name other files.
pub fn of(unit: &Unit, moved: bool, place: &Place<'_>) -> Option<String> {
    let is_clear = unit.floor.is_none() && unit.doubts.iter().all(|doubt| matches!(doubt, Doubt::Meaning(_)));
    if !is_clear {
        return None;
    }
    match &unit.program {
        Program::Named(name) => {
            inline(name, unit).or_else(|| host(name, unit)).or_else(|| files(name, unit, place).filter(|_| !moved))
        }
        Program::Tool => host(&unit.tool, unit),
        _ => None,
    }
}

fn inline(name: &str, unit: &Unit) -> Option<String> {
    let (_, options) = INLINE.iter().find(|(interpreter, _)| *interpreter == name)?;
    let first = unit.args.first()?.text()?;
    options.contains(&first).then(|| format!("inline code with `{name} {first}`"))
}

/// What is only fetched: nothing is written, and no file may be sent.
fn host(name: &str, unit: &Unit) -> Option<String> {
    let host = unit.host.clone().or_else(|| host_of_urls(unit))?;
    let fetches = unit.classes.contains(&Class::Network)
        && unit.classes.iter().all(|class| matches!(class, Class::Network | Class::Read))
        && unit.writes.is_empty()
        && unit.proven();
    let flags: Vec<&str> = unit.flags.iter().map(String::as_str).collect();
    let with = match &flags[..] {
        [] => String::new(),
        [one] => format!(" with the option {one}"),
        several => format!(" with the options {}", several.join(", ")),
    };
    fetches.then(|| format!("requests by `{name}` to {host}{with}"))
}

/// The host of all addresses among the words of a command that is proven to do no more than fetch them.
fn host_of_urls(unit: &Unit) -> Option<String> {
    let texts = unit.args.iter().filter_map(Field::text).filter(|text| text.contains("://"));
    let mut hosts = texts.map(call::host).collect::<Option<Vec<_>>>()?;
    hosts.dedup();
    let only = hosts.pop()?;
    hosts.is_empty().then_some(only)
}

/// The words as they are, files of the project any others.
fn files(name: &str, unit: &Unit, place: &Place<'_>) -> Option<String> {
    const ANY: &str = "FILE…";
    // The file of an interpreter is a program.
    let runs = OF_OTHERS.contains(&name) || programs::interpreter(name).is_some();
    if runs || unit.classes.contains(&Class::Network) || unit.whole.trim() != unit.text {
        return None;
    }
    let texts: Vec<&str> = unit.args.iter().map(Field::text).collect::<Option<_>>()?;
    let is_file = |text: &str| {
        let path = place.resolve(place.cwd, text).filter(|_| !text.starts_with('-'));
        path.is_some_and(|path| {
            programs::reaching(text).is_none()
                && path.starts_with(place.workspace)
                && place.view.exists(&path)
                && !place.view.is_folder(&path)
        })
    };
    let mut words = vec![name];
    for text in texts {
        match is_file(text) {
            true if words.last() == Some(&ANY) => {}
            true => words.push(ANY),
            false => words.push(text),
        }
    }
    words.contains(&ANY).then(|| format!("`{}` on any files of the project", words.join(" ")))
}
