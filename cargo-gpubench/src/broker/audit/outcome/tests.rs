//! What an audit of a simulated case adds to its result.

use std::num::NonZeroU32;

use bytemuck::Zeroable as _;
use gpubench::catalog::{DeviceKind, Recording, Reference, Work};
use gpubench::plan::Plan;
use gpubench_observe::observed_calls;
use gpubench_observe::testing::Script;

use super::*;
use crate::broker::audit::Auditor;
use gpubench_contract::Grade;
use gpubench_measure::measurement::WorkerRun;
use gpubench_measure::verdict::Judgement;
use gpubench_protocol::wire::WindowFacts;

/// The process that makes the calls.
const WORKER: u32 = 7;

/// A case whose plan launches nothing.
fn case(execution: Execution) -> PreparedCase {
    PreparedCase::uncompiled(Recording {
        tensors: Vec::new(),
        work: Work::default(),
        plan: Plan::default(),
        execution,
        call: None,
        reference: Reference::Author,
    })
}

/// Windows that begin at these milliseconds and last one, with this many submissions.
fn windows(spans: &[(u64, u64)]) -> Vec<WindowEvidence> {
    let window = |(begin_ms, submissions): &(u64, u64)| WindowEvidence {
        span: Some(WindowSpan {
            process: WORKER,
            began_ns: begin_ms * 1_000_000,
            ended_ns: (begin_ms + 1) * 1_000_000,
            timed_ns: None,
            submissions: Some(*submissions),
        }),
        ..WindowEvidence::new(Box::new(WindowFacts::zeroed()), None)
    };
    spans.iter().map(window).collect()
}

/// A case that was measured once more, in windows with `calls` and in `empty` ones.
fn measured(calls: &[(u64, u64)], empty: &[(u64, u64)], cause: Option<Cause>) -> Measured {
    let mut run = WorkerRun {
        windows: windows(calls),
        ..WorkerRun::default()
    };
    run.controls.windows = windows(empty);
    Measured {
        calls: NonZeroU32::MIN,
        sharing: None,
        judgement: Judgement {
            verdict: cause.map_or(Verdict::Pass, |_| Verdict::WrongOutput),
            cause,
            message: cause.map(|cause| format!("it was {cause}")),
            grade: Grade::Sealed,
            grade_reason: None,
            window: None,
        },
        kept_call: None,
        workers: vec![run],
        controls_afterwards: Vec::new(),
        balance: None,
        empty_call_ns: None,
        gate: gpubench_protocol::window::Gate::Stream,
        budget: None,
        stop: None,
        sanitizer: None,
        evidence: None,
        failed_alternating: None,
        notices: Vec::new(),
    }
}

/// Returns what the audit of a case that passed adds, if this was seen.
fn audited(script: Script, measured: Measured, execution: Execution) -> (Outcome, Option<CallAudit>) {
    let passed = Outcome {
        verdict: Verdict::Pass,
        cause: None,
        message: None,
        notices: vec!["a notice".to_owned()],
    };
    let seen = SeenCalls {
        calls: observed_calls(&script.events),
        ..SeenCalls::default()
    };
    let audited = Audited {
        measured,
        seen,
        uncounted: None,
    };
    audit(passed, &case(execution), audited, NoticePolicy::Report)
}

fn worker() -> Script {
    Script::new(WORKER, 0, "worker").name(1, "gemm").allocate(0x1000, 64)
}

#[test]
fn only_launches_of_a_sealed_case_must_be_in_its_plan() {
    for (execution, cause) in [
        (Execution::Sealed, Some(Cause::UnplannedLaunch)),
        (Execution::Hosted, None),
        (Execution::HostedSync, None),
    ] {
        let script = worker().after_ms(10).launch(1);
        let (outcome, audit) = audited(script, measured(&[(10, 2)], &[], None), execution);
        assert_eq!(outcome.cause, cause, "{execution:?}: {outcome:?}");
        assert_eq!(outcome.notices[0], "a notice");
        assert_eq!(audit.map(|audit| audit.launches), Some(1.0), "{execution:?}");
    }
}

#[test]
fn submissions_are_those_beyond_the_windows_without_a_call() {
    let script = worker().after_ms(10).launch(1).after_ms(10).launch(1);
    let calls = [(5, 90), (10, 7), (20, 8)];
    let measured = measured(&calls, &[(30, 5), (40, 5), (50, 6)], None);
    let (outcome, audit) = audited(script, measured, Execution::Hosted);
    assert_eq!(outcome.verdict, Verdict::Pass);
    assert_eq!(audit.and_then(|audit| audit.submissions), Some(2.5));
}

#[test]
fn a_call_that_fails_while_it_is_audited_fails_its_case_and_has_no_audit() {
    let script = worker().after_ms(10).launch(1);
    let measured = measured(&[(10, 2)], &[], Some(Cause::Mismatch));
    let (outcome, audit) = audited(script, measured, Execution::Hosted);
    assert_eq!(
        (outcome.verdict, outcome.cause),
        (Verdict::WrongOutput, Some(Cause::Mismatch))
    );
    assert!(
        outcome
            .message
            .unwrap_or_default()
            .starts_with("while the calls were audited")
    );
    assert_eq!(audit, None);
}

#[test]
fn a_worker_without_a_call_of_a_driver_has_a_notice_instead_of_an_audit() {
    let script = Script::new(WORKER + 1, 0, "another").name(1, "gemm").launch(1);
    let (outcome, audit) = audited(script, measured(&[(10, 2)], &[], None), Execution::Hosted);
    assert_eq!((outcome.verdict, audit), (Verdict::Pass, None));
    assert!(outcome.notices[1].starts_with("the calls were not audited: no call of a CUDA driver"));
}

#[test]
fn calls_on_the_cpu_device_are_not_audited_and_the_notice_says_what_an_audit_needs() {
    let error = Auditor::begin(DeviceKind::Cpu).expect_err("there is no driver");
    assert_eq!(
        no_audit(&error.into()),
        "the calls were not audited: the CPU device has no CUDA driver (hint: `--audit` needs a GPU)"
    );
}
