//! A definition with a workload, as a case that `cargo gpubench` can measure.

mod argument;
mod axes;
mod error;
mod fill;
mod reference;
mod reserved;
mod scalar;
mod tolerance;

use gpubench::catalog::{DType, Fill, Params, Role, Tensor, Tolerance};

pub use argument::Argument;
pub use error::CaseError;
pub use reference::ReferenceProgram;
pub use tolerance::Difference;

use crate::definition::{Definition, ElementType, TensorSpec};
use crate::dialect::Dialect;
use crate::solution::inside;
use crate::workload::{InputSpec, ToleranceSpec, Workload};
use axes::Axes;
use reserved::reserved;

/// A case. Its tensors are the inputs and then the outputs, each in the order of the definition.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// The tensors.
    pub tensors: Vec<Tensor>,
    /// The type that the definition gives each tensor. A `bool` is a [`DType::U8`] with 0 or 1 in
    /// `tensors`, and still a `bool` for the kernel.
    pub element_types: Vec<ElementType>,
    /// The parameters of the kernel, in order: inputs, then outputs.
    pub arguments: Vec<Argument>,
    /// The axes in the order of the definition, then the scalars.
    pub params: Params,
    /// Where the contents of tensors with [`Fill::Stored`] are.
    pub files: Vec<InputFile>,
    /// The reference, for a [provider](gpubench::catalog::Reference::Provider).
    pub reference: ReferenceProgram,
    /// Where the check is not exactly that of the format.
    pub differences: Vec<Difference>,
    /// Constraints that were not checked: they name something besides axes, or do not compare two
    /// expressions.
    pub unread_constraints: Vec<String>,
}

/// Where the contents of a tensor are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputFile {
    /// Position of the tensor among those of the case.
    pub tensor: usize,
    /// Path of a safetensors file from the root of the data set. It stays below the root, unless a
    /// folder there is a link.
    pub path: String,
    /// Name of the tensor in the file.
    pub tensor_key: String,
}

impl Case {
    /// Makes a case. Without `tolerance`, that of the workload counts. What it does not say is the
    /// default of the format.
    ///
    /// # Errors
    /// Something in it cannot be expressed, which the error names.
    pub fn new(
        dialect: Dialect,
        definition: &Definition,
        workload: &Workload,
        tolerance: Option<ToleranceSpec>,
    ) -> Result<Case, CaseError> {
        if definition.op_type.as_deref() == Some("sampling") {
            return Err(CaseError::Sampling);
        }
        let (axes, unread_constraints) = Axes::resolve(definition, workload)?;
        let unknown = workload
            .inputs
            .names()
            .find(|input| definition.inputs.get(input).is_none());
        if let Some(input) = unknown {
            return Err(CaseError::UnknownInput {
                input: input.to_owned(),
            });
        }
        let spec = tolerance.or(workload.tolerance).unwrap_or_default();
        let (tolerance, differences) = tolerance::converted(dialect, spec)?;
        let mut builder = Builder {
            dialect,
            axes: &axes,
            tensors: Vec::new(),
            element_types: Vec::new(),
            arguments: Vec::new(),
            files: Vec::new(),
        };
        for (name, tensor) in definition.inputs.iter() {
            let from = workload.inputs.get(name).unwrap_or(&InputSpec::Random);
            builder.input(name, tensor, from)?;
        }
        for (name, tensor) in definition.outputs.iter() {
            builder.output(name, tensor, tolerance)?;
        }
        if definition.outputs.is_empty() {
            return Err(CaseError::NoOutput);
        }
        let Builder {
            tensors,
            element_types,
            arguments,
            files,
            ..
        } = builder;
        let mut params = axes.params()?;
        params.extend(arguments.iter().filter_map(|argument| match argument {
            Argument::Tensor(_) => None,
            Argument::Scalar { name, value, .. } => Some((name.clone(), scalar::param(*value))),
        }));
        let reference = ReferenceProgram::new(
            &definition.reference,
            &tensors,
            &element_types,
            &arguments,
            &params,
            spec.allow_negative_inf,
        );
        Ok(Case {
            tensors,
            element_types,
            arguments,
            params,
            files,
            reference,
            differences,
            unread_constraints,
        })
    }
}

struct Builder<'a> {
    dialect: Dialect,
    axes: &'a Axes,
    tensors: Vec<Tensor>,
    element_types: Vec<ElementType>,
    arguments: Vec<Argument>,
    files: Vec<InputFile>,
}

