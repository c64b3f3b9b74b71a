//! One case of a benchmark: recording it, generating its inputs and computing its reference.

use super::{BenchmarkEntry, Body, kernel_ref};
use crate::catalog::{Execution, Fill, Params, RecordRequest, Recording, Role, Tensor};
use crate::error::{Error, Result};
use crate::host::{Host, HostCall};
use crate::plan::Plan;
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

    /// Calls the benchmark function and returns what it told the launcher; a hosted benchmark's is left for the worker to call.
    pub(crate) fn record(self, request: &RecordRequest) -> Result<Recording> {
        let work = (self.entry.problem.work)(self.params)?;
        let Body::Sealed(describe) = self.entry.body else {
            return Ok(Recording {
                tensors: self.tensors,
                work,
                plan: Plan::default(),
                execution: Execution::Hosted,
            });
        };
        let path = self.entry.path();
        let mut launcher = Launcher::new(path, self.tensors, request.facts.clone(), kernel_ref);
        describe(self.params, &mut launcher)?;
        let (tensors, plan) = launcher.finish();
        Ok(Recording {
            tensors,
            work,
            plan,
            execution: Execution::Sealed,
        })
    }

    /// Calls the function of a hosted benchmark and returns the call that it declares.
    pub(crate) fn host(self, mut host: Host) -> Result<HostCall> {
        let Body::Hosted(set_up) = self.entry.body else {
            let path = self.entry.path();
            return Err(Error::new(format!("`{path}` is not hosted: it has a plan")));
        };
        set_up(self.params, &mut host)?;
        host.into_call()
    }

    /// The benchmark's path.
    pub(crate) fn path(&self) -> String {
        self.entry.path()
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
