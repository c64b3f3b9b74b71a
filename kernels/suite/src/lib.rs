//! Real kernels with their benchmarks: a crate to copy from.
//!
//! Every problem has a pair of files, `name.rs` and `name.cu`. The Rust file says what is computed
//! (tensors, a reference on the CPU, how outputs are compared, what a call costs) and how the
//! kernels of the CUDA C++ file are launched for it. Where several kernels compute the same thing,
//! the reference is a [`#[problem]`](macro@gpubench::problem) and the benchmarks compete on it.
//!
//! Two rules make the specifications hard to satisfy without doing the work:
//!
//! - Tolerances come from error bounds ([`rounding`]), and are zero wherever arithmetic can be made
//!   exact: sums of `f32` are fed whole numbers so small that no order of summation rounds.
//! - No answer that ignores the inputs passes: neither zeros, nor the expected mean, nor any other
//!   constant. Tests hold every problem to that.
//!
//! On a GPU the answers come from a kernel of their own
//! ([`reference = launch(..)`](macro@gpubench::gpubench)), plain and unlike those that compete: in
//! double, in integers, or in another order. It stands in a file of its own, `references/name.cu`,
//! with the kernels that generate inputs: the referee runs them, beside the expected outputs, so
//! whoever writes `name.cu` may not write them.
//!
//! Sizes for a GPU fill its memory system; sizes for the CPU device keep a case within a fraction
//! of a second. Either way every problem has a size that is no multiple of its block.
#![forbid(unsafe_code)]

pub mod add1;
pub mod argmax;
pub mod convolution;
pub mod histogram;
pub mod image;
pub mod layer_norm;
pub mod matmul;
pub mod modular;
pub mod reduction;
pub mod rounding;
pub mod scan;
pub mod softmax;
pub mod sparse;
pub mod transpose;
pub mod vector;

#[cfg(test)]
mod shortcuts;
