//! The tool's own kernels: loading and launching.

use std::num::{NonZeroU32, NonZeroU64};

use gpubench::catalog::{DType, Fill, Tensor, Tolerance};
use gpubench_harness::arguments::{
    Arguments, DigestArguments, FillArguments, FlushArguments, LinesArguments, NoiseArguments, RevealArguments,
    TwinArguments, TwinBuffer,
};
use gpubench_harness::{Kernel, Processors, bindings, geometry};

use crate::{DeviceError, DevicePtr, Driver, Function, LaunchConfig, ModuleImage, Stream};
use gpubench_contract::Flush;

/// Size of a digest tile in bytes. A digest reads whole tiles.
const TILE_BYTES: u64 = 4096;

/// Tiles per output digest: 64 KiB. It runs in the worker's time slice, so it must be too short to
/// hide work in.
const OUTPUT_DIGEST_TILES: u64 = 16;

/// Size of a decoy line in bytes: a GPU cache line.
const LINE_BYTES: u64 = 128;

/// Buffers per launch.
const BUFFERS_EACH: usize = bindings::GB_BUFFERS_EACH as usize;

/// The most partial results per probe. It limits how much the referee reads and reduces after a
/// window.
const MAX_PARTIALS: u64 = 1 << 12;

/// Private device memory that probes report to.
#[derive(Debug)]
pub(super) struct ReportBuffer {
    pub(super) address: DevicePtr,
    pub(super) bytes: u64,
}

/// The tool's kernels, loaded, with their private memory.
pub struct Harness {
    pub(super) functions: Vec<(Kernel, Function)>,
    sink: DevicePtr,
    /// The report buffer for the next batch, if it is large enough.
    pub(super) reports: Option<ReportBuffer>,
    /// The number of batches so far.
    pub(super) batches: u64,
}

/// Returns the names of the tool's kernels.
pub fn kernel_names() -> impl Iterator<Item = &'static str> {
    Kernel::ALL.into_iter().map(Kernel::name)
}

/// How much of a buffer a digest reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// A keyed sample: the output digest of a timed window.
    Sample,
    /// Every tile: the digest of an early-check window.
    Whole,
}

/// A tensor under test and its expected values.
#[derive(Clone, Copy, Debug)]
pub struct Comparison {
    /// The tensor under test.
    pub got: DevicePtr,
    /// The expected tensor.
    pub expected: DevicePtr,
    /// The number of elements.
    pub len: u64,
    /// The element type.
    pub dtype: DType,
    /// The tolerance.
    pub tolerance: Tolerance,
    /// Key of the poison in `got`.
    pub poison_key: u64,
    /// Where the poison of `got` is in its stream.
    pub poison: PoisonPlace,
    /// Key of the order in which blocks visit the tensor.
    pub order_key: u64,
}

/// Where the poison of a tensor under test is in its stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoisonPlace {
    /// Offset of the first element.
    pub offset: u64,
    /// Elements that follow each other there, if the tensor was gathered from rows.
    pub row: Option<PoisonRow>,
}

/// A row of elements among others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoisonRow {
    /// Number of elements.
    pub elements: NonZeroU64,
    /// Bytes from the start of a row to the start of the next.
    pub pitch: u64,
}

/// Two buffers, for a copy of chosen lines from one to the other.
#[derive(Clone, Copy, Debug)]
pub struct LineCopy {
    /// The buffer that is written.
    pub target: DevicePtr,
    /// The buffer that is read.
    pub source: DevicePtr,
    /// The size of each, in bytes.
    pub bytes: u64,
}

/// A buffer of a case, with its access by a call.
#[derive(Clone, Copy, Debug)]
pub struct BufferAccess {
    /// The first byte.
    pub address: DevicePtr,
    /// The size in bytes.
    pub bytes: u64,
    /// The access.
    pub access: AccessKind,
}

/// A call's access to a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    /// Read.
    Reads,
    /// Write.
    Writes,
    /// Read and write.
    ReadsAndWrites,
}

impl Harness {
    /// Loads the kernels.
    ///
    /// # Errors
    /// When this build has no kernels for the device.
    pub fn load(driver: &mut dyn Driver) -> Result<Harness, DeviceError> {
        let module = driver.load(ModuleImage::Harness)?;
        let mut functions = Vec::new();
        for kernel in Kernel::ALL {
            functions.push((kernel, driver.function(module, kernel.name())?));
        }
        Ok(Harness {
            functions,
            sink: driver.alloc(8)?,
            reports: None,
            batches: 0,
        })
    }

