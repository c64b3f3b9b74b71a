//! A starter with a function of TVM-FFI.

use super::FileNames;
use super::operand::{Operand, OperandValue};
use super::source::outputs;

/// Returns a function without statements, in the C++ of TVM-FFI.
pub(super) fn function(operands: &[Operand], names: &FileNames) -> String {
    let parameters = operands.iter().map(|operand| {
        let ty = match operand.value {
            OperandValue::Tensor { .. } => "tvm::ffi::TensorView",
            OperandValue::Number(scalar) => match scalar.in_cpp {
                "float" | "double" => "double",
                "bool" => "bool",
                _ => "int64_t",
            },
        };
        format!("{ty} {}", operand.identifier)
    });
    let parameters: Vec<String> = parameters.collect();
    format!(
        "#include <stdint.h>\n#include <tvm/ffi/container/tensor.h>\n#include <tvm/ffi/function.h>\n\n\
         // Compile it: nvcc -shared -Xcompiler -fPIC -o {library} {source} $FLAGS\n\
         // FLAGS: $(tvm-ffi-config --cxxflags --ldflags --libs)\n\
         // Then grade {library}, with {description} next to it.\n\
         // `TensorView` has `data_ptr()`, `ndim()` and `size(0)`.\n\
         // A call may allocate and wait for the device.\n\
         static void solution({}) {{\n    \
         // TODO: write {}.\n}}\n\n\
         TVM_FFI_DLL_EXPORT_TYPED_FUNC(solution, solution);\n",
        parameters.join(", "),
        outputs(operands),
        library = names.library,
        source = names.source,
        description = names.description,
    )
}
