//! Looking at what the worker made of its buffers: everything is queued behind one another, then
//! waited for and read at once.

use bytemuck::Zeroable;
use gpubench::catalog::{DType, Tensor, Tolerance};
use gpubench_harness::{CheckSummary, NoiseSummary};

use super::RefereeError;
use super::buffers::{Answers, Buffer, PristineBuffers};
use super::case::{OpenCase, Referee};
use crate::window::{KeyPurpose, Seeds, WindowId, WindowKind};
use crate::wire::{NOWHERE, OutputFacts, WindowFacts};
use gpubench_device::DevicePtr;
use gpubench_device::harness::{Batch, Comparison, Coverage, DigestSlot, DigestSum, Findings, Ticket};

/// Keys of a window's digests, on the device.
#[derive(Debug)]
pub(super) struct DigestKeys {
    /// For the output digest of each output.
    digests: Vec<DigestSlot>,
    /// For each input.
    inputs: Vec<DigestSlot>,
}

/// The looks at a window that are queued.
#[derive(Debug)]
pub(super) struct Looks {
    /// At each output's output digest.
    digests: Vec<Ticket<DigestSum>>,
    /// At what a call did.
    call: CallLooks,
}

#[derive(Debug)]
struct CallLooks {
    inputs: Vec<Ticket<DigestSum>>,
    outputs: Vec<Ticket<CheckSummary>>,
    redzone: Vec<RedzoneLook>,
    second: Vec<Ticket<CheckSummary>>,
}

/// A look at the redzone on one side of a buffer.
#[derive(Debug)]
struct RedzoneLook {
    buffer: usize,
    /// Where the redzone begins in the buffer's allocation.
    start: u64,
    ticket: Ticket<NoiseSummary>,
}

impl Referee {
    /// Copies every output into private memory: nothing a worker does later can change it there.
    pub(super) fn snapshot(&mut self, case: &OpenCase) -> Result<(), RefereeError> {
        for (_, buffer, answers) in outputs(case) {
            self.driver
                .copy(self.stream, answers.snapshot, buffer.address(), buffer.layout.len)?;
        }
        Ok(())
    }

    /// Writes the keys of the digests that a window will want.
    pub(super) fn hand_in_keys(
        &mut self,
        case: &OpenCase,
        place: WindowId,
        batch: &mut Batch,
    ) -> Result<DigestKeys, RefereeError> {
        let outputs = outputs(case).count();
        let mut keys = vec![digest_keys(&self.seeds, place); outputs];
        let place = WindowId { window: 0, ..place };
        let key = self.seeds.key(KeyPurpose::InputDigest, place);
        keys.extend(inputs(case).map(|(index, ..)| [key.wrapping_add(index as u64), key]));
        let mut digests = self.harness.hand_in_keys(&mut *self.driver, batch, &keys)?;
        let inputs = digests.split_off(outputs);
        Ok(DigestKeys { digests, inputs })
    }

    /// Queues every look at a window: at the snapshots first, at what the worker can still reach
    /// last. Also in a control window, where nothing but the output digests is read: what a stream holds back
    /// behind *done* makes the window longer, by a microsecond on a GPU.
    pub(super) fn queue_looks(
        &mut self,
        case: &OpenCase,
        place: WindowId,
        kind: WindowKind,
        keys: DigestKeys,
        batch: &mut Batch,
    ) -> Result<Looks, RefereeError> {
        // What the worker's device should have written for contents like the snapshots'.
        let snapshots = outputs(case).map(|(_, buffer, answers)| (buffer, answers.snapshot));
        let digests = self.queue_digests(snapshots, keys.digests, kind.coverage(), batch)?;
        // By their sum the windows of a case are told apart.
        let contents = inputs(case).map(|(_, buffer, pristine)| (buffer, pristine.current));
        let call = CallLooks {
            inputs: self.queue_digests(contents, keys.inputs, Coverage::Whole, batch)?,
            outputs: self.queue_checks(case, place, batch)?,
            redzone: self.queue_redzone(case, place, batch)?,
            second: self.queue_second_look(case, batch)?,
        };
        Ok(Looks { digests, call })
    }

