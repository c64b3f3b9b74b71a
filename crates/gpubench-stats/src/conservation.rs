//! Whether the time that passed for the referee is the time that a worker claims.
//!
//! A window's *residual* is what the referee's clock saw beyond the claim, `S2 - S1 - claim`: the tool's own part of the window, and whatever
//! the claim leaves out. The residuals of the worker under test are compared with those of a null worker, whose windows hold the tool's own
//! part alone. Time that is hidden from a claim makes its residual longer, and nothing that a worker does makes it shorter but claiming too much.
//!
//! Four figures are compared, because each alone can be kept while another is changed. The *reported median* is what it is about: the same figure is made of the claims and of what passed in each window beyond a null
//! window, and may not be lower by more than the bound, whichever windows and workers time is hidden in. The *median* residual says the same of all windows together. The
//! *distance of the quartiles* answers to time that is moved between windows or hidden in a quarter to half of them, where there are so many that their ranks tell anything. The *number of long residuals* answers to
//! time that is hidden in fewer. What passes all four has its reported median right to the bound. Plain means see less: one window of a time slice, 2 ms, outweighs a hundred honest ones.
//!
//! A machine is disturbed now and then, for half a second or for long. So what is normal is taken from the null windows of the same time where they are worse than any seen on a machine that is left alone, and no more is made of them than so few can tell.

use super::binomial::{beta_binomial, binomial, quantile_of_counts};
use super::estimate::case_value;
use super::interquartile_mean::interquartile_mean;
use super::quantile::median;
use super::spread::Spread;

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

/// What is longer is a gap, a time slice of somebody else's for example, and costs the grade: it counts no more than this.
const GAP_NS: f64 = 300_000.0;

/// The error of a reported median beside that of the median of all windows: workers with few windows each mind a long one.
const REPORT_ERROR: f64 = 1.25;

/// A window by both clocks, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clocked {
    /// What the worker claims.
    pub claim_ns: f64,
    /// What passed for the referee beyond that.
    pub residual_ns: f64,
}

/// Windows of which time is to be conserved, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Residuals<'a> {
    /// Of the fresh workers under test, one after another.
    pub workers: &'a [Vec<Clocked>],
    /// Of the null worker, interleaved with them.
    pub null: &'a [f64],
    /// Of the null worker behind the end of the worker under test, which cannot disturb these; empty where there are none yet.
    pub alone: &'a [f64],
    /// How much the tool's own part of a window depends on the kernel.
    pub kernel_part_ns: f64,
}

impl Residuals<'_> {
    fn of_all_workers(&self, figure: impl Fn(&Clocked) -> f64) -> Vec<f64> {
        self.workers.iter().flatten().map(figure).collect()
    }

    /// By how much the reported median would be longer if claims were what passed for the referee in their windows but for the tool's own part.
    fn hidden_from_report(&self, own_part_ns: f64) -> Option<f64> {
        let truth = reported(self.workers, |window| {
            window.claim_ns + (window.residual_ns - own_part_ns).min(GAP_NS)
        })?;
        Some(truth - reported(self.workers, |window| window.claim_ns)?)
    }

    /// How many times as large the standard error of a reported median is as if all workers had as many windows.
    fn unevenness(&self) -> f64 {
        let windows = self.workers.iter().map(|windows| windows.len() as f64);
        let windows: Vec<f64> = windows.filter(|number| *number > 0.0).collect();
        let (all, inverse) = (
            windows.iter().sum::<f64>(),
            windows.iter().map(|n| n.recip()).sum::<f64>(),
        );
        (all * inverse).sqrt() / windows.len() as f64
    }
}

