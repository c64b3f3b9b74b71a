//! What the macros' output names. No part of the interface.

pub use crate::__gpubench_origin as origin;
pub use crate::plan::launcher::{KernelValue, field_name, value};
pub use crate::registry::{BenchmarkEntry, Body, ProblemDefinition, ReferenceFunction, SourceEntry};
pub use inventory;
// A crate without the standard library has them here.
pub use std::vec;
pub use std::vec::Vec;

use crate::axis::AxisParam;
use crate::catalog::{Axis, Params, Role};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::host::Host;
use crate::plan::launcher::{BufferParam, Launcher};
use crate::registry::{Amount, amount};
use crate::tensors::CpuData;

/// A function whose parameters are not known to be those that are expected.
pub struct Candidate<F>(pub F);

/// A function with the parameters that are expected.
pub struct Fits<F>(pub F);

/// A function with other parameters.
pub struct Found<F>(pub F);

/// What a candidate is where the macro's own trait, which takes it by value, does not hold for it.
pub trait Unfit {
    /// The function.
    type Function;
    /// The function, found to be of another type.
    fn fit(self) -> Found<Self::Function>;
}

impl<F: Copy> Unfit for &Candidate<F> {
    type Function = F;
    fn fit(self) -> Found<F> {
        Found(self.0)
    }
}

/// The value of an axis for a parameter.
pub fn axis<'a, T: AxisParam<'a>>(params: &'a Params, name: &str) -> Result<T> {
    crate::axis::read(params, name)
}

/// An axis of the catalog.
pub fn axis_values<'a, T: AxisParam<'a>>(name: &str, values: impl IntoIterator<Item = T>) -> Axis {
    crate::axis::declare(name, values.into_iter().collect())
}

/// The buffer for a parameter.
///
/// # Errors
/// No such tensor, or one of another role or element type than the parameter's. `place` says where
/// the parameter is.
pub fn buffer<B: BufferParam>(launcher: &Launcher, name: &str, place: &str) -> Result<B> {
    launcher.buffer(name, place)
}

/// The memory for a parameter of a hosted benchmark.
pub fn memory<B: BufferParam>(host: &Host, name: &str, place: &str) -> Result<B> {
    host.buffer(name, place)
}

/// The value of `bytes` or `flops`.
pub fn work(option: &str, value: impl Amount) -> Result<Option<u64>> {
    amount(option, value).map(Some)
}

/// A tensor that a reference reads.
pub fn read<'a, T: Element>(data: &mut CpuData<'a>, name: &str) -> Result<&'a [T]> {
    expect_role(data, name, &[Role::Input, Role::Constant], "reads")?;
    data.take(name).map(|elements| &*elements)
}

/// A tensor that a reference writes.
pub fn write<'a, T: Element>(data: &mut CpuData<'a>, name: &str) -> Result<&'a mut [T]> {
    expect_role(data, name, &[Role::Output, Role::InOut], "writes")?;
    data.take(name)
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
