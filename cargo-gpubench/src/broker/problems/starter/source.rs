//! Starters in C++: a kernel, and a function of host code.

use gpubench::catalog::DType;

use super::super::described::{Described, DescribedTensor};
use super::super::text::role_in_words;
use super::FileNames;
use super::operand::{Operand, OperandValue, in_cpp};
use gpubench_diagnostic::printable_line;

/// Returns a comment about the problem.
pub(super) fn about(described: &Described<'_>, tensors: &[DescribedTensor]) -> String {
    let listed = described.listed;
    let mut lines = vec![format!("{}: {}", listed.name(), listed.summary())];
    lines.extend(tensors.iter().map(|tensor| {
        let DescribedTensor {
            name, type_name, shape, ..
        } = tensor;
        format!("`{name}`: {type_name} {shape}, {}", role_in_words(tensor.role))
    }));
    lines.extend(tensors.iter().find_map(|tensor| {
        let axes = &listed.problem.outline.axes;
        let is_one_of_several = axes.iter().any(|axis| axis.names == [&*tensor.type_name]);
        is_one_of_several.then(|| {
            let DescribedTensor { type_name, dtype, .. } = tensor;
            format!("TODO: `{type_name}` has a type in each case; this is for {dtype}")
        })
    }));
    let lines = lines.iter().map(|line| {
        // A backslash at the end would continue the comment.
        let line = printable_line(line).replace('\\', "/");
        format!("// {}\n", line.trim_end())
    });
    lines.collect::<String>() + "\n"
}

/// Returns the headers of the elements.
fn headers(operands: &[Operand]) -> String {
    let header = |operand: &Operand| match operand.value {
        OperandValue::Tensor { element, .. } => match element {
            DType::F16 => Some("cuda_fp16.h"),
            DType::BF16 => Some("cuda_bf16.h"),
            DType::F8E4M3 | DType::F8E5M2 => Some("cuda_fp8.h"),
            _ => None,
        },
        OperandValue::Number(_) => None,
    };
    let mut names: Vec<&str> = operands.iter().filter_map(header).collect();
    names.sort_unstable();
    names.dedup();
    let lines: String = names.iter().map(|name| format!("#include <{name}>\n")).collect();
    match lines.is_empty() {
        true => lines,
        false => lines + "\n",
    }
}

/// Returns the outputs, for a comment.
pub(super) fn outputs(operands: &[Operand]) -> String {
    let names = operands.iter().filter(|operand| operand.is_written());
    let names: Vec<String> = names.map(|operand| format!("`{}`", operand.identifier)).collect();
    names.join(" and ")
}

/// Returns a kernel without statements.
pub(super) fn kernel(operands: &[Operand]) -> String {
    let parameters: Vec<String> = operands.iter().map(|operand| operand.declared(in_cpp)).collect();
    format!(
        "{}__global__ void solution({}) {{\n    \
         size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;\n    \
         (void)i; // TODO: write {}.\n}}\n",
        headers(operands),
        parameters.join(", "),
        outputs(operands),
    )
}

/// Returns a function of C without statements. Its tensors of 8 and 16 bits have no type of C.
pub(super) fn function(operands: &[Operand], names: &FileNames) -> String {
    let element = |element| match element {
        DType::F16 | DType::BF16 | DType::F8E4M3 | DType::F8E5M2 | DType::Complex32 => "void",
        plain => in_cpp(plain),
    };
    let parameters: Vec<String> = operands.iter().map(|operand| operand.declared(element)).collect();
    format!(
        "#include <stddef.h>\n\n\
         // Compile it: nvcc -shared -Xcompiler -fPIC -o {library} {source}\n\
         // Then grade {library}, with {description} next to it.\n\
         // The tensors are in device memory. A call may allocate and wait for the device.\n\
         extern \"C\" void solution({}) {{\n    \
         // TODO: write {}.\n}}\n",
        parameters.join(", "),
        outputs(operands),
        library = names.library,
        source = names.source,
        description = names.description,
    )
}
