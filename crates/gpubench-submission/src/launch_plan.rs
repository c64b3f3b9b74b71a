//! The launch plan of a submission, for one case.

use gpubench::catalog::{AxisValue, Execution};
use gpubench::plan::{
    ConstantValue, Cooperation, Dependence, KernelRef, Launch, LibraryArgument, LibraryCall, Plan, Step as Planned,
};

use crate::argument::Arguments;
use crate::buffers::Buffers;
use crate::case::{Case, bytes};
use crate::description::{
    Argument, Body, Constant, FLOAT_OF_A_LIBRARY, INTEGER_OF_A_LIBRARY, LaunchStep, LibraryFunction, Placed, Step,
    Steps, Written,
};
use crate::evaluation::{evaluated, number};
use crate::expression::{Names, Value};
use crate::kernels::Which;
use crate::mistake::{Mistake, What};
use crate::number_type::NumberType;
use crate::submission::Submission;

/// How a submission runs a case.
#[derive(Clone, Debug, PartialEq)]
pub enum Launches {
    /// The worker replays a plan.
    Sealed(Plan),
    /// The worker opens the submission's library and makes a call.
    Hosted {
        /// The call.
        call: LibraryCall,
        /// Whether the call may wait for the device.
        execution: Execution,
    },
}

/// Most bytes of a `__constant__` variable: all of constant memory.
const CONSTANT_MEMORY: usize = 64 << 10;

impl Submission {
    /// Returns how the submission runs a case. `source` is the index of
    /// [`source`](Submission::source) in the catalog that the plan is for; a library has none.
    ///
    /// The plan is not checked: that it keeps to the device's limits and writes only what it may is
    /// checked with [`gpubench::plan::check`], like every plan.
    ///
    /// # Errors
    /// The description does not fit the case.
    pub fn launches(&self, case: &Case<'_>, source: u32) -> Result<Launches, Mistake> {
        match &self.description.body {
            Body::Steps(steps) => self.plan(steps, case, source).map(Launches::Sealed),
            Body::Library(function) => call(function, case),
            Body::Nothing => {
                let function = LibraryFunction {
                    function: "solution".to_owned(),
                    synchronizes: true,
                    arguments: None,
                    at: self.description.at.clone(),
                };
                call(&function, case)
            }
        }
    }

    fn plan(&self, steps: &Steps, case: &Case<'_>, source: u32) -> Result<Plan, Mistake> {
        let scratch = steps.scratch.iter().map(|buffer| size(&buffer.bytes, case));
        let scratch = scratch.collect::<Result<Vec<u64>, _>>()?;
        let buffers = Buffers::new(case, steps, &scratch)?;
        let mut planned = Vec::new();
        for step in &steps.steps {
            planned.extend(match step {
                Step::Launch(launch) => Some(Planned::Launch(self.launch(launch, case, &buffers, source)?)),
                Step::Memset { target, value, bytes } => memset(target, value, bytes.as_ref(), &buffers)?,
                Step::Copy { from, to, bytes } => copy(from, to, bytes.as_ref(), &buffers)?,
            });
        }
        let constants = steps.constants.iter();
        let constants = constants.map(|constant| constant_value(constant, case, source));
        let constants = constants.collect::<Result<_, _>>()?;
        Ok(Plan {
            steps: planned,
            scratch,
            constants,
        })
    }

