//! Whether the time that passed for the referee is the time that a worker claims.
//!
//! A window's *residual* is what the referee's clock saw beyond the claim, `S2 - S1 - claim`: the tool's own part of the window, and whatever
//! the claim leaves out. The residuals of the worker under test are compared with those of a null worker, whose windows hold the tool's own
//! part alone. Time that is hidden from a claim makes its residual longer, and nothing that a worker does makes it shorter but claiming too much.
//!
//! Three figures are compared, because each alone can be kept while another is changed. The *median* answers to the reported median: to lower
//! that, more than half of the claims must be too short, and then the median residual is too long, whatever the other claims make good. The
//! *distance of the quartiles* answers to time that is moved between windows or hidden in a quarter to half of them. The *number of long residuals* answers to
//! time that is hidden in fewer. Together they see every claim series that hides 15 µs a window on average, on a machine that does not disturb the null worker's windows as well. Plain means see less: one window of a
//! time slice, 2 ms, outweighs a hundred honest ones.
//!
//! A machine is disturbed now and then, for half a second or for long. So what is normal is taken from the null windows of the same time where they are worse than any seen on a machine that is left alone, and no more is made of them than so few can tell.

use super::binomial::{beta_binomial, binomial, quantile_of_counts};
use super::quantile::{quantile, sorted};

/// Standard errors that a difference must have before it counts: one honest case in 30 000 for a normal distribution.
const CRITICAL: f64 = 4.0;

/// Statistical error that is small enough, in nanoseconds: beside 12 µs for the kernel it leaves 1.5 µs, four more standard errors, to find 15 µs for certain.
const PRECISE_NS: f64 = 1_500.0;

/// Statistical error from which on a bound says little: in nanoseconds, and as a share of the claim.
const VAGUE_NS: f64 = 3_800.0;
const VAGUE_SHARE: f64 = 0.04;

/// Fewer windows than this, of either worker, say nothing.
const FEWEST: usize = 6;

/// Null windows may last so much longer while the worker under test lives than behind its end: another process with a context costs a little.
const DISTURBED_NS: f64 = 5_000.0;

/// Standard errors beyond that. A false alarm costs a grade, not the case.
const DISTURBED_CRITICAL: f64 = 3.0;

/// The residuals of kernels spread differently: p5 to p95 lie 2 to 8 µs apart (H200). A worker's own spread counts up to the largest of these; more would let it widen
/// its own bound.
const SPREAD_NS: f64 = 8_000.0;

/// Two clocks of one device may differ by so much in their rates.
const CLOCK_RATE: f64 = 1e-3;

/// A call that lasts longer than this may be interrupted, and what follows an interruption is not all its own.
const LONG_CALL_NS: f64 = 300_000.0;

/// Share of what a call lasts beyond [`LONG_CALL_NS`] that its residual may differ by: matrix products of 3.2 ms on an H200 had medians of 5 to 16 µs.
const LONG_CALL_SHARE: f64 = 0.01;

/// What is hidden in single windows counts from here on.
const HIDDEN_NS: f64 = 15_000.0;

/// Share of an honest worker's windows that may be so long.
const LONG_SHARE: f64 = 0.02;

/// Chance that an honest worker has more long windows than are allowed.
const LONG_CHANCE: f64 = 1e-4;

/// A normal distribution's quartiles lie so many standard deviations apart.
const QUARTILES: f64 = 1.349;

/// The standard error of a median, and of the distance of the quartiles, of a normal distribution in standard deviations over the root of the number.
const MEDIAN_ERROR: f64 = 1.2533;

/// Standard errors by which the ranks of each worker's quartiles may be off: together as unlikely as [`CRITICAL`] for the difference of two.
const RANKS_CRITICAL: f64 = 2.83;

/// Windows of which time is to be conserved, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Residuals<'a> {
    /// Of the worker under test.
    pub worker: &'a [f64],
    /// Of the null worker, interleaved with them.
    pub null: &'a [f64],
    /// Of the null worker behind the end of the worker under test, which cannot disturb these; empty where there are none yet.
    pub alone: &'a [f64],
    /// The median claim.
    pub claimed_ns: f64,
    /// How much the tool's own part of a window depends on the kernel.
    pub kernel_part_ns: f64,
}

