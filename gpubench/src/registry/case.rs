//! One case of a benchmark: recording it, generating its inputs and computing its reference.

use super::{BenchmarkEntry, Body, Comparand, ReferenceFunction, kernel_ref};
use crate::catalog::{
    DeviceKind, Execution, OccupancyQuery, Params, Provider, RecordRequest, Recording, Reference, Role, Tensor,
};
use crate::error::{Error, Result};
use crate::host::{Host, HostCall};
use crate::library::Library;
use crate::plan::launcher::{Launcher, no_tensor};
use crate::plan::{LibraryCall, Plan};
use crate::tensors::{CheckData, CpuData, Tensors};

/// A benchmark with one value per axis.
pub(crate) struct Case<'a> {
    entry: &'static BenchmarkEntry,
    params: &'a Params,
    declared: Tensors,
    tensors: Vec<Tensor>,
}

/// The reason why a case could not be recorded.
pub(crate) enum Unrecorded {
    /// It depends on an occupancy that is not known yet.
    NeedsOccupancy(OccupancyQuery),
    /// The user's code failed.
    Failed(Error),
}

impl From<Error> for Unrecorded {
    fn from(error: Error) -> Unrecorded {
        Unrecorded::Failed(error)
    }
}

impl<'a> Case<'a> {
    /// Returns the case with its tensors.
    pub(crate) fn new(entry: &'static BenchmarkEntry, params: &'a Params) -> Result<Case<'a>> {
        entry.check_axes(params)?;
        check_names(entry, params)?;
        (entry.problem.condition)(params)?;
        (entry.condition)(params)?;
        let declared = (entry.problem.tensors)(params)?;
        let tensors = declared.describe(entry.problem.comparison(params)?, kernel_ref)?;
        Ok(Case {
            entry,
            params,
            declared,
            tensors,
        })
    }

    /// Returns its tensors in order.
    pub(crate) fn tensors(&self) -> &[Tensor] {
        &self.tensors
    }

    /// Calls the benchmark function and returns the recording. The function of a benchmark with
    /// host code in this library is left to the worker.
    pub(crate) fn record(self, request: &RecordRequest) -> Result<Recording, Unrecorded> {
        let problem = self.entry.problem;
        let work = (problem.work)(self.params)?;
        let reference = match problem.reference_on(request.facts.kind) {
            ReferenceFunction::Cpu(_) if problem.check.is_some() => Reference::Checked,
            ReferenceFunction::Cpu(_) => Reference::Author,
            ReferenceFunction::Launch(_) | ReferenceFunction::Provider { .. } if problem.check.is_some() => {
                let message =
                    "a check runs on the CPU, and needs a reference on the CPU, not `launch(..)` or `provider(..)`";
                return Err(Error::new(format!("`{}`: {message}", problem.path())).into());
            }
            ReferenceFunction::Provider { command, folder } => Reference::Provider(Box::new(Provider {
                command: command.iter().map(|part| (*part).to_owned()).collect(),
                folder: folder.to_owned(),
                params: self.params.clone(),
            })),
            ReferenceFunction::Launch(describe) => {
                let name = format!("reference of {}", problem.path());
                Reference::Plan(self.describe(name, describe, request)?)
            }
        };
        let (plan, execution, call) = match self.entry.body {
            Body::Sealed(describe) => {
                let plan = self.describe(self.entry.path(), describe, request)?;
                (plan, Execution::Sealed, None)
            }
            // The tool adds the plan of a submission.
            Body::Submission { .. } => (Plan::default(), Execution::Sealed, None),
            Body::Hosted(_) => (Plan::default(), Execution::Hosted, None),
            Body::HostedSync(_) => (Plan::default(), Execution::HostedSync, None),
            Body::Library { execution, declare, .. } => {
                let call = self.library_call(declare, request)?;
                (Plan::default(), execution, Some(Box::new(call)))
            }
        };
        // Checked last: errors in the function's parameters name a line.
        check_operands(self.entry, &self.tensors)?;
        check_outputs(self.entry, &self.tensors)?;
        Ok(Recording {
            tensors: self.tensors,
            work,
            plan,
            reference,
            execution,
            call,
        })
    }

    /// Calls a function that declares the call of a library.
    fn library_call(
        &self,
        declare: fn(&Params, &mut Library) -> Result<()>,
        request: &RecordRequest,
    ) -> Result<LibraryCall> {
        let mut library = Library::new(self.entry.path(), self.tensors.clone(), request.facts.clone());
        declare(self.params, &mut library)?;
        library.into_call()
    }

    /// Calls the function of a hosted benchmark and returns the call that it declares.
    pub(crate) fn host(self, mut host: Host) -> Result<HostCall> {
        let (Body::Hosted(set_up) | Body::HostedSync(set_up)) = self.entry.body else {
            let path = self.entry.path();
            return Err(Error::new(format!("`{path}` has no host code in this library")));
        };
        set_up(self.params, &mut host)?;
        host.into_call()
    }

    /// Returns the benchmark's path.
    pub(crate) fn path(&self) -> String {
        self.entry.path()
    }

    /// Calls a function that records launches over the case's tensors, and returns its plan. Errors
    /// mention `name`.
    fn describe(
        &self,
        name: String,
        function: fn(&Params, &mut Launcher) -> Result<()>,
        request: &RecordRequest,
    ) -> Result<Plan, Unrecorded> {
        let (facts, occupancies) = (request.facts.clone(), request.occupancies.clone());
        let mut launcher = Launcher::new(name, self.tensors.clone(), facts, occupancies, kernel_ref);
        let described = function(self.params, &mut launcher);
        // Ignore the function's result: without the occupancy, its plan or error means nothing.
        if let Some(query) = launcher.missing_occupancy() {
            return Err(Unrecorded::NeedsOccupancy(query));
        }
        described?;
        Ok(launcher.finish()?)
    }

    /// Returns whether the generators write a tensor.
    pub(crate) fn is_generated(tensor: &Tensor) -> bool {
        tensor.fill.is_made_on_cpu()
    }

    /// Returns whether the reference reads or writes a tensor.
    pub(crate) fn is_operand(tensor: &Tensor) -> bool {
        tensor.role != Role::Scratch
    }

    /// Fills the tensors that have a CPU generator.
    pub(crate) fn generate(&self, seed: u64, mut data: CpuData<'_>) -> Result<()> {
        self.declared.run_generators(seed, &mut data)
    }

    /// Runs the CPU reference for one kind of device.
    pub(crate) fn reference(&self, device: DeviceKind, mut data: CpuData<'_>) -> Result<()> {
        match self.entry.problem.reference_on(device) {
            ReferenceFunction::Cpu(reference) => reference(self.params, &mut data),
            ReferenceFunction::Launch(_) => Err(Error::new("the reference is a plan, not a function on the CPU")),
            ReferenceFunction::Provider { .. } => {
                Err(Error::new("the reference is a command, not a function on the CPU"))
            }
        }
    }
}

