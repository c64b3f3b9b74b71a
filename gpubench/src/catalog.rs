//! The description of a crate's benchmarks.

mod record;
mod stated;

pub use crate::axis::PartOfGroup;
pub use record::{Field, Record, Rows, by_field};
pub use stated::{Draw, HiddenCases, Parameter, ParameterKind, ReferenceKind, Score, StatedProblem, SubmissionLimits};

use crate::plan::{KernelRef, LibraryCall, Plan};
use std::borrow::Cow;

/// The benchmarks and kernel sources of a crate. Benchmarks and problems are sorted by path.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Catalog {
    /// Benchmarks.
    pub benchmarks: Vec<Benchmark>,
    /// Problems. Their positions follow those of the benchmarks.
    pub problems: Vec<StatedProblem>,
    /// Kernel sources, without duplicates.
    pub sources: Vec<Source>,
}

/// One `#[gpubench]` function.
#[derive(Clone, Debug, PartialEq)]
pub struct Benchmark {
    /// Library that declares it, as in `module_path!`. A library's catalog includes the benchmarks
    /// of its dependencies.
    pub library: String,
    /// Module path and function, without the crate's name: `image::grayscale`.
    pub path: String,
    /// Problem that it solves, as `module::problem` without the crate's name. The benchmarks of one
    /// problem are ranked.
    pub problem: String,
    /// Source file, as the compiler names it.
    pub file: String,
    /// Line of the attribute.
    pub line: u32,
    /// Whether it runs by default.
    pub selection: Selection,
    /// Device requirements.
    pub requirements: Vec<Requirement>,
    /// Axes on every device, in declaration order.
    pub axes: Vec<Axis>,
    /// Names of the axes that it adds to those of its problem. Their values compete.
    pub own_axes: Vec<String>,
    /// Names of the counters of its problem, in order.
    pub counters: Vec<String>,
    /// Axes that replace the axes of the same name on one kind of device.
    pub device_axes: Vec<(DeviceKind, Vec<Axis>)>,
    /// Settings of its cases, with the keys and values that a profile has: `mode` and `cold,warm`.
    /// The tool checks them.
    pub settings: Vec<(String, String)>,
    /// Path of the library with its host code, if that is not in the crate's own: absolute, or
    /// relative to the crate's root.
    pub own_library: Option<String>,
}

/// The key among [`Benchmark::settings`] of the findings of `cargo gpubench lint` that the author
/// accepts, with commas between them. It is no setting of a run.
pub const ALLOWED: &str = "allow";

/// Whether a benchmark runs by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// Runs by default.
    Default,
    /// `ignore`: runs only with `--ignored` or `--include-ignored`.
    Ignored,
}

/// An axis, or several whose values belong together, as `cases(..)` lists them. The values are in
/// order.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Names, as in the function's parameters. At least one.
    pub names: Vec<String>,
    /// Values: one for each name, of one kind for each name.
    pub values: Vec<Vec<AxisValue>>,
}

/// A value of an axis.
#[derive(Clone, Debug, PartialEq)]
pub enum AxisValue {
    /// An integer.
    Int(i64),
    /// A floating-point number.
    Float(f64),
    /// A string.
    Text(String),
    /// A truth value.
    Bool(bool),
}

/// One value for every axis of a benchmark, in axis order.
pub type Params = Vec<(String, AxisValue)>;

/// A requirement that a benchmark has on the device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Requirement {
    /// A kind of device.
    Device(DeviceKind),
    /// A compute capability of at least `major * 10 + minor`. The CPU device has none.
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

/// A source of kernels: CUDA C++ with the files it includes, or compiled code.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Source {
    /// File as named in `cuda_source!`, relative to the Rust file. For `cuda_image!`, its name.
    pub name: String,
    /// Format.
    pub form: SourceForm,
    /// Main file first, then the files that it includes, transitively. Paths are relative to the
    /// crate's root.
    pub files: Vec<SourceFile>,
    /// Compiler options from `cuda_source!`, such as `-DTILE=16`.
    pub options: Vec<String>,
}