/// The residuals of a worker beside those of the null worker.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Balance {
    /// Median residual of the worker beyond that of the null worker.
    pub excess_ns: f64,
    /// The most an honest worker's excess can be.
    pub bound_ns: f64,
    /// The part of the bound that more windows would make smaller.
    pub error_ns: f64,
    /// The median claim.
    pub claimed_ns: f64,
    /// By how much the null worker's median residual was longer while the worker under test lived, where that is more than can be explained. The excess
    /// is over the shorter one then.
    pub disturbance_ns: Option<f64>,
    /// What an honest worker does not do.
    pub imbalance: Option<Imbalance>,
}

/// How claims and clock disagree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Imbalance {
    /// Claims are too short by more than the bound.
    Hidden,
    /// Some claims are shorter than others for the same time: the quartiles of the residuals lie too far apart.
    Uneven {
        /// How far, beyond those of the null worker.
        excess_ns: f64,
        /// How far they may.
        bound_ns: f64,
    },
    /// Single windows lasted longer than they claim.
    HiddenInSome {
        /// How many.
        windows: usize,
        /// How many may.
        allowed: usize,
        /// Longer than the null worker's median residual by more than this.
        beyond_ns: f64,
    },
}

impl Balance {
    /// Whether more windows would not make the bound much better.
    pub fn is_precise(&self) -> bool {
        self.error_ns <= PRECISE_NS
    }

    /// Whether the windows differ so much, or are so few, that the bound says little.
    pub fn is_vague(&self) -> bool {
        self.error_ns > VAGUE_NS.max(VAGUE_SHARE * self.claimed_ns)
    }

    /// Compares residuals; `None` where there are too few, or where one is not finite.
    pub fn of(residuals: Residuals<'_>) -> Option<Balance> {
        if residuals.worker.len().min(residuals.null.len()) < FEWEST {
            return None;
        }
        let disturbance_ns = disturbance(residuals.null, residuals.alone)?;
        let residuals = match disturbance_ns {
            None => residuals,
            Some(_) => Residuals {
                null: residuals.alone,
                ..residuals
            },
        };
        let Residuals {
            claimed_ns,
            kernel_part_ns,
            ..
        } = residuals;
        let (worker, null) = (Spread::of(residuals.worker)?, Spread::of(residuals.null)?);
        let long_call_ns = (claimed_ns - LONG_CALL_NS).max(0.0);
        let allowed = kernel_part_ns + CLOCK_RATE * claimed_ns.max(0.0) + LONG_CALL_SHARE * long_call_ns;
        let (excess_ns, error_ns) = (worker.median - null.median, worker.median_error(&null, CRITICAL));
        let spread = Imbalance::Uneven {
            excess_ns: worker.distance() - null.distance(),
            bound_ns: allowed
                + (worker.distance() - worker.distance_at_least)
                + (null.distance_at_most - null.distance()),
        };
        let long = long_windows(residuals, null.median + allowed + HIDDEN_NS, null.median);
        let bound_ns = allowed + error_ns;
        let imbalances = [
            (excess_ns > bound_ns).then_some(Imbalance::Hidden),
            spread.exceeds().then_some(spread),
            long.exceeds().then_some(long),
        ];
        Some(Balance {
            excess_ns,
            bound_ns,
            error_ns,
            claimed_ns,
            disturbance_ns,
            imbalance: imbalances.into_iter().flatten().next(),
        })
    }
}

impl Imbalance {
    fn exceeds(&self) -> bool {
        match *self {
            Imbalance::Hidden => true,
            Imbalance::Uneven { excess_ns, bound_ns } => excess_ns > bound_ns,
            Imbalance::HiddenInSome { windows, allowed, .. } => windows > allowed,
        }
    }
}

/// Whether the bound would be precise if there were `growth` times as many windows of both workers, alike those there are. It is asked while more are to come.
pub fn will_be_precise(residuals: Residuals<'_>, growth: f64) -> bool {
    let grown = |windows: &[f64]| windows.len() as f64 * growth;
    let fewest = grown(residuals.worker).min(grown(residuals.null));
    let (Some(worker), Some(null)) = (Spread::of(residuals.worker), Spread::of(residuals.null)) else {
        return false;
    };
    let error_ns = worker.grown(growth).median_error(&null.grown(growth), CRITICAL);
    fewest >= FEWEST as f64 && error_ns <= PRECISE_NS
}

