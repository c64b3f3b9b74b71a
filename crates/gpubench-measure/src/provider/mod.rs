//! References that are a command of the crate's author.
//!
//! The command gets the inputs of many calls in a safetensors file and writes the expected outputs
//! into another. It has ended before the first worker of the case lives, so no code under test can
//! watch it or change what it reads and writes. It is not confined: like a build script, it runs
//! with the rights of the user.

mod command;
mod error;
mod exchange;

pub(crate) use command::{run, shown};
pub use error::ProviderError;
pub(crate) use exchange::{Exchange, SetTensor, copy};
