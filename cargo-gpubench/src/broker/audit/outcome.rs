//! What an audit adds to a result.

use gpubench::catalog::Execution;

use super::AuditError;
use super::SeenCalls;
use super::analysis::AuditedCalls;
use super::doorbells::submissions_of_call;
use crate::broker::recording::preparation::PreparedCase;
use gpubench_contract::{CallAudit, Cause, Verdict};
use gpubench_diagnostic::Failure;
use gpubench_measure::measurement::{CaseFailure, FurtherPurpose, Measured, NoticePolicy, Outcome};
use gpubench_measure::verdict::{WindowEvidence, WindowSpan};

/// What an audit found.
pub(crate) struct Audited {
    pub(crate) measured: Measured,
    /// What was seen meanwhile.
    pub(crate) seen: SeenCalls,
    /// Why the submissions of a window were not counted.
    pub(crate) uncounted: Option<AuditError>,
}

/// Returns what the audited calls of a case asked of the driver, and how the case ends with that.
/// The verdict of a call that failed meanwhile, or that launched a kernel which its plan does not
/// have, replaces the earlier one.
pub(crate) fn audit(
    outcome: Outcome,
    prepared: &PreparedCase,
    audited: Audited,
    notices: NoticePolicy,
) -> (Outcome, Option<CallAudit>) {
    let Audited {
        measured,
        seen,
        uncounted,
    } = audited;
    let outcome = match outcome.confirmed_by(&measured, FurtherPurpose::Audit) {
        Ok(outcome) => outcome,
        Err(failed) => return (failed, None),
    };
    let (spans, empty) = (spans_of(measured.windows()), spans_of(measured.controls()));
    let Some(mut calls) = AuditedCalls::from_calls(&seen, &spans) else {
        let notice = "the calls were not audited: no call of a CUDA driver was seen in the worker";
        return (outcome.noted(vec![notice.to_owned()], notices), None);
    };
    let mut told = Vec::new();
    match submissions_of_call(uncounted, &spans, &empty, calls.launches()) {
        Ok(Some(submissions)) => calls.add_submissions(submissions, AuditedCalls::from_calls(&seen, &empty).as_ref()),
        Ok(None) => {}
        Err(error) => told.push(unknown("submissions to the GPU were not counted", &error.into())),
    }
    let mut unplanned = None;
    if prepared.recorded.recording.execution == Execution::Sealed {
        match prepared.symbols() {
            Some(symbols) => unplanned = unplanned_launch(&calls, &symbols),
            None => {
                told.push("the launches were not compared with the plan: a compiled kernel could not be read".into())
            }
        }
    }
    told.extend(calls.findings());
    let outcome = match unplanned {
        Some(failure) => outcome.failed(failure),
        None => outcome,
    };
    (outcome.noted(told, notices), Some(calls.audit()))
}

/// Returns the failure of a case whose calls launched a kernel that its plan, whose kernels are
/// `planned`, does not launch so often.
fn unplanned_launch(calls: &AuditedCalls, planned: &[String]) -> Option<CaseFailure> {
    let kernel = calls.unplanned(planned)?;
    Some(CaseFailure {
        verdict: Verdict::ProtocolViolation,
        cause: Cause::UnplannedLaunch,
        message: format!("an audited call launched `{kernel}` more often than its launch plan says"),
    })
}

fn spans_of<'w>(windows: impl Iterator<Item = &'w WindowEvidence>) -> Vec<WindowSpan> {
    windows.filter_map(|window| window.span).collect()
}

/// Returns the notice that the calls of a case could not be audited.
pub(crate) fn no_audit(failure: &Failure) -> String {
    unknown("the calls were not audited", failure)
}

/// Returns a notice of something that is not known, with the reason and its hint.
fn unknown(what: &str, failure: &Failure) -> String {
    let hint = failure.hint().map(|hint| format!(" (hint: {hint})"));
    let error = gpubench_diagnostic::chain(failure.as_error());
    format!("{what}: {error}{}", hint.unwrap_or_default())
}

#[cfg(test)]
mod tests;
