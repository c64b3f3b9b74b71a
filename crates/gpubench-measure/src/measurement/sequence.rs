//! The sequence of one window: the steps of each role, their order, and the waits.

use std::num::NonZeroU32;
use std::time::{Duration, Instant};

use super::error::MeasureError;
use super::input_sets::InputSets;
use super::kept_sets::{KeptSet, KeptSets, Turn};
use super::protocol::Protocol;
use super::rest::Rests;
use crate::clients::{
    AuthorClient, ChannelEvent, OWN_WORK, Preparation, RefereeClient, RoleFailure, RoleName, WindowAnswer,
    WorkerClient, deadline, listen,
};
use crate::timeline::{self, Track};
use crate::verdict::{Ending, WindowEvidence, WindowSpan};
use gpubench_device::{FaultCode, KernelHost, monotonic_ns};
use gpubench_protocol::window::{CodePlacement, Gate, WindowKind, WindowOwner};
use gpubench_protocol::wire::{CheckSubject, CheckVerdict, Checked, Claim, Generate, WindowFacts, WindowOrder};

/// Margin of the referee's deadline over the broker's, so that the broker is the one that gives up.
const REFEREE_MARGIN: Duration = Duration::from_secs(60);

/// Time limit for the referee to end a window whose worker was lost. It still checks the window,
/// but nobody reads the result.
const AFTER_LOSS: Duration = Duration::from_secs(10);

/// Time limit for the tool's own kernels that fill inputs.
const PREPARATION: Duration = Duration::from_secs(120);

/// Directs the roles of a case through its windows.
#[derive(Debug)]
pub(super) struct Sequencer<'a> {
    /// Makes inputs, releases windows and checks outputs.
    pub(super) referee: &'a mut RefereeClient,
    /// Makes inputs and runs references where `placement` says so. The case is then attached to it.
    pub(super) author: &'a mut AuthorClient,
    /// Which process makes the inputs and runs the reference.
    pub(super) placement: CodePlacement<'a>,
    /// Time limits and other settings.
    pub(super) protocol: &'a Protocol<'a>,
    /// What the author did for the last window with a call.
    pub(super) last_work: AuthorWork,
    /// What holds the calls of the case back until *go*.
    pub(super) gate: Gate,
    /// The rests of the device before windows.
    pub(super) rests: Rests,
    /// The inputs and expected outputs of calls, if a command has computed these.
    pub(super) sets: Option<InputSets>,
    /// What the author has made for earlier workers, if its reference is used again.
    pub(super) kept: Option<KeptSets>,
}

/// What the author does for a window.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AuthorWork {
    /// Its order to make inputs.
    inputs: Option<Generate>,
    answers: Answers,
}

/// Where the author's expected outputs come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Answers {
    /// The author has computed them, or the referee has its own.
    #[default]
    Computed,
    /// They were computed before, and written in the author's place.
    Written,
}

impl AuthorWork {
    /// The author did nothing: all of the window was made before.
    const NOTHING: AuthorWork = AuthorWork {
        inputs: None,
        answers: Answers::Written,
    };
}

/// The worker of a window, and the side whose outputs it writes.
#[derive(Clone, Copy, Debug)]
pub(super) struct WindowUser {
    owner: WindowOwner,
    side: WindowOwner,
}

impl WindowUser {
    /// Returns a worker of a side.
    pub(super) fn of_side(side: WindowOwner) -> WindowUser {
        WindowUser { owner: side, side }
    }

    /// Returns the control worker in a window that belongs to a side. The time that such a window
    /// adds depends on the memory that it touches, so it touches that of the side.
    pub(super) fn control_worker_for(side: WindowOwner) -> WindowUser {
        WindowUser {
            owner: WindowOwner::CONTROL,
            side,
        }
    }
}

/// How a window ended.
#[derive(Debug)]
pub(super) enum WindowOutcome {
    /// The window ended. Its evidence may still show a fault.
    Ended(WindowEvidence),
    /// The worker is lost. There is evidence if the window had been released.
    Lost(Option<WindowEvidence>, Ending),
}

/// A worker's claim, or how the worker was lost before it made one.
type ClaimResult = Result<Box<Claim>, Ending>;

