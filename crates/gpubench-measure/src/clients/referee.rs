//! The broker's handle of the referee.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::rc::Rc;
use std::time::Duration;

use super::{Child, Interrupt, Output, RoleEnvironment, RoleFailure, RoleName};
use crate::timeline;
use gpubench_device::{Absence, DeviceOrder, Facts, FrozenFile, LaunchConfig, Resources};
use gpubench_protocol::window::{Allocations, CodePlacement, WindowCalls, WindowKind, WindowOwner};
use gpubench_protocol::wire::{
    AbsentDevice, Begin, BufferLayout, CaseWorkers, CheckOrder, Checked, ContentsOrder, Differences, DifferencesOrder,
    Generate, KernelNeeds, LaunchShape, OpenCase, SideScratch, SourceModule, WindowFacts, WindowOrder, encode_modules,
    from_referee, module_descriptors, to_referee,
};

/// Time limit for the referee's own work, which runs only the tool's code and kernels.
pub const OWN_WORK: Duration = Duration::from_secs(120);

/// The referee's process.
#[derive(Debug)]
pub struct RefereeClient {
    child: Child,
    facts: Facts,
}

/// The referee's data about a case.
#[derive(Debug)]
pub struct CaseOrder<'a> {
    /// Number in the run. It separates the seeds of cases.
    pub case: u64,
    /// The number before that of the first window.
    pub opening: u32,
    /// The calls of its windows.
    pub calls: WindowCalls,
    /// The workers of the case.
    pub workers_of_case: CaseWorkers,
    /// The recording of the first side, and the processes that run its code.
    pub placement: CodePlacement<'a>,
    /// The sizes of the scratch allocations of each side, in bytes.
    pub scratch: &'a [&'a [u64]],
    /// The encoded recording.
    pub encoded: &'a [u8],
    /// Compiled kernels for the referee to run, by position of their source.
    pub modules: &'a [SourceModule],
}

/// A case whose buffers the referee has made.
#[derive(Debug)]
pub struct OpenedCase {
    /// The calls of its windows.
    pub calls: WindowCalls,
    /// What the workers map.
    pub allocations: Allocations,
    /// The layout of each allocation.
    pub layouts: Vec<BufferLayout>,
    /// The descriptors of the memory that the allocations lie in.
    pub buffers: Vec<OwnedFd>,
    /// The pages shared with the workers.
    pub pages: Rc<[(WindowOwner, OwnedFd)]>,
    /// Buffers for inputs and answers, for the author.
    pub author_descriptors: Vec<OwnedFd>,
}

impl OpenedCase {
    /// Returns the same case with its allocations in other memory. The author has its descriptors
    /// already.
    fn in_memory(&self, buffers: Vec<OwnedFd>) -> OpenedCase {
        OpenedCase {
            calls: self.calls,
            allocations: self.allocations.clone(),
            layouts: self.layouts.clone(),
            buffers,
            pages: Rc::clone(&self.pages),
            author_descriptors: Vec::new(),
        }
    }

    /// Returns the number of bytes of the memory that the allocations lie in.
    pub fn bytes(&self) -> u64 {
        let layouts = self.layouts.iter().enumerate();
        let homes = layouts.filter(|(position, _)| self.allocations.is_home(*position));
        homes.map(|(_, layout)| layout.allocation).sum()
    }

    /// Returns the number of workers under test that live at the same time.
    pub fn workers(&self) -> usize {
        self.allocations.of_sides().len()
    }

    /// Returns the layouts of the allocations at some positions, and the descriptors of the memory
    /// that they lie in.
    pub fn at(&self, positions: &[usize]) -> (Vec<BufferLayout>, Vec<BorrowedFd<'_>>) {
        let layouts = positions.iter().map(|position| self.layouts[*position]);
        let homes = positions.iter().filter(|position| self.allocations.is_home(**position));
        let memories = homes.map(|home| {
            let before = (0..*home).filter(|position| self.allocations.is_home(*position));
            self.buffers[before.count()].as_fd()
        });
        (layouts.collect(), memories.collect())
    }

