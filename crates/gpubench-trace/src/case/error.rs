//! What a case cannot express.

use gpubench_diagnostic::{ExitCode, Expected, printable_line};

use crate::definition::ElementType;
use crate::expression::ExpressionError;
use crate::workload::ScalarValue;

/// Why a definition with a workload is no case.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs)]
pub enum CaseError {
    /// The workload lacks the value of a variable axis.
    #[error("the workload has no value for the axis `{}`", printable_line(.axis))]
    AxisWithoutValue { axis: String },
    /// The workload has an axis that the definition has not.
    #[error("the definition has no axis `{}`", printable_line(.axis))]
    UnknownAxis { axis: String },
    /// The workload gives another value to an axis that the definition determines.
    #[error("the workload gives a value to the axis `{}`, which the definition determines", printable_line(.axis))]
    FixedAxis { axis: String },
    /// An expression of an axis has no value.
    #[error("the axis `{}` has no value", printable_line(.axis))]
    Expression {
        axis: String,
        #[source]
        source: ExpressionError,
    },
    /// The value of an axis is negative or does not fit.
    #[error("the axis `{}` is {value}, which is not an extent", printable_line(.axis))]
    AxisOutOfRange { axis: String, value: i128 },
    /// A dimension of a tensor has no value.
    #[error("the dimension `{}` of the tensor `{}` has no value", printable_line(.dimension), printable_line(.tensor))]
    Dimension { tensor: String, dimension: String },
    /// The axes violate a constraint of the definition.
    #[error("the axes violate the constraint `{}`", printable_line(.constraint))]
    Constraint { constraint: String },
    /// The workload has an input that the definition has not.
    #[error("the definition has no input `{}`", printable_line(.input))]
    UnknownInput { input: String },
    /// The type of the elements is not supported.
    #[error("the tensor `{}` has elements of {}, which are not supported", printable_line(.tensor), .element_type.name())]
    ElementType { tensor: String, element_type: ElementType },
    /// A tensor has more bytes than any device.
    #[error("the tensor `{}` of the shape {shape:?} is too large", printable_line(.tensor))]
    TooLarge { tensor: String, shape: Vec<u64> },
    /// The definition has no output.
    #[error("the definition has no output, so nothing can be checked")]
    NoOutput,
    /// An output is a scalar, which a kernel cannot write.
    #[error("the output `{}` is a scalar", printable_line(.output))]
    ScalarOutput { output: String },
    /// A scalar is random.
    #[error("the scalar `{}` is random", printable_line(.input))]
    RandomScalar { input: String },
    /// A tensor is to have the value of a scalar.
    #[error("the workload gives a scalar for the tensor `{}`", printable_line(.input))]
    ScalarForTensor { input: String },
    /// A scalar is to have the contents of a file.
    #[error("the workload gives a file for the scalar `{}`", printable_line(.input))]
    TensorForScalar { input: String },
    /// The type of a scalar does not have its value.
    #[error("the scalar `{}` is {value}, which {} does not have", printable_line(.input), .element_type.name())]
    ScalarType {
        input: String,
        element_type: ElementType,
        value: ScalarValue,
    },
    /// The reference is to make an input.
    #[error("the input `{}` is custom: a function of the reference makes it, which is not supported", printable_line(.input))]
    CustomInput { input: String },
    /// The format fills an input in a way that is not supported.
    #[error("the input `{}` is {what}, which cannot be drawn at random here", printable_line(.input))]
    Distribution { input: String, what: &'static str },
    /// A file is outside of the data set.
    #[error("the file `{}` of the input `{}` is outside of the data set", printable_line(.path), printable_line(.input))]
    PathOutside { input: String, path: String },
    /// The outputs of the definition are random themselves.
    #[error(
        "the definition is of the type `sampling`: its outputs are random, and only their frequencies could be checked"
    )]
    Sampling,
    /// A name has another meaning in the files of a reference.
    #[error("the name `{name}` has another meaning in files of inputs")]
    ReservedName { name: String },
    /// No tolerance of the tool is like this one.
    #[error("the tolerance cannot be checked: {why}")]
    Tolerance { why: &'static str },
}

impl Expected for CaseError {
    fn exit_code(&self) -> ExitCode {
        ExitCode::Usage
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            CaseError::RandomScalar { .. } => {
                "give it a value in the workload: `{\"type\": \"scalar\", \"value\": 0.5}`"
            }
            CaseError::CustomInput { .. } => {
                "store what the function makes in a safetensors file, and name the file in the workload"
            }
            CaseError::Distribution { .. } => {
                "store such a tensor in a safetensors file, and name the file in the workload"
            }
            CaseError::ScalarOutput { .. } => "give it the shape `[]`, a tensor with one element",
            CaseError::PathOutside { .. } => "name a path below the root of the data set, without `..`",
            _ => return None,
        };
        Some(hint.to_owned())
    }
}
