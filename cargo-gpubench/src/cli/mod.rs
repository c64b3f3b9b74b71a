//! The command line: arguments as types, one file per group of options.
//!
//! [`App`] is what clap parses, and [`settle`] what it means where environment variables and the
//! configuration also speak. [`GpubenchArguments::into_command`] checks what clap cannot and yields
//! the options that everything else works with, such as
//! [`RunOptions`](crate::broker::options::RunOptions).

mod app;
mod archive;
mod baseline;
mod byte_size;
mod cargo;
mod compare;
mod completions;
mod doctor;
mod environment;
mod error;
mod examples;
mod foreign;
mod gpubench;
mod history;
mod judging;
mod layered_value;
mod man;
mod measurement;
mod output;
mod overwriting;
mod play;
mod precedence;
mod repeated;
mod report;
mod seed;
mod selection;
mod settings;
mod show_config;
mod standard_output;

pub use app::{App, Verb, parse};
pub use environment::Environment;
pub use error::UsageError;
pub use gpubench::{Command, GpubenchArguments};
pub use man::Manual;
pub use play::play;
pub use precedence::{FindWorkspace, Settled, Unsettled, settle};
