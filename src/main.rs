//! The program's entry: arguments, error reporter, exit code. Everything else is `programmator::cli`'s.

use clap::Parser;
use programmator::cli::{self, Cli};
use std::process::ExitCode;

fn main() -> color_eyre::Result<ExitCode> {
    // Claude's double is called with Claude's own flags, which clap must not read.
    let mut args = std::env::args().skip(1);
    if args.next().as_deref() == Some("scripted-agent") {
        return Ok(programmator::demo::agent::main(&args.collect::<Vec<_>>()));
    }
    color_eyre::config::HookBuilder::default().display_env_section(false).install()?;
    cli::run(Cli::parse())
}
