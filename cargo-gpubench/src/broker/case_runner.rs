//! The loop that measures the cases of a run.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;

use gpubench::catalog::OccupancyQuery;

use super::against::baseline_run::BaselineRun;
use super::beginning::{Begun, begin_reports};
use super::cases::Naming;
use super::cases::run_names::RunNames;
use super::device::environment;
use super::lanes::context::{Attempt, LaneContext};
use super::lanes::job::Job;
use super::lanes::lane::Lane;
use super::lanes::results::Results;
use super::lanes::schedule::{deal, in_order, lanes_for, side_by_side};
use super::lanes::station::Station;
use super::recording::preparation::{Prepared, compile_errors};
use super::recording::selected::Side;
use super::reporting::Reporting;
use super::stored::bookkeeping::ResultPlan;
use crate::cdylibs::packages_of;
use gpubench_contract::{BenchmarkComplete, Device, RunEnd, Verdict};
use gpubench_device::FrozenFile;
use gpubench_device::telemetry::Telemetry;
use gpubench_diagnostic::{ExitCode, Failure, Interrupted, print_warning};
use gpubench_measure::clients::Interrupt;
use gpubench_measure::measurement::{LeavingWorkers, note_reading};
use gpubench_measure::timeline::{self, Track};
use gpubench_store::{RecordsFile, StoredRun};

/// A run in progress.
pub(super) struct CaseRunner<'a> {
    candidate: Side<'a>,
    baseline_run: Option<BaselineRun<'a>>,
    /// The devices, at least one. Cases are prepared on the first.
    stations: Vec<Station<'a>>,
    /// Ends the processes on the devices.
    interrupt: &'a Interrupt,
    /// The telemetry of the first device.
    telemetry: Telemetry,
    names: RunNames,
    reporting: Reporting,
    /// Positions of the candidate's cases whose results an earlier run had.
    taken: BTreeSet<usize>,
}

