//! The `cargo gpubench` command.
#![forbid(unsafe_code)]

use std::{env, panic, process};

use cargo_gpubench::cli::{self, Command, GpubenchArguments, Verb, play};
use cargo_gpubench::probe_program::ProbeProgram;
use cargo_gpubench::{broker, doctor, history, scaffold};
use gpubench_diagnostic::{ExitCode, Failure, InternalError, SetupMissing};
use gpubench_report::Output;
use gpubench_sandbox::{ForeignRights, begin_with_rights_of_caller, continue_without_foreign_children, keep_in_broker};

/// A panic is a bug of the tool. Rust's own exit code for it would look like a failed build.
fn main() -> process::ExitCode {
    let outcome = panic::catch_unwind(run).unwrap_or(Ok(ExitCode::Internal));
    outcome
        .unwrap_or_else(|error| {
            error.print();
            error.exit_code()
        })
        .into()
}

fn run() -> Result<ExitCode, Failure> {
    begin_with_rights_of_caller().map_err(refuse_rights)?;
    let line: Vec<_> = env::args_os().collect();
    if let Some(arguments) = cli::arguments_of_probe(&line) {
        return Err(ProbeProgram::find()?.execute(arguments).into());
    }
    if cli::is_agent(&line) {
        continue_without_foreign_children().map_err(InternalError::because("cannot start a process"))?;
        return broker::serve(&cli::options_of_order);
    }
    let verb = cli::parse()?;
    if let Some(played) = play(&verb) {
        return Ok(played?);
    }
    match verb {
        Verb::Gpubench(arguments) => benchmark(*arguments),
        Verb::Author | Verb::Referee | Verb::Worker | Verb::Nvrtc | Verb::Probe { .. } | Verb::Clocks { .. } => {
            Ok(ExitCode::Success)
        }
    }
}

/// Such an executable would give its rights to whatever its caller's environment names.
fn refuse_rights(refused: ForeignRights) -> SetupMissing {
    let file = env::current_exe().map_or_else(|_| "FILE".to_owned(), |file| file.display().to_string());
    SetupMissing {
        what: refused.to_string(),
        hint: format!(
            "remove them with `setcap -r {file}` or `chmod ug-s {file}`; of all programs only `gpubench-probe` may \
             have some"
        ),
    }
}

fn benchmark(arguments: GpubenchArguments) -> Result<ExitCode, Failure> {
    arguments.color().apply();
    let command = arguments.into_command(&cli::described_verb())?;
    keep_in_broker(command.rights()).map_err(InternalError::because("cannot drop capabilities"))?;
    if command.starts_roles() {
        continue_without_foreign_children().map_err(InternalError::because("cannot start a process"))?;
    }
    let code = match command {
        Command::Probe(arguments) => return Err(ProbeProgram::find()?.execute(&arguments).into()),
        Command::Run(options) => broker::run(&options)?,
        Command::Archive(options) => broker::archive(&options)?,
        Command::Compare(options) => broker::compare_runs(&options)?,
        Command::Doctor(options) => doctor::examine(&options)?,
        Command::New(options) => scaffold::new_crate(&options)?,
        Command::Init(options) => scaffold::init(&options)?,
        Command::Print(text) => {
            Output::stdout().print(&text)?;
            ExitCode::Success
        }
        Command::Manual(manual) => {
            manual.publish()?;
            ExitCode::Success
        }
        Command::History(options) => history::show(&options)?,
        Command::Judge(options) => broker::judge(&options)?,
        Command::Lint(options) => broker::lint(&options)?,
        Command::Report(options) => broker::report(&options)?,
        Command::Problem(options) => broker::problem(&options)?,
    };
    Ok(code)
}
