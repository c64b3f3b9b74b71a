//! Whether the time that passed for the referee is the time that a worker claims.
//!
//! A window's *residual* is what the referee's clock saw beyond the claim, `S2 - S1 - claim`: the
//! tool's own part of the window, and whatever the claim leaves out. Control windows, in which the
//! tool's own twin of the call runs, have residuals of the tool's own part alone. Time that is
//! hidden from a claim makes its residual longer, and nothing that a worker does makes it shorter
//! but claiming too much.
//!
//! One figure is compared, the one that is reported: it is made once of the claims, and once of
//! what passed for the referee in each window beyond the tool's own part, worker by worker. What
//! passes has its reported figure right to the bound, whichever windows and workers time is hidden
//! in. Plain means would see less: one window of a time slice, 2 ms, outweighs a hundred honest
//! ones.

use super::estimate::case_value;
use super::interquartile_mean::{interquartile_mean, variance_of_mean};
use super::quantile::{median, quantile, sorted};

/// Standard errors that a difference must have before it counts: one honest case in 30 000 for a
/// normal distribution.
const CRITICAL: f64 = 4.0;

/// By how much the tool's own part of a window may differ between a call and its twin, in
/// nanoseconds.
const TWIN_NS: f64 = 2_000.0;

/// And as a share of the claim: clocks differ in their rates, and a call of milliseconds is
/// interrupted.
const TWIN_SHARE: f64 = 0.002;

/// By how much the verified figure may be longer than that of the claims before it is reported, in
/// nanoseconds: what a claim that is too short can be worth. Of 29 honest twins of the suite's
/// kernels 4 lay above it on a disturbed H200, by 1.8 µs at most.
const AGREED_NS: f64 = 1_000.0;

/// How well a figure must be known for its bound to say much: in nanoseconds, and as a share of the
/// claim.
const VAGUE_NS: f64 = 6_000.0;
const VAGUE_SHARE: f64 = 0.02;

/// The workers' spreads of which as many are smaller: one that is disturbed says nothing of the
/// others.
const TOLD: f64 = 0.75;

/// How many times as far as control windows a worker's may spread.
const WIDER: f64 = 3.0;

/// Fewer windows than this, of either kind, say nothing.
const FEWEST: usize = 6;

/// Control windows may last so much longer while the worker under test lives than behind its end:
/// another process with a context costs a little.
const DISTURBED_NS: f64 = 5_000.0;

/// A window by both clocks, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clocked {
    /// What the worker claims.
    pub claim_ns: f64,
    /// What passed for the referee beyond that.
    pub residual_ns: f64,
}

/// The windows of one fresh worker.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClockedTurn {
    /// Those of its calls.
    pub windows: Vec<Clocked>,
    /// Residuals of the control windows among them, in nanoseconds.
    pub control_ns: Vec<f64>,
}

/// A case's claims by the referee's clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimingAudit {
    /// The reported figure, made of what passed for the referee instead of what was claimed.
    pub verified_ns: f64,
    /// By how much that is longer than the figure of the claims.
    pub excess_ns: f64,
    /// By how much it can be for an honest worker.
    pub bound_ns: f64,
    /// The figure of the claims.
    pub claimed_ns: f64,
    /// By how much control windows took longer while the worker under test lived than behind its end,
    /// where that is more than can be explained. The excess is over the shorter ones then.
    pub disturbance_ns: Option<f64>,
}

