//! Wrong calls in another order of blocks and threads.

use std::num::NonZeroU32;

use super::super::error::MeasureError;
use super::super::run_mode::RunMode;
use super::super::sequence::{WindowOutcome, WindowUser};
use super::{Arm, Context};
use crate::clients::Start;
use crate::verdict::{Verdict, are_differently_wrong};
use gpubench_protocol::window::WindowKind;

impl Arm<'_> {
    /// Repeats a test's first call in another order of blocks and threads if its outputs are wrong
    /// in the usual order.
    ///
    /// # Errors
    /// If anything but the worker fails.
    pub(in super::super) fn try_another_order(&mut self, context: &mut Context<'_>) -> Result<(), MeasureError> {
        let Some(&schedule) = self.protocol.schedules.get(1) else {
            return Ok(());
        };
        if !self.is_wrong_at_once() {
            return Ok(());
        }
        let Ok(ready) = self.pool.next() else {
            return Ok(());
        };
        let (Start::Ready(_), mut worker) = (ready.start, ready.worker) else {
            return Ok(());
        };
        let usual = &self.runs[0].windows[0].facts;
        // With the number come the inputs.
        let outcome = context.sequencer.run_window(
            &mut worker,
            WindowUser::of_side(self.owner()),
            usual.window,
            WindowKind::EarlyCheck,
            NonZeroU32::MIN,
            0,
        )?;
        self.pool.retire(worker);
        if let WindowOutcome::Ended(other) = outcome
            && are_differently_wrong(usual, &other.facts)
        {
            self.differs_in_order = Some(schedule);
        }
        Ok(())
    }

    /// Whether the first call of a test's only worker so far had wrong outputs, and another call
    /// followed. A worker starts when it sees the number of its window, so the same number must not
    /// come twice in a row.
    fn is_wrong_at_once(&self) -> bool {
        let [only] = &self.runs[..] else { return false };
        let [first, .., last] = &only.windows[..] else {
            return false;
        };
        self.protocol.mode == RunMode::Test
            && last.facts.window != first.facts.window
            && self.judge_alone(std::slice::from_ref(first)).verdict == Verdict::WrongOutput
    }
}

#[cfg(test)]
mod tests {
    use super::super::WindowPurpose;
    use super::*;
    use crate::measurement::protocol::Protocol;
    use crate::measurement::simulated_case::{Stage, arm, claim, right_facts, with_referee, worker};
    use gpubench_protocol::wire::WindowOrder;

    /// Whether another order is tried after three calls of which those from `wrong_from` on are
    /// wrong.
    fn is_tried(mode: RunMode, wrong_from: u32) -> bool {
        let stage = Stage::of(1);
        let protocol = Protocol {
            mode,
            ..stage.protocol()
        };
        let case = stage.case();
        let facts = move |order: &WindowOrder| {
            let mut facts = right_facts(order, 1);
            facts.outputs[0].matched -= u64::from(order.window >= wrong_from);
            facts
        };
        let mut is_tried = false;
        with_referee(&protocol, &case, facts, |context| {
            let mut arm = arm(&protocol, &case, 0, vec![worker(|order| claim(order, 1e6))]);
            arm.begin_round();
            for _ in 0..3 {
                arm.step(context, WindowPurpose::Unsampled(WindowKind::EarlyCheck))
                    .unwrap();
            }
            is_tried = arm.is_wrong_at_once();
        });
        is_tried
    }

    #[test]
    fn another_order_is_tried_only_in_a_test_whose_first_call_is_wrong() {
        assert!(is_tried(RunMode::Test, 1));
        assert!(!is_tried(RunMode::Test, 2), "the first call was right");
        assert!(!is_tried(RunMode::Test, 9), "all were right");
        assert!(!is_tried(RunMode::Measure, 1));
    }
}
