//! Claims compared with the referee's timestamps, the floor and the control windows.

use super::*;
use crate::verdict::conservation::residual;

#[test]
fn a_call_that_never_said_that_it_had_returned_is_a_bad_claim() {
    for (kind, call_ns, cause) in [
        (WindowKind::Timed, 0, Some(Cause::BadClaim)),
        (WindowKind::Timed, 500_000, None),
        (WindowKind::EarlyCheck, 0, None),
    ] {
        let mut window = claimed(kind, 4_000.0, 0.0);
        (window.facts.gate, window.facts.call_ns) = (Gate::Host, call_ns);
        assert_eq!(window.elapsed_ns(), Some(call_ns as f64));
        let judgement = judge_windows(&[window], Ending::Stopped);
        assert_eq!(judgement.cause, cause, "{call_ns} in {kind:?}: {:?}", judgement.message);
    }
}

/// A window of 1 ms by the referee's clock, with a claim of `elapsed_ns`.
fn claimed(kind: WindowKind, elapsed_ns: f64, host_ns: f64) -> WindowEvidence {
    let mut claimed = window(1, good_output());
    claimed.facts.kind = kind;
    (claimed.facts.s1_ns, claimed.facts.s2_ns) = (500_000, 1_500_000);
    claimed.claim = Some(Box::new(Claim {
        elapsed_ns,
        host_ns,
        ..Claim::empty(1)
    }));
    claimed
}

#[test]
fn a_claim_may_exceed_the_window_by_one_per_cent_and_a_microsecond() {
    let cause = |kind, elapsed_ns, host_ns| {
        let judgement = judge_windows(&[claimed(kind, elapsed_ns, host_ns)], Ending::Stopped);
        judgement.cause
    };
    let (timed, early, bad) = (WindowKind::Timed, WindowKind::EarlyCheck, Some(Cause::BadClaim));
    for (kind, elapsed_ns, host_ns, expected) in [
        (timed, 1.0, 0.0, None),
        (timed, 1_000_000.0, 0.0, None),
        (timed, 1_010_999.0, 0.0, None),
        (timed, 1_011_001.0, 0.0, bad),
        (timed, 1_100_000.0, 0.0, bad),
        (timed, 0.0, 0.0, bad),
        (timed, -1.0, 0.0, bad),
        (timed, f64::NAN, 0.0, bad),
        (timed, 1.0, f64::NAN, bad),
        (timed, 1.0, f64::INFINITY, bad),
        (timed, 1.0, -1.0, bad),
        // An early check has no device time.
        (early, 0.0, 0.0, None),
        (early, f64::NAN, 0.0, bad),
        (early, 0.0, f64::NAN, bad),
        (early, 0.0, -1.0, bad),
    ] {
        assert_eq!(
            cause(kind, elapsed_ns, host_ns),
            expected,
            "{elapsed_ns} ns, and {host_ns} ns of the host, of a window of kind {kind:?}"
        );
    }
}

#[test]
fn a_claim_shorter_than_two_adjacent_events_is_bad() {
    let tensors = tensors();
    let judged = |kind, elapsed_ns, shortest_claim_ns| {
        let windows = [claimed(WindowKind::Timed, 4_000.0, 0.0), claimed(kind, elapsed_ns, 0.0)];
        judge(&Evidence {
            surroundings: Surroundings {
                shortest_claim_ns,
                ..Surroundings::default()
            },
            ..evidence(&tensors, &windows, Ending::Stopped)
        })
    };
    let [claimed, shortest] = [1e-6_f32, 0.001_184].map(|milliseconds: f32| f64::from(milliseconds) * 1e6);
    let found = judged(WindowKind::Timed, claimed, Some(shortest));
    assert_eq!(
        (describe(&found).as_str(), found.window),
        (
            "protocol-violation / bad-claim: the worker claims 1 ns for call 1, but \
             two events with nothing between them are at least 1184 ns apart",
            Some(1)
        )
    );
    for (kind, elapsed_ns, shortest_claim_ns, cause) in [
        (WindowKind::Timed, 1_183.9, Some(1_184.0), Some(Cause::BadClaim)),
        (WindowKind::Timed, 1_184.0, Some(1_184.0), None),
        // The shortest time is unknown.
        (WindowKind::Timed, 1.0, None, None),
        (WindowKind::EarlyCheck, 0.0, Some(1_184.0), None),
    ] {
        let judgement = judged(kind, elapsed_ns, shortest_claim_ns);
        assert_eq!(
            judgement.cause, cause,
            "{elapsed_ns} of {shortest_claim_ns:?} in {kind:?}"
        );
    }
}

#[test]
fn any_call_below_the_floor_fails_the_case() {
    let tensors = tensors();
    for place in 0..3 {
        let mut windows = [200.0, 300.0, 400.0].map(|elapsed_ns| {
            let mut window = claimed(WindowKind::Timed, elapsed_ns, 0.0);
            window.facts.window = 9;
            window
        });
        let below = claimed(WindowKind::Timed, 99.0, 0.0);
        windows[place] = below;
        let judgement = judge(&Evidence {
            floor_ns: Some(100.0),
            ..evidence(&tensors, &windows, Ending::Stopped)
        });
        assert_eq!(judgement.verdict, Verdict::BelowFloor);
        assert!(judgement.message.unwrap().starts_with("call 1 took 99 ns"));
    }
}