impl Sequencer<'_> {
    /// Runs a window of a side's worker, which repeats its work `repeats` times. `calls_before` is
    /// the number of windows with calls that the worker has had.
    ///
    /// # Errors
    /// If anything but the worker fails.
    pub(super) fn run_window(
        &mut self,
        worker: &mut WorkerClient,
        user: WindowUser,
        window: u32,
        kind: WindowKind,
        repeats: NonZeroU32,
        calls_before: usize,
    ) -> Result<WindowOutcome, MeasureError> {
        self.rests.take(self.protocol.interrupt);
        let turn = Turn {
            side: user.side.position(),
            used: calls_before,
        };
        let inputs = self.prepare_call(turn, window)?;
        let mut outcome = self.release(worker, user, window, kind, repeats)?;
        if let WindowOutcome::Ended(evidence) | WindowOutcome::Lost(Some(evidence), _) = &mut outcome {
            evidence.inputs = inputs;
        }
        Ok(outcome)
    }

    /// Runs a control window, or an empty one, in the worker of `user`. From the referee's restore
    /// on, it is like any other window. Inputs are not made for it, and no other worker is armed:
    /// its waiting stream could run at the wrong time.
    ///
    /// If the author works in every other window, it repeats the work of the last one here. A
    /// device that has waited for the author begins later, by 40 µs after a reference of 0.1 s on
    /// an H200.
    ///
    /// # Errors
    /// If anything but the worker fails.
    pub(super) fn run_control_window(
        &mut self,
        worker: &mut WorkerClient,
        user: WindowUser,
        kind: WindowKind,
        before: usize,
    ) -> Result<WindowOutcome, MeasureError> {
        self.rests.take(self.protocol.interrupt);
        let AuthorWork { inputs, answers } = self.last_work;
        if let Some(order) = inputs {
            self.generate(&order)?;
        }
        if self.placement.reference() == KernelHost::Author && answers == Answers::Computed {
            self.compute_answers(WindowKind::control_window(before))?;
        }
        let number = WindowKind::control_window(before);
        self.release(worker, user, number, kind, NonZeroU32::MIN)
    }

    /// Returns what holds the calls of a window back. A stream holds one call that may wait, and
    /// the device's work in such a call is recorded where nothing holds it.
    pub(super) fn gate_of(&self, kind: WindowKind, repeats: NonZeroU32) -> Gate {
        let may_wait = self.placement.recording.execution.may_wait();
        match kind {
            WindowKind::Outside => Gate::Host,
            _ if may_wait && (kind == WindowKind::Parts || repeats > NonZeroU32::MIN) => Gate::Host,
            _ => self.gate,
        }
    }

    fn release(
        &mut self,
        worker: &mut WorkerClient,
        user: WindowUser,
        window: u32,
        kind: WindowKind,
        repeats: NonZeroU32,
    ) -> Result<WindowOutcome, MeasureError> {
        let patience = self.protocol.within.saturating_add(REFEREE_MARGIN);
        let patience_ns = u64::try_from(patience.as_nanos()).unwrap_or(u64::MAX);
        let order = WindowOrder {
            patience_ns,
            owner: user.owner,
            side: user.side,
            repeats,
            gate: self.gate_of(kind, repeats),
            ..WindowOrder::about(window, kind)
        };
        let counting = self.protocol.submissions;
        let counting = counting.and_then(|counter| counter.begin(worker.child().id()));
        let began_ns = monotonic_ns();
        if let Err(failure) = worker.arm(&order, self.protocol.within, self.protocol.interrupt) {
            return Ok(WindowOutcome::Lost(None, ending_of(failure)?));
        }
        self.referee.release(&order).map_err(MeasureError::referee)?;
        let released_ns = monotonic_ns();
        let mut outcome = self.await_end(worker, window)?;
        timeline::note(worker.child().track(), name_of(kind), [began_ns, monotonic_ns()]);
        if let WindowOutcome::Ended(evidence) = &mut outcome {
            note_phases(&evidence.facts, released_ns);
            let WindowFacts {
                go_missed_ns,
                returned_seen_ns,
                ..
            } = *evidence.facts;
            evidence.span = Some(WindowSpan {
                process: worker.child().id(),
                began_ns,
                ended_ns: monotonic_ns(),
                submissions: counting.and_then(|counting| counting.end()),
                timed_ns: (go_missed_ns > 0).then_some((go_missed_ns, returned_seen_ns)),
            });
            self.rests.note_window(kind, evidence.elapsed_ns());
        }
        Ok(outcome)
    }

    /// Prepares inputs and expected outputs of a window with a call. Returns the number of the
    /// window that they were made for first.
    fn prepare_call(&mut self, turn: Turn, window: u32) -> Result<u32, MeasureError> {
        if self.sets.is_some() {
            return self.prepare_set(turn);
        }
        if self.placement.referee_prepares_alone() {
            self.prepare_with_answers(window)?;
            return Ok(window);
        }
        if turn.used == 0 && self.kept.as_ref().is_some_and(|kept| kept.has_sets_of(turn.side)) {
            // The first decoys are then no inputs that this worker will get.
            self.prepare(WindowKind::decoys_before(window))?;
        }
        if let Some(set) = self.kept.as_ref().and_then(|kept| kept.of(turn)) {
            self.prepare_kept(set)?;
            return Ok(set.window);
        }
        self.prepare(window)?;
        let began = Instant::now();
        self.compute_answers(window)?;
        self.last_work.answers = Answers::Computed;
        if let Some(kept) = &mut self.kept {
            kept.keep(turn, window, began.elapsed());
        }
        Ok(window)
    }

    /// Makes the inputs of a window. Window 0 provides the decoys of the first window and the
    /// constants of the case.
    ///
    /// # Errors
    /// If a generator or the referee fails.
    pub(super) fn prepare(&mut self, window: u32) -> Result<(), MeasureError> {
        let _inputs = timeline::span(self.referee.child().track(), "inputs");
        let order = self.order_inputs(window)?;
        if !self.placement.author_generates() {
            return Ok(());
        }
        self.last_work.inputs = Some(order);
        self.generate(&order)
    }

    /// Makes the referee prepare the inputs of a window. Returns what it orders of the author.
    fn order_inputs(&mut self, window: u32) -> Result<Generate, MeasureError> {
        let (within, failed): (_, fn(RoleFailure) -> MeasureError) = if self.placement.referee_generates() {
            (self.protocol.reference_within, |failure| {
                MeasureError::kernels(MeasureError::Generator)(failure)
            })
        } else {
            (PREPARATION, MeasureError::referee)
        };
        let prepared = self
            .referee
            .prepare(Preparation::Inputs, window, within, self.protocol.interrupt);
        prepared.map_err(failed)
    }

    fn generate(&mut self, order: &Generate) -> Result<(), MeasureError> {
        let _inputs = timeline::span(self.author.child().track(), "inputs");
        self.author
            .generate(order, self.protocol.interrupt)
            .map_err(MeasureError::own_code(MeasureError::Generator))
    }

    /// Makes the inputs and runs the reference in one order, if the referee does both.
    fn prepare_with_answers(&mut self, window: u32) -> Result<(), MeasureError> {
        let (within, interrupt) = (self.protocol.reference_within, self.protocol.interrupt);
        let _answers = timeline::span(self.referee.child().track(), "inputs and reference");
        let preparation = Preparation::InputsAndAnswers;
        let prepared = self.referee.prepare(preparation, window, within, interrupt);
        // The tool's own kernels never take so long, so a timeout is the reference's.
        prepared
            .map(drop)
            .map_err(MeasureError::kernels(MeasureError::Reference))
    }

    /// Makes the inputs of a set again, or writes them, and writes its expected outputs.
    fn prepare_set(&mut self, turn: Turn) -> Result<u32, MeasureError> {
        if turn.used == 0 {
            // The first decoys are then no inputs that this worker will get.
            self.prepare(0)?;
        }
        let next = self.sets.as_ref().and_then(|sets| sets.next(turn.side, turn.used));
        let window = next.ok_or(MeasureError::Sets {
            source: std::io::Error::other("the worker has had all of them"),
        })?;
        self.make_again(window)?;
        self.sets.as_ref().map_or(Ok(()), |sets| sets.write(window))?;
        Ok(window)
    }

    /// Makes the inputs of a kept set again, or writes them, and writes its expected outputs.
    fn prepare_kept(&mut self, set: KeptSet) -> Result<(), MeasureError> {
        self.make_again(set.window)?;
        self.kept.as_ref().map_or(Ok(()), |kept| kept.restore(set))
    }

    /// Makes the inputs again that the referee makes, those of a window of an earlier worker.
    fn make_again(&mut self, window: u32) -> Result<(), MeasureError> {
        let _inputs = timeline::span(self.referee.child().track(), "inputs");
        self.last_work = AuthorWork::NOTHING;
        self.order_inputs(window).map(drop)
    }

    /// Runs the reference in the author or in the referee.
    fn compute_answers(&mut self, window: u32) -> Result<(), MeasureError> {
        match self.placement.reference() {
            KernelHost::Author => {
                let _reference = timeline::span(self.author.child().track(), "reference");
                self.author
                    .reference(self.protocol.interrupt)
                    .map_err(MeasureError::own_code(MeasureError::Reference))
            }
            KernelHost::Referee => {
                let _reference = timeline::span(self.referee.child().track(), "reference");
                self.referee
                    .reference(window, self.protocol.reference_within, self.protocol.interrupt)
                    .map_err(MeasureError::kernels(MeasureError::Reference))
            }
        }
    }

    /// Waits for the referee's facts and the worker's claim, in any order.
    fn await_end(&mut self, worker: &mut WorkerClient, window: u32) -> Result<WindowOutcome, MeasureError> {
        let deadline = deadline(self.protocol.within);
        let mut claimed: Option<ClaimResult> = None;
        loop {
            match self.listen(worker, claimed.as_ref(), deadline)? {
                ChannelEvent::Interrupted => return Err(MeasureError::Interrupted),
                ChannelEvent::Channel(0) => break,
                ChannelEvent::Channel(_) => claimed = Some(self.receive_claim(worker, window)?),
                ChannelEvent::Deadline => {
                    claimed = Some(self.reach_deadline(worker, claimed)?);
                    break;
                }
            }
        }
        let within = match &claimed {
            Some(Err(_)) => AFTER_LOSS,
            _ => OWN_WORK,
        };
        let (facts, rejection) = self.receive_facts(within)?;
        let claimed = match claimed {
            Some(claimed) => claimed,
            None => self.claim(worker, window)?,
        };
        Ok(match claimed {
            Ok(claim) => WindowOutcome::Ended(WindowEvidence {
                rejection,
                ..WindowEvidence::new(facts, Some(claim))
            }),
            Err(ending) => WindowOutcome::Lost(Some(WindowEvidence::new(facts, None)), ending),
        })
    }

    /// Receives the facts of a window, and has the author check its outputs before if the case has
    /// a check. Returns with them why the check rejects the window.
    fn receive_facts(&mut self, within: Duration) -> Result<(Box<WindowFacts>, Option<String>), MeasureError> {
        let interrupt = self.protocol.interrupt;
        let (mut rejection, mut failure) = (None, None);
        loop {
            let answer = self.referee.window_answer(within, interrupt);
            let order = match answer.map_err(MeasureError::referee)? {
                WindowAnswer::NeedsCheck(order) => order,
                WindowAnswer::Facts(facts) => match failure {
                    None => return Ok((facts, rejection)),
                    Some(failure) => return Err(MeasureError::own_code(MeasureError::Check)(failure)),
                },
            };
            let _check = timeline::span(self.author.child().track(), "check");
            let (verdict, call) = match self.author.check(&order, interrupt) {
                Ok(None) => (CheckVerdict::Accepted, 0),
                Ok(Some((call, reason))) => {
                    if order.subject == CheckSubject::Worker {
                        rejection = Some(reason);
                    }
                    (CheckVerdict::Rejected, call)
                }
                // The kernel has not written this.
                Err(problem) if order.subject == CheckSubject::OtherAnswer && problem.is_panic() => {
                    (CheckVerdict::Rejected, 0)
                }
                // The referee ends the window first.
                Err(problem) => {
                    failure.get_or_insert(problem);
                    (CheckVerdict::Failed, 0)
                }
            };
            let checked = Checked { verdict, call };
            self.referee.checked(&checked).map_err(MeasureError::referee)?;
        }
    }

    /// Listens to the referee until its facts come, and to the worker until it has answered.
    fn listen(
        &mut self,
        worker: &mut WorkerClient,
        claimed: Option<&ClaimResult>,
        deadline: Instant,
    ) -> Result<ChannelEvent, MeasureError> {
        let both = [self.referee.child().channel(), worker.child().channel()];
        let channels = if claimed.is_none() { &both[..] } else { &both[..1] };
        listen(channels, deadline, self.protocol.interrupt).map_err(|error| {
            MeasureError::Referee(RoleFailure::protocol(
                RoleName::Referee,
                gpubench_diagnostic::chain(&error),
            ))
        })
    }

    /// Receives the worker's claim for a window, or how the worker was lost.
    fn claim(&mut self, worker: &mut WorkerClient, window: u32) -> Result<ClaimResult, MeasureError> {
        let Protocol { within, interrupt, .. } = *self.protocol;
        match worker.claim(window, within, interrupt) {
            Ok(claim) => Ok(Ok(claim)),
            Err(failure) => Ok(Err(ending_of(failure)?)),
        }
    }

    /// Receives the worker's message. After a fault or a loss, aborts the window.
    fn receive_claim(&mut self, worker: &mut WorkerClient, window: u32) -> Result<ClaimResult, MeasureError> {
        let claimed = self.claim(worker, window)?;
        match &claimed {
            // After a fault the device runs nothing more, so *done* never comes.
            Ok(claim) if claim.fault != FaultCode::None => self.abort()?,
            Ok(_) => {}
            Err(_) => self.abandon(worker)?,
        }
        Ok(claimed)
    }

    /// Ends a window at its deadline.
    fn reach_deadline(
        &mut self,
        worker: &mut WorkerClient,
        claimed: Option<ClaimResult>,
    ) -> Result<ClaimResult, MeasureError> {
        let within = self.protocol.within;
        match claimed {
            // Either the call has ended and only the checks go on, or *done* never comes. The
            // referee must not wait for *done* any longer.
            Some(Ok(claim)) => {
                self.abort()?;
                Ok(Ok(claim))
            }
            lost => {
                self.abandon(worker)?;
                Ok(lost.unwrap_or(Err(Ending::TimedOut { within })))
            }
        }
    }

    fn abandon(&mut self, worker: &mut WorkerClient) -> Result<(), MeasureError> {
        worker.child().kill();
        self.abort()
    }

    fn abort(&mut self) -> Result<(), MeasureError> {
        self.referee.abort().map_err(MeasureError::referee)
    }

    /// Makes the author and the referee release the case's buffers.
    ///
    /// # Errors
    /// If one of them fails.
    pub(super) fn release_case(self) -> Result<(), MeasureError> {
        let interrupt = self.protocol.interrupt;
        if self.placement.needs_author() {
            self.author.detach(interrupt).map_err(MeasureError::Attach)?;
        }
        self.referee.close_case(interrupt).map_err(MeasureError::Open)
    }
}