    /// Puts what was found in the facts. `claimed` are the output digests that the worker's device wrote,
    /// copied when *done* was seen.
    pub(super) fn report(
        &mut self,
        case: &OpenCase,
        place: WindowId,
        looks: Looks,
        found: &Findings,
        claimed: &[u64],
        facts: &mut WindowFacts,
    ) -> Result<(), RefereeError> {
        facts.redzone_buffer = NOWHERE;
        let Looks { digests, call } = looks;
        for (count, ((index, ..), digest)) in outputs(case).zip(digests).enumerate() {
            let DigestSum(digest_expected) = found.of(digest)?;
            facts.outputs[count] = OutputFacts {
                tensor: index as u64,
                digest_claimed: claimed.get(count).copied().unwrap_or(0),
                digest_expected,
                ..OutputFacts::zeroed()
            };
            facts.output_count = count as u32 + 1;
        }
        match facts.kind {
            WindowKind::Control => Ok(()),
            WindowKind::Timed | WindowKind::EarlyCheck => self.report_call(case, place, call, found, facts),
        }
    }

    fn report_call(
        &mut self,
        case: &OpenCase,
        place: WindowId,
        looks: CallLooks,
        found: &Findings,
        facts: &mut WindowFacts,
    ) -> Result<(), RefereeError> {
        for input in looks.inputs {
            let DigestSum(sum) = found.of(input)?;
            facts.input_digest = facts.input_digest.wrapping_add(sum);
        }
        let call = case.position(place.window);
        for ((count, (index, buffer, answers)), check) in outputs(case).enumerate().zip(looks.outputs) {
            let output = &mut facts.outputs[count];
            describe(output, &found.of(check)?);
            let comparison = self.comparison(&case.recording.tensors[index], buffer, answers, place);
            output.old_answer = self.look_at_old_answer(&comparison, answers, call)? as u64;
            if output.first_wrong != NOWHERE {
                self.look_closer(&comparison, buffer, answers, call, output)?;
            }
            if output.same_as_first == output.elements && output.elements > 0 {
                output.constant_bits = self.element(comparison.got, comparison.dtype, 0)?;
            }
            output.zeros = self.look_at_zeros(&comparison, answers, buffer.layout.len, call)? as u64;
        }
        for look in looks.redzone {
            let noise = found.of(look.ticket)?;
            let Some((first, _)) = noise.extent else { continue };
            if facts.redzone_buffer == NOWHERE {
                let layout = case.buffers[look.buffer].layout;
                facts.redzone_buffer = look.buffer as u64;
                facts.redzone_offset = (look.start + first) as i64 - layout.offset as i64;
                facts.redzone_bytes = noise.different;
            }
        }
        for (output, second) in facts.outputs.iter_mut().zip(looks.second) {
            output.late_bytes = found.of(second)?.wrong();
        }
        Ok(())
    }

    /// Digests of parts, each with the keys in its slot.
    fn queue_digests<'c>(
        &mut self,
        parts: impl Iterator<Item = (&'c Buffer, DevicePtr)>,
        keys: Vec<DigestSlot>,
        coverage: Coverage,
        batch: &mut Batch,
    ) -> Result<Vec<Ticket<DigestSum>>, RefereeError> {
        let mut tickets = Vec::with_capacity(keys.len());
        for ((buffer, contents), slot) in parts.zip(keys) {
            let (driver, bytes) = (&mut *self.driver, buffer.layout.len);
            let ticket = self
                .harness
                .keyed_digest(driver, batch, slot, contents, bytes, coverage)?;
            tickets.push(ticket);
        }
        Ok(tickets)
    }

