//! A lane: the processes that measure one case at a time.

use std::collections::BTreeMap;
use std::time::Instant;

use super::case_message::message_of;
use super::context::LaneContext;
use super::division::{Division, divide};
use super::earlier_modes::EarlierModes;
use super::job::{Entry, Job, Purpose};
use super::result_parts::ResultParts;
use super::roles::Roles;
use crate::admission::{fewer_calls, unusable};
use crate::archive::Digest;
use crate::broker::against::baseline_run::BaselineCase;
use crate::broker::audit::{Audited, Auditor, Doorbells, audit, no_audit};
use crate::broker::cases::Case;
use crate::broker::grading::Entrants;
use crate::broker::libraries::authors::Authors;
use crate::broker::options::Audit;
use crate::broker::recording::preparation::PreparedCase;
use gpubench_contract::MetricKind;
use gpubench_contract::{BenchmarkComplete, CallAudit, Cause, ContestShare, Environment, Verdict};
use gpubench_device::Facts;
use gpubench_device::telemetry::Telemetry;
use gpubench_diagnostic::Interrupted;
use gpubench_measure::clients::{MetricRequest, RoleFailure};
use gpubench_measure::measurement::{
    CaseFailure, Expectations, Figures, FurtherPurpose, LeavingWorkers, MeasureError, Measured, MeasuredInTurns,
    Outcome, PassCriteria, RolesAfterwards, hardware_metrics, with_observation,
};
use gpubench_report::Progress;
use gpubench_store::measured_reference;

/// The processes that measure one case at a time, and the instruments that observe it.
pub(in crate::broker) struct Lane<'l, 'a> {
    pub(in crate::broker) context: LaneContext<'l>,
    pub(in crate::broker) roles: &'l mut Roles<'a>,
    pub(in crate::broker) authors: &'l mut Authors<'a>,
    pub(in crate::broker) telemetry: &'l mut Telemetry,
    pub(in crate::broker) leaving_workers: LeavingWorkers,
}

/// The results of a job.
pub(in crate::broker) struct Finished {
    pub(in crate::broker) result: BenchmarkComplete,
    /// The baseline's result, if it was measured or could not be.
    pub(in crate::broker) baseline: Option<Box<BenchmarkComplete>>,
}

impl From<BenchmarkComplete> for Finished {
    /// A result without a baseline's.
    fn from(result: BenchmarkComplete) -> Finished {
        Finished { result, baseline: None }
    }
}

