//! The allocations behind one tensor or scratch allocation.

use gpubench::catalog::{Recording, Role, Tensor};

use super::RefereeError;
use crate::window::{CodePlacement, Maker};
use crate::wire::BufferLayout;
use gpubench_device::{Access, DeviceError, DevicePtr, Driver, Facts, Freeze, Memory};

/// What the worker sees of a tensor or of scratch, and the pristine that the referee keeps of it.
#[derive(Debug)]
pub(super) struct Buffer {
    /// The allocation shared with the worker, and where it is mapped here.
    pub(super) shared: Mapped,
    /// Where the buffer lies in it.
    pub(super) layout: BufferLayout,
    /// Contents of an input.
    pub(super) pristine: Option<PristineBuffers>,
    /// Answers of an output.
    pub(super) answers: Option<Answers>,
}

/// An allocation and its mapping.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mapped {
    pub(super) memory: Memory,
    pub(super) address: DevicePtr,
}

/// Contents of an input.
#[derive(Debug)]
pub(super) struct PristineBuffers {
    /// Who makes them.
    pub(super) maker: Maker,
    /// Contents of this window.
    pub(super) current: DevicePtr,
    /// Contents of another instance of the same distribution, which the decoy lines are taken from.
    pub(super) decoy: DevicePtr,
    /// Host memory shared with an author that has a part in the contents: a copy for it to read
    /// where the device made them, its own where the author does.
    pub(super) author: Option<Mapped>,
}

/// Expected and observed contents of an output.
#[derive(Debug)]
pub(super) struct Answers {
    /// Written by the author, where it runs the reference.
    pub(super) author: Option<Mapped>,
    /// Expected in this window.
    pub(super) expected: DevicePtr,
    /// Expected in the window before.
    pub(super) previous: DevicePtr,
    /// Expected in the first window.
    pub(super) first: DevicePtr,
    /// What the worker's output held when *done* was seen.
    pub(super) snapshot: DevicePtr,
}

/// How an allocation for `len` bytes is laid out: the buffer ends as close to the end as its
/// alignment permits, so that the unmapped page behind it catches what runs over.
pub(super) fn layout(facts: &Facts, len: u64) -> Option<BufferLayout> {
    let padded = len.checked_next_multiple_of(facts.alignment)?;
    let allocation = padded.max(1).checked_next_multiple_of(facts.granularity)?;
    Some(BufferLayout {
        allocation,
        offset: allocation - padded,
        len,
    })
}

impl Buffer {
    /// Makes the allocations of a tensor.
    pub(super) fn for_tensor(
        driver: &mut dyn Driver,
        tensor: &Tensor,
        placement: &CodePlacement<'_>,
    ) -> Result<Buffer, RefereeError> {
        let layout = layout(driver.facts(), tensor.bytes()).ok_or(RefereeError::Order("a tensor is too long"))?;
        let freeze = match tensor.role {
            Role::Input | Role::Constant => Freeze::SizeAndContents,
            Role::Output | Role::InOut | Role::Scratch => Freeze::Size,
        };
        let memory = driver.create(layout.allocation)?;
        Ok(Buffer {
            shared: share(driver, memory, freeze)?,
            layout,
            pristine: match tensor.role.is_input() {
                true => Some(pristine(driver, tensor, layout, placement)?),
                false => None,
            },
            answers: match tensor.role.is_output() {
                true => Some(answers(driver, tensor, layout, placement)?),
                false => None,
            },
        })
    }

    /// Makes the allocation of plan scratch.
    pub(super) fn for_scratch(driver: &mut dyn Driver, len: u64) -> Result<Buffer, RefereeError> {
        let layout = layout(driver.facts(), len).ok_or(RefereeError::Order("a scratch allocation is too long"))?;
        let memory = driver.create(layout.allocation)?;
        Ok(Buffer {
            shared: share(driver, memory, Freeze::Size)?,
            layout,
            pristine: None,
            answers: None,
        })
    }

    /// Address of the buffer's first byte in the allocation shared with the worker.
    pub(super) fn address(&self) -> DevicePtr {
        self.shared.address.offset(self.layout.offset)
    }

    /// Gives everything back.
    pub(super) fn release(self, driver: &mut dyn Driver) {
        driver.release(self.shared.memory);
        if let Some(pristine) = self.pristine {
            pristine.author.iter().for_each(|author| driver.release(author.memory));
            driver.free(pristine.decoy);
            driver.free(pristine.current);
        }
        if let Some(answers) = self.answers {
            answers.author.iter().for_each(|author| driver.release(author.memory));
            for address in [answers.expected, answers.previous, answers.first, answers.snapshot] {
                driver.free(address);
            }
        }
    }
}

fn share_host(driver: &mut dyn Driver, layout: BufferLayout, freeze: Freeze) -> Result<Mapped, DeviceError> {
    let memory = driver.create_host(layout.allocation)?;
    share(driver, memory, freeze)
}

fn share(driver: &mut dyn Driver, memory: Memory, freeze: Freeze) -> Result<Mapped, DeviceError> {
    let address = driver.map(memory, Access::ReadWrite)?;
    driver.freeze(memory, freeze)?;
    Ok(Mapped { memory, address })
}

fn pristine(
    driver: &mut dyn Driver,
    tensor: &Tensor,
    layout: BufferLayout,
    placement: &CodePlacement<'_>,
) -> Result<PristineBuffers, DeviceError> {
    let maker = placement.maker(tensor);
    let freeze = match maker.is_author() {
        true => Freeze::Size,
        false => Freeze::SizeAndContents,
    };
    let author = match placement.author_has_contents(tensor) {
        true => Some(share_host(driver, layout, freeze)?),
        false => None,
    };
    Ok(PristineBuffers {
        maker,
        current: driver.alloc(layout.len)?,
        decoy: driver.alloc(layout.len)?,
        author,
    })
}

fn answers(
    driver: &mut dyn Driver,
    tensor: &Tensor,
    layout: BufferLayout,
    placement: &CodePlacement<'_>,
) -> Result<Answers, DeviceError> {
    let author = match placement.author_has_answer(tensor) {
        true => Some(share_host(driver, layout, Freeze::Size)?),
        false => None,
    };
    Ok(Answers {
        author,
        expected: driver.alloc(layout.len)?,
        previous: driver.alloc(layout.len)?,
        first: driver.alloc(layout.len)?,
        snapshot: driver.alloc(layout.len)?,
    })
}

/// All buffers of a recording: its tensors, then the plan's scratch.
pub(super) fn for_recording(
    driver: &mut dyn Driver,
    recording: &Recording,
    placement: &CodePlacement<'_>,
) -> Result<Vec<Buffer>, RefereeError> {
    let mut buffers = Vec::with_capacity(recording.tensors.len() + recording.plan.scratch.len());
    for tensor in &recording.tensors {
        buffers.push(Buffer::for_tensor(driver, tensor, placement)?);
    }
    for bytes in &recording.plan.scratch {
        buffers.push(Buffer::for_scratch(driver, *bytes)?);
    }
    Ok(buffers)
}
