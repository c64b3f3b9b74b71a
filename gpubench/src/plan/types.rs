//! The parts of a plan.

use super::TensorMapDescription;
use crate::catalog::DType;
use std::fmt;

/// The steps of one call, and its scratch memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// Steps in stream order.
    pub steps: Vec<Step>,
    /// Sizes in bytes of the [`Launcher::scratch`](crate::Launcher::scratch) allocations.
    /// [`BufferId::Scratch`] is an index into it.
    pub scratch: Vec<u64>,
    /// Values of `__constant__` variables, written once before the first call.
    pub constants: Vec<ConstantValue>,
}

impl Plan {
    /// Returns the launches in order.
    pub fn launches(&self) -> impl Iterator<Item = &Launch> {
        self.steps.iter().filter_map(|step| match step {
            Step::Launch(launch) => Some(launch),
            Step::Memset { .. } | Step::Copy { .. } => None,
        })
    }
}

/// The value of a `__constant__` variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConstantValue {
    /// Index of the variable's source in [`Catalog::sources`](crate::catalog::Catalog::sources).
    pub source: u32,
    /// Variable, with its namespaces: `filter::coefficients`.
    pub symbol: String,
    /// Value in device byte order, with the size of the variable.
    pub bytes: Vec<u8>,
}

/// A step of a plan.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Launches a kernel.
    Launch(Launch),
    /// Sets every byte of a range.
    Memset {
        /// The range.
        target: Span,
        /// Byte value.
        value: u8,
    },
    /// Copies a range to another of the same length. They do not overlap.
    Copy {
        /// Source range.
        source: Span,
        /// Destination range.
        target: Span,
    },
}

/// A kernel launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    /// Kernel.
    pub kernel: KernelRef,
    /// Grid dimensions in blocks along x, y and z.
    pub grid: [u32; 3],
    /// Block dimensions in threads along x, y and z.
    pub block: [u32; 3],
    /// Cluster dimensions in blocks along x, y and z. All 1 without clusters.
    pub cluster: [u32; 3],
    /// Dynamic shared memory per block in bytes.
    pub dynamic_shared: u32,
    /// Whether the launch is cooperative.
    pub cooperation: Cooperation,
    /// How the launch depends on the previous one in the stream.
    pub dependence: Dependence,
    /// Arguments in the kernel's parameter order.
    pub arguments: Vec<Argument>,
    /// Rust types of the arguments. Messages show them, and they are compared with the kernel's
    /// declaration.
    pub types: Vec<ArgumentType>,
    /// Source location of the launch, as `file:line`.
    pub place: String,
}

impl Launch {
    /// Returns the buffers among the kernel's arguments, in order.
    pub fn buffers(&self) -> Vec<BufferId> {
        let buffers = self.arguments.iter().filter_map(|argument| match argument {
            Argument::Pointer { buffer, .. } | Argument::TensorMap { buffer, .. } => Some(*buffer),
            Argument::Value(_) => None,
        });
        buffers.collect()
    }
}

/// The Rust type of an argument.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArgumentType {
    /// Type without its module path: `f32`, `In<f32>`, `Exposure`.
    pub name: String,
    /// Numbers that it consists of. A scalar is one field without a name. A pointer has the field
    /// that it points to; a pointer to scratch memory has none.
    pub fields: Vec<FieldType>,
}

/// A number, or an array of numbers, in an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldType {
    /// Path of the field through nested structs: `border.width`.
    pub name: String,
    /// Offset from the start of the argument, in bytes.
    pub offset: u32,
    /// Element type. `bool` counts as `u8`.
    pub dtype: DType,
    /// Number of elements.
    pub count: u32,
}

/// Whether a launch is cooperative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cooperation {
    /// Blocks are independent.
    #[default]
    Independent,
    /// All blocks are resident at once, so that they can use a grid-wide barrier.
    Grid,
}

/// The dependence of a launch on the previous one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dependence {
    /// It starts when the previous launch has finished.
    #[default]
    Complete,
    /// It may start early (programmatic stream serialization).
    Programmatic,
}

/// A kernel of a source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KernelRef {
    /// Index in [`Catalog::sources`](crate::catalog::Catalog::sources).
    pub source: u32,
    /// Name expression: `axpy`, `reduce<256>`.
    pub name: String,
}

impl fmt::Display for KernelRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// A kernel argument.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// A device pointer: `offset` bytes into a buffer.
    Pointer {
        /// The buffer.
        buffer: BufferId,
        /// Offset in bytes, at most the buffer's length.
        offset: u64,
    },
    /// A scalar or a struct by value, in device byte order.
    Value(Vec<u8>),
    /// A tensor map (`const __grid_constant__ CUtensorMap`) of memory that starts `offset` bytes
    /// into a buffer.
    TensorMap {
        /// The buffer.
        buffer: BufferId,
        /// Offset in bytes of the map's first element.
        offset: u64,
        /// Tensor map without its address.
        map: TensorMapDescription,
    },
}

/// A buffer of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BufferId {
    /// Index in [`Recording::tensors`](crate::catalog::Recording::tensors).
    Tensor(u32),
    /// Index in [`Plan::scratch`].
    Scratch(u32),
}

/// A range of bytes in a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The buffer.
    pub buffer: BufferId,
    /// Offset of the first byte.
    pub offset: u64,
    /// Number of bytes.
    pub len: u64,
}
