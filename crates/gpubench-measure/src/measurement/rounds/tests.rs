//! Rounds with a simulated referee and workers: the order of the windows, and what is taken again.

use super::*;

mod places;

use crate::clients::{ObserverProgram, ObserverTask};
use crate::measurement::case::{Entrant, ReadyCase, Standing, TurnCase};
use crate::measurement::simulated_case::{
    Stage, arm, arm_of, claim, fault, right_facts, with_referee, with_right_referee, worker,
};
use crate::measurement::submissions::{SubmissionCount, SubmissionCounter};
use gpubench_contract::SanitizerTool;
use gpubench_device::telemetry::{EnergyReading, Throttling};
use gpubench_protocol::wire::{Claim, OtherAnswer, OutputFacts, WindowOrder};
use gpubench_stats::{StopRule, WorkerCountRule};

/// A rule that only numbers and the time on the device fulfil.
fn stop(min_samples: usize, max_samples: usize) -> StopRule {
    StopRule {
        target_cv: 0.0,
        median_interval: -1.0,
        min_samples,
        max_samples,
        step: -1.0,
        plateau: None,
        ..StopRule::default()
    }
}

/// Returns the rounds of two arms with a worker each.
fn rounds<'a>(
    protocol: &'a Protocol<'a>,
    case: &'a ReadyCase<'a>,
    claims: [fn(&WindowOrder) -> Claim; 2],
) -> Rounds<'a> {
    let arms = claims.into_iter().enumerate();
    let arms = arms.map(|(position, claims)| arm(protocol, case, position, vec![worker(claims)]));
    rounds_of(arms.collect(), 1, protocol)
}

fn rounds_of<'a>(arms: Vec<Arm<'a>>, first: usize, protocol: &'a Protocol<'a>) -> Rounds<'a> {
    Rounds {
        arms,
        question: None,
        first,
        test_calls: CALLS_OF_TEST,
        energy: protocol.energy,
        retakes: Retakes::of_case(&protocol.stop),
        placements: None,
        case: 0,
        seeds: protocol.seeds,
    }
}

/// Tells of throttling by the number of samples, and has an energy counter. Counts the samples that
/// are thrown away.
struct Thermometer {
    samples: usize,
    throttles: fn(usize) -> Throttling,
    thrown_away: usize,
    energy_readings: usize,
}

impl Thermometer {
    fn that_finds(throttles: fn(usize) -> Throttling) -> Thermometer {
        Thermometer {
            samples: 0,
            throttles,
            thrown_away: 0,
            energy_readings: 0,
        }
    }
}

impl Watcher for Thermometer {
    fn energy(&mut self) -> Option<EnergyReading> {
        self.energy_readings += 1;
        Some(EnergyReading {
            joules: self.energy_readings as f64,
            at: Instant::now(),
        })
    }

    fn sampled(&mut self, of_workers: &[&[f64]]) {
        self.samples = of_workers.iter().map(|samples| samples.len()).sum();
    }

    fn throttling(&mut self) -> Throttling {
        (self.throttles)(self.samples)
    }

    fn thrown_away(&mut self, samples: usize) {
        self.thrown_away += samples;
    }
}

fn short(order: &WindowOrder) -> Claim {
    claim(order, 1e3 + f64::from(order.window))
}

fn long(order: &WindowOrder) -> Claim {
    claim(order, 1e6 + f64::from(order.window))
}

