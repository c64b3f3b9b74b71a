//! One measurement of a lane: of a case alone, or of several that alternate.

use super::context::{Attempt, LaneContext};
use super::earlier_modes::{EarlierModes, another};
use super::job::{Job, Purpose};
use super::lane::Lane;
use super::watcher::CaseWatcher;
use crate::admission::{calls_per_sample, memory_needed_in_turns};
use crate::broker::against::baseline_run::BaselineCase;
use crate::broker::options::CaseOptions;
use crate::broker::recording::preparation::{CaseInputs, PreparedCase};
use crate::broker::settings::Company;
use crate::broker::wrong_calls::NpyKeeper;
use camino::Utf8Path;
use gpubench::catalog::Recording;
use gpubench_contract::{Launching, MetricKind, Mode};
use gpubench_measure::clients::MetricRequest;
use gpubench_measure::measurement::{
    CasesInTurns, Entrant, MeasureError, MeasuredInTurns, Protocol, ReadyCase, RunMode, Session, Standing, TurnCase,
    WrongCallKeeper,
};
use gpubench_measure::timeline::{self, Track};
use gpubench_protocol::window::{CodePlacement, case_number};
use gpubench_report::Progress;

impl Lane<'_, '_> {
    /// Measures cases alternately, with the baseline's case if there is one.
    pub(super) fn measure_entrants(
        &mut self,
        entrants: &[(&Job<'_>, &PreparedCase)],
        baseline_case: &BaselineCase<'_>,
        earlier: &mut EarlierModes,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<MeasuredInTurns, MeasureError> {
        let kind = entrants[0].0.announced.metric.kind().unwrap_or_default();
        let kept = &self.context.settings.options.measurement.keep_callgrind;
        let kept_as = kept
            .as_ref()
            .filter(|_| kind == MetricKind::Instructions)
            .map(|folder| folder.join(format!("callgrind.out.{}", entrants[0].0.file_name())));
        let purpose = if entrants[0].1.recorded.recording.writes_nothing() {
            Purpose::Verdict
        } else if kind.is_count() {
            Purpose::Counts(MetricRequest {
                kind,
                names: &[],
                profiles: kept_as.as_deref().map(Utf8Path::as_std_path),
            })
        } else {
            Purpose::Times
        };
        self.measure_for(purpose, entrants, baseline_case, earlier, progress)
    }

    /// Measures cases alternately, at least one. All have the settings of the first.
    pub(super) fn measure_for(
        &mut self,
        purpose: Purpose<'_>,
        entrants: &[(&Job<'_>, &PreparedCase)],
        baseline_case: &BaselineCase<'_>,
        earlier: &mut EarlierModes,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<MeasuredInTurns, MeasureError> {
        let (first, _) = entrants[0];
        let Job { case, options, .. } = first;
        let LaneContext { selected, settings, .. } = self.context;
        let baseline = match baseline_case {
            BaselineCase::Ready(theirs) => Some(*theirs),
            _ => None,
        };
        let labels: Vec<String> = entrants.iter().map(|(job, _)| job.label()).collect();
        let _measures = timeline::span(Track::Command, labels.join(", "));
        let inputs = inputs(self.context, purpose, entrants, baseline, &labels, earlier.call_ns);
        // The workers of a check have other orders of blocks and threads.
        let timed_left = match purpose {
            Purpose::Verdict => 0,
            Purpose::Times | Purpose::Counts(_) | Purpose::Audit(_) => first.timed_left,
        };
        earlier.idle_workers.before(another(
            timed_left,
            &entrants[0].1.recorded.recording,
            selected.facts,
            options.calls_per_sample,
        ));
        let judged = entrants.iter().zip(&labels).map(|((_, prepared), label)| {
            let annotation = settings.options.nvtx.then_some(&**label);
            (Standing::Judged, prepared.ready(&CaseInputs { annotation, ..inputs }))
        });
        let compared = baseline.map(|theirs| (Standing::Compared, theirs.ready(&inputs)));
        let cases: Vec<(Standing, ReadyCase<'_>)> = judged.chain(compared).collect();
        let names = names_of(&labels, entrants[0].1, baseline);
        let keepers = keepers(self.context, entrants, baseline);
        let arms = cases.iter().zip(&names).enumerate();
        let arms = arms.map(|(position, ((standing, case), name))| TurnCase {
            case,
            entrant: Entrant {
                name,
                standing: *standing,
                keeper: keepers.get(position).map(|keeper| keeper as &dyn WrongCallKeeper),
            },
        });
        let arms: Vec<TurnCase<'_>> = arms.collect();
        let placement = CodePlacement::new(&entrants[0].1.recorded.recording, selected.facts.kernels_run_in);
        let rivals = cases[1..].iter().map(|(_, rival)| rival.recording);
        let needed = memory_needed_in_turns(&placement, rivals);
        self.leaving_workers.make_room(needed, selected.facts.free_memory);
        let protocol = protocol(self.context, purpose, options, arms.len());
        let (referee, control_worker) = self.roles.ready().map_err(MeasureError::Open)?;
        let author = self.authors.client(case.library);
        let mut session = Session {
            protocol: &protocol,
            referee,
            author: author.map_err(MeasureError::Attach)?,
            control_worker,
            idle_workers: &mut earlier.idle_workers,
            earlier_sets: &mut earlier.sets,
            leaving_workers: &mut self.leaving_workers,
            watcher: &mut CaseWatcher {
                metric: &first.announced.metric,
                telemetry: self.telemetry,
                progress,
            },
        };
        session.measure_and_confirm(&CasesInTurns {
            arms: &arms,
            source: &cases[0].1,
            question: Some(&settings.question(options)),
        })
    }
}

/// Returns what keeps the tensors of each case's first wrong call, the baseline's last. Empty if
/// they are not wanted.
fn keepers<'c>(
    context: LaneContext<'c>,
    entrants: &[(&Job<'_>, &PreparedCase)],
    baseline: Option<&PreparedCase>,
) -> Vec<NpyKeeper<'c>> {
    let folder = context.settings.options.measurement.keep_wrong_outputs.as_deref();
    let of_folder = |folder| {
        let keepers = entrants.iter().map(|(job, _)| NpyKeeper::new(folder, job.file_name()));
        let of_baseline = baseline.map(|_| NpyKeeper::of_baseline(folder, &entrants[0].0.file_name()));
        keepers.chain(of_baseline).collect()
    };
    folder.map(of_folder).unwrap_or_default()
}

/// Returns the inputs that cases are measured with, and how many calls a window has.
fn inputs<'c>(
    context: LaneContext<'c>,
    purpose: Purpose<'_>,
    entrants: &[(&Job<'_>, &PreparedCase)],
    baseline: Option<&PreparedCase>,
    labels: &[String],
    call_ns: Option<f64>,
) -> CaseInputs<'c> {
    let facts = context.selected.facts;
    let (first, prepared) = entrants[0];
    let rivals = entrants[1..].iter().map(|(_, prepared)| *prepared).chain(baseline);
    let rivals: Vec<&Recording> = rivals.map(|rival| &rival.recorded.recording).collect();
    let mode = match purpose {
        Purpose::Times => first.announced.mode,
        Purpose::Verdict | Purpose::Counts(_) | Purpose::Audit(_) => one_by_one(first.announced.mode),
    };
    let recording = &prepared.recorded.recording;
    let names: Vec<String> = entrants.iter().map(|(job, _)| job.case.full_name()).collect();
    CaseInputs {
        annotation: None,
        number: match (purpose, recording.reference.provider()) {
            (Purpose::Times, Some(_)) => number_of(&names, context.attempt),
            _ => number_of(labels, context.attempt),
        },
        facts,
        flush_bytes: context.settings.flush_bytes,
        calls: calls_per_sample(mode, recording, &rivals, facts, first.options.calls_per_sample, call_ns),
        mode,
    }
}

/// Returns how `cases` cases are measured together for a purpose.
fn protocol<'p>(context: LaneContext<'p>, purpose: Purpose<'p>, options: &CaseOptions, cases: usize) -> Protocol<'p> {
    let company = match cases {
        1 => Company::Alone,
        _ => Company::Others,
    };
    let protocol = match purpose {
        Purpose::Times => context.settings.protocol_for(options, company),
        Purpose::Verdict => context.settings.checking_protocol(options),
        Purpose::Counts(metric) => context.settings.counting_protocol(options, metric),
        Purpose::Audit(doorbells) => context.settings.audit_protocol(options, doorbells),
    };
    // In a test, other cases slow a case down. Counted cases have longer limits anyway.
    let at_once = match protocol.mode {
        RunMode::Test => context.lanes.get() as u32,
        RunMode::Measure | RunMode::Profile(_) | RunMode::Audit(_) => 1,
    };
    Protocol {
        within: protocol.within.saturating_mul(at_once),
        reference_within: protocol.reference_within.saturating_mul(at_once),
        interrupt: context.interrupt,
        ..protocol
    }
}

/// Returns the number that selects the inputs. No two results of a run share inputs, unless a
/// command computes the outputs: it need not run for each mode.
fn number_of(labels: &[String], attempt: Attempt) -> u64 {
    match labels {
        [alone] => case_number(&attempt.label(alone)),
        several => case_number(&attempt.label(&format!("contest {}", several.join(" ")))),
    }
}

/// Returns what messages about other cases call each case.
fn names_of(labels: &[String], first: &PreparedCase, baseline: Option<&PreparedCase>) -> Vec<String> {
    match baseline {
        Some(_) if first.reference.is_some() => ["the submission", "the reference"].map(str::to_owned).into(),
        Some(_) => ["the candidate", "the baseline"].map(str::to_owned).into(),
        None => labels.iter().map(|label| format!("`{label}`")).collect(),
    }
}

/// Returns the mode of the windows in which the calls of a mode are only checked, counted or
/// audited: one call each.
fn one_by_one(mode: Mode) -> Mode {
    match mode.launching() {
        Launching::Alone => mode,
        Launching::BackToBack | Launching::InGraph => Mode::Cold,
    }
}
