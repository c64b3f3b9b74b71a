//! Checks the worker's buffers after a call. All checks are queued at once, then awaited and read
//! together.

use bytemuck::Zeroable;
use gpubench::catalog::{DType, Tolerance};
use gpubench_harness::{CheckSummary, NoiseSummary};

use super::RefereeError;
use super::buffers::{Answers, Buffer, PristineBuffers};
use super::case::{OpenCase, Referee};
use super::other_answers::asked;
use super::parts::{Part, parts};
use super::wrong_output::EarlierAnswers;
use crate::window::{KeyPurpose, Seeds, WindowContent, WindowId, WindowKind};
use crate::wire::{Channel, NOWHERE, OutputFacts, WindowFacts};
use gpubench_device::DevicePtr;
use gpubench_device::harness::{
    Batch, Comparison, Coverage, DigestSlot, DigestSum, Findings, Judged, PoisonPlace, Ticket,
};

/// Keys of a window's digests, on the device.
#[derive(Debug)]
pub(super) struct DigestKeys {
    /// For the output digest of each output.
    digests: Vec<DigestSlot>,
    /// For the digest of each input.
    inputs: Vec<DigestSlot>,
}

/// The queued checks of a window.
#[derive(Debug)]
pub(super) struct QueuedChecks {
    /// The output digest of each output.
    digests: Vec<Ticket<DigestSum>>,
    /// The checks of the call.
    call: CallChecks,
}

#[derive(Debug)]
struct CallChecks {
    inputs: Vec<Ticket<DigestSum>>,
    outputs: Vec<Ticket<CheckSummary>>,
    redzone: Vec<RedzoneCheck>,
    late_writes: Vec<Ticket<CheckSummary>>,
}

/// A check of the redzone on one side of a buffer.
#[derive(Debug)]
struct RedzoneCheck {
    buffer: usize,
    /// Start of the redzone in the buffer's allocation.
    start: u64,
    /// Start of the buffer in its allocation.
    offset: u64,
    ticket: Ticket<NoiseSummary>,
}

impl Referee {
    /// Copies every output into private memory, where a worker cannot change it later.
    pub(super) fn snapshot(&mut self, side: &[Buffer]) -> Result<(), RefereeError> {
        for (_, buffer, answers) in outputs(side) {
            self.driver
                .copy(self.stream, answers.snapshot, buffer.address(), buffer.layout.len)?;
        }
        Ok(())
    }

    /// Writes the keys of the digests of a window.
    pub(super) fn hand_in_keys(
        &mut self,
        side: &[Buffer],
        place: WindowId,
        batch: &mut Batch,
    ) -> Result<DigestKeys, RefereeError> {
        let outputs = outputs(side).count();
        let mut keys = vec![digest_keys(&self.seeds, place); outputs];
        let place = WindowId { window: 0, ..place };
        let key = self.seeds.key(KeyPurpose::InputDigest, place);
        keys.extend(inputs(side).map(|(index, ..)| [key.wrapping_add(index as u64), key]));
        let mut digests = self.harness.hand_in_keys(&mut *self.driver, batch, &keys)?;
        let inputs = digests.split_off(outputs);
        Ok(DigestKeys { digests, inputs })
    }

    /// Queues all checks of a side's window: first on the snapshots, last on the memory that the
    /// worker can still write. A control window has the same checks, though only its output digests
    /// are read, because work queued after *done* makes a window longer, by 1 µs on a GPU.
    pub(super) fn queue_all_checks(
        &mut self,
        case: &OpenCase,
        side: &[Buffer],
        place: WindowId,
        kind: WindowKind,
        keys: DigestKeys,
        batch: &mut Batch,
    ) -> Result<QueuedChecks, RefereeError> {
        // The digests that the worker's device should have written for the snapshots.
        let snapshots = outputs(side).map(|(_, buffer, answers)| (buffer, answers.snapshot));
        let digests = self.queue_digests(snapshots, keys.digests, kind.coverage(), batch)?;
        // The sum of the input digests distinguishes the windows of a case.
        let contents = inputs(side).map(|(_, buffer, pristine)| (buffer, pristine.current));
        let call = CallChecks {
            inputs: self.queue_digests(contents, keys.inputs, Coverage::Whole, batch)?,
            outputs: self.queue_checks(case, side, place, batch)?,
            redzone: self.queue_redzone(side, place, batch)?,
            late_writes: self.queue_late_write_checks(side, batch)?,
        };
        Ok(QueuedChecks { digests, call })
    }

