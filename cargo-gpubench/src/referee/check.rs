//! Looking at what the worker made of its buffers.

use bytemuck::Zeroable;
use gpubench::catalog::{DType, Tensor, Tolerance};

use super::RefereeError;
use super::buffers::{Answers, Buffer};
use super::case::{OpenCase, Referee};
use crate::device::DevicePtr;
use crate::device::harness::{Comparison, Coverage};
use crate::window::{Place, Purpose, WindowKind};
use crate::wire::{NOWHERE, OutputFacts, Replay, WindowFacts};

impl Referee {
    /// Copies every output into private memory: nothing a worker does later can change it there.
    pub(super) fn snapshot(&mut self, case: &OpenCase) -> Result<(), RefereeError> {
        for buffer in &case.buffers {
            if let Some(answers) = buffer.answers() {
                self.driver
                    .copy(self.stream, answers.snapshot, buffer.address(), buffer.layout.len)?;
            }
        }
        Ok(())
    }

    /// Checks every output and all slack. `seals` are what the worker's device wrote, copied when *done* was seen.
    pub(super) fn examine(
        &mut self,
        case: &OpenCase,
        place: Place,
        kind: WindowKind,
        seals: &[u64],
        facts: &mut WindowFacts,
    ) -> Result<(), RefereeError> {
        let mut count = 0;
        for (index, tensor) in case.recording.tensors.iter().enumerate() {
            let buffer = &case.buffers[index];
            let Some(answers) = buffer.answers() else { continue };
            let mut output = self.check_output(tensor, buffer, answers, place)?;
            output.tensor = index as u64;
            output.seal_claimed = seals.get(count).copied().unwrap_or(0);
            output.seal_expected = self.seal(answers.snapshot, buffer.layout.len, kind, place)?;
            facts.outputs[count] = output;
            count += 1;
        }
        facts.output_count = count as u32;
        self.examine_slack(case, place, facts)
    }

    /// Compares seals alone: in a null window nobody computes anything.
    pub(super) fn compare_seals(
        &mut self,
        case: &OpenCase,
        place: Place,
        kind: WindowKind,
        seals: &[u64],
        facts: &mut WindowFacts,
    ) -> Result<(), RefereeError> {
        let outputs = case.buffers.iter().enumerate();
        let outputs = outputs.filter_map(|(index, buffer)| Some((index, buffer, buffer.answers()?)));
        facts.slack_buffer = NOWHERE;
        for (count, (index, buffer, answers)) in outputs.enumerate() {
            facts.outputs[count] = OutputFacts {
                tensor: index as u64,
                seal_claimed: seals.get(count).copied().unwrap_or(0),
                seal_expected: self.seal(answers.snapshot, buffer.layout.len, kind, place)?,
                ..OutputFacts::zeroed()
            };
            facts.output_count = count as u32 + 1;
        }
        Ok(())
    }

    /// Looks at every output a second time: it must still be what the snapshot holds.
    pub(super) fn look_again(&mut self, case: &OpenCase, facts: &mut WindowFacts) -> Result<(), RefereeError> {
        let answers = case
            .buffers
            .iter()
            .filter_map(|buffer| Some((buffer, buffer.answers()?)));
        for (output, (buffer, answers)) in facts.outputs.iter_mut().zip(answers) {
            let bytes = buffer.layout.len;
            let same = Comparison {
                got: buffer.address(),
                expected: answers.snapshot,
                len: bytes,
                dtype: DType::U8,
                tolerance: Tolerance::Exact,
                poison_key: 0,
                poison_offset: 0,
                order_key: 0,
            };
            let summary = self.harness.check(&mut *self.driver, self.stream, &same)?;
            output.late_bytes = bytes - summary.matched;
        }
        Ok(())
    }

    fn check_output(
        &mut self,
        tensor: &Tensor,
        buffer: &Buffer,
        answers: &Answers,
        place: Place,
    ) -> Result<OutputFacts, RefereeError> {
        let comparison = Comparison {
            got: answers.snapshot,
            expected: answers.expected,
            len: tensor.elements(),
            dtype: tensor.dtype,
            tolerance: tensor.tolerance,
            poison_key: self.seeds.key(Purpose::Poison, place),
            poison_offset: buffer.layout.offset,
            order_key: self.seeds.key(Purpose::CheckOrder, place),
        };
        let summary = self.harness.check(&mut *self.driver, self.stream, &comparison)?;
        let mut output = OutputFacts {
            elements: summary.elements,
            matched: summary.matched,
            unwritten: summary.unwritten,
            non_finite: summary.non_finite,
            same_as_first: summary.same_as_first,
            first_wrong: summary.first_wrong.unwrap_or(NOWHERE),
            worst: summary.worst.unwrap_or(NOWHERE),
            max_abs: summary.max_abs_error,
            max_rel: summary.max_rel_error,
            ..OutputFacts::zeroed()
        };
        if let Some(first_wrong) = summary.first_wrong {
            output.expected_bits = self.element(answers.expected, tensor.dtype, first_wrong)?;
            output.got_bits = self.element(answers.snapshot, tensor.dtype, first_wrong)?;
            output.replay = self.find_replay(&comparison, answers, place)? as u64;
            if let Some(masters) = buffer.masters() {
                // An in-out tensor has no poison: what was left alone is what the call was given.
                let given = Comparison {
                    expected: masters.current,
                    tolerance: Tolerance::Exact,
                    ..comparison
                };
                let left = self.harness.check(&mut *self.driver, self.stream, &given)?.matched;
                if left == output.elements {
                    output.unwritten = output.elements - output.matched;
                }
            }
        }
        Ok(output)
    }

