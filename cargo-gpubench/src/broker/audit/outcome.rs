//! What an audit adds to a result.

use gpubench::catalog::Execution;

use super::AuditError;
use super::SeenCalls;
use super::analysis::AuditedCalls;
use super::doorbells::submissions_of_call;
use crate::broker::recording::preparation::PreparedCase;
use gpubench_contract::{BenchmarkComplete, Cause, Verdict};
use gpubench_diagnostic::Failure;
use gpubench_measure::measurement::{CaseFailure, Measured, NoticePolicy, add_notices};
use gpubench_measure::verdict::{WindowEvidence, WindowSpan};

/// What an audit found.
pub(crate) struct Audited {
    pub(crate) measured: Measured,
    /// What was seen meanwhile.
    pub(crate) seen: SeenCalls,
    /// Why the submissions of a window were not counted.
    pub(crate) uncounted: Option<AuditError>,
}

/// Adds what the audited calls of a case asked of the driver to its result. The verdict of a call
/// that failed meanwhile, or that launched a kernel which its plan does not have, replaces that of
/// the result.
pub(crate) fn add_audit(
    result: &mut BenchmarkComplete,
    prepared: &PreparedCase,
    audited: Audited,
    notices: NoticePolicy,
) {
    let Audited {
        measured,
        seen,
        uncounted,
    } = audited;
    let judgement = measured.judgement;
    if judgement.verdict != Verdict::Pass {
        (result.verdict, result.cause) = (judgement.verdict, judgement.cause);
        let message = judgement.message;
        result.message = message.map(|message| format!("while the calls were audited: {message}"));
        return;
    }
    let [spans, empty] = [&measured.windows, &measured.control_windows].map(|windows| spans_of(windows));
    let Some(mut calls) = AuditedCalls::of(&seen, &spans) else {
        let notice = "the calls were not audited: no call of a CUDA driver was seen in the worker";
        add_notices(result, vec![notice.to_owned()], notices);
        return;
    };
    let mut told = Vec::new();
    match submissions_of_call(uncounted, &spans, &empty, calls.launches()) {
        Ok(Some(submissions)) => calls.add_submissions(submissions, AuditedCalls::of(&seen, &empty).as_ref()),
        Ok(None) => {}
        Err(error) => told.push(unknown("submissions to the GPU were not counted", &error.into())),
    }
    result.audit = Some(calls.audit());
    if prepared.recorded.recording.execution == Execution::Sealed {
        match prepared.symbols() {
            Some(symbols) => fail_if_unplanned(result, &calls, &symbols),
            None => {
                told.push("the launches were not compared with the plan: a compiled kernel could not be read".into())
            }
        }
    }
    told.extend(calls.findings());
    add_notices(result, told, notices);
}

/// Fails a case whose calls launched a kernel that its plan, whose kernels are `planned`, does not
/// launch so often.
fn fail_if_unplanned(result: &mut BenchmarkComplete, calls: &AuditedCalls, planned: &[String]) {
    let Some(kernel) = calls.unplanned(planned) else {
        return;
    };
    let failure = CaseFailure {
        verdict: Verdict::ProtocolViolation,
        cause: Cause::UnplannedLaunch,
        message: format!("an audited call launched `{kernel}` more often than its launch plan says"),
    };
    failure.fill_in(result);
}

fn spans_of(windows: &[WindowEvidence]) -> Vec<WindowSpan> {
    windows.iter().filter_map(|window| window.span).collect()
}

/// Adds why the calls of a case could not be audited to its result.
pub(crate) fn add_no_audit(result: &mut BenchmarkComplete, failure: &Failure, notices: NoticePolicy) {
    add_notices(result, vec![unknown("the calls were not audited", failure)], notices);
}

/// Returns a notice of something that is not known, with the reason and its hint.
fn unknown(what: &str, failure: &Failure) -> String {
    let hint = failure.hint().map(|hint| format!(" (hint: {hint})"));
    let error = gpubench_diagnostic::chain(failure.as_error());
    format!("{what}: {error}{}", hint.unwrap_or_default())
}
