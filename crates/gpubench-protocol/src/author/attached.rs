//! The buffers of the open case in the author's process.

#![allow(unsafe_code)]

use std::num::NonZeroUsize;
use std::os::fd::OwnedFd;

use gpubench::abi::Buffer;
use gpubench::catalog::{Fill, Recording, Reference, Role};

use super::own_kernels::OwnKernels;
use crate::cdylib::{AuthorError, Library};
use crate::replay::Operand;
use crate::window::{CodePlacement, Maker};
use crate::wire::{AuthorFailure, BufferLayout, Generate, SourceModule};
use gpubench_device::memfd::MemfdTable;
use gpubench_device::{Access, DevicePtr, KernelHost};

/// The open case.
pub(super) struct Attached {
    case: Attachment,
    /// The mappings of each tensor. Contents that the device makes are read-only; contents that
    /// this process makes are writable.
    operands: Vec<Operand>,
    // Keeps the mappings alive.
    memory: MemfdTable,
    own_kernels: Option<OwnKernels>,
}

/// The parts of an `ATTACH` order.
pub(super) struct Attachment {
    pub(super) benchmark: u32,
    pub(super) home: KernelHost,
    pub(super) request: Vec<u8>,
    pub(super) recording: Recording,
    /// Number of tensors of one call. The recording may hold several calls.
    pub(super) tensors_of_call: NonZeroUsize,
    pub(super) layouts: Vec<BufferLayout>,
    pub(super) modules: Vec<SourceModule>,
}

impl Attached {
    /// Maps the buffers of the order from `descriptors`.
    pub(super) fn new(case: Attachment, descriptors: Vec<OwnedFd>) -> Result<Attached, AuthorError> {
        let mut memory = MemfdTable::default();
        let mut descriptors = descriptors.into_iter();
        let mut map = |layout: &BufferLayout, access| -> Result<DevicePtr, AuthorError> {
            let missing = || AuthorError::new(AuthorFailure::Internal, "a buffer is missing");
            let descriptor = descriptors.next().ok_or_else(missing)?;
            let allocation = memory
                .import(descriptor, layout.allocation)
                .map_err(|error| AuthorError::internal(&error))?;
            let address = memory
                .map(allocation, access)
                .map_err(|error| AuthorError::internal(&error))?;
            Ok(address.offset(layout.offset))
        };
        let placement = CodePlacement::new(&case.recording, case.home);
        let mut operands = Vec::new();
        for (tensor, layout) in case.recording.tensors.iter().zip(&case.layouts) {
            let access = match placement.maker(tensor).is_author() {
                true => Access::ReadWrite,
                false => Access::Read,
            };
            let (contents, answer) = (
                placement.author_has_contents(tensor),
                placement.author_has_answer(tensor),
            );
            operands.push(Operand {
                contents: contents.then(|| map(layout, access)).transpose()?,
                answer: answer.then(|| map(layout, Access::ReadWrite)).transpose()?,
            });
        }
        Ok(Attached {
            case,
            operands,
            memory,
            own_kernels: None,
        })
    }

    /// Fills the tensors whose contents this process makes.
    pub(super) fn generate(&mut self, library: Library, order: &Generate) -> Result<(), AuthorError> {
        self.generate_on_cpu(library, order)?;
        let placement = CodePlacement::new(&self.case.recording, self.case.home);
        let mut makers = self.case.recording.tensors.iter().map(|tensor| placement.maker(tensor));
        match makers.any(|maker| maker == Maker::AuthorKernel) {
            true => load(&mut self.own_kernels, &self.operands, &self.case.modules)?
                .generate(&self.case.recording.tensors, order),
            false => Ok(()),
        }
    }