impl<'a> CaseRunner<'a> {
    /// Opens the reports and announces the run. `interrupt` ends the processes on the devices, at
    /// least one. Takes over results from `records`.
    ///
    /// # Errors
    /// The history of the device cannot be used, a report cannot be opened, or the records are of
    /// another grading.
    pub(super) fn begin(
        candidate: Side<'a>,
        baseline_run: Option<BaselineRun<'a>>,
        stations: Vec<Station<'a>>,
        interrupt: &'a Interrupt,
        plan: ResultPlan,
        records: Option<(RecordsFile, Option<StoredRun>)>,
    ) -> Result<CaseRunner<'a>, Failure> {
        for notice in candidate.compiler.notices() {
            print_warning(&notice);
        }
        let settings = stations[0].settings;
        let selected = candidate.selected;
        let facts = selected.facts;
        let names = RunNames::draw(Naming::for_packages(packages_of(selected.libraries).len()));
        let mut environment = environment::environment(facts, settings.setup(), Some(candidate.compiler.identity()));
        let mut telemetry = Telemetry::new(settings.facts);
        if let Some(reading) = telemetry.now() {
            note_reading(&reading, &mut environment);
        }
        let device = Device {
            uuids: stations
                .iter()
                .filter_map(|station| station.settings.facts.identity.clone())
                .collect(),
            ..environment::device(facts)
        };
        let Begun { reporting, taken } =
            begin_reports(&names, &selected, settings, (device, environment), plan, records)?;
        Ok(CaseRunner {
            names,
            reporting,
            taken,
            candidate,
            baseline_run,
            stations,
            interrupt,
            telemetry,
        })
    }

    /// Records the cases of both sides and compiles their kernels. Returns the cases of the
    /// candidate and those of the baseline; the latter are empty without a baseline.
    fn prepare(&mut self) -> Result<(Vec<Prepared>, Vec<Prepared>), Interrupted> {
        let CaseRunner {
            stations,
            reporting,
            taken,
            ..
        } = self;
        let Station { roles, settings, .. } = &mut stations[0];
        let mut prepare = |side: &mut Side<'_>, left_out: &BTreeSet<usize>, reporting: &mut Reporting| {
            let mut ask_device = |module: &FrozenFile, query: &OccupancyQuery| roles.occupancy(module, query);
            let mut phase = |phase| reporting.phase(phase);
            side.prepare(left_out, &mut ask_device, &mut phase, settings.interrupt)
        };
        let ours = prepare(&mut self.candidate, taken, reporting)?;
        reporting.show_compile_errors(&compile_errors(&ours));
        let Some(baseline_run) = &mut self.baseline_run else {
            return Ok((ours, Vec::new()));
        };
        let theirs = prepare(&mut baseline_run.side, &BTreeSet::new(), reporting)?;
        baseline_run.warn_of_compile_errors(&theirs);
        Ok((ours, theirs))
    }

    /// Prepares and measures every case.
    pub(super) fn measure(&mut self) -> Result<RunEnd, Interrupted> {
        let (ours, theirs) = {
            let _prepares = timeline::span(Track::Command, "prepares the cases");
            self.prepare()?
        };
        let settings = self.stations[0].settings;
        let mut jobs = Job::all(self.candidate.selected, &ours, &self.names, settings);
        jobs.retain(|job| !self.taken.contains(&job.position));
        let baseline = self.baseline_run.as_ref();
        let context = LaneContext {
            selected: self.candidate.selected,
            compiler: self.candidate.compiler.identity(),
            settings,
            baseline: baseline.map(|baseline| (baseline.side.selected.cases, &theirs[..])),
            lanes: NonZeroUsize::MIN,
            interrupt: settings.interrupt,
            attempt: Attempt::First,
        };
        let past = self.reporting.past_durations(&jobs, &context);
        let mut results = Results {
            context,
            reporting: &mut self.reporting,
            baseline_run: self.baseline_run.as_mut(),
        };
        let groups = Job::together(&jobs);
        let [station] = &mut self.stations[..] else {
            let end = deal(&mut self.stations, &groups, &past, self.interrupt, &mut results)?;
            return Ok(end.unwrap_or(RunEnd::Completed));
        };
        let mut lane = Lane {
            context,
            roles: &mut station.roles,
            authors: &mut self.candidate.authors,
            telemetry: &mut self.telemetry,
            leaving_workers: LeavingWorkers::default(),
        };
        for groups in groups.chunk_by(|one, next| one[0].is_only_counted() == next[0].is_only_counted()) {
            let end = match lanes_for(groups, &context) {
                NonZeroUsize::MIN => in_order(&mut lane, groups, &mut results),
                several => side_by_side(several, groups, &mut results),
            };
            if let Some(end) = end? {
                return Ok(end);
            }
        }
        Ok(RunEnd::Completed)
    }

    /// Ends the run and returns the exit code.
    ///
    /// # Errors
    /// A result could not be written.
    pub(super) fn finish(mut self, end: Result<RunEnd, Interrupted>) -> Result<ExitCode, Failure> {
        self.note_removed();
        let end = end.unwrap_or(RunEnd::Interrupted);
        self.stations.iter_mut().for_each(Station::release);
        // User code that still runs can hold locks on the files written next.
        drop(self.candidate);
        let other = self.baseline_run.map(|baseline_run| baseline_run.results);
        self.reporting.finish(end, &self.stations[0].settings.seeds, other)
    }

    /// Reports the cases that only the baseline has. They are not measured.
    fn note_removed(&mut self) {
        let Some(baseline_run) = &mut self.baseline_run else {
            return;
        };
        let device = environment::device(self.candidate.selected.facts).short();
        for case in baseline_run.only_in_baseline {
            let started = self.names.announce(case, 0);
            let results = started.iter();
            let results =
                results.map(|started| BenchmarkComplete::unmeasured(started, device.clone(), Verdict::Skipped));
            baseline_run.results.results.extend(results);
        }
    }
}