/// The format of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SourceForm {
    /// CUDA C++ for any available compiler.
    Cuda,
    /// CUDA C++ that only nvcc compiles.
    CudaForNvcc,
    /// PTX, which the driver compiles.
    Ptx,
    /// Machine code for one architecture.
    Cubin,
    /// A fatbin: images for several architectures in one file.
    Fatbin,
}

impl SourceForm {
    /// Returns whether a compiler must compile it first.
    pub const fn is_compiled(self) -> bool {
        matches!(self, SourceForm::Cuda | SourceForm::CudaForNvcc)
    }

    /// Detects the format of an image that another crate ships: a cubin or fatbin by its magic
    /// number, CUDA C++ by `__global__`, PTX otherwise.
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
    /// Path relative to the crate's root, with `/` as separator.
    pub path: String,
    /// Contents in bytes.
    pub contents: Vec<u8>,
}

impl SourceFile {
    /// Returns the contents as text. Invalid UTF-8 becomes replacement characters.
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.contents)
    }
}

/// A request to the author process to record a case.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordRequest {
    /// The case.
    pub params: Params,
    /// Device that the plan is for.
    pub facts: DeviceFacts,
    /// Occupancies known so far.
    pub occupancies: Vec<Occupancy>,
}

/// The occupancy of a kernel on the device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// Query that it answers.
    pub query: OccupancyQuery,
    /// Resident blocks per multiprocessor.
    pub blocks: u32,
}

/// A query for the occupancy of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OccupancyQuery {
    /// Kernel.
    pub kernel: KernelRef,
    /// Threads per block.
    pub threads: u32,
    /// Dynamic shared memory per block, in bytes.
    pub dynamic_shared: u32,
}

/// The properties of a device that a benchmark function can query.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceFacts {
    /// Kind of device.
    pub kind: DeviceKind,
    /// Display name.
    pub name: String,
    /// Number of multiprocessors. On the CPU device, its number of threads.
    pub multiprocessors: u32,
    /// Compute capability as `major * 10 + minor`. 0 on the CPU device.
    pub capability: u32,
    /// Threads per warp.
    pub warp_size: u32,
    /// Maximum number of threads per block.
    pub max_threads_per_block: u32,
    /// Maximum number of resident threads per multiprocessor.
    pub max_threads_per_multiprocessor: u32,
    /// Maximum block dimensions along x, y and z.
    pub max_block: [u32; 3],
    /// Maximum grid dimensions along x, y and z.
    pub max_grid: [u32; 3],
    /// Maximum shared memory per block in bytes, dynamic and static together, without opt-in.
    pub shared_per_block: u64,
    /// Maximum shared memory per block in bytes, dynamic and static together, with opt-in.
    pub shared_per_block_optin: u64,
    /// Last-level cache size in bytes that a flush covers.
    pub l2_bytes: u64,
}

/// A recorded case: the tensors, their comparison, and the plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    /// Tensors in declaration order.
    pub tensors: Vec<Tensor>,
    /// Declared cost of one call.
    pub work: Work,
    /// Steps of one call. Empty if host code launches.
    pub plan: Plan,
    /// Source of the expected outputs.
    pub reference: Reference,
    /// How a worker runs a call.
    pub execution: Execution,
    /// The call of a hosted benchmark whose host code is in a library of its own.
    pub call: Option<Box<LibraryCall>>,
}

impl Recording {
    /// Whether a call has nothing to write, because all outputs are empty. It may then have no
    /// steps, and its time means nothing.
    pub fn writes_nothing(&self) -> bool {
        write_nothing(&self.tensors)
    }
}

/// Whether all outputs among the tensors are empty.
pub(crate) fn write_nothing(tensors: &[Tensor]) -> bool {
    !tensors.iter().any(Tensor::is_compared)
}

/// The source of a case's expected outputs.
#[derive(Clone, Debug, PartialEq)]
pub enum Reference {
    /// The crate's CPU function, in the author process.
    Author,
    /// As [`Reference::Author`]. After each call, the crate's check says which outputs are right,
    /// in the author process too.
    Checked,
    /// A plan over the same tensors. It reads inputs and constants and writes every output. It has
    /// separate scratch memory.
    Plan(Plan),
    /// A command that has computed them for a number of calls before any worker lives.
    Provider(Box<Provider>),
}

