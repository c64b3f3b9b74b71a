//! The author process. Apart from hosted workers, only it runs the user's host code: it lists
//! benchmarks, records plans, generates CPU inputs and runs CPU references.
//!
//! `attached` has the buffers of the open case. `own_kernels` runs native kernels of generators and
//! references. `stored_tensors` has the contents of tensors where there is no library. `process`
//! carries out the broker's orders.

mod attached;
mod own_kernels;
mod process;
mod stored_tensors;

pub use process::serve;
