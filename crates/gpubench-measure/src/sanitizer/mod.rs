//! Reads the log of compute-sanitizer.
//!
//! The log is text. Each error begins with a line such as
//! `========= Invalid __global__ write of size 4 bytes`, and indented lines after it say where it
//! happened. The last line has the number of errors. Without it, the tool did not finish.

mod log;
mod place;
mod record;

pub(crate) use log::read_log;
