//! The library of a hosted benchmark's own, in the process of its worker. It may be hostile: no
//! other process loads it, and its worker loads no library of the crate.
//!
//! `library` opens it and finds the function. `registers` calls a function of C whose parameters
//! are known only now, and `tvm_ffi` one with the interface of TVM-FFI.

mod library;
mod registers;
mod tvm_ffi;

pub(crate) use library::{BoundCall, CallPlace, OwnLibrary};
