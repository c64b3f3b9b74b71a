//! A lane: the processes that measure one case at a time.

use std::time::Instant;

use super::against::baseline_run::BaselineCase;
use super::benchmark_line::add_location;
use super::case_watcher::CaseWatcher;
use super::cases::Case;
use super::job::Job;
use super::lane_context::LaneContext;
use super::recording::authors::Authors;
use super::recording::preparation::{CaseInputs, PreparedCase};
use super::resting::another;
use super::roles::Roles;
use crate::admission::{calls_in_graph, unusable};
use gpubench_contract::{BenchmarkComplete, Cause, Method, Verdict};
use gpubench_device::telemetry::Telemetry;
use gpubench_diagnostic::Interrupted;
use gpubench_measure::clients::{RoleFailure, WorkerReading};
use gpubench_measure::measurement::{
    CaseFailure, CasePair, Expectations, IdleWorkers, MeasureError, Measured, MeasuredInTurns, PassCriteria, Protocol,
    RolesAfterwards, Session, add_hardware, fill_in, note_observation,
};
use gpubench_protocol::window::case_number;
use gpubench_protocol::wire::Measurand;
use gpubench_report::Progress;

/// The processes that measure one case at a time, and the instruments that observe it.
pub(super) struct Lane<'l, 'a> {
    pub(super) context: LaneContext<'l>,
    pub(super) roles: &'l mut Roles<'a>,
    pub(super) authors: &'l mut Authors<'a>,
    pub(super) telemetry: &'l mut Telemetry,
}

/// The results of a job.
pub(super) struct Finished {
    pub(super) result: BenchmarkComplete,
    /// The baseline's result, if it was measured or could not be.
    pub(super) baseline: Option<Box<BenchmarkComplete>>,
}