    fn launch(
        &self,
        launch: &LaunchStep,
        case: &Case<'_>,
        buffers: &Buffers<'_>,
        source: u32,
    ) -> Result<Launch, Mistake> {
        let kernel = launch.kernel.as_ref();
        let name = match self.kernels.which(kernel.map(|kernel| &*kernel.inner)) {
            Which::Found(name) => name,
            // Reading refused all others.
            Which::Missing(known) | Which::Unclear(known) => {
                return Err(Mistake::new(launch.at.clone(), What::WhichKernel(known)));
            }
            Which::Template(name) => return Err(Mistake::new(launch.at.clone(), What::Template { name })),
        };
        let block = dimensions(&launch.block, &buffers.names(&[]))?;
        let grid = dimensions(&launch.grid, &buffers.names(&[("block", block)]))?;
        let known = [("block", block), ("grid", grid)];
        let names = buffers.names(&known);
        let dynamic_shared = match &launch.shared {
            Some(shared) => number(shared, &names, u64::from(u32::MAX), "a number of bytes below 4 GiB")? as u32,
            None => 0,
        };
        let arguments = Arguments {
            case,
            buffers,
            names: &names,
            kernel: &name,
            parameters: self.kernels.parameters(&name),
        };
        let (arguments, types) = arguments.of(launch)?;
        Ok(Launch {
            grid,
            block,
            cluster: dimensions(&launch.cluster, &names)?,
            dynamic_shared,
            cooperation: if launch.cooperative {
                Cooperation::Grid
            } else {
                Cooperation::Independent
            },
            dependence: if launch.programmatic {
                Dependence::Programmatic
            } else {
                Dependence::Complete
            },
            arguments,
            types,
            place: launch.at.of_line(),
            kernel: KernelRef { source, name },
        })
    }
}

/// Returns sizes along x, y and z. Missing ones are 1.
fn dimensions(written: &[Written], names: &dyn Names) -> Result<[u32; 3], Mistake> {
    let mut sizes = [1; 3];
    for (size, written) in sizes.iter_mut().zip(written) {
        *size = number(
            written,
            names,
            u64::from(u32::MAX),
            "a number of blocks or threads below 2^32",
        )? as u32;
    }
    Ok(sizes)
}

fn size(written: &Written, names: &dyn Names) -> Result<u64, Mistake> {
    number(written, names, u64::MAX, "a number of bytes below 2^64")
}

fn memset(
    target: &Placed<String>,
    value: &Written,
    bytes: Option<&Written>,
    buffers: &Buffers<'_>,
) -> Result<Option<Planned>, Mistake> {
    let buffer = buffers.needed(target)?;
    let value = number(value, &buffers.names(&[]), 255, "a byte, from 0 to 255")? as u8;
    let len = length(bytes, &buffers.names(&[]), &[(target, buffer.bytes)])?.unwrap_or(buffer.bytes);
    let target = buffer.span(len);
    // An empty tensor has nothing to set.
    Ok((len > 0).then_some(Planned::Memset { target, value }))
}

fn copy(
    from: &Placed<String>,
    to: &Placed<String>,
    bytes: Option<&Written>,
    buffers: &Buffers<'_>,
) -> Result<Option<Planned>, Mistake> {
    let (source, target) = (buffers.needed(from)?, buffers.needed(to)?);
    let len = match length(bytes, &buffers.names(&[]), &[(from, source.bytes), (to, target.bytes)])? {
        Some(len) => len,
        None if source.bytes == target.bytes => source.bytes,
        None => {
            let what = What::Lengths {
                from: from.inner.clone(),
                from_bytes: source.bytes,
                to: to.inner.clone(),
                to_bytes: target.bytes,
            };
            return Err(Mistake::new(from.at.clone(), what));
        }
    };
    let (source, target) = (source.span(len), target.span(len));
    Ok((len > 0).then_some(Planned::Copy { source, target }))
}

/// Returns how many bytes are named, if all buffers have them.
fn length(
    bytes: Option<&Written>,
    names: &dyn Names,
    buffers: &[(&Placed<String>, u64)],
) -> Result<Option<u64>, Mistake> {
    let Some(written) = bytes else { return Ok(None) };
    let bytes = size(written, names)?;
    match buffers.iter().find(|(_, has)| bytes > *has) {
        None => Ok(Some(bytes)),
        Some((name, has)) => {
            let (buffer, has) = (name.inner.clone(), *has);
            Err(Mistake::new(written.at.clone(), What::Outside { bytes, buffer, has }))
        }
    }
}