#[test]
fn neither_arm_always_follows_the_other() {
    let stage = Stage::of(1);
    let protocol = Protocol {
        stop: stop(40, 40),
        ..stage.protocol()
    };
    let case = stage.case();
    let mut samples = Vec::new();
    let released = with_right_referee(&protocol, &case, |context| {
        let mut rounds = rounds(&protocol, &case, [short, short]);
        let mut watcher = Thermometer::that_finds(|_| Throttling::Absent);
        rounds.run(RunMode::Measure, context, &mut watcher).unwrap();
        samples = rounds.arms.iter().map(Arm::sample_count).collect();
    });
    assert_eq!(samples, [40, 40]);
    let laps: Vec<[usize; 2]> = released
        .chunks(2)
        .map(|lap| [lap[0].owner.position(), lap[1].owner.position()])
        .collect();
    let first = laps.iter().filter(|lap| **lap == [0, 1]).count();
    let second = laps.iter().filter(|lap| **lap == [1, 0]).count();
    assert_eq!(first + second, laps.len(), "each lap has a window of each: {laps:?}");
    assert!(first.min(second) >= 10, "{first} and {second} times first");
    assert!(
        released.chunks(2).all(|lap| lap[0].kind == lap[1].kind),
        "they are alike"
    );
}

#[test]
fn samples_of_all_arms_are_taken_again_together() {
    let stage = Stage::of(1);
    let protocol = Protocol {
        stop: stop(6, 6),
        ..stage.protocol()
    };
    let case = stage.case();
    with_right_referee(&protocol, &case, |context| {
        let mut rounds = rounds(&protocol, &case, [short, long]);
        let mut watcher = Thermometer::that_finds(|samples| match samples {
            6 => Throttling::Found(2),
            _ => Throttling::Absent,
        });
        watcher.samples = 0;
        rounds.run(RunMode::Measure, context, &mut watcher).unwrap();
        // The last sample is found throttled each time, until no more may be taken again.
        assert_eq!(watcher.thrown_away, 6);
        for arm in &rounds.arms {
            assert_eq!(arm.sample_count(), 6);
        }
    });
}

#[test]
fn nothing_is_taken_again_while_only_some_arms_have_samples() {
    let stage = Stage::of(1);
    let protocol = Protocol {
        stop: StopRule {
            sample_time: Duration::from_millis(5),
            ..stop(5, 20)
        },
        ..stage.protocol()
    };
    let case = stage.case();
    with_right_referee(&protocol, &case, |context| {
        let mut rounds = rounds(&protocol, &case, [long, short]);
        let mut watcher = Thermometer::that_finds(|samples| match samples {
            ..=5 => Throttling::Absent,
            _ => Throttling::Found(1),
        });
        rounds.run(RunMode::Measure, context, &mut watcher).unwrap();
        let samples: Vec<usize> = rounds.arms.iter().map(Arm::sample_count).collect();
        assert_eq!(samples, [5, 20]);
        assert_eq!(watcher.thrown_away, 0, "samples with the same number are close in time");
    });
}

/// Returns the numbers of windows of each of two arms.
fn windows_of_arms(released: &[WindowOrder]) -> [usize; 2] {
    [0, 1].map(|arm| released.iter().filter(|order| order.owner.position() == arm).count())
}

fn cool() -> Thermometer {
    Thermometer::that_finds(|_| Throttling::Absent)
}

#[test]
fn an_arm_that_failed_has_no_further_rounds() {
    let stage = Stage::of(1);
    let protocol = Protocol {
        stop: stop(4, 4),
        worker_count: WorkerCountRule::exactly(2.try_into().unwrap()),
        ..stage.protocol()
    };
    let case = stage.case();
    let fails = |order: &WindowOrder| if order.window > 2 { fault(order) } else { short(order) };
    let released = with_right_referee(&protocol, &case, |context| {
        let arms = vec![
            arm(&protocol, &case, 0, vec![worker(fails)]),
            arm(&protocol, &case, 1, vec![worker(short), worker(short)]),
        ];
        let mut rounds = rounds_of(arms, 2, &protocol);
        rounds.run(RunMode::Measure, context, &mut cool()).unwrap();
        let go_on: Vec<bool> = rounds.arms.iter().map(Arm::can_continue).collect();
        assert_eq!(go_on, [false, true]);
        assert_eq!(rounds.arms[1].sample_count(), 4);
    });
    let [failed, other] = windows_of_arms(&released);
    assert_eq!(failed, 2, "a warm-up and the call that faulted");
    assert!(
        other >= 2 + 4,
        "a warm-up in each of two rounds, and four samples: {other}"
    );
}

