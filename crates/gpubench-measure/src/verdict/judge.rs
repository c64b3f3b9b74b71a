//! The judge: a pure function from evidence to judgement.

use std::borrow::Cow;

use gpubench::catalog::{Tensor, by_field};

use super::conservation::judge_conservation;
use super::disturbance::judge_disturbance;
use super::finding::{Finding, finding};
use super::grade::grade;
use super::{Cause, Ending, Evidence, Execution, Grade, Verdict, WindowEvidence, words};
use crate::clients::End;
use gpubench_contract::MetricKind;
use gpubench_device::FaultCode;
use gpubench_diagnostic::quoted;
use gpubench_protocol::window::{Gate, MadeCalls, WindowKind};
use gpubench_protocol::wire::{Claim, NOWHERE, OtherAnswer, OutputFacts, Replay, WindowEnd};
use gpubench_stats::TimingAudit;

/// Share of unwritten elements above which the whole output counts as unwritten. Some poison is
/// right by chance.
const NEARLY_ALL: f64 = 0.95;

/// Most lines of a failed worker's output in a message.
const LINES_REPEATED: usize = 10;

/// The judgement on a case.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// Why it did not pass; `None` if it passed.
    pub cause: Option<Cause>,
    /// What failed, and where; `None` if it passed.
    pub message: Option<String>,
    /// How far its times can be trusted.
    pub grade: Grade,
    /// Why the grade is `unverified`; `None` for other grades.
    pub grade_reason: Option<String>,
    /// Position of the window that decided the verdict among those of all workers, if there is one.
    pub window: Option<usize>,
}

impl Judgement {
    /// Adds to a failed test's message the seed of the order in which the last worker ran blocks
    /// and threads, if it is not the usual order.
    #[must_use]
    pub(crate) fn with_schedule(self, schedule: Option<u64>) -> Judgement {
        let Some(seed) = schedule else { return self };
        let with_order = |message| {
            format!(
                "{message}; the call fails when its blocks and threads run in another order, and was right in the usual \
                 order (hint: a barrier or an atomic operation may be missing, or a block may rely on blocks that run \
                 before it; `--schedule {seed}` repeats the order)"
            )
        };
        Judgement {
            message: self.message.map(with_order),
            ..self
        }
    }

    /// Adds to a failed test's message the seed of an order of blocks and threads in which the call
    /// gives other outputs, if there is one.
    #[must_use]
    pub(crate) fn with_other_order(self, schedule: Option<u64>) -> Judgement {
        let Some(seed) = schedule else { return self };
        let with_order = |message| {
            format!(
                "{message}; the call gives other outputs when its blocks and threads run in another order (hint: a \
                 barrier or an atomic operation may be missing, or shared memory may be read that nothing wrote: it is \
                 noise at first; `--schedule {seed}` is such an order)"
            )
        };
        Judgement {
            message: self.message.map(with_order),
            ..self
        }
    }

    /// Adds to a failed test's message that the first call of the same process was right, if it
    /// was. `calls` has the judgement on each call of the first process.
    #[must_use]
    pub(crate) fn with_earlier_calls(self, calls: &[Judgement]) -> Judgement {
        let was_right_at_first = calls.first().is_some_and(|first| first.verdict == Verdict::Pass);
        let is_later = was_right_at_first && self.window.is_some_and(|window| window < calls.len());
        let with_state = |message| {
            format!(
                "{message}; the first call in the process was right, so look at what outlives a call, such as a \
                 `__device__` variable"
            )
        };
        match self.verdict {
            Verdict::WrongOutput if is_later => Judgement {
                message: self.message.map(with_state),
                ..self
            },
            _ => self,
        }
    }

