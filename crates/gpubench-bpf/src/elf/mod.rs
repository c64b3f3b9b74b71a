//! Functions of a library, and where a probe on them is cheap and sees every call.
//!
//! `libcuda` exports stubs. Each jumps to or calls its implementation through a slot that a
//! relocation fills, so the file tells where it is. A probe there also sees callers that read the
//! slot. What is not recognised for certain is left alone: the probe goes to the exported symbol.

mod file;
mod function;
mod library;
mod site;
mod stub;

pub use file::LibraryFile;
pub use function::Function;
pub use library::Library;
pub use site::Site;
pub use stub::Shape;
