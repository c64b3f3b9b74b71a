//! One case of a benchmark: recording it, generating its inputs and computing its reference.

use super::{BenchmarkEntry, kernel_ref};
use crate::catalog::{Fill, Params, RecordRequest, Recording, Role, Tensor};
use crate::error::{Error, Result};
use crate::plan::launcher::Launcher;
use crate::tensors::{CpuData, Tensors};

/// A benchmark with a value for each of its axes.
pub(crate) struct Case<'a> {
    entry: &'static BenchmarkEntry,
    params: &'a Params,
    declared: Tensors,
    tensors: Vec<Tensor>,
}

impl<'a> Case<'a> {
    /// The case, with its tensors described.
    pub(crate) fn new(entry: &'static BenchmarkEntry, params: &'a Params) -> Result<Case<'a>> {
        check_names(entry, params)?;
        let declared = (entry.problem.tensors)(params)?;
        let tensors = declared.describe(entry.problem.tolerance, kernel_ref)?;
        check_outputs(entry, &tensors)?;
        Ok(Case {
            entry,
            params,
            declared,
            tensors,
        })
    }

    /// Its tensors in order.
    pub(crate) fn tensors(&self) -> &[Tensor] {
        &self.tensors
    }

    /// Calls the benchmark function and returns what it told the launcher.
    pub(crate) fn record(self, request: &RecordRequest) -> Result<Recording> {
        let work = (self.entry.problem.work)(self.params)?;
        let path = self.entry.path();
        let mut launcher = Launcher::new(path, self.tensors, request.facts.clone(), kernel_ref);
        (self.entry.record)(self.params, &mut launcher)?;
        let (tensors, plan) = launcher.finish();
        Ok(Recording { tensors, work, plan })
    }

    /// Whether the generators write a tensor.
    pub(crate) fn is_generated(tensor: &Tensor) -> bool {
        tensor.fill == Fill::Cpu
    }

    /// Whether the reference reads or writes a tensor.
    pub(crate) fn is_operand(tensor: &Tensor) -> bool {
        tensor.role != Role::Scratch
    }

    /// Fills the tensors that CPU functions fill.
    pub(crate) fn generate(&self, seed: u64, mut data: CpuData<'_>) -> Result<()> {
        self.declared.run_generators(seed, &mut data)
    }

    /// Runs the reference.
    pub(crate) fn reference(&self, mut data: CpuData<'_>) -> Result<()> {
        (self.entry.problem.reference)(self.params, &mut data)
    }
}

/// Fails on a value for an axis that the benchmark does not have.
fn check_names(entry: &BenchmarkEntry, params: &Params) -> Result<()> {
    let axes = entry.all_axes();
    match params
        .iter()
        .find(|(name, _)| axes.iter().all(|axis| axis.name != *name))
    {
        None => Ok(()),
        Some((name, _)) => Err(Error::new(format!("`{}` has no axis `{name}`", entry.path()))),
    }
}

/// Fails on an output that the reference has no parameter for, and so cannot say what is expected of it.
fn check_outputs(entry: &BenchmarkEntry, tensors: &[Tensor]) -> Result<()> {
    let is_output = |tensor: &&Tensor| tensor.role.is_output();
    let operands = entry.problem.operands;
    match tensors
        .iter()
        .filter(is_output)
        .find(|tensor| !operands.contains(&tensor.name.as_str()))
    {
        None => Ok(()),
        Some(tensor) => Err(Error::new(format!(
            "the tensor `{}` is an output of `{}`, but no parameter of that name gives it to the reference",
            tensor.name,
            entry.problem.path()
        ))),
    }
}
