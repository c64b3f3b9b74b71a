//! The parameters of a submission, as CUDA C++ and PTX declare them.

use gpubench::catalog::{AxisValue, DType, ParameterKind, Role};

use super::super::described::{Described, DescribedTensor};

/// A parameter of a submission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Operand {
    /// The name in the problem.
    pub(super) name: String,
    /// The name in the source, which is no word of C++.
    pub(super) identifier: String,
    pub(super) value: OperandValue,
}

/// What is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OperandValue {
    /// The address of a tensor.
    Tensor {
        element: DType,
        role: Role,
    },
    Number(Scalar),
}

/// The type of a scalar: in C++, and in PTX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scalar {
    pub(super) in_cpp: &'static str,
    pub(super) in_ptx: &'static str,
}

const fn scalar(in_cpp: &'static str, in_ptx: &'static str) -> Scalar {
    Scalar { in_cpp, in_ptx }
}

/// Types of axes.
const SCALARS: [(&str, Scalar); 13] = [
    ("u8", scalar("unsigned char", "u8")),
    ("i8", scalar("signed char", "s8")),
    ("u16", scalar("unsigned short", "u16")),
    ("i16", scalar("short", "s16")),
    ("u32", scalar("unsigned int", "u32")),
    ("i32", scalar("int", "s32")),
    ("u64", scalar("unsigned long long", "u64")),
    ("i64", scalar("long long", "s64")),
    ("usize", scalar("size_t", "u64")),
    ("isize", scalar("long long", "s64")),
    ("f32", scalar("float", "f32")),
    ("f64", scalar("double", "f64")),
    ("bool", scalar("bool", "u8")),
];

/// Returns the tensors, then the axes that can be passed: a text cannot.
pub(super) fn operands(described: &Described<'_>, tensors: &[DescribedTensor]) -> Vec<Operand> {
    let of = |name: &str, value| Operand {
        name: name.to_owned(),
        identifier: identifier(name),
        value,
    };
    let passed = tensors.iter().map(|tensor| {
        let value = OperandValue::Tensor {
            element: tensor.dtype,
            role: tensor.role,
        };
        of(&tensor.name, value)
    });
    let first = described.first.iter().flatten();
    let parameters = &described.listed.problem.signature;
    let numbers = parameters
        .iter()
        .filter(|parameter| parameter.kind == ParameterKind::Axis)
        .filter_map(|parameter| {
            let named = SCALARS.iter().find(|(name, _)| *name == parameter.type_name);
            let (_, value) = first.clone().find(|(name, _)| *name == parameter.name)?;
            let of_value = match value {
                AxisValue::Int(_) => Some("i64"),
                AxisValue::Float(_) => Some("f64"),
                AxisValue::Bool(_) => Some("bool"),
                AxisValue::Text(_) => None,
            };
            let of_value = SCALARS.iter().find(|(name, _)| Some(*name) == of_value)?;
            let (_, scalar) = named.unwrap_or(of_value);
            Some(of(&parameter.name, OperandValue::Number(*scalar)))
        });
    let mut operands: Vec<Operand> = Vec::new();
    for mut operand in passed.chain(numbers).filter(|operand| is_name(&operand.name)) {
        while operands.iter().any(|other| other.identifier == operand.identifier) {
            operand.identifier.push('_');
        }
        operands.push(operand);
    }
    operands
}

/// Whether an argument can be called so: a function that makes tensors may name them anything.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
}

/// Returns the type of elements in CUDA C++.
pub(super) fn in_cpp(element: DType) -> &'static str {
    match element {
        DType::U8 => "unsigned char",
        DType::I8 => "signed char",
        DType::U16 => "unsigned short",
        DType::I16 => "short",
        DType::U32 => "unsigned int",
        DType::I32 => "int",
        DType::U64 => "unsigned long long",
        DType::I64 => "long long",
        DType::F16 => "__half",
        DType::BF16 => "__nv_bfloat16",
        DType::F32 => "float",
        DType::F64 => "double",
        DType::F8E4M3 => "__nv_fp8_e4m3",
        DType::F8E5M2 => "__nv_fp8_e5m2",
        DType::Complex32 => "float2",
    }
}

impl Operand {
    /// Whether it is an output.
    pub(super) fn is_written(&self) -> bool {
        matches!(self.value, OperandValue::Tensor { role, .. } if role.is_output())
    }

    /// Returns the parameter in C++, with the type of a tensor's elements by `element_in_cpp`.
    pub(super) fn declared(&self, element_in_cpp: impl Fn(DType) -> &'static str) -> String {
        let name = &self.identifier;
        match self.value {
            OperandValue::Number(scalar) => format!("{} {name}", scalar.in_cpp),
            OperandValue::Tensor { element, role } => {
                let constant = match role {
                    Role::Input | Role::Constant => "const ",
                    Role::Output | Role::InOut | Role::Scratch => "",
                };
                format!("{constant}{} *{name}", element_in_cpp(element))
            }
        }
    }
}

/// Words that cannot name a parameter, beyond those of Rust, and names that a starter uses.
const TAKEN: &[&str] = &[
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "asm",
    "auto",
    "bitand",
    "bitor",
    "bool",
    "case",
    "catch",
    "char",
    "class",
    "compl",
    "concept",
    "const_cast",
    "consteval",
    "constexpr",
    "constinit",
    "decltype",
    "default",
    "delete",
    "double",
    "dynamic_cast",
    "explicit",
    "export",
    "float",
    "friend",
    "goto",
    "i",
    "inline",
    "int",
    "long",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "private",
    "protected",
    "public",
    "register",
    "reinterpret_cast",
    "requires",
    "short",
    "signed",
    "sizeof",
    "solution",
    "static_assert",
    "static_cast",
    "switch",
    "template",
    "this",
    "thread_local",
    "throw",
    "typedef",
    "typeid",
    "typename",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "wchar_t",
    "xor",
    "xor_eq",
    // Of Rust, as raw identifiers.
    "break",
    "const",
    "continue",
    "do",
    "else",
    "enum",
    "extern",
    "false",
    "for",
    "if",
    "return",
    "static",
    "struct",
    "true",
    "try",
    "while",
    // Macros and variables of CUDA C++.
    "NULL",
    "blockIdx",
    "blockDim",
    "gridDim",
    "threadIdx",
    "warpSize",
    "size_t",
    "half",
    "linux",
    "unix",
];

/// Returns a name for C++.
fn identifier(name: &str) -> String {
    let plain: String = name
        .chars()
        .map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' })
        .collect();
    match TAKEN.contains(&&*plain) {
        true => plain + "_",
        false => plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_of_cpp_is_no_name() {
        assert_eq!(identifier("matrix"), "matrix");
        assert_eq!(identifier("double"), "double_");
        assert_eq!(identifier("größe"), "gr__e");
    }

    #[test]
    fn a_read_tensor_is_constant_and_a_number_has_its_own_type() {
        let operand = |name: &str, value| Operand {
            name: name.to_owned(),
            identifier: identifier(name),
            value,
        };
        let tensor = |role| OperandValue::Tensor {
            element: DType::BF16,
            role,
        };
        let declared = |operand: &Operand| operand.declared(in_cpp);
        assert_eq!(declared(&operand("x", tensor(Role::Input))), "const __nv_bfloat16 *x");
        assert_eq!(declared(&operand("y", tensor(Role::InOut))), "__nv_bfloat16 *y");
        let count = OperandValue::Number(scalar("size_t", "u64"));
        assert_eq!(declared(&operand("rows", count)), "size_t rows");
    }
}