    /// Adds the last lines of a failed worker's output to the message.
    #[must_use]
    pub fn with_last_output(mut self, printed: &str) -> Judgement {
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

/// Judges a case by its windows and by `balance`, which must come from the same evidence. Any
/// wrong, incomplete or late-written window of any kind fails the case.
pub fn judge(evidence: &Evidence<'_>, balance: Option<&TimingAudit>) -> Judgement {
    let findings = || {
        let windows = evidence.windows().enumerate();
        windows.filter_map(|(position, window)| Some((position, inspect(evidence, window)?)))
    };
    // The kind of replay often shows only from the third call on. For the second call, the first
    // and the previous call are the same.
    let replays = |finding: &Finding| matches!(finding.cause, Cause::Cached | Cause::Stale);
    let decisive = findings().next().map(|first| match first.1.verdict {
        Verdict::WrongOutput => findings()
            .filter(|(_, finding)| replays(finding))
            .last()
            .unwrap_or(first),
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
            .or_else(|| inspect_digests(evidence, window))
            .or_else(|| inspect_claim(evidence, window)),
        // A claim without an end is a lie. Otherwise the ending of the case has the cause.
        WindowEnd::NotDone | WindowEnd::Aborted if window.claim.is_some() => {
            let call = window.facts.window;
            let message = format!("the worker reports the end of call {call}, but its device does not");
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

/// Facts that do not match the case must never pass.
fn inspect_facts(evidence: &Evidence<'_>, window: &WindowEvidence) -> Option<Finding> {
    let is_output = |tensor: &&Tensor| tensor.role.is_output();
    let made = match window.facts.kind.made_calls() {
        MadeCalls::All => evidence.tensors.len(),
        MadeCalls::First => evidence.tensors.len() / evidence.calls.get() as usize,
    };
    let parts = by_field(&evidence.tensors[..made.min(evidence.tensors.len())]);
    let expected: Vec<u64> = parts.iter().filter(is_output).map(Tensor::elements).collect();
    let outputs = window.facts.outputs();
    let fits = |(output, elements): (&OutputFacts, &u64)| {
        let part = part(evidence, output);
        part.is_some() && output.elements == *elements && output.matched <= output.elements
    };
    if outputs.len() == expected.len() && outputs.iter().zip(&expected).all(fits) {
        return None;
    }
    let message = format!(
        "the referee's facts about call {} do not match the outputs of the case",
        window.facts.window
    );
    finding(Verdict::Error, Cause::Internal, message)
}

/// Returns the tensor that the facts are about: an output, or a field of one.
fn part<'e>(evidence: &Evidence<'e>, output: &OutputFacts) -> Option<Cow<'e, Tensor>> {
    let tensor = evidence.tensors.get(usize::try_from(output.tensor).ok()?)?;
    tensor.part(usize::try_from(output.field).ok()?)
}

fn inspect_outputs(evidence: &Evidence<'_>, window: &WindowEvidence) -> Option<Finding> {
    let outputs = window.facts.outputs();
    let wrong = outputs.iter().filter(|output| output.matched != output.elements);
    // An output with a specific cause is more useful than a mismatch.
    let cause_of = |output: &OutputFacts| cause_of(output, tells_answers_apart(evidence, output));
    let output = wrong.min_by_key(|output| cause_of(output) == Cause::Mismatch)?;
    let tensor = part(evidence, output)?;
    let cause = cause_of(output);
    finding(
        Verdict::WrongOutput,
        cause,
        words::wrong_output(
            cause,
            &tensor,
            evidence.scratch,
            output,
            window.facts.window,
            window.rejection.as_deref(),
        ),
    )
}

/// Whether the tolerance of an output, or of a field, tells a right answer from others. If it has
/// accepted zeros or an old answer once, one that matches an old answer need not be a replay.
fn tells_answers_apart(evidence: &Evidence<'_>, asked: &OutputFacts) -> bool {
    let mut outputs = evidence.windows().flat_map(|window| window.facts.outputs());
    !outputs.any(|output| {
        let passes = [output.zeros(), output.old_answer()].contains(&OtherAnswer::Passes);
        (output.tensor, output.field) == (asked.tensor, asked.field) && passes
    })
}

fn cause_of(output: &OutputFacts, tells_answers_apart: bool) -> Cause {
    let wrong = output.elements - output.matched;
    // With a wide tolerance, a constant may also match the answer to another call. It is not a
    // replay.
    if output.elements > 1 && output.constant().is_some() && output.unwritten < wrong && output.non_finite < wrong {
        return Cause::Constant;
    }
    match output.replay() {
        _ if !tells_answers_apart => {}
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
    } else if output.unwritten >= wrong.div_ceil(2) {
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

fn inspect_digests(evidence: &Evidence<'_>, window: &WindowEvidence) -> Option<Finding> {
    let call = window.facts.window;
    for output in window.facts.outputs() {
        let name = &evidence.tensors.get(output.tensor as usize)?.name;
        if output.late_bytes > 0 {
            let bytes = output.late_bytes;
            let message = format!("{bytes} bytes of `{name}` changed after call {call} ended");
            return finding(Verdict::LateWrite, Cause::Late, message);
        }
        if output.digest_claimed != output.digest_expected {
            let digest = match window.facts.kind {
                WindowKind::EarlyCheck => "the output digest of an early check",
                _ => "the output digest",
            };
            let message = format!(
                "`{name}` was not complete at the end of call {call}: {digest} does not match the checked output"
            );
            return finding(Verdict::LateWrite, Cause::Incomplete, message);
        }
    }
    None
}

fn inspect_claim(evidence: &Evidence<'_>, window: &WindowEvidence) -> Option<Finding> {
    let claim: &Claim = window.claim.as_deref()?;
    if evidence.metric != MetricKind::Time {
        return inspect_count(claim);
    }
    let timed = matches!(window.facts.kind, WindowKind::Timed | WindowKind::Single);
    if window.facts.gate == Gate::Host {
        return inspect_return(window).filter(|_| timed);
    }
    // The whole window lies between the referee's timestamps. Two clocks may differ by their
    // resolution and slightly in their rates.
    let observed = window.facts.s2_ns.saturating_sub(window.facts.s1_ns) as f64;
    let possible = |ns: f64| ns <= observed * 1.01 + 1_000.0;
    let sensible = claim.elapsed_ns.is_finite() && claim.host_ns.is_finite() && claim.host_ns >= 0.0;
    let too_short = evidence
        .surroundings
        .shortest_claim_ns
        .filter(|shortest| timed && claim.elapsed_ns < *shortest);
    if sensible && too_short.is_none() && (!timed || claim.elapsed_ns > 0.0 && possible(claim.elapsed_ns)) {
        return None;
    }
    // Event times are floats in milliseconds.
    let tenths = |ns: f64| (10.0 * ns).round() / 10.0;
    let contradiction = match too_short.map(tenths) {
        Some(shortest) => format!("two events with nothing between them are at least {shortest} ns apart"),
        None => format!("the referee's clock shows {observed} ns"),
    };
    let (call, claimed) = (window.facts.window, tenths(claim.elapsed_ns));
    let message = format!("the worker claims {claimed} ns for call {call}, but {contradiction}");
    finding(Verdict::ProtocolViolation, Cause::BadClaim, message)
}

/// The time of a call that the worker's stream does not hold back is no claim, but its end is.
fn inspect_return(window: &WindowEvidence) -> Option<Finding> {
    if window.facts.call_ns > 0 {
        return None;
    }
    let call = window.facts.window;
    let message = format!("the worker ended the window of call {call} without saying that the call had returned");
    finding(Verdict::ProtocolViolation, Cause::BadClaim, message)
}

fn inspect_count(claim: &Claim) -> Option<Finding> {
    if claim.count.is_finite() && claim.count >= 0.0 {
        return None;
    }
    let message = format!(
        "the worker claims `{}` as the count of call {}",
        claim.count, claim.window
    );
    finding(Verdict::ProtocolViolation, Cause::BadClaim, message)
}

/// Findings that need more than one window.
fn judge_whole(evidence: &Evidence<'_>, balance: Option<&TimingAudit>) -> Option<Finding> {
    judge_ending(evidence)
        .or_else(|| judge_disturbance(evidence, balance))
        .or_else(|| judge_conservation(balance?))
        .or_else(|| judge_floor(evidence))
}

fn judge_ending(evidence: &Evidence<'_>) -> Option<Finding> {
    let call = evidence.runs.last().map_or(0, |run| run.last_call);
    let worker = match evidence.runs.len() {
        0 | 1 => "the worker".to_owned(),
        further => format!("worker {further} of the case"),
    };
    match &evidence.ending {
        Ending::Stopped if evidence.windows().any(is_checked) => None,
        Ending::Stopped => finding(Verdict::Error, Cause::Internal, "no call was checked"),
        Ending::WorkerEnded { end, log } => {
            let cause = if matches!(end, End::Killed(_) | End::OutOfMemory(_)) {
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
                (0, Execution::Sealed) => "while loading its kernels".to_owned(),
                (0, Execution::Hosted(_)) => "while setting up its host code".to_owned(),
                (call, _) => format!("in call {call}"),
            };
            finding(Verdict::Crashed, cause, format!("{worker} {end} {when}{log}"))
        }
        Ending::TimedOut { within } => {
            let what = match (call, evidence.execution) {
                (0, Execution::Sealed) => format!("{worker} did not load its kernels"),
                (0, Execution::Hosted(_)) => format!("{worker} did not set up its host code"),
                (call, _) => format!("call {call} did not finish"),
            };
            let within = humantime::format_duration(*within);
            let hint = match (evidence.execution, evidence.gate) {
                (Execution::Sealed, _) | (_, Gate::Host) => "raise the limit with `--timeout`",
                (Execution::Hosted(_), Gate::Stream) => {
                    "a call must not wait for its stream, allocate, or load a library's kernels: its stream starts only when the call has returned. If it must, write `#[gpubench(hosted(sync), ..)]`; otherwise raise the limit with `--timeout`"
                }
            };
            let message = format!("{what} within {within} (hint: {hint})");
            finding(Verdict::Timeout, Cause::Slow, message)
        }
        Ending::SetUpFailed { message } => {
            let message = match evidence.runs.len() {
                0 | 1 => message.clone(),
                _ => format!("{worker} could not be set up, though earlier workers could: {message}"),
            };
            finding(Verdict::Error, Cause::SetupFailed, message)
        }
        Ending::Refused { why } => finding(
            Verdict::Error,
            Cause::PlanInvalid,
            format!("the device rejected call {call}: {why}"),
        ),
        Ending::BrokeProtocol { what } => finding(Verdict::ProtocolViolation, Cause::BadMessage, what.clone()),
    }
}

fn judge_floor(evidence: &Evidence<'_>) -> Option<Finding> {
    let floor = evidence.floor_ns.filter(|_| evidence.metric == MetricKind::Time)?;
    let timed = |window: &&WindowEvidence| window.facts.kind == WindowKind::Timed;
    let times = evidence
        .windows()
        .filter(timed)
        .filter_map(|window| Some((window.facts.window, window.elapsed_ns()?)));
    let (fastest, elapsed_ns) = times.min_by(|a, b| a.1.total_cmp(&b.1))?;
    if elapsed_ns >= floor {
        return None;
    }
    let message = format!(
        "call {fastest} took {elapsed_ns:.0} ns, but its declared bytes, less what the cache can hold, take at least {floor:.0} ns at the device's peak bandwidth"
    );
    finding(Verdict::BelowFloor, Cause::BelowBandwidth, message)
}

#[cfg(test)]
mod tests;
