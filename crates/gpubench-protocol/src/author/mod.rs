//! The author process. Apart from hosted workers, only it runs the user's host code: it lists
//! benchmarks, records plans, generates CPU inputs and runs CPU references.
//!
//! `attached` has the buffers of the open case. `own_kernels` runs native kernels of generators and
//! references. `process` carries out the broker's orders.

mod attached;
mod own_kernels;
mod process;

pub use process::serve;
