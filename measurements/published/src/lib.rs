//! Benchmarks of kernels of the published crate `candle-kernels`, launched as its users launch
//! them: blocks of 1024 threads over the elements, or one block per row. The crate's sources are
//! not in this repository; `run.sh` fetches them.
//!
//! On the CPU device, no size is a multiple of the vectors of four and eight elements that some
//! kernels read.

mod elementwise;
mod layout;
mod numbers;
mod rows;
