//! Where the instructions of a case changed.

use serde::{Deserialize, Serialize};

use super::{ChangeVerdict, ComparisonRow};

/// A function whose number of instructions differs between the two runs of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct FunctionChange {
    /// Name of the kernel that was launched.
    pub kernel: String,
    /// Name of the function. Null on a GPU, whose counts are of whole kernels.
    pub function: Option<String>,
    /// Number of instructions in a call of the baseline. Zero if the function did not run.
    pub baseline: f64,
    /// Number of instructions in a call of the candidate. Zero if the function did not run.
    pub candidate: f64,
}

impl FunctionChange {
    /// Returns the number of instructions by which the candidate has more.
    pub fn difference(&self) -> f64 {
        self.candidate - self.baseline
    }

    /// Returns the candidate's number divided by the baseline's. `None` if one of them is zero.
    pub fn ratio(&self) -> Option<f64> {
        (self.baseline > 0.0 && self.candidate > 0.0).then(|| self.candidate / self.baseline)
    }

    /// Returns the name for people: the kernel, or `expf in softmax`.
    pub fn name(&self) -> String {
        match &self.function {
            Some(function) if *function != self.kernel => format!("{function} in {}", self.kernel),
            _ => self.kernel.clone(),
        }
    }
}

impl ComparisonRow {
    /// Returns the largest changes of functions to show, and how many follow them. Shows none if
    /// the case as a whole did not change: counts that depend on the inputs differ then too.
    pub fn largest_functions(&self) -> (&[FunctionChange], usize) {
        if self.verdict == ChangeVerdict::NoChange {
            return (&[], 0);
        }
        let shown = self.functions.len().min(FUNCTIONS_SHOWN);
        (&self.functions[..shown], self.functions.len() - shown)
    }
}

/// The largest number of functions that a table or a page shows for a case.
const FUNCTIONS_SHOWN: usize = 5;