    /// Writes the results into the facts. `claimed` has the output digests of the worker's device,
    /// copied when the referee saw *done*.
    pub(super) fn report(
        &mut self,
        case: &OpenCase,
        checks: QueuedChecks,
        found: &Findings,
        claimed: &[u64],
        facts: &mut WindowFacts,
        broker: &Channel,
    ) -> Result<(), RefereeError> {
        facts.redzone_buffer = NOWHERE;
        let QueuedChecks { digests, call } = checks;
        let made = case.tensors_of(facts.kind.made_calls());
        let digests = outputs(case.tensors()).zip(digests);
        let digests = digests.take_while(|((index, ..), _)| *index < made);
        let mut count = 0;
        for (position, ((index, ..), digest)) in digests.enumerate() {
            let DigestSum(digest_expected) = found.get(digest)?;
            for field in 0..case.recording.tensors[index].parts() {
                facts.outputs[count] = OutputFacts {
                    tensor: index as u64,
                    field: field as u64,
                    digest_claimed: claimed.get(position).copied().unwrap_or(0),
                    digest_expected,
                    ..OutputFacts::zeroed()
                };
                count += 1;
            }
        }
        facts.output_count = count as u32;
        match facts.kind.content() {
            WindowContent::Twin | WindowContent::Nothing => Ok(()),
            WindowContent::Call => self.report_call(case, call, found, facts, broker),
        }
    }

    fn report_call(
        &mut self,
        case: &OpenCase,
        checks: CallChecks,
        found: &Findings,
        facts: &mut WindowFacts,
        broker: &Channel,
    ) -> Result<(), RefereeError> {
        for input in checks.inputs {
            let DigestSum(sum) = found.get(input)?;
            facts.input_digest = facts.input_digest.wrapping_add(sum);
        }
        let place = case.place(facts.window);
        let call = case.position(facts.window);
        let is_asked = asked(case.sides()).contains(&call);
        let made = facts.output_count as usize;
        let rejected = match case.is_checked() {
            true => self.check_snapshots(case, facts, broker)?,
            false => None,
        };
        let parts = parts(&case.recording.tensors, case.tensors());
        for ((count, part), check) in parts.iter().enumerate().zip(checks.outputs).take(made) {
            let output = &mut facts.outputs[count];
            let comparison = self.comparison(part, place);
            let found = found.get(check)?;
            let judged = match (case.is_checked(), rejected) {
                (true, None) => self.compare_and_judge(&comparison)?,
                _ => self.judge(&comparison, found)?,
            };
            fill_in(output, &judged);
            let earlier = EarlierAnswers::new(case, &parts, part, call);
            if is_asked || output.first_wrong != NOWHERE {
                self.gather_other_answers(part)?;
            }
            if is_asked && !case.is_checked() {
                output.old_answer = self.check_old_answer(&comparison, &part.answers)? as u64;
            }
            if rejected.is_none() && output.first_wrong != NOWHERE {
                self.classify_wrong_output(&comparison, part.given, earlier, output)?;
                let decisive = Comparison {
                    tolerance: judged.tolerance,
                    ..comparison
                };
                let found = self.differences((part.index, part.field), &part.tensor.shape, &decisive)?;
                self.differences_of_window.push(found);
            }
            if output.same_as_first == output.elements && output.elements > 0 {
                output.constant_bits = self.element(comparison.got, comparison.dtype, 0)?;
            }
            if rejected.is_some() {
                output.replay = self.find_replay(&comparison, earlier)? as u64;
            }
        }
        if let Some(call) = rejected {
            self.reject(case, call, facts);
        }
        let are_right = facts
            .outputs
            .iter()
            .take(made)
            .all(|output| output.first_wrong == NOWHERE);
        if is_asked && are_right && rejected.is_none() && case.is_checked() {
            self.try_other_answers_on_check(case, place, facts, broker)?;
        }
        // The broker may keep wrong outputs, and zeros replace them.
        if is_asked && are_right && !case.is_checked() {
            for (output, part) in facts.outputs.iter_mut().zip(&parts).take(made) {
                let comparison = self.comparison(part, place);
                output.zeros = self.check_zeros(&comparison, &part.answers, part.tensor.bytes())? as u64;
            }
        }
        for check in checks.redzone {
            let noise = found.get(check.ticket)?;
            let Some((first, _)) = noise.extent else { continue };
            if facts.redzone_buffer == NOWHERE {
                facts.redzone_buffer = check.buffer as u64;
                facts.redzone_offset = (check.start + first) as i64 - check.offset as i64;
                facts.redzone_bytes = noise.different;
            }
        }
        // Late writes are those to a whole output: its first part stands for it.
        let wholes = facts.outputs.iter_mut().filter(|output| output.field == 0);
        for (output, late_writes) in wholes.zip(checks.late_writes) {
            output.late_bytes = found.get(late_writes)?.wrong();
        }
        Ok(())
    }

