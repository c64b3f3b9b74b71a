//! The loop that measures the cases of a run.

use std::time::Instant;

use gpubench::catalog::OccupancyQuery;

use super::against::baseline_run::{BaselineCase, BaselineRun};
use super::benchmark_line::add_location;
use super::cases::{Case, Naming};
use super::environment;
use super::options::{CaseOptions, RunOptions};
use super::recording::preparation::{CaseInputs, Prepared, PreparedCase, compile_errors};
use super::reporting::Reporting;
use super::resting::another;
use super::roles::Roles;
use super::run_names::RunNames;
use super::selected::Side;
use super::settings::{DeviceTools, RunSettings};
use super::stored::bookkeeping::ResultPlan;
use crate::admission::{calls_in_graph, unusable};
use gpubench_contract::{
    BenchmarkComplete, BenchmarkStarted, CacheState, Cause, Method, RunEnd, RunStarted, SchemaVersion, Verdict,
};
use gpubench_device::FrozenFile;
use gpubench_device::telemetry::{EnergyReading, Telemetry, Throttling};
use gpubench_diagnostic::{ExitCode, Failure, Interrupted, print_warning};
use gpubench_measure::clients::{Interrupt, RefereeClient, RoleFailure, WorkerReading};
use gpubench_measure::measurement::{
    CaseFailure, CasePair, Expectations, IdleWorkers, MeasureError, Measured, MeasuredInTurns, PassCriteria,
    RolesAfterwards, Session, Watcher, add_hardware, fill_in, note_observation, note_reading,
};
use gpubench_protocol::window::case_number;
use gpubench_protocol::wire::Measurand;

/// A run in progress.
pub(super) struct CaseRunner<'a> {
    candidate: Side<'a>,
    baseline_run: Option<BaselineRun<'a>>,
    settings: RunSettings<'a>,
    names: RunNames,
    roles: Roles<'a>,
    telemetry: Telemetry,
    reporting: Reporting,
}

/// The case being measured, in one of its modes.
struct CurrentCase<'c> {
    case: &'c Case,
    options: CaseOptions,
    announced: BenchmarkStarted,
    /// Number of times of the case that are measured after this result.
    timed_left: usize,
}

