//! The grade of a case, and the reason for it.

use std::num::NonZeroU32;

use super::conservation::residual;
use super::disturbance::disturbed;
use super::sharing::sharing;
use super::{Evidence, Execution, Grade, WindowEvidence};
use gpubench_contract::MetricKind;
use gpubench_contract::units::time;
use gpubench_device::ClockBound;
use gpubench_protocol::wire::{WindowEnd, WindowFacts};
use gpubench_sandbox::Confinement;
use gpubench_stats::{TimingAudit, median};

/// A step of the referee that is longer than the usual one by more than this was interrupted. A
/// time slice of another process on a GPU takes about 2 ms.
const GAP_NS: f64 = 300_000.0;

/// Share of windows with a gap that is still normal: a host that queues a window slowly causes one
/// too. Another process on the device has its time slice in most windows.
const STRAY_SHARE: f64 = 0.1;

/// Returns the grade of a case, and the reasons if it is `unverified`.
pub(super) fn grade(evidence: &Evidence<'_>, balance: Option<&TimingAudit>) -> (Grade, Option<String>) {
    let doubts: Vec<String> = doubt(evidence, balance)
        .into_iter()
        .chain(no_sandbox(evidence))
        .collect();
    match evidence.execution {
        _ if !doubts.is_empty() => (Grade::Unverified, Some(doubts.join("; "))),
        Execution::Sealed => (Grade::Sealed, None),
        Execution::Hosted(_) => (Grade::Sandboxed, None),
    }
}

fn no_sandbox(evidence: &Evidence<'_>) -> impl Iterator<Item = String> {
    let of_host_code = match evidence.execution {
        Execution::Sealed | Execution::Hosted(Confinement::Closed) => None,
        Execution::Hosted(Confinement::Open(reason)) => Some(open_sandbox("the hosted code", reason)),
    };
    of_host_code.into_iter().chain(evidence.open_sandboxes.iter().cloned())
}

/// Describes an open sandbox, for a grade reason.
pub(crate) fn open_sandbox(whose: &str, reason: &str) -> String {
    format!("the sandbox of {whose} has a gap: {reason}")
}

/// Why the referee's clock could not check the claims.
fn doubt(evidence: &Evidence<'_>, balance: Option<&TimingAudit>) -> Option<String> {
    if evidence.metric != MetricKind::Time {
        return doubt_of_counts(evidence);
    }
    match evidence.clock_bound {
        ClockBound::Absent(why) => Some(why.to_string()),
        ClockBound::Exclusive => None,
    }
    .or_else(|| other_clients(evidence.surroundings.other_clients?))
    .or_else(|| {
        Some(format!(
            "the timing check was cut short: {}",
            evidence.surroundings.loss?
        ))
    })
    .or_else(|| disturbed(evidence, balance))
    .or_else(|| interrupted(evidence))
    .or_else(|| match balance {
        None => Some(too_few(evidence)),
        Some(balance) => too_vague(balance),
    })
    .or_else(|| may_share_work(evidence, balance))
}

/// Reports calls of a sample that take much less time together than alone, or that cannot be
/// compared.
fn may_share_work(evidence: &Evidence<'_>, balance: Option<&TimingAudit>) -> Option<String> {
    if evidence.calls == NonZeroU32::MIN {
        return None;
    }
    if let Execution::Hosted(_) = evidence.execution {
        return Some("its host code knows which calls a window makes, so they may share work unseen (hint: calls cannot share work in `--mode cold`)".to_owned());
    }
    let Some(sharing) = sharing(evidence, balance) else {
        return Some("too few windows show how long one of its calls takes alone".to_owned());
    };
    let [alone, together, launch] = [sharing.alone_ns, sharing.together_ns, sharing.launch_ns].map(time);
    sharing.is_likely().then(|| {
        format!(
            "its calls may share work: a call takes {alone} alone and {together} among {}, and the launch explains {launch} of the difference (hint: calls cannot share work in `--mode cold`)",
            evidence.calls
        )
    })
}

