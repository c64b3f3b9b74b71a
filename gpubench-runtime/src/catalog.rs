//! What a kernel crate says about its benchmarks.

use crate::plan::{KernelRef, Plan};
use std::borrow::Cow;

/// Every benchmark and every kernel source of a crate. Benchmarks are sorted by path.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Catalog {
    /// Benchmarks.
    pub benchmarks: Vec<Benchmark>,
    /// Kernel sources, each once.
    pub sources: Vec<Source>,
}

/// One `#[gpubench]` function.
#[derive(Clone, Debug, PartialEq)]
pub struct Benchmark {
    /// The library it is declared in, as in `module_path!`: a library's catalog also has the
    /// benchmarks of those it depends on.
    pub library: String,
    /// Module path and function without the crate's name: `image::grayscale`.
    pub path: String,
    /// The problem it solves, as `module::problem` without the crate's name; equal for
    /// implementations that compete.
    pub problem: String,
    /// Source file as the compiler names it.
    pub file: String,
    /// Line of the attribute.
    pub line: u32,
    /// Whether it runs only when asked for.
    pub selection: Selection,
    /// What it needs of a device.
    pub requirements: Vec<Requirement>,
    /// Axes on every device, in declaration order.
    pub axes: Vec<Axis>,
    /// Axes that replace those of the same name on a kind of device.
    pub device_axes: Vec<(DeviceKind, Vec<Axis>)>,
}

/// Whether a benchmark runs by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// It runs.
    Default,
    /// `ignore`: it runs with `--ignored` or `--include-ignored`.
    Ignored,
}

/// A named axis and its values in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Name, as in the function's parameters.
    pub name: String,
    /// Values; all of one kind, none missing.
    pub values: Vec<AxisValue>,
}

/// A value of an axis.
#[derive(Clone, Debug, PartialEq)]
pub enum AxisValue {
    /// An integer or a `bool` (0 or 1).
    Int(i64),
    /// A floating-point number.
    Float(f64),
    /// A text.
    Text(String),
}

/// One value for every axis of a benchmark, in axis order.
pub type Params = Vec<(String, AxisValue)>;

/// Something a benchmark needs of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Requirement {
    /// A kind of device.
    Device(DeviceKind),
    /// Compute capability at least `major * 10 + minor`; no CPU device has one.
    Capability(u32),
}

/// Kinds of devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DeviceKind {
    /// The built-in CPU device.
    Cpu,
    /// An NVIDIA GPU.
    Cuda,
}

/// Where kernels come from: a CUDA C++ source with what it includes, or what a compiler has made of
/// one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Source {
    /// The file as named in `cuda_source!`, relative to the Rust file; of a `cuda_image!` its name.
    pub name: String,
    /// What it is.
    pub form: SourceForm,
    /// The main file first, then everything it includes with quotes, transitively. Paths are
    /// relative to the crate's root.
    pub files: Vec<SourceFile>,
    /// Compiler options given in `cuda_source!`, such as `-DTILE=16`.
    pub options: Vec<String>,
}

/// What a source is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SourceForm {
    /// CUDA C++ for whichever compiler there is.
    Cuda,
    /// CUDA C++ that only nvcc compiles.
    CudaForNvcc,
    /// PTX, which the driver compiles.
    Ptx,
    /// Machine code for one architecture.
    Cubin,
    /// Several of the two in one file.
    Fatbin,
}

impl SourceForm {
    /// Whether a compiler has to make an image of it.
    pub const fn is_compiled(self) -> bool {
        matches!(self, SourceForm::Cuda | SourceForm::CudaForNvcc)
    }

    /// What these bytes are, as another crate ships them: an image by its first bytes, CUDA C++ by
    /// a kernel in it, and PTX otherwise.
    pub fn of_image(bytes: &[u8]) -> SourceForm {
        const ELF: &[u8] = b"\x7fELF";
        const KERNEL: &[u8] = b"__global__";
        const FATBIN: &[u8] = &0xba55_ed50_u32.to_le_bytes();
        match bytes {
            _ if bytes.starts_with(ELF) => SourceForm::Cubin,
            _ if bytes.starts_with(FATBIN) => SourceForm::Fatbin,
            _ if bytes.windows(KERNEL.len()).any(|word| word == KERNEL) => SourceForm::Cuda,
            _ => SourceForm::Ptx,
        }
    }
}

impl std::fmt::Display for SourceForm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            SourceForm::Cuda => "CUDA C++",
            SourceForm::CudaForNvcc => "CUDA C++ for nvcc",
            SourceForm::Ptx => "PTX",
            SourceForm::Cubin => "a cubin",
            SourceForm::Fatbin => "a fatbin",
        })
    }
}

/// A file of a source.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceFile {
    /// Path relative to the crate's root, with `/`.
    pub path: String,
    /// What is in it.
    pub contents: Vec<u8>,
}

impl SourceFile {
    /// What is in it as text, with a replacement character for what is none.
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.contents)
    }
}

/// What the author process is asked to record: the case and the device's facts.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordRequest {
    /// The case.
    pub params: Params,
    /// The device the plan is for.
    pub facts: DeviceFacts,
    /// What is known of kernels' occupancy on it.
    pub occupancies: Vec<Occupancy>,
}

/// A kernel's occupancy on the device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// Of what.
    pub query: OccupancyQuery,
    /// Blocks resident on a multiprocessor at once.
    pub blocks: u32,
}

