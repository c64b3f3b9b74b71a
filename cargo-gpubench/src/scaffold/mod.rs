//! First files: `cargo gpubench new` makes a crate with benchmarks that run at once, and
//! `cargo gpubench init` writes a benchmark for each kernel of a package.

mod dependency;
mod error;
mod files;
mod init;
mod manifest;
mod names;
mod new_crate;
mod sketch;
mod sources;

pub use error::ScaffoldError;
pub use init::{InitOptions, init};
pub use new_crate::{NewOptions, Template, new_crate};
