//! `cargo gpubench calibrate`: how far off each method is on this machine.
//!
//! `kernel` is a benchmark of the tool itself, whose kernel runs for a known time. It goes
//! through two ordinary runs of the `broker`. `budget` is a pure function of their results.

mod budget;
mod collector;
mod kernel;
mod show;

#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, PoisonError};

use crate::broker;
use crate::broker::cases::CaseSelection;
use crate::broker::options::{
    Action, CaseOrder, DeviceOptions, LibrarySource, Listener, MeasurementOptions, MessageFormat, OutputOptions,
    ResultOptions, RunOptions,
};
use collector::{Collector, Records};
use gpubench_contract::{CalibrationComplete, Record};
use gpubench_diagnostic::{ExitCode, Failure};
use gpubench_report::{Output, OutputTarget, TerminalOptions, json_line};

/// Number of runs. The second shows the drift.
const RUNS: usize = 2;

/// The options of `cargo gpubench calibrate`.
#[derive(Clone, Debug)]
pub struct CalibrateOptions {
    /// The device.
    pub device: DeviceOptions,
    /// How the kernels are measured.
    pub measurement: MeasurementOptions,
    /// What to show.
    pub output: OutputOptions,
    /// A file that also gets the records.
    pub export: Option<OutputTarget>,
}

/// Measures kernels of known length twice in each mode, and prints what the modes say of them.
///
/// # Errors
/// The device cannot measure, the user interrupts, or the result cannot be written.
pub fn calibrate(options: &CalibrateOptions) -> Result<ExitCode, Failure> {
    if let Some(export) = &options.export {
        export.ensure_writable()?;
    }
    let mut runs = Vec::with_capacity(RUNS);
    for turn in 1..=RUNS {
        let (records, code) = measure(options, turn)?;
        if !matches!(code, ExitCode::Success | ExitCode::BenchmarkFailed) {
            return Ok(code);
        }
        runs.push(records);
    }
    let Some(calibration) = calibration_of(&runs) else {
        return Ok(ExitCode::NothingSelected);
    };
    print(options, &runs, &calibration)?;
    let mut lengths = calibration.methods.iter().flat_map(|method| &method.lengths);
    Ok(match lengths.all(|length| length.standing.is_good()) {
        true => ExitCode::Success,
        false => ExitCode::BenchmarkFailed,
    })
}

/// Runs the benchmark of known length once in each mode.
fn measure(options: &CalibrateOptions, turn: usize) -> Result<(Records, ExitCode), Failure> {
    let collector = Arc::new(Mutex::new(Collector {
        turn: (turn, RUNS),
        verbosity: options.output.verbosity,
        records: Vec::new(),
    }));
    let code = broker::run(&RunOptions {
        action: Action::Measure,
        order: CaseOrder::OneByOne,
        libraries: LibrarySource::Own {
            crate_name: kernel::CRATE,
        },
        cases: CaseSelection::default(),
        device: options.device.clone(),
        measurement: options.measurement.clone(),
        fail_fast: false,
        nvtx: false,
        observer: None,
        output: options.output.clone(),
        results: ResultOptions::default(),
        repeated: Vec::new(),
        listener: Some(Listener::to(collector.clone())),
    })?;
    let mut collector = collector.lock().unwrap_or_else(PoisonError::into_inner);
    Ok((Records(std::mem::take(&mut collector.records)), code))
}

fn calibration_of(runs: &[Records]) -> Option<CalibrationComplete> {
    let started = runs.iter().filter_map(Records::run);
    let run_ids = started.map(|run| run.run_id.clone()).collect();
    let results: Vec<budget::Results<'_>> = runs.iter().map(|run| run.results().collect()).collect();
    let device = &runs.iter().find_map(Records::run)?.device;
    Some(budget::calibration(device, run_ids, &results))
}

/// Prints the tables or the records, and writes the export.
fn print(options: &CalibrateOptions, runs: &[Records], calibration: &CalibrationComplete) -> Result<(), Failure> {
    let lines = || -> Result<String, gpubench_report::OutputError> {
        let last = Record::CalibrationComplete(Box::new(calibration.clone()));
        let records = runs.iter().flat_map(|run| &run.0).chain([&last]);
        records.map(json_line).collect()
    };
    let gives_output_away = options.export == Some(OutputTarget::StandardOutput);
    match options.output.format {
        MessageFormat::Json => Output::stdout().print(&lines()?)?,
        MessageFormat::Human if gives_output_away => {
            let width = TerminalOptions::of_stderr(options.output.color).width;
            Output::stderr().print(&show::text(calibration, width))?;
        }
        MessageFormat::Human => {
            let width = TerminalOptions::of_stdout(options.output.color).width;
            Output::stdout_as_styled().print(&show::text(calibration, width))?;
        }
    }
    if let Some(export) = &options.export {
        export.write(&lines()?)?;
    }
    Ok(())
}
