//! `programmator man`: the man pages, made of the same commands and help texts as `--help`.

use super::command_line::Cli;
use super::error::CliError;
use crate::base::amount::counted;
use crate::base::text::clean_line;
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// Prints the page of programmator itself or, into a folder, writes one for each command. What stands there under these
/// names is replaced.
pub fn run(out: &mut dyn Write, folder: Option<&Path>) -> Result<(), CliError> {
    let command = built();
    let Some(folder) = folder else { return Ok(out.write_all(&page(&command)?)?) };
    let failed = |error: io::Error| CliError::failure(format!("{} cannot be written: {error}", folder.display()));
    fs::create_dir_all(folder).map_err(failed)?;
    let (mut all, mut pages) = (vec![&command], 0);
    while let Some(command) = all.pop() {
        let name = command.get_display_name().unwrap_or_else(|| command.get_name());
        fs::write(folder.join(format!("{name}.1")), page(command)?).map_err(failed)?;
        pages += 1;
        all.extend(shown(command));
    }
    let shown = clean_line(&folder.display().to_string(), 400);
    Ok(writeln!(out, "Wrote {} to {shown}.", counted(pages, "page"))?)
}

/// The commands as a person types them, with their whole names.
fn built() -> Command {
    // The pages of `help` would only say where help is.
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    command
}

fn shown(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|command| !command.is_hide_set())
}

fn page(command: &Command) -> io::Result<Vec<u8>> {
    let man = Man::new(command.clone()).source(concat!("programmator ", env!("CARGO_PKG_VERSION")));
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if shown(command).next().is_some() {
        man.render_subcommands_section(&mut page)?;
    }
    let below = command.get_after_long_help().or(command.get_after_help());
    if let Some(below) = below {
        sections(&below.to_string()).to_writer(&mut page)?;
    }
    if command.get_version().is_some() {
        man.render_version_section(&mut page)?;
    }
    Ok(page)
}

/// What stands below the options, as sections: lines that are set in keep their columns.
fn sections(text: &str) -> Roff {
    let mut roff = Roff::new();
    for block in text.split("\n\n") {
        let (head, lines) = block.split_once('\n').unwrap_or((block, ""));
        if head.ends_with(':') && lines.starts_with(' ') {
            roff.control("SH", [&*head.trim_end_matches(':').to_uppercase()]);
            let (set_in, rest): (Vec<&str>, Vec<&str>) = lines.lines().partition(|line| line.starts_with(' '));
            roff.control("nf", []);
            for line in set_in {
                roff.text([roman(line)]);
            }
            roff.control("fi", []);
            for line in rest {
                roff.text([roman(line)]);
            }
        } else {
            roff.control("PP", []);
            for line in block.lines() {
                roff.text([roman(line)]);
            }
        }
    }
    roff
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The page as text: without the escapes of roff.
    fn plain(page: &[u8]) -> String {
        let page = String::from_utf8_lossy(page).replace("\\-", "-").replace("\\&", "").replace("\\(bu", "•");
        page.replace("\\*(Aq", "'").replace("\\(aq", "'").replace("\\\\", "\\").replace("\\fB", "").replace("\\fR", "")
    }

    #[test]
    fn each_command_has_a_page_with_the_text_of_its_help() {
        let folder = tempfile::tempdir().unwrap();
        run(&mut Vec::new(), Some(folder.path())).unwrap();
        let command = built();
        let (mut all, mut pages) = (vec![&command], 0);
        while let Some(command) = all.pop() {
            let name = command.get_display_name().unwrap_or_else(|| command.get_name());
            let page = plain(&fs::read(folder.path().join(format!("{name}.1"))).expect(name));
            pages += 1;
            for line in command.get_after_long_help().or(command.get_after_help()).unwrap_or_default_text().lines() {
                let is_head = line.ends_with(':') && !line.starts_with(' ');
                let line = if is_head { line.trim_end_matches(':').to_uppercase() } else { line.to_owned() };
                assert!(page.contains(&line), "{name} lacks: {line}\n{page}");
            }
            for below in shown(command) {
                assert!(page.contains(below.get_name()), "{name} names {}", below.get_name());
            }
            for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
                let about = arg.get_help().map(ToString::to_string).unwrap_or_default();
                let first: String = about.split(' ').take(3).collect::<Vec<_>>().join(" ");
                assert!(page.contains(&first), "{name} lacks of {}: {first}", arg.get_id());
            }
            all.extend(shown(command));
        }
        assert!(pages > 60, "{pages}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), pages, "and no other");
    }

    trait OrNothing {
        fn unwrap_or_default_text(self) -> String;
    }

    impl OrNothing for Option<&clap::builder::StyledStr> {
        fn unwrap_or_default_text(self) -> String {
            self.map(ToString::to_string).unwrap_or_default()
        }
    }

    #[test]
    fn what_stands_in_columns_keeps_them() {
        let roff = sections("Examples:\n  a     b\n.x\n\nA word. 'So'.").to_roff();
        assert!(roff.contains(".SH EXAMPLES\n.nf\n  a     b\n.fi\n\\&.x\n.PP\n"), "{roff}");
    }
}