    /// Returns the page shared with a worker, if the case has one.
    pub fn page_of(&self, owner: WindowOwner) -> Option<BorrowedFd<'_>> {
        let mut pages = self.pages.iter();
        pages.find_map(|(whose, page)| (*whose == owner).then(|| page.as_fd()))
    }
}

/// What the referee says of a released window.
#[derive(Debug)]
pub enum WindowAnswer {
    /// The author shall check outputs first.
    NeedsCheck(CheckOrder),
    /// The facts. The window is over.
    Facts(Box<WindowFacts>),
}

/// The referee's preparation of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preparation {
    /// Make the inputs.
    Inputs,
    /// Make the inputs and run the crate's reference on them.
    InputsAndAnswers,
}

impl RefereeClient {
    /// Starts a referee on a device.
    ///
    /// # Errors
    /// If it cannot be started; [`RoleFailure::NoDevice`] if the device does not exist or cannot be
    /// used.
    pub fn spawn(order: &DeviceOrder, output: Output, interrupt: &Interrupt) -> Result<RefereeClient, RoleFailure> {
        let mut child = Child::spawn(RoleName::Referee, output, RoleEnvironment::default())?;
        let _opens = timeline::span(child.track(), "opens its device");
        child.send(to_referee::HELLO, &[bytemuck::bytes_of(order)], &[])?;
        let frame = child.receive(OWN_WORK, interrupt)?;
        if frame.kind == from_referee::ABSENT {
            let absent: AbsentDevice = child.record(&frame)?;
            return Err(RoleFailure::NoDevice(Absence {
                kind: absent.kind,
                reason: absent.reason.printable(),
                hint: absent.hint.printable(),
            }));
        }
        let frame = child.check_kind(frame, from_referee::READY)?;
        let facts = serde_json::from_slice(&frame.payload).map_err(|error| {
            RoleFailure::protocol(RoleName::Referee, format!("the device facts cannot be read: {error}"))
        })?;
        Ok(RefereeClient { child, facts })
    }

    /// Returns the facts that the device reports.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Sends the seed, and makes the referee prepare the cache flush.
    ///
    /// # Errors
    /// If there is no memory for the flush.
    pub fn begin(&mut self, begin: &Begin, interrupt: &Interrupt) -> Result<(), RoleFailure> {
        self.child.send(to_referee::BEGIN, &[bytemuck::bytes_of(begin)], &[])?;
        self.child.expect(from_referee::BEGUN, OWN_WORK, interrupt).map(drop)
    }

    /// Returns the process.
    pub fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Makes the buffers of a case and closes the previous one.
    ///
    /// # Errors
    /// If there is no memory for them, or if a kernel for the referee to run does not fit.
    pub fn open_case(&mut self, order: &CaseOrder<'_>, interrupt: &Interrupt) -> Result<OpenedCase, RoleFailure> {
        let recording = order.placement.recording;
        let modules = encode_modules(order.modules);
        let scratch = SideScratch::of_sides(order.scratch.iter().copied());
        let head = OpenCase {
            case: order.case,
            module_bytes: modules.len() as u32,
            workers_of_case: order.workers_of_case,
            opening: order.opening,
            calls: order.calls,
            scratch: scratch.len() as u32,
        };
        let scratch = bytemuck::cast_slice(&scratch);
        let parts = [bytemuck::bytes_of(&head), scratch, &modules, order.encoded];
        let descriptors: Vec<_> = module_descriptors(order.modules).collect();
        self.child.send(to_referee::OPEN_CASE, &parts, &descriptors)?;
        let mut pages = self
            .child
            .expect(from_referee::CASE_OPENED, OWN_WORK, interrupt)?
            .descriptors;
        let mapped = self.child.expect(from_referee::ALLOCATIONS, OWN_WORK, interrupt)?;
        let owners = order.workers_of_case.owners().count();
        let allocations = Allocations::new(
            &recording.tensors,
            order.calls.count,
            order.scratch.iter().map(|scratch| scratch.len()),
        );
        let (layouts, buffers): (Vec<BufferLayout>, _) = (
            bytemuck::allocation::pod_collect_to_vec(&mapped.payload),
            mapped.descriptors,
        );
        let are_expected = pages.len() == owners + order.placement.author_allocations()
            && [layouts.len(), buffers.len()] == [allocations.number(), allocations.memories()];
        if !are_expected {
            let text = "it opened the case with unexpected buffers".to_owned();
            return Err(RoleFailure::protocol(RoleName::Referee, text));
        }
        let author_descriptors = pages.split_off(owners);
        Ok(OpenedCase {
            calls: order.calls,
            allocations,
            layouts,
            buffers,
            pages: order.workers_of_case.owners().zip(pages).collect::<Vec<_>>().into(),
            author_descriptors,
        })
    }

