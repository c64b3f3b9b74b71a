//! The command line: arguments as types, one file per group of options.
//!
//! [`App`] is what clap parses. [`GpubenchArguments::into_options`] checks what clap cannot and yields the
//! [`RunOptions`](crate::broker::options::RunOptions) that everything else works with.

mod app;
mod byte_size;
mod cargo;
mod error;
mod gpubench;
mod measurement;
mod output;
mod percent;
mod play;
mod seed;
mod selection;
mod time_limit;

pub use app::{App, Verb};
pub use error::UsageError;
pub use gpubench::GpubenchArguments;
pub use play::play;
