//! Has the author's check judge outputs, where a case has one.
//!
//! The check gets copies of the outputs, and returns the expected ones: those of the reference, but
//! for the elements that it accepts. They replace the expected outputs here, and all comparisons
//! follow as usual. So the author decides what is right, and the referee who wrote it.

use gpubench::catalog::{Reference, Tolerance};

use super::RefereeError;
use super::buffers::{Answers, Buffer};
use super::case::{OpenCase, Referee};
use super::parts::parts;
use crate::window::WindowId;
use crate::wire::{
    Channel, CheckOrder, CheckSubject, CheckVerdict, Checked, NOWHERE, OtherAnswer, Patience, WindowFacts,
    from_referee, to_referee,
};
use gpubench_device::DevicePtr;
use gpubench_device::harness::Comparison;

impl OpenCase {
    /// Whether the author's check judges the outputs.
    pub(super) fn is_checked(&self) -> bool {
        self.recording.reference == Reference::Checked
    }
}

/// The first `made` buffers of a case that are outputs, each with the position of its tensor.
fn outputs(case: &OpenCase, made: usize) -> Vec<(usize, Buffer, Answers)> {
    let buffers = case.tensors()[..made].iter().enumerate();
    buffers
        .filter_map(|(index, buffer)| Some((index, *buffer, buffer.answers?)))
        .collect()
}

impl Referee {
    /// Has the check judge the snapshots of a window. Returns the first call that it rejects.
    pub(super) fn check_snapshots(
        &mut self,
        case: &OpenCase,
        facts: &WindowFacts,
        broker: &Channel,
    ) -> Result<Option<u32>, RefereeError> {
        let made = case.tensors_of(facts.kind.made_calls());
        let checked = self.ask_check(case, made, CheckSubject::Worker, |answers| answers.snapshot, broker)?;
        if checked.verdict == CheckVerdict::Accepted && case.position(facts.window) == 1 {
            self.keep_first_answers(case, facts.window)?;
        }
        Ok((checked.verdict != CheckVerdict::Accepted).then_some(checked.call))
    }

    /// Marks the outputs of a call that the check rejects as wrong. No element of them is to blame.
    pub(super) fn reject(&self, case: &OpenCase, call: u32, facts: &mut WindowFacts) {
        let of_call = case.tensors_of_call() as u64;
        let count = facts.output_count as usize;
        for output in &mut facts.outputs[..count] {
            if output.tensor / of_call == u64::from(call) {
                output.matched = 0;
                output.mismatched = 0;
                output.first_wrong = NOWHERE;
            }
        }
    }

    /// Asks whether the check accepts the previous call's outputs, and zeros. The snapshots are
    /// zeros afterwards.
    pub(super) fn try_other_answers_on_check(
        &mut self,
        case: &OpenCase,
        place: WindowId,
        facts: &mut WindowFacts,
        broker: &Channel,
    ) -> Result<(), RefereeError> {
        let made = case.tensors_of(facts.kind.made_calls());
        let outputs = outputs(case, made);
        let mut accepted = Vec::with_capacity(outputs.len());
        for (_, buffer, answers) in &outputs {
            let mut contents = vec![0; buffer.layout.len as usize];
            self.driver.read(answers.expected, &mut contents)?;
            accepted.push(contents);
        }
        let old = self.other_answers(case, place, made, |answers| answers.previous, broker)?;
        self.put_expected(&outputs, &accepted)?;
        for (_, buffer, answers) in &outputs {
            self.driver.set(self.stream, answers.snapshot, 0, buffer.layout.len)?;
        }
        let zeros = self.other_answers(case, place, made, |answers| answers.snapshot, broker)?;
        self.put_expected(&outputs, &accepted)?;
        for (position, output) in facts.outputs.iter_mut().enumerate().take(outputs.len()) {
            let are_zeros = accepted[position].iter().all(|byte| *byte == 0);
            output.old_answer = old[position] as u64;
            output.zeros = if are_zeros {
                OtherAnswer::NotAsked
            } else {
                zeros[position]
            } as u64;
        }
        Ok(())
    }

    /// Returns for each output whether other contents of it would pass.
    fn other_answers(
        &mut self,
        case: &OpenCase,
        place: WindowId,
        made: usize,
        other: fn(&Answers) -> DevicePtr,
        broker: &Channel,
    ) -> Result<Vec<OtherAnswer>, RefereeError> {
        let checked = self.ask_check(case, made, CheckSubject::OtherAnswer, other, broker)?;
        let mut found = Vec::new();
        // No output is of structs, so each is one part.
        for part in parts(&case.recording.tensors[..made], case.tensors()) {
            let is_rejected = checked.verdict != CheckVerdict::Accepted;
            let comparison = Comparison {
                got: other(&part.answers),
                ..self.comparison(&part, place)
            };
            let passes = !is_rejected && self.compare_and_judge(&comparison)?.summary.all_match();
            found.push(if passes {
                OtherAnswer::Passes
            } else {
                OtherAnswer::Fails
            });
        }
        Ok(found)
    }

    fn put_expected(&mut self, outputs: &[(usize, Buffer, Answers)], contents: &[Vec<u8>]) -> Result<(), RefereeError> {
        self.driver.synchronize(self.stream)?;
        for ((_, _, answers), contents) in outputs.iter().zip(contents) {
            self.driver.write(answers.expected, contents)?;
        }
        Ok(())
    }

    /// Gives the check these contents of the first `made` tensors, through the broker. If it
    /// accepts, takes over what is expected then.
    fn ask_check(
        &mut self,
        case: &OpenCase,
        made: usize,
        subject: CheckSubject,
        got: fn(&Answers) -> DevicePtr,
        broker: &Channel,
    ) -> Result<Checked, RefereeError> {
        let outputs = outputs(case, made);
        let (driver, stream) = (&mut *self.driver, self.stream);
        for (_, buffer, answers) in &outputs {
            let judged = answers.judged.ok_or(RefereeError::Order("the case has no check"))?;
            driver.copy(stream, judged.address, got(answers), buffer.layout.len)?;
        }
        driver.synchronize(stream)?;
        let order = CheckOrder {
            calls: (made / case.tensors_of_call()) as u32,
            subject,
        };
        broker.send_record(from_referee::NEEDS_CHECK, &order)?;
        let checked: Checked = loop {
            let frame = broker.receive(Patience::Forever)?;
            match frame.kind {
                to_referee::CHECKED => break frame.record()?,
                // The window has ended.
                to_referee::ABORT => {}
                _ => return Err(RefereeError::Order("it is not expected before the check")),
            }
        };
        if checked.verdict == CheckVerdict::Accepted {
            for (index, buffer, answers) in &outputs {
                // Without a reference, all that the check does not reject is right.
                let expected = match (case.recording.tensors[*index].tolerance, answers.judged) {
                    (Tolerance::ByCheck, _) | (_, None) => got(answers),
                    (_, Some(judged)) => judged.address,
                };
                self.driver
                    .copy(stream, answers.expected, expected, buffer.layout.len)?;
            }
            self.driver.synchronize(stream)?;
        }
        Ok(checked)
    }
}
