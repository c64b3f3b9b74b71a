//! The judge: evidence in, judgement out.

use gpubench::catalog::Tensor;

use super::conservation::judge_conservation;
use super::disturbance::judge_disturbance;
use super::finding::{Finding, finding};
use super::grade::grade;
use super::{Cause, Ending, Evidence, Execution, Grade, Verdict, WindowEvidence, words};
use crate::clients::End;
use gpubench_device::FaultCode;
use gpubench_diagnostic::quoted;
use gpubench_protocol::window::WindowKind;
use gpubench_protocol::wire::{Claim, NOWHERE, OutputFacts, Replay, WindowEnd};
use gpubench_stats::TimingAudit;

/// A share of wrong elements from which an output counts as not written at all, though some poison
/// happens to be right.
const NEARLY_ALL: f64 = 0.95;

/// Of what a worker printed that did not end by itself, this much is repeated.
const LINES_REPEATED: usize = 10;

/// What became of a case.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// Why, unless it passed.
    pub cause: Option<Cause>,
    /// What happened and where, unless it passed.
    pub message: Option<String>,
    /// How far its times can be trusted.
    pub grade: Grade,
    /// Why not further, where they are `advisory`.
    pub grade_reason: Option<String>,
    /// Position of the window that decided, where one did.
    pub window: Option<usize>,
}

impl Judgement {
    /// The same of a test whose last worker had blocks and threads run in another order than those
    /// before, by its seed.
    #[must_use]
    pub(crate) fn in_order(self, schedule: Option<u64>) -> Judgement {
        let Some(seed) = schedule else { return self };
        let said = |message| {
            format!(
                "{message}; in another order of blocks and threads, which `--schedule {seed}` repeats: in their own order \
                 the call was right (hint: a barrier or an atomic operation may be missing, or a block may rely on \
                 others that run before it)"
            )
        };
        Judgement {
            message: self.message.map(said),
            ..self
        }
    }

    /// The same, with the last of what a worker that failed has printed.
    #[must_use]
    pub fn with_last_words(mut self, printed: &str) -> Judgement {
        let printed = quoted(printed);
        let lines: Vec<&str> = printed.lines().collect();
        let last = &lines[lines.len().saturating_sub(LINES_REPEATED)..];
        if let (Some(message), false) = (&mut self.message, last.is_empty()) {
            message.push_str("; the worker last wrote:\n");
            message.push_str(&last.join("\n"));
        }
        self
    }
}

/// Judges a case, by its windows and by their `balance`, which is that of the same evidence. Any
/// wrong, incomplete or late-written window fails it, whatever its kind.
pub fn judge(evidence: &Evidence<'_>, balance: Option<&TimingAudit>) -> Judgement {
    let findings = || {
        let windows = evidence.windows.iter().enumerate();
        windows.filter_map(|(position, window)| Some((position, inspect(evidence, window)?)))
    };
    // What a cheat returns is often clear only from the third call on, when the first call is not
    // the one before any more.
    let replays = |finding: &Finding| matches!(finding.cause, Cause::Cached | Cause::Stale);
    let decisive = findings().next().map(|first| match first.1.verdict {
        Verdict::WrongOutput => findings().rfind(|(_, finding)| replays(finding)).unwrap_or(first),
        _ => first,
    });
    let (window, found): (Option<usize>, Option<Finding>) = decisive.unzip();
    let found = found.or_else(|| judge_whole(evidence, balance));
    let (grade, grade_reason) = grade(evidence, balance);
    let (verdict, cause, message) = match found {
        None => (Verdict::Pass, None, None),
        Some(found) => (found.verdict, Some(found.cause), Some(found.message)),
    };
    Judgement {
        verdict,
        cause,
        message,
        grade,
        grade_reason,
        window,
    }
}

fn inspect(evidence: &Evidence<'_>, window: &WindowEvidence) -> Option<Finding> {
    inspect_fault(window).or_else(|| match window.facts.end {
        WindowEnd::Checked => inspect_facts(evidence, window)
            .or_else(|| inspect_outputs(evidence, window))
            .or_else(|| inspect_redzone(evidence, window))
            .or_else(|| inspect_seals(evidence, window))
            .or_else(|| inspect_claim(evidence, window)),
        // The window alone does not tell why: a claim without an end is a lie, the rest is told by
        // the case's ending.
        WindowEnd::NotDone | WindowEnd::Aborted if window.claim.is_some() => {
            let call = window.facts.window;
            let message = format!("the worker says call {call} has ended, but its device never wrote so");
            finding(Verdict::ProtocolViolation, Cause::BadClaim, message)
        }
        WindowEnd::NotDone | WindowEnd::Aborted => None,
    })
}

fn is_checked(window: &WindowEvidence) -> bool {
    window.facts.end == WindowEnd::Checked
}