    fn generate_on_cpu(&mut self, library: Library, order: &Generate) -> Result<(), AuthorError> {
        if !self
            .case
            .recording
            .tensors
            .iter()
            .any(|tensor| tensor.fill == Fill::Cpu)
        {
            return Ok(());
        }
        let constants = order.window == 0;
        // After window 0 the user's function still writes its constants, but into unused memory.
        let mut thrown_away = Vec::new();
        let mut buffers = Vec::new();
        let tensors = self.case.recording.tensors.iter().zip(&self.case.layouts);
        for ((tensor, layout), operand) in tensors.zip(&self.operands) {
            let keeps = tensor.role != Role::Constant || constants;
            let len = layout.len as usize;
            let (data, len) = match operand.contents.filter(|_| tensor.fill == Fill::Cpu) {
                Some(contents) if keeps => (contents.0 as *mut u8, len),
                Some(_) => {
                    let mut words = vec![0_u128; len.div_ceil(16)];
                    let data = words.as_mut_ptr().cast();
                    thrown_away.push(words);
                    (data, len)
                }
                None => (std::ptr::null_mut(), 0),
            };
            buffers.push(Buffer { data, len });
        }
        for (call, buffers) in (0..).zip(buffers.chunks(self.case.tensors_of_call.get())) {
            // Constants are the same in all calls; inputs are not.
            let seed = match constants {
                true => order.constant_seed,
                false => order.seed.wrapping_add(seed_step(call)),
            };
            // SAFETY: the buffers are this process's own writable mappings and vectors of their
            // lengths, aligned to at least 16 bytes.
            unsafe { library.generate(self.case.benchmark, &self.case.request, seed, buffers)? };
        }
        Ok(())
    }

    /// Runs the reference on the contents and writes the answers.
    pub(super) fn reference(&mut self, library: Library) -> Result<(), AuthorError> {
        if let Reference::Plan(plan) = &self.case.recording.reference {
            let kernels = load(&mut self.own_kernels, &self.operands, &self.case.modules)?;
            return kernels.run_reference(&self.case.recording.tensors, plan);
        }
        let lens = self.case.layouts.iter().map(|layout| layout.len as usize);
        let buffers: Vec<Buffer> = self.operands.iter().zip(lens).map(for_reference).collect();
        for buffers in buffers.chunks(self.case.tensors_of_call.get()) {
            // SAFETY: contents are readable and answers writable mappings of their lengths, aligned
            // to at least 16 bytes; nothing else in this process uses them.
            unsafe { library.reference(self.case.benchmark, &self.case.request, buffers)? };
        }
        Ok(())
    }
}

/// Returns the distance of a call's seed from that of the window's first call.
fn seed_step(call: u64) -> u64 {
    call.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Returns the kernels that the case runs here, and loads them on first use.
fn load<'a>(
    loaded: &'a mut Option<OwnKernels>,
    operands: &[Operand],
    modules: &[SourceModule],
) -> Result<&'a mut OwnKernels, AuthorError> {
    match loaded {
        Some(kernels) => Ok(kernels),
        none => Ok(none.insert(OwnKernels::load(modules, operands.to_vec())?)),
    }
}

/// Returns a tensor's memory for the reference: the answer, which starts as zeros or as the
/// contents of an in-out tensor, or else the contents.
fn for_reference((operand, len): (&Operand, usize)) -> Buffer {
    let contents = operand.contents.map(|contents| contents.0 as *mut u8);
    let Some(answer) = operand.answer else {
        let data = contents.unwrap_or(std::ptr::null_mut());
        return Buffer { data, len };
    };
    let answer = answer.0 as *mut u8;
    match contents {
        // SAFETY: two mappings of `len` bytes that do not overlap.
        Some(contents) => unsafe { std::ptr::copy_nonoverlapping(contents, answer, len) },
        // SAFETY: a writable mapping of `len` bytes.
        None => unsafe { std::ptr::write_bytes(answer, 0, len) },
    }
    Buffer { data: answer, len }
}

impl std::fmt::Debug for Attached {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Attached")
            .field("benchmark", &self.case.benchmark)
            .field("memory", &self.memory)
            .finish_non_exhaustive()
    }
}