impl<'a> CaseRunner<'a> {
    /// Draws the seed, opens the reports and announces the run. Uses `referee` if one already runs.
    ///
    /// # Errors
    /// The history of the device cannot be used, or a report cannot be opened.
    pub(super) fn begin(
        options: &'a RunOptions,
        candidate: Side<'a>,
        baseline_run: Option<BaselineRun<'a>>,
        referee: Option<RefereeClient>,
        plan: ResultPlan,
        tools: DeviceTools<'_>,
        interrupt: &'a Interrupt,
    ) -> Result<CaseRunner<'a>, Failure> {
        for notice in candidate.compiler.notices() {
            print_warning(&notice);
        }
        let selected = candidate.selected;
        let (device, facts) = (selected.device, selected.facts);
        let settings = RunSettings::of(options, device, facts, tools, interrupt)?;
        let names = RunNames::draw(Naming::for_packages(selected.libraries.len()));
        let mut telemetry = Telemetry::through((facts.backend().gauge)(facts));
        let mut environment = environment::environment(facts, settings.setup(), Some(candidate.compiler.identity()));
        if let Some(reading) = telemetry.now() {
            note_reading(&reading, &mut environment);
        }
        let announced = announced(&names, selected.cases).concat();
        let run = RunStarted {
            schema_version: SchemaVersion,
            run_id: names.run_id.clone(),
            started_at: jiff::Timestamp::now().to_string(),
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            seed_commitment: settings.seeds.commitment(),
            device: environment::device(facts),
            packages: selected
                .libraries
                .iter()
                .map(|library| library.package.clone())
                .collect(),
            cases: announced.len() as u64,
            environment,
            earlier_runs: Vec::new(),
        };
        Ok(CaseRunner {
            names,
            roles: Roles::on(device, settings.begin(), referee, interrupt),
            telemetry,
            reporting: Reporting::begin(options, plan, run, &announced)?,
            candidate,
            baseline_run,
            settings,
        })
    }

    /// Records the cases of both sides and compiles their kernels. Returns the cases of the
    /// candidate and those of the baseline; the latter are empty without a baseline.
    fn prepare(&mut self) -> Result<(Vec<Prepared>, Vec<Prepared>), Interrupted> {
        let CaseRunner {
            roles,
            reporting,
            settings,
            ..
        } = self;
        let mut prepare = |side: &mut Side<'_>, reporting: &mut Reporting| {
            let mut ask_device = |module: &FrozenFile, query: &OccupancyQuery| roles.occupancy(module, query);
            side.prepare(&mut ask_device, &mut |phase| reporting.phase(phase), settings.interrupt)
        };
        let ours = prepare(&mut self.candidate, reporting)?;
        reporting.show_compile_errors(&compile_errors(&ours));
        let Some(baseline_run) = &mut self.baseline_run else {
            return Ok((ours, Vec::new()));
        };
        let theirs = prepare(&mut baseline_run.side, reporting)?;
        baseline_run.warn_of_compile_errors(&theirs);
        Ok((ours, theirs))
    }

    /// Prepares and measures every case.
    pub(super) fn measure(&mut self) -> Result<RunEnd, Interrupted> {
        let (ours, theirs) = self.prepare()?;
        let (selected, measurement) = (self.candidate.selected, &self.settings.options.measurement);
        let announced = announced(&self.names, selected.cases);
        for ((case, prepared), announced) in selected.cases.iter().zip(&ours).zip(announced) {
            let mut idle_workers = IdleWorkers::default();
            let mut timed_left = announced.iter().filter(|started| started.metric.is_time()).count();
            for announced in announced {
                if self.settings.interrupt.is_set() {
                    return Err(Interrupted);
                }
                timed_left -= usize::from(announced.metric.is_time());
                let current = CurrentCase {
                    case,
                    options: measurement.of_result(case, selected.library(case).settings, &announced.metric),
                    announced,
                    timed_left,
                };
                let verdict = self.complete(&current, prepared, &theirs, &mut idle_workers)?;
                if verdict.is_failure() && self.settings.options.fail_fast {
                    return Ok(RunEnd::FailedFast);
                }
            }
        }
        Ok(RunEnd::Completed)
    }

    /// Measures a case and reports the result. Returns its verdict.
    fn complete(
        &mut self,
        current: &CurrentCase<'_>,
        prepared: &Prepared,
        theirs: &[Prepared],
        idle_workers: &mut IdleWorkers,
    ) -> Result<Verdict, Interrupted> {
        self.reporting.benchmark_started(&current.announced);
        let began = Instant::now();
        let mut result = self.result_of(current, prepared, theirs, idle_workers)?;
        if let Some(benchmark) = self.candidate.selected.benchmark(current.case) {
            add_location(&mut result, benchmark);
        }
        result.wall_ns = began.elapsed().as_nanos() as u64;
        self.reporting.benchmark_complete(&result);
        self.add_owed_result(current);
        Ok(result.verdict)
    }

    /// Ends the run and returns the exit code.
    ///
    /// # Errors
    /// A result could not be written.
    pub(super) fn finish(mut self, end: Result<RunEnd, Interrupted>) -> Result<ExitCode, Failure> {
        self.note_removed();
        let end = end.unwrap_or(RunEnd::Interrupted);
        // User code that still runs can hold locks on the files written next.
        drop(self.candidate);
        let other = self.baseline_run.map(|baseline_run| baseline_run.results);
        self.reporting.finish(end, &self.settings.seeds, other)
    }

    /// Returns the result of a case in one mode.
    fn result_of(
        &mut self,
        current: &CurrentCase<'_>,
        prepared: &Prepared,
        theirs: &[Prepared],
        idle_workers: &mut IdleWorkers,
    ) -> Result<BenchmarkComplete, Interrupted> {
        let mut result = self.unmeasured(current);
        let prepared = match prepared {
            None => {
                result.cause = Some(Cause::Unsupported);
                result.message = current.case.disposition.reason().map(str::to_owned);
                return Ok(result);
            }
            Some(Err(failure)) => {
                failure.clone().fill_in(&mut result);
                return Ok(result);
            }
            Some(Ok(prepared)) => prepared,
        };
        if !prepared.compilers.is_empty() {
            result.environment.compiler = Some(prepared.compilers.join(", "));
        }
        let recording = &prepared.recorded.recording;
        if let Some(reason) = unusable(current.announced.mode, recording) {
            CaseFailure::skipped(reason).fill_in(&mut result);
            return Ok(result);
        }
        let baseline_case = match &self.baseline_run {
            None => BaselineCase::Absent,
            Some(baseline_run) => BaselineCase::of(current.case, recording, baseline_run.side.selected.cases, theirs),
        };
        let mut unmeasured = result.clone();
        self.telemetry.begin_case();
        match self.measure_one(current, prepared, &baseline_case, idle_workers) {
            Ok(measured) => {
                let expectations = self.settings.expectations(&current.options);
                result.cache = Some(self.cache_state(result.mode));
                fill_in(&mut result, recording, measured.candidate, expectations);
                if !self.settings.mode.is_timed() {
                    result.event_overhead_ns = None;
                    result.conservation = None;
                }
                if let Some(counts) = &mut result.counts {
                    counts.counted_by = self.settings.counters.instructions.clone().unwrap_or_default();
                }
                let facts = self.candidate.selected.facts;
                result.kernels = self.roles.kernels_of(prepared, facts, measured.roles)?;
                if let BaselineCase::Ready(theirs) = &baseline_case {
                    unmeasured.kernels = self.roles.kernels_of(theirs, facts, measured.roles)?;
                }
                self.add_baseline_result(current, unmeasured, baseline_case, measured.baseline);
                if measured.roles == RolesAfterwards::Unknown {
                    self.retire_roles(current.case);
                }
                self.add_hardware_metrics(current, prepared, &mut result)?;
            }
            Err(error) => self.note_failure(current.case, &error, &mut result)?,
        }
        if let Some(observation) = self.telemetry.end_case(result.samples.len()) {
            note_observation(&observation, &mut result);
        }
        Ok(result)
    }

    /// Writes a failure of anything but the kernels into a result. The roles are replaced.
    fn note_failure(
        &mut self,
        case: &Case,
        error: &MeasureError,
        result: &mut BenchmarkComplete,
    ) -> Result<(), Interrupted> {
        self.retire_roles(case);
        let failure = CaseFailure::of_measuring(error).ok_or(Interrupted)?;
        failure.fill_in(result);
        Ok(())
    }

    /// Reads the hardware metrics of a case in windows of their own, and adds them to a result that
    /// passed. A call that fails there fails the case.
    fn add_hardware_metrics(
        &mut self,
        current: &CurrentCase<'_>,
        prepared: &PreparedCase,
        result: &mut BenchmarkComplete,
    ) -> Result<(), Interrupted> {
        let metrics = current.case.metrics.hardware();
        // With several results, those of times have the metrics of their modes.
        let is_wanted = result.metric.is_time() || !current.case.metrics.times();
        if metrics.is_empty() || !is_wanted || result.verdict != Verdict::Pass {
            return Ok(());
        }
        let reading = WorkerReading {
            measurand: Measurand::Hardware,
            metrics,
        };
        let options = current.options.once();
        let current = CurrentCase {
            case: current.case,
            options,
            announced: current.announced.clone(),
            timed_left: 0,
        };
        let none = &mut IdleWorkers::default();
        match self.measure_reading(&current, prepared, &BaselineCase::Absent, reading, none) {
            Ok(measured) => {
                if measured.roles == RolesAfterwards::Unknown {
                    self.retire_roles(current.case);
                }
                add_hardware(result, measured.candidate, self.settings.counters.hardware.as_deref());
                Ok(())
            }
            Err(error) => self.note_failure(current.case, &error, result),
        }
    }

    /// Measures a case. Alternates with the baseline's case if there is one.
    fn measure_one(
        &mut self,
        current: &CurrentCase<'_>,
        prepared: &PreparedCase,
        baseline_case: &BaselineCase<'_>,
        idle_workers: &mut IdleWorkers,
    ) -> Result<MeasuredInTurns, MeasureError> {
        let reading = match current.announced.metric.is_count() {
            true => WorkerReading {
                measurand: Measurand::Instructions,
                metrics: &[],
            },
            false => WorkerReading::default(),
        };
        self.measure_reading(current, prepared, baseline_case, reading, idle_workers)
    }

    fn measure_reading(
        &mut self,
        current: &CurrentCase<'_>,
        prepared: &PreparedCase,
        baseline_case: &BaselineCase<'_>,
        reading: WorkerReading<'_>,
        idle_workers: &mut IdleWorkers,
    ) -> Result<MeasuredInTurns, MeasureError> {
        let CurrentCase { case, options, .. } = current;
        let is_timed = reading.measurand == Measurand::Time;
        let settings = &self.settings;
        let selected = self.candidate.selected;
        // The number selects the inputs: no two results of a run may share them.
        let name = current.announced.reading().label(&case.full_name());
        let inputs = CaseInputs {
            annotation: settings.options.nvtx.then_some(&*name),
            number: case_number(&name),
            facts: selected.facts,
            method: match is_timed {
                true => current.announced.mode,
                false => counted_in(current.announced.mode),
            },
            flush_bytes: settings.flush_bytes,
            graph_calls: calls_in_graph(
                &prepared.recorded.recording,
                match baseline_case {
                    BaselineCase::Ready(theirs) => theirs.recorded.recording.plan.scratch.len(),
                    _ => 0,
                },
                selected.facts,
                options.graph_calls,
            ),
        };
        let recording = &prepared.recorded.recording;
        idle_workers.before(another(
            current.timed_left,
            recording,
            selected.facts,
            options.graph_calls,
        ));
        let candidate = prepared.ready(&inputs);
        let baseline = match baseline_case {
            BaselineCase::Ready(theirs) => Some(theirs.ready(&inputs)),
            _ => None,
        };
        let question = settings.question(options);
        let pair = CasePair {
            candidate: &candidate,
            baseline: baseline.as_ref(),
            question: Some(&question),
        };
        let (referee, control_worker) = self.roles.ready().map_err(MeasureError::Open)?;
        let author = self.candidate.authors.client(selected.library_of(case));
        let mut session = Session {
            protocol: &match is_timed {
                true => settings.protocol_for(options, baseline_case),
                false => settings.counting_protocol(options, reading),
            },
            referee,
            author: author.map_err(MeasureError::Attach)?,
            control_worker,
            idle_workers,
            watcher: &mut CaseWatcher {
                telemetry: &mut self.telemetry,
                reporting: &mut self.reporting,
            },
        };
        session.measure_and_confirm(&pair)
    }

    /// Adds the baseline's result of a case, if the baseline has the case.
    fn add_baseline_result(
        &mut self,
        current: &CurrentCase<'_>,
        mut result: BenchmarkComplete,
        baseline_case: BaselineCase<'_>,
        measured: Option<Result<Measured, RoleFailure>>,
    ) {
        match (baseline_case, measured) {
            (BaselineCase::Absent, _) | (BaselineCase::Ready(_), None) => return,
            (BaselineCase::Unlike(reason), _) => result.message = Some(reason),
            (BaselineCase::Failed(failure), _) => failure.fill_in(&mut result),
            (BaselineCase::Ready(theirs), Some(Ok(measured))) => {
                let expectations = Expectations {
                    // Only the candidate is judged.
                    criteria: PassCriteria::default(),
                    ..self.settings.expectations(&current.options)
                };
                fill_in(&mut result, &theirs.recorded.recording, measured, expectations);
            }
            (BaselineCase::Ready(_), Some(Err(failure))) => {
                let failure = CaseFailure::of_measuring(&MeasureError::Worker(failure));
                failure.into_iter().for_each(|failure| failure.fill_in(&mut result));
            }
        }
        if let Some(baseline_run) = &mut self.baseline_run {
            baseline_run.results.add(result, current.options.analyses);
        }
    }

    /// Replaces the author, the referee and the control worker before the next case: their state is
    /// unknown.
    fn retire_roles(&mut self, case: &Case) {
        self.candidate.authors.retire(self.candidate.selected.library_of(case));
        self.roles.retire();
    }

    /// Adds a result for a baseline case that was not measured because the candidate's was not.
    fn add_owed_result(&mut self, current: &CurrentCase<'_>) {
        let mut theirs = self.unmeasured(current);
        theirs.message = Some("the candidate was not measured, and both sides are measured together".to_owned());
        if let Some(baseline_run) = self
            .baseline_run
            .as_mut()
            .filter(|baseline_run| baseline_run.lacks_result_of(current.case, &current.announced.key()))
        {
            baseline_run.results.results.push(theirs);
        }
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

    fn cache_state(&self, mode: Method) -> CacheState {
        let cache_bytes = self.candidate.selected.facts.device.l2_bytes;
        CacheState::of(mode, self.settings.flush_bytes, cache_bytes)
    }

    fn unmeasured(&self, current: &CurrentCase<'_>) -> BenchmarkComplete {
        let Side { selected, compiler, .. } = &self.candidate;
        let device = environment::device(selected.facts).short();
        BenchmarkComplete {
            environment: environment::environment(selected.facts, self.settings.setup(), Some(compiler.identity())),
            problem: selected
                .benchmark(current.case)
                .map(|benchmark| benchmark.problem.clone()),
            ..BenchmarkComplete::unmeasured(&current.announced, device, Verdict::Skipped)
        }
    }
}

