//! A lane: the processes that measure one case at a time.

use std::time::Instant;

use super::against::baseline_run::BaselineCase;
use super::audit::{Audited, Auditor, Doorbells, add_audit, add_no_audit};
use super::benchmark_line::add_location;
use super::cases::Case;
use super::contest::divide;
use super::earlier_modes::EarlierModes;
use super::job::Job;
use super::lane_context::LaneContext;
use super::lane_session::Purpose;
use super::options::Audit;
use super::recording::authors::Authors;
use super::recording::preparation::PreparedCase;
use super::roles::Roles;
use crate::admission::unusable;
use crate::archive::Digest;
use gpubench_contract::{BenchmarkComplete, Cause, Verdict};
use gpubench_device::Facts;
use gpubench_device::telemetry::Telemetry;
use gpubench_diagnostic::Interrupted;
use gpubench_measure::clients::{RoleFailure, WorkerReading};
use gpubench_measure::measurement::{
    CaseFailure, Expectations, MeasureError, Measured, MeasuredInTurns, PassCriteria, RolesAfterwards, add_hardware,
    fill_in, note_observation,
};
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

/// A case that is measured, with its result.
pub(super) struct Entry<'e, 'j> {
    pub(super) job: &'e Job<'j>,
    pub(super) prepared: &'j PreparedCase,
    pub(super) finished: &'e mut Finished,
}

