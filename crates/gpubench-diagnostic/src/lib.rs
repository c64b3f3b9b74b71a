//! Diagnostics: exit codes, errors with hints, safe printing of untrusted text, layout for
//! terminals, safe places for files, and temporary folders.
//!
//! Each area has an error type that implements [`Expected`]. Any of them can stop a command as a
//! [`Failure`]. [`Explanation`] prints an error with its causes and its hint.
#![forbid(unsafe_code)]

mod at_most;
mod ci_commands;
mod closest;
mod csv;
mod exit_code;
mod expected;
mod failure;
mod full_disk;
pub mod layout;
mod place;
mod print;
mod printable;
mod quotation;
mod regular;
mod temporary;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

pub use at_most::{AtMost, is_too_much, read_at_most, read_text_at_most};
pub use ci_commands::CommandMarks;
pub use closest::{closest, suggestion};
pub use csv::{csv_field, csv_text};
pub use exit_code::ExitCode;
pub use expected::{Expected, chain};
pub use failure::{Failure, InternalError, Interrupted, SetupMissing};
pub use full_disk::is_full_disk;
pub use place::{LinkOfAnother, Place};
pub use print::{Explanation, print_error, print_to_stderr, print_warning, rewrite_line_of_stderr};
pub use printable::*;
pub use quotation::{continued, quoted};
pub use regular::{create_regular, open_regular, open_regular_link_refused};
pub use temporary::{Purpose, TemporaryFolder, remove_abandoned};
