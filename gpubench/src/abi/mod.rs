//! The interface between a kernel crate's cdylib and the tool: C types and bytes, never Rust types.
//!
//! A cdylib with benchmarks exports one symbol, [`ENTRY_SYMBOL`], which returns a [`Table`].
//! Structured data crosses as bytes in the format of [`codec`](crate::codec): the
//! [`Catalog`](crate::catalog::Catalog) of benchmarks and the
//! [`Recording`](crate::catalog::Recording) of a case. No function of the table lets a panic out.

#[cfg(target_os = "linux")]
mod bench_harness;
mod entry;
mod memory;
mod panics;
mod table;

pub use entry::gpubench_abi_v1;
pub(crate) use memory::structs;
pub(crate) use panics::guard;
pub use table::*;
