//! An arm with a simulated referee and workers: what its windows do to its verdict.

use std::time::{Duration, Instant};

use super::*;
use crate::measurement::simulated_case::{Stage, arm, claim, fault, right_facts, with_referee, worker};
use crate::verdict::TimeUse;
use gpubench_contract::{Cause, Grade, Verdict};
use gpubench_device::ClockBound;
use gpubench_protocol::wire::{Claim, WindowFacts, WindowOrder};

/// Every purpose of a window that makes a call.
fn purposes_with_calls() -> Vec<WindowPurpose> {
    use WindowKind::{EarlyCheck, Single, Timed};
    let repeats = NonZeroU32::new(7).unwrap();
    vec![
        WindowPurpose::WarmUp,
        WindowPurpose::Sample(Timed),
        WindowPurpose::Sample(EarlyCheck),
        WindowPurpose::Sample(Single),
        WindowPurpose::Unsampled(Timed),
        WindowPurpose::Unsampled(EarlyCheck),
        WindowPurpose::Energy(repeats),
        WindowPurpose::Steps,
    ]
}

/// An arm after its windows.
struct Seen {
    measured: Measured,
    is_active: bool,
}

fn finished(arm: Arm<'_>, context: &Context<'_>, other_clients: Option<u32>) -> Seen {
    let is_active = arm.is_active();
    let author = Confinement::Closed;
    let measured = arm.finish(&context.control, &context.sequencer.rests, other_clients, &author);
    Seen { measured, is_active }
}

/// Runs windows of a case with `calls` calls in each.
fn after(
    purposes: &[WindowPurpose],
    (calls, metric): (u32, MetricKind),
    claims: impl Fn(&WindowOrder) -> Claim + Send + 'static,
    facts: impl Fn(&WindowOrder) -> WindowFacts + Send + 'static,
) -> Seen {
    let stage = Stage::of(calls);
    let mut protocol = stage.protocol();
    protocol.metric.kind = metric;
    let case = ReadyCase {
        floor_ns: Some(100.0),
        ..stage.case()
    };
    let mut seen = None;
    with_referee(&protocol, &case, facts, |context| {
        let mut arm = arm(&protocol, &case, 0, vec![worker(claims)]);
        arm.begin_round();
        for purpose in purposes {
            arm.step(context, *purpose).unwrap();
        }
        seen = Some(finished(arm, context, Some(0)));
    });
    seen.unwrap()
}

#[test]
fn a_call_that_fails_in_any_phase_fails_its_case() {
    let metrics = [
        MetricKind::Time,
        MetricKind::Instructions,
        MetricKind::Memory,
        MetricKind::Hardware,
    ];
    for metric in metrics {
        for purpose in purposes_with_calls() {
            let right = |order: &WindowOrder| right_facts(order, 1);
            let in_time = |order: &WindowOrder| claim(order, 1e6);
            let passed = after(&[purpose], (1, metric), in_time, right);
            assert_eq!(
                passed.measured.judgement.verdict,
                Verdict::Pass,
                "{purpose:?} {metric:?}"
            );
            assert!(passed.is_active, "{purpose:?} {metric:?}");

            let wrong = |order: &WindowOrder| {
                let mut facts = right_facts(order, 1);
                facts.outputs[0].matched -= 1;
                facts
            };
            let late = |order: &WindowOrder| {
                let mut facts = right_facts(order, 1);
                facts.outputs[0].late_bytes = 8;
                facts
            };
            let failures = [
                (after(&[purpose], (1, metric), fault, right), Verdict::Crashed),
                (after(&[purpose], (1, metric), in_time, wrong), Verdict::WrongOutput),
                (after(&[purpose], (1, metric), in_time, late), Verdict::LateWrite),
            ];
            for (failed, verdict) in failures {
                let judgement = &failed.measured.judgement;
                assert_eq!(judgement.verdict, verdict, "{purpose:?} {metric:?}: {judgement:?}");
                assert!(!failed.is_active, "{purpose:?} {metric:?}");
            }
        }
    }
}

#[test]
fn a_wrong_output_is_followed_by_two_more_calls() {
    let wrong = |order: &WindowOrder| {
        let mut facts = right_facts(order, 1);
        facts.outputs[0].matched = 0;
        facts
    };
    let sample = WindowPurpose::Sample(WindowKind::Timed);
    let seen = after(&[sample], (1, MetricKind::Time), |order| claim(order, 1e6), wrong);
    assert_eq!(seen.measured.windows().count(), 3);
    assert_eq!(seen.measured.sample_count(), 0);
}

#[test]
fn a_window_without_a_call_that_faults_fails_the_case() {
    let right = |order: &WindowOrder| right_facts(order, 1);
    let seen = after(&[WindowPurpose::Empty], (1, MetricKind::Time), fault, right);
    assert_eq!(seen.measured.judgement.cause, Some(Cause::PlanInvalid));
    assert!(!seen.is_active);
}