/// Returns the result as it is shown. Of a hidden case that is the verdict and the grade, and a
/// full disk, which is a fault of the machine.
pub(super) fn shown(result: BenchmarkComplete, job: &Job<'_>, entrants: Option<&Entrants>) -> BenchmarkComplete {
    if !entrants.is_some_and(|entrants| entrants.is_hidden(job.case)) {
        return result;
    }
    BenchmarkComplete {
        problem: result.problem,
        submission: result.submission,
        grade: result.grade,
        cause: result.cause.filter(|cause| *cause == Cause::DiskFull),
        environment: result.environment,
        ..BenchmarkComplete::unmeasured(&job.announced, result.device, result.verdict)
    }
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
        let entrants = self.context.selected.entrants;
        let is_hidden = |job: &&Job<'_>| entrants.is_some_and(|entrants| entrants.is_hidden(job.case));
        let hides_times = jobs.iter().any(is_hidden);
        let mut progress = |so_far: Progress| match hides_times {
            true => progress(Progress {
                value: None,
                cv: None,
                ..so_far
            }),
            false => progress(so_far),
        };
        let finished = self.measure_admitted(jobs, earlier, &mut progress)?;
        earlier.note(finished.values().map(|finished| &finished.result));
        let complete = |(job, Finished { result, baseline }): (&&Job<'_>, Finished)| {
            let result = BenchmarkComplete {
                message: message_of(&result, job, self.context.selected),
                wall_ns: began.elapsed().as_nanos() as u64,
                ..result
            };
            Finished {
                result: shown(result, job, self.context.selected.entrants),
                baseline,
            }
        };
        Ok(jobs.iter().zip(finished.into_values()).map(complete).collect())
    }

    /// Measures the cases that can be measured. The results of the others say why they cannot.
    /// Returns all results by the position of their job.
    fn measure_admitted(
        &mut self,
        jobs: &[&Job<'_>],
        earlier: &mut EarlierModes,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<BTreeMap<usize, Finished>, Interrupted> {
        let mut finished = BTreeMap::new();
        let mut entries = Vec::new();
        for (position, job) in jobs.iter().enumerate() {
            let contest = job.contest.clone();
            match admitted(job, self.context.selected.facts) {
                Ok(prepared) => entries.push(Entry {
                    job,
                    prepared,
                    position,
                    contest,
                }),
                Err(outcome) => {
                    let result = outcome.record(self.unmeasured(job, contest));
                    finished.insert(position, result.into());
                }
            }
        }
        let Division { groups, misfits } = divide(entries, self.context.selected.facts);
        for (entry, failure) in misfits {
            let result = Outcome::from(failure).record(self.unmeasured(entry.job, entry.contest));
            finished.insert(entry.position, result.into());
        }
        for group in groups {
            let results = self.measure_together(&group, earlier, progress)?;
            finished.extend(group.iter().map(|entry| entry.position).zip(results));
        }
        Ok(finished)
    }

    /// Returns the result of a job that was not measured.
    fn unmeasured(&self, job: &Job<'_>, contest: Option<ContestShare>) -> BenchmarkComplete {
        let unmeasured = self.context.unmeasured(job);
        let compilers = match job.prepared {
            Some(Ok(prepared)) => &prepared.compilers[..],
            _ => &[],
        };
        let compiler = (!compilers.is_empty()).then(|| compilers.join(", "));
        BenchmarkComplete {
            contest,
            environment: Environment {
                compiler: compiler.or(unmeasured.environment.compiler),
                ..unmeasured.environment
            },
            ..unmeasured
        }
    }

    /// Measures cases, alone or alternately. Returns their results.
    fn measure_together(
        &mut self,
        entries: &[Entry<'_, '_>],
        earlier: &mut EarlierModes,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Vec<Finished>, Interrupted> {
        let first = &entries[0];
        let baseline_case = match (self.context.baseline, &first.prepared.reference) {
            (None, None) => BaselineCase::Absent,
            (None, Some(reference)) => BaselineCase::of_reference(
                &first.prepared.recorded.recording,
                reference,
                self.context.selected.facts,
            ),
            (Some((cases, prepared)), _) => {
                BaselineCase::new(first.job.case, &first.prepared.recorded.recording, cases, prepared)
            }
        };
        let entrants: Vec<(&Job<'_>, &PreparedCase)> =
            entries.iter().map(|entry| (entry.job, entry.prepared)).collect();
        self.telemetry.begin_case();
        let (parts, baseline) = match self.measure_entrants(&entrants, &baseline_case, earlier, progress) {
            Ok(measured) => self.results_of(entries, baseline_case, measured)?,
            Err(error) => {
                let failed = |entry: &Entry<'_, '_>| Ok(self.failure(entry.job.case, &error)?.into());
                (entries.iter().map(failed).collect::<Result<_, _>>()?, None)
            }
        };
        let most = parts.iter().map(ResultParts::sample_count).max();
        let observation = self.telemetry.end_case(most.unwrap_or_default());
        let results = entries.iter().zip(parts).map(|(entry, parts)| {
            let cache = parts.figures.as_ref();
            let cache = cache.map(|_| self.context.cache_state(entry.job.announced.mode));
            let unmeasured = BenchmarkComplete {
                cache,
                ..self.unmeasured(entry.job, entry.contest.clone())
            };
            // What is counted is counted call by call.
            let has_samples = parts.sample_count() > 0 && entry.job.announced.metric.is_time();
            let mut result = parts.record(self.context, unmeasured);
            let wanted = entry.job.options.calls_per_sample.filter(|_| has_samples);
            let fewer = fewer_calls(result.mode, wanted, result.calls_per_sample);
            result.notices.extend(fewer);
            if entry.writes_nothing() {
                result.contest = None;
                result.notices.extend(self.not_measured(&result));
            }
            Finished::from(match &observation {
                Some(observation) => with_observation(result, observation),
                None => result,
            })
        });
        let mut results: Vec<Finished> = results.collect();
        match (baseline, &first.prepared.reference) {
            (Some(reference), Some(_)) => self.note_reference(first.job, &mut results[0].result, &reference),
            (baseline, _) => results[0].baseline = baseline,
        }
        Ok(results)
    }

    /// Notes in a submission's result what was measured of the reference that it alternated with.
    fn note_reference(&self, job: &Job<'_>, result: &mut BenchmarkComplete, reference: &BenchmarkComplete) {
        let analyses = job.options.analyses.most();
        result.reference = measured_reference(result, reference, analyses, self.context.settings.facts.clock_tick_ns);
        if result.reference.is_none() && result.verdict == Verdict::Pass {
            result.notices.push(no_speedup(result, reference));
        }
        let is_hosted = matches!(job.prepared, Some(Ok(prepared)) if prepared.recorded.recording.execution.is_hosted());
        if is_hosted && result.reference.is_some() {
            result.notices.push(
                "its host code was alive while the reference was timed, and can slow it: the speed-up is no proof"
                    .to_owned(),
            );
        }
    }

    /// Returns the notice about a case with nothing to write that passed: there is no time to show.
    fn not_measured(&self, result: &BenchmarkComplete) -> Option<String> {
        let is_missed = self.context.settings.mode.is_timed() && result.verdict == Verdict::Pass;
        is_missed.then(|| {
            format!(
                "it has no {}, because all of its outputs are empty: it was checked that its calls write nothing",
                result.metric.name
            )
        })
    }

    /// Returns the parts of the results of cases that were measured together, and the baseline's
    /// result. What is measured in windows of its own is measured then.
    fn results_of<'e>(
        &mut self,
        entries: &'e [Entry<'e, '_>],
        baseline_case: BaselineCase<'_>,
        measured: MeasuredInTurns,
    ) -> Result<(Vec<ResultParts<'e>>, Option<Box<BenchmarkComplete>>), Interrupted> {
        let (roles, mut arms) = (measured.roles, measured.arms.into_iter());
        let mut parts = Vec::new();
        for (entry, arm) in entries.iter().zip(&mut arms) {
            parts.push(match arm {
                Ok(measured) => {
                    let expectations = self.context.settings.expectations(&entry.job.options);
                    self.parts_of(entry.job, entry.prepared, measured, expectations, roles)?
                }
                Err(failure) => lost(failure)?.into(),
            });
        }
        let theirs = arms.next();
        let kept = theirs
            .as_ref()
            .and_then(|theirs| kept_of_baseline(theirs.as_ref().ok()?));
        parts[0].outcome.notices.extend(kept);
        let baseline = self.baseline_result(&entries[0], baseline_case, theirs, roles)?;
        if roles == RolesAfterwards::Unknown {
            self.retire_roles(entries[0].job.case);
        }
        let mut all = Vec::new();
        for (entry, parts) in entries.iter().zip(parts) {
            if entry.writes_nothing() {
                all.push(parts);
                continue;
            }
            let (outcome, hardware) = self.hardware_metrics(entry, parts.outcome)?;
            let (outcome, audit) = self.audit(entry, outcome)?;
            all.push(ResultParts {
                outcome,
                hardware,
                audit,
                ..parts
            });
        }
        Ok((all, baseline))
    }

    /// Returns the parts of a case's result that its measurement gives.
    fn parts_of<'e>(
        &mut self,
        job: &'e Job<'_>,
        prepared: &'e PreparedCase,
        measured: Measured,
        expectations: Expectations,
        roles: RolesAfterwards,
    ) -> Result<ResultParts<'e>, Interrupted> {
        let recording = &prepared.recorded.recording;
        let figures = Figures::new(recording, &job.announced.metric, measured, expectations);
        Ok(ResultParts {
            outcome: figures.outcome(),
            figures: Some((prepared, figures)),
            kernels: self.roles.kernels_of(prepared, self.context.selected.facts, roles)?,
            own_library_sha256: prepared.own_library.as_ref().map(Digest::to_string),
            hardware: None,
            audit: None,
        })
    }

    /// Returns a failure of anything but the kernels. The roles are replaced.
    fn failure(&mut self, case: &Case, error: &MeasureError) -> Result<CaseFailure, Interrupted> {
        self.retire_roles(case);
        CaseFailure::of_measuring(error).ok_or(Interrupted)
    }

    /// Reads the hardware metrics of a case that passed in windows of their own. A call that fails
    /// there fails the case.
    fn hardware_metrics(
        &mut self,
        Entry { job, prepared, .. }: &Entry<'_, '_>,
        outcome: Outcome,
    ) -> Result<(Outcome, Option<BTreeMap<String, f64>>), Interrupted> {
        let metrics = job.case.metrics.hardware();
        // With several results, those of times have the metrics of their modes.
        let is_wanted = job.announced.metric.is_time() || !job.case.metrics.times();
        if metrics.is_empty() || !is_wanted || outcome.verdict != Verdict::Pass {
            return Ok((outcome, None));
        }
        let metric = MetricRequest {
            kind: MetricKind::Hardware,
            names: metrics,
            profiles: None,
        };
        Ok(
            match self.measure_again(Purpose::Counts(metric), &job.once(), prepared) {
                Ok(measured) => match outcome.confirmed_by(&measured, FurtherPurpose::HardwareMetrics) {
                    Ok(outcome) => (outcome, Some(hardware_metrics(&measured))),
                    Err(failed) => (failed, None),
                },
                Err(error) => (outcome.failed(self.failure(job.case, &error)?), None),
            },
        )
    }

    /// Audits the calls of a case that passed, in windows of their own. A call that fails there
    /// fails the case.
    fn audit(
        &mut self,
        Entry { job, prepared, .. }: &Entry<'_, '_>,
        outcome: Outcome,
    ) -> Result<(Outcome, Option<CallAudit>), Interrupted> {
        let is_wanted = self.context.settings.options.measurement.audit == Audit::Made;
        let notices = job.options.criteria.notices;
        if !is_wanted || !job.announced.metric.is_time() || outcome.verdict != Verdict::Pass {
            return Ok((outcome, None));
        }
        let auditor = match Auditor::begin(self.context.selected.facts.device.kind) {
            Ok(auditor) => auditor,
            Err(error) => return Ok((outcome.noted(vec![no_audit(&error.into())], notices), None)),
        };
        let doorbells = Doorbells::watched_by(&auditor);
        let measured = self.measure_again(Purpose::Audit(&doorbells), &job.once(), prepared);
        let uncounted = doorbells.end();
        Ok(match (measured, auditor.end()) {
            (Ok(measured), Ok(seen)) => {
                let audited = Audited {
                    measured,
                    seen,
                    uncounted,
                };
                audit(outcome, prepared, audited, notices)
            }
            (Ok(_), Err(failure)) => (outcome.noted(vec![no_audit(&failure.into())], notices), None),
            (Err(error), _) => (outcome.failed(self.failure(job.case, &error)?), None),
        })
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
        Entry { job, contest, .. }: &Entry<'_, '_>,
        baseline_case: BaselineCase<'_>,
        measured: Option<Result<Measured, RoleFailure>>,
        roles: RolesAfterwards,
    ) -> Result<Option<Box<BenchmarkComplete>>, Interrupted> {
        let unmeasured = self.unmeasured(job, contest.clone());
        let result = match (baseline_case, measured) {
            (BaselineCase::Absent, _) | (BaselineCase::Ready(_), None) => return Ok(None),
            (BaselineCase::Unlike(reason), _) => BenchmarkComplete {
                message: Some(reason),
                ..unmeasured
            },
            (BaselineCase::Failed(failure), _) => Outcome::from(failure).record(unmeasured),
            (BaselineCase::Ready(theirs), Some(Ok(measured))) => {
                let expectations = Expectations {
                    // Only the candidate is judged.
                    criteria: PassCriteria::default(),
                    ..self.context.settings.expectations(&job.options)
                };
                let parts = self.parts_of(job, theirs, measured, expectations, roles)?;
                parts.record(self.context, unmeasured)
            }
            (BaselineCase::Ready(_), Some(Err(failure))) => match lost(failure) {
                Ok(failure) => Outcome::from(failure).record(unmeasured),
                Err(Interrupted) => unmeasured,
            },
        };
        Ok(Some(Box::new(result)))
    }

    /// Replaces the author, the referee and the control worker before the next case: their state is
    /// unknown.
    fn retire_roles(&mut self, case: &Case) {
        self.authors.retire(case.library);
        self.roles.retire();
    }
}

