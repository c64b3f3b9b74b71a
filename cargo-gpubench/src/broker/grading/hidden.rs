//! The hidden cases that a run grades, by their numbers.

use gpubench::catalog::{Axis, AxisValue, Benchmark, DeviceKind, Params, StatedProblem};

use crate::broker::cases::CaseError;
use crate::broker::options::GradedCases;
use crate::broker::problems::hidden::hidden_cases;

/// The hidden cases of the problem.
#[derive(Debug)]
pub(super) enum Hidden {
    /// They are graded, with these arguments.
    Graded(Vec<Params>),
    /// They are not, but the problem has some.
    Left,
    /// There are none.
    Absent,
}

/// The only axis of hidden cases.
const NUMBER: &str = "hidden";

impl Hidden {
    /// Returns those of a problem, as far as `wanted` asks for them. `seed` decides what is drawn.
    ///
    /// # Errors
    /// There are too many.
    pub(super) fn of_problem(
        problem: &StatedProblem,
        wanted: GradedCases,
        device: DeviceKind,
        seed: &[u8; 32],
    ) -> Result<Hidden, CaseError> {
        let has_some = !problem.hidden.axes.is_empty() || !problem.hidden.draws.is_empty();
        Ok(match wanted {
            GradedCases::All if has_some => Hidden::Graded(hidden_cases(problem, device, seed)?),
            GradedCases::Public if has_some => Hidden::Left,
            GradedCases::All | GradedCases::Public => Hidden::Absent,
        })
    }

    /// Returns the arguments of a case by its number, from 1.
    pub(super) fn params(&self, number: usize) -> Option<&Params> {
        match self {
            Hidden::Graded(cases) => cases.get(number.checked_sub(1)?),
            Hidden::Left | Hidden::Absent => None,
        }
    }

    /// Returns the benchmark with the hidden cases, each by its number.
    pub(super) fn numbered(&self, benchmark: &Benchmark) -> Option<Benchmark> {
        let Hidden::Graded(cases) = self else { return None };
        let numbers = (1..=cases.len() as i64).map(AxisValue::Int);
        Some(Benchmark {
            axes: vec![Axis::of(NUMBER, numbers.collect())],
            device_axes: Vec::new(),
            ..benchmark.clone()
        })
    }
}
