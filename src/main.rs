//! The program's entry: arguments, error reporter, exit code. Everything else is `programmator::cli`'s.

use programmator::cli;
use std::process::ExitCode;

fn main() -> color_eyre::Result<ExitCode> {
    // Claude's double is called with Claude's own flags, which clap must not read.
    // Not `args`: it panics over a file's name that is no UTF-8.
    let mut args = std::env::args_os().skip(1);
    let first = args.next();
    #[cfg(target_os = "linux")]
    {
        use programmator::adapters::agent::keeper;
        if first.as_ref().is_some_and(|first| first == keeper::WORD) {
            return Ok(keeper::main(&args.collect::<Vec<_>>()));
        }
        keeper::offer();
    }
    {
        use programmator::adapters::own_session;
        if first.as_ref().is_some_and(|first| first == own_session::WORD) {
            return Ok(own_session::main(&args.collect::<Vec<_>>()));
        }
        own_session::offer();
    }
    if first.is_some_and(|first| first == "scripted-agent") {
        let args: Vec<String> = args.map(|arg| arg.to_string_lossy().into_owned()).collect();
        return Ok(programmator::demo::agent::main(&args));
    }
    if cli::completing::answer(&std::env::args_os().collect::<Vec<_>>()) {
        return Ok(ExitCode::SUCCESS);
    }
    color_eyre::config::HookBuilder::default()
        .display_env_section(false)
        .panic_message(cli::error::PanicWords)
        .install()?;
    Ok(cli::run(cli::arguments()))
}
