//! The registration of a problem.

use super::path;
use crate::catalog::{Axis, DeviceKind, Params, ReferenceKind, Requirement, Tolerance, Work};
use crate::error::{Error, Result};
use crate::plan::launcher::Launcher;
use crate::tensors::{CheckData, Comparison, CpuData, Tensors};

/// A problem that several benchmarks solve. [`#[problem]`](macro@crate::problem) implements it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a problem",
    label = "not a problem",
    note = "a problem is a function with `#[problem(axes(..), tensors = .., ..)]`"
)]
pub trait Problem {
    #[doc(hidden)]
    const DEFINITION: &'static ProblemDefinition;
}

/// The definition of a problem: axes, tensors, comparison of outputs, reference and cost.
#[doc(hidden)]
pub struct ProblemDefinition {
    /// `module_path!` of the problem, or of the benchmark that defines it.
    pub module: &'static str,
    pub name: &'static str,
    /// Names of the axes, as a compile-time constant.
    pub axis_names: &'static [&'static str],
    pub axes: fn() -> Vec<Axis>,
    pub device_axes: fn() -> Vec<(DeviceKind, Vec<Axis>)>,
    pub requirements: &'static [Requirement],
    /// Fails if the axes do not meet `requires(if = ..)`.
    pub condition: fn(&Params) -> Result<()>,
    /// `exact` or `tolerance(..)`.
    pub tolerance: Option<Tolerance>,
    /// Terms of a sum, by `reduction = ..`.
    pub reduction: fn(&Params) -> Result<Option<u64>>,
    pub tensors: fn(&Params) -> Result<Tensors>,
    pub work: fn(&Params) -> Result<Work>,
    /// Names of the counters of `work`.
    pub counters: &'static [&'static str],
    /// Findings of `cargo gpubench lint` that its author accepts.
    pub allowed: &'static [&'static str],
    /// Parameters of the reference.
    pub operands: &'static [&'static str],
    pub reference: ReferenceFunction,
    /// References for one kind of device, which replace it.
    pub device_references: &'static [(DeviceKind, ReferenceFunction)],
    /// `check = ..`
    pub check: Option<CheckFunction>,
}

/// A check of a call's outputs, as the attribute registers it.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct CheckFunction {
    /// The outer error is that of the arguments. The inner one rejects the outputs.
    pub judge: fn(&Params, &mut CheckData<'_>) -> Result<Result<()>>,
    pub comparand: Comparand,
}

/// What judges outputs besides a check.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparand {
    /// A reference, for the elements that the check does not accept.
    Reference,
    /// Nothing: what the check does not reject is right.
    Nothing,
}

/// The reference function, as the attribute registers it.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub enum ReferenceFunction {
    /// Runs on the CPU, in the author process.
    Cpu(fn(&Params, &mut CpuData<'_>) -> Result<()>),
    /// Records launches, as a benchmark function does.
    Launch(fn(&Params, &mut Launcher) -> Result<()>),
    /// A command: program and arguments, and the root of the package.
    Provider {
        command: &'static [&'static str],
        folder: &'static str,
    },
}

impl ReferenceFunction {
    /// Returns what it is, for people who cannot call it.
    pub(super) const fn kind(&self) -> ReferenceKind {
        match self {
            ReferenceFunction::Cpu(_) => ReferenceKind::Function,
            ReferenceFunction::Launch(_) => ReferenceKind::Launches,
            ReferenceFunction::Provider { .. } => ReferenceKind::Command,
        }
    }
}

impl ProblemDefinition {
    /// Returns the reference for a kind of device.
    pub(super) fn reference_on(&self, device: DeviceKind) -> ReferenceFunction {
        let of_device = self.device_references.iter().find(|(kind, _)| *kind == device);
        of_device.map_or(self.reference, |(_, reference)| *reference)
    }

    pub(super) fn path(&self) -> String {
        path(self.module, self.name)
    }

    /// Returns how floating-point outputs are compared that do not say it themselves.
    ///
    /// # Errors
    /// `reduction = ..` is not a number of terms.
    pub(super) fn comparison(&self, params: &Params) -> Result<Comparison> {
        if self.check.is_some_and(|check| check.comparand == Comparand::Nothing) {
            return Ok(Comparison::ByCheck);
        }
        match (self.tolerance, (self.reduction)(params)?) {
            (Some(stated), _) => Ok(Comparison::Stated(stated)),
            (None, Some(0)) => Err(Error::new(
                "`reduction` is 0: it is the number of terms in a sum, at least 1",
            )),
            (None, terms) => Ok(Comparison::OfType {
                terms: terms.unwrap_or(1),
            }),
        }
    }

    /// Returns whether the problem has this axis. The macros call it at compile time.
    pub const fn has_axis(&self, name: &str) -> bool {
        let mut position = 0;
        while position < self.axis_names.len() {
            if same(self.axis_names[position], name) {
                return true;
            }
            position += 1;
        }
        false
    }
}

/// Compares two strings in a constant context.
const fn same(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    if left.len() != right.len() {
        return false;
    }
    let mut position = 0;
    while position < left.len() {
        if left[position] != right[position] {
            return false;
        }
        position += 1;
    }
    true
}

/// A number of bytes, operations or items: an integer, or a floating-point number, which is
/// rounded.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a number of bytes, operations or items: write an integer or a float"
)]
pub trait Amount: Copy + std::fmt::Display {
    #[doc(hidden)]
    fn amount(self) -> Option<u64>;
}

macro_rules! amounts {
    ($($integer:ident)*) => {$(
        impl Amount for $integer {
            fn amount(self) -> Option<u64> {
                self.try_into().ok()
            }
        }
    )*};
}

amounts!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);

impl Amount for f64 {
    fn amount(self) -> Option<u64> {
        // 2^64, the first number that does not fit.
        (0.0..18_446_744_073_709_551_616.0)
            .contains(&self)
            .then_some(self.round() as u64)
    }
}

impl Amount for f32 {
    fn amount(self) -> Option<u64> {
        f64::from(self).amount()
    }
}

/// Returns the value of `bytes = ..`, `flops = ..` or a counter.
pub(crate) fn amount(option: &str, value: impl Amount) -> Result<u64> {
    value.amount().ok_or_else(|| {
        Error::new(format!(
            "`{option}` is `{value}`, which is not a number from 0 to 2^64 - 1"
        ))
    })
}