impl Builder<'_> {
    fn input(&mut self, name: &str, spec: &TensorSpec, from: &InputSpec) -> Result<(), CaseError> {
        let input = || name.to_owned();
        let Some(shape) = &spec.shape else {
            return self.scalar(name, spec.dtype, from);
        };
        let shape = self.axes.shape(name, shape)?;
        let (role, fill) = match from {
            InputSpec::Random => {
                let dtype = dtype_of(name, spec.dtype)?;
                let fill = fill::fill_of(self.dialect, name, &shape, dtype, spec)?;
                (Role::Input, fill)
            }
            InputSpec::Custom => return Err(CaseError::CustomInput { input: input() }),
            InputSpec::Scalar(_) => return Err(CaseError::ScalarForTensor { input: input() }),
            InputSpec::Safetensors { path, tensor_key } => {
                if inside(path).is_none() {
                    let path = path.clone();
                    return Err(CaseError::PathOutside { input: input(), path });
                }
                self.files.push(InputFile {
                    tensor: self.tensors.len(),
                    path: path.clone(),
                    tensor_key: tensor_key.clone(),
                });
                (Role::Constant, Fill::Stored)
            }
        };
        self.tensor(name, spec.dtype, shape, (role, fill, Tolerance::Exact))
    }

    fn scalar(&mut self, name: &str, element_type: ElementType, from: &InputSpec) -> Result<(), CaseError> {
        let input = || name.to_owned();
        reserved(name)?;
        let value = match from {
            InputSpec::Scalar(value) => *value,
            InputSpec::Random => return Err(CaseError::RandomScalar { input: input() }),
            InputSpec::Custom => return Err(CaseError::CustomInput { input: input() }),
            InputSpec::Safetensors { .. } => return Err(CaseError::TensorForScalar { input: input() }),
        };
        let converted = scalar::converted(value, element_type);
        let value = converted.ok_or_else(|| CaseError::ScalarType {
            input: input(),
            element_type,
            value,
        })?;
        self.arguments.push(Argument::Scalar {
            name: input(),
            element_type,
            value,
        });
        Ok(())
    }

    fn output(&mut self, name: &str, spec: &TensorSpec, tolerance: Tolerance) -> Result<(), CaseError> {
        let shape = spec.shape.as_ref().ok_or_else(|| CaseError::ScalarOutput {
            output: name.to_owned(),
        })?;
        let shape = self.axes.shape(name, shape)?;
        self.tensor(name, spec.dtype, shape, (Role::Output, Fill::Poison, tolerance))
    }

    fn tensor(
        &mut self,
        name: &str,
        element_type: ElementType,
        shape: Vec<u64>,
        (role, fill, tolerance): (Role, Fill, Tolerance),
    ) -> Result<(), CaseError> {
        reserved(name)?;
        let dtype = dtype_of(name, element_type)?;
        // Without its zeros, so that no product of some extents overflows.
        let elements = shape
            .iter()
            .try_fold(1_u64, |product, extent| product.checked_mul((*extent).max(1)));
        let bytes = elements.and_then(|elements| elements.checked_mul(dtype.size() as u64));
        if bytes.is_none_or(|bytes| bytes > MOST_BYTES) {
            return Err(CaseError::TooLarge {
                tensor: name.to_owned(),
                shape,
            });
        }
        self.arguments.push(Argument::Tensor(self.tensors.len()));
        self.element_types.push(element_type);
        self.tensors.push(Tensor {
            name: name.to_owned(),
            dtype,
            shape,
            role,
            fill,
            tolerance,
            record: None,
        });
        Ok(())
    }
}

/// Most bytes of a tensor: more than any device has.
const MOST_BYTES: u64 = 1 << 46;

/// Returns the type of the elements in memory.
fn dtype_of(tensor: &str, element_type: ElementType) -> Result<DType, CaseError> {
    Ok(match element_type {
        ElementType::Float64 => DType::F64,
        ElementType::Float32 => DType::F32,
        ElementType::Float16 => DType::F16,
        ElementType::Bfloat16 => DType::BF16,
        ElementType::Float8E4M3 => DType::F8E4M3,
        ElementType::Float8E5M2 => DType::F8E5M2,
        ElementType::Int64 => DType::I64,
        ElementType::Int32 => DType::I32,
        ElementType::Int16 => DType::I16,
        ElementType::Int8 => DType::I8,
        ElementType::Bool => DType::U8,
        ElementType::Float4 | ElementType::Float4Pairs => {
            return Err(CaseError::ElementType {
                tensor: tensor.to_owned(),
                element_type,
            });
        }
    })
}

#[cfg(test)]
mod tests;