#[test]
fn without_a_judged_arm_the_others_stop() {
    let stage = Stage::of(1);
    let protocol = Protocol {
        stop: stop(40, 40),
        ..stage.protocol()
    };
    let case = stage.case();
    let released = with_right_referee(&protocol, &case, |context| {
        let arms = vec![
            arm(&protocol, &case, 0, vec![worker(fault)]),
            arm_of(Standing::Compared, &protocol, &case, 1, vec![worker(short)]),
        ];
        let mut rounds = rounds_of(arms, 1, &protocol);
        rounds.run(RunMode::Measure, context, &mut cool()).unwrap();
    });
    let [judged, compared] = windows_of_arms(&released);
    assert_eq!(judged, 1);
    assert!(compared <= 1, "{compared} windows after the judged one failed");
}

#[test]
fn the_energy_is_measured_once_and_only_of_judged_arms() {
    let stage = Stage::of(1);
    let protocol = Protocol {
        stop: stop(2, 4),
        energy: Energy::Measured,
        ..stage.protocol()
    };
    let case = stage.case();
    let half_a_second = |order: &WindowOrder| claim(order, 5e8);
    let workers = || vec![worker(half_a_second), worker(half_a_second)];
    let mut readings = 0;
    let released = with_right_referee(&protocol, &case, |context| {
        let arms = vec![
            arm(&protocol, &case, 0, workers()),
            arm_of(Standing::Compared, &protocol, &case, 1, workers()),
        ];
        let mut rounds = rounds_of(arms, 2, &protocol);
        let mut watcher = cool();
        rounds.run(RunMode::Measure, context, &mut watcher).unwrap();
        readings = watcher.energy_readings;
    });
    let repeated = released.iter().filter(|order| order.repeats.get() == 2);
    let owners: Vec<usize> = repeated.map(|order| order.owner.position()).collect();
    assert_eq!((owners, readings), (vec![0], 2));
}

#[test]
fn a_test_makes_three_calls_in_its_first_process_and_one_in_each_other() {
    let stage = Stage::of(1);
    let (protocol, case) = (stage.protocol(), stage.case());
    let mut calls = Vec::new();
    with_right_referee(&protocol, &case, |context| {
        let workers = vec![worker(short), worker(short), worker(short)];
        let mut rounds = rounds_of(vec![arm(&protocol, &case, 0, workers)], 3, &protocol);
        rounds.run(RunMode::Test, context, &mut cool()).unwrap();
        let arm = rounds.arms.pop().unwrap();
        let author = gpubench_sandbox::Confinement::Closed;
        let measured = arm.finish(&context.control, &context.sequencer.rests, None, &author);
        calls = measured.workers.iter().map(|run| run.windows.len()).collect();
        assert!(
            measured
                .windows()
                .all(|window| window.facts.kind == WindowKind::EarlyCheck)
        );
    });
    assert_eq!(calls, [3, 1, 1]);
}

/// Returns the number of calls in each process of a test, if the check of the first call that is
/// numbered `until` or higher refuses what those of all earlier calls but the first accept.
fn calls_of_test(stage: &Stage, accepted: fn(&mut OutputFacts, OtherAnswer), until: u32) -> Vec<usize> {
    let protocol = Protocol {
        mode: RunMode::Test,
        ..stage.protocol()
    };
    let case = stage.case();
    let facts = move |order: &WindowOrder| {
        let mut facts = right_facts(order, 1);
        match order.window {
            1 => {}
            window if window < until => accepted(&mut facts.outputs[0], OtherAnswer::Passes),
            _ => accepted(&mut facts.outputs[0], OtherAnswer::Fails),
        }
        facts
    };
    let mut calls = Vec::new();
    with_referee(&protocol, &case, facts, |context| {
        let mut rounds = rounds_of(
            vec![arm(&protocol, &case, 0, vec![worker(short), worker(short)])],
            2,
            &protocol,
        );
        rounds.run(RunMode::Test, context, &mut cool()).unwrap();
        let author = gpubench_sandbox::Confinement::Closed;
        let arm = rounds.arms.pop().unwrap();
        let measured = arm.finish(&context.control, &context.sequencer.rests, None, &author);
        calls = measured.workers.iter().map(|run| run.windows.len()).collect();
    });
    calls
}