impl Lane<'_, '_> {
    /// Measures cases together, each for one of its results: one alone, or several alternately.
    /// Returns their outcomes, in their order.
    pub(super) fn measure(
        &mut self,
        jobs: &[&Job<'_>],
        earlier: &mut EarlierModes,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Vec<Finished>, Interrupted> {
        if self.context.interrupt.is_set() {
            return Err(Interrupted);
        }
        let began = Instant::now();
        let unmeasured = jobs.iter().map(|job| Finished {
            result: BenchmarkComplete {
                contest: job.contest.clone(),
                ..self.context.unmeasured(job)
            },
            baseline: None,
        });
        let mut finished: Vec<Finished> = unmeasured.collect();
        self.measure_admitted(jobs, &mut finished, earlier, progress)?;
        earlier.note(finished.iter().map(|finished| &finished.result));
        for (job, finished) in jobs.iter().zip(&mut finished) {
            if let Some(benchmark) = self.context.selected.benchmark(job.case) {
                add_location(&mut finished.result, benchmark);
            }
            finished.result.wall_ns = began.elapsed().as_nanos() as u64;
        }
        Ok(finished)
    }

    /// Measures the cases that can be measured. The results of the others say why they cannot.
    fn measure_admitted(
        &mut self,
        jobs: &[&Job<'_>],
        finished: &mut [Finished],
        earlier: &mut EarlierModes,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), Interrupted> {
        let entries = jobs.iter().zip(finished).filter_map(|(job, finished)| {
            let prepared = admitted(job, self.context.selected.facts, &mut finished.result)?;
            Some(Entry {
                job,
                prepared,
                finished,
            })
        });
        for mut entries in divide(entries.collect(), self.context.selected.facts) {
            self.measure_together(&mut entries, earlier, progress)?;
        }
        Ok(())
    }

    /// Measures cases, alone or alternately, and writes their results.
    fn measure_together(
        &mut self,
        entries: &mut [Entry<'_, '_>],
        earlier: &mut EarlierModes,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), Interrupted> {
        let first = &entries[0];
        let (first_job, recording) = (first.job, &first.prepared.recorded.recording);
        let baseline_case = match self.context.baseline {
            None => BaselineCase::Absent,
            Some((cases, prepared)) => BaselineCase::of(first_job.case, recording, cases, prepared),
        };
        let unmeasured = first.finished.result.clone();
        let entrants: Vec<(&Job<'_>, &PreparedCase)> =
            entries.iter().map(|entry| (entry.job, entry.prepared)).collect();
        self.telemetry.begin_case();
        match self.measure_entrants(&entrants, &baseline_case, earlier, progress) {
            Ok(MeasuredInTurns { arms, roles, .. }) => {
                let mut arms = arms.into_iter();
                for (entry, arm) in entries.iter_mut().zip(&mut arms) {
                    self.write_result(entry, arm, roles)?;
                }
                let baseline = self.baseline_result(first_job, unmeasured, baseline_case, arms.next(), roles)?;
                entries[0].finished.baseline = baseline;
                if roles == RolesAfterwards::Unknown {
                    self.retire_roles(first_job.case);
                }
                for entry in entries.iter_mut() {
                    let result = &mut entry.finished.result;
                    self.add_hardware_metrics(entry.job, entry.prepared, result)?;
                    self.add_audit(entry.job, entry.prepared, result)?;
                }
            }
            Err(error) => {
                for entry in entries.iter_mut() {
                    self.note_failure(entry.job.case, &error, &mut entry.finished.result)?;
                }
            }
        }
        let most = entries.iter().map(|entry| entry.finished.result.samples.len()).max();
        if let Some(observation) = self.telemetry.end_case(most.unwrap_or_default()) {
            for entry in entries {
                note_observation(&observation, &mut entry.finished.result);
            }
        }
        Ok(())
    }

    /// Writes what was measured of a case into its result.
    fn write_result(
        &mut self,
        entry: &mut Entry<'_, '_>,
        arm: Result<Measured, RoleFailure>,
        roles: RolesAfterwards,
    ) -> Result<(), Interrupted> {
        let LaneContext { selected, settings, .. } = self.context;
        let Entry {
            job,
            prepared,
            finished: Finished { result, .. },
        } = entry;
        let measured = match arm {
            Ok(measured) => measured,
            Err(failure) => {
                let failure = CaseFailure::of_measuring(&MeasureError::Worker(failure)).ok_or(Interrupted)?;
                failure.fill_in(result);
                return Ok(());
            }
        };
        result.cache = Some(self.context.cache_state(result.mode));
        let recording = &prepared.recorded.recording;
        fill_in(result, recording, measured, settings.expectations(&job.options));
        if !settings.mode.is_timed() {
            result.event_overhead_ns = None;
            result.conservation = None;
        }
        self.note_source_of_counts(prepared, result);
        result.kernels = self.roles.kernels_of(prepared, selected.facts, roles)?;
        result.own_library_sha256 = prepared.own_library.as_ref().map(Digest::to_string);
        Ok(())
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
        match self.measure_again(Purpose::Counts(reading), job, prepared) {
            Ok(measured) => {
                let counted_by = self.context.settings.counters.hardware.as_deref();
                add_hardware(result, measured, counted_by);
                Ok(())
            }
            Err(error) => self.note_failure(job.case, &error, result),
        }
    }

    /// Audits the calls of a case that passed, in windows of their own, and adds the result. A call
    /// that fails there fails the case.
    fn add_audit(
        &mut self,
        job: &Job<'_>,
        prepared: &PreparedCase,
        result: &mut BenchmarkComplete,
    ) -> Result<(), Interrupted> {
        let is_wanted = self.context.settings.options.measurement.audit == Audit::Made;
        let notices = job.options.criteria.notices;
        if !is_wanted || !result.metric.is_time() || result.verdict != Verdict::Pass {
            return Ok(());
        }
        let auditor = match Auditor::begin() {
            Ok(auditor) => auditor,
            Err(error) => {
                add_no_audit(result, &error.into(), notices);
                return Ok(());
            }
        };
        let doorbells = Doorbells::watched_by(&auditor);
        let measured = self.measure_again(Purpose::Audit(&doorbells), &job.once(), prepared);
        let uncounted = doorbells.end();
        match (measured, auditor.end()) {
            (Ok(measured), Ok(seen)) => {
                let audited = Audited {
                    measured,
                    seen,
                    uncounted,
                };
                add_audit(result, prepared, audited, notices);
            }
            (Ok(_), Err(failure)) => add_no_audit(result, &failure.into(), notices),
            (Err(error), _) => self.note_failure(job.case, &error, result)?,
        }
        Ok(())
    }

    /// Measures a case once more, in fresh processes, for a purpose besides its times.
    fn measure_again(
        &mut self,
        purpose: Purpose<'_>,
        job: &Job<'_>,
        prepared: &PreparedCase,
    ) -> Result<Measured, MeasureError> {
        let (none, quietly) = (&mut EarlierModes::default(), &mut |_| {});
        let measured = self.measure_for(purpose, &[(job, prepared)], &BaselineCase::Absent, none, quietly)?;
        if measured.roles == RolesAfterwards::Unknown {
            self.retire_roles(job.case);
        }
        let mut arms = measured.arms.into_iter();
        let arm = arms.next().expect("one case has one arm");
        arm.map_err(MeasureError::Worker)
    }

    /// Returns the baseline's result of a case, if the baseline has the case.
    fn baseline_result(
        &mut self,
        job: &Job<'_>,
        mut result: BenchmarkComplete,
        baseline_case: BaselineCase<'_>,
        measured: Option<Result<Measured, RoleFailure>>,
        roles: RolesAfterwards,
    ) -> Result<Option<Box<BenchmarkComplete>>, Interrupted> {
        match (baseline_case, measured) {
            (BaselineCase::Absent, _) | (BaselineCase::Ready(_), None) => return Ok(None),
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
                result.kernels = self.roles.kernels_of(theirs, self.context.selected.facts, roles)?;
                result.own_library_sha256 = theirs.own_library.as_ref().map(Digest::to_string);
            }
            (BaselineCase::Ready(_), Some(Err(failure))) => {
                let failure = CaseFailure::of_measuring(&MeasureError::Worker(failure));
                failure.into_iter().for_each(|failure| failure.fill_in(&mut result));
            }
        }
        Ok(Some(Box::new(result)))
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

/// Returns the preparation of a case that can be measured. Otherwise its result says why it cannot.
fn admitted<'j>(job: &Job<'j>, facts: &Facts, result: &mut BenchmarkComplete) -> Option<&'j PreparedCase> {
    let prepared = match job.prepared {
        None => {
            result.cause = Some(Cause::Unsupported);
            result.message = job.case.disposition.reason().map(str::to_owned);
            return None;
        }
        Some(Err(failure)) => {
            failure.clone().fill_in(result);
            return None;
        }
        Some(Ok(prepared)) => prepared,
    };
    if !prepared.compilers.is_empty() {
        result.environment.compiler = Some(prepared.compilers.join(", "));
    }
    if let Some(reason) = unusable(job.announced.mode, &prepared.recorded.recording, facts) {
        CaseFailure::skipped(reason).fill_in(result);
        return None;
    }
    Some(prepared)
}