#[test]
fn early_checks_are_not_compared_with_the_floor() {
    let tensors = tensors();
    let windows = [
        claimed(WindowKind::Timed, 200.0, 0.0),
        claimed(WindowKind::EarlyCheck, 0.0, 0.0),
    ];
    let judgement = judge(&Evidence {
        floor_ns: Some(100.0),
        ..evidence(&tensors, &windows, Ending::Stopped)
    });
    assert_eq!(judgement.verdict, Verdict::Pass);
}

#[test]
fn a_call_alone_is_not_compared_with_the_floor_of_all_calls() {
    let tensors = tensors();
    let windows = [
        claimed(WindowKind::Timed, 200.0, 0.0),
        claimed(WindowKind::Single, 50.0, 0.0),
    ];
    let judgement = judge(&Evidence {
        floor_ns: Some(100.0),
        ..evidence(&tensors, &windows, Ending::Stopped)
    });
    assert_eq!(judgement.verdict, Verdict::Pass);
}

#[test]
fn counts_are_not_compared_with_the_floor() {
    let tensors = tensors();
    let windows = [claimed(WindowKind::Timed, 0.0, 0.0)];
    let judgement = judge(&Evidence {
        metric: MetricKind::Instructions,
        floor_ns: Some(100.0),
        ..evidence(&tensors, &windows, Ending::Stopped)
    });
    assert_eq!(judgement.verdict, Verdict::Pass);
}

#[test]
fn only_timed_ended_and_claimed_windows_have_a_residual() {
    let timed = claimed(WindowKind::Timed, 600_000.0, 0.0);
    assert_eq!(residual(&timed), Some(400_000.0));
    let control = claimed(WindowKind::Control, 1_000.0, 0.0);
    assert_eq!(residual(&control), Some(999_000.0));
    assert_eq!(residual(&claimed(WindowKind::EarlyCheck, 600_000.0, 0.0)), None);
    for end in [WindowEnd::NotDone, WindowEnd::Aborted] {
        let mut unended = timed.clone();
        unended.facts.end = end;
        assert_eq!(residual(&unended), None, "{end:?}");
    }
    let mut silent = timed;
    silent.claim = None;
    assert_eq!(residual(&silent), None);
}

/// A worker that hides `hidden_us` of 100 µs. Every second control window takes 120 µs longer.
fn judge_with_longer_control_windows(hidden_us: f64, change: fn(&mut OutputFacts)) -> Judgement {
    judge_clocked(
        |_| 100.0 - hidden_us,
        |_, control| {
            for window in control.iter_mut().step_by(2) {
                window.facts.s2_ns += 120_000;
                window.facts.s3_ns += 120_000;
                change(&mut window.facts.outputs[0]);
            }
        },
    )
}

#[test]
fn control_windows_with_a_changed_output_do_not_count() {
    for change in [(|output| output.digest_claimed = 1) as fn(&mut OutputFacts), |output| {
        output.digest_expected = 1
    }] {
        let judgement = judge_with_longer_control_windows(60.0, change);
        assert_eq!(
            (judgement.verdict, judgement.cause),
            (Verdict::TimeMismatch, Some(Cause::ClaimTooShort))
        );
        let honest = judge_with_longer_control_windows(0.0, change);
        assert_eq!((honest.verdict, honest.grade), (Verdict::Pass, Grade::Unverified));
        assert_eq!(
            honest.grade_reason.unwrap(),
            "an output changed in 10 of 20 control windows, where the call under test does not run"
        );
    }
}

#[test]
fn another_client_or_a_control_window_disturbed_after_the_end_lowers_the_grade() {
    let (tensors, control) = (tensors(), control_windows());
    let windows: Vec<_> = (1..=40).map(|number| clocked(number, 100.0)).collect();
    let mut afterwards = control_windows();
    afterwards.truncate(8);
    let reason = |afterwards: &[WindowEvidence], other_clients| {
        judge(&Evidence {
            clock_bound: &ClockBound::Exclusive,
            runs: vec![of_worker(&windows, &control)],
            surroundings: Surroundings {
                controls_afterwards: afterwards,
                other_clients: Some(other_clients),
                ..Surroundings::default()
            },
            ..evidence(&tensors, &windows, Ending::Stopped)
        })
        .grade_reason
    };
    assert_eq!(reason(&afterwards, 0), None);
    assert_eq!(reason(&afterwards, 1).unwrap(), "another process is using the device");
    assert_eq!(
        reason(&afterwards, 2).unwrap(),
        "2 other processes are using the device"
    );
    afterwards[7].facts.outputs[0].digest_claimed = 1;
    assert_eq!(
        reason(&afterwards, 0).unwrap(),
        "an output changed in 1 of 28 control windows, where the call under test does not run"
    );
}