/// Returns the name of a window in a timeline.
fn name_of(kind: WindowKind) -> &'static str {
    match kind {
        WindowKind::Timed => "timed window",
        WindowKind::EarlyCheck => "early check",
        WindowKind::Single => "single call",
        WindowKind::Parts => "parts of the call",
        WindowKind::Control => "control window",
        WindowKind::SingleControl => "control window of a single call",
        WindowKind::Empty => "empty window",
        WindowKind::Outside => "call timed from outside",
    }
}

/// Notes the phases of a window on the device. The referee's device has a clock of its own, so they
/// are shown as if they began with the window's release.
fn note_phases(facts: &WindowFacts, released_ns: u64) {
    let WindowFacts {
        s0_ns,
        s1_ns,
        s2_ns,
        s3_ns,
        ..
    } = *facts;
    let since_release = |ns: u64| released_ns + ns.saturating_sub(s0_ns);
    for (name, began_ns, ended_ns) in [
        ("restore and flush", s0_ns, s1_ns),
        ("from go to done", s1_ns, s2_ns),
        ("copies of the outputs", s2_ns, s3_ns),
    ] {
        timeline::note(Track::Device, name, [began_ns, ended_ns].map(since_release));
    }
}

/// Returns the ending of a case for a failure of its worker.
fn ending_of(failure: RoleFailure) -> Result<Ending, MeasureError> {
    Ok(match failure {
        RoleFailure::Interrupted => return Err(MeasureError::Interrupted),
        RoleFailure::Ended { end, log, .. } => Ending::WorkerEnded { end, log },
        RoleFailure::Silent { within, .. } => Ending::TimedOut { within },
        RoleFailure::Plan { text } | RoleFailure::Failed { text, .. } | RoleFailure::OutOfMemory { text, .. } => {
            Ending::Refused { why: text }
        }
        other => Ending::BrokeProtocol {
            what: gpubench_diagnostic::chain(&other),
        },
    })
}

#[cfg(test)]
mod tests;
