//! Calls that may wait for the device, and are held all the same.
//!
//! Host code that works on the default stream, and on streams that wait for it, can be held there:
//! its call queues work, waits for it, and the worker meanwhile queues what follows. The device
//! then times the call like any other. Whether code works like this is not known before. So each
//! worker first makes some calls that nothing holds, which are timed from outside. If these are
//! right and a held one is not, the code uses another stream, queues more after its first wait, or
//! waits in a way that keeps the driver busy. Then the case is measured once more, and all its
//! calls are timed from outside.
//!
//! A case whose first held call fails has shown how its code works. If a later one fails, its code
//! may have tried to work before *go*, and failed once. Its grade is then `unverified` at best.

use super::case::CasesInTurns;
use super::confirmation::beginning;
use super::error::MeasureError;
use super::failure::CaseFailure;
use super::measured::{Measured, MeasuredInTurns, RolesAfterwards};
use super::protocol::Protocol;
use super::run_mode::RunMode;
use crate::clients::RoleFailure;
use crate::verdict::WindowEvidence;
use gpubench_contract::{Grade, Verdict};
use gpubench_device::KernelHost;
use gpubench_protocol::window::{Gate, WindowContent};

/// Why the grade is not better after a held call has failed behind others.
const DOUBT: &str = "calls that the default stream held back were right at first and then wrong";

/// Returns what holds the calls of cases back at first.
pub(super) fn gate_of(turns: &CasesInTurns<'_>, protocol: &Protocol<'_>) -> Gate {
    // Host code of the CPU device works on the host, where no stream holds it.
    let can_be_held = protocol.kernels_run_in == KernelHost::Referee
        && protocol.mode == RunMode::Measure
        && protocol.takes_times()
        && protocol.observer.is_none();
    match Gate::new(turns.source.recording.execution) {
        Gate::Host if can_be_held => Gate::Stream,
        gate => gate,
    }
}

/// Whether a held call failed that might succeed if nothing holds it.
pub(super) fn fails_held(turns: &CasesInTurns<'_>, measured: &MeasuredInTurns) -> bool {
    let may_wait = Gate::new(turns.source.recording.execution) == Gate::Host;
    may_wait && measured.arms.iter().any(has_failed_held)
}

/// Returns the result of cases of which a held call failed, with what came out when nothing held
/// them.
///
/// # Errors
/// If the user interrupts.
pub(super) fn settle_held(
    held: MeasuredInTurns,
    outside: Result<MeasuredInTurns, MeasureError>,
) -> Result<MeasuredInTurns, MeasureError> {
    let outside = match outside {
        Ok(outside) => outside,
        Err(error) => return after_failure(held, error),
    };
    let arms = || held.arms.iter().zip(&outside.arms);
    if arms().all(|(held, outside)| !has_failed_held(held) || !has_passed(outside)) {
        // The code itself is wrong. The times of the others are better as they were.
        let arms = held.arms.into_iter().zip(outside.arms);
        let arms = arms.map(|(held, outside)| if has_failed_held(&held) { outside } else { held });
        return Ok(MeasuredInTurns {
            arms: arms.collect(),
            ..outside
        });
    }
    let reason = arms().find_map(|(held, _)| held.as_ref().ok().filter(|held| has_failed(held)));
    let reason = reason.map(|held| beginning(held.judgement.message.as_deref().unwrap_or_default()));
    let doubtful: Vec<bool> = held.arms.iter().map(is_doubtful).collect();
    let arms = outside.arms.into_iter().zip(doubtful).map(|(arm, is_doubtful)| {
        let mut arm = arm?;
        arm.notices.push(format!(
            "calls are timed from outside, since the default stream cannot hold them: {}",
            reason.as_deref().unwrap_or_default()
        ));
        if is_doubtful {
            let known = arm.judgement.grade_reason.take();
            let reasons: Vec<String> = known.into_iter().chain([DOUBT.to_owned()]).collect();
            arm.judgement.grade = Grade::Unverified;
            arm.judgement.grade_reason = Some(reasons.join("; "));
        }
        Ok(arm)
    });
    Ok(MeasuredInTurns {
        arms: arms.collect(),
        ..outside
    })
}

/// Returns the first result, with a notice that the second failed.
fn after_failure(mut held: MeasuredInTurns, error: MeasureError) -> Result<MeasuredInTurns, MeasureError> {
    let Some(failure) = CaseFailure::of_measuring(&error) else {
        return Err(error);
    };
    let notice = format!(
        "the measurement with calls that nothing holds failed: {}",
        beginning(&failure.message)
    );
    held.arms
        .iter_mut()
        .flatten()
        .for_each(|arm| arm.notices.push(notice.clone()));
    Ok(MeasuredInTurns {
        next: held.next.after_failure(),
        roles: RolesAfterwards::Unknown,
        ..held
    })
}

fn has_passed(arm: &Result<Measured, RoleFailure>) -> bool {
    arm.as_ref().is_ok_and(|arm| arm.judgement.verdict == Verdict::Pass)
}

fn has_failed_held(arm: &Result<Measured, RoleFailure>) -> bool {
    arm.as_ref().is_ok_and(has_failed)
}

/// Whether a call failed after all calls that nothing held were right, in a way that the hold can
/// cause.
fn has_failed(measured: &Measured) -> bool {
    let can_be_caused = matches!(
        measured.judgement.verdict,
        Verdict::WrongOutput | Verdict::LateWrite | Verdict::Crashed | Verdict::Timeout
    );
    let last = measured.workers.last();
    can_be_caused && last.is_some_and(|run| run.last_gate == Some(Gate::Stream))
}

/// Whether held calls were right before one failed.
fn is_doubtful(arm: &Result<Measured, RoleFailure>) -> bool {
    let is_right = |window: &WindowEvidence| {
        let facts = &window.facts;
        let outputs = facts.outputs().iter();
        facts.gate == Gate::Stream
            && facts.kind.content() == WindowContent::Call
            && outputs.clone().count() > 0
            && outputs.clone().all(|output| output.matched == output.elements)
    };
    arm.as_ref()
        .is_ok_and(|arm| has_failed(arm) && arm.windows().any(is_right))
}