/// The median of a case, of what `of` makes of each window.
fn reported(workers: &[Vec<Clocked>], of: impl Fn(&Clocked) -> f64) -> Option<f64> {
    let filled = workers.iter().filter(|windows| !windows.is_empty());
    let values = filled.map(|windows| interquartile_mean(&windows.iter().map(&of).collect::<Vec<f64>>()));
    case_value(&values.collect::<Option<Vec<f64>>>()?)
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
    /// Those claims are too short that the reported median is made of.
    HiddenFromReport {
        /// By how much it is too short.
        excess_ns: f64,
        /// By how much it may be.
        bound_ns: f64,
    },
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
        let of_workers = residuals.of_all_workers(|window| window.residual_ns);
        if of_workers.len().min(residuals.null.len()) < FEWEST {
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
        let claimed_ns = median(&residuals.of_all_workers(|window| window.claim_ns))?;
        let (worker, null) = (Spread::of(&of_workers)?, Spread::of(residuals.null)?);
        let long_call_ns = (claimed_ns - LONG_CALL_NS).max(0.0);
        let allowed = residuals.kernel_part_ns + CLOCK_RATE * claimed_ns.max(0.0) + LONG_CALL_SHARE * long_call_ns;
        let (excess_ns, error_ns) = (worker.median - null.median, worker.median_error(&null, CRITICAL));
        let bound_ns = allowed + error_ns;
        let report = Imbalance::HiddenFromReport {
            excess_ns: residuals.hidden_from_report(null.median)?,
            bound_ns: allowed + REPORT_ERROR * residuals.unevenness() * error_ns,
        };
        let spread = Imbalance::Uneven {
            excess_ns: worker.distance() - null.distance(),
            bound_ns: allowed
                + (worker.distance() - worker.distance_at_least)
                + (null.distance_at_most - null.distance()),
        };
        let long = long_windows(&of_workers, residuals.null, null.median, allowed + HIDDEN_NS);
        let hidden = (excess_ns > bound_ns).then_some(Imbalance::Hidden);
        let other = [report, spread, long].into_iter().find(Imbalance::exceeds);
        Some(Balance {
            excess_ns,
            bound_ns,
            error_ns,
            claimed_ns,
            disturbance_ns,
            imbalance: hidden.or(other),
        })
    }
}

impl Imbalance {
    fn exceeds(&self) -> bool {
        match *self {
            Imbalance::Hidden => true,
            Imbalance::HiddenFromReport { excess_ns, bound_ns } | Imbalance::Uneven { excess_ns, bound_ns } => {
                excess_ns > bound_ns
            }
            Imbalance::HiddenInSome { windows, allowed, .. } => windows > allowed,
        }
    }
}

/// Whether the bound would be precise if there were `growth` times as many windows of both workers, alike those there are. It is asked while more are to come.
pub fn will_be_precise(residuals: Residuals<'_>, growth: f64) -> bool {
    let grown = |windows: &[f64]| windows.len() as f64 * growth;
    let of_workers = residuals.of_all_workers(|window| window.residual_ns);
    let fewest = grown(&of_workers).min(grown(residuals.null));
    let (Some(worker), Some(null)) = (Spread::of(&of_workers), Spread::of(residuals.null)) else {
        return false;
    };
    let error_ns = worker.grown(growth).median_error(&null.grown(growth), CRITICAL);
    fewest >= FEWEST as f64 && error_ns <= PRECISE_NS
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

/// Counts windows that are longer than the null worker's median by more than `beyond_ns`, for a worker whose long windows come as often as [`LONG_SHARE`] or as the null worker's.
fn long_windows(of_workers: &[f64], of_null: &[f64], null_median: f64, beyond_ns: f64) -> Imbalance {
    let beyond = |residuals: &[f64]| {
        residuals
            .iter()
            .filter(|residual| **residual > null_median + beyond_ns)
            .count()
    };
    let of_any = quantile_of_counts(binomial(of_workers.len(), LONG_SHARE), 1.0 - LONG_CHANCE);
    let like_null = beta_binomial(of_workers.len(), of_null.len(), beyond(of_null));
    Imbalance::HiddenInSome {
        windows: beyond(of_workers),
        allowed: of_any.max(quantile_of_counts(like_null, 1.0 - LONG_CHANCE)),
        beyond_ns,
    }
}

#[cfg(test)]
mod tests;