fn inspect_fault(window: &WindowEvidence) -> Option<Finding> {
    let claim = window.claim.as_deref()?;
    let cause = match claim.fault {
        FaultCode::None => return None,
        FaultCode::HostCallFailed => {
            return finding(Verdict::Crashed, Cause::CallFailed, words::host_failure(claim));
        }
        FaultCode::ForeignContext => {
            return finding(
                Verdict::ProtocolViolation,
                Cause::ForeignContext,
                words::host_failure(claim),
            );
        }
        FaultCode::OutOfBounds => Cause::OutOfBounds,
        FaultCode::InputWritten => Cause::InputWritten,
        FaultCode::BarrierDivergence => Cause::BarrierDivergence,
        FaultCode::DivisionByZero => Cause::DivisionByZero,
        FaultCode::StackOverflow => Cause::StackOverflow,
        FaultCode::IllegalInstruction => Cause::IllegalInstruction,
        FaultCode::Trap => Cause::Trap,
        FaultCode::Misaligned => Cause::MisalignedAccess,
        FaultCode::LaunchFailed => Cause::LaunchFailed,
        FaultCode::Ecc => Cause::EccError,
        FaultCode::Other => Cause::Unsupported,
    };
    finding(Verdict::Crashed, cause, words::fault(claim))
}

/// Facts that do not fit the case are no ground for a `pass`.
fn inspect_facts(evidence: &Evidence<'_>, window: &WindowEvidence) -> Option<Finding> {
    let is_output = |tensor: &&Tensor| tensor.role.is_output();
    let expected: Vec<u64> = evidence
        .tensors
        .iter()
        .filter(is_output)
        .map(Tensor::elements)
        .collect();
    let outputs = window.facts.outputs();
    let fits = |(output, elements): (&OutputFacts, &u64)| {
        let tensor = evidence.tensors.get(output.tensor as usize);
        tensor.is_some() && output.elements == *elements && output.matched <= output.elements
    };
    if outputs.len() == expected.len() && outputs.iter().zip(&expected).all(fits) {
        return None;
    }
    let message = format!(
        "the referee's facts of call {} do not fit the case's outputs",
        window.facts.window
    );
    finding(Verdict::Error, Cause::Internal, message)
}

fn inspect_outputs(evidence: &Evidence<'_>, window: &WindowEvidence) -> Option<Finding> {
    let outputs = window.facts.outputs();
    let wrong = outputs.iter().filter(|output| output.matched != output.elements);
    // An output that tells more is named before one that is merely wrong.
    let output = wrong.min_by_key(|output| cause_of(output) == Cause::Mismatch)?;
    let tensor = evidence.tensors.get(output.tensor as usize)?;
    let cause = cause_of(output);
    finding(
        Verdict::WrongOutput,
        cause,
        words::wrong_output(cause, tensor, output, window.facts.window),
    )
}

fn cause_of(output: &OutputFacts) -> Cause {
    let wrong = output.elements - output.matched;
    // Where the tolerance is wide it may be near the answer to another call too, and is none.
    if output.elements > 1 && output.constant().is_some() && output.unwritten < wrong && output.non_finite < wrong {
        return Cause::Constant;
    }
    match output.replay() {
        Replay::First | Replay::FirstAndPrevious => return Cause::Cached,
        Replay::Previous => return Cause::Stale,
        Replay::None => {}
    }
    if output.unwritten == wrong && wrong as f64 >= NEARLY_ALL * output.elements as f64 {
        Cause::Unwritten
    } else if output.unwritten == wrong {
        Cause::Partial
    } else if output.non_finite == wrong {
        Cause::NonFinite
    } else if 2 * output.unwritten >= wrong {
        Cause::Partial
    } else {
        Cause::Mismatch
    }
}

fn inspect_redzone(evidence: &Evidence<'_>, window: &WindowEvidence) -> Option<Finding> {
    if window.facts.redzone_buffer == NOWHERE {
        return None;
    }
    finding(
        Verdict::WrongOutput,
        Cause::OutOfBounds,
        words::redzone_written(evidence.tensors, evidence.scratch, &window.facts),
    )
}

fn inspect_seals(evidence: &Evidence<'_>, window: &WindowEvidence) -> Option<Finding> {
    let call = window.facts.window;
    for output in window.facts.outputs() {
        let name = &evidence.tensors.get(output.tensor as usize)?.name;
        if output.late_bytes > 0 {
            let bytes = output.late_bytes;
            let message = format!("{bytes} bytes of `{name}` changed after call {call} had ended");
            return finding(Verdict::LateWrite, Cause::Late, message);
        }
        if output.digest_claimed != output.digest_expected {
            let what = match window.facts.kind {
                WindowKind::EarlyCheck => "as an early check",
                WindowKind::Timed | WindowKind::Control => "as the worker's device",
            };
            let message = format!("`{name}` of call {call} was not yet complete {what} read it at the call's end");
            return finding(Verdict::LateWrite, Cause::Incomplete, message);
        }
    }
    None
}

