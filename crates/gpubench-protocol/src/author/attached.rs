//! The buffers of the open case in the author's process.

#![allow(unsafe_code)]

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher};
use std::num::NonZeroUsize;
use std::os::fd::OwnedFd;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use gpubench::abi::Buffer;
use gpubench::catalog::{Fill, Recording, Reference, Role, Tolerance};

use super::own_kernels::OwnKernels;
use super::stored_tensors::StoredTensors;
use crate::cdylib::{AuthorError, Library};
use crate::replay::Operand;
use crate::window::{CodePlacement, Maker};
use crate::wire::{AuthorFailure, BufferLayout, CheckOrder, Generate, SourceModule};
use gpubench_device::memfd::MemfdTable;
use gpubench_device::{Access, DevicePtr, KernelHost};

/// The open case.
pub(super) struct Attached {
    case: Attachment,
    /// The mappings of each tensor. Contents that the device makes are read-only; contents that
    /// this process makes are writable.
    operands: Vec<Operand>,
    /// The memory of each output that the check judges.
    judged: Vec<Option<DevicePtr>>,
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
        let (mut operands, mut judged) = (Vec::new(), Vec::new());
        for (tensor, layout) in case.recording.tensors.iter().zip(&case.layouts) {
            let access = if placement.maker(tensor).is_author() {
                Access::ReadWrite
            } else {
                Access::Read
            };
            let (contents, answer) = (
                placement.author_has_contents(tensor),
                placement.author_has_answer(tensor),
            );
            operands.push(Operand {
                contents: contents.then(|| map(layout, access)).transpose()?,
                answer: answer.then(|| map(layout, Access::ReadWrite)).transpose()?,
            });
            let judges = placement.author_judges(tensor);
            judged.push(judges.then(|| map(layout, Access::ReadWrite)).transpose()?);
        }
        Ok(Attached {
            case,
            operands,
            judged,
            memory,
            own_kernels: None,
        })
    }

    /// Fills the tensors whose contents this process makes.
    pub(super) fn generate(&mut self, library: Library, order: &Generate) -> Result<(), AuthorError> {
        self.generate_on_cpu(library, order)?;
        let placement = CodePlacement::new(&self.case.recording, self.case.home);
        let mut makers = self.case.recording.tensors.iter().map(|tensor| placement.maker(tensor));
        if makers.any(|maker| maker == Maker::AuthorKernel) {
            load(&mut self.own_kernels, &self.operands, &self.case.modules)?
                .generate(&self.case.recording.tensors, order)
        } else {
            Ok(())
        }
    }

    /// Copies the contents of stored tensors, once: they are constants.
    pub(super) fn copy_stored(&mut self, from: &StoredTensors, order: &Generate) -> Result<(), AuthorError> {
        if order.window != 0 {
            return Ok(());
        }
        let starts: Vec<u64> = bytemuck::allocation::pod_collect_to_vec(&self.case.request[..]);
        let tensors = self.case.recording.tensors.iter().zip(&self.case.layouts);
        let stored = tensors
            .zip(&self.operands)
            .filter(|((tensor, _), _)| tensor.fill == Fill::Stored);
        // Each call has the same ones.
        for (((_, layout), operand), start) in stored.zip(starts.iter().cycle()) {
            if let Some(contents) = operand.contents {
                // SAFETY: this process's own writable mapping of that length; nothing else uses it.
                let memory = unsafe { std::slice::from_raw_parts_mut(contents.0 as *mut u8, layout.len as usize) };
                from.copy(*start, memory)?;
            }
        }
        Ok(())
    }

    fn generate_on_cpu(&mut self, library: Library, order: &Generate) -> Result<(), AuthorError> {
        if !self
            .case
            .recording
            .tensors
            .iter()
            .any(|tensor| tensor.fill.is_made_on_cpu() && (order.window == 0 || tensor.role != Role::Constant))
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
            let (data, len) = match operand.contents.filter(|_| tensor.fill.is_made_on_cpu()) {
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
        let Attachment { benchmark, request, .. } = &self.case;
        let fill = || {
            for_each_call(&buffers, self.case.tensors_of_call, |call, buffers| {
                // Constants are the same in all calls; inputs are not.
                let seed = if constants {
                    order.constant_seed
                } else {
                    order.seed.wrapping_add(seed_step(call as u64))
                };
                // SAFETY: the buffers are this process's own writable mappings and vectors of their
                // lengths, aligned to at least 16 bytes.
                unsafe { library.generate(*benchmark, request, seed, buffers) }
            })
        };
        fill()?;
        if constants {
            // SAFETY: likewise, and no call writes them now.
            let first = unsafe { hash_of(&buffers) };
            fill()?;
            // SAFETY: likewise.
            if unsafe { hash_of(&buffers) } != first {
                return Err(AuthorError::new(AuthorFailure::Returned, NOT_REPRODUCIBLE.to_owned()));
            }
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
        let Attachment { benchmark, request, .. } = &self.case;
        for_each_call(&buffers, self.case.tensors_of_call, |_, buffers| {
            // SAFETY: contents are readable and answers writable mappings of their lengths, aligned
            // to at least 16 bytes; nothing else in this process uses them.
            unsafe { library.reference(*benchmark, request, buffers) }
        })
    }
}

impl Attached {
    /// Runs the check on the outputs of a window's first calls. If it accepts them, they are
    /// replaced by what is expected then. Otherwise, returns the number of the first rejected call
    /// and the reason.
    pub(super) fn check(&mut self, library: Library, order: CheckOrder) -> Result<Option<(u32, String)>, AuthorError> {
        let tensors = self.case.recording.tensors.iter();
        let made = self.case.tensors_of_call.get().saturating_mul(order.calls as usize);
        // Aligned as mappings are.
        let mut expected: Vec<Vec<u128>> = Vec::new();
        let mut buffers: Vec<Buffer> = Vec::new();
        let none = Buffer {
            data: std::ptr::null_mut(),
            len: 0,
        };
        for ((operand, judged), layout) in self
            .operands
            .iter()
            .zip(&self.judged)
            .zip(&self.case.layouts)
            .take(made)
        {
            let len = layout.len as usize;
            let at = |address: DevicePtr| Buffer {
                data: address.0 as *mut u8,
                len,
            };
            let mut of_tensor = [operand.contents.map_or(none, at), none, none];
            if let (Some(answer), Some(judged)) = (operand.answer, judged) {
                let mut words = vec![0_u128; len.div_ceil(16)];
                let data: *mut u8 = words.as_mut_ptr().cast();
                // SAFETY: a readable mapping of `len` bytes, and a vector of at least as many.
                unsafe { std::ptr::copy_nonoverlapping(answer.0 as *const u8, data, len) };
                of_tensor[1] = Buffer { data, len };
                of_tensor[2] = at(*judged);
                expected.push(words);
            }
            buffers.extend(of_tensor);
        }
        let rejected = Mutex::new(BTreeMap::new());
        let Attachment { benchmark, request, .. } = &self.case;
        let buffers_of_call = self.case.tensors_of_call.saturating_mul(BUFFERS_OF_CHECK);
        for_each_call(&buffers, buffers_of_call, |call, buffers| {
            // SAFETY: the mappings and vectors have their lengths and are aligned to at least 16
            // bytes; nothing else in this process uses them.
            let reason = unsafe { library.check(*benchmark, request, buffers) }?;
            if let (Some(reason), Ok(mut rejected)) = (reason, rejected.lock()) {
                rejected.insert(call as u32, reason);
            }
            Ok(())
        })?;
        let rejected = rejected.into_inner().map_err(|error| AuthorError::internal(&error))?;
        if let Some(first) = rejected.into_iter().next() {
            return Ok(Some(first));
        }
        for (buffers, tensor) in buffers.chunks(BUFFERS_OF_CHECK.get()).zip(tensors) {
            let [_, expected, judged] = buffers else { continue };
            if !judged.data.is_null() && tensor.tolerance != Tolerance::ByCheck {
                // SAFETY: a vector and a writable mapping of `len` bytes.
                unsafe { std::ptr::copy_nonoverlapping(expected.data, judged.data, judged.len) };
            }
        }
        Ok(None)
    }
}

/// Contents before the call, expected contents, and contents after the call.
const BUFFERS_OF_CHECK: NonZeroUsize = NonZeroUsize::new(3).unwrap();

/// Stack of a thread that runs the user's function: as much as a main thread usually has.
const STACK_BYTES: usize = 8 << 20;

/// A run could not be repeated, and a wrong output not be found again.
const NOT_REPRODUCIBLE: &str = "it makes other inputs when it is called again with the same seed (hint: take all \
                                randomness from its `Rng`, and nothing from clocks, addresses or other calls)";

/// Returns a hash of the contents of buffers.
///
/// # Safety
/// The buffers are readable, and nobody writes them.
unsafe fn hash_of(buffers: &[Buffer]) -> u64 {
    let mut hash = DefaultHasher::new();
    for buffer in buffers.iter().filter(|buffer| !buffer.data.is_null()) {
        // SAFETY: the caller says so.
        hash.write(unsafe { std::slice::from_raw_parts(buffer.data, buffer.len) });
    }
    hash.finish()
}

/// Runs the user's function for each call of a window: `run` gets the number of the call and its
/// buffers. Several calls share the processors, since a function of the user is a safe Rust
/// function and each call has tensors of its own.
fn for_each_call(
    buffers: &[Buffer],
    tensors_of_call: NonZeroUsize,
    run: impl Fn(usize, &[Buffer]) -> Result<(), AuthorError> + Sync,
) -> Result<(), AuthorError> {
    let calls: Vec<CallBuffers<'_>> = buffers.chunks(tensors_of_call.get()).map(CallBuffers).collect();
    let processors = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let threads = processors.get().min(calls.len());
    if threads < 2 {
        return calls
            .iter()
            .enumerate()
            .try_for_each(|(call, buffers)| run(call, buffers.0));
    }
    let next = AtomicUsize::new(0);
    let run_rest = || {
        loop {
            let call = next.fetch_add(1, Ordering::Relaxed);
            let Some(buffers) = calls.get(call) else {
                return Ok(());
            };
            run(call, buffers.0)?;
        }
    };
    std::thread::scope(|scope| {
        let thread = || std::thread::Builder::new().stack_size(STACK_BYTES);
        // A thread that cannot start leaves its calls to the others.
        let others: Vec<_> = (1..threads)
            .filter_map(|_| thread().spawn_scoped(scope, run_rest).ok())
            .collect();
        let own = run_rest();
        let others = others.into_iter().map(|other| other.join());
        others.fold(own, |so_far, other| {
            let other = other.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            so_far.and(other)
        })
    })
}

/// The buffers of one call.
struct CallBuffers<'a>(&'a [Buffer]);

