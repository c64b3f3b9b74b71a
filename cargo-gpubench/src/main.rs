//! The `cargo gpubench` command.
#![forbid(unsafe_code)]

use std::{panic, process};

use cargo_gpubench::cli::{self, Command, GpubenchArguments, Verb, play};
use cargo_gpubench::probe::Ending;
use cargo_gpubench::{broker, calibrate, doctor, history, probe};
use gpubench_diagnostic::{ExitCode, Failure};
use gpubench_report::Output;

/// A panic is a bug of the tool. Rust's own exit code for it would look like a failed build.
fn main() -> process::ExitCode {
    let outcome = panic::catch_unwind(run).unwrap_or(Ok(Ending::Own(ExitCode::Internal)));
    outcome
        .unwrap_or_else(|error| {
            error.print();
            Ending::Own(error.exit_code())
        })
        .into()
}

fn run() -> Result<Ending, Failure> {
    let verb = cli::parse()?;
    if let Some(played) = play(&verb) {
        return Ok(Ending::Own(played?));
    }
    match verb {
        Verb::Gpubench(arguments) => benchmark(*arguments),
        Verb::Author | Verb::Referee | Verb::Worker | Verb::Nvrtc | Verb::Probe { .. } | Verb::Clocks { .. } => {
            Ok(Ending::Own(ExitCode::Success))
        }
    }
}

fn benchmark(arguments: GpubenchArguments) -> Result<Ending, Failure> {
    arguments.color().apply();
    let code = match arguments.into_command()? {
        Command::Probe(options) => return probe::probe(&options),
        Command::Run(options) => broker::run(&options)?,
        Command::Archive(options) => broker::archive(&options)?,
        Command::Compare(options) => broker::compare_runs(&options)?,
        Command::Emit(options) => broker::emit(&options)?,
        Command::Calibrate(options) => calibrate::calibrate(&options)?,
        Command::Doctor(options) => doctor::examine(&options)?,
        Command::Print(text) => {
            Output::stdout().print(&text)?;
            ExitCode::Success
        }
        Command::Manual(manual) => {
            manual.publish()?;
            ExitCode::Success
        }
        Command::History(options) => history::show(&options)?,
        Command::Report(options) => broker::report(&options)?,
    };
    Ok(Ending::Own(code))
}