#[test]
fn a_test_makes_more_calls_while_the_check_accepts_zeros_or_old_answers() {
    let zeros: fn(&mut OutputFacts, OtherAnswer) = |output, answer| output.zeros = answer as u64;
    let old: fn(&mut OutputFacts, OtherAnswer) = |output, answer| output.old_answer = answer as u64;
    let (with_inputs, without) = (Stage::of(1).with_input(), Stage::of(1));
    for accepted in [zeros, old] {
        let calls = |until| calls_of_test(&with_inputs, accepted, until);
        assert_eq!(calls(3), [3, 1]);
        assert_eq!(calls(4), [4, 1]);
        assert_eq!(calls(6), [6, 1]);
        assert_eq!(calls(100), [9, 1], "as many as a verdict on the check needs");
    }
    assert_eq!(calls_of_test(&without, zeros, 100), [9, 1]);
    assert_eq!(calls_of_test(&without, old, 100), [3, 1], "there are no other inputs");
}

/// Counts nothing.
#[derive(Debug)]
struct Nothing;

impl SubmissionCounter for Nothing {
    fn begin(&self, _: u32) -> Option<Box<dyn SubmissionCount + '_>> {
        None
    }
}

#[test]
fn a_profile_whose_submissions_are_counted_ends_with_three_empty_windows() {
    for (counter, empty) in [(None, 0), (Some(&Nothing as &dyn SubmissionCounter), EMPTY_WINDOWS)] {
        let stage = Stage::of(1);
        let protocol = Protocol {
            submissions: counter,
            ..stage.protocol()
        };
        let case = stage.case();
        let released = with_right_referee(&protocol, &case, |context| {
            let mut rounds = rounds_of(vec![arm(&protocol, &case, 0, vec![worker(short)])], 1, &protocol);
            let mode = RunMode::Profile(Duration::ZERO);
            rounds.run(mode, context, &mut cool()).unwrap();
        });
        let kinds: Vec<WindowKind> = released.iter().map(|order| order.kind).collect();
        assert_eq!(
            kinds,
            [vec![WindowKind::Timed], vec![WindowKind::Empty; empty]].concat()
        );
    }
}

#[test]
fn an_arm_whose_windows_have_one_call_has_none_while_others_make_one_of_several() {
    let (several, one) = (Stage::of(2), Stage::of(1));
    let protocol = Protocol {
        stop: stop(40, 40),
        ..several.protocol()
    };
    let cases = [several.case(), one.case()];
    let facts = |order: &WindowOrder| right_facts(order, [2, 1][order.owner.position()]);
    let released = with_referee(&protocol, &cases[0], facts, |context| {
        let arms = vec![
            arm(&protocol, &cases[0], 0, vec![worker(short)]),
            arm(&protocol, &cases[1], 1, vec![worker(short)]),
        ];
        let mut rounds = rounds_of(arms, 1, &protocol);
        rounds.run(RunMode::Measure, context, &mut cool()).unwrap();
    });
    let singles: Vec<WindowOrder> = released
        .into_iter()
        .filter(|order| order.kind == WindowKind::Single)
        .collect();
    let [of_several, of_one] = windows_of_arms(&singles);
    assert!(of_several >= 5 && of_one == 0, "{of_several} and {of_one}");
}

/// Asks for another round until there are `last`. Notes the number of cases that it is asked about.
#[derive(Debug)]
struct Until {
    last: usize,
    asked_about: std::sync::Mutex<Vec<usize>>,
}

