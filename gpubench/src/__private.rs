//! Items that the macros' output names. Not part of the public interface.

pub use crate::__gpubench_origin as origin;
pub use crate::case_file::{CaseFormat, Cell, CellReader, cell};
pub use crate::plan::launcher::{AnyElement, Byte, KernelValue, field_name, integer, value};
pub use crate::registry::{
    BenchmarkEntry, Body, CheckFunction, Comparand, ProblemDefinition, ProblemStatement, ReferenceFunction,
    SourceEntry, StatedParameter,
};
pub use crate::tensors::CheckData;
pub use inventory;
// For `no_std` crates, which do not have these in scope.
pub use std::vec;
pub use std::vec::Vec;

use crate::axis::{AxisParam, article};
use crate::catalog::{Axis, AxisValue, Counter, Draw, Params, Role};
use crate::element::{Element, Number};
pub use crate::element::{Elements, FieldType, RecordType, StructField, field, struct_elements};
use crate::error::{Error, Result};
use crate::host::Host;
use crate::library::Library;
use crate::plan::launcher::{BufferParam, Grid, KernelArg, Launcher, RecordedArgument};
use crate::registry::{Amount, amount};
use crate::source::CudaSource;
use crate::tensors::{Answer, CpuData};

/// A function whose signature has yet to be compared with the expected one.
pub struct Candidate<F>(pub F);

/// A function with the expected parameters.
pub struct Fits<F>(pub F);

/// A function with other parameters.
pub struct Found<F>(pub F);

/// The fallback for a [`Candidate`]: applies when the macro's trait, which takes the candidate by
/// value, does not.
pub trait Unfit {
    /// The function's type.
    type Function;
    /// Marks the function as having other parameters.
    fn fit(self) -> Found<Self::Function>;
}

impl<F: Copy> Unfit for &Candidate<F> {
    type Function = F;
    fn fit(self) -> Found<F> {
        Found(self.0)
    }
}

/// Returns the value of an axis as the parameter's type.
pub fn axis<'a, T: AxisParam<'a>>(params: &'a Params, name: &str) -> Result<T> {
    crate::axis::read(params, name)
}

/// Returns the error for types that a benchmark does not list.
pub fn no_instance(parameters: &[&str], types: &[&str]) -> Error {
    let chosen = parameters.iter().zip(types);
    let chosen: Vec<String> = chosen.map(|(parameter, ty)| format!("`{parameter}={ty}`")).collect();
    Error::skip(format!("its `types(..)` do not have {}", chosen.join(", ")))
}

/// Returns an axis for the catalog.
pub fn axis_values<'a, T: AxisParam<'a>>(name: &str, values: impl IntoIterator<Item = T>) -> Axis {
    crate::axis::declare(name, values.into_iter().collect())
}

/// Returns the values of a group, whose type is then known.
pub fn tuples<T>(values: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
    values.into_iter()
}

/// Returns a value of an axis for the catalog.
pub fn axis_value<'a, T: AxisParam<'a>>(value: T) -> AxisValue {
    value.into_value()
}

/// Returns a group of axes for the catalog.
pub fn group_values(names: &[&str], values: impl Iterator<Item = Vec<AxisValue>>) -> Axis {
    Axis {
        names: names.iter().map(|name| (*name).to_owned()).collect(),
        values: values.collect(),
    }
}

/// Returns the range that the values of an axis are drawn from, as the parameter's type.
///
/// # Panics
/// The range is empty, or not of integers. The panic's location is the range.
#[track_caller]
pub fn draw<'a, T: AxisParam<'a>>(name: &str, least: T, end: T, includes_end: bool) -> Draw {
    let (AxisValue::Int(least), AxisValue::Int(end)) = (least.into_value(), end.into_value()) else {
        panic!(
            "only integers can be drawn, and the axis `{name}` is {}",
            article(T::NAME)
        );
    };
    let most = if includes_end { Some(end) } else { end.checked_sub(1) };
    match most.filter(|most| *most >= least) {
        Some(most) => Draw {
            name: name.to_owned(),
            least,
            most,
        },
        None => panic!("the range of `{name}` is empty: from {least} to {end}"),
    }
}

