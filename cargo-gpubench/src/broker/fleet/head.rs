//! The head of a run over several machines: it builds, announces, leases and reports.

use std::num::NonZeroUsize;

use camino::{Utf8Path, Utf8PathBuf};
use gpubench::catalog::Catalog;

use super::agent::can_do;
use super::fleet_error::FleetError;
use super::late_records::LateRecords;
use super::leases::{Leases, Unit};
use super::message::Begin;
use super::node_archive::facts_of;
use super::order::order_of_process;
use super::station::{Plan, Sent};
use super::stations::Stations;
use super::submissions::{read_ones, with_submissions_read};
use crate::broker::archive::write_uncompiled;
use crate::broker::beginning::{Begun, begin_reports};
use crate::broker::cases::Naming;
use crate::broker::cases::run_names::RunNames;
use crate::broker::device::counters::Counters;
use crate::broker::device::environment;
use crate::broker::device::opened::ChosenDevice;
use crate::broker::lanes::context::{Attempt, LaneContext};
use crate::broker::lanes::expected::PastDurations;
use crate::broker::lanes::job::Job;
use crate::broker::lanes::results::Results;
use crate::broker::lanes::schedule::report_in_order;
use crate::broker::libraries::authors::AuthorSettings;
use crate::broker::options::{FleetOptions, LibrarySource, RunOptions};
use crate::broker::places::Places;
use crate::broker::recording::preparation::Prepared;
use crate::broker::settings::{DeviceTools, RunSettings, seeds};
use crate::broker::sources::Sources;
use crate::broker::status::status;
use crate::broker::stored::bookkeeping::ResultTargets;
use crate::cdylibs::packages_of;
use gpubench_contract::units::counted;
use gpubench_contract::{BenchmarkStarted, RunEnd};
use gpubench_device::{Backend, DeviceRequest, Facts};
use gpubench_diagnostic::{ExitCode, Failure, InternalError, Interrupted, Purpose, TemporaryFolder};
use gpubench_measure::clients::Interrupt;
use gpubench_store::{RecordsFile, StoredRun};

/// An agent says that it lives this many times within the longest silence.
const HEARTBEATS: u32 = 5;

