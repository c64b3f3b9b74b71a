//! The referee's process: it receives orders and sends facts.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use bytemuck::Zeroable;
use gpubench::catalog::Recording;
use gpubench::codec;

use super::RefereeError;
use super::case::{OpenCase, Referee};
use super::new_memory::Replaced;
use crate::replay::FlushBuffer;
use crate::window::{Seeds, WindowId};
use crate::wire::{
    AbsentDevice, Begin, CaseWorkers, Channel, ChannelError, ContentsOrder, Differences, DifferencesOrder, FixedText,
    Frame, KernelNeeds, LaunchShape, OpenCase as OpenCaseOrder, Patience, Problem, SideScratch, WindowOrder,
    decode_modules, from_referee, read_head, take_files, to_referee,
};
use gpubench_device::harness::Harness;
use gpubench_device::{self, Absence, DeviceError, DeviceOrder, Resources};

const NO_CASE: RefereeError = RefereeError::Order("no case is open");

/// Carries out the broker's orders until `channel` closes.
///
/// # Errors
/// If the broker breaks the protocol.
pub fn serve(channel: &Channel) -> Result<(), RefereeError> {
    let mut referee = match greet(channel) {
        Ok(referee) => referee,
        Err(RefereeError::Channel(ChannelError::Closed)) => return Ok(()),
        Err(RefereeError::Device(DeviceError::Absent(absence))) => return report_absence(channel, &absence),
        Err(error) => return report(channel, &error),
    };
    let mut open = None;
    loop {
        let mut frame = match channel.receive(Patience::Forever) {
            Ok(frame) => frame,
            Err(ChannelError::Closed) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        if let Err(error) = referee.carry_out(&mut frame, &mut open, channel) {
            report(channel, &error)?;
        }
    }
}

fn greet(channel: &Channel) -> Result<Referee, RefereeError> {
    let frame = channel.receive(Patience::Forever)?;
    let order: DeviceOrder = first_words(&frame, to_referee::HELLO)?;
    let mut driver = gpubench_device::open(&order)?;
    let harness = Harness::load(&mut *driver)?;
    let facts = serde_json::to_vec(driver.facts());
    let facts = facts.map_err(|_| RefereeError::Order("cannot encode the device facts"))?;
    channel.send(from_referee::READY, &[&facts], &[])?;

    let frame = channel.receive(Patience::Forever)?;
    let begin: Begin = first_words(&frame, to_referee::BEGIN)?;
    let stream = driver.stream()?;
    let flush = FlushBuffer::new(&mut *driver, &harness, stream, begin.flush_bytes, begin.flush_kind)?;
    let seeds = Seeds::new(begin.master_seed);
    channel.send(from_referee::BEGUN, &[], &[])?;
    Ok(Referee {
        kernels_run_in: driver.facts().kernels_run_in,
        modules: BTreeMap::new(),
        driver,
        harness,
        stream,
        seeds,
        flush,
        differences_of_window: Vec::new(),
    })
}

fn report_absence(channel: &Channel, absence: &Absence) -> Result<(), RefereeError> {
    let absent = AbsentDevice {
        kind: absence.kind,
        reason: FixedText::new(&absence.reason),
        hint: FixedText::new(&absence.hint),
    };
    Ok(channel.send_record(from_referee::ABSENT, &absent)?)
}

fn report(channel: &Channel, error: &RefereeError) -> Result<(), RefereeError> {
    let text = FixedText::new(&gpubench_diagnostic::chain(error));
    let kind = match error {
        RefereeError::Device(error) if error.is_out_of_memory() => from_referee::OUT_OF_MEMORY,
        RefereeError::Generator(_) => from_referee::GENERATOR_FAILED,
        RefereeError::Reference(_) => from_referee::REFERENCE_FAILED,
        _ => from_referee::FAILED,
    };
    Ok(channel.send_record(kind, &Problem { text })?)
}

impl Referee {
    fn carry_out(
        &mut self,
        frame: &mut Frame,
        open: &mut Option<OpenCase>,
        channel: &Channel,
    ) -> Result<(), RefereeError> {
        match frame.kind {
            to_referee::OPEN_CASE => self.open_case(frame, open, channel),
            to_referee::PREPARE | to_referee::PREPARE_WITH_ANSWERS => {
                let (order, case): (WindowOrder, _) = (frame.record()?, opened(open)?);
                self.generate(case, order.window)?;
                if frame.kind == to_referee::PREPARE_WITH_ANSWERS {
                    self.run_reference(case, order.window)?;
                }
                let prepared = self.generator_order(case, order.window);
                Ok(channel.send_record(from_referee::PREPARED, &prepared)?)
            }
            to_referee::RESOURCES => {
                let needs = self.resources(frame)?.map(|resources| KernelNeeds::from(&resources));
                let answer = needs.as_ref().map_or(&[][..], bytemuck::bytes_of);
                Ok(channel.send(from_referee::RESOURCES_FOUND, &[answer], &[])?)
            }
            to_referee::REFERENCE => {
                let order: WindowOrder = frame.record()?;
                self.run_reference(opened(open)?, order.window)?;
                Ok(channel.send(from_referee::REFERENCE_DONE, &[], &[])?)
            }
            to_referee::RELEASE => {
                let order: WindowOrder = frame.record()?;
                let facts = self.release(opened(open)?, &order, channel)?;
                Ok(channel.send_record(from_referee::FACTS, &facts)?)
            }
            to_referee::DIFFERENCES => {
                let order: DifferencesOrder = frame.record()?;
                let mut all = self.differences_of_window.iter();
                let found = all.find(|found| (found.tensor, found.field) == (order.tensor, order.field));
                let found = found.copied().unwrap_or_else(Differences::zeroed);
                Ok(channel.send_record(from_referee::DIFFERENCES_FOUND, &found)?)
            }
            to_referee::CONTENTS => {
                let order: ContentsOrder = frame.record()?;
                let contents = self.contents(opened(open)?, &order)?;
                Ok(channel.send(from_referee::CONTENTS_READ, &[&contents], &[])?)
            }
            to_referee::REPLACE_MEMORY => {
                let case = open.as_mut().ok_or(NO_CASE)?;
                let descriptors = match self.replace_memory(case)? {
                    Replaced::Now => case.shared_descriptors(&mut *self.driver)?,
                    Replaced::NotForLackOfMemory => Vec::new(),
                };
                Ok(channel.send(from_referee::MEMORY_REPLACED, &[], &borrowed(&descriptors))?)
            }
            to_referee::CLOSE_CASE => {
                if let Some(case) = open.take() {
                    case.close(&mut *self.driver);
                }
                Ok(channel.send(from_referee::CASE_CLOSED, &[], &[])?)
            }
            // The window ended before the broker's abort arrived.
            to_referee::ABORT => Ok(()),
            _ => Err(RefereeError::Order("its kind is unknown")),
        }
    }

    fn resources(&mut self, frame: &mut Frame) -> Result<Option<Resources>, RefereeError> {
        let damaged = || RefereeError::Order("it is damaged");
        let files = take_files(1, &mut frame.descriptors).ok_or_else(damaged)?;
        let module = files.into_iter().next().ok_or_else(damaged)?;
        let (shape, name) = read_head::<LaunchShape>(&frame.payload)?;
        let name = std::str::from_utf8(name).map_err(|_| damaged())?;
        self.resources_of(module, name, &shape.into())
    }

    fn open_case(
        &mut self,
        frame: &mut Frame,
        open: &mut Option<OpenCase>,
        channel: &Channel,
    ) -> Result<(), RefereeError> {
        if let Some(case) = open.take() {
            case.close(&mut *self.driver);
        }
        let (order, rest) = read_head::<OpenCaseOrder>(&frame.payload)?;
        let too_short = RefereeError::Order("it is too short");
        let scratch_bytes = order.scratch as usize * size_of::<SideScratch>();
        let split = rest.split_at_checked(scratch_bytes).and_then(|(scratch, rest)| {
            let (modules, recording) = rest.split_at_checked(order.module_bytes as usize)?;
            Some((scratch, modules, recording))
        });
        let (scratch, modules, recording) = split.ok_or(too_short)?;
        let scratch = scratch_of_sides(&order.workers_of_case, scratch)?;
        let recording: Recording =
            codec::decode(recording).map_err(|_| RefereeError::Order("its recording cannot be read"))?;
        let modules =
            decode_modules(modules, &mut frame.descriptors).ok_or(RefereeError::Order("its modules cannot be read"))?;
        let opening = WindowId {
            case: order.case,
            window: order.opening,
        };
        if !recording.tensors.len().is_multiple_of(order.calls.count.get() as usize) {
            return Err(RefereeError::Order("its calls have different tensors"));
        }
        let case = open.insert(OpenCase::open(
            self,
            opening,
            order.calls,
            order.workers_of_case,
            recording,
            &scratch,
            &modules,
        )?);
        let mut descriptors = case.page_descriptors()?;
        descriptors.extend(case.author_descriptors(&mut *self.driver)?);
        let shared = case.shared_descriptors(&mut *self.driver)?;
        let layouts = case.layouts();
        channel.send(from_referee::CASE_OPENED, &[], &borrowed(&descriptors))?;
        let layouts = bytemuck::cast_slice(&layouts);
        Ok(channel.send(from_referee::ALLOCATIONS, &[layouts], &borrowed(&shared))?)
    }
}

/// Returns the sizes of the scratch allocations of each side.
fn scratch_of_sides(workers: &CaseWorkers, encoded: &[u8]) -> Result<Vec<Vec<u64>>, RefereeError> {
    let mut sides = vec![Vec::new(); usize::from(workers.arms)];
    for SideScratch { side, bytes, .. } in bytemuck::allocation::pod_collect_to_vec::<u8, SideScratch>(encoded) {
        let side = sides.get_mut(side as usize);
        side.ok_or(RefereeError::Order("its scratch has no side"))?.push(bytes);
    }
    Ok(sides)
}

fn borrowed(descriptors: &[OwnedFd]) -> Vec<BorrowedFd<'_>> {
    descriptors.iter().map(AsFd::as_fd).collect()
}