#[test]
fn the_floor_of_a_window_is_that_of_all_its_calls() {
    let floor_of_one_ns = 100.0;
    let sample = WindowPurpose::Sample(WindowKind::Timed);
    for calls in [1, 5] {
        let verdict = |elapsed_ns: f64| {
            let claims = move |order: &WindowOrder| claim(order, elapsed_ns);
            let facts = move |order: &WindowOrder| right_facts(order, calls);
            after(&[sample], (calls, MetricKind::Time), claims, facts)
                .measured
                .judgement
                .verdict
        };
        let floor_ns = floor_of_one_ns * f64::from(calls);
        assert_eq!(verdict(floor_ns + 1.0), Verdict::Pass, "{calls}");
        assert_eq!(verdict(floor_ns - 1.0), Verdict::BelowFloor, "{calls}");
    }
}

#[test]
fn each_kind_of_sample_goes_to_its_own_list() {
    use WindowKind::{EarlyCheck, Single, Timed};
    let kinds = [Timed, Single, EarlyCheck, Timed, Single, Single];
    let purposes = kinds.map(WindowPurpose::Sample);
    let claims = |order: &WindowOrder| claim(order, 1_000.0 * f64::from(order.window));
    let facts = |order: &WindowOrder| right_facts(order, 2);
    let seen = after(&purposes, (2, MetricKind::Time), claims, facts);
    let run = &seen.measured.workers[0];
    assert_eq!(run.samples.values, [500.0, 2_000.0]);
    assert_eq!(run.parts.singles_ns, [2_000.0, 5_000.0, 6_000.0]);
    assert_eq!((run.windows.len(), run.last_call), (6, 6));
    assert_eq!(run.since_early, 1, "one sample follows the early check");
}

#[test]
fn windows_for_warm_up_and_energy_are_no_samples() {
    let purposes = [
        WindowPurpose::WarmUp,
        WindowPurpose::Sample(WindowKind::Timed),
        WindowPurpose::Energy(NonZeroU32::MIN),
        WindowPurpose::Steps,
    ];
    let claims = |order: &WindowOrder| Claim {
        parts: 1,
        part_ns: [f64::from(order.window); _],
        ..claim(order, 1_000.0)
    };
    let seen = after(&purposes, (1, MetricKind::Time), claims, |order| right_facts(order, 1));
    let run = &seen.measured.workers[0];
    let uses: Vec<TimeUse> = run.windows.iter().map(|window| window.time_use).collect();
    assert_eq!(
        uses,
        [TimeUse::WarmUp, TimeUse::Counts, TimeUse::Energy, TimeUse::Counts]
    );
    assert_eq!(run.warm_up.claims_ns, [1_000.0]);
    assert_eq!(run.samples.values, [1_000.0]);
    assert_eq!(run.parts.steps_ns, [[4.0]]);
}

#[test]
fn the_judge_sees_the_other_processes_on_the_device() {
    let stage = Stage::of(1);
    let protocol = Protocol {
        clock_bound: &ClockBound::Exclusive,
        ..stage.protocol()
    };
    let case = stage.case();
    let reason = |clients: Option<u32>| {
        let mut seen = None;
        with_referee(
            &protocol,
            &case,
            |order| right_facts(order, 1),
            |context| {
                let mut arm = arm(&protocol, &case, 0, vec![worker(|order| claim(order, 1e6))]);
                arm.begin_round();
                arm.step(context, WindowPurpose::WarmUp).unwrap();
                seen = Some(finished(arm, context, clients));
            },
        );
        let judgement = seen.unwrap().measured.judgement;
        assert_eq!(judgement.grade, Grade::Unverified, "there are too few windows, too");
        judgement.grade_reason.unwrap()
    };
    for (clients, are_told) in [(None, false), (Some(0), false), (Some(1), true), (Some(3), true)] {
        let reason = reason(clients);
        assert_eq!(reason.contains("using the device"), are_told, "{clients:?}: {reason}");
    }
}

#[test]
fn the_energy_of_a_window_is_divided_by_its_calls_and_repeats() {
    let stage = Stage::of(5);
    let (protocol, case) = (stage.protocol(), stage.case());
    with_referee(
        &protocol,
        &case,
        |order| right_facts(order, 5),
        |context| {
            let mut arm = arm(&protocol, &case, 0, vec![worker(|order| claim(order, 1e8))]);
            arm.begin_round();
            let repeats = NonZeroU32::new(20).unwrap();
            arm.step(context, WindowPurpose::Energy(repeats)).unwrap();
            let at = Instant::now();
            let reading = |joules, after| EnergyReading { joules, at: at + after };
            let readings = [
                reading(500.0, Duration::ZERO),
                reading(700.0, Duration::from_millis(100)),
            ];
            arm.note_energy(readings, repeats);
            let energy = arm.run().energy.unwrap();
            assert_eq!(energy.per_call_j, 2.0);
            assert_eq!(energy.resolution_j, 0.0, "the calls took all of the time");
        },
    );
}
