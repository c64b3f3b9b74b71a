//! The windows of an arm, by purpose.

use std::num::NonZeroU32;

use super::super::control_lease::fault_of;
use super::super::controls::{AFTERWARDS, Controls, Runner};
use super::super::error::MeasureError;
use super::super::sequence::{WindowOutcome, WindowUser};
use super::super::wrong_call;
use super::{Arm, Context};
use crate::clients::WorkerClient;
use crate::verdict::{Ending, TimeUse};
use gpubench_contract::Verdict;
use gpubench_protocol::window::WindowKind;

/// Windows after a wrong output that show the kind of replay. Up to the second call, the first and
/// the previous call are the same.
const DIAGNOSIS: u32 = 2;

/// The purpose of a window.
#[derive(Clone, Copy, Debug)]
pub(in super::super) enum WindowPurpose {
    /// Warm-up.
    WarmUp,
    /// A sample, an early check or one of several calls alone.
    Sample(WindowKind),
    /// A check or a profile. Only its correctness is kept.
    Unsampled(WindowKind),
    /// Work that is repeated so often, to measure its energy.
    Energy(NonZeroU32),
    /// The times of the call's parts.
    Steps,
    /// No call.
    Empty,
}

/// The result of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// The arm goes on.
    Done,
    /// The arm has failed.
    Failed,
}