impl TimingAudit {
    /// Compares both clocks. `alone` are residuals of control windows behind the end of the worker
    /// under test, which it cannot disturb; empty where there are none. `None` where there are too
    /// few windows, or where a time is not finite.
    pub fn of(turns: &[ClockedTurn], alone: &[f64]) -> Option<TimingAudit> {
        let control: Vec<f64> = turns.iter().flat_map(|turn| turn.control_ns.iter().copied()).collect();
        let turns: Vec<&ClockedTurn> = turns.iter().filter(|turn| !turn.windows.is_empty()).collect();
        let windows: usize = turns.iter().map(|turn| turn.windows.len()).sum();
        if windows.min(control.len()) < FEWEST {
            return None;
        }
        let disturbance_ns = disturbance(&control, alone)?;
        let alone = disturbance_ns.map(|_| alone);
        let own = |turn: &ClockedTurn| match (alone, &turn.control_ns[..]) {
            (Some(alone), _) => alone.to_vec(),
            (None, []) => control.clone(),
            (None, own) => own.to_vec(),
        };
        let own: Vec<Vec<f64>> = turns.iter().map(|turn| own(turn)).collect();
        let own_parts: Vec<f64> = own
            .iter()
            .map(|control_ns| interquartile_mean(control_ns))
            .collect::<Option<_>>()?;
        let claimed_ns = figure(turns.iter().map(|turn| each(turn, |window| window.claim_ns)))?;
        let verified = |(turn, own_part): (&&ClockedTurn, &f64)| {
            each(turn, |window| window.claim_ns + window.residual_ns - own_part)
        };
        let verified_ns = figure(turns.iter().zip(&own_parts).map(verified))?;
        let residuals: Vec<Vec<f64>> = turns
            .iter()
            .map(|turn| each(turn, |window| window.residual_ns))
            .collect();
        let of_control_window = variance_of_window(&own)?;
        // More would let a worker widen its own bound.
        let of_window = variance_of_window(&residuals)?.min(WIDER.powi(2) * of_control_window);
        let variance = of_figure(of_window, &residuals) + of_figure(of_control_window, &own);
        let error_ns = variance.sqrt();
        Some(TimingAudit {
            verified_ns,
            excess_ns: verified_ns - claimed_ns,
            bound_ns: TWIN_NS + TWIN_SHARE * claimed_ns.max(0.0) + CRITICAL * error_ns,
            claimed_ns,
            disturbance_ns,
        })
    }

    /// Whether claims are too short by more than an honest worker's can be.
    pub fn is_too_short(&self) -> bool {
        self.excess_ns > self.bound_ns
    }

    /// What is added to the claims of host code, which is believed no further: as much as leaves
    /// the reported figure below the verified one by no more than the two are known to agree.
    pub fn unclaimed_ns(&self) -> f64 {
        (self.excess_ns - AGREED_NS).max(0.0)
    }

    /// Whether the windows differ so much, or are so few, that the bound says little.
    pub fn is_vague(&self) -> bool {
        self.bound_ns > VAGUE_NS.max(VAGUE_SHARE * self.claimed_ns)
    }
}

fn each(turn: &ClockedTurn, of: impl Fn(&Clocked) -> f64) -> Vec<f64> {
    turn.windows.iter().map(of).collect()
}

/// What is reported of a case with these samples of each worker.
fn figure(workers: impl Iterator<Item = Vec<f64>>) -> Option<f64> {
    let values = workers.map(|samples| interquartile_mean(&samples));
    case_value(&values.collect::<Option<Vec<f64>>>()?)
}

/// How much one window varies about the others of its worker, so that so much over their number is
/// the variance of their interquartile mean.
fn variance_of_window(workers: &[Vec<f64>]) -> Option<f64> {
    let spread = |residuals: &[f64]| Some(residuals.len() as f64 * variance_of_mean(&sorted(residuals)?, 1.0));
    let told = workers.iter().filter(|residuals| residuals.len() > 2);
    let told: Vec<f64> = told.map(|residuals| spread(residuals)).collect::<Option<_>>()?;
    match quantile(&sorted(&told).unwrap_or_default(), TOLD) {
        Some(of_window) => Some(of_window),
        None => spread(&workers.concat()),
    }
}

/// The variance of a mean over workers of the interquartile means of their windows, of which one
/// varies so much.
fn of_figure(of_window: f64, workers: &[Vec<f64>]) -> f64 {
    let of_workers: f64 = workers.iter().map(|residuals| of_window / residuals.len() as f64).sum();
    of_workers / (workers.len() as f64).powi(2)
}

/// By how much control windows were longer beside the worker than behind its end, where that is more
/// than can be explained; nothing at all where a residual is no time.
fn disturbance(control: &[f64], alone: &[f64]) -> Option<Option<f64>> {
    if alone.len() < FEWEST {
        return Some(None);
    }
    let longer_by = median(control)? - median(alone)?;
    let variance = |residuals: &[f64]| Some(variance_of_mean(&sorted(residuals)?, 1.0));
    let variance = variance(control)? + variance(alone)?;
    let explained = DISTURBED_NS + CRITICAL * variance.sqrt();
    Some((longer_by > explained).then_some(longer_by))
}

#[cfg(test)]
mod tests;
