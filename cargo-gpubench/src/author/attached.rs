//! The buffers of the open case in the author's process.

use std::num::NonZeroUsize;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use gpubench::abi::Buffer;
use gpubench::catalog::{Fill, Recording, Role, Tensor};
use gpubench::plan::KernelRef;

use super::AuthorError;
use crate::cdylib::Library;
use crate::device::cpu::CpuDriver;
use crate::device::cpu::executor::ScheduleSeed;
use crate::device::memfd::MemfdTable;
use crate::device::{Access, DeviceError, DevicePtr, Driver, LaunchConfig, ModuleImage, Stream};
use crate::wire::{AuthorFailure, BufferLayout, Generate};

/// The attached case.
pub(super) struct Attached {
    benchmark: u32,
    request: Vec<u8>,
    tensors: Vec<Tensor>,
    buffers: Vec<AuthorBuffer>,
    // Held for its mappings.
    memory: MemfdTable,
    modules: Vec<(u32, PathBuf)>,
    device: Option<GeneratorDevice>,
}

/// One tensor's memory here; addresses of tensors that have none are absent.
#[derive(Clone, Copy, Debug)]
struct AuthorBuffer {
    len: u64,
    /// Its contents: to read where the device makes them, to write where this process does.
    contents: Option<DevicePtr>,
    /// Where the reference's answer goes.
    answer: Option<DevicePtr>,
}

/// Runs generator kernels.
struct GeneratorDevice {
    driver: CpuDriver,
    stream: Stream,
}

/// What an `ATTACH` order brings.
pub(super) struct Attachment {
    pub(super) benchmark: u32,
    pub(super) request: Vec<u8>,
    pub(super) recording: Recording,
    pub(super) layouts: Vec<BufferLayout>,
    pub(super) modules: Vec<(u32, PathBuf)>,
    pub(super) descriptors: Vec<OwnedFd>,
}

impl Attached {
    /// Maps the buffers that came with the order.
    pub(super) fn new(attachment: Attachment) -> Result<Attached, AuthorError> {
        let Attachment {
            benchmark,
            request,
            recording,
            layouts,
            modules,
            descriptors,
        } = attachment;
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
        let mut buffers = Vec::new();
        for (tensor, layout) in recording.tensors.iter().zip(&layouts) {
            let read = tensor.role.is_input();
            let written = tensor.role.is_output();
            let access = if tensor.fill.is_by_author() {
                Access::ReadWrite
            } else {
                Access::Read
            };
            buffers.push(AuthorBuffer {
                len: layout.len,
                contents: read.then(|| map(layout, access)).transpose()?,
                answer: written.then(|| map(layout, Access::ReadWrite)).transpose()?,
            });
        }
        Ok(Attached {
            benchmark,
            request,
            tensors: recording.tensors,
            buffers,
            memory,
            modules,
            device: None,
        })
    }

    /// Fills the tensors whose contents are made here.
    pub(super) fn generate(&mut self, library: &Library, order: &Generate) -> Result<(), AuthorError> {
        self.generate_on_cpu(library, order)?;
        for index in 0..self.tensors.len() {
            if let Fill::Kernel(kernel) = &self.tensors[index].fill {
                let kernel = kernel.clone();
                self.generate_by_kernel(index, &kernel, order)?;
            }
        }
        Ok(())
    }

    fn generate_on_cpu(&mut self, library: &Library, order: &Generate) -> Result<(), AuthorError> {
        if !self.tensors.iter().any(|tensor| tensor.fill == Fill::Cpu) {
            return Ok(());
        }
        let constants = order.window == 0;
        // Behind window 0 the user's function still writes its constants, but not where they are read from.
        let mut thrown_away = Vec::new();
        let mut buffers = Vec::new();
        for (tensor, buffer) in self.tensors.iter().zip(&self.buffers) {
            let keeps = tensor.role != Role::Constant || constants;
            buffers.push(match buffer.contents.filter(|_| tensor.fill == Fill::Cpu) {
                Some(contents) if keeps => Buffer {
                    data: contents.0 as *mut u8,
                    len: buffer.len as usize,
                },
                Some(_) => {
                    thrown_away.push(vec![0_u128; buffer.len.div_ceil(16) as usize]);
                    let data = thrown_away
                        .last_mut()
                        .map_or(std::ptr::null_mut(), |words| words.as_mut_ptr().cast());
                    Buffer {
                        data,
                        len: buffer.len as usize,
                    }
                }
                None => Buffer {
                    data: std::ptr::null_mut(),
                    len: 0,
                },
            });
        }
        let seed = if constants { order.constant_seed } else { order.seed };
        // SAFETY: the buffers are this process's own writable mappings and vectors of their lengths, aligned to 16 bytes at least.
        unsafe { library.generate(self.benchmark, &self.request, seed, &buffers)? };
        Ok(())
    }

