//! What an audit adds to a result.

use gpubench::catalog::{Execution, Recording};
use gpubench::plan::Step;

use super::SeenEvents;
use super::analysis::{call_audit, findings, unplanned};
use gpubench_contract::{BenchmarkComplete, Verdict};
use gpubench_diagnostic::Failure;
use gpubench_measure::measurement::Measured;

/// Adds what the audited calls of a case asked of the driver to its result. The verdict of a call
/// that failed meanwhile, or that launched a kernel which its plan does not have, replaces that of
/// the result.
pub(crate) fn add_audit(result: &mut BenchmarkComplete, recording: &Recording, measured: Measured, seen: &SeenEvents) {
    let judgement = measured.judgement;
    if judgement.verdict != Verdict::Pass {
        (result.verdict, result.cause) = (judgement.verdict, judgement.cause);
        let message = judgement.message;
        result.message = message.map(|message| format!("while the calls were audited: {message}"));
        return;
    }
    let spans: Vec<_> = measured.windows.iter().filter_map(|window| window.span).collect();
    let Some(audit) = call_audit(seen, &spans) else {
        let notice = "the calls were not audited: no call of a CUDA driver was seen in the worker";
        result.notices.push(notice.to_owned());
        return;
    };
    if recording.execution == Execution::Sealed
        && let Some(kernel) = unplanned(seen, &spans, &kernels_of(recording))
    {
        result.verdict = Verdict::ProtocolViolation;
        result.message = Some(format!(
            "an audited call launched `{kernel}` more often than its launch plan says"
        ));
    }
    result.notices.extend(findings(&audit));
    result.audit = Some(audit);
}

/// Returns the notice about calls that could not be audited.
pub(crate) fn not_audited(failure: &Failure) -> String {
    let hint = failure.hint().map(|hint| format!(" (hint: {hint})"));
    let error = gpubench_diagnostic::chain(failure.as_error());
    format!("the calls were not audited: {error}{}", hint.unwrap_or_default())
}

/// Returns the kernels that a call launches, each as often as it does.
fn kernels_of(recording: &Recording) -> Vec<&str> {
    let steps = recording.plan.steps.iter();
    let kernels = steps.filter_map(|step| match step {
        Step::Launch(launch) => Some(&*launch.kernel.name),
        _ => None,
    });
    kernels.collect()
}
