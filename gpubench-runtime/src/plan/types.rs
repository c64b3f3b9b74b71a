//! What a plan consists of.

use super::TensorMapDescription;
use crate::catalog::DType;
use std::fmt;

/// What one call does: its steps in order, and the scratch memory they need.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// Steps in stream order.
    pub steps: Vec<Step>,
    /// Scratch allocations made by [`Launcher::scratch`](crate::Launcher::scratch), in bytes;
    /// [`BufferId::Scratch`] counts them from zero.
    pub scratch: Vec<u64>,
    /// `__constant__` variables and their values, written once before the first call.
    pub constants: Vec<ConstantValue>,
}

impl Plan {
    /// Its launches, in order.
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
    /// Position of the variable's source in [`Catalog::sources`](crate::catalog::Catalog::sources).
    pub source: u32,
    /// The variable, with its namespaces: `filter::coefficients`.
    pub symbol: String,
    /// Its bytes in device byte order; as many as the variable has.
    pub bytes: Vec<u8>,
}

/// One operation of a plan.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Launch a kernel.
    Launch(Launch),
    /// Set every byte of a range.
    Memset {
        /// The range.
        target: Span,
        /// The byte.
        value: u8,
    },
    /// Copy a range onto another of the same length; they do not overlap.
    Copy {
        /// Where from.
        source: Span,
        /// Where to.
        target: Span,
    },
}

/// A kernel launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    /// Which kernel.
    pub kernel: KernelRef,
    /// Blocks along x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block along x, y and z.
    pub block: [u32; 3],
    /// Blocks of a cluster along x, y and z; all one where the launch has no clusters.
    pub cluster: [u32; 3],
    /// Dynamic shared memory of a block in bytes.
    pub dynamic_shared: u32,
    /// Whether blocks of the grid may wait for each other.
    pub cooperation: Cooperation,
    /// How the launch depends on the one before it in the stream.
    pub dependence: Dependence,
    /// Arguments in the kernel's order.
    pub arguments: Vec<Argument>,
    /// What each argument is in Rust; what a message says, and what is compared with the kernel's
    /// declaration.
    pub types: Vec<ArgumentType>,
    /// Where the launch is, as `file:line`.
    pub place: String,
}

impl Launch {
    /// The buffers that the kernel is given, in the order of its arguments.
    pub fn buffers(&self) -> Vec<BufferId> {
        let buffers = self.arguments.iter().filter_map(|argument| match argument {
            Argument::Pointer { buffer, .. } | Argument::TensorMap { buffer, .. } => Some(*buffer),
            Argument::Value(_) => None,
        });
        buffers.collect()
    }
}

/// What an argument is in Rust.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArgumentType {
    /// The type, without the modules that it is in: `f32`, `In<f32>`, `Exposure`.
    pub name: String,
    /// Where its numbers are. A number is one field without a name; a pointer's is what it points
    /// to, and scratch has none.
    pub fields: Vec<FieldType>,
}

/// A number, or an array of them, in an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldType {
    /// The field, through structs in the struct: `border.width`.
    pub name: String,
    /// Bytes from the start of the argument.
    pub offset: u32,
    /// Its type; `bool` counts as `u8`.
    pub dtype: DType,
    /// How many there are.
    pub count: u32,
}

/// Whether a launch is cooperative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cooperation {
    /// Blocks are independent.
    #[default]
    Independent,
    /// All blocks are resident at once and may use a grid-wide barrier.
    Grid,
}

/// How a launch depends on its predecessor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dependence {
    /// It starts when the predecessor has finished.
    #[default]
    Complete,
    /// It may start early (programmatic stream serialization).
    Programmatic,
}

/// A kernel of a source: position of the source in the catalog and the kernel's name expression
/// (`axpy`, `reduce<256>`).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KernelRef {
    /// Position in [`Catalog::sources`](crate::catalog::Catalog::sources).
    pub source: u32,
    /// Name expression.
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
        /// Bytes from its start, at most its length.
        offset: u64,
    },
    /// A scalar or a struct by value, in device byte order.
    Value(Vec<u8>),
    /// A tensor map (`const __grid_constant__ CUtensorMap`) of memory from `offset` bytes into a
    /// buffer.
    TensorMap {
        /// The buffer.
        buffer: BufferId,
        /// Bytes from its start to the map's first element.
        offset: u64,
        /// How the memory is read and written.
        map: TensorMapDescription,
    },
}

/// A buffer a plan names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BufferId {
    /// Position in [`Recording::tensors`](crate::catalog::Recording::tensors).
    Tensor(u32),
    /// Position in [`Plan::scratch`].
    Scratch(u32),
}

/// A range of a buffer in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The buffer.
    pub buffer: BufferId,
    /// First byte.
    pub offset: u64,
    /// Number of bytes.
    pub len: u64,
}
