//! Running the project's own programs: files of the workspace, and what is built from it. They run what the repository
//! says, as its tests do. What would run other code, or has a name that says that it reaches further, is not proven.

use super::command::named;
use super::walker::Walker;
use crate::policy::commands::programs::{self, Builder, Interpreter, Runs};
use crate::policy::commands::project;
use crate::policy::floor::Floor;
use crate::policy::unit::{Class, Field, Target, Unit};
use std::path::PathBuf;

/// Why it is not known what runs; a file of the workspace otherwise.
type Found = Result<Vec<PathBuf>, String>;

/// Compared as uv and go do: by every letter.
fn has_ending(name: &str, ending: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, own)| own == ending)
}

impl Walker<'_> {
    /// Whether the words run a program of the project's own, or another that this table knows; then it has been judged.
    pub(super) fn program(&mut self, name: &str, args: &[Field], text: &str) -> bool {
        if let Some(at) = self.pip_as_module(name, args) {
            self.run(&args[at..], text);
            return true;
        }
        let known: Vec<&str> = std::iter::once(name).chain(args.iter().map_while(Field::text)).collect();
        let found = if let Some((wrapper, length)) = programs::wrapper(&known) {
            self.within(wrapper, &known, &args[length - 1..])
        } else if let Some((builder, length)) = programs::builder(&known) {
            Some(self.built(builder, &args[length - 1..]))
        } else if let Some((scripts, at, rest)) = programs::script(&known) {
            Some(self.package_script(scripts, &known[..=at], &args[rest - 1..]))
        } else {
            self.interpreted(name, args)
        };
        let Some(found) = found else { return false };
        let unit = named(name, args, text);
        self.ran(unit, found, args);
        self.launched(args, text);
        true
    }

    /// Puts down what was found of a program.
    fn ran(&mut self, mut unit: Unit, found: Found, args: &[Field]) {
        match found.and_then(|files| self.here().map(|()| files)) {
            Ok(files) => {
                unit.classes.insert(Class::Run);
                unit.reads.extend(files.into_iter().map(Target::Path));
                self.units.push(unit);
            }
            Err(why) => {
                let mut unit = unit.unknown(why);
                unit.more_flags = true;
                unit.given.extend(self.given(args));
                self.units.push(unit);
            }
        }
    }

    pub(super) fn own_path(&mut self, mut unit: Unit, path: &str, args: &[Field]) {
        unit.given = self.given(&[Field::known(path)]);
        let base = path.rsplit('/').next().unwrap_or(path);
        let found = match self.interpreted(base, args).filter(|_| self.is_of_environment(path)) {
            Some(found) => found,
            None => self.own_file(path).and_then(|files| self.handed(args).map(|()| files)),
        };
        self.ran(unit, found, args);
    }

    /// The command behind `uv run` and its like. None when it is not one of these.
    fn within(&self, wrapper: &Builder, known: &[&str], args: &[Field]) -> Option<Found> {
        if !self.is_there(&wrapper.when) {
            return None;
        }
        let mut at = 0;
        while let Some(takes) = args.get(at).and_then(Field::text).and_then(|word| wrapper.line.takes(word)) {
            at += takes;
        }
        let (first, rest) = args.get(at..)?.split_first()?;
        let name = first.text()?;
        let fetches = known.first().is_some_and(|first| matches!(*first, "npx" | "bunx" | "pnpm" | "yarn"));
        match programs::interpreter(name) {
            // What is not installed would be fetched.
            Some(interpreter) if !fetches || !interpreter.when.is_empty() => self.interpreted(name, rest),
            None if known.starts_with(&["uv"]) && has_ending(name, "py") => {
                Some(self.own_file(name).and_then(|files| {
                    self.needs_nothing(&files)?;
                    self.handed(rest).map(|()| files)
                }))
            }
            Some(_) | None => None,
        }
    }

    /// What an interpreter runs. None when `name` is none, or only tells of itself.
    fn interpreted(&self, name: &str, args: &[Field]) -> Option<Found> {
        let interpreter = programs::interpreter(name)?;
        if !self.is_there(&interpreter.when) {
            return None;
        }
        let words: Vec<Option<&str>> = args.iter().map(Field::text).collect();
        match interpreter.runs(&words) {
            Ok(Runs::Itself) => None,
            Ok(runs) => Some(self.runs(interpreter, &runs, args)),
            // It reads files as well, and then it is no interpreter.
            Err(_) if interpreter.takes_file() => None,
            Err(why) => Some(Err(why)),
        }
    }

    /// Where pip stands in `python -m pip`, which is then judged as the command; not when it is one of the workspace.
    fn pip_as_module(&self, name: &str, args: &[Field]) -> Option<usize> {
        let words: Vec<Option<&str>> = args.iter().map(Field::text).collect();
        let Ok(Runs::Module(at)) = programs::interpreter(name)?.runs(&words) else { return None };
        let module = words.get(at).copied().flatten().filter(|module| *module == "pip")?;
        (at == 1 && self.own_module(module).is_err() && self.here().is_ok()).then_some(at)
    }

    fn runs(&self, interpreter: &Interpreter, runs: &Runs, args: &[Field]) -> Found {
        let (files, options, rest) = match *runs {
            Runs::File(at) => (self.own_file(args[at].beginning())?, &args[..at], &args[at + 1..]),
            // `-I` does not look in the present folder.
            Runs::Module(at) if args[..at].iter().any(|word| word.text().is_none_or(|word| word.contains('I'))) => {
                return Err("cannot tell which module runs".to_owned());
            }
            Runs::Module(at) => (self.own_module(args[at].beginning())?, &args[..at], &args[at + 1..]),
            Runs::Found | Runs::Itself => (Vec::new(), args, &[][..]),
        };
        self.of_project(options)?;
        if interpreter.takes_file() {
            self.inside(rest)?;
        } else {
            self.handed(rest)?;
        }
        Ok(files)
    }

    fn built(&self, builder: &Builder, args: &[Field]) -> Found {
        if !self.is_there(&builder.when) {
            return Err("there is no such project in the working directory".to_owned());
        }
        let mut at = 0;
        while let Some(word) = args.get(at) {
            let Some(text) = word.text() else { break };
            if text == "--" {
                at += 1;
                break;
            }
            if !text.starts_with('-') {
                break;
            }
            at += builder.line.takes(text).ok_or_else(|| format!("unrecognized option {text}"))?;
        }
        let at = at.min(args.len());
        self.of_project(&args[..at])?;
        if builder.packages {
            let package = args.get(at).and_then(Field::text).unwrap_or("");
            // Anything else would be fetched.
            if !(package == "." || package.starts_with("./") || has_ending(package, "go")) {
                return Err(format!("{package} is not a package of this project"));
            }
            if let Some(word) = programs::reaching(package.rsplit('/').next().unwrap_or(package)) {
                return Err(reaches(&word, package));
            }
            self.of_project(&args[at..=at])?;
            self.handed(&args[at + 1..])?;
        } else {
            self.handed(&args[at..])?;
        }
        Ok(Vec::new())
    }

    /// A script of `package.json`: what it runs is the project's, what it is handed may be anything to that.
    fn package_script(&self, scripts: &programs::Scripts, known: &[&str], args: &[Field]) -> Found {
        let name = known.last().copied().unwrap_or("");
        if !self.is_there(&scripts.when) {
            return Err("there is no package.json in the working directory".to_owned());
        }
        let plain = |char: char| char.is_ascii_alphanumeric() || matches!(char, ':' | '-' | '_' | '.');
        if name.starts_with('-') || !name.chars().all(plain) {
            return Err("cannot tell which script runs: write its name".to_owned());
        }
        if let Some(word) = programs::reaching(name) {
            return Err(reaches(&word, name));
        }
        // These run any program of `node_modules` by its name, too; npm prints the environment.
        let others = known.first().is_some_and(|first| matches!(*first, "yarn" | "bun")) && !scripts.knows(name);
        if (others || name == "env") && !self.has_script(name) {
            return Err(format!("{name} is not a script in package.json"));
        }
        let mut at = 0;
        while let Some(word) = args.get(at) {
            let text = word.text().ok_or("an argument of the script has an unknown value")?;
            let number = at > 0 && text.chars().all(|char| char.is_ascii_digit());
            let next = args.get(at + 1).and_then(Field::text);
            at += match text {
                _ if let Some(takes) = scripts.listens(text, next)? => takes,
                "--" => 1,
                _ if number => 1,
                _ => scripts.line.takes(text).ok_or_else(|| format!("unrecognized option {text} of a script"))?,
            };
        }
        self.inside(args)?;
        Ok(Vec::new())
    }

    /// A file of the workspace that is the project's own to run.
    fn own_file(&self, path: &str) -> Found {
        let floor = Floor::of_built_in();
        let files = self.targets(path).filter(|_| !path.starts_with('~'));
        let files = files.ok_or_else(|| format!("cannot tell where {path} is"))?;
        for file in &files {
            let Ok(inside) = file.strip_prefix(self.place.workspace) else {
                return Err(format!("{path} is outside the working directory"));
            };
            if inside.as_os_str().is_empty() || self.is_foreign(file) {
                return Err(format!("{path} is not a program of the project"));
            }
            if floor.is_secret(file, &self.place) || floor.protects(file, &self.place).is_some() {
                return Err(format!("{path} is protected"));
            }
            let base = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if programs::is_tool(&base) {
                return Err(format!("cannot tell which {base} goals stay in the working directory"));
            }
            let named = [base.as_str(), path.rsplit('/').next().unwrap_or(path)];
            if let Some(word) = named.iter().find_map(|name| programs::reaching(name)) {
                return Err(reaches(&word, path));
            }
        }
        Ok(files)
    }

    /// A module of the workspace: `python -m` looks in the present folder first. In `src` it looks where the project is
    /// installed so, and then what comes with python or is installed as well goes before it.
    fn own_module(&self, name: &str) -> Found {
        let plain = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '.');
        let top = name.split('.').next().unwrap_or("");
        if top.is_empty() || !name.chars().all(plain) {
            return Err("cannot tell which module runs: write its name".to_owned());
        }
        let there = |path: &str| {
            let found = self.targets(path).unwrap_or_default();
            !found.is_empty() && found.iter().all(|path| self.place.view.exists(path))
        };
        // A folder without `__init__.py` gives way to what is installed under its name.
        let file = name.replace('.', "/");
        let whole = |head: &str| {
            let inside = format!("{head}{top}");
            let is_part =
                [format!("{head}{file}.py"), format!("{head}{file}/__main__.py")].iter().any(|path| there(path));
            there(&format!("{inside}/__init__.py")) || (is_part && !programs::is_module(top) && !programs::is_tool(top))
        };
        let own = if there(&format!("./{top}.py")) {
            Some(format!("./{top}.py"))
        } else {
            let known = programs::is_module(top) || programs::is_tool(top) || self.is_installed(top);
            let heads = if known { &["./"][..] } else { &["./", "./src/"] };
            heads.iter().find(|head| whole(head)).map(|head| format!("{head}{top}"))
        };
        let own = own.ok_or_else(|| format!("{top} is not a module of this project"))?;
        if let Some(word) = programs::reaching(name) {
            return Err(reaches(&word, name));
        }
        self.own_file(&own)
    }

    /// What a program is handed: known words, no paths elsewhere, none that says that it reaches further, no code.
    fn handed(&self, args: &[Field]) -> Result<(), String> {
        self.inside(args)?;
        for text in args.iter().filter_map(Field::texts).flatten() {
            // `--seed 42` and `--release` are settings.
            let name = text.split('=').next().unwrap_or(text).trim_start_matches('-');
            let setting = text.starts_with('-') && matches!(name, "seed" | "release" | "reset");
            if let Some(word) = programs::reaching(text.trim_start_matches('-')).filter(|_| !setting) {
                return Err(reaches(&word, text));
            }
            // perl takes a name with such a sign at an end for a command.
            let piped = text.trim().starts_with('|') || text.trim().ends_with('|');
            if piped || text.contains(['(', ')', '{', '}', ';', '$', '`', '\n', '<', '>']) {
                return Err("an argument may be code".to_owned());
            }
        }
        Ok(())
    }

    /// Known words whose paths are the project's own.
    fn of_project(&self, args: &[Field]) -> Result<(), String> {
        self.inside(args)?;
        let texts = args.iter().filter_map(Field::texts).flatten();
        let foreign = |path: &&str| self.targets(path).is_some_and(|found| found.iter().any(|at| self.is_foreign(at)));
        let path = texts.flat_map(|text| project::paths(text)).find(foreign);
        path.map_or(Ok(()), |path| Err(format!("{path} is not the project's own")))
    }

    /// Known words whose paths stay in the workspace.
    fn inside(&self, args: &[Field]) -> Result<(), String> {
        let floor = Floor::of_built_in();
        for arg in args {
            let texts = arg.texts().ok_or("an argument of the program has an unknown value")?;
            let address = |text: &String| super::network::is_loopback(text) && !text.contains("..");
            for text in texts.iter().filter(|text| !address(text)) {
                for path in project::paths(text) {
                    let targets = self.targets(path).filter(|_| !path.starts_with('~'));
                    let targets = targets.ok_or_else(|| format!("cannot tell where {path} leads"))?;
                    let stays = |target: &PathBuf| {
                        target.starts_with(self.place.workspace)
                            && !floor.is_secret(target, &self.place)
                            && floor.protects(target, &self.place).is_none()
                    };
                    if !targets.iter().all(stays) {
                        return Err(format!("{path} is not a usable file in the working directory"));
                    }
                }
            }
        }
        Ok(())
    }
}

fn reaches(word: &str, text: &str) -> String {
    if word == text {
        format!("`{word}` may reach outside the working directory")
    } else {
        format!("`{word}` in {text} may reach outside the working directory")
    }
}
