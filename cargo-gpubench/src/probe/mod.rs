//! `cargo gpubench probe`: what CUDA processes do, seen from outside.
//!
//! `subject` is what is observed: a command that runs, another process or all of them. `attach`
//! begins the best observation that the machine allows: `calls`, or the `outline` of processes
//! without them. `watch` is the loop from the first event to the last, `outlets` are the places
//! that get records and metrics, and `display` is what a person sees meanwhile.

mod attach;
mod calls;
mod clock;
mod command;
mod display;
mod ending;
mod error;
mod observation;
mod options;
mod outlets;
mod outline;
mod outlined;
mod output_lines;
mod pseudo_terminal;
mod screen;
mod signals;
mod subject;
mod watch;

#[cfg(test)]
mod tests;

pub use ending::Ending;
pub use options::{Liveliness, ObservedTarget, ProbeOptions};
pub use watch::probe;
