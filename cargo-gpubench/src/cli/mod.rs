//! The command line: arguments as types, one file per group of options.
//!
//! [`App`] is what clap parses. [`GpubenchArguments::into_command`] checks what clap cannot and yields the
//! options that everything else works with, such as [`RunOptions`](crate::broker::options::RunOptions).

mod app;
mod archive;
mod byte_size;
mod cargo;
mod doctor;
mod error;
mod gpubench;
mod measurement;
mod output;
mod percent;
mod play;
mod report;
mod seed;
mod selection;
mod time_limit;
mod unpack;

pub use app::{App, Verb};
pub use error::UsageError;
pub use gpubench::{Command, GpubenchArguments};
pub use play::play;