    /// Whether a wrong output is the right answer to an earlier call.
    fn find_replay(
        &mut self,
        comparison: &Comparison,
        answers: &Answers,
        place: Place,
    ) -> Result<Replay, RefereeError> {
        if place.window < 2 {
            return Ok(Replay::None);
        }
        let mut equals = |expected: DevicePtr| -> Result<bool, RefereeError> {
            let other = Comparison {
                expected,
                ..*comparison
            };
            let summary = self.harness.check(&mut *self.driver, self.stream, &other)?;
            Ok(summary.matched == comparison.len)
        };
        Ok(match (equals(answers.previous)?, equals(answers.first)?) {
            (true, true) => Replay::FirstAndPrevious,
            (true, false) => Replay::Previous,
            (false, true) => Replay::First,
            (false, false) => Replay::None,
        })
    }

    fn element(&mut self, tensor: DevicePtr, dtype: DType, index: u64) -> Result<u64, RefereeError> {
        let mut bits = [0; 8];
        let size = dtype.size() as u64;
        self.driver
            .read(tensor.offset(index * size), &mut bits[..size as usize])?;
        Ok(u64::from_le_bytes(bits))
    }

    /// The seal that the worker's device should have written for contents like the snapshot's.
    fn seal(&mut self, snapshot: DevicePtr, bytes: u64, kind: WindowKind, place: Place) -> Result<u64, RefereeError> {
        let coverage = match kind {
            WindowKind::Timed | WindowKind::Null => Coverage::Sample,
            WindowKind::EarlyCheck => Coverage::Whole,
        };
        let keys = seal_keys(&self.seeds, place);
        self.digest(snapshot, bytes, coverage, keys)
    }

    /// One number for all inputs of the window, by which its case's windows are told apart.
    pub(super) fn digest_inputs(&mut self, case: &OpenCase) -> Result<u64, RefereeError> {
        let place = Place {
            case: case.number,
            window: 0,
        };
        let key = self.seeds.key(Purpose::InputDigest, place);
        let mut sum = 0_u64;
        for (index, buffer) in case.buffers.iter().enumerate() {
            if let Some(masters) = buffer.masters() {
                let keys = [key.wrapping_add(index as u64), key];
                sum = sum.wrapping_add(self.digest(masters.current, buffer.layout.len, Coverage::Whole, keys)?);
            }
        }
        Ok(sum)
    }

    fn digest(
        &mut self,
        address: DevicePtr,
        bytes: u64,
        coverage: Coverage,
        [digest, order]: [u64; 2],
    ) -> Result<u64, RefereeError> {
        let (driver, stream) = (&mut *self.driver, self.stream);
        let words = [digest.to_le_bytes(), order.to_le_bytes(), [0; 8]].concat();
        driver.write(self.digest, &words)?;
        let out = self.digest.offset(16);
        self.harness
            .digest(driver, stream, address, bytes, self.digest.0, coverage, out.0)?;
        driver.synchronize(stream)?;
        let mut sum = [0; 8];
        driver.read(out, &mut sum)?;
        Ok(u64::from_le_bytes(sum))
    }

    fn examine_slack(&mut self, case: &OpenCase, place: Place, facts: &mut WindowFacts) -> Result<(), RefereeError> {
        let poison = self.seeds.key(Purpose::Poison, place);
        facts.slack_buffer = NOWHERE;
        for (index, buffer) in case.buffers.iter().enumerate() {
            let layout = buffer.layout;
            let back = layout.offset + layout.len;
            for (start, bytes) in [(back, layout.allocation - back), (0, layout.offset)] {
                if bytes == 0 {
                    continue;
                }
                let address = buffer.shared.address.offset(start);
                let driver = &mut *self.driver;
                let found = self
                    .harness
                    .check_noise(driver, self.stream, address, bytes, poison, start)?;
                let Some((first, _)) = found.extent else { continue };
                if facts.slack_buffer == NOWHERE {
                    facts.slack_buffer = index as u64;
                    facts.slack_offset = (start + first) as i64 - layout.offset as i64;
                    facts.slack_bytes = found.different;
                }
            }
        }
        Ok(())
    }
}

/// The two keys of a window's seal.
pub(super) fn seal_keys(seeds: &crate::window::Seeds, place: Place) -> [u64; 2] {
    [seeds.key(Purpose::Seal, place), seeds.key(Purpose::SealOrder, place)]
}
