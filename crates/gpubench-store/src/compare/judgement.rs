//! Verdicts from a ratio and its interval.

use super::Threshold;
use gpubench_contract::{Better, ChangeVerdict, ThresholdSource};
use gpubench_stats::Ratio;

/// The change that samples must at least rule out before the verdict is "no change".
pub const CANNOT_RULE_OUT: f64 = 0.05;

/// A history that varies by more than this is too noisy to detect changes that matter. It still
/// raises the threshold, but an interval that extends beyond this value does not show "no change".
pub const NOISY_HISTORY: f64 = 0.1;

/// The precision at which an unchanged ratio counts as decided. An interval that extends no further
/// than this excludes 1 if the change is half as large again, 3 %.
pub const FINDS: f64 = 0.02;

/// Returns the verdict for a ratio. The interval accounts for the spread among the processes of
/// each side. A factor and its inverse are treated alike.
///
/// | the interval | the estimate | verdict |
/// |---|---|---|
/// | excludes 1 | beyond the threshold | regressed or improved |
/// | excludes 1 | within the threshold | within noise |
/// | contains 1, and extends at most to the larger of the threshold and [`CANNOT_RULE_OUT`] | | no change |
/// | contains 1, and extends further, or beyond [`NOISY_HISTORY`] if the threshold comes from the history | | inconclusive |
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

/// Whether more samples are unlikely to change the verdict. An inconclusive ratio is never decided.
/// "No change" is decided if a change of 1.5 times [`FINDS`], or 1.5 times the threshold if that is
/// larger, would have been found.
pub fn is_decided(ratio: &Ratio, threshold: Threshold) -> bool {
    // The better direction decides the name of a change, not whether there is one.
    match judge(ratio, threshold, Better::Lower) {
        ChangeVerdict::Inconclusive => false,
        ChangeVerdict::NoChange => ratio.reach() <= threshold.value.max(FINDS).ln_1p(),
        _ => true,
    }
}