// SAFETY: the memory belongs to this process, and only the thread that runs the call uses it.
unsafe impl Sync for CallBuffers<'_> {}

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

#[cfg(test)]
mod tests {
    use std::sync::{Barrier, Mutex};

    use super::*;
    use crate::wire::AuthorFailure;

    fn buffers(tensors: usize) -> Vec<Buffer> {
        let buffer = |len| Buffer {
            data: std::ptr::null_mut(),
            len,
        };
        (0..tensors).map(buffer).collect()
    }

    #[test]
    fn every_call_runs_once_with_its_own_buffers() {
        for calls in [1, 2, 7, 100] {
            let seen = Mutex::new(Vec::new());
            let ran = for_each_call(&buffers(calls * 3), NonZeroUsize::new(3).unwrap(), |call, buffers| {
                let lens: Vec<usize> = buffers.iter().map(|buffer| buffer.len).collect();
                seen.lock().unwrap().push((call, lens));
                Ok(())
            });
            ran.unwrap();
            let mut seen = seen.into_inner().unwrap();
            seen.sort();
            let expected: Vec<_> = (0..calls)
                .map(|call| (call, vec![3 * call, 3 * call + 1, 3 * call + 2]))
                .collect();
            assert_eq!(seen, expected);
        }
    }

    #[test]
    fn a_call_that_fails_fails_the_window() {
        for failing in [0, 1, 9] {
            let ran = for_each_call(&buffers(10), NonZeroUsize::MIN, |call, _| {
                if call == failing {
                    Err(AuthorError::new(AuthorFailure::Returned, format!("call {call}")))
                } else {
                    Ok(())
                }
            });
            assert_eq!(ran.unwrap_err().message, format!("call {failing}"));
        }
    }

    #[test]
    fn a_call_in_another_thread_has_as_much_stack_as_a_main_thread() {
        fn deep(depth: usize) -> usize {
            let frame = std::hint::black_box([depth as u8; 1 << 12]);
            match depth {
                0 => frame.len(),
                depth => deep(depth - 1) + usize::from(frame[0]),
            }
        }
        if std::thread::available_parallelism().unwrap().get() < 2 {
            eprintln!("skipped: this machine has one processor");
            return;
        }
        let (own, both) = (std::thread::current().id(), Barrier::new(2));
        let ran = for_each_call(&buffers(2), NonZeroUsize::MIN, |_, _| {
            both.wait();
            if std::thread::current().id() != own {
                assert!(deep(1_000) > 0);
            }
            Ok(())
        });
        ran.unwrap();
    }
}