/// Returns the first records of each case's results.
fn announced(names: &RunNames, cases: &[Case]) -> Vec<Vec<BenchmarkStarted>> {
    let mut index = 0;
    let mut announce = |case| {
        let announced = names.announce(case, index);
        index += announced.len();
        announced
    };
    cases.iter().map(&mut announce).collect()
}

/// Telemetry and the reports, updated while a case runs.
struct CaseWatcher<'a> {
    telemetry: &'a mut Telemetry,
    reporting: &'a mut Reporting,
}

impl Watcher for CaseWatcher<'_> {
    fn sampled(&mut self, samples: &[f64], of_workers: &[&[f64]]) {
        self.telemetry.after_sample(samples.len());
        self.reporting.progress(samples, of_workers);
    }

    fn throttling(&mut self) -> Throttling {
        self.telemetry.throttling()
    }

    fn thrown_away(&mut self, samples: usize) {
        self.telemetry.throw_away(samples);
    }

    fn energy(&mut self) -> Option<EnergyReading> {
        self.telemetry.energy()
    }

    fn begins_again(&mut self) {
        self.telemetry.begin_again();
    }

    fn goes_back(&mut self) {
        self.telemetry.go_back();
    }

    fn other_clients(&mut self) -> Option<u32> {
        self.telemetry.other_clients()
    }
}

/// Returns the method of the windows in which the calls of a mode are counted: one call each.
fn counted_in(mode: Method) -> Method {
    match mode {
        Method::Cold | Method::Warm => mode,
        Method::Graph | Method::Hot => Method::Cold,
    }
}
