//! A catalogue of GPU problems, and kernels with their benchmarks: a crate to copy from.
//!
//! Each problem has a Rust file, `name.rs`, with a [`#[problem]`](macro@gpubench::problem): the
//! statement, tensors, a CPU reference, tolerances and the cost of a call. Its `hidden(..)` cases
//! are for grading alone. Some problems also have kernels in `name.cu`, whose launches are the
//! benchmarks in the Rust file. Solutions in the form of submissions are in
//! `solutions/problem/`; they are no part of the crate.
//!
//! Two rules make the specifications hard to satisfy without doing the work:
//!
//! - Tolerances come from error bounds ([`rounding`]). They are zero wherever arithmetic can be
//!   exact: sums of `f32` get whole numbers so small that no order of summation rounds.
//! - No answer that ignores the inputs passes: neither zeros, nor the expected mean, nor any other
//!   constant. Tests check this for every problem.
//!
//! On a GPU, separate reference kernels compute the expected outputs
//! ([`reference = launch(..)`](macro@gpubench::gpubench)). They are simple and unlike the competing
//! kernels: they work in double precision, in integers, or in another order. They are in a separate
//! file, `references/name.cu`, with the kernels that generate inputs. The referee runs that file in
//! the process that holds the expected outputs, so the authors of `name.cu` must not write it.
//!
//! Sizes for a GPU fill its memory system; sizes for the CPU device keep a case within a fraction
//! of a second. On both, every problem has a size that is not a multiple of the block size.
#![forbid(unsafe_code)]

pub mod add1;
pub mod argmax;
pub mod attention;
pub mod bf16_product;
pub mod box_blur;
pub mod cholesky;
pub mod convolution;
pub mod fp16_product;
pub mod fp8_product;
pub mod gelu;
pub mod gemm_relu;
pub mod histogram;
pub mod image;
pub mod int4_product;
pub mod int8_product;
pub mod int8_row_quantise;
pub mod known_length;
pub mod layer_norm;
pub mod matmul;
pub mod matrix_vector;
pub mod max_pool_2d;
pub mod modular;
pub mod mxfp8_product;
pub mod mxfp8_quantise;
pub mod nvfp4_product;
pub mod point_negation;
pub mod polynomial_product;
pub mod prefix_sum;
pub mod reduction;
pub mod relu;
pub mod rms_norm;
pub mod rounding;
pub mod scan;
pub mod segmented_scan;
pub mod shortest_paths;
pub mod softmax;
pub mod sort;
pub mod sparse;
pub mod sparse_dense;
pub mod sum_along_dimension;
pub mod top_k;
pub mod transpose;
pub mod triplet_margin;
pub mod vector;

#[cfg(test)]
mod shortcuts;
