//! Problems in the files of FlashInfer-Bench and SOL-ExecBench: a definition and its workloads are
//! a problem without a crate. No author process records its cases, since the files say everything;
//! the expected outputs come from the definition's reference, which runs as a command.
//!
//! `problem` reads the definition and its workloads from their `files`. `library` shows them as the
//! library of a crate, and `cases` has what they say of each case. `labels` has the names of the
//! cases, `stored` the tensors in safetensors files. `solutions` turns solutions into submissions,
//! with the headers and the library of `tvm_ffi`. `traces` writes the results as traces.

mod cases;
mod error;
mod files;
mod labels;
mod library;
mod problem;
mod solutions;
mod stored;
mod traces;
mod tvm_ffi;

pub(super) use cases::Described;
pub(super) use problem::DatasetProblem;
pub(super) use solutions::{ReadSolution, read_solution};
pub(super) use traces::TraceReporter;
