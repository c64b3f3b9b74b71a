//! The program `gpubench-probe`: what CUDA processes do, seen from outside.
//!
//! It alone of all programs of `cargo gpubench` uses rights: those of its caller, or capabilities
//! of its file. It loads no library by a name, and its command has none of the file's capabilities.
//!
//! `subject` is what is observed: a command that runs, another process or all of them. `attach`
//! begins the best observation that the machine allows: `calls`, or the `outline` of processes
//! without them. `watch` is the loop from the first event to the last, `outlets` are the places
//! that get records and metrics, and `display` is what a person sees meanwhile. `audit` serves
//! `cargo gpubench --audit`.
#![forbid(unsafe_code)]

mod abilities;
mod attach;
mod audit;
mod calls;
mod command;
mod command_line;
mod display;
mod ending;
mod error;
mod observation;
mod options;
mod outlets;
mod outline;
mod outlined;
mod output_lines;
mod pseudo_terminal;
mod reach;
mod screen;
mod signals;
mod subject;
mod values;
mod watch;

#[cfg(test)]
mod tests;

use std::{panic, process};

use clap::Parser;
use gpubench_diagnostic::{ExitCode, Failure};
use gpubench_report::Output;

use command_line::{CommandLine, Task};
use ending::Ending;
use options::{Liveliness, MessageFormat, ObservedTarget, ProbeOptions};
use reach::Reach;

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
    let reach = Reach::begin()?;
    let arguments = CommandLine::parse();
    arguments.color().apply();
    match arguments.into_task()? {
        Task::Abilities => Output::stdout().print(&abilities::line())?,
        Task::Audit => audit::serve(reach)?,
        Task::Observe(options) => {
            reach.covers(&options.target)?;
            return watch::probe(&options, reach);
        }
    }
    Ok(Ending::Own(ExitCode::Success))
}
