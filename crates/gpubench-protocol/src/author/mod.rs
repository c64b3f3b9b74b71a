//! The author process: it runs user host code, as otherwise only hosted workers do. It lists
//! benchmarks, records plans, generates CPU inputs and computes CPU references.
//!
//! `attached` is the buffers of the open case, `own_kernels` what runs the kernels of generators
//! and references where they are native code, `process` takes the broker's orders.

mod attached;
mod own_kernels;
mod process;

pub use process::serve;