/// Where residuals lie, by their quartiles.
struct Spread {
    n: f64,
    low: f64,
    median: f64,
    high: f64,
    /// How far apart the quartiles lie at least, and at most, of what windows like these are drawn from.
    distance_at_least: f64,
    distance_at_most: f64,
}

impl Spread {
    fn of(residuals: &[f64]) -> Option<Spread> {
        let sorted = sorted(residuals)?;
        let n = sorted.len() as f64;
        // As shares: the number of windows below a quartile is binomial.
        let off = RANKS_CRITICAL * (0.25 * 0.75 / n).sqrt();
        let between = |low: f64, high: f64| Some(quantile(&sorted, high.min(1.0))? - quantile(&sorted, low.max(0.0))?);
        Some(Spread {
            n,
            low: quantile(&sorted, 0.25)?,
            median: quantile(&sorted, 0.5)?,
            high: quantile(&sorted, 0.75)?,
            distance_at_least: between((0.25 + off).min(0.5), (0.75 - off).max(0.5))?,
            distance_at_most: between(0.25 - off, 0.75 + off)?,
        })
    }

    /// As if there were so many times as many windows.
    fn grown(self, growth: f64) -> Spread {
        Spread {
            n: self.n * growth,
            ..self
        }
    }

    fn distance(&self) -> f64 {
        self.high - self.low
    }

    fn deviation(&self) -> f64 {
        self.distance() / QUARTILES
    }

    /// So many standard errors of the difference between the medians of two normal distributions of these spreads. Each spread is what its windows say, with a margin for how few they are, or the widest that was seen, which needs
    /// none; whichever says less. Null windows that spread more than was ever seen say for themselves how much.
    fn median_error(&self, null: &Spread, number: f64) -> f64 {
        let (own, theirs) = (self.deviation(), null.deviation());
        let (widest, margin) = (SPREAD_NS / 3.29, critical_of(number, self.n.min(null.n)));
        let is_calm = theirs <= widest;
        let at_most = |error: f64| if is_calm { error.min(number * widest) } else { error };
        let own_error = at_most(margin * own.min(theirs.max(widest)));
        let null_error = at_most(margin * theirs);
        MEDIAN_ERROR * (own_error.powi(2) / self.n + null_error.powi(2) / null.n).sqrt()
    }
}

/// By how much interleaved null windows were longer than those behind the worker's end, where that is more than can be explained; nothing at all where a
/// residual is no time. A worker that spreads the interleaved ones does not widen what can be explained by more than honest kernels do.
fn disturbance(null: &[f64], alone: &[f64]) -> Option<Option<f64>> {
    if alone.len() < FEWEST {
        return Some(None);
    }
    let (null, alone) = (Spread::of(null)?, Spread::of(alone)?);
    let longer_by = null.median - alone.median;
    let explained = DISTURBED_NS + null.median_error(&alone, DISTURBED_CRITICAL);
    Some((longer_by > explained).then_some(longer_by))
}

/// Student's t for `z` standard deviations, where a deviation is that of the quartiles of `n` windows: they know it as well as the root of the mean square does from about a third of them.
fn critical_of(z: f64, n: f64) -> f64 {
    critical(z, 0.37 * (n - 1.0))
}

/// Student's t for `z` standard deviations of a normal distribution and some degrees of freedom: the first terms of its expansion in their inverse.
fn critical(z: f64, freedom: f64) -> f64 {
    let first = (z.powi(3) + z) / 4.0;
    let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
    z + first / freedom + second / freedom.powi(2)
}