/// Returns the axes with the values of a file, as they are listed.
///
/// # Panics
/// The file cannot be read. The panic's location is the option.
#[track_caller]
pub fn file_values(format: CaseFormat, file: &str, text: &str, names: &[&str], cells: &[CellReader]) -> Axis {
    match crate::case_file::read(format, file, text, names, cells) {
        Ok(axis) => axis,
        Err(reason) => panic!("{reason}"),
    }
}

/// Returns the buffer for a parameter. `place` is the parameter's location.
///
/// # Errors
/// Returns an error if the tensor does not exist, or has another role or element type than the
/// parameter.
pub fn buffer<B: BufferParam>(launcher: &Launcher, name: &str, place: &str) -> Result<B> {
    launcher.buffer(name, place)
}

/// Returns the buffer for a parameter of a hosted benchmark.
pub fn memory<B: BufferParam>(host: &Host, name: &str, place: &str) -> Result<B> {
    host.buffer(name, place)
}

/// Returns the buffer for a parameter of a benchmark with a library of its own.
pub fn operand<B: BufferParam>(library: &Library, name: &str, place: &str) -> Result<B> {
    library.buffer(name, place)
}

/// Returns an argument that fits its parameter whatever its value.
pub fn argument(argument: impl KernelArg) -> Result<RecordedArgument> {
    Ok(argument.argument())
}

/// Launches a kernel of a source.
///
/// # Errors
/// Returns the error of an argument, or of the launch.
#[track_caller]
pub fn launch(
    launcher: &mut Launcher,
    kernel: (&'static CudaSource, &'static str),
    grid: Grid,
    arguments: Vec<Result<RecordedArgument>>,
) -> Result<()> {
    let (source, name) = kernel;
    let in_order = (1..).zip(arguments);
    let arguments = in_order
        .map(|(position, argument)| argument.map_err(|error: Error| error.context(format!("argument {position}"))));
    launcher.launch_recorded(&source.kernel(name), grid, arguments.collect())
}

/// Returns the value of `bytes` or `flops`.
pub fn work(option: &str, value: impl Amount) -> Result<Option<u64>> {
    amount(option, value).map(Some)
}

/// Returns a counter of `counters(..)`.
pub fn counter(name: &str, value: impl Amount) -> Result<Counter> {
    Ok(Counter {
        name: name.to_owned(),
        amount: amount(name, value)?,
    })
}

/// Returns a tensor that a reference reads.
pub fn read<'a, T: Element>(data: &mut CpuData<'a>, name: &str) -> Result<&'a [T]> {
    expect_role(data, name, &[Role::Input, Role::Constant], "reads")?;
    data.take(name).map(|elements| &*elements)
}

/// Returns a tensor that a reference writes.
pub fn write<'a, T: Element>(data: &mut CpuData<'a>, name: &str) -> Result<&'a mut [T]> {
    expect_role(data, name, &[Role::Output, Role::InOut], "writes")?;
    data.take(name)
}

/// Returns a tensor that a check reads.
pub fn checked_input<'a, T: Element>(data: &mut CheckData<'a>, name: &str) -> Result<&'a [T]> {
    data.input(name)
}

/// Returns an output that a check judges.
pub fn answer<'a, T: Number>(data: &mut CheckData<'a>, name: &str) -> Result<Answer<'a, T>> {
    data.answer(name)
}

fn expect_role(data: &CpuData<'_>, name: &str, roles: &[Role], verb: &str) -> Result<()> {
    match data.role(name) {
        Some(role) if !roles.contains(&role) => {
            let role = crate::plan::launcher::type_of(role);
            Err(Error::new(format!(
                "the reference {verb} `{name}`, but the tensor is declared as `{role}`"
            )))
        }
        _ => Ok(()),
    }
}