impl StoppingQuery for Until {
    fn next(&self, rounds: usize, arms: &[Vec<&[f64]>]) -> Option<usize> {
        self.asked_about.lock().unwrap().push(arms.len());
        (rounds < self.last).then_some(rounds + 1)
    }

    fn most(&self, _: usize) -> usize {
        self.last
    }
}

#[test]
fn the_limits_on_samples_lower_the_number_of_rounds_except_in_tests() {
    let stage = Stage::of(1);
    for (mode, max_samples, rounds) in [
        (RunMode::Measure, 100, 5),
        (RunMode::Measure, 2, 2),
        (RunMode::Profile(Duration::ZERO), 2, 2),
        (RunMode::Audit(Duration::ZERO), 2, 2),
        (RunMode::Test, 2, 5),
    ] {
        let protocol = Protocol {
            mode,
            stop: stop(1, max_samples),
            worker_count: WorkerCountRule::exactly(5.try_into().unwrap()),
            ..stage.protocol()
        };
        assert_eq!(first_rounds(&protocol), rounds, "{mode:?} {max_samples}");
    }
}

#[test]
fn interim_analyses_need_a_rival_and_all_rounds() {
    let stage = Stage::of(1);
    let case = stage.case();
    let question = Until {
        last: 9,
        asked_about: Default::default(),
    };
    let entrant = Entrant {
        name: "a case",
        standing: Standing::Judged,
        keeper: None,
    };
    let arms = [TurnCase { case: &case, entrant }; 2];
    for (number, max_samples, asks) in [(2, 100, true), (1, 100, false), (2, 4, false), (2, 5, true)] {
        let turns = CasesInTurns {
            arms: &arms[..number],
            source: &case,
            question: Some(&question),
        };
        let protocol = Protocol {
            stop: stop(1, max_samples),
            worker_count: WorkerCountRule::exactly(5.try_into().unwrap()),
            ..stage.protocol()
        };
        assert_eq!(question_of(&turns, &protocol).is_some(), asks, "{number} {max_samples}");
    }
}

#[test]
fn an_observed_test_makes_one_call() {
    let stage = Stage::of(1);
    let observer = ObserverProgram {
        path: "/bin/compute-sanitizer".into(),
        task: ObserverTask::Sanitize(SanitizerTool::Memcheck),
    };
    for (observer, calls) in [(None, CALLS_OF_TEST), (Some(&observer), 1..=1)] {
        let protocol = Protocol {
            observer,
            ..stage.protocol()
        };
        assert_eq!(calls_of_first_process(&protocol), calls);
    }
}

#[test]
fn an_audit_makes_four_calls_at_least_of_which_three_count_and_a_profile_one() {
    let stage = Stage::of(1);
    let (protocol, case) = (stage.protocol(), stage.case());
    for (mode, calls) in [
        (RunMode::Profile(Duration::ZERO), 1),
        (RunMode::Audit(Duration::ZERO), 4),
    ] {
        let released = with_right_referee(&protocol, &case, |context| {
            let mut rounds = rounds_of(vec![arm(&protocol, &case, 0, vec![worker(short)])], 1, &protocol);
            rounds.run(mode, context, &mut cool()).unwrap();
        });
        assert_eq!(released.len(), calls, "{mode:?}");
    }
}

#[test]
fn only_judged_cases_are_called_without_being_sampled() {
    let stage = Stage::of(1);
    let (protocol, case) = (stage.protocol(), stage.case());
    for mode in [
        RunMode::Test,
        RunMode::Profile(Duration::ZERO),
        RunMode::Audit(Duration::ZERO),
    ] {
        let released = with_right_referee(&protocol, &case, |context| {
            let arms = vec![
                arm(&protocol, &case, 0, vec![worker(short)]),
                arm_of(Standing::Compared, &protocol, &case, 1, vec![worker(short)]),
            ];
            rounds_of(arms, 1, &protocol).run(mode, context, &mut cool()).unwrap();
        });
        let [judged, compared] = windows_of_arms(&released);
        assert!(judged > 0 && compared == 0, "{mode:?}: {judged} and {compared}");
    }
}

