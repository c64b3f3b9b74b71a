//! Rounds with a simulated referee and workers: the order of the windows, and what is taken again.

use super::*;
use crate::measurement::case::ReadyCase;
use crate::measurement::simulated_case::{Stage, arm, claim, right_facts, with_referee, worker};
use gpubench_device::telemetry::Throttling;
use gpubench_protocol::wire::{Claim, WindowOrder};
use gpubench_stats::StopRule;

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
    Rounds {
        arms: arms
            .map(|(position, claims)| arm(protocol, case, position, vec![worker(claims)]))
            .collect(),
        question: None,
        first: 1,
        test_calls: CALLS_OF_TEST,
        energy: protocol.energy,
        retakes: Retakes::of_case(&protocol.stop),
        case: case.number,
        seeds: protocol.seeds,
    }
}

/// Tells of throttling by the number of samples, and counts the samples that are thrown away.
struct Thermometer {
    samples: usize,
    throttles: fn(usize) -> Throttling,
    thrown_away: usize,
}

impl Thermometer {
    fn that_finds(throttles: fn(usize) -> Throttling) -> Thermometer {
        Thermometer {
            samples: 0,
            throttles,
            thrown_away: 0,
        }
    }
}

impl Watcher for Thermometer {
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
    let released = with_referee(
        &protocol,
        &case,
        |order| right_facts(order, 1),
        |context| {
            let mut rounds = rounds(&protocol, &case, [short, short]);
            let mut watcher = Thermometer::that_finds(|_| Throttling::Absent);
            rounds.run(RunMode::Measure, context, &mut watcher).unwrap();
            samples = rounds.arms.iter().map(Arm::sample_count).collect();
        },
    );
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
    with_referee(
        &protocol,
        &case,
        |order| right_facts(order, 1),
        |context| {
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
        },
    );
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
    with_referee(
        &protocol,
        &case,
        |order| right_facts(order, 1),
        |context| {
            let mut rounds = rounds(&protocol, &case, [long, short]);
            let mut watcher = Thermometer::that_finds(|samples| match samples {
                ..=5 => Throttling::Absent,
                _ => Throttling::Found(1),
            });
            rounds.run(RunMode::Measure, context, &mut watcher).unwrap();
            let samples: Vec<usize> = rounds.arms.iter().map(Arm::sample_count).collect();
            assert_eq!(samples, [5, 20]);
            assert_eq!(watcher.thrown_away, 0, "samples with the same number are close in time");
        },
    );
}