/// Blocks whose occupancy is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OccupancyQuery {
    /// The kernel.
    pub kernel: KernelRef,
    /// Threads of a block.
    pub threads: u32,
    /// Bytes of dynamic shared memory of a block.
    pub dynamic_shared: u32,
}

/// What a benchmark function may know of the device its plan is for.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceFacts {
    /// Kind of device.
    pub kind: DeviceKind,
    /// Name for people.
    pub name: String,
    /// Multiprocessors; on the CPU device its worker threads.
    pub multiprocessors: u32,
    /// Compute capability as `major * 10 + minor`; 0 on the CPU device.
    pub capability: u32,
    /// Threads of a warp.
    pub warp_size: u32,
    /// Most threads of a block.
    pub max_threads_per_block: u32,
    /// Most threads resident on a multiprocessor.
    pub max_threads_per_multiprocessor: u32,
    /// Largest block along x, y and z.
    pub max_block: [u32; 3],
    /// Largest grid along x, y and z.
    pub max_grid: [u32; 3],
    /// Shared memory of a block in bytes, dynamic and static together, without opting in.
    pub shared_per_block: u64,
    /// The same with opting in.
    pub shared_per_block_optin: u64,
    /// Last-level cache in bytes as the device is flushed.
    pub l2_bytes: u64,
}

/// One recorded case: the tensors, how they are judged, and the plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    /// Tensors in declaration order.
    pub tensors: Vec<Tensor>,
    /// What one call costs, as declared.
    pub work: Work,
    /// What one call does; empty where the call is [`Execution::Hosted`].
    pub plan: Plan,
    /// What computes the expected outputs.
    pub reference: Reference,
    /// How a worker carries out a call.
    pub execution: Execution,
}

/// What computes the expected outputs of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Reference {
    /// The crate's CPU function, in the author process.
    Author,
    /// Another plan over the same tensors: it reads inputs and constants and writes every output.
    /// Scratch it has of its own.
    Plan(Plan),
}

impl Reference {
    /// The plan, where it is one.
    pub const fn plan(&self) -> Option<&Plan> {
        match self {
            Reference::Author => None,
            Reference::Plan(plan) => Some(plan),
        }
    }
}

/// How a worker carries out a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Execution {
    /// It replays the plan, and holds no host code of the user.
    #[default]
    Sealed,
    /// It loads the user's library and calls the benchmark's own host code.
    Hosted,
}

/// A named tensor of a benchmark.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// Name, as in the function's parameters.
    pub name: String,
    /// Element type.
    pub dtype: DType,
    /// Extents, outermost first; the number of elements is their product.
    pub shape: Vec<u64>,
    /// What it is for.
    pub role: Role,
    /// What it holds before the call.
    pub fill: Fill,
    /// How its elements are compared after the call; [`Tolerance::Exact`] for tensors that are not
    /// outputs.
    pub tolerance: Tolerance,
}

/// What a tensor is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Read; fresh for every call.
    Input,
    /// Read; the same contents for every call of a case.
    Constant,
    /// Written; poisoned before and checked after every call.
    Output,
    /// Read and written: fresh for every call, checked after it.
    InOut,
    /// Free for the kernel's use; poisoned before every call, never checked.
    Scratch,
}

impl Role {
    /// Whether a call finds contents in it.
    pub const fn is_input(self) -> bool {
        matches!(self, Role::Input | Role::Constant | Role::InOut)
    }

    /// Whether it is checked after a call.
    pub const fn is_output(self) -> bool {
        matches!(self, Role::Output | Role::InOut)
    }
}

impl Tensor {
    /// Number of elements. The extents of a tensor that was admitted have a product.
    pub fn elements(&self) -> u64 {
        self.shape.iter().product()
    }

    /// Number of bytes, of a tensor that was admitted.
    pub fn bytes(&self) -> u64 {
        self.elements() * self.dtype.size() as u64
    }
}

/// What a tensor holds before a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Fill {
    /// Noise: outputs and scratch.
    Poison,
    /// Uniform over `[low, high)`.
    Uniform {
        /// Inclusive lower bound.
        low: f64,
        /// Exclusive upper bound.
        high: f64,
    },
    /// Normal.
    Normal {
        /// Mean.
        mean: f64,
        /// Standard deviation, at least zero.
        stddev: f64,
    },
    /// Uniform integers over `[low, high)`, also for floating-point elements. 128-bit so that all
    /// of `u64` and `i64` fit.
    Integers {
        /// Inclusive lower bound.
        low: i128,
        /// Exclusive upper bound.
        high: i128,
    },
    /// Any bit pattern of the element type, each equally likely. For integers.
    Bits,
    /// A user's kernel `(T *out, size_t len, unsigned long long seed)`, launched over `len` threads
    /// at least.
    Kernel(KernelRef),
    /// The crate's CPU function.
    Cpu,
}

/// How outputs are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    /// Equal values; a NaN matches a NaN, and zero matches negative zero.
    Exact,
    /// `|got - expected| <= atol + rtol * |expected|`.
    Close {
        /// Relative part.
        rtol: f64,
        /// Absolute part.
        atol: f64,
    },
}

/// What one call costs, as its author declares it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Bytes that must be read or written.
    pub bytes: Option<u64>,
    /// Floating-point operations.
    pub flops: Option<u64>,
}

/// Element types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum DType {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    U64,
    I64,
    F16,
    BF16,
    F32,
    F64,
}
