//! From a ratio with its interval to a verdict.

use super::Threshold;
use gpubench_contract::{Better, ChangeVerdict, ThresholdSource};
use gpubench_stats::Ratio;

/// Samples that cannot rule out a change beyond this do not show that there is none.
pub const CANNOT_RULE_OUT: f64 = 0.05;

/// A history whose runs differ by more than this is too noisy to tell changes that matter. It
/// raises the threshold all the same, but an interval that reaches further does not show that there
/// is no change.
pub const NOISY_HISTORY: f64 = 0.1;

/// How well a comparison that may go on must know a ratio that has not changed: an interval that
/// reaches no further than this leaves out 1 where the change is half as large again, 3 %.
pub const FINDS: f64 = 0.02;

/// What changed, by an interval that knows how much the processes of either side differ. Worse and
/// better by the same factor are alike.
///
/// | the interval | the estimate | verdict |
/// |---|---|---|
/// | leaves out 1 | beyond the threshold | regressed or improved |
/// | leaves out 1 | within it | within noise |
/// | takes in 1, and reaches at most to the larger of the threshold and [`CANNOT_RULE_OUT`] | | no change |
/// | takes in 1, and reaches further, or beyond [`NOISY_HISTORY`] where the threshold is the history's | | inconclusive |
pub fn judge(ratio: &Ratio, threshold: Threshold, better: Better) -> ChangeVerdict {
    let beyond = |factor: f64| factor.ln().abs() > threshold.value.ln_1p();
    if ratio.interval.low > 1.0 || ratio.interval.high < 1.0 {
        return match ratio.estimate {
            estimate if !beyond(estimate) => ChangeVerdict::WithinNoise,
            worse if better.is_worse(worse) => ChangeVerdict::Regressed,
            _ => ChangeVerdict::Improved,
        };
    }
    let reach = ratio.interval.high.max(1.0 / ratio.interval.low);
    if reach.ln() > ruled_out(threshold).ln_1p() {
        ChangeVerdict::Inconclusive
    } else {
        ChangeVerdict::NoChange
    }
}

/// Whether more samples would hardly change the verdict: there is one, and where it is that nothing
/// changed, a change by half as much again as [`FINDS`], or as the threshold where that is larger,
/// would have been found.
pub fn is_decided(ratio: &Ratio, threshold: Threshold) -> bool {
    // Which way is better decides what a change is called, not whether it is one.
    match judge(ratio, threshold, Better::Lower) {
        ChangeVerdict::Inconclusive => false,
        ChangeVerdict::NoChange => ratio.reach() <= threshold.value.max(FINDS).ln_1p(),
        _ => true,
    }
}