    fn generate_by_kernel(&mut self, index: usize, kernel: &KernelRef, order: &Generate) -> Result<(), AuthorError> {
        let seed = match (self.tensors[index].role, order.window) {
            (Role::Constant, 0) => order.constant_seed,
            (Role::Constant, _) => return Ok(()),
            _ => order.seed,
        };
        // The tensors of a window get seeds of their own.
        let seed = seed.wrapping_add((index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let Some(target) = self.buffers[index].contents else {
            return Ok(());
        };
        let len = self.tensors[index].elements();
        let module = self
            .modules
            .iter()
            .find(|(source, _)| *source == kernel.source)
            .map(|(_, path)| path.clone());
        let module =
            module.ok_or_else(|| AuthorError::new(AuthorFailure::Internal, "a generator's module is missing"))?;
        if self.device.is_none() {
            self.device = Some(GeneratorDevice::new().map_err(|error| AuthorError::internal(&error))?);
        }
        let Some(device) = &mut self.device else { return Ok(()) };
        device.fill(&module, &kernel.name, target, len, seed).map_err(|error| {
            AuthorError::new(
                AuthorFailure::Kernel,
                format!("generator kernel `{kernel}`: {}", crate::error::chain(&error)),
            )
        })
    }

    /// Runs the reference over the contents into the answers.
    pub(super) fn reference(&mut self, library: &Library) -> Result<(), AuthorError> {
        let buffers: Vec<Buffer> = self.buffers.iter().map(AuthorBuffer::for_reference).collect();
        // SAFETY: contents are readable and answers writable mappings of their lengths, aligned to 16 bytes at least; nothing else in this
        // process uses them.
        unsafe { library.reference(self.benchmark, &self.request, &buffers)? };
        Ok(())
    }
}

impl AuthorBuffer {
    /// The memory the reference sees: the answer, starting as zeros or as the contents of an in-out tensor; else the contents.
    fn for_reference(&self) -> Buffer {
        let len = self.len as usize;
        let Some(answer) = self.answer else {
            return Buffer {
                data: self
                    .contents
                    .map_or(std::ptr::null_mut(), |contents| contents.0 as *mut u8),
                len,
            };
        };
        let answer = answer.0 as *mut u8;
        match self.contents {
            // SAFETY: two mappings of `len` bytes that do not overlap.
            Some(contents) => unsafe { std::ptr::copy_nonoverlapping(contents.0 as *const u8, answer, len) },
            // SAFETY: a writable mapping of `len` bytes.
            None => unsafe { std::ptr::write_bytes(answer, 0, len) },
        }
        Buffer { data: answer, len }
    }
}

impl GeneratorDevice {
    fn new() -> Result<GeneratorDevice, DeviceError> {
        let mut driver = CpuDriver::new(NonZeroUsize::new(0), ScheduleSeed::default())?;
        let stream = driver.stream()?;
        Ok(GeneratorDevice { driver, stream })
    }

    /// Launches `(T *out, size_t len, unsigned long long seed)` over at least `len` threads.
    fn fill(&mut self, module: &Path, name: &str, target: DevicePtr, len: u64, seed: u64) -> Result<(), DeviceError> {
        let module = self.driver.load(ModuleImage::File(module))?;
        let function = self.driver.function(module, name)?;
        let blocks = u32::try_from(len.div_ceil(256).max(1));
        let blocks = blocks.map_err(|_| DeviceError::Unsupported("launch so many blocks".to_owned()))?;
        let arguments = [target.0.to_le_bytes(), len.to_le_bytes(), seed.to_le_bytes()];
        let arguments: Vec<&[u8]> = arguments.iter().map(|argument| argument.as_slice()).collect();
        self.driver
            .launch(self.stream, function, &LaunchConfig::linear(blocks, 256), &arguments)?;
        self.driver.synchronize(self.stream)
    }
}

impl std::fmt::Debug for Attached {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Attached")
            .field("benchmark", &self.benchmark)
            .field("memory", &self.memory)
            .finish_non_exhaustive()
    }
}
