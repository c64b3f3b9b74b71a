//! The timing audit: compares the times that workers claim with the referee's clock.
//!
//! The *residual* of a window is its time by the referee's clock minus the claim,
//! `S2 - S1 - claim`. It consists of the tool's own part of the window and of any time that the
//! claim leaves out. In a control window the tool's twin runs instead of the call, so its residual
//! is the tool's own part alone. Time hidden from a claim makes the residual longer. A worker
//! cannot make a residual shorter, except by claiming too much.
//!
//! The audit computes the reported value twice, worker by worker: from the claims, and from the
//! referee's clock minus the tool's own part. If the audit passes, the reported value is right to
//! within the bound, no matter in which windows and workers time is hidden. Plain means would be
//! less sensitive: one window with a time slice of 2 ms outweighs a hundred honest ones.

use super::estimate::case_value;
use super::interquartile_mean::{interquartile_mean, variance_of_mean};
use super::quantile::{median, quantile, sorted};

/// Number of standard errors by which a difference must exceed zero before it counts. For a normal
/// distribution, one honest case in 30 000 exceeds it.
const CRITICAL: f64 = 4.0;

/// Largest difference of the tool's own part of a window between a call and its twin, in
/// nanoseconds.
const TWIN_NS: f64 = 2_000.0;

/// Largest difference as a fraction of the claim. Clocks run at different rates, and calls of
/// milliseconds are interrupted.
const TWIN_SHARE: f64 = 0.002;

/// The same for times by the host's clock. Their windows end with a switch between contexts, which
/// writes back what the calls left in the caches and the control windows' kernel does not. Calls of
/// 1 ms that wrote 0.8 GB had 1 % more on an H200.
const WALL_SHARE: f64 = 0.02;

/// Excess of the verified value over the claims that is not reported, in nanoseconds. It limits
/// what a short claim can gain. On a disturbed H200, 4 of 29 honest twins of the suite's kernels
/// exceeded it, by at most 1.8 µs.
const AGREED_NS: f64 = 1_000.0;

/// A bound larger than both limits says little: in nanoseconds, and as a fraction of the claim.
const VAGUE_NS: f64 = 6_000.0;
const VAGUE_SHARE: f64 = 0.02;

/// The quantile of the workers' spreads that is used. One disturbed worker then does not affect the
/// others.
const SPREAD_QUANTILE: f64 = 0.75;

/// Maximum spread of a worker's windows, as a multiple of the spread of control windows.
const WIDER: f64 = 3.0;

/// The fewest windows of each kind for an audit.
const FEWEST: usize = 6;

/// How much longer control windows may be while the worker under test lives than after its end, in
/// nanoseconds. Another process with a context has a small cost.
const DISTURBED_NS: f64 = 5_000.0;

/// A window by both clocks, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clocked {
    /// Time that the worker claims.
    pub claim_ns: f64,
    /// Time by the referee's clock minus the claim.
    pub residual_ns: f64,
}

/// The windows of one fresh worker.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClockedTurn {
    /// The windows of its calls.
    pub windows: Vec<Clocked>,
    /// Residuals of the control windows between them, in nanoseconds.
    pub control_ns: Vec<f64>,
}

/// The result of a timing audit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimingAudit {
    /// The reported value, computed from the referee's clock instead of the claims.
    pub verified_ns: f64,
    /// The verified value minus the value of the claims.
    pub excess_ns: f64,
    /// The largest excess of an honest worker.
    pub bound_ns: f64,
    /// The value computed from the claims.
    pub claimed_ns: f64,
    /// How much longer control windows took while the worker under test lived than after its end,
    /// if that cannot be explained. The audit then uses the shorter ones.
    pub disturbance_ns: Option<f64>,
}

impl TimingAudit {
    /// Compares both clocks. `alone` has the residuals of control windows after the end of the
    /// worker under test, which it cannot disturb; it may be empty. `None` if there are too few
    /// windows or a time is not finite.
    pub fn new(turns: &[ClockedTurn], alone: &[f64]) -> Option<TimingAudit> {
        TimingAudit::within(TWIN_SHARE, turns, alone)
    }

