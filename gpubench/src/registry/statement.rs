//! The registration of what an author says of a problem.

use super::problem::ProblemDefinition;
use crate::abi::guard;
use crate::axis::PartOfGroup;
use crate::catalog::{
    Axis, Benchmark, HiddenCases, Parameter, ParameterKind, Role, Score, StatedProblem, SubmissionLimits,
};

/// What a `#[problem]` says besides its definition.
#[doc(hidden)]
pub struct ProblemStatement {
    /// The documentation of the function.
    pub text: &'static str,
    /// The parameters of the function, in order.
    pub signature: &'static [StatedParameter],
    /// The names and the expressions of the declared work.
    pub work: &'static [(&'static str, &'static str)],
    /// `hidden(..)`.
    pub hidden: fn() -> HiddenCases,
    pub score: Score,
    pub limits: SubmissionLimits,
}

/// A parameter of the function: its name, its type, and the role and shape of a tensor.
#[doc(hidden)]
pub struct StatedParameter {
    pub name: &'static str,
    pub type_name: &'static str,
    pub tensor: Option<(Role, Option<&'static str>)>,
}

impl ProblemStatement {
    /// Evaluates the hidden cases.
    ///
    /// # Panics
    /// As an expression of an axis does, or if a range is empty.
    ///
    /// # Errors
    /// They have values for a part of a group of `axes` only.
    pub(super) fn check(&self, axes: &[Axis]) -> Result<(), PartOfGroup> {
        let HiddenCases {
            axes: mut others,
            draws,
            ..
        } = (self.hidden)();
        others.extend(draws.iter().map(|draw| Axis::of(&draw.name, Vec::new())));
        Axis::replaced(axes.to_vec(), &others).map(drop)
    }

    /// Describes the problem. One whose hidden cases cannot be listed has none.
    pub(super) fn describe(&self, outline: Benchmark, definition: &ProblemDefinition) -> StatedProblem {
        let names = |(name, expression): &(&str, &str)| ((*name).to_owned(), (*expression).to_owned());
        StatedProblem {
            outline,
            statement: self.text.to_owned(),
            signature: self.signature.iter().map(StatedParameter::describe).collect(),
            work: self.work.iter().map(names).collect(),
            hidden: guard(self.hidden).unwrap_or_default(),
            score: self.score,
            limits: self.limits,
            reference: definition.reference.kind(),
            device_references: definition
                .device_references
                .iter()
                .map(|(device, reference)| (*device, reference.kind()))
                .collect(),
        }
    }
}

impl StatedParameter {
    fn describe(&self) -> Parameter {
        Parameter {
            name: self.name.to_owned(),
            type_name: self.type_name.to_owned(),
            kind: match self.tensor {
                None => ParameterKind::Axis,
                Some((role, shape)) => ParameterKind::Tensor {
                    role,
                    shape: shape.map(str::to_owned),
                },
            },
        }
    }
}