/// Measures the cases with agents.
///
/// # Errors
/// Anything that prevents a result for a selected case. A failed benchmark is a result.
pub(in crate::broker) fn run_with_agents(
    agents: &FleetOptions,
    options: &RunOptions,
    sources: &Sources,
    (targets, records): (ResultTargets, Option<(RecordsFile, Option<StoredRun>)>),
    places: &Places,
    interrupt: &Interrupt,
) -> Result<ExitCode, Failure> {
    if !can_do(options.action) {
        return Err(FleetError::Action.into());
    }
    let order = order_of_process(agents)?;
    let options = &with_submissions_read(options)?;
    let seeds = seeds(options.measurement.seed)?;
    let (authors, catalogs) = sources.list(AuthorSettings::new(options, interrupt))?;
    // Commands of agents are not processes that a role left.
    drop(authors);
    // A machine for a run without a case would be wasted.
    sources.ensure_some_match(options, &catalogs.candidate, &seeds)?;
    let folder =
        TemporaryFolder::new(Purpose::Archive).map_err(InternalError::because("cannot make a temporary folder"))?;
    let archive = archive_for_agents(options, sources, &catalogs.candidate, places, folder.path())?;
    let names = RunNames::draw(Naming::for_packages(packages_of(&sources.built().libraries).len()));
    let submissions = read_ones(options);
    let begin = Begin {
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        order,
        archive: facts_of(&archive).map_err(|source| FleetError::Archive {
            path: archive.clone(),
            source,
        })?,
        submissions: submissions.len(),
        run_id: names.run_id.clone(),
        seed: *seeds.master(),
        heartbeat_ms: u64::try_from((agents.silence / HEARTBEATS).as_millis()).unwrap_or(u64::MAX),
    };
    let late = LateRecords::kept_in(places.late_records(&names.run_id)?);
    let of_agents = interrupt.child();
    let number = agents.runners.len() * agents.agents.get();
    let sent = Sent { archive, submissions };
    let stations = Stations::start(agents, begin, sent, late, &of_agents)?;
    let awaited = match number {
        1 => "the agent".to_owned(),
        several => format!("the first of {}", counted(several as u64, "agent")),
    };
    status(options.output.verbosity, "Awaiting", awaited);
    let first = stations.first_ready(interrupt)?;
    let device = device_of(&first.facts, options);
    let chosen = sources.select(options, catalogs, &device.facts, &seeds)?;
    let plan = sources.fit(options, targets, &chosen)?;
    let selected = sources.selected(&device, &chosen);
    let tools = DeviceTools {
        clocks: None,
        counters: Counters::default(),
        observer: None,
    };
    let settings = RunSettings::new(options, seeds.clone(), device.order, &device.facts, tools, interrupt);
    let about = (environment::device(&device.facts), first.environment.clone());
    let Begun { mut reporting, taken } = begin_reports(&names, &selected, &settings, about, plan, records)?;
    let unprepared: Vec<Prepared> = selected.cases.iter().map(|_| None).collect();
    let mut jobs = Job::all(selected, &unprepared, &names, &settings);
    jobs.retain(|job| !taken.contains(&job.position));
    let compiler = first.environment.compiler.clone().unwrap_or_default();
    let context = LaneContext {
        selected,
        compiler: &compiler,
        settings: &settings,
        baseline: None,
        lanes: NonZeroUsize::MIN,
        interrupt: &of_agents,
        attempt: Attempt::First,
    };
    let groups = Job::together(&jobs);
    let units = units_of(&groups, &reporting.past_durations(&jobs, &context), &device.facts);
    stations.measure(Plan {
        leases: Leases::of(units, number),
        facts: first.facts.clone(),
    });
    let mut results = Results {
        context,
        reporting: &mut reporting,
        baseline_run: None,
    };
    let ended = report_in_order(&groups, &stations.messages, &mut results);
    // All agents end.
    drop(stations);
    let end = match ended {
        Ok(end) => end.unwrap_or(RunEnd::Completed),
        Err(Interrupted) => RunEnd::Interrupted,
    };
    reporting.finish(end, &seeds, None)
}

/// Returns the archive that agents get, which may be made in `folder`.
fn archive_for_agents(
    options: &RunOptions,
    sources: &Sources,
    catalogs: &[Catalog],
    places: &Places,
    folder: &std::path::Path,
) -> Result<Utf8PathBuf, Failure> {
    match &options.libraries {
        LibrarySource::Archive { archive, .. } => Ok(archive.clone()),
        LibrarySource::Build(_) => {
            let path = Utf8Path::from_path(folder).unwrap_or(Utf8Path::new("."));
            let path = path.join("benchmarks.tar.gz");
            write_uncompiled(sources.built(), catalogs, places.revision(), &path)?;
            Ok(path)
        }
        LibrarySource::Dataset(_) => Err(FleetError::Definition.into()),
    }
}

/// Returns the device of agents, as if it were here.
fn device_of(facts: &Facts, options: &RunOptions) -> ChosenDevice {
    let backend = Backend::for_facts(facts);
    ChosenDevice {
        order: (backend.order)(&DeviceRequest {
            ordinal: 0,
            threads: options.device.threads,
            schedule: options.measurement.schedule.unwrap_or_default(),
        }),
        facts: facts.clone(),
    }
}

/// Returns the work of each case, the longest first.
fn units_of(groups: &[Vec<&Job<'_>>], past: &PastDurations, facts: &Facts) -> Vec<Unit> {
    let mut units = Vec::new();
    let mut first = 0;
    for of_case in groups.chunk_by(|one, next| one[0].is_of_case_of(next[0])) {
        let started = |group: &Vec<&Job<'_>>| -> Vec<BenchmarkStarted> {
            group.iter().map(|job| job.announced.clone()).collect()
        };
        units.push(Unit {
            groups: of_case.iter().map(started).collect(),
            first,
            expected: past.expected(of_case, facts),
        });
        first += of_case.iter().map(Vec::len).sum::<usize>();
    }
    units.sort_by(|one, other| other.expected.total_cmp(&one.expected));
    units
}