/// What a check says of a call.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum CheckVerdict {
    /// The elements that it accepts are right.
    Accepted,
    /// The outputs are wrong, for this reason.
    Rejected(String),
}

impl Case<'_> {
    /// Runs the check on the outputs of a call.
    pub(crate) fn check(&self, mut data: CheckData<'_>) -> Result<CheckVerdict> {
        let Some(check) = self.entry.problem.check else {
            return Err(Error::new("there is no check"));
        };
        match (check.judge)(self.params, &mut data)? {
            Ok(()) => {
                data.check_ignored()?;
                let nan = data.first_nan().filter(|_| check.comparand == Comparand::Nothing);
                Ok(nan.map_or(CheckVerdict::Accepted, CheckVerdict::Rejected))
            }
            Err(error) if error.is_skip() => Err(error),
            Err(error) => Ok(CheckVerdict::Rejected(error.to_string())),
        }
    }
}

/// Fails if a value is for an axis that the benchmark does not have.
fn check_names(entry: &BenchmarkEntry, params: &Params) -> Result<()> {
    match params.iter().find(|(name, _)| !entry.has_axis(name)) {
        None => Ok(()),
        Some((name, _)) => Err(Error::new(format!("`{}` has no axis `{name}`", entry.path()))),
    }
}

/// Fails if a parameter of the reference is neither an axis nor a tensor.
fn check_operands(entry: &BenchmarkEntry, tensors: &[Tensor]) -> Result<()> {
    let names: Vec<&str> = tensors.iter().map(|tensor| tensor.name.as_str()).collect();
    let is_known = |name: &str| names.contains(&name) || entry.has_axis(name);
    match entry.problem.operands.iter().find(|name| !is_known(name)) {
        None => Ok(()),
        Some(unknown) => Err(no_tensor(unknown, &names).context(format!("`{}`", entry.problem.path()))),
    }
}

/// Fails if an output is not a parameter of the reference: nothing would be expected of it.
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
            "the tensor `{}` is an output of `{}`, but the reference has no parameter of that name",
            tensor.name,
            entry.problem.path()
        ))),
    }
}
