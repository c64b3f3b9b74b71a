//! The command, from its options to its exit code.

use super::case_runner::CaseRunner;
use super::choice::listing::print_names;
use super::device::choice::choose_device;
use super::device::clocks::{lock_clocks, unlock_clocks};
use super::device::counters::{Counters, ensure_profiles_can_be_kept};
use super::device::observers::find_observer;
use super::device::turn::DeviceTurn;
use super::libraries::authors::AuthorSettings;
use super::options::{Action, ResultOptions, RunOptions};
use super::places::Places;
use super::process::{guard_process, prepare_for_roles, require_nvtx};
use super::settings::{DeviceTools, RunSettings, seeds};
use super::sources::Sources;
use super::stored::bookkeeping::ResultTargets;
use super::stored::loaded_run::show_loaded_run;
use super::wrong_calls::ensure_calls_can_be_kept;
use gpubench_diagnostic::{ExitCode, Failure, print_warning, remove_abandoned};
use gpubench_measure::timeline::{self, Track};
use gpubench_report::OutputTarget;

/// Runs the command.
///
/// # Errors
///
/// Anything that prevents a result for a selected case. A failed benchmark is a result.
pub fn run(options: &RunOptions) -> Result<ExitCode, Failure> {
    let Some(file) = &options.output.trace else {
        return run_untraced(options);
    };
    let target = OutputTarget::File(file.clone());
    target.ensure_writable()?;
    timeline::begin();
    let ended = run_untraced(options);
    let written = target.write(&timeline::end());
    match (ended, written) {
        (Ok(code), written) => written.map(|()| code).map_err(Failure::from),
        (Err(failure), Ok(())) => Err(failure),
        // What went wrong in the run matters more.
        (Err(failure), Err(error)) => {
            print_warning(&gpubench_diagnostic::chain(&error));
            Err(failure)
        }
    }
}

fn run_untraced(options: &RunOptions) -> Result<ExitCode, Failure> {
    if let Some(reward) = &options.output.reward {
        reward.begin()?;
    }
    let results = results_wanted(options);
    let places = Places::new(&options.libraries, &results, &options.output)?;
    let targets = ResultTargets::open(&results, &places, options.output.verbosity)?;
    if let Some(name) = &results.loaded {
        return show_loaded_run(name, options, &places, targets);
    }
    let interrupt = guard_process(options)?;
    remove_abandoned();
    let sources = {
        let _builds = timeline::span(Track::Command, "builds the libraries");
        Sources::build(options, &results, &interrupt)?
    };
    if options.action == Action::Build {
        return Ok(sources.name_libraries(options));
    }
    if options.nvtx {
        require_nvtx()?;
    }
    prepare_for_roles();
    let (device, mut referee) = choose_device(options, &interrupt)?;
    let (authors, catalogs) = {
        let _lists = timeline::span(Track::Command, "lists the benchmarks");
        sources.list(AuthorSettings::new(options, &interrupt))?
    };
    let seeds = seeds(options.measurement.seed)?;
    let chosen = sources.select(options, catalogs, &device.facts, &seeds)?;
    if options.action == Action::List {
        return print_names(&chosen.ours, options.output.format);
    }
    let observer = options.observer.as_ref();
    let observer = observer
        .map(|choice| find_observer(choice, &device.facts, &chosen.ours))
        .transpose()?;
    if let Some(folder) = &options.measurement.keep_callgrind {
        ensure_profiles_can_be_kept(folder, &chosen.ours.cases, &device.facts)?;
    }
    if let Some(folder) = &options.measurement.keep_wrong_outputs {
        ensure_calls_can_be_kept(folder)?;
    }
    let counters = Counters::for_cases(&chosen.ours.cases, device.order)?;
    let plan = sources.fit(options, targets, &chosen)?;
    let (candidate, baseline_run) = sources.sides(options, &device, &chosen, authors)?;
    // A waiting referee would occupy the device in the meantime.
    let turn = DeviceTurn::take(options, &device.facts, &interrupt, || referee = None)?;
    let clocks = lock_clocks(options, &device.facts, &interrupt)?;
    let tools = DeviceTools {
        clocks: clocks.as_ref(),
        counters,
        observer,
    };
    let settings = RunSettings::new(options, seeds, device.order, &device.facts, tools, &interrupt);
    let mut runner = CaseRunner::begin(candidate, baseline_run, referee, plan, settings)?;
    let end = runner.measure();
    unlock_clocks(clocks, options);
    drop(turn);
    runner.finish(end)
}

/// Returns what is done with the results, if there are any.
fn results_wanted(options: &RunOptions) -> ResultOptions {
    match options.action {
        Action::Measure => options.results.clone(),
        Action::List | Action::Build | Action::Test | Action::Profile(_) => ResultOptions::default(),
    }
}
