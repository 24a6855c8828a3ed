//! The program's entry.

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.split_first() {
        Some((first, rest)) if first == "scripted-agent" => programmator::demo::agent::main(rest),
        _ => ExitCode::SUCCESS,
    }
}