#[test]
fn a_question_is_asked_only_about_cases_that_go_on() {
    let stage = Stage::of(1);
    let protocol = Protocol {
        stop: stop(4, 4),
        worker_count: WorkerCountRule::exactly(1.try_into().unwrap()),
        ..stage.protocol()
    };
    let case = stage.case();
    let question = Until {
        last: 1,
        asked_about: Default::default(),
    };
    with_right_referee(&protocol, &case, |context| {
        let arms = vec![
            arm(&protocol, &case, 0, vec![worker(short)]),
            arm(&protocol, &case, 1, vec![worker(fault)]),
            arm(&protocol, &case, 2, vec![worker(short)]),
        ];
        let mut rounds = Rounds {
            question: Some(&question),
            ..rounds_of(arms, 1, &protocol)
        };
        rounds.run(RunMode::Measure, context, &mut cool()).unwrap();
    });
    assert_eq!(*question.asked_about.lock().unwrap(), [2]);
}

#[test]
fn a_case_that_has_enough_samples_keeps_pace_with_one_that_has_not() {
    let stage = Stage::of(1);
    let protocol = Protocol {
        stop: StopRule {
            target_cv: 0.01,
            ..stop(4, 12)
        },
        ..stage.protocol()
    };
    let case = stage.case();
    fn steady(order: &WindowOrder) -> Claim {
        claim(order, 1e3)
    }
    fn noisy(order: &WindowOrder) -> Claim {
        claim(order, 1e3 * f64::from(1 + order.window % 3))
    }
    with_right_referee(&protocol, &case, |context| {
        let mut rounds = rounds(&protocol, &case, [steady, noisy]);
        rounds.run(RunMode::Measure, context, &mut cool()).unwrap();
        let samples: Vec<usize> = rounds.arms.iter().map(Arm::sample_count).collect();
        assert_eq!(samples, [12, 12]);
    });
}

#[test]
fn samples_of_the_judged_case_are_shown() {
    let stage = Stage::of(1);
    let protocol = Protocol {
        stop: stop(4, 4),
        ..stage.protocol()
    };
    let case = stage.case();
    let mut shown = Vec::new();
    with_right_referee(&protocol, &case, |context| {
        for standings in [
            [Standing::Judged, Standing::Compared],
            [Standing::Compared, Standing::Judged],
        ] {
            let arms = standings.into_iter().enumerate().map(|(position, standing)| {
                let claims = if standing == Standing::Judged { short } else { long };
                arm_of(standing, &protocol, &case, position, vec![worker(claims)])
            });
            let mut rounds = rounds_of(arms.collect(), 1, &protocol);
            let mut watcher = |samples: &[&[f64]]| shown.extend(samples.concat());
            rounds.run(RunMode::Measure, context, &mut watcher).unwrap();
        }
    });
    assert!(!shown.is_empty() && shown.iter().all(|ns| *ns < 1e5), "{shown:?}");
}

#[test]
fn a_call_that_fails_in_its_energy_window_has_no_energy() {
    let stage = Stage::of(1);
    let protocol = Protocol {
        stop: stop(2, 2),
        energy: Energy::Measured,
        ..stage.protocol()
    };
    let case = stage.case();
    let fails = |order: &WindowOrder| match order.repeats.get() {
        1 => claim(order, 5e8),
        _ => fault(order),
    };
    with_right_referee(&protocol, &case, |context| {
        let mut rounds = rounds_of(vec![arm(&protocol, &case, 0, vec![worker(fails)])], 1, &protocol);
        let mut watcher = cool();
        rounds.run(RunMode::Measure, context, &mut watcher).unwrap();
        assert_eq!(watcher.energy_readings, 1, "only before it");
    });
}