/// Why counts cannot be trusted. No clock checks them, so the worker must run no user code on the
/// host.
fn doubt_of_counts(evidence: &Evidence<'_>) -> Option<String> {
    match evidence.execution {
        Execution::Sealed => None,
        Execution::Hosted(_) => Some("the benchmark's host code ran in the process that counts".to_owned()),
    }
}

fn other_clients(number: u32) -> Option<String> {
    match number {
        0 => None,
        1 => Some("another process is using the device".to_owned()),
        more => Some(format!("{more} other processes are using the device")),
    }
}

fn too_few(evidence: &Evidence<'_>) -> String {
    let (sampled, control) = (evidence.sampled().len(), evidence.controls().count());
    format!(
        "too few windows to check the claims against the referee's clock: {sampled} sampled and {control} control windows"
    )
}

/// Reports windows that vary so much that a large part of a claim could be hidden.
fn too_vague(balance: &TimingAudit) -> Option<String> {
    balance.is_vague().then(|| {
        format!(
            "the bound on the claims is too wide ({:.0} µs): the windows vary too much, or there are too few",
            balance.bound_ns / 1e3
        )
    })
}

/// Reports windows in which another process used the device, or a kernel of the worker ran at the
/// wrong time.
fn interrupted(evidence: &Evidence<'_>) -> Option<String> {
    let (sampled, control): (_, Vec<_>) = (evidence.sampled(), evidence.controls().collect());
    let all = sampled.len() + control.len();
    let afterwards = own_phases(&evidence.surroundings.controls_afterwards.iter().collect::<Vec<_>>());
    let copies = |windows: &[&WindowEvidence]| -> Vec<Option<f64>> {
        let copy = |facts: &WindowFacts| facts.s3_ns.saturating_sub(facts.s2_ns) as f64;
        windows.iter().map(|window| Some(copy(&window.facts))).collect()
    };
    let residuals =
        |windows: &[&WindowEvidence]| -> Vec<Option<f64>> { windows.iter().copied().map(residual).collect() };
    let interrupted: usize = [&sampled, &control]
        .into_iter()
        .map(|windows| {
            let kinds = [
                too_long(&own_phases(windows), &afterwards),
                too_long(&copies(windows), &[]),
                too_long(&residuals(windows), &[]),
            ];
            (0..windows.len())
                .filter(|window| kinds.iter().any(|too_long| too_long[*window]))
                .count()
        })
        .sum();
    (interrupted >= 2 && interrupted as f64 > STRAY_SHARE * all as f64).then(|| {
        format!("something else used the device in {interrupted} of {all} windows: steps of the referee took over {} µs longer than usual", GAP_NS / 1e3)
    })
}

/// How long the referee had the device to itself before each release.
fn own_phases(windows: &[&WindowEvidence]) -> Vec<Option<f64>> {
    let ended = |facts: &WindowFacts| facts.end == WindowEnd::Checked;
    let phase = |facts: &WindowFacts| facts.s1_ns.saturating_sub(facts.s0_ns) as f64;
    windows
        .iter()
        .map(|window| ended(&window.facts).then(|| phase(&window.facts)))
        .collect()
}

/// Marks the steps that exceed the median by more than a gap. The median of `others`, which no
/// worker can have disturbed, counts if it is lower.
fn too_long(phases: &[Option<f64>], others: &[Option<f64>]) -> Vec<bool> {
    let median_of = |phases: &[Option<f64>]| median(&phases.iter().copied().flatten().collect::<Vec<_>>());
    let usual = median_of(phases).into_iter().chain(median_of(others));
    let usual = usual.fold(f64::INFINITY, f64::min);
    phases
        .iter()
        .map(|phase| phase.is_some_and(|phase| phase > usual + GAP_NS))
        .collect()
}