    /// Returns what a compiled kernel needs of the device in launches of one shape. `None` if the
    /// device has no such resources.
    ///
    /// # Errors
    /// If the device cannot load the kernel, or cannot launch it with this shape.
    pub fn resources(
        &mut self,
        module: &FrozenFile,
        kernel: &str,
        config: &LaunchConfig,
        interrupt: &Interrupt,
    ) -> Result<Option<Resources>, RoleFailure> {
        let shape = LaunchShape::from(config);
        let parts = [bytemuck::bytes_of(&shape), kernel.as_bytes()];
        self.child.send(to_referee::RESOURCES, &parts, &[module.as_fd()])?;
        let frame = self.child.expect(from_referee::RESOURCES_FOUND, OWN_WORK, interrupt)?;
        if frame.payload.is_empty() {
            return Ok(None);
        }
        let needs: KernelNeeds = self.child.record(&frame)?;
        Ok(Some(needs.into()))
    }

    /// Prepares a window within the time limit `within`.
    ///
    /// # Errors
    /// If the device, a generator kernel of the crate or its reference fails.
    pub fn prepare(
        &mut self,
        preparation: Preparation,
        window: u32,
        within: Duration,
        interrupt: &Interrupt,
    ) -> Result<Generate, RoleFailure> {
        let order = match preparation {
            Preparation::Inputs => to_referee::PREPARE,
            Preparation::InputsAndAnswers => to_referee::PREPARE_WITH_ANSWERS,
        };
        let window = WindowOrder::about(window, WindowKind::Timed);
        self.child.send(order, &[bytemuck::bytes_of(&window)], &[])?;
        let frame = self.child.expect(from_referee::PREPARED, within, interrupt)?;
        self.child.record(&frame)
    }

    /// Runs the crate's reference on a window's inputs within the time limit `within`.
    ///
    /// # Errors
    /// If the reference fails.
    pub fn reference(&mut self, window: u32, within: Duration, interrupt: &Interrupt) -> Result<(), RoleFailure> {
        let order = WindowOrder::about(window, WindowKind::Timed);
        self.child
            .send(to_referee::REFERENCE, &[bytemuck::bytes_of(&order)], &[])?;
        let answer = self.child.expect(from_referee::REFERENCE_DONE, within, interrupt);
        answer.map(drop)
    }

    /// Starts a window. Its facts come later.
    ///
    /// # Errors
    /// If the referee has ended.
    pub fn release(&mut self, order: &WindowOrder) -> Result<(), RoleFailure> {
        self.child.send(to_referee::RELEASE, &[bytemuck::bytes_of(order)], &[])
    }

    /// Aborts the window, unless *done* has come.
    ///
    /// # Errors
    /// If the referee has ended.
    pub fn abort(&mut self) -> Result<(), RoleFailure> {
        self.child.send(to_referee::ABORT, &[], &[])
    }