/// The relative change that samples must rule out to show that there is none.
pub(super) fn ruled_out(threshold: Threshold) -> f64 {
    match threshold.source {
        ThresholdSource::Floor => threshold.value.max(CANNOT_RULE_OUT),
        ThresholdSource::History => threshold.value.clamp(CANNOT_RULE_OUT, NOISY_HISTORY),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{DRIFTS, Drift, MACHINES, Machine, Noise, RunApart, SHAPES, Shifts, TwoLevel};
    use gpubench_stats::{Confidence, Estimate, InterimAnalyses, Interval, Paired};

    const FLOOR: Threshold = Threshold {
        value: 0.01,
        source: ThresholdSource::Floor,
    };

    fn judged(estimate: f64, low: f64, high: f64) -> ChangeVerdict {
        let interval = Interval { low, high };
        judge(&Ratio { estimate, interval }, FLOOR, Better::Lower)
    }

    #[test]
    fn a_change_counts_where_the_interval_leaves_out_one_and_the_estimate_is_beyond_the_threshold() {
        assert_eq!(judged(1.03, 1.004, 1.057), ChangeVerdict::Regressed);
        assert_eq!(judged(0.97, 0.945, 0.996), ChangeVerdict::Improved);
        assert_eq!(judged(1.009, 1.004, 1.014), ChangeVerdict::WithinNoise);
        assert_eq!(judged(0.992, 0.99, 0.994), ChangeVerdict::WithinNoise);
    }

    #[test]
    fn what_is_better_when_it_is_higher_regresses_when_it_falls() {
        let fell = Ratio {
            estimate: 0.9,
            interval: Interval { low: 0.88, high: 0.92 },
        };
        assert_eq!(judge(&fell, FLOOR, Better::Higher), ChangeVerdict::Regressed);
        assert_eq!(judge(&fell, FLOOR, Better::Lower), ChangeVerdict::Improved);
    }

    #[test]
    fn an_interval_that_takes_in_one_is_no_change_unless_it_reaches_far() {
        assert_eq!(judged(1.0, 0.995, 1.005), ChangeVerdict::NoChange);
        assert_eq!(judged(1.02, 0.995, 1.045), ChangeVerdict::NoChange);
        assert_eq!(judged(1.02, 0.98, 1.06), ChangeVerdict::Inconclusive);
        assert_eq!(judged(0.97, 0.93, 1.01), ChangeVerdict::Inconclusive);
    }

    #[test]
    fn a_wide_threshold_is_also_what_must_be_ruled_out() {
        let ratio = Ratio {
            estimate: 1.02,
            interval: Interval { low: 0.98, high: 1.06 },
        };
        let threshold = Threshold {
            value: 0.08,
            source: ThresholdSource::History,
        };
        assert_eq!(judge(&ratio, threshold, Better::Lower), ChangeVerdict::NoChange);
    }

    #[test]
    fn a_noisy_history_does_not_make_a_wide_interval_no_change() {
        let fence = |value| Threshold {
            value,
            source: ThresholdSource::History,
        };
        let asked_for = Threshold {
            value: 1.84,
            source: ThresholdSource::Floor,
        };
        let ratio = |estimate, low, high| Ratio {
            estimate,
            interval: Interval { low, high },
        };
        let wide = ratio(1.3, 0.7, 2.4);
        assert_eq!(judge(&wide, fence(1.84), Better::Lower), ChangeVerdict::Inconclusive);
        assert_eq!(judge(&wide, asked_for, Better::Lower), ChangeVerdict::NoChange);
        assert_eq!(
            judge(&ratio(1.02, 0.97, 1.07), fence(1.84), Better::Lower),
            ChangeVerdict::NoChange
        );
        assert_eq!(
            judge(&ratio(1.5, 1.4, 1.6), fence(1.84), Better::Lower),
            ChangeVerdict::WithinNoise
        );
    }

    #[test]
    fn slower_and_faster_by_one_factor_are_alike() {
        // 1/1.01 is 0.9901: a change by -0.995 % is beyond the threshold where one by 0.995 % is
        // not.
        assert_eq!(judged(1.0 / 1.010_1, 0.98, 0.999), ChangeVerdict::Improved);
        assert_eq!(judged(1.010_1, 1.001, 1.02), ChangeVerdict::Regressed);
        assert_eq!(judged(1.0 / 1.009_9, 0.98, 0.999), ChangeVerdict::WithinNoise);
    }

    /// The verdicts of `trials` seeded comparisons of two sides of `workers` with `samples` each,
    /// the second slower by `factor`.
    fn verdicts(shape: TwoLevel, workers: usize, samples: usize, factor: f64, trials: usize) -> Vec<ChangeVerdict> {
        let mut random = fastrand::Rng::with_seed(17);
        (0..trials)
            .map(|_| {
                let [before, after] = [100.0, 100.0 * factor].map(|center| {
                    let side = shape.side(&mut random, workers, samples, center);
                    let side: Vec<&[f64]> = side.iter().map(Vec::as_slice).collect();
                    Estimate::of(&side).unwrap()
                });
                let ratio = Ratio::of(&before, &after, Confidence::DEFAULT, 0.0).unwrap();
                judge(&ratio, FLOOR, Better::Lower)
            })
            .collect()
    }

    fn count(verdicts: &[ChangeVerdict], wanted: &[ChangeVerdict]) -> usize {
        verdicts.iter().filter(|verdict| wanted.contains(verdict)).count()
    }

    #[test]
    fn fewer_than_one_in_a_hundred_comparisons_of_the_same_code_raises_an_alarm() {
        for shape in SHAPES {
            for (workers, samples) in [(3, 10), (5, 6), (8, 8)] {
                let alarms = count(
                    &verdicts(shape, workers, samples, 1.0, 1_000),
                    &[ChangeVerdict::Regressed, ChangeVerdict::Improved],
                );
                assert!(alarms < 10, "{}, {workers} workers: {alarms} of 1000", shape.name);
            }
        }
    }

    #[test]
    fn a_change_by_3_per_cent_is_found_95_times_in_100_among_30_samples_with_noise_of_1_per_cent() {
        for (workers, samples, shift) in [(3, 10, 0.0), (5, 6, 0.002), (3, 30, 0.002), (5, 30, 0.005)] {
            let shape = TwoLevel {
                name: "",
                shifts: Shifts::Normal(shift),
                noise: Noise::Normal(0.01),
            };
            for (factor, wanted) in [(1.03, ChangeVerdict::Regressed), (1.0 / 1.03, ChangeVerdict::Improved)] {
                let found = count(&verdicts(shape, workers, samples, factor, 1_000), &[wanted]);
                assert!(
                    found >= 950,
                    "{workers} workers of {samples}, shift {shift}: {found} of 1000"
                );
            }
        }
    }

    #[test]
    fn the_same_code_mostly_shows_no_change() {
        for (shift, noise) in [(0.002, 0.01), (0.005, 0.005), (0.01, 0.01)] {
            let shape = TwoLevel {
                name: "",
                shifts: Shifts::Normal(shift),
                noise: Noise::Normal(noise),
            };
            let seen = verdicts(shape, 5, 20, 1.0, 500);
            let quiet = count(&seen, &[ChangeVerdict::NoChange, ChangeVerdict::WithinNoise]);
            assert!(quiet >= 450, "shift {shift}, noise {noise}: {quiet} of 500");
        }
    }

    /// The verdicts of `trials` seeded comparisons of two runs apart, by their figures alone and
    /// relative to their twins.
    fn apart(
        machine: Machine,
        follows: f64,
        size: (usize, usize),
        factor: f64,
        trials: usize,
    ) -> [Vec<ChangeVerdict>; 2] {
        let mut random = fastrand::Rng::with_seed(31);
        let verdicts = (0..trials).map(|_| {
            let runs = machine.two_runs(&STEADY_PROCESSES, &mut random, size, (100.0, factor), follows);
            let [before, after] = runs.each_ref().map(RunApart::estimate);
            let alone = Ratio::of(&before, &after, Confidence::DEFAULT, 0.0).unwrap();
            let relative = RunApart::relative(&runs, alone);
            (
                judge(&alone, FLOOR, Better::Lower),
                judge(&relative, FLOOR, Better::Lower),
            )
        });
        let (alone, relative) = verdicts.unzip();
        [alone, relative]
    }

    const STEADY_PROCESSES: TwoLevel = TwoLevel {
        name: "",
        shifts: Shifts::Normal(0.005),
        noise: Noise::Normal(0.01),
    };

    #[test]
    fn fewer_than_one_in_a_hundred_comparisons_of_runs_apart_raises_an_alarm_whatever_the_machine_did_between_them() {
        let changed = [ChangeVerdict::Regressed, ChangeVerdict::Improved];
        for machine in MACHINES {
            for follows in [0.0, 0.5, 1.0, 1.5] {
                let [alone, relative] = apart(machine, follows, (5, 8), 1.0, 1_000);
                let alarms = count(&relative, &changed);
                assert!(alarms < 10, "{}, follows {follows}: {alarms} of 1000", machine.name);
                let drifts = machine.runs > 0.05 && follows > 0.0;
                let by_figures = count(&alone, &changed);
                assert!(!drifts || by_figures > 200, "{}: {by_figures} of 1000", machine.name);
            }
        }
    }

    #[test]
    fn a_kernel_that_is_10_per_cent_slower_is_found_between_runs_apart_9_times_in_10_on_a_quiet_machine() {
        for machine in &MACHINES[..3] {
            for follows in [0.0, 1.0] {
                for (factor, wanted) in [(1.1, ChangeVerdict::Regressed), (1.0 / 1.1, ChangeVerdict::Improved)] {
                    let [_, relative] = apart(*machine, follows, (5, 8), factor, 500);
                    let found = count(&relative, &[wanted]);
                    assert!(found >= 450, "{}, follows {follows}: {found} of 500", machine.name);
                }
            }
        }
    }

    /// How samples that were taken in turns are compared.
    #[derive(Clone, Copy)]
    enum Method {
        Paired,
        Unpaired,
    }

    /// The verdicts of `trials` seeded comparisons in turns, with `rounds` of as many `pairs`, the
    /// candidate slower by `factor`.
    fn in_turns(
        method: Method,
        (drift, shape): (Drift, TwoLevel),
        size: (usize, usize),
        factor: f64,
        trials: usize,
    ) -> Vec<ChangeVerdict> {
        let mut random = fastrand::Rng::with_seed(23);
        (0..trials)
            .map(|_| {
                let sides = drift.sides(&shape, &mut random, size, (100.0, factor));
                let [before, after] =
                    [0, 1].map(|side: usize| -> Vec<&[f64]> { sides[side].iter().map(Vec::as_slice).collect() });
                let ratio = match method {
                    Method::Paired => {
                        let paired = Paired::of(&before, &after).unwrap();
                        paired.ratio(Confidence::DEFAULT, 0.0)
                    }
                    Method::Unpaired => {
                        let [before, after] = [before, after].map(|side| Estimate::of(&side).unwrap());
                        Ratio::of(&before, &after, Confidence::DEFAULT, 0.0).unwrap()
                    }
                };
                judge(&ratio, FLOOR, Better::Lower)
            })
            .collect()
    }

    #[test]
    fn fewer_than_one_in_a_hundred_comparisons_in_turns_of_the_same_code_raises_an_alarm_whatever_drifts() {
        let [steady, .., everything] = DRIFTS;
        for drift in [steady, everything] {
            for shape in SHAPES {
                let alarms: usize = [(3, 10), (5, 6), (8, 8)]
                    .map(|size| {
                        let seen = in_turns(Method::Paired, (drift, shape), size, 1.0, 1_500);
                        count(&seen, &[ChangeVerdict::Regressed, ChangeVerdict::Improved])
                    })
                    .iter()
                    .sum();
                assert!(alarms < 45, "{}, {}: {alarms} of 4500", drift.name, shape.name);
            }
        }
    }

    const STEADY_SAMPLES: TwoLevel = TwoLevel {
        name: "",
        shifts: Shifts::Normal(0.0),
        noise: Noise::Normal(0.01),
    };

    #[test]
    fn a_change_by_3_per_cent_is_found_in_turns_95_times_in_100_however_much_the_machine_drifts() {
        for drift in DRIFTS {
            for size in [(5, 6), (5, 30), (8, 8)] {
                for (factor, wanted) in [(1.03, ChangeVerdict::Regressed), (1.0 / 1.03, ChangeVerdict::Improved)] {
                    let found = count(
                        &in_turns(Method::Paired, (drift, STEADY_SAMPLES), size, factor, 1_000),
                        &[wanted],
                    );
                    assert!(found >= 950, "{}, {size:?}: {found} of 1000", drift.name);
                }
            }
        }
    }

    /// As [`in_turns`], with rounds until they decide: the verdicts, and how many rounds there were
    /// on average.
    fn until_decided(
        (drift, shape): (Drift, TwoLevel),
        pairs: usize,
        factor: f64,
        trials: usize,
    ) -> (Vec<ChangeVerdict>, f64) {
        let mut random = fastrand::Rng::with_seed(29);
        let most = *InterimAnalyses::ROUNDS.last().unwrap();
        let confidence = InterimAnalyses::UntilDecided.confidence(Confidence::DEFAULT);
        let mut taken = 0;
        let verdicts = (0..trials)
            .map(|_| {
                let sides = drift.sides(&shape, &mut random, (most, pairs), (100.0, factor));
                let [before, after] =
                    [0, 1].map(|side: usize| -> Vec<&[f64]> { sides[side].iter().map(Vec::as_slice).collect() });
                let mut rounds = InterimAnalyses::ROUNDS[0];
                loop {
                    let paired = Paired::of(&before[..rounds], &after[..rounds]).unwrap();
                    let ratio = paired.ratio(confidence, 0.0);
                    match InterimAnalyses::UntilDecided.next(rounds) {
                        Some(next) if !is_decided(&ratio, FLOOR) => rounds = next,
                        _ => {
                            taken += rounds;
                            return judge(&ratio, FLOOR, Better::Lower);
                        }
                    }
                }
            })
            .collect();
        (verdicts, taken as f64 / trials as f64)
    }

    /// Samples of a machine on which other processes have the processor in a third of them.
    const BUSY: TwoLevel = TwoLevel {
        name: "a third of the samples with time slices",
        shifts: Shifts::Normal(0.005),
        noise: Noise::TimeSlices(1.0 / 3.0),
    };

    #[test]
    fn looking_again_while_rounds_go_on_raises_an_alarm_in_fewer_than_one_in_a_hundred_comparisons_of_the_same_code() {
        let [steady, .., everything] = DRIFTS;
        for drift in [steady, everything] {
            for shape in SHAPES.into_iter().chain([BUSY]) {
                let alarms: usize = [6, 20]
                    .map(|pairs| {
                        let (seen, _) = until_decided((drift, shape), pairs, 1.0, 500);
                        count(&seen, &[ChangeVerdict::Regressed, ChangeVerdict::Improved])
                    })
                    .iter()
                    .sum();
                assert!(alarms < 10, "{}, {}: {alarms} of 1000", drift.name, shape.name);
            }
        }
    }

    #[test]
    fn a_change_by_3_per_cent_is_found_on_a_busy_machine_whose_processes_differ_by_more_than_five_rounds_can_tell() {
        let shifted = TwoLevel {
            name: "processes that differ by 1 %",
            shifts: Shifts::Normal(0.01),
            noise: Noise::Normal(0.01),
        };
        let [steady, .., everything] = DRIFTS;
        for drift in [steady, everything] {
            for (shape, pairs) in [(BUSY, 30), (shifted, 8)] {
                for (factor, wanted) in [(1.03, ChangeVerdict::Regressed), (1.0 / 1.03, ChangeVerdict::Improved)] {
                    let (seen, _) = until_decided((drift, shape), pairs, factor, 200);
                    let found = count(&seen, &[wanted]);
                    assert!(found >= 190, "{}, {}: {found} of 200", drift.name, shape.name);
                }
            }
        }
        let at_once = in_turns(Method::Paired, (steady, shifted), (5, 8), 1.03, 500);
        assert!(count(&at_once, &[ChangeVerdict::Regressed]) < 300);
    }

    #[test]
    fn rounds_do_not_go_on_where_the_first_ones_decide() {
        let [steady, .., everything] = DRIFTS;
        for drift in [steady, everything] {
            for factor in [1.0, 1.03] {
                let (_, rounds) = until_decided((drift, STEADY_SAMPLES), 30, factor, 300);
                assert!(rounds < 5.5, "{}: {rounds} rounds", drift.name);
            }
        }
    }

    #[test]
    fn what_has_not_changed_is_decided_where_a_change_by_3_per_cent_would_have_been_found() {
        let decided = |estimate: f64, reach: f64, threshold: f64| {
            let interval = Interval {
                low: estimate / reach,
                high: estimate * reach,
            };
            let value = Threshold {
                value: threshold,
                ..FLOOR
            };
            is_decided(&Ratio { estimate, interval }, value)
        };
        assert!(decided(1.005, 1.019, 0.01));
        assert!(!decided(1.005, 1.021, 0.01));
        assert!(decided(1.005, 1.021, 0.03), "smaller changes were not asked for");
        assert!(decided(1.03, 1.028, 0.01), "a regression");
        assert!(!decided(1.03, 1.5, 0.03), "nothing is known");
    }

    #[test]
    fn what_is_found_in_turns_would_be_missed_if_the_sides_were_taken_for_unpaired() {
        for drift in &DRIFTS[2..] {
            let found = |method| {
                let seen = in_turns(method, (*drift, STEADY_SAMPLES), (5, 6), 1.03, 400);
                count(&seen, &[ChangeVerdict::Regressed])
            };
            let (paired, unpaired) = (found(Method::Paired), found(Method::Unpaired));
            assert!(
                paired >= 380 && unpaired <= 20,
                "{}: {paired} and {unpaired} of 400",
                drift.name
            );
        }
    }

    #[test]
    fn the_same_code_mostly_shows_no_change_in_turns() {
        for drift in DRIFTS {
            let seen = in_turns(Method::Paired, (drift, STEADY_SAMPLES), (5, 20), 1.0, 500);
            let quiet = count(&seen, &[ChangeVerdict::NoChange, ChangeVerdict::WithinNoise]);
            assert!(quiet >= 450, "{}: {quiet} of 500", drift.name);
        }
    }
}
