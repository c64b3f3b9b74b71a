//! Trace files of FlashInfer-Bench, with the additions of SOL-ExecBench: read, turned into cases,
//! and written.
//!
//! There are four documents, each of them JSON. A [`Definition`] is a problem, a [`Workload`] gives
//! it sizes and inputs, a [`Solution`] is a submission, and a [`Trace`] is the result of a solution
//! with a workload. Files of workloads and traces have one on each line.
//!
//! ```
//! use gpubench_trace::{Case, Definition, Dialect, Workload};
//!
//! let definition = Definition::parse(
//!     r#"{"name": "double", "op_type": "elementwise", "axes": {"n": {"type": "var"}},
//!         "inputs": {"x": {"shape": ["n"], "dtype": "float32"}},
//!         "outputs": {"y": {"shape": ["n"], "dtype": "float32"}},
//!         "reference": "def run(x):\n    return x + x\n"}"#,
//! )?;
//! let workload = Workload::parse(r#"{"uuid": "w", "axes": {"n": 1024}, "inputs": {}}"#)?;
//! let case = Case::new(Dialect::FlashInfer, &definition, &workload, None)?;
//! assert_eq!(case.tensors[0].shape, [1024]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - [`Case`] has the tensors and parameters of a definition with a workload. Errors name what it
//!   cannot express. Its [`ReferenceProgram`] computes the expected outputs with the definition's
//!   own reference.
//! - [`Submission`] is what a grader needs of a solution.
//! - [`Outcome`] is the end of a case, from its record, and becomes the evaluation of a trace.
//!   [`status_of`] says which status a verdict has.
//!
//! Nothing is trusted that a document says: sizes are bounded, extents are multiplied with care,
//! paths stay in their folder, and names with control characters are refused.
#![forbid(unsafe_code)]

mod case;
mod definition;
mod dialect;
mod error_figure;
pub mod expression;
mod json;
mod listed_workload;
mod outcome;
mod record_outcome;
mod solution;
mod submission;
#[cfg(test)]
mod tests;
mod trace;
mod workload;

pub use case::{Argument, Case, CaseError, Difference, InputFile, ReferenceProgram};
pub use definition::{Axis, AxisKind, Definition, ElementType, TensorSpec};
pub use dialect::Dialect;
pub use json::{MOST_DOCUMENT_BYTES, MOST_FILE_BYTES, Named, WrongDocument};
pub use listed_workload::{ListedWorkload, read_workloads};
pub use outcome::{Errors, NoEvaluation, Outcome, status_of};
pub use solution::{Binding, BuildSpec, CompileOptions, Language, Solution, SourceFile};
pub use submission::{SourceLanguage, Submission, SubmissionError};
pub use trace::{Correctness, Environment, Evaluation, Performance, Status, Trace, read_traces};
pub use workload::{InputSpec, ScalarValue, ToleranceSpec, Workload};
