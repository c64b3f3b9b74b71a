//! What a description says.

use gpubench_declarations::Number;

use crate::expression::Expression;
use crate::name::Name;
use crate::number_type::NumberType;
use crate::position::Position;

/// A description of a submission: how its code is launched.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// The name.
    pub name: Option<Name>,
    /// The main file of a folder.
    pub file: Option<Placed<String>>,
    /// Options for the compiler.
    pub options: Vec<String>,
    /// The compiler.
    pub compiler: Compiler,
    /// What a call does.
    pub body: Body,
    /// Where the description starts.
    pub at: Position,
    /// Its whole text. Empty if nobody wrote one.
    pub text: String,
}

/// The compiler of a CUDA C++ source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compiler {
    /// Any that is there.
    #[default]
    Any,
    /// `compiler = "nvcc"`.
    Nvcc,
}

/// What a call of a submission does.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// Steps on the device.
    Steps(Steps),
    /// It calls a function of a library.
    Library(LibraryFunction),
    /// Nothing is described. Only a library can do without.
    Nothing,
}

/// The steps of a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Steps {
    /// Scratch buffers.
    pub scratch: Vec<ScratchBuffer>,
    /// Values of `__constant__` variables.
    pub constants: Vec<Constant>,
    /// Steps, in order.
    pub steps: Vec<Step>,
}

/// Something with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed<T> {
    /// The thing.
    pub inner: T,
    /// Where it is written.
    pub at: Position,
}

/// A scratch buffer.
#[derive(Clone, Debug, PartialEq)]
pub struct ScratchBuffer {
    /// Name.
    pub name: Placed<String>,
    /// Its bytes.
    pub bytes: Written,
}

/// The value of a `__constant__` variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Constant {
    /// The variable, with its namespaces.
    pub symbol: String,
    /// The type of its elements.
    pub ty: NumberType,
    /// Its elements.
    pub values: Vec<Written>,
    /// Where it is written.
    pub at: Position,
}

/// A step.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// It launches a kernel.
    Launch(Box<LaunchStep>),
    /// It sets every byte of a buffer, or of its beginning.
    Memset {
        /// The buffer.
        target: Placed<String>,
        /// The byte.
        value: Written,
        /// How many bytes, if not all.
        bytes: Option<Written>,
    },
    /// It copies a buffer, or its beginning.
    Copy {
        /// The buffer to read.
        from: Placed<String>,
        /// The buffer to write.
        to: Placed<String>,
        /// How many bytes, if not all.
        bytes: Option<Written>,
    },
}

/// A launch of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct LaunchStep {
    /// The kernel's name expression, if it is not the only one of the source.
    pub kernel: Option<Placed<String>>,
    /// Blocks along x, y and z.
    pub grid: Vec<Written>,
    /// Threads per block along x, y and z.
    pub block: Vec<Written>,
    /// Blocks per cluster along x, y and z.
    pub cluster: Vec<Written>,
    /// Bytes of dynamic shared memory per block.
    pub shared: Option<Written>,
    /// Whether all blocks are resident at once.
    pub cooperative: bool,
    /// Whether it may start before the previous launch has finished.
    pub programmatic: bool,
    /// Arguments, if they are not those that the kernel's parameters are named after.
    pub arguments: Option<Vec<Argument>>,
    /// Where it is written.
    pub at: Position,
}

/// An argument.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    /// A buffer, an axis or an expression.
    pub value: Written,
    /// The type that it is passed as, if it is named.
    pub ty: Option<NumberType>,
}

/// An expression with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    /// The expression.
    pub expression: Expression,
    /// The key that it is the value of: `grid`.
    pub key: String,
    /// Where its first character is, or its value if that has escapes.
    pub at: Position,
    /// Whether the characters of the file are those of the expression.
    pub is_literal: bool,
}

impl Written {
    /// Returns the position of a character of the expression.
    pub(crate) fn position(&self, character: usize) -> Position {
        if self.is_literal {
            self.at.plus(character)
        } else {
            self.at.clone()
        }
    }
}

/// A function of a library.
#[derive(Clone, Debug, PartialEq)]
pub struct LibraryFunction {
    /// Its name.
    pub function: String,
    /// Whether a call may wait for the device, allocate and use the default stream.
    pub synchronizes: bool,
    /// Its arguments, if they are not the tensors and the integer axes.
    pub arguments: Option<Vec<Argument>>,
    /// Where it is written.
    pub at: Position,
}

/// The type of an integer argument of a library's function, if none is named.
pub(crate) const INTEGER_OF_A_LIBRARY: NumberType = NumberType::Number(Number::I64);

/// The type of a floating-point argument of a library's function, if none is named.
pub(crate) const FLOAT_OF_A_LIBRARY: NumberType = NumberType::Number(Number::F64);
