//! A problem with its first public case, which has the tensors.

use gpubench::catalog::{
    DType, DeviceKind, Occupancy, ParameterKind, Params, RecordRequest, Recording, Reference, Role, Tensor, Tolerance,
};

use super::error::{ProblemError, Unrecorded};
use super::hidden::{hidden_cases, public_cases};
use super::listed::Listed;
use crate::broker::libraries::authors::Authors;
use gpubench_device::cpu::{self, available_threads};
use gpubench_diagnostic::{Failure, Interrupted, chain};
use gpubench_measure::clients::{Interrupt, Recorded};

/// Most questions about occupancies, each with another answer.
const MOST_QUESTIONS: usize = 64;

/// A problem and what its first case shows.
#[derive(Debug)]
pub(super) struct Described<'a> {
    pub(super) listed: &'a Listed<'a>,
    /// The first public case on the CPU device, whose shapes are shown if there are no others.
    pub(super) first: Option<Params>,
    /// The tensors, in the order of the function's parameters, then others.
    pub(super) tensors: Result<Vec<DescribedTensor>, Unrecorded>,
    /// Numbers of cases: on GPUs, then on the CPU device.
    pub(super) public: [usize; 2],
    pub(super) hidden: [usize; 2],
}

/// A tensor of a problem.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct DescribedTensor {
    pub(super) name: String,
    /// Element type as the function has it: it can be a type parameter.
    pub(super) type_name: String,
    /// Element type in the first case.
    pub(super) dtype: DType,
    pub(super) role: Role,
    pub(super) tolerance: Tolerance,
    pub(super) compared_with: Comparand,
    pub(super) shape: Shape,
}

/// What an output is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparand {
    /// What the reference computes.
    Reference,
    /// As [`Comparand::Reference`], but for what a check accepts.
    ReferenceAndCheck,
}

/// The shape of a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// An expression over the axes.
    OverAxes(String),
    /// The extents in the first case.
    InFirstCase(Vec<u64>),
}

impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Shape::OverAxes(text) if text.starts_with('[') => f.write_str(text),
            Shape::OverAxes(text) => write!(f, "[{text}]"),
            Shape::InFirstCase(extents) => write!(f, "{extents:?}"),
        }
    }
}

impl<'a> Described<'a> {
    /// Records the first case of a problem.
    ///
    /// # Errors
    /// It has too many cases, or the user interrupts.
    pub(super) fn record(
        listed: &'a Listed<'a>,
        authors: &mut Authors<'_>,
        interrupt: &Interrupt,
    ) -> Result<Described<'a>, Failure> {
        let count = |device| -> Result<[usize; 2], ProblemError> {
            let public = public_cases(listed.problem, device)?.len();
            // Whatever the seed, there are as many.
            Ok([public, hidden_cases(listed.problem, device, &[0; 32])?.len()])
        };
        let on_gpus = count(DeviceKind::Cuda)?;
        let on_cpu = count(DeviceKind::Cpu)?;
        let first = public_cases(listed.problem, DeviceKind::Cpu)
            .map_err(ProblemError::from)?
            .into_iter()
            .next();
        let recorded = recorded(listed, first.clone().unwrap_or_default(), authors, interrupt);
        if interrupt.is_set() {
            return Err(Interrupted.into());
        }
        Ok(Described {
            listed,
            first,
            tensors: recorded.map(|recording| tensors(listed, recording)),
            public: [on_gpus[0], on_cpu[0]],
            hidden: [on_gpus[1], on_cpu[1]],
        })
    }

    /// Returns the axes that are parameters: their names and their types.
    pub(super) fn axes(&self) -> impl Iterator<Item = (&str, &str)> {
        let parameters = self.listed.problem.signature.iter();
        parameters
            .filter(|parameter| parameter.kind == ParameterKind::Axis)
            .map(|parameter| (&*parameter.name, &*parameter.type_name))
    }
}

fn recorded(
    listed: &Listed<'_>,
    params: Params,
    authors: &mut Authors<'_>,
    interrupt: &Interrupt,
) -> Result<Recording, Unrecorded> {
    let mut request = RecordRequest {
        params,
        facts: cpu::facts(available_threads()).device,
        occupancies: Vec::new(),
    };
    let unrecorded = |error: &dyn std::error::Error| Unrecorded(chain(error));
    let author = authors.client(listed.library).map_err(|error| unrecorded(&error))?;
    for _ in 0..MOST_QUESTIONS {
        match author.record(listed.position, &request, interrupt) {
            Err(error) => return Err(unrecorded(&error)),
            Ok(Recorded::Recording(recording, _)) => return Ok(*recording),
            // The answer affects how a reference is launched, and none is.
            Ok(Recorded::NeedsOccupancy(query)) => request.occupancies.push(Occupancy { query, blocks: 1 }),
        }
    }
    Err(Unrecorded("the reference asks for too many occupancies".to_owned()))
}

/// Returns the tensors in the order of the function's parameters, then the others.
fn tensors(listed: &Listed<'_>, recording: Recording) -> Vec<DescribedTensor> {
    let compared_with = match recording.reference {
        Reference::Checked => Comparand::ReferenceAndCheck,
        Reference::Author | Reference::Plan(_) | Reference::Provider(_) => Comparand::Reference,
    };
    let signature = &listed.problem.signature;
    let place = |tensor: &Tensor| signature.iter().position(|parameter| parameter.name == tensor.name);
    let mut recorded = recording.tensors;
    recorded.sort_by_key(|tensor| place(tensor).unwrap_or(usize::MAX));
    let tensors = recorded.into_iter().map(|tensor| {
        let parameter = signature.iter().find(|parameter| parameter.name == tensor.name);
        let shape = parameter.and_then(|parameter| match &parameter.kind {
            ParameterKind::Axis => None,
            ParameterKind::Tensor { shape, .. } => shape.clone(),
        });
        DescribedTensor {
            type_name: parameter.map_or_else(|| tensor.dtype.to_string(), |parameter| parameter.type_name.clone()),
            dtype: tensor.dtype,
            role: tensor.role,
            tolerance: tensor.tolerance,
            compared_with,
            shape: shape.map_or(Shape::InFirstCase(tensor.shape), Shape::OverAxes),
            name: tensor.name,
        }
    });
    tensors.collect()
}