    /// Receives what the referee says of the released window within the time limit `within`.
    ///
    /// # Errors
    /// If the referee fails.
    pub fn window_answer(&mut self, within: Duration, interrupt: &Interrupt) -> Result<WindowAnswer, RoleFailure> {
        let frame = self.child.receive(within, interrupt)?;
        if frame.kind == from_referee::NEEDS_CHECK {
            return Ok(WindowAnswer::NeedsCheck(self.child.record(&frame)?));
        }
        let frame = self.child.check_kind(frame, from_referee::FACTS)?;
        Ok(WindowAnswer::Facts(Box::new(self.child.record(&frame)?)))
    }

    /// Passes on what the check says.
    ///
    /// # Errors
    /// If the referee has ended.
    pub fn checked(&mut self, checked: &Checked) -> Result<(), RoleFailure> {
        self.child
            .send(to_referee::CHECKED, &[bytemuck::bytes_of(checked)], &[])
    }

    /// Returns where an output of the last window, or a field of one, differs from the expected
    /// one. All is zero if it does not.
    ///
    /// # Errors
    /// If the referee fails.
    pub fn differences(
        &mut self,
        (tensor, field): (u64, u64),
        interrupt: &Interrupt,
    ) -> Result<Differences, RoleFailure> {
        let order = DifferencesOrder { tensor, field };
        self.child
            .send(to_referee::DIFFERENCES, &[bytemuck::bytes_of(&order)], &[])?;
        let frame = self
            .child
            .expect(from_referee::DIFFERENCES_FOUND, OWN_WORK, interrupt)?;
        self.child.record(&frame)
    }

    /// Returns a part of a tensor's contents in the last window.
    ///
    /// # Errors
    /// If the referee fails.
    pub fn contents(&mut self, order: &ContentsOrder, interrupt: &Interrupt) -> Result<Vec<u8>, RoleFailure> {
        self.child
            .send(to_referee::CONTENTS, &[bytemuck::bytes_of(order)], &[])?;
        let frame = self.child.expect(from_referee::CONTENTS_READ, OWN_WORK, interrupt)?;
        if frame.payload.len() as u64 == order.bytes {
            Ok(frame.payload)
        } else {
            let text = "it read contents of another length".to_owned();
            Err(RoleFailure::protocol(RoleName::Referee, text))
        }
    }

    /// Makes the referee place the case's buffers in new memory, at the same addresses. Returns the
    /// case as it is then, or `None` if the device lacks memory for two placements.
    ///
    /// # Errors
    /// If the referee fails.
    pub fn replace_memory(
        &mut self,
        opened: &OpenedCase,
        interrupt: &Interrupt,
    ) -> Result<Option<OpenedCase>, RoleFailure> {
        self.child.send(to_referee::REPLACE_MEMORY, &[], &[])?;
        let frame = self.child.expect(from_referee::MEMORY_REPLACED, OWN_WORK, interrupt)?;
        match frame.descriptors.len() {
            0 => Ok(None),
            pieces if pieces == opened.allocations.memories() => Ok(Some(opened.in_memory(frame.descriptors))),
            _ => {
                let text = "it placed other buffers than those of the case".to_owned();
                Err(RoleFailure::protocol(RoleName::Referee, text))
            }
        }
    }

    /// Frees the case's buffers.
    ///
    /// # Errors
    /// If the referee fails.
    pub fn close_case(&mut self, interrupt: &Interrupt) -> Result<(), RoleFailure> {
        self.child.send(to_referee::CLOSE_CASE, &[], &[])?;
        self.child
            .expect(from_referee::CASE_CLOSED, OWN_WORK, interrupt)
            .map(drop)
    }
}

#[cfg(test)]
impl RefereeClient {
    /// A referee that a test simulates.
    pub(crate) fn simulated(child: Child) -> RefereeClient {
        let facts = gpubench_device::cpu::facts(std::num::NonZeroUsize::MIN);
        RefereeClient { child, facts }
    }
}