/// A command of the crate's author that computes expected outputs.
#[derive(Clone, Debug, PartialEq)]
pub struct Provider {
    /// Program and arguments.
    pub command: Vec<String>,
    /// The folder that it runs in: the root of the package that names it.
    pub folder: String,
    /// The axes of the case.
    pub params: Params,
}

impl Reference {
    /// Returns the command, if the reference is one.
    pub const fn provider(&self) -> Option<&Provider> {
        match self {
            Reference::Provider(provider) => Some(provider),
            Reference::Author | Reference::Checked | Reference::Plan(_) => None,
        }
    }

    /// Returns the plan, if the reference is one.
    pub const fn plan(&self) -> Option<&Plan> {
        match self {
            Reference::Author | Reference::Checked | Reference::Provider(_) => None,
            Reference::Plan(plan) => Some(plan),
        }
    }
}

/// How a worker runs a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Execution {
    /// It replays the plan and loads no host code of the user.
    #[default]
    Sealed,
    /// It loads the crate's library, or the benchmark's own, and calls the benchmark's host code,
    /// which queues its work on the tool's stream.
    Hosted,
    /// As [`Execution::Hosted`], but a call may also wait for the device, allocate, and use the
    /// default stream. It ends when the device is idle.
    HostedSync,
}

impl Execution {
    /// Whether the user's host code runs in the worker.
    pub const fn is_hosted(self) -> bool {
        match self {
            Execution::Sealed => false,
            Execution::Hosted | Execution::HostedSync => true,
        }
    }

    /// Whether a call may wait for the device.
    pub const fn may_wait(self) -> bool {
        match self {
            Execution::Sealed | Execution::Hosted => false,
            Execution::HostedSync => true,
        }
    }
}

/// A named tensor of a benchmark.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// Name, as in the function's parameters.
    pub name: String,
    /// Element type.
    pub dtype: DType,
    /// Extents, outermost first. Their product is the number of elements.
    pub shape: Vec<u64>,
    /// Role.
    pub role: Role,
    /// Contents before the call.
    pub fill: Fill,
    /// How its elements are compared after the call. [`Tolerance::Exact`] for tensors that are not
    /// outputs, and for those of structs, whose fields have their own.
    pub tolerance: Tolerance,
    /// The struct that each element is, unless elements are numbers.
    pub record: Option<Box<Record>>,
}

/// How a call uses a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Read. New contents for every call.
    Input,
    /// Read. The same contents for every call of a case.
    Constant,
    /// Written. Filled with noise before every call, checked after it.
    Output,
    /// Read and written. New contents for every call, checked after it.
    InOut,
    /// Temporary memory. Filled with noise before every call, never checked.
    Scratch,
}

impl Role {
    /// Returns whether the call may read its initial contents.
    pub const fn is_input(self) -> bool {
        matches!(self, Role::Input | Role::Constant | Role::InOut)
    }

    /// Returns whether it is checked after a call.
    pub const fn is_output(self) -> bool {
        matches!(self, Role::Output | Role::InOut)
    }
}

impl Tensor {
    /// Returns the number of elements. Call it only after [`plan::check`](crate::plan::check), so
    /// that the product does not overflow.
    pub fn elements(&self) -> u64 {
        self.shape.iter().product()
    }

    /// Whether elements of the tensor are compared with expected ones: it is an output, and not
    /// empty.
    pub fn is_compared(&self) -> bool {
        self.role.is_output() && !self.shape.contains(&0)
    }

    /// Returns the number of bytes. Call it only after [`plan::check`](crate::plan::check).
    pub fn bytes(&self) -> u64 {
        self.elements() * self.dtype.size() as u64
    }
}