impl Arm<'_> {
    /// Runs a window of the current worker, if there is one. Keeps the output of a worker that
    /// fails, unless the ending has it already.
    ///
    /// # Errors
    /// If anything but the worker fails.
    pub(in super::super) fn step(
        &mut self,
        context: &mut Context<'_>,
        purpose: WindowPurpose,
    ) -> Result<(), MeasureError> {
        let Some(mut worker) = self.worker.take() else {
            return Ok(());
        };
        let step = match purpose {
            WindowPurpose::WarmUp => self.warm_up(context, &mut worker),
            WindowPurpose::Sample(kind) => self.sample(context, &mut worker, kind),
            WindowPurpose::Unsampled(kind) => self.window(context, &mut worker, kind),
            WindowPurpose::Steps => self.time_parts(context, &mut worker),
            WindowPurpose::Empty => self.window_without_call(context, &mut worker, WindowKind::Empty),
            WindowPurpose::Energy(repeats) => self.energy_window(context, &mut worker, repeats),
        };
        if step? == Step::Done {
            self.worker = Some(worker);
        } else {
            self.observed.observe(&mut worker, self.protocol);
            let printed = worker.last_output();
            if !matches!(self.ending, Ending::WorkerEnded { .. }) {
                self.observed.printed = printed;
            }
        }
        Ok(())
    }

    /// Runs a timed window that gives no sample. It is checked like all others.
    fn warm_up(&mut self, context: &mut Context<'_>, worker: &mut WorkerClient) -> Result<Step, MeasureError> {
        let stopwatch = context.sequencer.rests.stopwatch();
        if self.lacks_outside_calls() {
            let step = self.window(context, worker, WindowKind::Outside)?;
            if step == Step::Done {
                let wall = stopwatch.read(&context.sequencer.rests);
                self.run_mut().end_outside_window(wall);
            }
            return Ok(step);
        }
        let step = self.window(context, worker, WindowKind::Timed)?;
        if step == Step::Done {
            let (calls, wall) = (self.calls_of_sample(), stopwatch.read(&context.sequencer.rests));
            self.run_mut().end_warm_up_window(calls, wall);
        }
        Ok(step)
    }

    /// Runs a window for a sample, an early check or one of several calls alone.
    fn sample(
        &mut self,
        context: &mut Context<'_>,
        worker: &mut WorkerClient,
        kind: WindowKind,
    ) -> Result<Step, MeasureError> {
        let stopwatch = context.sequencer.rests.stopwatch();
        if self.control_turn(context, worker)? == Step::Failed || self.window(context, worker, kind)? == Step::Failed {
            return Ok(Step::Failed);
        }
        match kind {
            WindowKind::EarlyCheck => self.run_mut().since_early = 0,
            WindowKind::Single => {
                let run = self.run_mut();
                run.parts.singles_ns.extend(run.last_elapsed_ns());
                let control = WindowKind::SingleControl;
                if self.wants_single_control(context) && self.control_window(context, worker, control)? == Step::Failed
                {
                    return Ok(Step::Failed);
                }
            }
            // Never among the samples.
            WindowKind::Parts
            | WindowKind::SingleControl
            | WindowKind::Control
            | WindowKind::Empty
            | WindowKind::Outside => {}
            WindowKind::Timed => {
                let (metric, calls) = (self.protocol.metric.kind, self.calls_of_sample());
                let run = self.run_mut();
                run.since_early = run.since_early.saturating_add(1);
                run.samples.keep_counts(worker.take_counts());
                run.keep_sample(metric, calls);
            }
        }
        self.run_mut().sampled_for += stopwatch.read(&context.sequencer.rests);
        if self.run().stop.is_none() {
            self.run_mut().stop = self.stopping.decide(&self.runs);
        }
        if self.run().stop.is_none() {
            self.stop_without_inputs();
        }
        Ok(Step::Done)
    }

    /// Runs a window that times the parts of the call one by one.
    fn time_parts(&mut self, context: &mut Context<'_>, worker: &mut WorkerClient) -> Result<Step, MeasureError> {
        let step = self.window(context, worker, WindowKind::Parts)?;
        if step == Step::Done {
            self.run_mut().keep_parts();
        }
        Ok(step)
    }

    /// Runs a window of many calls. Its time is no sample.
    fn energy_window(
        &mut self,
        context: &mut Context<'_>,
        worker: &mut WorkerClient,
        repeats: NonZeroU32,
    ) -> Result<Step, MeasureError> {
        let step = self.checked_window(context, worker, WindowKind::Timed, repeats)?;
        if step == Step::Done {
            self.run_mut().use_last_for(TimeUse::Energy);
        }
        Ok(step)
    }

    /// Runs a control window if the key draws one before the next window.
    fn control_turn(&mut self, context: &mut Context<'_>, worker: &mut WorkerClient) -> Result<Step, MeasureError> {
        let place = context.next_window(self.case().number);
        let (seeds, run) = (self.protocol.seeds, self.runs.last());
        let is_next = |controls: &mut Controls| run.is_some_and(|run| controls.is_next(seeds, place, run));
        if self.controls.can_continue(&context.control) && is_next(&mut self.controls) {
            self.control_window(context, worker, WindowKind::Control)
        } else {
            Ok(Step::Done)
        }
    }

    /// Runs the control windows that the current worker still needs, if the key has drawn too few.
    /// `workers` is the initial number of workers.
    ///
    /// # Errors
    /// If anything but the worker fails.
    pub(in super::super) fn catch_up(&mut self, context: &mut Context<'_>, workers: usize) -> Result<(), MeasureError> {
        let Some(mut worker) = self.worker.take() else {
            return Ok(());
        };
        while self.controls.can_continue(&context.control)
            && self.controls.needs_more(&self.runs, workers, self.calls_of_sample())
        {
            let stopwatch = context.sequencer.rests.stopwatch();
            if self.control_window(context, &mut worker, WindowKind::Control)? == Step::Failed {
                return Ok(());
            }
            self.controls.caught_up_for += stopwatch.read(&context.sequencer.rests);
        }
        self.worker = Some(worker);
        Ok(())
    }

    /// Runs a control window of a kind, in the control worker or in the worker under test.
    fn control_window(
        &mut self,
        context: &mut Context<'_>,
        worker: &mut WorkerClient,
        kind: WindowKind,
    ) -> Result<Step, MeasureError> {
        if self.controls.runner == Runner::ControlWorker {
            let window = context.run_in_control_worker(kind, self.owner())?;
            window
                .into_iter()
                .for_each(|window| self.run_mut().controls.add(window));
            return Ok(Step::Done);
        }
        self.window_without_call(context, worker, kind)
    }

    /// Runs a control window or an empty one in the worker under test.
    fn window_without_call(
        &mut self,
        context: &mut Context<'_>,
        worker: &mut WorkerClient,
        kind: WindowKind,
    ) -> Result<Step, MeasureError> {
        let before = context.controls;
        context.controls += 1;
        match context
            .sequencer
            .run_control_window(worker, WindowUser::of_side(self.owner()), kind, before)?
        {
            WindowOutcome::Ended(evidence) => match fault_of(&evidence) {
                None => {
                    self.run_mut().controls.add(evidence);
                    return Ok(Step::Done);
                }
                Some(why) => self.ending = Ending::Refused { why },
            },
            WindowOutcome::Lost(_, ending) => self.ending = ending,
        }
        Ok(Step::Failed)
    }

    /// Runs control windows after the last worker has ended. They show whether it disturbed the
    /// earlier ones.
    ///
    /// # Errors
    /// If anything but the control worker fails.
    pub(in super::super) fn run_final_control_windows(
        &mut self,
        context: &mut Context<'_>,
    ) -> Result<(), MeasureError> {
        if self.controls.runner != Runner::ControlWorker || !self.is_complete() {
            return Ok(());
        }
        for _ in 0..AFTERWARDS {
            let window = context.run_in_control_worker(WindowKind::Control, self.owner())?;
            self.controls.afterwards.extend(window);
        }
        Ok(())
    }

    fn window(
        &mut self,
        context: &mut Context<'_>,
        worker: &mut WorkerClient,
        kind: WindowKind,
    ) -> Result<Step, MeasureError> {
        self.checked_window(context, worker, kind, NonZeroU32::MIN)
    }

    fn checked_window(
        &mut self,
        context: &mut Context<'_>,
        worker: &mut WorkerClient,
        kind: WindowKind,
        repeats: NonZeroU32,
    ) -> Result<Step, MeasureError> {
        self.run_window(context, worker, kind, repeats)?;
        if self.ending == Ending::Stopped {
            match self.judge_last().verdict {
                Verdict::Pass => return Ok(Step::Done),
                Verdict::WrongOutput => {
                    self.locate_differences(context)?;
                    self.keep_wrong_call(context)?;
                    self.diagnose(context, worker, kind)?;
                }
                _ => {}
            }
        }
        Ok(Step::Failed)
    }

    /// Asks the referee where the wrong outputs of the last window differ from the expected ones.
    fn locate_differences(&mut self, context: &mut Context<'_>) -> Result<(), MeasureError> {
        let interrupt = self.protocol.interrupt;
        let Some(window) = self.run_mut().windows.last_mut() else {
            return Ok(());
        };
        let outputs = window.facts.outputs().iter();
        let wrong = outputs.filter(|output| output.matched != output.elements);
        let referee = &mut *context.sequencer.referee;
        let found = wrong.map(|output| referee.differences((output.tensor, output.field), interrupt));
        window.differences = found.collect::<Result<_, _>>().map_err(MeasureError::referee)?;
        Ok(())
    }

    /// Has the tensors of the last window's wrong call kept, if they are wanted.
    fn keep_wrong_call(&mut self, context: &mut Context<'_>) -> Result<(), MeasureError> {
        let (Some(keeper), Some(window)) = (self.turn.entrant.keeper, self.run().windows.last()) else {
            return Ok(());
        };
        let tensors = &self.case().recording.tensors;
        let of_call = tensors.len() / self.calls_of_sample().get() as usize;
        let referee = &mut *context.sequencer.referee;
        self.kept_call = wrong_call::keep(keeper, window, (tensors, of_call), referee, self.protocol.interrupt)?;
        Ok(())
    }

    /// Runs a few more windows after a wrong output in a window of a kind.
    fn diagnose(
        &mut self,
        context: &mut Context<'_>,
        worker: &mut WorkerClient,
        kind: WindowKind,
    ) -> Result<(), MeasureError> {
        let kind = match kind {
            WindowKind::Outside => kind,
            _ => WindowKind::Timed,
        };
        for _ in 0..DIAGNOSIS {
            self.run_window(context, worker, kind, NonZeroU32::MIN)?;
            if self.ending != Ending::Stopped {
                // The worker has failed already, so this ending does not count.
                self.ending = Ending::Stopped;
                break;
            }
        }
        Ok(())
    }

    fn run_window(
        &mut self,
        context: &mut Context<'_>,
        worker: &mut WorkerClient,
        kind: WindowKind,
        repeats: NonZeroU32,
    ) -> Result<(), MeasureError> {
        context.begun += 1;
        let calls_before = self.run().windows.len();
        let gate = context.sequencer.gate_of(kind, repeats);
        let run = self.run_mut();
        (run.last_call, run.last_gate) = (context.begun, Some(gate));
        let user = WindowUser::of_side(self.owner());
        let sequencer = &mut context.sequencer;
        match sequencer.run_window(worker, user, context.begun, kind, repeats, calls_before)? {
            WindowOutcome::Ended(evidence) => self.run_mut().windows.push(evidence),
            WindowOutcome::Lost(evidence, ending) => {
                self.run_mut().windows.extend(evidence);
                self.ending = ending;
            }
        }
        Ok(())
    }
}
