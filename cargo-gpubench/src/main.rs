//! The `cargo gpubench` command.
#![forbid(unsafe_code)]

use std::{panic, process};

use cargo_gpubench::{
    author, broker,
    cli::{App, GpubenchArguments, Verb},
    error::{Expected, ExpectedError},
    exit_code::ExitCode,
    referee, sandbox,
    wire::Channel,
    worker,
};
use clap::Parser;

/// A panic is the tool's own fault and must not look like a failed build, which is what Rust's own exit code for it means here.
fn main() -> process::ExitCode {
    let outcome = panic::catch_unwind(run).unwrap_or(Ok(ExitCode::Internal));
    outcome
        .unwrap_or_else(|error| {
            error.print();
            error.exit_code()
        })
        .into()
}

fn run() -> Result<ExitCode, ExpectedError> {
    match App::parse().verb {
        Verb::Gpubench(arguments) => benchmark(*arguments),
        Verb::Author => play(|channel| Ok(author::serve(channel)?)),
        Verb::Referee => play(|channel| Ok(referee::serve(channel)?)),
        Verb::Worker => play(|channel| Ok(worker::serve(channel)?)),
    }
}

/// Plays one of the other roles until the broker is gone. What is printed here is kept by the broker and shown if the role fails.
fn play(serve: fn(&Channel) -> Result<(), Box<dyn std::error::Error + Send + Sync>>) -> Result<ExitCode, ExpectedError> {
    let internal = |what: &str, source: Box<dyn std::error::Error + Send + Sync>| ExpectedError::Internal {
        what: what.to_owned(),
        source,
    };
    let channel = sandbox::enter_role().map_err(|error| internal("cannot enter the role", error.into()))?;
    serve(&channel).map_err(|error| internal("cannot go on in the role", error))?;
    Ok(ExitCode::Success)
}

fn benchmark(arguments: GpubenchArguments) -> Result<ExitCode, ExpectedError> {
    let options = arguments.into_options()?;
    options.output.color.apply();
    broker::run(&options)
}
