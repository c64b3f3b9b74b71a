//! What was found out about the outputs of a case.

use gpubench::catalog::Tolerance;

use super::check::Judge;
use super::rule::Rule;

/// A rule that a case breaks.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The rule.
    pub rule: Rule,
    /// What passes, or fails: `zeros`.
    pub what: String,
    /// In how many calls.
    pub found: u32,
    /// Of how many.
    pub tried: u32,
    /// By which power of ten the tolerance must shrink, or grow if it is negative, for this to end.
    /// `None` if no tolerance helps.
    pub shrink: Option<i32>,
}

/// Whether an author's process still answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuthorAfterwards {
    /// It does.
    AtRest,
    /// Inputs that do not belong together ended it, or it hangs.
    Lost,
}

/// What was found out about a case.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseReport {
    /// Its outputs.
    pub outputs: Vec<OutputReport>,
    /// The author that ran its code.
    pub author: AuthorAfterwards,
}

/// What was found out about one output.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputReport {
    /// Name of the output.
    pub output: String,
    /// The tolerance of its comparison.
    pub tolerance: Tolerance,
    /// Who says whether it is right.
    pub judge: Judge,
    /// Findings, the gravest first.
    pub findings: Vec<Finding>,
    /// By how many powers of ten the tolerance can shrink and still pass right answers.
    pub room: i32,
}
