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

/// Why the grade is not better if a held call has failed after others.
const DOUBT: &str = "calls that the default stream held back were right at first and then wrong";

/// Returns what holds the calls of cases back at first.
pub(super) fn gate_of(turns: &CasesInTurns<'_>, protocol: &Protocol<'_>) -> Gate {
    // Host code of the CPU device works on the host, where no stream holds it.
    let can_be_held = protocol.kernels_run_in == KernelHost::Referee
        && protocol.mode == RunMode::Measure
        && protocol.takes_times()
        && protocol.observer.is_none();
    match can_be_held {
        true => Gate::Stream,
        false => Gate::new(turns.source.recording.execution),
    }
}

/// Whether a held call failed that might succeed if nothing holds it.
pub(super) fn fails_held(turns: &CasesInTurns<'_>, measured: &MeasuredInTurns) -> bool {
    turns.source.recording.execution.may_wait() && measured.arms.iter().any(has_failed_held)
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

#[cfg(test)]
mod tests {
    use bytemuck::Zeroable;
    use gpubench::catalog::Execution;
    use gpubench_contract::{Cause, MetricKind};
    use gpubench_protocol::window::{Numbering, WindowKind};
    use gpubench_protocol::wire::{OutputFacts, WindowFacts};

    use super::super::case::{Entrant, Standing, TurnCase};
    use super::super::measured::ended;
    use super::super::run::WorkerRun;
    use super::super::simulated_case::Stage;
    use super::*;

    const PASS: (Verdict, Option<Cause>) = (Verdict::Pass, None);
    const WRONG: (Verdict, Option<Cause>) = (Verdict::WrongOutput, Some(Cause::Mismatch));
    const LATE: (Verdict, Option<Cause>) = (Verdict::LateWrite, Some(Cause::Incomplete));
    const SHORT: (Verdict, Option<Cause>) = (Verdict::TimeMismatch, Some(Cause::ClaimTooShort));

    fn window(gate: Gate, matched: u64) -> WindowEvidence {
        let mut facts = WindowFacts {
            kind: WindowKind::Timed,
            gate,
            output_count: 1,
            ..WindowFacts::zeroed()
        };
        facts.outputs[0] = OutputFacts {
            elements: 8,
            matched,
            ..OutputFacts::zeroed()
        };
        WindowEvidence::new(Box::new(facts), None)
    }

    /// A case that ended like this in a call that `last` held, after `right` held calls.
    fn arm(end: (Verdict, Option<Cause>), last: Gate, right: usize) -> Result<Measured, RoleFailure> {
        let windows = std::iter::repeat_n(window(Gate::Stream, 8), right);
        Ok(Measured {
            workers: vec![WorkerRun {
                windows: [window(Gate::Host, 8)].into_iter().chain(windows).collect(),
                last_gate: Some(last),
                ..WorkerRun::default()
            }],
            gate: last,
            ..ended(end)
        })
    }

    fn measured(arms: Vec<Result<Measured, RoleFailure>>) -> MeasuredInTurns {
        MeasuredInTurns {
            arms,
            next: Numbering::after(40, 8),
            roles: RolesAfterwards::AtRest,
        }
    }

    fn verdicts(measured: &MeasuredInTurns) -> Vec<Verdict> {
        let arms = measured.arms.iter();
        arms.map(|arm| arm.as_ref().unwrap().judgement.verdict).collect()
    }

    #[test]
    fn only_calls_that_may_wait_and_are_timed_on_a_gpu_are_held_although_they_wait() {
        use KernelHost::{Author, Referee};
        for (execution, home, mode, kind, expected) in [
            (
                Execution::HostedSync,
                Referee,
                RunMode::Measure,
                MetricKind::Time,
                Gate::Stream,
            ),
            (
                Execution::HostedSync,
                Author,
                RunMode::Measure,
                MetricKind::Time,
                Gate::Host,
            ),
            (
                Execution::HostedSync,
                Referee,
                RunMode::Test,
                MetricKind::Time,
                Gate::Host,
            ),
            (
                Execution::HostedSync,
                Referee,
                RunMode::Measure,
                MetricKind::Memory,
                Gate::Host,
            ),
            (
                Execution::Hosted,
                Author,
                RunMode::Test,
                MetricKind::Memory,
                Gate::Stream,
            ),
        ] {
            let stage = Stage::of(1).with(|recording| recording.execution = execution);
            let mut protocol = Protocol {
                mode,
                kernels_run_in: home,
                ..stage.protocol()
            };
            protocol.metric.kind = kind;
            let case = stage.case();
            let entrant = Entrant {
                name: "the case",
                standing: Standing::Judged,
                keeper: None,
            };
            let turns = CasesInTurns {
                arms: &[TurnCase { case: &case, entrant }],
                source: &case,
                question: None,
            };
            assert_eq!(
                gate_of(&turns, &protocol),
                expected,
                "{execution:?} {home:?} {mode:?} {kind:?}"
            );
            let held = measured(vec![arm(WRONG, Gate::Stream, 0)]);
            assert_eq!(fails_held(&turns, &held), execution == Execution::HostedSync);
            assert!(!fails_held(&turns, &measured(vec![arm(WRONG, Gate::Host, 0)])));
            assert!(!fails_held(&turns, &measured(vec![arm(SHORT, Gate::Stream, 9)])));
        }
    }

    #[test]
    fn a_case_that_is_right_when_nothing_holds_it_passes_with_a_notice() {
        for (right, grade) in [(0, Grade::Sealed), (3, Grade::Unverified)] {
            let held = measured(vec![arm(LATE, Gate::Stream, right)]);
            let outside = measured(vec![arm(PASS, Gate::Host, 0)]);
            let settled = settle_held(held, Ok(outside)).unwrap();
            let arm = settled.arms[0].as_ref().unwrap();
            assert_eq!(
                (arm.judgement.verdict, arm.judgement.grade),
                (Verdict::Pass, grade),
                "{right}"
            );
            let notice = "calls are timed from outside, since the default stream cannot hold them: it was incomplete";
            assert_eq!(arm.notices, [notice]);
            assert_eq!(arm.judgement.grade_reason.is_some(), right > 0);
        }
    }

    #[test]
    fn a_case_that_is_wrong_in_any_way_keeps_the_others_held() {
        let held = || measured(vec![arm(PASS, Gate::Stream, 9), arm(WRONG, Gate::Stream, 0)]);
        let outside = measured(vec![arm(PASS, Gate::Host, 0), arm(LATE, Gate::Host, 0)]);
        let settled = settle_held(held(), Ok(outside)).unwrap();
        assert_eq!(verdicts(&settled), [Verdict::Pass, Verdict::LateWrite]);
        assert_eq!(settled.arms[0].as_ref().unwrap().gate, Gate::Stream);
        // One that passes without a hold has wall times, so the others need them, too.
        let outside = measured(vec![arm(PASS, Gate::Host, 0), arm(PASS, Gate::Host, 0)]);
        let settled = settle_held(held(), Ok(outside)).unwrap();
        let gates = settled.arms.iter().map(|arm| arm.as_ref().unwrap().gate);
        assert_eq!(gates.collect::<Vec<_>>(), [Gate::Host; 2]);
    }

    #[test]
    fn a_failure_of_the_second_measurement_leaves_the_first_with_a_notice() {
        let failed = MeasureError::Attach(crate::clients::AuthorProblem::Refused {
            failure: gpubench_protocol::wire::AuthorFailure::Panicked,
            message: "no".to_owned(),
        });
        let settled = settle_held(measured(vec![arm(WRONG, Gate::Stream, 0)]), Err(failed)).unwrap();
        assert_eq!(verdicts(&settled), [Verdict::WrongOutput]);
        let notices = &settled.arms[0].as_ref().unwrap().notices;
        assert!(
            notices[0].starts_with("the measurement with calls that nothing holds failed: "),
            "{notices:?}"
        );
        assert_eq!(settled.roles, RolesAfterwards::Unknown);
        let interrupted = settle_held(measured(Vec::new()), Err(MeasureError::Interrupted));
        assert!(matches!(interrupted, Err(MeasureError::Interrupted)));
    }
}
