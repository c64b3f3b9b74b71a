//! JSON documents that others wrote: bounded, and with the place of what is wrong in them.

mod document;
mod fault;
mod named;
mod optional;
mod place;

pub use document::{MOST_DOCUMENT_BYTES, MOST_FILE_BYTES, WrongDocument};
pub(crate) use document::{read, read_lines, read_one};
pub(crate) use fault::{Checked, Fault, Path, name, shown};
pub use named::Named;
pub(crate) use optional::{empty_if_null, required};