    /// Queues digests of buffers, each with the keys in its slot.
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
        side: &[Buffer],
        place: WindowId,
        batch: &mut Batch,
    ) -> Result<Vec<Ticket<CheckSummary>>, RefereeError> {
        let mut tickets = Vec::new();
        for part in parts(&case.recording.tensors, side) {
            self.gather_answers(&part)?;
            let comparison = self.comparison(&part, place);
            tickets.push(self.harness.check(&mut *self.driver, batch, &comparison)?);
        }
        Ok(tickets)
    }

    fn queue_redzone(
        &mut self,
        side: &[Buffer],
        place: WindowId,
        batch: &mut Batch,
    ) -> Result<Vec<RedzoneCheck>, RefereeError> {
        let poison = self.seeds.key(KeyPurpose::Poison, place);
        let mut checks = Vec::new();
        for (index, buffer) in side.iter().enumerate() {
            let layout = buffer.layout;
            for (start, bytes) in layout.redzones().into_iter().rev() {
                if bytes == 0 {
                    continue;
                }
                let address = buffer.shared.address.offset(start);
                let (driver, harness) = (&mut *self.driver, &self.harness);
                checks.push(RedzoneCheck {
                    buffer: index,
                    start,
                    offset: layout.offset,
                    ticket: harness.check_noise(driver, batch, address, bytes, poison, start)?,
                });
            }
        }
        Ok(checks)
    }

    /// Queues a comparison of every output with its snapshot, to find late writes.
    pub(super) fn queue_late_write_checks(
        &mut self,
        side: &[Buffer],
        batch: &mut Batch,
    ) -> Result<Vec<Ticket<CheckSummary>>, RefereeError> {
        let mut tickets = Vec::new();
        for (_, buffer, answers) in outputs(side) {
            let same = Comparison {
                got: buffer.address(),
                expected: answers.snapshot,
                len: buffer.layout.len,
                dtype: DType::U8,
                tolerance: Tolerance::Exact,
                poison_key: 0,
                poison: PoisonPlace::default(),
                order_key: 0,
            };
            tickets.push(self.harness.check(&mut *self.driver, batch, &same)?);
        }
        Ok(tickets)
    }

    pub(super) fn comparison(&self, part: &Part<'_>, place: WindowId) -> Comparison {
        let Part { tensor, answers, .. } = part;
        Comparison {
            got: answers.snapshot,
            expected: answers.expected,
            len: tensor.elements(),
            dtype: tensor.dtype,
            tolerance: tensor.tolerance,
            poison_key: self.seeds.key(KeyPurpose::Poison, place),
            poison: part.poison,
            order_key: self.seeds.key(KeyPurpose::CheckOrder, place),
        }
    }
}

/// Returns every output of a side: the position of its tensor, its buffer and its answers.
fn outputs(side: &[Buffer]) -> impl Iterator<Item = (usize, &Buffer, &Answers)> {
    let buffers = side.iter().enumerate();
    buffers.filter_map(|(index, buffer)| Some((index, buffer, buffer.answers.as_ref()?)))
}

/// Returns every input of a side: the position of its tensor, its buffer and its contents.
fn inputs(side: &[Buffer]) -> impl Iterator<Item = (usize, &Buffer, &PristineBuffers)> {
    let buffers = side.iter().enumerate();
    buffers.filter_map(|(index, buffer)| Some((index, buffer, buffer.pristine.as_ref()?)))
}

fn fill_in(output: &mut OutputFacts, judged: &Judged) {
    let summary = &judged.summary;
    *output = OutputFacts {
        elements: summary.elements,
        matched: summary.matched,
        mismatched: judged.mismatched,
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

/// Returns the two keys of a window's output digest.
pub(super) fn digest_keys(seeds: &Seeds, place: WindowId) -> [u64; 2] {
    [
        seeds.key(KeyPurpose::OutputDigest, place),
        seeds.key(KeyPurpose::OutputDigestOrder, place),
    ]
}
