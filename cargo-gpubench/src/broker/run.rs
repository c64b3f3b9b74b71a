//! The command, from its options to its exit code.

use super::case_runner::CaseRunner;
use super::choice::listing::print_names;
use super::device::choice::choose_devices;
use super::device::clocks::lock_clocks;
use super::device::counters::{Counters, ensure_profiles_can_be_kept};
use super::device::kind::{SameKind, ensure_combinable};
use super::device::observers::find_observer;
use super::device::processors::Processors;
use super::device::turn::DeviceTurn;
use super::fleet::run_with_agents;
use super::lanes::station::{DeviceHold, Station};
use super::libraries::authors::AuthorSettings;
use super::options::{Action, ResultOptions, RunOptions};
use super::places::Places;
use super::process::{guard_process, prepare_for_roles, require_nvtx};
use super::settings::{DeviceTools, RunSettings, seeds};
use super::sources::Sources;
use super::stored::bookkeeping::ResultTargets;
use super::stored::loaded_run::show_loaded_run;
use super::wrong_calls::ensure_calls_can_be_kept;
use gpubench_device::Facts;
use gpubench_diagnostic::{ExitCode, Failure, print_warning, remove_abandoned};
use gpubench_measure::clients::Interrupt;
use gpubench_measure::timeline::{self, Track};
use gpubench_protocol::window::Seeds;
use gpubench_report::OutputTarget;
use gpubench_store::{RecordsFile, StoredRun};

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
    let places = Places::new(options, &results)?;
    let records = options.output.records.as_deref();
    let records = records.map(RecordsFile::open).transpose()?;
    let targets = ResultTargets::open(&results, &places, options.output.verbosity)?;
    if let Some((first, others)) = results.loaded.split_first() {
        return show_loaded_run(first, others, options, &places, targets);
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
    if let Some(agents) = &options.fleet {
        prepare_for_roles();
        return run_with_agents(agents, options, &sources, (targets, records), &places, &interrupt);
    }
    if options.nvtx {
        require_nvtx()?;
    }
    prepare_for_roles();
    let kinds = choose_devices(options, &interrupt)?;
    ensure_combinable(options, &kinds)?;
    let seeds = seeds(options.measurement.seed)?;
    let (mut targets, mut records) = (Some(targets), records);
    let mut worst = ExitCode::Success;
    for kind in kinds {
        let targets = match targets.take() {
            Some(targets) => targets,
            None => ResultTargets::open(&results, &places, options.output.verbosity)?,
        };
        let code = run_on(kind, options, &sources, targets, (&seeds, records.take()), &interrupt)?;
        worst = worse(worst, code);
        // The names are those of every kind.
        if options.action == Action::List || code == ExitCode::Interrupted {
            break;
        }
    }
    Ok(worst)
}

/// Runs the cases on devices of one kind.
fn run_on(
    kind: SameKind,
    options: &RunOptions,
    sources: &Sources,
    targets: ResultTargets,
    (seeds, records): (&Seeds, Option<(RecordsFile, Option<StoredRun>)>),
    interrupt: &Interrupt,
) -> Result<ExitCode, Failure> {
    let SameKind {
        shared,
        devices,
        mut referees,
    } = kind;
    let (authors, catalogs) = {
        let _lists = timeline::span(Track::Command, "lists the benchmarks");
        sources.list(AuthorSettings::new(options, interrupt))?
    };
    let chosen = sources.select(options, catalogs, &shared.facts, seeds)?;
    if options.action == Action::List {
        return print_names(&chosen.ours, options.output.format);
    }
    let observer = options.observer.as_ref();
    let observer = observer
        .map(|choice| find_observer(choice, &shared.facts, &chosen.ours))
        .transpose()?;
    if let Some(folder) = &options.measurement.keep_callgrind {
        ensure_profiles_can_be_kept(folder, &chosen.ours.cases, &shared.facts)?;
    }
    if let Some(folder) = &options.measurement.keep_wrong_outputs {
        ensure_calls_can_be_kept(folder)?;
    }
    let counters = Counters::for_cases(&chosen.ours.cases, shared.order)?;
    let plan = sources.fit(options, targets, &chosen)?;
    let (candidate, baseline_run) = sources.sides(options, &shared, &chosen, authors)?;
    let facts: Vec<&Facts> = devices.iter().map(|device| &device.facts).collect();
    // Waiting referees would occupy their devices in the meantime.
    let rights = DeviceTurn::take_all(options, &facts, interrupt, || referees.fill_with(|| None))?;
    let mut holds = Vec::new();
    for (turn, facts) in rights.into_iter().zip(&facts) {
        let clocks = lock_clocks(options, facts, interrupt)?;
        holds.push(DeviceHold { turn, clocks });
    }
    let settings: Vec<RunSettings<'_>> = devices
        .iter()
        .zip(&holds)
        .map(|(device, hold)| {
            let tools = DeviceTools {
                clocks: hold.clocks.as_ref(),
                counters: counters.clone(),
                observer: observer.clone(),
            };
            RunSettings::new(options, seeds.clone(), device.order, &device.facts, tools, interrupt)
        })
        .collect();
    let of_devices = interrupt.child();
    let processors = Processors::shares(&facts);
    let stations = settings
        .iter()
        .zip(holds)
        .zip(referees)
        .zip(processors)
        .map(|(((settings, hold), referee), processors)| {
            let libraries = candidate.selected.libraries;
            Station::new(settings, hold, referee, processors, libraries, &of_devices)
        })
        .collect();
    let mut runner = CaseRunner::begin(candidate, baseline_run, stations, &of_devices, plan, records)?;
    let end = runner.measure();
    runner.finish(end)
}

/// Returns the exit code of two runs: that of an interrupt, else that of the first that failed. A
/// regression says more than a comparison that is not conclusive.
pub(crate) fn worse(before: ExitCode, now: ExitCode) -> ExitCode {
    match before {
        ExitCode::Success => now,
        _ if now == ExitCode::Interrupted => now,
        ExitCode::Inconclusive if now == ExitCode::Regression => now,
        before => before,
    }
}

/// Returns what is done with the results, if there are any.
fn results_wanted(options: &RunOptions) -> ResultOptions {
    match options.action {
        Action::Measure => options.results.clone(),
        Action::List | Action::Build | Action::Test | Action::Profile(_) => ResultOptions::default(),
    }
}