    /// Queues a fill of `target` with random elements of a tensor. `index` separates the tensors of
    /// a window. Tensors that the author fills are left unchanged.
    ///
    /// # Errors
    /// As [`Driver::launch`].
    pub fn fill(
        &self,
        driver: &mut dyn Driver,
        stream: Stream,
        target: DevicePtr,
        tensor: &Tensor,
        index: u32,
        key: u64,
    ) -> Result<(), DeviceError> {
        let (kind, a, b, low, span) = match tensor.fill {
            Fill::Uniform { low, high } => (bindings::GB_FILL_UNIFORM, low, high, 0, 0),
            Fill::Normal { mean, stddev } => (bindings::GB_FILL_NORMAL, mean, stddev, 0, 0),
            // The truncation is intended: the kernel computes modulo 2^64, where 0 means a span of
            // 2^64.
            Fill::Integers { low, high } => (bindings::GB_FILL_INTEGERS, 0.0, 0.0, low as i64, (high - low) as u64),
            Fill::Bits => (bindings::GB_FILL_BITS, 0.0, 0.0, 0, 0),
            Fill::Poison | Fill::Kernel(_) | Fill::Cpu | Fill::Stored => return Ok(()),
        };
        // The parts of complex numbers are drawn one by one.
        let (dtype, parts) = tensor.dtype.parts();
        let len = tensor.elements() * parts as u64;
        let (out, dtype) = (target.0, dtype as u32);
        let arguments = FillArguments {
            out,
            len,
            key,
            span,
            low,
            a,
            b,
            tensor: index,
            dtype,
            kind,
            reserved: 0,
        };
        self.launch(driver, stream, tensor.bytes(), &arguments)
    }

    /// Queues a fill with noise. `offset` is the position of `target` in the key's stream.
    ///
    /// # Errors
    /// As [`Driver::launch`].
    pub fn noise(
        &self,
        driver: &mut dyn Driver,
        stream: Stream,
        target: DevicePtr,
        bytes: u64,
        key: u64,
        offset: u64,
    ) -> Result<(), DeviceError> {
        let arguments = NoiseArguments {
            out: target.0,
            bytes,
            key,
            offset,
        };
        self.launch(driver, stream, bytes, &arguments)
    }

    /// Queues a copy of the lines that `key` chooses, from `source` to `target`.
    ///
    /// # Errors
    /// As [`Driver::launch`].
    pub fn lines(
        &self,
        driver: &mut dyn Driver,
        stream: Stream,
        target: DevicePtr,
        source: DevicePtr,
        bytes: u64,
        key: u64,
    ) -> Result<(), DeviceError> {
        let lines = LineCopy { target, source, bytes }.argument(key);
        self.launch(driver, stream, lines.lines * LINE_BYTES, &lines)
    }

    /// Queues a read of the clock to `out`, then a copy of the lines that `key` chooses in all
    /// `buffers`. If the buffers need several launches, the time is that of the first.
    pub(super) fn reveal_lines(
        &self,
        driver: &mut dyn Driver,
        stream: Stream,
        buffers: &[LineCopy],
        key: u64,
        out: DevicePtr,
    ) -> Result<(), DeviceError> {
        let (first, others) = buffers.split_at(buffers.len().min(BUFFERS_EACH));
        let groups = std::iter::once((first, out.0)).chain(others.chunks(BUFFERS_EACH).map(|group| (group, 0)));
        for (group, out) in groups {
            let mut arguments = RevealArguments {
                count: group.len() as u64,
                out,
                ..RevealArguments::default()
            };
            for (slot, buffer) in arguments.buffers.iter_mut().zip(group) {
                *slot = buffer.argument(key);
            }
            let lines: u64 = arguments.buffers.iter().map(|buffer| buffer.lines).sum();
            self.launch(driver, stream, lines * LINE_BYTES, &arguments)?;
        }
        Ok(())
    }

    /// Queues a twin: a pass over the buffers of a case with the access of its call, in `launches`
    /// launches. Each launch handles its part of every buffer. If there are more buffers than one
    /// launch takes, each group has its own launches.
    ///
    /// # Errors
    /// As [`Driver::launch`].
    pub fn twin(
        &self,
        driver: &mut dyn Driver,
        stream: Stream,
        buffers: &[BufferAccess],
        launches: NonZeroU32,
    ) -> Result<(), DeviceError> {
        let parts = u64::from(launches.get());
        for part in 0..parts {
            for group in buffers.chunks(BUFFERS_EACH) {
                let bytes: u64 = group.iter().map(|buffer| buffer.bytes / parts).sum();
                let mut arguments = TwinArguments {
                    count: group.len() as u64,
                    part,
                    parts,
                    sink: self.sink.0,
                    ..TwinArguments::default()
                };
                for (slot, buffer) in arguments.buffers.iter_mut().zip(group) {
                    *slot = buffer.argument();
                }
                self.launch(driver, stream, bytes, &arguments)?;
            }
        }
        Ok(())
    }

    /// Queues a pass over the flush buffer.
    ///
    /// # Errors
    /// As [`Driver::launch`].
    pub fn flush(
        &self,
        driver: &mut dyn Driver,
        stream: Stream,
        buffer: DevicePtr,
        bytes: u64,
        kind: Flush,
    ) -> Result<(), DeviceError> {
        let kind = match kind {
            Flush::Read => bindings::GB_FLUSH_READ,
            Flush::Write => bindings::GB_FLUSH_WRITE,
        };
        let arguments = FlushArguments {
            ptr: buffer.0,
            bytes,
            sink: self.sink.0,
            kind,
            reserved: 0,
        };
        self.launch(driver, stream, bytes, &arguments)
    }