fn inspect_claim(evidence: &Evidence<'_>, window: &WindowEvidence) -> Option<Finding> {
    let claim: &Claim = window.claim.as_deref()?;
    let timed = window.facts.kind == WindowKind::Timed;
    // The whole window lies between the referee's stamps. Two clocks may differ by their steps and
    // a little in their rates.
    let observed = window.facts.s2_ns.saturating_sub(window.facts.s1_ns) as f64;
    let possible = |ns: f64| ns <= observed * 1.01 + 1_000.0;
    let sensible = claim.elapsed_ns.is_finite() && claim.host_ns.is_finite() && claim.host_ns >= 0.0;
    let too_short = evidence
        .control
        .shortest_claim_ns
        .filter(|shortest| timed && claim.elapsed_ns < *shortest);
    if sensible && too_short.is_none() && (!timed || claim.elapsed_ns > 0.0 && possible(claim.elapsed_ns)) {
        return None;
    }
    // Event times are floats of milliseconds.
    let tenths = |ns: f64| (10.0 * ns).round() / 10.0;
    let beside = match too_short.map(tenths) {
        Some(shortest) => format!("two events with nothing between them are {shortest} ns apart at least"),
        None => format!("{observed} ns passed for the referee"),
    };
    let (call, claimed) = (window.facts.window, tenths(claim.elapsed_ns));
    let message = format!("the worker claims that call {call} took {claimed} ns; {beside}");
    finding(Verdict::ProtocolViolation, Cause::BadClaim, message)
}

/// What no window shows alone.
fn judge_whole(evidence: &Evidence<'_>, balance: Option<&TimingAudit>) -> Option<Finding> {
    judge_ending(evidence)
        .or_else(|| judge_disturbance(evidence, balance))
        .or_else(|| judge_conservation(balance?))
        .or_else(|| judge_floor(evidence))
}

fn judge_ending(evidence: &Evidence<'_>) -> Option<Finding> {
    let call = evidence.last_call;
    let (worker, whose) = match evidence.worker {
        0 | 1 => ("the worker".to_owned(), "its".to_owned()),
        further => (format!("the case's worker {further}"), format!("worker {further}'s")),
    };
    match &evidence.ending {
        Ending::Stopped if evidence.windows.iter().any(is_checked) => None,
        Ending::Stopped => finding(Verdict::Error, Cause::Internal, "no call was checked"),
        Ending::WorkerEnded { end, log } => {
            let cause = if matches!(end, End::Killed(_)) {
                Cause::Killed
            } else {
                Cause::Exited
            };
            let log = if log.is_empty() {
                String::new()
            } else {
                format!("; it last wrote:\n{}", quoted(log))
            };
            let when = match (call, evidence.execution) {
                (0, Execution::Sealed) => "while its kernels were loaded".to_owned(),
                (0, Execution::Hosted(_)) => "while its host code was set up".to_owned(),
                (call, _) => format!("in call {call}"),
            };
            finding(Verdict::Crashed, cause, format!("{worker} {end} {when}{log}"))
        }
        Ending::TimedOut { within } => {
            let what = match (call, evidence.execution) {
                (0, Execution::Sealed) => format!("{whose} kernels were not loaded"),
                (0, Execution::Hosted(_)) => format!("{whose} host code was not set up"),
                (call, _) => format!("call {call} was not done"),
            };
            let within = humantime::format_duration(*within);
            let hint = match evidence.execution {
                Execution::Sealed => "`--timeout` gives more time",
                Execution::Hosted(_) => {
                    "a call that waits for its stream, allocates, or loads a library's kernels, waits for a start that only comes when it has returned; else `--timeout` gives more time"
                }
            };
            let message = format!("{what} within {within} (hint: {hint})");
            finding(Verdict::Timeout, Cause::Slow, message)
        }
        Ending::SetUpFailed { message } => {
            let message = match evidence.worker {
                0 | 1 => message.clone(),
                _ => format!("{worker} could not be set up as those before it: {message}"),
            };
            finding(Verdict::Error, Cause::SetupFailed, message)
        }
        Ending::Refused { why } => finding(
            Verdict::Error,
            Cause::PlanInvalid,
            format!("the device refuses call {call}: {why}"),
        ),
        Ending::BrokeProtocol { what } => finding(Verdict::ProtocolViolation, Cause::BadMessage, what.clone()),
    }
}

fn judge_floor(evidence: &Evidence<'_>) -> Option<Finding> {
    let floor = evidence.floor_ns?;
    let timed = |window: &&WindowEvidence| window.facts.kind == WindowKind::Timed;
    let claims = evidence
        .windows
        .iter()
        .filter(timed)
        .filter_map(|window| window.claim.as_deref());
    let fastest = claims.min_by(|a, b| a.elapsed_ns.total_cmp(&b.elapsed_ns))?;
    if fastest.elapsed_ns >= floor {
        return None;
    }
    let message = format!(
        "call {} took {:.0} ns; those of its declared bytes that must come from memory take {floor:.0} ns at the device's peak bandwidth",
        fastest.window, fastest.elapsed_ns
    );
    finding(Verdict::BelowFloor, Cause::BelowBandwidth, message)
}

#[cfg(test)]
mod tests;
