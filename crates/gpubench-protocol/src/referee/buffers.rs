//! The allocations of tensors and of scratch.

use std::num::NonZeroU32;

use gpubench::catalog::{Recording, Role, Tensor};

use super::RefereeError;
use super::parts::FieldBuffers;
use crate::window::{CodePlacement, Maker};
use crate::wire::BufferLayout;
use gpubench_device::{Access, DeviceError, DevicePtr, Driver, Freeze, Memory};

const TOO_LONG: RefereeError = RefereeError::Order("a buffer is too long");

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

/// An allocation and an address in its mapping.
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
    /// Host memory shared with an author that checks outputs: contents after a call, and then the
    /// expected ones.
    pub(super) judged: Option<Mapped>,
    /// Expected in this window.
    pub(super) expected: DevicePtr,
    /// Expected in the previous window.
    pub(super) previous: DevicePtr,
    /// Expected in the first window.
    pub(super) first: DevicePtr,
    /// The worker's output when the referee saw *done*.
    pub(super) snapshot: DevicePtr,
    /// The fields of all of these, if the output is of structs.
    pub(super) fields: Option<FieldBuffers>,
}

impl Buffer {
    /// Makes the referee's copies for a tensor at its place in shared memory.
    fn for_tensor(
        driver: &mut dyn Driver,
        tensor: &Tensor,
        (shared, layout): (Mapped, BufferLayout),
        placement: &CodePlacement<'_>,
    ) -> Result<Buffer, RefereeError> {
        let alone = BufferLayout::alone(driver.facts(), layout.len).ok_or(TOO_LONG)?;
        Ok(Buffer {
            shared,
            layout,
            pristine: if tensor.role.is_input() {
                Some(pristine(driver, tensor, alone, placement)?)
            } else {
                None
            },
            answers: if tensor.role.is_output() {
                Some(answers(driver, tensor, alone, placement)?)
            } else {
                None
            },
        })
    }

    /// Returns the address of the buffer's first byte in the shared allocation.
    pub(super) fn address(&self) -> DevicePtr {
        self.shared.address.offset(self.layout.offset)
    }

    /// Returns what is fixed of the memory that workers map: the contents, too, of what they only
    /// read.
    pub(super) fn freeze(&self) -> Freeze {
        match (&self.pristine, &self.answers) {
            (Some(_), None) => Freeze::SizeAndContents,
            _ => Freeze::Size,
        }
    }

    /// Frees the referee's own copies.
    pub(super) fn release_copies(self, driver: &mut dyn Driver) {
        if let Some(pristine) = self.pristine {
            pristine.author.iter().for_each(|author| driver.release(author.memory));
            driver.free(pristine.decoy);
            driver.free(pristine.current);
        }
        if let Some(answers) = self.answers {
            let shared = answers.author.iter().chain(&answers.judged);
            shared.for_each(|author| driver.release(author.memory));
            for address in [answers.expected, answers.previous, answers.first, answers.snapshot] {
                driver.free(address);
            }
            if let Some(fields) = answers.fields {
                fields.free(driver);
            }
        }
    }
}

/// Makes host memory for a buffer. Returns it with the address of the buffer's first byte.
fn share_host(driver: &mut dyn Driver, layout: BufferLayout, freeze: Freeze) -> Result<Mapped, DeviceError> {
    let memory = driver.create_host(layout.allocation)?;
    let Mapped { memory, address } = share(driver, memory, freeze)?;
    Ok(Mapped {
        memory,
        address: address.offset(layout.offset),
    })
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
    let freeze = if maker.is_author() {
        Freeze::Size
    } else {
        Freeze::SizeAndContents
    };
    let author = if placement.author_has_contents(tensor) {
        Some(share_host(driver, layout, freeze)?)
    } else {
        None
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
    let author = if placement.author_has_answer(tensor) {
        Some(share_host(driver, layout, Freeze::Size)?)
    } else {
        None
    };
    let judged = if placement.author_judges(tensor) {
        Some(share_host(driver, layout, Freeze::Size)?)
    } else {
        None
    };
    Ok(Answers {
        author,
        judged,
        expected: driver.alloc(layout.len)?,
        previous: driver.alloc(layout.len)?,
        first: driver.alloc(layout.len)?,
        snapshot: driver.alloc(layout.len)?,
        fields: FieldBuffers::for_tensor(driver, tensor)?,
    })
}

/// Makes memory for what is the same buffer in all of `calls` calls. Returns its place in each.
fn places(
    driver: &mut dyn Driver,
    bytes: u64,
    calls: u64,
    freeze: Freeze,
) -> Result<Vec<(Mapped, BufferLayout)>, RefereeError> {
    let layouts = (0..calls).map(|call| BufferLayout::in_row(driver.facts(), bytes, call, calls));
    let layouts: Vec<BufferLayout> = layouts.collect::<Option<_>>().ok_or(TOO_LONG)?;
    let memory = driver.create(layouts[0].allocation)?;
    let shared = share(driver, memory, freeze)?;
    Ok(layouts.into_iter().map(|layout| (shared, layout)).collect())
}

/// Makes the buffers of each side of a case: the tensors of its calls, then their scratch, of which
/// `scratch` has the sizes. All sides have the same inputs and the same copies of the referee.
pub(super) fn for_sides(
    driver: &mut dyn Driver,
    recording: &Recording,
    calls: NonZeroU32,
    placement: &CodePlacement<'_>,
    scratch: &[Vec<u64>],
) -> Result<Vec<Vec<Buffer>>, RefereeError> {
    let of_call = recording.tensors.len() / calls.get() as usize;
    let mut sides: Vec<Vec<Buffer>> = Vec::with_capacity(scratch.len());
    for sizes in scratch {
        let mut side = Vec::with_capacity(recording.tensors.len() + sizes.len());
        let mut rows = Vec::with_capacity(of_call);
        for (index, tensor) in recording.tensors.iter().enumerate() {
            let before = sides.first().map(|first| first[index]);
            if let Some(shared) = before.filter(|before| before.answers.is_none()) {
                side.push(shared);
                rows.push(Vec::new());
                continue;
            }
            if index < of_call {
                let freeze = match tensor.role {
                    Role::Input | Role::Constant => Freeze::SizeAndContents,
                    Role::Output | Role::InOut | Role::Scratch => Freeze::Size,
                };
                rows.push(places(driver, tensor.bytes(), calls.get().into(), freeze)?);
            }
            let (shared, layout) = rows[index % of_call][index / of_call];
            side.push(match before {
                None => Buffer::for_tensor(driver, tensor, (shared, layout), placement)?,
                Some(before) => Buffer { shared, ..before },
            });
        }
        let scratch_of_call = sizes.len() / calls.get() as usize;
        let mut rows = Vec::with_capacity(scratch_of_call);
        for bytes in &sizes[..scratch_of_call] {
            rows.push(places(driver, *bytes, calls.get().into(), Freeze::Size)?);
        }
        for index in 0..sizes.len() {
            let (shared, layout) = rows[index % scratch_of_call][index / scratch_of_call];
            side.push(Buffer {
                shared,
                layout,
                pristine: None,
                answers: None,
            });
        }
        sides.push(side);
    }
    Ok(sides)
}