/// Returns the failure of a case whose workers were lost without fault of its code.
fn lost(failure: RoleFailure) -> Result<CaseFailure, Interrupted> {
    CaseFailure::of_measuring(&MeasureError::Worker(failure)).ok_or(Interrupted)
}

/// Returns the notice about the baseline's wrong call, whose own message no report shows.
fn kept_of_baseline(theirs: &Measured) -> Option<String> {
    let kept = theirs.kept_call.as_deref()?;
    let wrong = match theirs.failed_alternating {
        None => "the baseline's outputs are wrong",
        Some(_) => "the baseline's outputs were wrong when it alternated",
    };
    let (title, files) = kept.split_once('\n').unwrap_or((kept, ""));
    let files: Vec<&str> = files.lines().map(str::trim_start).collect();
    let notice = format!("{wrong}: {title} {}", files.join(", "));
    Some(notice.trim_end().to_owned())
}

/// Returns why a case that passed has no speed-up over the reference.
fn no_speedup(result: &BenchmarkComplete, reference: &BenchmarkComplete) -> String {
    let message = || reference.message.clone().unwrap_or_default();
    let why = match (reference.verdict, reference.cause) {
        _ if result.failed_alternating.is_some() => "it failed while it alternated with it".to_owned(),
        (Verdict::Pass, _) => "the reference has no value".to_owned(),
        (Verdict::Skipped, _) => message(),
        (_, Some(Cause::Unwritten | Cause::Partial)) => {
            "the reference leaves elements of its outputs as they are, and here it finds noise in them (hint: it must \
             write all of them to be measured)"
                .to_owned()
        }
        (verdict, _) => format!("the reference ended with {verdict}, {}", message()),
    };
    format!("no speed-up over the reference: {why}")
}

/// Returns the preparation of a case that can be measured; otherwise why it cannot.
fn admitted<'j>(job: &Job<'j>, facts: &Facts) -> Result<&'j PreparedCase, Outcome> {
    let prepared = match job.prepared {
        None => {
            return Err(Outcome {
                verdict: Verdict::Skipped,
                cause: Some(Cause::Unsupported),
                message: job.case.disposition.reason().map(str::to_owned),
                notices: Vec::new(),
            });
        }
        Some(Err(failure)) => return Err(failure.clone().into()),
        Some(Ok(prepared)) => prepared,
    };
    match unusable(job.announced.mode, &prepared.recorded.recording, facts) {
        Some(reason) => Err(CaseFailure::skipped(reason).into()),
        None => Ok(prepared),
    }
}