/// Counts windows that are too long for a worker whose long windows come as often as [`LONG_SHARE`] or as the null worker's.
fn long_windows(residuals: Residuals<'_>, longest: f64, null_median: f64) -> Imbalance {
    let beyond = |residuals: &[f64]| residuals.iter().filter(|residual| **residual > longest).count();
    let (trials, null, long) = (residuals.worker.len(), residuals.null.len(), beyond(residuals.null));
    let of_any = quantile_of_counts(binomial(trials, LONG_SHARE), 1.0 - LONG_CHANCE);
    let of_null = quantile_of_counts(beta_binomial(trials, null, long), 1.0 - LONG_CHANCE);
    Imbalance::HiddenInSome {
        windows: beyond(residuals.worker),
        allowed: of_any.max(of_null),
        beyond_ns: longest - null_median,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What an H200 was seen to allow its kernels.
    const KERNEL_PART_NS: f64 = 12_000.0;

    /// The tool's own part of a window on an H200.
    const OWN_NS: f64 = 291_000.0;

    /// Residuals as they were measured: a body whose p5 and p95 lie `spread` apart, and a tail of a few tens of microseconds.
    struct Machine {
        random: fastrand::Rng,
        spread_ns: f64,
        tail: f64,
    }

    impl Machine {
        fn normal(&mut self) -> f64 {
            let (radius, angle) = (1.0 - self.random.f64(), self.random.f64());
            (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
        }

        fn residual(&mut self) -> f64 {
            let body = self.normal() * self.spread_ns / 3.29;
            let tail = match self.random.f64() {
                chance if chance < 0.002 => 2e6 * self.random.f64(),
                chance if chance < self.tail => 50_000.0 * self.random.f64(),
                _ => 0.0,
            };
            // Both stamps and both events have steps of 32 ns.
            ((OWN_NS + body + tail) / 32.0).round() * 32.0
        }

        fn residuals(&mut self, windows: usize, longer_by: impl Fn(usize) -> f64) -> Vec<f64> {
            (0..windows).map(|window| self.residual() + longer_by(window)).collect()
        }
    }

    /// Cases of every size and spread that was seen: worker's windows, null windows, worker's spread, null worker's spread.
    const SHAPES: [(usize, usize, f64, f64); 9] = [
        (20, 6, 2_000.0, 2_000.0),
        (20, 8, 8_000.0, 2_000.0),
        (30, 10, 8_000.0, 8_000.0),
        (40, 40, 3_000.0, 2_000.0),
        (130, 130, 8_000.0, 8_000.0),
        (400, 100, 4_000.0, 8_000.0),
        (1_000, 250, 8_000.0, 2_000.0),
        (1_000, 90, 8_000.0, 8_000.0),
        (4_000, 340, 4_000.0, 8_000.0),
    ];

    fn balances(
        cases: usize,
        shape: (usize, usize, f64, f64),
        claimed_ns: f64,
        longer_by: impl Fn(usize) -> f64,
    ) -> Vec<Balance> {
        balances_on(cases, shape, 0.01, claimed_ns, longer_by)
    }

    /// The same on a machine that disturbs so many of its windows.
    fn balances_on(
        cases: usize,
        shape: (usize, usize, f64, f64),
        tail: f64,
        claimed_ns: f64,
        longer_by: impl Fn(usize) -> f64,
    ) -> Vec<Balance> {
        let (windows, nulls, spread, null_spread) = shape;
        let machine = |seed, spread_ns| Machine {
            random: fastrand::Rng::with_seed(seed),
            spread_ns,
            tail,
        };
        let (mut worker, mut null) = (machine(1, spread), machine(2, null_spread));
        (0..cases)
            .map(|_| {
                let residuals = Residuals {
                    worker: &worker.residuals(windows, &longer_by),
                    null: &null.residuals(nulls, |_| 0.0),
                    alone: &[],
                    claimed_ns,
                    kernel_part_ns: KERNEL_PART_NS,
                };
                Balance::of(residuals).unwrap()
            })
            .collect()
    }

    fn found(balances: &[Balance]) -> usize {
        balances.iter().filter(|balance| balance.imbalance.is_some()).count()
    }

    #[test]
    fn fewer_than_one_honest_case_in_a_thousand_is_accused_even_if_its_kernel_part_is_the_largest_there_is() {
        let (mut all, mut accused) = (0, 0);
        for shape in SHAPES {
            for kernel_part in [0.0, KERNEL_PART_NS] {
                let cases = 600_000 / shape.0;
                let found = found(&balances(cases, shape, 4_000.0, |_| kernel_part));
                assert!(
                    found * 1_000 <= cases.max(1_000),
                    "{found} of {cases} for {shape:?} and {kernel_part} ns"
                );
                (all, accused) = (all + cases, accused + found);
            }
        }
        assert!(all >= 20_000 && accused * 1_000 < all, "{accused} of {all}");
    }

    #[test]
    fn a_machine_that_disturbs_a_tenth_of_all_windows_accuses_fewer_than_one_honest_case_in_a_thousand() {
        for shape in SHAPES {
            for (tail, one_in) in [(0.05, 1_000), (0.2, 1_000), (0.4, 100)] {
                let cases = 400_000 / shape.0;
                let found = found(&balances_on(cases, shape, tail, 4_000.0, |_| 0.0));
                assert!(
                    found * one_in <= cases.max(one_in),
                    "{found} of {cases} for {shape:?} and a tail of {tail}"
                );
            }
        }
    }

    #[test]
    fn fifteen_microseconds_are_always_found_when_the_bound_is_precise() {
        let (mut all, mut missed) = (0, 0);
        for shape in SHAPES {
            let precise: Vec<Balance> = balances(600_000 / shape.0, shape, 4_000.0, |_| 15_000.0)
                .into_iter()
                .filter(Balance::is_precise)
                .collect();
            all += precise.len();
            missed += precise.len() - found(&precise);
        }
        assert!(all >= 10_000 && missed * 10_000 <= all, "{missed} of {all}");
    }

    #[test]
    fn a_twentieth_of_a_long_call_is_found_by_few_windows() {
        for claimed_ns in [3e5, 1e6, 1e7] {
            let balances = balances(2_000, (200, 60, 3_000.0, 3_000.0), claimed_ns, |_| claimed_ns / 20.0);
            assert_eq!(found(&balances), balances.len(), "{claimed_ns}");
        }
    }

    #[test]
    fn time_that_is_hidden_in_a_third_of_the_windows_is_found() {
        let some = |window: usize| if window.is_multiple_of(3) { 30_000.0 } else { 0.0 };
        let balances = balances(2_000, (100, 60, 3_000.0, 3_000.0), 4_000.0, some);
        assert_eq!(found(&balances), balances.len());
    }

    #[test]
    fn much_time_that_is_hidden_in_a_few_windows_is_found() {
        let few = |window: usize| if window.is_multiple_of(6) { 100_000.0 } else { 0.0 };
        // Two windows in a thousand are long on an H200 that is left alone.
        let balances = balances_on(2_000, (100, 60, 3_000.0, 3_000.0), 0.002, 4_000.0, few);
        let in_some = |balance: &&Balance| matches!(balance.imbalance, Some(Imbalance::HiddenInSome { .. }));
        let missed = balances.len() - balances.iter().filter(in_some).count();
        assert!(
            missed <= 20,
            "{missed} missed: only where the null worker has long windows too"
        );
    }

    #[test]
    fn time_that_is_moved_between_windows_is_found_though_the_sum_is_right() {
        let moved = |window: usize| if window.is_multiple_of(2) { 10_000.0 } else { -10_000.0 };
        for balance in balances(2_000, (101, 60, 3_000.0, 3_000.0), 40_000.0, moved) {
            assert!(
                matches!(balance.imbalance, Some(Imbalance::Uneven { .. })),
                "{balance:?}"
            );
        }
        let lopsided = |window: usize| match window % 5 {
            0 => -60_000.0,
            _ => 15_000.0,
        };
        for balance in balances(2_000, (100, 60, 3_000.0, 3_000.0), 100_000.0, lopsided) {
            assert_eq!(balance.imbalance, Some(Imbalance::Hidden));
        }
    }

    #[test]
    fn twenty_windows_beside_twenty_four_of_the_null_worker_have_a_bound_that_is_not_vague() {
        let balances = balances(5_000, (20, 24, 5_000.0, 5_000.0), 4_000.0, |_| 0.0);
        let vague = balances.iter().filter(|balance| balance.is_vague()).count();
        assert!(vague * 100 < balances.len(), "{vague}");
    }

    #[test]
    fn a_worker_cannot_widen_its_own_bound() {
        let shape = (100, 60, 3_000.0, 3_000.0);
        let wild = |window: usize| ((window * 37) % 100) as f64 * 1e3;
        let most = |balances: Vec<Balance>| balances.iter().map(|balance| balance.bound_ns).fold(0.0, f64::max);
        assert!(most(balances(500, shape, 4_000.0, wild)) < KERNEL_PART_NS + 4_000.0);
    }

    #[test]
    fn fewer_windows_have_a_wider_bound_and_too_few_have_none() {
        let bound = |windows, nulls| balances(1, (windows, nulls, 3_000.0, 3_000.0), 0.0, |_| 0.0)[0].bound_ns;
        assert!(bound(8, 6) > bound(20, 20) && bound(20, 20) > bound(200, 200));
        let few = [OWN_NS; 5];
        let residuals = Residuals {
            worker: &[OWN_NS; 50],
            null: &few,
            alone: &[],
            claimed_ns: 1.0,
            kernel_part_ns: KERNEL_PART_NS,
        };
        assert_eq!(Balance::of(residuals), None);
    }

    #[test]
    fn a_fifth_of_the_windows_foretells_whether_all_of_them_are_precise() {
        let mut machine = Machine {
            random: fastrand::Rng::with_seed(4),
            spread_ns: 3_000.0,
            tail: 0.01,
        };
        let mut foretold = |windows, nulls| {
            let precise = (0..200).filter(|_| {
                let residuals = Residuals {
                    worker: &machine.residuals(windows, |_| 0.0),
                    null: &machine.residuals(nulls, |_| 0.0),
                    alone: &[],
                    claimed_ns: 4_000.0,
                    kernel_part_ns: KERNEL_PART_NS,
                };
                will_be_precise(residuals, 5.0)
            });
            precise.count()
        };
        assert_eq!(foretold(4, 1), 0, "five null windows are too few");
        assert!(foretold(40, 12) >= 190);
        assert_eq!(foretold(0, 3), 0);
    }

    #[test]
    fn a_residual_that_is_no_time_has_no_balance() {
        let residuals = Residuals {
            worker: &[f64::NAN; 50],
            null: &[OWN_NS; 50],
            alone: &[],
            claimed_ns: 1.0,
            kernel_part_ns: KERNEL_PART_NS,
        };
        assert_eq!(Balance::of(residuals), None);
        let alone = Residuals {
            worker: &[OWN_NS; 50],
            alone: &[f64::NAN; 8],
            ..residuals
        };
        assert_eq!(Balance::of(alone), None);
    }

    /// Cases with eight null windows behind the worker's end; the worker lengthens its own windows and the interleaved null windows by so much.
    fn disturbed(cases: usize, spread_ns: f64, hidden_ns: f64, disturbance_ns: f64) -> Vec<Balance> {
        let mut machine = Machine {
            random: fastrand::Rng::with_seed(3),
            spread_ns,
            tail: 0.01,
        };
        (0..cases)
            .map(|_| {
                let residuals = Residuals {
                    worker: &machine.residuals(60, |_| hidden_ns),
                    null: &machine.residuals(20, |_| disturbance_ns),
                    alone: &machine.residuals(8, |_| 0.0),
                    claimed_ns: 4_000.0,
                    kernel_part_ns: KERNEL_PART_NS,
                };
                Balance::of(residuals).unwrap()
            })
            .collect()
    }

    #[test]
    fn fewer_than_one_honest_case_in_a_thousand_has_disturbed_null_windows() {
        for spread in [2_000.0, 8_000.0] {
            let balances = disturbed(20_000, spread, 0.0, 0.0);
            let alarms = balances
                .iter()
                .filter(|balance| balance.disturbance_ns.is_some())
                .count();
            assert!(alarms * 1_000 < balances.len(), "{alarms} at {spread} ns");
            assert_eq!(found(&balances), 0, "at {spread} ns");
        }
    }

    #[test]
    fn what_a_worker_hides_behind_null_windows_that_it_lengthens_is_found_behind_its_end() {
        for hidden_ns in [30_000.0, 100_000.0, 250_000.0] {
            for balance in disturbed(2_000, 3_000.0, hidden_ns, hidden_ns) {
                assert!(balance.disturbance_ns.is_some(), "{balance:?}");
                assert!(balance.imbalance.is_some(), "{balance:?}");
                assert!(balance.excess_ns > hidden_ns - 10_000.0, "{balance:?}");
            }
        }
    }

    #[test]
    fn a_disturbance_that_hides_nothing_is_told_and_accuses_nobody() {
        for balance in disturbed(2_000, 3_000.0, 0.0, 60_000.0) {
            assert!(
                balance.disturbance_ns.is_some() && balance.imbalance.is_none(),
                "{balance:?}"
            );
        }
    }
}
