//! Kernels of the published crate `candle-kernels`, launched as their own crate's users do: blocks
//! of 1024 threads over the elements, or one block a row. Its sources are not in this repository;
//! `run.sh` fetches them.
//!
//! Sizes on the CPU device leave a remainder of the vectors of four and eight elements that some
//! kernels read.

mod elementwise;
mod layout;
mod numbers;
mod rows;
