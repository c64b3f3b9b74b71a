//! The allocations of tensors and of scratch.

use gpubench::catalog::{Recording, Role, Tensor};

use super::RefereeError;
use crate::window::{CodePlacement, Maker};
use crate::wire::BufferLayout;
use gpubench_device::{Access, DeviceError, DevicePtr, Driver, Facts, Freeze, Memory};

/// A side's allocation of a tensor or of scratch, and the referee's own copies, which are those of
/// all sides.
#[derive(Clone, Copy, Debug)]
pub(super) struct Buffer {
    /// The allocation shared with the side's worker, with its mapping here.
    pub(super) shared: Mapped,
    /// The position of the buffer in it.
    pub(super) layout: BufferLayout,
    /// Pristine contents of an input.
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

/// Pristine contents of an input.
#[derive(Clone, Copy, Debug)]
pub(super) struct PristineBuffers {
    /// The maker of the contents.
    pub(super) maker: Maker,
    /// Contents in this window.
    pub(super) current: DevicePtr,
    /// Other contents of the same distribution, for the decoy lines.
    pub(super) decoy: DevicePtr,
    /// Host memory shared with an author that needs the contents: a copy for it to read if the
    /// device made them, otherwise the memory that the author writes.
    pub(super) author: Option<Mapped>,
}

/// Expected and observed contents of an output.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answers {
    /// The author's answer, if the author runs the reference.
    pub(super) author: Option<Mapped>,
    /// Expected in this window.
    pub(super) expected: DevicePtr,
    /// Expected in the previous window.
    pub(super) previous: DevicePtr,
    /// Expected in the first window.
    pub(super) first: DevicePtr,
    /// The worker's output when the referee saw *done*.
    pub(super) snapshot: DevicePtr,
}

/// Returns the layout of an allocation for `len` bytes. The buffer ends as close to the
/// allocation's end as its alignment allows, so that the unmapped page after it catches overruns.
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

    /// Makes an allocation of a plan's scratch.
    fn for_scratch(driver: &mut dyn Driver, len: u64) -> Result<Buffer, RefereeError> {
        let layout = layout(driver.facts(), len).ok_or(RefereeError::Order("a scratch allocation is too long"))?;
        Ok(Buffer {
            shared: share_writable(driver, layout)?,
            layout,
            pristine: None,
            answers: None,
        })
    }

    /// Returns the same tensor for a further side: an output has memory of its own.
    fn for_further_side(self, driver: &mut dyn Driver) -> Result<Buffer, RefereeError> {
        Ok(match self.answers {
            Some(_) => Buffer {
                shared: share_writable(driver, self.layout)?,
                ..self
            },
            None => self,
        })
    }

    /// Returns the address of the buffer's first byte in the shared allocation.
    pub(super) fn address(&self) -> DevicePtr {
        self.shared.address.offset(self.layout.offset)
    }

    /// Frees the referee's own copies.
    pub(super) fn release_copies(self, driver: &mut dyn Driver) {
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

fn share_writable(driver: &mut dyn Driver, layout: BufferLayout) -> Result<Mapped, DeviceError> {
    let memory = driver.create(layout.allocation)?;
    share(driver, memory, Freeze::Size)
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

/// Makes the buffers of each side of a case: its tensors, then its scratch, of which `scratch` has
/// the sizes. All sides have the same inputs and the same copies of the referee.
pub(super) fn for_sides(
    driver: &mut dyn Driver,
    recording: &Recording,
    placement: &CodePlacement<'_>,
    scratch: &[Vec<u64>],
) -> Result<Vec<Vec<Buffer>>, RefereeError> {
    let mut tensors = Vec::with_capacity(recording.tensors.len());
    for tensor in &recording.tensors {
        tensors.push(Buffer::for_tensor(driver, tensor, placement)?);
    }
    let mut sides: Vec<Vec<Buffer>> = Vec::with_capacity(scratch.len());
    for sizes in scratch {
        let mut side = Vec::with_capacity(tensors.len() + sizes.len());
        for tensor in &tensors {
            side.push(match sides.len() {
                0 => *tensor,
                _ => tensor.for_further_side(driver)?,
            });
        }
        for bytes in sizes {
            side.push(Buffer::for_scratch(driver, *bytes)?);
        }
        sides.push(side);
    }
    Ok(sides)
}