/// Returns the relative change that samples must rule out before the verdict is "no change".
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
    fn a_change_counts_if_the_interval_excludes_one_and_the_estimate_is_beyond_the_threshold() {
        assert_eq!(judged(1.03, 1.004, 1.057), ChangeVerdict::Regressed);
        assert_eq!(judged(0.97, 0.945, 0.996), ChangeVerdict::Improved);
        assert_eq!(judged(1.009, 1.004, 1.014), ChangeVerdict::WithinNoise);
        assert_eq!(judged(0.992, 0.99, 0.994), ChangeVerdict::WithinNoise);
    }

    #[test]
    fn a_metric_that_is_better_higher_regresses_when_it_falls() {
        let fell = Ratio {
            estimate: 0.9,
            interval: Interval { low: 0.88, high: 0.92 },
        };
        assert_eq!(judge(&fell, FLOOR, Better::Higher), ChangeVerdict::Regressed);
        assert_eq!(judge(&fell, FLOOR, Better::Lower), ChangeVerdict::Improved);
    }

    #[test]
    fn an_interval_that_contains_one_is_no_change_unless_it_is_wide() {
        assert_eq!(judged(1.0, 0.995, 1.005), ChangeVerdict::NoChange);
        assert_eq!(judged(1.02, 0.995, 1.045), ChangeVerdict::NoChange);
        assert_eq!(judged(1.02, 0.98, 1.06), ChangeVerdict::Inconclusive);
        assert_eq!(judged(0.97, 0.93, 1.01), ChangeVerdict::Inconclusive);
    }

    #[test]
    fn a_wide_threshold_also_raises_the_change_to_rule_out() {
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
    fn a_factor_and_its_inverse_are_judged_alike() {
        // 1/1.01 is 0.9901, so a change of -0.995 % is beyond the threshold and one of +0.995 % is
        // not.
        assert_eq!(judged(1.0 / 1.010_1, 0.98, 0.999), ChangeVerdict::Improved);
        assert_eq!(judged(1.010_1, 1.001, 1.02), ChangeVerdict::Regressed);
        assert_eq!(judged(1.0 / 1.009_9, 0.98, 0.999), ChangeVerdict::WithinNoise);
    }

    /// Returns the verdicts of `trials` seeded comparisons. Each side has `workers` with `samples`
    /// each, and the second is slower by `factor`.
    fn verdicts(shape: TwoLevel, workers: usize, samples: usize, factor: f64, trials: usize) -> Vec<ChangeVerdict> {
        let mut random = fastrand::Rng::with_seed(17);
        (0..trials)
            .map(|_| {
                let [before, after] = [100.0, 100.0 * factor].map(|center| {
                    let side = shape.side(&mut random, workers, samples, center);
                    let side: Vec<&[f64]> = side.iter().map(Vec::as_slice).collect();
                    Estimate::from_workers(&side).unwrap()
                });
                let ratio = Ratio::from_estimates(&before, &after, Confidence::DEFAULT, 0.0).unwrap();
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
    fn a_change_of_3_percent_is_found_95_times_in_100_with_30_samples_and_noise_of_1_percent() {
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

    /// Returns the verdicts of `trials` seeded comparisons of two separate runs, by their values
    /// alone and relative to their twins.
    fn separate(
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
            let alone = Ratio::from_estimates(&before, &after, Confidence::DEFAULT, 0.0).unwrap();
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
    fn fewer_than_one_in_a_hundred_comparisons_of_separate_runs_raises_an_alarm_under_any_drift() {
        let changed = [ChangeVerdict::Regressed, ChangeVerdict::Improved];
        for machine in MACHINES {
            for follows in [0.0, 0.5, 1.0, 1.5] {
                let [alone, relative] = separate(machine, follows, (5, 8), 1.0, 1_000);
                let alarms = count(&relative, &changed);
                assert!(alarms < 10, "{}, follows {follows}: {alarms} of 1000", machine.name);
                let drifts = machine.runs > 0.05 && follows > 0.0;
                let by_figures = count(&alone, &changed);
                assert!(!drifts || by_figures > 200, "{}: {by_figures} of 1000", machine.name);
            }
        }
    }

    #[test]
    fn a_kernel_that_is_10_percent_slower_is_found_between_separate_runs_9_times_in_10_on_a_quiet_machine() {
        for machine in &MACHINES[..3] {
            for follows in [0.0, 1.0] {
                for (factor, wanted) in [(1.1, ChangeVerdict::Regressed), (1.0 / 1.1, ChangeVerdict::Improved)] {
                    let [_, relative] = separate(*machine, follows, (5, 8), factor, 500);
                    let found = count(&relative, &[wanted]);
                    assert!(found >= 450, "{}, follows {follows}: {found} of 500", machine.name);
                }
            }
        }
    }

    /// How alternating samples are compared.
    #[derive(Clone, Copy)]
    enum Method {
        Paired,
        Unpaired,
    }

    /// Returns the verdicts of `trials` seeded alternating comparisons of `size` (rounds and pairs
    /// per round). The candidate is slower by `factor`.
    fn alternating(
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
                        let paired = Paired::new(&before, &after).unwrap();
                        paired.ratio(Confidence::DEFAULT, 0.0)
                    }
                    Method::Unpaired => {
                        let [before, after] = [before, after].map(|side| Estimate::from_workers(&side).unwrap());
                        Ratio::from_estimates(&before, &after, Confidence::DEFAULT, 0.0).unwrap()
                    }
                };
                judge(&ratio, FLOOR, Better::Lower)
            })
            .collect()
    }

    #[test]
    fn fewer_than_one_in_a_hundred_alternating_comparisons_of_the_same_code_raises_an_alarm_under_any_drift() {
        let [steady, .., everything] = DRIFTS;
        for drift in [steady, everything] {
            for shape in SHAPES {
                let alarms: usize = [(3, 10), (5, 6), (8, 8)]
                    .map(|size| {
                        let seen = alternating(Method::Paired, (drift, shape), size, 1.0, 1_500);
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
    fn a_change_of_3_percent_is_found_by_alternating_95_times_in_100_under_any_drift() {
        for drift in DRIFTS {
            for size in [(5, 6), (5, 30), (8, 8)] {
                for (factor, wanted) in [(1.03, ChangeVerdict::Regressed), (1.0 / 1.03, ChangeVerdict::Improved)] {
                    let found = count(
                        &alternating(Method::Paired, (drift, STEADY_SAMPLES), size, factor, 1_000),
                        &[wanted],
                    );
                    assert!(found >= 950, "{}, {size:?}: {found} of 1000", drift.name);
                }
            }
        }
    }

    /// Like [`alternating`], but adds rounds until they decide. Returns the verdicts and the mean
    /// number of rounds.
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
                    let paired = Paired::new(&before[..rounds], &after[..rounds]).unwrap();
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

    /// Samples on a machine where other processes preempt a third of them.
    const BUSY: TwoLevel = TwoLevel {
        name: "a third of the samples with time slices",
        shifts: Shifts::Normal(0.005),
        noise: Noise::TimeSlices(1.0 / 3.0),
    };

    #[test]
    fn interim_analyses_raise_an_alarm_in_fewer_than_one_in_a_hundred_comparisons_of_the_same_code() {
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
    fn more_rounds_find_a_change_of_3_percent_on_a_busy_machine_and_with_processes_that_differ() {
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
        let at_once = alternating(Method::Paired, (steady, shifted), (5, 8), 1.03, 500);
        assert!(count(&at_once, &[ChangeVerdict::Regressed]) < 300);
    }

    #[test]
    fn rounds_stop_if_the_first_ones_decide() {
        let [steady, .., everything] = DRIFTS;
        for drift in [steady, everything] {
            for factor in [1.0, 1.03] {
                let (_, rounds) = until_decided((drift, STEADY_SAMPLES), 30, factor, 300);
                assert!(rounds < 5.5, "{}: {rounds} rounds", drift.name);
            }
        }
    }

    #[test]
    fn no_change_is_decided_once_a_change_of_3_percent_would_have_been_found() {
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
        assert!(decided(1.005, 1.021, 0.03), "the threshold allows more");
        assert!(decided(1.03, 1.028, 0.01), "a regression");
        assert!(!decided(1.03, 1.5, 0.03), "inconclusive");
    }

    #[test]
    fn an_unpaired_comparison_misses_changes_that_a_paired_one_finds() {
        for drift in &DRIFTS[2..] {
            let found = |method| {
                let seen = alternating(method, (*drift, STEADY_SAMPLES), (5, 6), 1.03, 400);
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
    fn alternating_runs_of_the_same_code_mostly_show_no_change() {
        for drift in DRIFTS {
            let seen = alternating(Method::Paired, (drift, STEADY_SAMPLES), (5, 20), 1.0, 500);
            let quiet = count(&seen, &[ChangeVerdict::NoChange, ChangeVerdict::WithinNoise]);
            assert!(quiet >= 450, "{}: {quiet} of 500", drift.name);
        }
    }
}