    /// Compares as [`TimingAudit::new`] does, if the claims are times by the clock of the referee's
    /// host.
    pub fn from_wall_times(turns: &[ClockedTurn], alone: &[f64]) -> Option<TimingAudit> {
        TimingAudit::within(WALL_SHARE, turns, alone)
    }

    /// `share` is the largest difference between a call and its twin as a fraction of the claim.
    fn within(share: f64, turns: &[ClockedTurn], alone: &[f64]) -> Option<TimingAudit> {
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
        let claimed_ns = value(turns.iter().map(|turn| each(turn, |window| window.claim_ns)))?;
        let verified = |(turn, own_part): (&&ClockedTurn, &f64)| {
            each(turn, |window| window.claim_ns + window.residual_ns - own_part)
        };
        let verified_ns = value(turns.iter().zip(&own_parts).map(verified))?;
        let residuals: Vec<Vec<f64>> = turns
            .iter()
            .map(|turn| each(turn, |window| window.residual_ns))
            .collect();
        let of_control_window = variance_of_window(&own)?;
        // Without this limit, a worker could widen the bound.
        let of_window = variance_of_window(&residuals)?.min(WIDER.powi(2) * of_control_window);
        let variance = of_value(of_window, &residuals) + of_value(of_control_window, &own);
        let error_ns = variance.sqrt();
        Some(TimingAudit {
            verified_ns,
            excess_ns: verified_ns - claimed_ns,
            bound_ns: TWIN_NS + share * claimed_ns.max(0.0) + CRITICAL * error_ns,
            claimed_ns,
            disturbance_ns,
        })
    }

    /// Whether the excess is larger than an honest worker can have.
    pub fn is_too_short(&self) -> bool {
        self.excess_ns > self.bound_ns
    }

    /// Returns the time to add to the claims of host code. After it, the reported value is below
    /// the verified value by at most the known agreement of the two.
    pub fn unclaimed_ns(&self) -> f64 {
        (self.excess_ns - AGREED_NS).max(0.0)
    }

    /// Whether the windows vary so much, or are so few, that the bound says little.
    pub fn is_vague(&self) -> bool {
        self.bound_ns > VAGUE_NS.max(VAGUE_SHARE * self.claimed_ns)
    }
}

fn each(turn: &ClockedTurn, of: impl Fn(&Clocked) -> f64) -> Vec<f64> {
    turn.windows.iter().map(of).collect()
}

/// Returns the value of a case from the samples of each worker.
fn value(workers: impl Iterator<Item = Vec<f64>>) -> Option<f64> {
    let values = workers.map(|samples| interquartile_mean(&samples));
    case_value(&values.collect::<Option<Vec<f64>>>()?)
}

/// Returns the variance of one window within its worker. Divided by the number of windows, it is
/// the variance of their interquartile mean.
fn variance_of_window(workers: &[Vec<f64>]) -> Option<f64> {
    let spread = |residuals: &[f64]| Some(residuals.len() as f64 * variance_of_mean(&sorted(residuals)?, 1.0));
    let known = workers.iter().filter(|residuals| residuals.len() > 2);
    let spreads: Vec<f64> = known.map(|residuals| spread(residuals)).collect::<Option<_>>()?;
    match quantile(&sorted(&spreads).unwrap_or_default(), SPREAD_QUANTILE) {
        Some(of_window) => Some(of_window),
        None => spread(&workers.concat()),
    }
}

/// Returns the variance of the mean over workers of the interquartile means of their windows, from
/// the variance of one window.
fn of_value(of_window: f64, workers: &[Vec<f64>]) -> f64 {
    let of_workers: f64 = workers.iter().map(|residuals| of_window / residuals.len() as f64).sum();
    of_workers / (workers.len() as f64).powi(2)
}

/// Returns how much longer control windows were during the worker's life than after its end, if
/// that cannot be explained. The outer `None` means that a residual is not finite.
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
