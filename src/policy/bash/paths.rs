//! Programs by their paths, and scripts in files that a shell is given.

use super::command::named;
use super::walker::Walker;
use crate::policy::commands::programs;
use crate::policy::unit::{Class, Field, Program, Unit};
use std::path::Path;

impl Walker<'_> {
    pub(super) fn by_path(&mut self, name: &str, args: &[Field], text: &str) {
        let mut unit = Unit::new("Bash", Program::Path(name.to_owned()), text);
        unit.args = args.to_vec();
        unit.more_flags = true;
        match self.own(name, args) {
            Ok(()) => {
                unit.given = self.given(args);
                self.units.push(unit.does(Class::Build));
            }
            Err(Some(why)) if programs::is_tool(name.rsplit('/').next().unwrap_or(name)) => {
                unit.given = self.given(args);
                self.units.push(unit.unknown(why));
            }
            Err(_) => self.own_path(unit, name, args),
        }
    }

    /// A script in a file that is known: a program by its path, in this shell or in one of its own.
    pub(super) fn script_file(&mut self, name: &str, args: &[Field], text: &str) {
        let is_file = |path: &&str| !path.starts_with(['-', '/']) || Path::new(path).starts_with(self.place.workspace);
        match args.first().and_then(Field::text).filter(is_file) {
            Some(_) if self.own(name, args).is_ok() => self.units.push(named(name, args, text).does(Class::Build)),
            Some(path) => {
                let mut unit = Unit::new("Bash", Program::Path(path.to_owned()), text);
                unit.args = args[1..].to_vec();
                unit.more_flags = true;
                // What a script of this shell sets holds for all that follows.
                if matches!(name, "source" | ".") {
                    unit.given = self.given(args);
                    return self.units.push(unit.unclear("sources a script into this shell"));
                }
                // What is not here bash looks for where programs are.
                if !path.contains('/') && !self.is_written_or_there(path) {
                    unit.given = self.given(args);
                    return self.units.push(unit.unknown(format!("{path} is not in this folder: write its path")));
                }
                self.own_path(unit, path, &args[1..]);
            }
            None => self.opaque(args, text, "cannot tell which script runs: write its name"),
        }
    }
}