    /// Queues the digest of a buffer, which is added to the word at `out`. The kernel reads the two
    /// words at `keys` when it runs.
    ///
    /// # Errors
    /// As [`Driver::launch`].
    #[expect(clippy::too_many_arguments, reason = "the kernel takes them all")]
    pub fn digest(
        &self,
        driver: &mut dyn Driver,
        stream: Stream,
        address: DevicePtr,
        bytes: u64,
        keys: u64,
        coverage: Coverage,
        out: u64,
    ) -> Result<(), DeviceError> {
        let tiles = match coverage {
            Coverage::Sample => OUTPUT_DIGEST_TILES,
            Coverage::Whole => 0,
        };
        let arguments = DigestArguments {
            ptr: address.0,
            bytes,
            keys,
            tile_bytes: TILE_BYTES,
            tiles,
            out,
        };
        let visited = if tiles == 0 {
            bytes
        } else {
            bytes.min(tiles * TILE_BYTES)
        };
        let mut config = self.geometry(driver, Kernel::Digest, visited);
        if coverage == Coverage::Whole {
            // The digest of an early-check window may start before the previous kernel ends.
            config.dependence = gpubench::plan::Dependence::Programmatic;
        }
        driver.launch(stream, self.function(Kernel::Digest)?, &config, &[arguments.as_bytes()])
    }

    /// Queues a launch for `bytes` bytes of work.
    pub(super) fn launch<A: Arguments>(
        &self,
        driver: &mut dyn Driver,
        stream: Stream,
        bytes: u64,
        arguments: &A,
    ) -> Result<(), DeviceError> {
        let config = self.geometry(driver, A::KERNEL, bytes);
        driver.launch(stream, self.function(A::KERNEL)?, &config, &[arguments.as_bytes()])
    }

    fn geometry(&self, driver: &dyn Driver, kernel: Kernel, bytes: u64) -> LaunchConfig {
        let geometry = geometry(kernel, bytes, processors(driver));
        LaunchConfig {
            grid: geometry.grid,
            block: geometry.block,
            ..LaunchConfig::linear(1, 1)
        }
    }

    pub(super) fn partial_count(&self, driver: &dyn Driver, kernel: Kernel, bytes: u64) -> u64 {
        let processors = processors(driver);
        geometry(kernel, bytes, processors)
            .reporters(processors)
            .clamp(1, MAX_PARTIALS)
    }

    fn function(&self, kernel: Kernel) -> Result<Function, DeviceError> {
        let found = self.functions.iter().find(|(known, _)| *known == kernel);
        found
            .map(|(_, function)| *function)
            .ok_or_else(|| DeviceError::NoFunction(kernel.name().to_owned()))
    }
}

impl LineCopy {
    fn argument(self, key: u64) -> LinesArguments {
        LinesArguments {
            target: self.target.0,
            source: self.source.0,
            bytes: self.bytes,
            key,
            lines: decoy_lines(self.bytes),
        }
    }
}

impl BufferAccess {
    fn argument(self) -> TwinBuffer {
        let (read, write) = (u64::from(bindings::GB_TWIN_READ), u64::from(bindings::GB_TWIN_WRITE));
        TwinBuffer {
            ptr: self.address.0,
            bytes: self.bytes,
            access: match self.access {
                AccessKind::Reads => read,
                AccessKind::Writes => write,
                AccessKind::ReadsAndWrites => read | write,
            },
        }
    }
}

fn processors(driver: &dyn Driver) -> Processors {
    let device = &driver.facts().device;
    let count = NonZeroU32::new(device.multiprocessors).unwrap_or(NonZeroU32::MIN);
    match device.max_threads_per_multiprocessor {
        // A device with one thread per multiprocessor runs few long threads best.
        1 => Processors::Cores(count),
        _ => Processors::Multiprocessors(count),
    }
}

/// Returns how many lines of a buffer are decoys until *go*: one in sixteen, at least eight.
fn decoy_lines(bytes: u64) -> u64 {
    bytes.div_ceil(LINE_BYTES * 16).max(8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn element_types_match_the_kernels_numbers() {
        for (dtype, number) in [
            (DType::U8, bindings::GB_U8),
            (DType::I8, bindings::GB_I8),
            (DType::U16, bindings::GB_U16),
            (DType::I16, bindings::GB_I16),
            (DType::U32, bindings::GB_U32),
            (DType::I32, bindings::GB_I32),
            (DType::U64, bindings::GB_U64),
            (DType::I64, bindings::GB_I64),
            (DType::F16, bindings::GB_F16),
            (DType::BF16, bindings::GB_BF16),
            (DType::F32, bindings::GB_F32),
            (DType::F64, bindings::GB_F64),
            (DType::F8E4M3, bindings::GB_F8E4M3),
            (DType::F8E5M2, bindings::GB_F8E5M2),
            (DType::Complex32, bindings::GB_COMPLEX32),
        ] {
            assert_eq!(dtype as u32, number);
        }
    }
}
