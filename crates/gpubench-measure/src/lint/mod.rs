//! Attacks a problem without a kernel: which wrong answers does its tolerance accept, and does it
//! accept all right ones?
//!
//! The author makes inputs and expected outputs as in a run. `answers` has answers that are
//! wrong, `trials` lets `check` judge them as a run does, and [`Bench`] has the memory. `numbers`
//! reads and changes elements.

mod answers;
mod bench;
mod changes;
mod check;
mod numbers;
mod report;
mod rounding;
mod rule;
mod trials;
mod zeros;

pub use bench::{Bench, LintCase, LintError, LintLimits};
pub use check::Judge;
pub use report::{AuthorAfterwards, CaseReport, Finding, OutputReport};
pub use rule::Rule;
