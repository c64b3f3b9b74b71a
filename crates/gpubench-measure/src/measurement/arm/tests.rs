//! An arm with a simulated referee and workers: what its windows do to its verdict.

use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use super::*;
use crate::clients::{Child, RoleName, WorkerPast};
use crate::measurement::simulated_case::{
    Stage, arm, claim, fault, right_facts, with_referee, with_right_referee, worker,
};
use crate::measurement::wrong_call::{WrongCall, WrongCallKeeper};
use crate::verdict::TimeUse;
use gpubench_contract::{Cause, Grade, Verdict};
use gpubench_device::ClockBound;
use gpubench_protocol::wire::{Claim, Contents, Patience, WindowFacts, WindowOrder, from_worker};
use gpubench_stats::{StopRule, WorkerCountRule};

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

/// Keeps the number of each call, and the first byte of each tensor.
#[derive(Debug, Default)]
struct Keeper(std::cell::RefCell<Vec<(u32, Vec<u8>)>>);

impl WrongCallKeeper for Keeper {
    fn keep(&self, call: &mut WrongCall<'_>) -> Result<String, RoleFailure> {
        let mut firsts = Vec::new();
        for position in 0..call.tensors.len() {
            call.for_each_piece(position, Contents::Got, |piece| {
                assert_eq!(piece.len(), 16);
                firsts.push(piece[0]);
                Ok::<_, RoleFailure>(())
            })?;
        }
        self.0.borrow_mut().push((call.number, firsts));
        Ok("kept in `here`".to_owned())
    }
}

