//! What an audit adds to a result.

use gpubench::catalog::Execution;

use super::SeenEvents;
use super::analysis::AuditedCalls;
use super::doorbells::submissions_of_call;
use crate::broker::recording::preparation::PreparedCase;
use gpubench_contract::{BenchmarkComplete, Cause, Verdict};
use gpubench_diagnostic::Failure;
use gpubench_measure::measurement::{CaseFailure, Measured, NoticePolicy, add_notices};
use gpubench_measure::verdict::{WindowEvidence, WindowSpan};

/// Adds what the audited calls of a case asked of the driver to its result. The verdict of a call
/// that failed meanwhile, or that launched a kernel which its plan does not have, replaces that of
/// the result.
pub(crate) fn add_audit(
    result: &mut BenchmarkComplete,
    prepared: &PreparedCase,
    measured: Measured,
    seen: &SeenEvents,
    notices: NoticePolicy,
) {
    let judgement = measured.judgement;
    if judgement.verdict != Verdict::Pass {
        (result.verdict, result.cause) = (judgement.verdict, judgement.cause);
        let message = judgement.message;
        result.message = message.map(|message| format!("while the calls were audited: {message}"));
        return;
    }
    let [spans, empty] = [&measured.windows, &measured.control_windows].map(|windows| spans_of(windows));
    let Some(mut calls) = AuditedCalls::of(seen, &spans) else {
        let notice = "the calls were not audited: no call of a CUDA driver was seen in the worker";
        add_notices(result, vec![notice.to_owned()], notices);
        return;
    };
    if let Some(submissions) = submissions_of_call(&spans, &empty) {
        calls.add_submissions(submissions, AuditedCalls::of(seen, &empty).as_ref());
    }
    result.audit = Some(calls.audit());
    if prepared.recorded.recording.execution == Execution::Sealed
        && let Some(kernel) = calls.unplanned(&prepared.symbols())
    {
        let message = format!("an audited call launched `{kernel}` more often than its launch plan says");
        let failure = CaseFailure {
            verdict: Verdict::ProtocolViolation,
            cause: Cause::UnplannedLaunch,
            message,
        };
        failure.fill_in(result);
    }
    add_notices(result, calls.findings(), notices);
}

fn spans_of(windows: &[WindowEvidence]) -> Vec<WindowSpan> {
    windows.iter().filter_map(|window| window.span).collect()
}

/// Adds why the calls of a case could not be audited to its result.
pub(crate) fn add_no_audit(result: &mut BenchmarkComplete, failure: &Failure, notices: NoticePolicy) {
    let hint = failure.hint().map(|hint| format!(" (hint: {hint})"));
    let error = gpubench_diagnostic::chain(failure.as_error());
    let notice = format!("the calls were not audited: {error}{}", hint.unwrap_or_default());
    add_notices(result, vec![notice], notices);
}