/// The contents of a tensor before a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Fill {
    /// Noise, for outputs and scratch.
    Poison,
    /// Uniform over `[low, high)`.
    Uniform {
        /// Inclusive lower bound.
        low: f64,
        /// Exclusive upper bound.
        high: f64,
    },
    /// Normal distribution.
    Normal {
        /// Mean.
        mean: f64,
        /// Standard deviation, at least zero.
        stddev: f64,
    },
    /// Uniform integers over `[low, high)`, also for floating-point elements. The bounds have 128
    /// bits to hold all of `u64` and `i64`.
    Integers {
        /// Inclusive lower bound.
        low: i128,
        /// Exclusive upper bound.
        high: i128,
    },
    /// Uniformly distributed bit patterns of the element type. For integers only.
    Bits,
    /// A user's kernel `(T *out, size_t len, unsigned long long seed)`, launched with at least
    /// `len` threads.
    Kernel(KernelRef),
    /// The crate's CPU function.
    Cpu,
    /// The contents of a file as they are, also by the crate's library. For constants only: they
    /// are the same in every run.
    Stored,
}

impl Fill {
    /// Whether the crate's library fills the tensor in the author process.
    pub const fn is_made_on_cpu(&self) -> bool {
        matches!(self, Fill::Cpu | Fill::Stored)
    }
}

/// How outputs are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    /// Equality. A NaN equals a NaN, and zero equals negative zero.
    Exact,
    /// `|got - expected| <= atol + rtol * |expected|`.
    Close {
        /// Relative part, `rtol`.
        rtol: f64,
        /// Absolute part, `atol`.
        atol: f64,
    },
    /// As [`Tolerance::Close`], but nobody wrote it: it follows from the element type and the
    /// number of terms in a reduction.
    Default {
        /// Relative part, `rtol`.
        rtol: f64,
        /// Absolute part, `atol`.
        atol: f64,
    },
    /// As [`Tolerance::Close`] for most elements. The others may differ by more.
    Mostly {
        /// Relative part, `rtol`.
        rtol: f64,
        /// Absolute part, `atol`.
        atol: f64,
        /// What the others may do.
        mismatched: Mismatched,
    },
    /// Whatever the check of [`Reference::Checked`] accepts. Nothing else is expected.
    ByCheck,
}

/// The elements of an output that may be outside its tolerance. A NaN or an infinity never may,
/// unless it is expected, and neither may an element that was not written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mismatched {
    /// Largest share of the elements, a fraction between 0 and 1. It is rounded down to whole
    /// elements.
    pub share: f64,
    /// How many times the tolerance each of them may differ by, above 1.
    pub cap: f64,
}

impl Tolerance {
    /// Returns `rtol` and `atol`. `None` for an exact comparison.
    pub const fn bounds(self) -> Option<(f64, f64)> {
        match self {
            Tolerance::Exact | Tolerance::ByCheck => None,
            Tolerance::Close { rtol, atol }
            | Tolerance::Default { rtol, atol }
            | Tolerance::Mostly { rtol, atol, .. } => Some((rtol, atol)),
        }
    }

    /// Returns which elements may be outside the tolerance. `None` if none may.
    pub const fn mismatched(self) -> Option<Mismatched> {
        match self {
            Tolerance::Exact | Tolerance::ByCheck | Tolerance::Close { .. } | Tolerance::Default { .. } => None,
            Tolerance::Mostly { mismatched, .. } => Some(mismatched),
        }
    }

    /// Returns the tolerance that mismatched elements must keep. `None` if there may be none.
    pub fn of_mismatched(self) -> Option<Tolerance> {
        let (rtol, atol) = self.bounds()?;
        let Mismatched { cap, .. } = self.mismatched()?;
        Some(Tolerance::Close {
            rtol: rtol * cap,
            atol: atol * cap,
        })
    }
}

impl Mismatched {
    /// Returns how many of `elements` may be outside the tolerance.
    pub fn most(self, elements: u64) -> u64 {
        (self.share * elements as f64) as u64
    }
}

/// The declared cost of one call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Bytes that must be read or written.
    pub bytes: Option<u64>,
    /// Floating-point operations.
    pub flops: Option<u64>,
    /// What else it processes, such as tokens.
    pub counters: Vec<Counter>,
}

/// A declared amount with a name of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counter {
    /// Name: letters, digits and `_`.
    pub name: String,
    /// Amount in one call.
    pub amount: u64,
}

/// The type of a tensor's elements.
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
    F8E4M3,
    F8E5M2,
    Complex32,
}