impl Lane<'_, '_> {
    /// Measures a case for one of its results.
    pub(super) fn measure(
        &mut self,
        job: &Job<'_>,
        idle_workers: &mut IdleWorkers,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Finished, Interrupted> {
        if self.context.interrupt.is_set() {
            return Err(Interrupted);
        }
        let began = Instant::now();
        let mut finished = self.result_of(job, idle_workers, progress)?;
        if let Some(benchmark) = self.context.selected.benchmark(job.case) {
            add_location(&mut finished.result, benchmark);
        }
        finished.result.wall_ns = began.elapsed().as_nanos() as u64;
        Ok(finished)
    }

    fn result_of(
        &mut self,
        job: &Job<'_>,
        idle_workers: &mut IdleWorkers,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Finished, Interrupted> {
        let mut finished = Finished {
            result: self.context.unmeasured(job),
            baseline: None,
        };
        let result = &mut finished.result;
        let prepared = match job.prepared {
            None => {
                result.cause = Some(Cause::Unsupported);
                result.message = job.case.disposition.reason().map(str::to_owned);
                return Ok(finished);
            }
            Some(Err(failure)) => {
                failure.clone().fill_in(result);
                return Ok(finished);
            }
            Some(Ok(prepared)) => prepared,
        };
        if !prepared.compilers.is_empty() {
            result.environment.compiler = Some(prepared.compilers.join(", "));
        }
        let recording = &prepared.recorded.recording;
        if let Some(reason) = unusable(job.announced.mode, recording) {
            CaseFailure::skipped(reason).fill_in(result);
            return Ok(finished);
        }
        let LaneContext { selected, settings, .. } = self.context;
        let baseline_case = match self.context.baseline {
            None => BaselineCase::Absent,
            Some((cases, prepared)) => BaselineCase::of(job.case, recording, cases, prepared),
        };
        let mut unmeasured = result.clone();
        self.telemetry.begin_case();
        match self.measure_one(job, prepared, &baseline_case, idle_workers, progress) {
            Ok(measured) => {
                result.cache = Some(self.context.cache_state(result.mode));
                fill_in(
                    result,
                    recording,
                    measured.candidate,
                    settings.expectations(&job.options),
                );
                if !settings.mode.is_timed() {
                    result.event_overhead_ns = None;
                    result.conservation = None;
                }
                self.note_source_of_counts(prepared, result);
                result.kernels = self.roles.kernels_of(prepared, selected.facts, measured.roles)?;
                if let BaselineCase::Ready(theirs) = &baseline_case {
                    unmeasured.kernels = self.roles.kernels_of(theirs, selected.facts, measured.roles)?;
                }
                finished.baseline = self.baseline_result(job, unmeasured, baseline_case, measured.baseline);
                if measured.roles == RolesAfterwards::Unknown {
                    self.retire_roles(job.case);
                }
                self.add_hardware_metrics(job, prepared, result)?;
            }
            Err(error) => self.note_failure(job.case, &error, result)?,
        }
        if let Some(observation) = self.telemetry.end_case(result.samples.len()) {
            note_observation(&observation, result);
        }
        Ok(finished)
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
        job: &Job<'_>,
        prepared: &PreparedCase,
        result: &mut BenchmarkComplete,
    ) -> Result<(), Interrupted> {
        let metrics = job.case.metrics.hardware();
        // With several results, those of times have the metrics of their modes.
        let is_wanted = result.metric.is_time() || !job.case.metrics.times();
        if metrics.is_empty() || !is_wanted || result.verdict != Verdict::Pass {
            return Ok(());
        }
        let reading = WorkerReading {
            measurand: Measurand::Hardware,
            metrics,
        };
        let job = &job.once();
        let (none, quietly) = (&mut IdleWorkers::default(), &mut |_| {});
        match self.measure_reading(job, prepared, &BaselineCase::Absent, reading, none, quietly) {
            Ok(measured) => {
                if measured.roles == RolesAfterwards::Unknown {
                    self.retire_roles(job.case);
                }
                let counted_by = self.context.settings.counters.hardware.as_deref();
                add_hardware(result, measured.candidate, counted_by);
                Ok(())
            }
            Err(error) => self.note_failure(job.case, &error, result),
        }
    }

    /// Measures a case. Alternates with the baseline's case if there is one.
    fn measure_one(
        &mut self,
        job: &Job<'_>,
        prepared: &PreparedCase,
        baseline_case: &BaselineCase<'_>,
        idle_workers: &mut IdleWorkers,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<MeasuredInTurns, MeasureError> {
        let reading = match job.announced.metric.is_count() {
            true => WorkerReading {
                measurand: Measurand::Instructions,
                metrics: &[],
            },
            false => WorkerReading::default(),
        };
        self.measure_reading(job, prepared, baseline_case, reading, idle_workers, progress)
    }

    fn measure_reading(
        &mut self,
        job: &Job<'_>,
        prepared: &PreparedCase,
        baseline_case: &BaselineCase<'_>,
        reading: WorkerReading<'_>,
        idle_workers: &mut IdleWorkers,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<MeasuredInTurns, MeasureError> {
        let Job { case, options, .. } = job;
        let LaneContext { selected, settings, .. } = self.context;
        let is_timed = reading.measurand == Measurand::Time;
        // The number selects the inputs: no two results of a run may share them.
        let name = job.announced.reading().label(&case.full_name());
        let inputs = CaseInputs {
            annotation: settings.options.nvtx.then_some(&*name),
            number: case_number(&name),
            facts: selected.facts,
            method: match is_timed {
                true => job.announced.mode,
                false => counted_in(job.announced.mode),
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
        idle_workers.before(another(job.timed_left, recording, selected.facts, options.graph_calls));
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
        let author = self.authors.client(selected.library_of(case));
        let protocol = match is_timed {
            true => settings.protocol_for(options, baseline_case),
            false => settings.counting_protocol(options, reading),
        };
        let mut session = Session {
            protocol: &Protocol {
                interrupt: self.context.interrupt,
                ..protocol
            },
            referee,
            author: author.map_err(MeasureError::Attach)?,
            control_worker,
            idle_workers,
            watcher: &mut CaseWatcher {
                metric: &job.announced.metric,
                telemetry: self.telemetry,
                progress,
            },
        };
        session.measure_and_confirm(&pair)
    }

    /// Returns the baseline's result of a case, if the baseline has the case.
    fn baseline_result(
        &self,
        job: &Job<'_>,
        mut result: BenchmarkComplete,
        baseline_case: BaselineCase<'_>,
        measured: Option<Result<Measured, RoleFailure>>,
    ) -> Option<Box<BenchmarkComplete>> {
        match (baseline_case, measured) {
            (BaselineCase::Absent, _) | (BaselineCase::Ready(_), None) => return None,
            (BaselineCase::Unlike(reason), _) => result.message = Some(reason),
            (BaselineCase::Failed(failure), _) => failure.fill_in(&mut result),
            (BaselineCase::Ready(theirs), Some(Ok(measured))) => {
                let expectations = Expectations {
                    // Only the candidate is judged.
                    criteria: PassCriteria::default(),
                    ..self.context.settings.expectations(&job.options)
                };
                fill_in(&mut result, &theirs.recorded.recording, measured, expectations);
                self.note_source_of_counts(theirs, &mut result);
            }
            (BaselineCase::Ready(_), Some(Err(failure))) => {
                let failure = CaseFailure::of_measuring(&MeasureError::Worker(failure));
                failure.into_iter().for_each(|failure| failure.fill_in(&mut result));
            }
        }
        Some(Box::new(result))
    }

    /// Writes what counted, and what was counted, into a result that has counts.
    fn note_source_of_counts(&self, case: &PreparedCase, result: &mut BenchmarkComplete) {
        if let Some(counts) = &mut result.counts {
            let counters = &self.context.settings.counters;
            counts.counted_by = counters.instructions.clone().unwrap_or_default();
            case.machine_code.note(counts);
        }
    }

    /// Replaces the author, the referee and the control worker before the next case: their state is
    /// unknown.
    fn retire_roles(&mut self, case: &Case) {
        self.authors.retire(self.context.selected.library_of(case));
        self.roles.retire();
    }
}

/// Returns the method of the windows in which the calls of a mode are counted: one call each.
fn counted_in(mode: Method) -> Method {
    match mode {
        Method::Cold | Method::Warm => mode,
        Method::Graph | Method::Hot => Method::Cold,
    }
}
