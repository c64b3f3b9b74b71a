//! Problems in the files of FlashInfer-Bench and SOL-ExecBench: a definition and its workloads are
//! a problem without a crate. No author process records its cases, since the files say everything;
//! the expected outputs come from the definition's reference, which runs as a command.
//!
//! `problem` has the definition and its workloads, `labels` the names of the cases, `stored` the
//! tensors in safetensors files. `solutions` turns solutions into submissions, with the
//! headers and the library of `tvm_ffi`. `traces` writes the results as traces.

mod error;
mod labels;
mod problem;
mod solutions;
mod stored;
mod traces;
mod tvm_ffi;

pub(super) use problem::{DatasetProblem, Described};
pub(super) use solutions::{ReadSolution, read_solution};
pub(super) use traces::TraceReporter;