#[test]
fn the_tensors_of_the_first_wrong_call_are_kept_and_the_message_says_where() {
    for (calls, wrong) in [(1, 0), (3, 0), (3, 2)] {
        let facts = move |order: &WindowOrder| {
            let mut facts = right_facts(order, calls);
            facts.outputs[wrong].matched -= u64::from(order.window >= 2);
            facts
        };
        let (stage, keeper) = (Stage::of(calls), Keeper::default());
        let (protocol, case) = (stage.protocol(), stage.case());
        with_referee(&protocol, &case, facts, |context| {
            let mut arm = arm(&protocol, &case, 0, vec![worker(|order| claim(order, 1e6))]);
            arm.turn.entrant.keeper = Some(&keeper);
            arm.begin_round();
            for _ in 0..4 {
                arm.step(context, WindowPurpose::Sample(WindowKind::Timed)).unwrap();
            }
            let message = finished(arm, context, None).measured.message().unwrap();
            assert!(message.ends_with("\nkept in `here`"), "{message}");
        });
        assert_eq!(*keeper.0.borrow(), [(2, vec![wrong as u8])], "{calls}");
    }
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
        with_right_referee(&protocol, &case, |context| {
            let mut arm = arm(&protocol, &case, 0, vec![worker(|order| claim(order, 1e6))]);
            arm.begin_round();
            arm.step(context, WindowPurpose::WarmUp).unwrap();
            seen = Some(finished(arm, context, clients));
        });
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

#[test]
fn energy_windows_are_repeated_by_the_time_of_all_their_calls() {
    let stage = Stage::of(5);
    let (protocol, case) = (stage.protocol(), stage.case());
    let mut recording = case.recording.clone();
    recording.tensors[4].role = gpubench::catalog::Role::InOut;
    let changing = ReadyCase {
        recording: &recording,
        ..stage.case()
    };
    for (case, repeats) in [
        // 200 windows of 5 ms take a second.
        (&case, Ok(200)),
        (&changing, Err(energy::CHANGES_INPUTS.to_owned())),
    ] {
        let mut arm = arm(&protocol, case, 0, Vec::new());
        arm.runs.push(WorkerRun::default());
        arm.run_mut().samples.values = vec![1e6];
        assert_eq!(arm.energy_repeats().map(NonZeroU32::get), repeats);
    }
}

#[test]
fn an_impossible_overhead_of_a_worker_is_no_overhead() {
    let stage = Stage::of(1);
    let (protocol, case) = (stage.protocol(), stage.case());
    for (told, kept) in [
        (0.0, Some(0.0)),
        (1_200.0, Some(1_200.0)),
        (-1.0, None),
        (f64::NAN, None),
        (f64::INFINITY, None),
    ] {
        let mut arm = arm(&protocol, &case, 0, Vec::new());
        arm.runs.push(WorkerRun::default());
        arm.admit(ReadyWorker {
            worker: worker(fault),
            confinement: Confinement::Closed,
            start: Start::Ready(told),
        });
        assert_eq!(
            (arm.run().overhead_ns, arm.run().past),
            (kept, WorkerPast::New),
            "{told}"
        );
        assert!(arm.is_active());
    }
}

#[test]
fn a_refused_set_up_ends_the_arm() {
    let stage = Stage::of(1);
    let (protocol, case) = (stage.protocol(), stage.case());
    let mut arm = arm(&protocol, &case, 0, Vec::new());
    arm.runs.push(WorkerRun::default());
    let message = "there is no plan".to_owned();
    arm.admit(ReadyWorker {
        worker: worker(fault),
        confinement: Confinement::Closed,
        start: Start::Refused(message.clone()),
    });
    assert_eq!(arm.ending, Ending::SetUpFailed { message });
    assert!(!arm.is_active());
}

#[test]
fn a_worker_takes_no_more_samples_than_it_may_whatever_it_stopped_for() {
    for reason in [StopReason::MaxSamples, StopReason::TargetCv] {
        for (samples, has_enough) in [(7, false), (8, true)] {
            let stage = Stage::of(2);
            let protocol = Protocol {
                worker_count: WorkerCountRule::exactly(2.try_into().unwrap()),
                stop: StopRule {
                    max_samples: 16,
                    ..StopRule::default()
                },
                ..stage.protocol()
            };
            let case = stage.case();
            let mut arm = arm(&protocol, &case, 0, Vec::new());
            let mut run = stopped(Some(reason), 0, Duration::ZERO);
            run.samples.values = vec![1.0; samples];
            arm.runs = vec![run];
            assert_eq!(arm.has_enough(), has_enough, "{reason:?} {samples}");
        }
    }
}

/// A worker that stopped for a reason, with this many windows of one call alone.
fn stopped(reason: Option<StopReason>, singles: usize, sampled_for: Duration) -> WorkerRun {
    let mut run = WorkerRun {
        stop: reason,
        sampled_for,
        ..WorkerRun::default()
    };
    run.parts.singles_ns = vec![1.0; singles];
    run
}

#[test]
fn a_worker_has_enough_with_its_share_of_windows_with_one_call() {
    use StopReason::TargetCv;
    let (soon, late) = (Duration::ZERO, Duration::from_secs(30));
    for (calls, runs, has_enough) in [
        (1, vec![stopped(None, 0, soon)], false),
        (1, vec![stopped(Some(TargetCv), 0, soon)], true),
        (2, vec![stopped(None, 99, soon)], false),
        (2, vec![stopped(Some(TargetCv), 5, soon)], false),
        (2, vec![stopped(Some(TargetCv), 6, soon)], true),
        (
            2,
            vec![stopped(Some(TargetCv), 6, soon), stopped(Some(TargetCv), 5, soon)],
            false,
        ),
        (
            2,
            vec![stopped(Some(TargetCv), 6, soon), stopped(Some(TargetCv), 6, soon)],
            true,
        ),
        // The case needs no more than twelve however many workers it has.
        (
            2,
            [6, 3, 2, 1]
                .map(|singles| stopped(Some(TargetCv), singles, soon))
                .into(),
            true,
        ),
        (
            2,
            [6, 3, 1, 1]
                .map(|singles| stopped(Some(TargetCv), singles, soon))
                .into(),
            false,
        ),
        (2, vec![stopped(Some(TargetCv), 2, late)], false),
        (2, vec![stopped(Some(TargetCv), 3, late)], true),
    ] {
        let stage = Stage::of(calls);
        let protocol = Protocol {
            worker_count: WorkerCountRule::exactly(2.try_into().unwrap()),
            stop: StopRule {
                max_time: Duration::from_secs(10),
                ..StopRule::default()
            },
            ..stage.protocol()
        };
        let case = stage.case();
        let mut arm = arm(&protocol, &case, 0, Vec::new());
        arm.runs = runs;
        assert_eq!(arm.has_enough(), has_enough, "{calls}: {:?}", arm.runs);
    }
}

#[test]
fn control_windows_of_one_call_end_when_there_are_enough() {
    let stage = Stage::of(2);
    let (case, absent) = (stage.case(), ClockBound::Absent("it is simulated".into()));
    for (clock_bound, singles, are_wanted) in [
        (&ClockBound::Exclusive, 0, true),
        (&ClockBound::Exclusive, ENOUGH_SINGLES - 1, true),
        (&ClockBound::Exclusive, ENOUGH_SINGLES, false),
        (&absent, 0, false),
    ] {
        let protocol = Protocol {
            clock_bound,
            ..stage.protocol()
        };
        with_referee(
            &protocol,
            &case,
            |order| right_facts(order, 2),
            |context| {
                let mut arm = arm(&protocol, &case, 0, Vec::new());
                arm.runs.push(WorkerRun::default());
                let window = WindowEvidence::new(Box::new(bytemuck::Zeroable::zeroed()), None);
                arm.run_mut().controls.singles = vec![window; singles];
                assert_eq!(
                    arm.wants_single_control(context),
                    are_wanted,
                    "{clock_bound:?} {singles}"
                );
            },
        );
    }
}

#[test]
fn samples_are_taken_again_only_of_timed_calls_and_while_there_is_time() {
    for (metric, stop, can_take_again) in [
        (MetricKind::Time, None, true),
        (MetricKind::Time, Some(StopReason::TargetCv), true),
        (MetricKind::Time, Some(StopReason::MaxTime), false),
        (MetricKind::Instructions, None, false),
    ] {
        let stage = Stage::of(1);
        let mut protocol = stage.protocol();
        protocol.metric.kind = metric;
        let case = stage.case();
        let mut arm = arm(&protocol, &case, 0, vec![worker(fault)]);
        arm.begin_round();
        arm.run_mut().stop = stop;
        assert_eq!(arm.can_take_again(), can_take_again, "{metric:?} {stop:?}");
        arm.end_round();
        assert!(!arm.can_take_again(), "there is no worker");
    }
}

#[test]
fn a_test_names_the_order_of_threads_from_its_second_process_on() {
    for (mode, workers, schedule) in [
        (RunMode::Test, 1, None),
        (RunMode::Test, 2, Some(8)),
        (RunMode::Test, 3, Some(9)),
        (RunMode::Test, 4, None),
        (RunMode::Measure, 2, None),
    ] {
        let stage = Stage::of(1);
        let protocol = Protocol {
            mode,
            schedules: &[7, 8, 9],
            ..stage.protocol()
        };
        let case = stage.case();
        let mut arm = arm(&protocol, &case, 0, Vec::new());
        arm.runs.resize_with(workers, WorkerRun::default);
        assert_eq!(arm.schedule(), schedule, "{mode:?} {workers}");
    }
}

#[test]
fn a_test_tells_that_only_later_calls_of_the_process_are_wrong() {
    for (wrong_from, is_told) in [(1, false), (2, true), (3, true)] {
        let stage = Stage::of(1);
        let protocol = Protocol {
            mode: RunMode::Test,
            ..stage.protocol()
        };
        let case = stage.case();
        let facts = move |order: &WindowOrder| {
            let mut facts = right_facts(order, 1);
            facts.outputs[0].matched -= u64::from(order.window >= wrong_from);
            facts
        };
        with_referee(&protocol, &case, facts, |context| {
            let mut arm = arm(&protocol, &case, 0, vec![worker(|order| claim(order, 1e6))]);
            arm.begin_round();
            for _ in 0..3 {
                arm.step(context, WindowPurpose::Unsampled(WindowKind::EarlyCheck))
                    .unwrap();
            }
            let message = finished(arm, context, None).measured.judgement.message.unwrap();
            let told = message.contains("the first call in the process was right");
            assert_eq!(told, is_told, "{wrong_from}: {message}");
        });
    }
}

#[test]
fn a_case_stopped_only_if_each_of_its_workers_has_enough() {
    let stage = Stage::of(1);
    let (protocol, case) = (stage.protocol(), stage.case());
    let target = Some(StopReason::TargetCv);
    for (stops, expected) in [
        (vec![target], target),
        (vec![target, Some(StopReason::MaxTime)], Some(StopReason::MaxTime)),
        (vec![target, None], None),
        (vec![None, target], None),
        (vec![None], None),
    ] {
        with_right_referee(&protocol, &case, |context| {
            let mut arm = arm(&protocol, &case, 0, Vec::new());
            arm.runs = stops.iter().map(|stop| stopped(*stop, 0, Duration::ZERO)).collect();
            let has_succeeded = stops.iter().all(Option::is_some);
            assert_eq!(arm.can_continue(), has_succeeded);
            assert_eq!(finished(arm, context, None).measured.stop, expected, "{stops:?}");
        });
    }
}

/// Returns how many workers a case is to have after three whose claims agree. The windows of each
/// take up to `spread_ns` more by the referee's clock than its claims.
fn workers_after_three_with_a_spread_of(spread_ns: u64) -> usize {
    let stage = Stage::of(1);
    let protocol = Protocol {
        clock_bound: &ClockBound::Exclusive,
        worker_count: WorkerCountRule::until_known(NonZeroUsize::new(10).unwrap()),
        ..stage.protocol()
    };
    let case = stage.case();
    let facts = move |order: &WindowOrder| {
        let facts = right_facts(order, 1);
        let longer = u64::from(order.window % 8) * spread_ns / 7;
        WindowFacts {
            s2_ns: facts.s2_ns + longer,
            ..facts
        }
    };
    let mut number = 0;
    with_referee(&protocol, &case, facts, |context| {
        let workers = (0..3).map(|_| worker(|order| claim(order, 2e4)));
        let mut arm = arm(&protocol, &case, 0, workers.collect());
        for _ in 0..3 {
            arm.begin_round();
            for _ in 0..20 {
                arm.step(context, WindowPurpose::Sample(WindowKind::Timed)).unwrap();
            }
            arm.catch_up(context, 3).unwrap();
            arm.end_round();
        }
        number = arm.workers_to_have();
    });
    number
}

#[test]
fn workers_that_agree_are_not_enough_for_a_bound_that_says_little() {
    assert_eq!(workers_after_three_with_a_spread_of(7_000), 3);
    assert_eq!(workers_after_three_with_a_spread_of(700_000), 5);
}

#[test]
fn samples_have_control_windows_between_them_and_more_if_the_key_draws_few() {
    let stage = Stage::of(1);
    let protocol = Protocol {
        clock_bound: &ClockBound::Exclusive,
        ..stage.protocol()
    };
    let case = stage.case();
    with_right_referee(&protocol, &case, |context| {
        let mut arm = arm(&protocol, &case, 0, vec![worker(|order| claim(order, 1e6))]);
        arm.begin_round();
        for _ in 0..24 {
            arm.step(context, WindowPurpose::Sample(WindowKind::Timed)).unwrap();
        }
        let drawn = arm.run().controls.windows.len();
        assert!((3..24).contains(&drawn), "{drawn} among 24 samples");
        assert!(arm.run().sampled_for > Duration::ZERO);
        assert_eq!(arm.sample_count(), 24);
        arm.catch_up(context, 1).unwrap();
        assert!(arm.run().controls.windows.len() > drawn);
        assert!(arm.controls.caught_up_for > Duration::ZERO);
        assert!(arm.is_active());
    });
}

#[test]
fn a_case_is_complete_once_its_first_workers_have_enough() {
    let stage = Stage::of(1);
    let protocol = Protocol {
        worker_count: WorkerCountRule::exactly(2.try_into().unwrap()),
        ..stage.protocol()
    };
    let case = stage.case();
    for (workers, is_complete) in [(0, false), (1, false), (2, true), (3, true)] {
        let mut arm = arm(&protocol, &case, 0, Vec::new());
        arm.runs
            .resize_with(workers, || stopped(Some(StopReason::TargetCv), 0, Duration::ZERO));
        assert_eq!(arm.is_complete(), is_complete, "{workers}");
    }
}

#[test]
fn a_worker_is_warm_only_after_a_call() {
    let stage = Stage::of(1);
    let mut protocol = stage.protocol();
    protocol.warm_up.max_windows = 0;
    let case = stage.case();
    let mut arm = arm(&protocol, &case, 0, Vec::new());
    for (last_call, is_warm) in [(0, false), (1, true)] {
        arm.runs = vec![WorkerRun {
            last_call,
            ..WorkerRun::default()
        }];
        assert_eq!(arm.is_warm(), is_warm, "{last_call}");
    }
}

#[test]
fn counts_have_no_parts_and_no_calls_alone() {
    let memset = gpubench::plan::Step::Memset {
        target: gpubench::plan::Span {
            buffer: gpubench::plan::BufferId::Tensor(0),
            offset: 0,
            len: 4,
        },
        value: 0,
    };
    for (calls, kind, parts, drawn) in [
        (1, MetricKind::Time, TIMES_OF_PART, DrawnCalls::All),
        (2, MetricKind::Time, TIMES_OF_PART, DrawnCalls::AllOrFirst),
        (1, MetricKind::Instructions, 0, DrawnCalls::All),
        (2, MetricKind::Instructions, 0, DrawnCalls::All),
    ] {
        let stage = Stage::of(calls).with(|recording| recording.plan.steps = vec![memset.clone(); 2]);
        let mut protocol = stage.protocol();
        protocol.metric.kind = kind;
        let mut case = stage.case();
        case.calls.mode = gpubench_contract::Mode::Cold;
        let arm = arm(&protocol, &case, 0, Vec::new());
        assert_eq!(
            (arm.windows_for_parts(), arm.drawn_calls()),
            (parts, drawn),
            "{calls} {kind:?}"
        );
    }
}

#[test]
fn the_outputs_of_one_call_decide_whether_a_check_may_be_blind() {
    use gpubench_protocol::wire::OtherAnswer::{Fails, NotAsked, Passes};
    let stage = Stage::of(2);
    let (protocol, case) = (stage.protocol(), stage.case());
    for (answers, may_be_blind) in [
        ([Passes, NotAsked], true),
        ([Fails, Passes], false),
        ([NotAsked; 2], false),
    ] {
        let mut facts: WindowFacts = bytemuck::Zeroable::zeroed();
        facts.output_count = 2;
        for (output, answer) in facts.outputs.iter_mut().zip(answers) {
            output.zeros = answer as u64;
        }
        let mut arm = arm(&protocol, &case, 0, Vec::new());
        arm.runs.push(WorkerRun {
            windows: vec![WindowEvidence::new(Box::new(facts), None)],
            ..WorkerRun::default()
        });
        assert_eq!(arm.check_may_be_blind(), may_be_blind, "{answers:?}");
    }
}

#[test]
fn a_measurement_says_nothing_about_the_first_call_of_the_process() {
    let stage = Stage::of(1);
    let (protocol, case) = (stage.protocol(), stage.case());
    let facts = |order: &WindowOrder| {
        let mut facts = right_facts(order, 1);
        facts.outputs[0].matched -= u64::from(order.window > 1);
        facts
    };
    with_referee(&protocol, &case, facts, |context| {
        let mut arm = arm(&protocol, &case, 0, vec![worker(|order| claim(order, 1e6))]);
        arm.begin_round();
        for _ in 0..2 {
            arm.step(context, WindowPurpose::Sample(WindowKind::Timed)).unwrap();
        }
        let message = finished(arm, context, None).measured.judgement.message.unwrap();
        assert!(
            !message.contains("the first call in the process was right"),
            "{message}"
        );
    });
}

#[test]
fn the_first_reason_to_stop_and_the_time_of_all_samples_are_kept() {
    let stage = Stage::of(1);
    let mut protocol = stage.protocol();
    protocol.stop.max_samples = 1;
    let case = stage.case();
    with_right_referee(&protocol, &case, |context| {
        let mut arm = arm(&protocol, &case, 0, vec![worker(|order| claim(order, 1e6))]);
        arm.begin_round();
        arm.run_mut().sampled_for = Duration::from_secs(100);
        arm.step(context, WindowPurpose::Sample(WindowKind::Timed)).unwrap();
        assert_eq!(arm.run().stop, Some(StopReason::MaxSamples));
        arm.run_mut().stop = Some(StopReason::TargetCv);
        arm.step(context, WindowPurpose::Sample(WindowKind::Timed)).unwrap();
        assert_eq!(arm.run().stop, Some(StopReason::TargetCv));
        assert!(arm.run().sampled_for > Duration::from_secs(100));
    });
}

#[test]
fn every_control_window_has_a_number_of_its_own() {
    let stage = Stage::of(1);
    let protocol = Protocol {
        clock_bound: &ClockBound::Exclusive,
        ..stage.protocol()
    };
    let case = stage.case();
    let released = with_right_referee(&protocol, &case, |context| {
        let mut arm = arm(&protocol, &case, 0, vec![worker(|order| claim(order, 1e6))]);
        arm.begin_round();
        arm.catch_up(context, 1).unwrap();
        assert_eq!(context.controls, arm.run().controls.windows.len());
    });
    let numbers: std::collections::BTreeSet<u32> = released.iter().map(|order| order.window).collect();
    assert!(numbers.len() == released.len() && released.len() > 1, "{released:?}");
}

#[test]
fn only_a_complete_case_has_control_windows_after_its_end() {
    let stage = Stage::of(1).with(|recording| recording.execution = gpubench::catalog::Execution::Hosted);
    let protocol = Protocol {
        clock_bound: &ClockBound::Exclusive,
        ..stage.protocol()
    };
    let case = stage.case();
    with_right_referee(&protocol, &case, |context| {
        for (stop, numbers) in [
            (None, 0),
            (Some(StopReason::TargetCv), crate::measurement::controls::AFTERWARDS),
        ] {
            let mut arm = arm(&protocol, &case, 0, Vec::new());
            arm.runs.push(stopped(stop, 0, Duration::ZERO));
            context.controls = 0;
            arm.run_final_control_windows(context).unwrap();
            assert_eq!(context.controls, numbers, "{stop:?}");
        }
    });
}

#[test]
fn an_end_during_the_diagnosis_of_a_wrong_call_does_not_count() {
    let stage = Stage::of(1);
    let (protocol, case) = (stage.protocol(), stage.case());
    let wrong = |order: &WindowOrder| {
        let mut facts = right_facts(order, 1);
        facts.outputs[0].matched = 0;
        facts
    };
    // A claim about another window breaks the protocol.
    let claims = |order: &WindowOrder| Claim {
        window: order.window + u32::from(order.window > 1),
        ..claim(order, 1e6)
    };
    with_referee(&protocol, &case, wrong, |context| {
        let mut arm = arm(&protocol, &case, 0, vec![worker(claims)]);
        arm.begin_round();
        arm.step(context, WindowPurpose::Sample(WindowKind::Timed)).unwrap();
        assert_eq!((arm.run().windows.len(), &arm.ending), (2, &Ending::Stopped));
    });
}

/// Returns a worker that has written something, and then claims a fault or makes no claim and
/// leaves.
fn worker_with_last_words(claim: Option<fn(&WindowOrder) -> Claim>) -> WorkerClient {
    let (child, broker) = Child::simulated_after(RoleName::Worker, "last words");
    std::thread::spawn(move || {
        let frame = broker.receive(Patience::at_most(Duration::from_secs(600))).unwrap();
        let order: WindowOrder = frame.record().unwrap();
        broker.send_record(from_worker::ARMED, &order).unwrap();
        if let Some(claim) = claim {
            broker.send_record(from_worker::CLAIM, &claim(&order)).unwrap();
            // Until the worker is ended.
            let _ = broker.receive(Patience::at_most(Duration::from_secs(600)));
        }
    });
    WorkerClient::simulated(child)
}

#[test]
fn the_message_of_a_worker_that_fails_has_its_last_output_once() {
    for claim in [None, Some(fault as fn(&WindowOrder) -> Claim)] {
        let stage = Stage::of(1);
        let (protocol, case) = (stage.protocol(), stage.case());
        let mut seen = None;
        with_right_referee(&protocol, &case, |context| {
            let mut arm = arm(&protocol, &case, 0, vec![worker_with_last_words(claim)]);
            arm.begin_round();
            arm.step(context, WindowPurpose::Sample(WindowKind::Timed)).unwrap();
            seen = Some(finished(arm, context, Some(0)));
        });
        let judgement = seen.unwrap().measured.judgement;
        let message = judgement.message.unwrap_or_default();
        assert_eq!(judgement.verdict, Verdict::Crashed, "{message}");
        assert_eq!(message.matches("last words").count(), 1, "{message}");
    }
}

#[test]
fn only_the_differences_of_wrong_outputs_are_located() {
    let facts = |order: &WindowOrder| {
        let mut facts = right_facts(order, 3);
        for wrong in [0, 2] {
            facts.outputs[wrong].matched = 0;
        }
        facts
    };
    let sample = WindowPurpose::Sample(WindowKind::Timed);
    let seen = after(&[sample], (3, MetricKind::Time), |order| claim(order, 1e6), facts);
    let window = seen.measured.windows().next().unwrap();
    let located: Vec<u64> = window.differences.iter().map(|found| found.tensor).collect();
    assert_eq!(located, [0, 2]);
}

#[test]
fn a_worker_is_noted_with_its_own_number() {
    let stage = Stage::of(1).with(|recording| recording.execution = gpubench::catalog::Execution::Hosted);
    let (protocol, case) = (stage.protocol(), stage.case());
    let open = || Confinement::Open("no filter".to_owned());
    let mut arm = arm(&protocol, &case, 0, Vec::new());
    for confinement in [open(), Confinement::Closed] {
        arm.runs.push(WorkerRun {
            past: WorkerPast::Rested,
            ..WorkerRun::default()
        });
        arm.admit(ReadyWorker {
            worker: worker(fault),
            confinement,
            start: Start::Ready(0.0),
        });
        assert_eq!(arm.run().past, WorkerPast::New);
    }
    assert_eq!(arm.sandboxes.execution, crate::verdict::Execution::Hosted(open()));
}

#[test]
fn a_worker_that_never_is_ready_ends_its_case_unless_the_tool_is_to_blame() {
    use crate::clients::{End, ObserverProgram, ObserverTask};
    let observer = ObserverProgram {
        path: "/bin/compute-sanitizer".into(),
        task: ObserverTask::Sanitize(gpubench_contract::SanitizerTool::Memcheck),
    };
    let log = || "last words".to_owned();
    let (end, within) = (End::Exited(3), Duration::from_secs(9));
    let role = RoleName::Worker;
    let ended = || RoleFailure::Ended { role, end, log: log() };
    let silent = || RoleFailure::Silent { role, within };
    let plan = || RoleFailure::Plan { text: log() };
    for (failure, observer, ending, lost) in [
        (ended(), None, Ending::WorkerEnded { end, log: log() }, None),
        (ended(), Some(&observer), Ending::Stopped, Some("ObserverEnded")),
        (silent(), None, Ending::TimedOut { within }, None),
        (plan(), None, Ending::Stopped, Some("Plan")),
    ] {
        let stage = Stage::of(1);
        let protocol = Protocol {
            observer,
            ..stage.protocol()
        };
        let case = stage.case();
        let mut arm = arm(&protocol, &case, 0, Vec::new());
        arm.pool = arm.pool.failing(failure);
        arm.begin_round();
        assert_eq!(
            (&arm.ending, arm.is_active(), arm.can_continue()),
            (&ending, false, false)
        );
        let found = arm.lost.map(|lost| format!("{lost:?}"));
        assert_eq!(found.is_some(), lost.is_some());
        assert!(found.is_none_or(|found| found.starts_with(lost.unwrap())));
    }
}