    fn queue_checks(
        &mut self,
        case: &OpenCase,
        place: WindowId,
        batch: &mut Batch,
    ) -> Result<Vec<Ticket<CheckSummary>>, RefereeError> {
        let mut tickets = Vec::new();
        for (index, buffer, answers) in outputs(case) {
            let comparison = self.comparison(&case.recording.tensors[index], buffer, answers, place);
            tickets.push(self.harness.check(&mut *self.driver, batch, &comparison)?);
        }
        Ok(tickets)
    }

    fn queue_redzone(
        &mut self,
        case: &OpenCase,
        place: WindowId,
        batch: &mut Batch,
    ) -> Result<Vec<RedzoneLook>, RefereeError> {
        let poison = self.seeds.key(KeyPurpose::Poison, place);
        let mut looks = Vec::new();
        for (index, buffer) in case.buffers.iter().enumerate() {
            let layout = buffer.layout;
            let back = layout.offset + layout.len;
            for (start, bytes) in [(back, layout.allocation - back), (0, layout.offset)] {
                if bytes == 0 {
                    continue;
                }
                let address = buffer.shared.address.offset(start);
                let (driver, harness) = (&mut *self.driver, &self.harness);
                looks.push(RedzoneLook {
                    buffer: index,
                    start,
                    ticket: harness.check_noise(driver, batch, address, bytes, poison, start)?,
                });
            }
        }
        Ok(looks)
    }

    /// Queues a second look at every output: it must still be what the snapshot holds.
    pub(super) fn queue_second_look(
        &mut self,
        case: &OpenCase,
        batch: &mut Batch,
    ) -> Result<Vec<Ticket<CheckSummary>>, RefereeError> {
        let mut tickets = Vec::new();
        for (_, buffer, answers) in outputs(case) {
            let same = Comparison {
                got: buffer.address(),
                expected: answers.snapshot,
                len: buffer.layout.len,
                dtype: DType::U8,
                tolerance: Tolerance::Exact,
                poison_key: 0,
                poison_offset: 0,
                order_key: 0,
            };
            tickets.push(self.harness.check(&mut *self.driver, batch, &same)?);
        }
        Ok(tickets)
    }

    fn comparison(&self, tensor: &Tensor, buffer: &Buffer, answers: &Answers, place: WindowId) -> Comparison {
        Comparison {
            got: answers.snapshot,
            expected: answers.expected,
            len: tensor.elements(),
            dtype: tensor.dtype,
            tolerance: tensor.tolerance,
            poison_key: self.seeds.key(KeyPurpose::Poison, place),
            poison_offset: buffer.layout.offset,
            order_key: self.seeds.key(KeyPurpose::CheckOrder, place),
        }
    }
}

/// Every output: the position of its tensor, its buffer, and what is expected of it.
fn outputs(case: &OpenCase) -> impl Iterator<Item = (usize, &Buffer, &Answers)> {
    let buffers = case.buffers.iter().enumerate();
    buffers.filter_map(|(index, buffer)| Some((index, buffer, buffer.answers.as_ref()?)))
}

/// Every input: the position of its tensor, its buffer, and its contents.
fn inputs(case: &OpenCase) -> impl Iterator<Item = (usize, &Buffer, &PristineBuffers)> {
    let buffers = case.buffers.iter().enumerate();
    buffers.filter_map(|(index, buffer)| Some((index, buffer, buffer.pristine.as_ref()?)))
}

fn describe(output: &mut OutputFacts, summary: &CheckSummary) {
    *output = OutputFacts {
        elements: summary.elements,
        matched: summary.matched,
        unwritten: summary.unwritten,
        non_finite: summary.non_finite,
        same_as_first: summary.same_as_first,
        first_wrong: summary.first_wrong.unwrap_or(NOWHERE),
        worst: summary.worst.unwrap_or(NOWHERE),
        max_abs: summary.max_abs_error,
        max_rel: summary.max_rel_error,
        ..*output
    };
}

/// The two keys of a window's output digest.
pub(super) fn digest_keys(seeds: &Seeds, place: WindowId) -> [u64; 2] {
    [
        seeds.key(KeyPurpose::OutputDigest, place),
        seeds.key(KeyPurpose::OutputDigestOrder, place),
    ]
}