fn opened(open: &Option<OpenCase>) -> Result<&OpenCase, RefereeError> {
    open.as_ref().ok_or(NO_CASE)
}

/// Reads the record of an order that must come before any case.
fn first_words<R: bytemuck::CheckedBitPattern>(frame: &Frame, kind: u32) -> Result<R, RefereeError> {
    if frame.kind == kind {
        Ok(frame.record()?)
    } else {
        Err(RefereeError::Order("it is not expected now"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::referee::tests::{cpu, referee};
    use crate::replay::ReplayError;
    use crate::window::WindowKind;

    fn frame(kind: u32, payload: &[u8]) -> Frame {
        Frame {
            kind,
            payload: payload.to_vec(),
            descriptors: Vec::new(),
        }
    }

    #[test]
    fn differences_are_those_of_the_tensor_that_is_asked_for() {
        let mut referee = referee(Box::new(cpu())).expect("a referee");
        let of_tensor = |tensor| Differences {
            tensor,
            wrong: 10 + tensor,
            ..Differences::zeroed()
        };
        referee.differences_of_window = vec![of_tensor(1), of_tensor(3)];
        let (own, other) = Channel::pair().expect("a connection");
        for (tensor, wrong) in [(3, 13), (1, 11), (2, 0)] {
            let order = DifferencesOrder { tensor, field: 0 };
            let mut frame = frame(to_referee::DIFFERENCES, bytemuck::bytes_of(&order));
            referee.carry_out(&mut frame, &mut None, &own).expect("an answer");
            let answer = other.receive(Patience::Forever).expect("an answer");
            let found: Differences = answer.record().expect("differences");
            assert_eq!((answer.kind, found.wrong), (from_referee::DIFFERENCES_FOUND, wrong));
        }
    }

    #[test]
    fn orders_about_a_case_need_one_and_the_end_of_none_is_no_error() {
        let mut referee = referee(Box::new(cpu())).expect("a referee");
        let (own, other) = Channel::pair().expect("a connection");
        let order = WindowOrder::about(1, WindowKind::Timed);
        for kind in [
            to_referee::PREPARE,
            to_referee::PREPARE_WITH_ANSWERS,
            to_referee::REFERENCE,
            to_referee::RELEASE,
        ] {
            let carried_out = referee.carry_out(&mut frame(kind, bytemuck::bytes_of(&order)), &mut None, &own);
            assert!(
                matches!(carried_out, Err(RefereeError::Order("no case is open"))),
                "{kind}"
            );
        }
        let unknown = referee.carry_out(&mut frame(99, &[]), &mut None, &own);
        assert!(matches!(unknown, Err(RefereeError::Order("its kind is unknown"))));
        referee
            .carry_out(&mut frame(to_referee::ABORT, &[]), &mut None, &own)
            .expect("it came late");
        referee
            .carry_out(&mut frame(to_referee::CLOSE_CASE, &[]), &mut None, &own)
            .expect("none is open");
        assert_eq!(
            other.receive(Patience::Forever).expect("an answer").kind,
            from_referee::CASE_CLOSED
        );
    }

    #[test]
    fn an_error_says_whose_code_failed() {
        let failed = || ReplayError::Device(DeviceError::Unsupported("do that".to_owned()));
        for (error, kind) in [
            (RefereeError::Generator(failed()), from_referee::GENERATOR_FAILED),
            (RefereeError::Reference(failed()), from_referee::REFERENCE_FAILED),
            (RefereeError::Order("it is damaged"), from_referee::FAILED),
            (
                RefereeError::Device(DeviceError::Unsupported("do that".to_owned())),
                from_referee::FAILED,
            ),
        ] {
            let (own, other) = Channel::pair().expect("a connection");
            report(&own, &error).expect("it is sent");
            let answer = other.receive(Patience::Forever).expect("a problem");
            assert_eq!(answer.kind, kind, "{error:?}");
            let problem: Problem = answer.record().expect("a text");
            assert_eq!(problem.text.printable(), gpubench_diagnostic::chain(&error));
        }
    }

    #[test]
    fn scratch_belongs_to_the_side_that_it_names() {
        let workers = CaseWorkers {
            has_control: false,
            reserved: 0,
            arms: 3,
        };
        let sides: [&[u64]; 3] = [&[1, 2], &[], &[3]];
        let encoded = SideScratch::of_sides(sides);
        let found = scratch_of_sides(&workers, bytemuck::cast_slice(&encoded)).expect("scratch");
        assert_eq!(found, sides.map(<[u64]>::to_vec));
        let two = CaseWorkers { arms: 2, ..workers };
        assert!(scratch_of_sides(&two, bytemuck::cast_slice(&encoded)).is_err());
    }
}
