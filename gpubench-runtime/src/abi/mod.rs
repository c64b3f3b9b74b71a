//! What crosses the boundary between a kernel crate's cdylib and the tool: C types and bytes, never
//! Rust types.
//!
//! A cdylib that has benchmarks exports one symbol, [`ENTRY_SYMBOL`], that returns a [`Table`].
//! Everything with structure travels as bytes in the format of [`codec`](crate::codec): the
//! [`Catalog`](crate::catalog::Catalog) of benchmarks, the [`Recording`](crate::catalog::Recording)
//! of a case. No panic leaves a function of the table.

mod entry;
mod memory;
mod panics;
mod table;

pub use entry::gpubench_abi_v1;
pub use table::*;