fn constant_value(constant: &Constant, case: &Case<'_>, source: u32) -> Result<ConstantValue, Mistake> {
    let most = CONSTANT_MEMORY / constant.ty.dtype().size();
    if constant.values.len() > most {
        let what = What::Many {
            key: "values".to_owned(),
            given: constant.values.len(),
            most,
        };
        return Err(Mistake::new(constant.at.clone(), what));
    }
    let values = constant.values.iter().map(|written| passed(written, constant.ty, case));
    Ok(ConstantValue {
        source,
        symbol: constant.symbol.clone(),
        bytes: values.collect::<Result<Vec<_>, _>>()?.concat(),
    })
}

/// Returns the bytes of an expression's value as a type.
fn passed(written: &Written, ty: NumberType, case: &Case<'_>) -> Result<Vec<u8>, Mistake> {
    let value = evaluated(written, case)?;
    ty.bytes(&value).map_err(|unfit| {
        let what = What::Unfit {
            argument: written.expression.to_string(),
            value: value.to_string(),
            unfit,
            written: ty.name().to_owned(),
        };
        Mistake::new(written.at.clone(), what)
    })
}

/// Returns the call of a library's function.
fn call(function: &LibraryFunction, case: &Case<'_>) -> Result<Launches, Mistake> {
    let arguments = match &function.arguments {
        Some(arguments) => arguments
            .iter()
            .map(|argument| listed(argument, case))
            .collect::<Result<_, _>>()?,
        None => all_arguments(function, case)?,
    };
    Ok(Launches::Hosted {
        call: LibraryCall {
            function: function.function.clone(),
            arguments,
            place: function.at.of_line(),
        },
        execution: if function.synchronizes {
            Execution::HostedSync
        } else {
            Execution::Hosted
        },
    })
}

/// Returns all tensors, then the integer axes.
fn all_arguments(function: &LibraryFunction, case: &Case<'_>) -> Result<Vec<LibraryArgument>, Mistake> {
    let mut arguments = Vec::new();
    for (position, tensor) in (0..).zip(case.tensors) {
        let argument = buffer(position, case);
        let too_large = || Mistake::new(function.at.clone(), What::TensorTooLarge(tensor.name.clone()));
        arguments.push(argument.ok_or_else(too_large)?);
    }
    let axes = case.params.iter().filter_map(|(_, value)| match value {
        AxisValue::Int(integer) => Some(LibraryArgument::Number {
            dtype: INTEGER_OF_A_LIBRARY.dtype(),
            bits: *integer as u64,
        }),
        AxisValue::Float(_) | AxisValue::Text(_) | AxisValue::Bool(_) => None,
    });
    arguments.extend(axes);
    Ok(arguments)
}

fn listed(argument: &Argument, case: &Case<'_>) -> Result<LibraryArgument, Mistake> {
    let written = &argument.value;
    if let Some(name) = written.expression.as_name().filter(|_| argument.ty.is_none()) {
        let mut tensors = (0..).zip(case.tensors);
        if let Some((position, tensor)) = tensors.find(|(_, tensor)| tensor.name == name) {
            let too_large = || Mistake::new(written.at.clone(), What::TensorTooLarge(tensor.name.clone()));
            return buffer(position, case).ok_or_else(too_large);
        }
        if name == "null" && case.axis(name).is_none() {
            return Ok(LibraryArgument::Null);
        }
    }
    let ty = match (argument.ty, evaluated(written, case)?) {
        (Some(ty), _) => ty,
        (None, Value::Float(_)) => FLOAT_OF_A_LIBRARY,
        (None, Value::Bool(_)) => NumberType::Number(gpubench_declarations::Number::Bool),
        (None, Value::Integer(_) | Value::Text(_)) => INTEGER_OF_A_LIBRARY,
    };
    let bytes = passed(written, ty, case)?;
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(&bytes);
    Ok(LibraryArgument::Number {
        dtype: ty.dtype(),
        bits: u64::from_le_bytes(word),
    })
}

fn buffer(position: u32, case: &Case<'_>) -> Option<LibraryArgument> {
    let tensor = &case.tensors[position as usize];
    let size = tensor.dtype.size() as u64;
    Some(LibraryArgument::Buffer {
        tensor: position,
        start: 0,
        elements: bytes(tensor)? / size,
    })
}

#[cfg(test)]
pub(crate) mod tests;
