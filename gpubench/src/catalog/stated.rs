//! Problems as their authors state them, for people who write kernels elsewhere.

use super::{Axis, Benchmark, DeviceKind, Role};

/// One `#[problem]`.
#[derive(Clone, Debug, PartialEq)]
pub struct StatedProblem {
    /// What a benchmark that solves it has without code of its own.
    pub outline: Benchmark,
    /// What it asks for: the documentation of its function, as Markdown.
    pub statement: String,
    /// The parameters of its function, in order.
    pub signature: Vec<Parameter>,
    /// The work that it declares: `bytes`, `flops` or the name of a counter, and the expression.
    pub work: Vec<(String, String)>,
    /// Cases for grading alone. A run never has them.
    pub hidden: HiddenCases,
    /// How the results of the cases make one score.
    pub score: Score,
    /// What a grader applies to a submission.
    pub limits: SubmissionLimits,
    /// What computes its expected outputs.
    pub reference: ReferenceKind,
    /// What computes them on one kind of device, instead of `reference`.
    pub device_references: Vec<(DeviceKind, ReferenceKind)>,
}

impl StatedProblem {
    /// Returns what computes the expected outputs on a kind of device.
    pub fn reference_on(&self, device: DeviceKind) -> ReferenceKind {
        let of_device = self.device_references.iter().find(|(kind, _)| *kind == device);
        of_device.map_or(self.reference, |(_, reference)| *reference)
    }
}

/// What computes the expected outputs of a problem.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReferenceKind {
    /// A function on the CPU, or a check that judges without one.
    #[default]
    Function,
    /// Kernels that are launched on the device.
    Launches,
    /// A command.
    Command,
}

/// A parameter of a problem's function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Name of the axis or the tensor.
    pub name: String,
    /// Rust type as written: of an axis, or of a tensor's elements. It can be a type parameter,
    /// which is an axis too.
    pub type_name: String,
    /// Tensor or axis.
    pub kind: ParameterKind,
}

/// What a parameter is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParameterKind {
    /// An axis: a scalar.
    Axis,
    /// A tensor.
    Tensor {
        /// Role. Without a declaration in the signature, it is `Input` for what the function reads
        /// and `Output` for what it writes, and only a recording has the exact one.
        role: Role,
        /// Extents as an expression over the axes, as the signature has it: `[rows, cols]` or `n`.
        /// `None` if a function makes the tensors.
        shape: Option<String>,
    },
}

/// The cases of `hidden(..)`. Without axes and draws, there are none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HiddenCases {
    /// Axes with other values than the public ones, in order.
    pub axes: Vec<Axis>,
    /// Axes whose values are drawn when a submission is graded.
    pub draws: Vec<Draw>,
    /// How many times [`draws`](HiddenCases::draws) are drawn, all at once.
    pub count: u32,
}

/// A range of integers that the values of an axis are drawn from, each with the same probability.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draw {
    /// Name of the axis.
    pub name: String,
    /// Smallest value.
    pub least: i64,
    /// Largest value. Not below [`least`](Draw::least).
    pub most: i64,
}

/// How the results of a problem's cases make one score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Score {
    /// The geometric mean over the cases: each has the same weight, whatever its size.
    #[default]
    GeometricMean,
    /// The arithmetic mean over the cases: long ones weigh more.
    ArithmeticMean,
    /// The last case alone: the last public one, in the order of the axes.
    Last,
}

impl Score {
    /// Returns the name in the attribute.
    pub const fn name(self) -> &'static str {
        match self {
            Score::GeometricMean => "geometric_mean",
            Score::ArithmeticMean => "arithmetic_mean",
            Score::Last => "last",
        }
    }
}

/// What a grader applies to a submission. `None` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SubmissionLimits {
    /// Longest time of one call, in nanoseconds.
    pub call_ns: Option<u64>,
    /// Most bytes of all files of a submission.
    pub source_bytes: Option<u64>,
}
