//! Whom to observe.

use std::process::Command;

/// Whom to observe.
#[derive(Debug)]
pub enum Target {
    /// A program, from its first instruction on, and all that it starts.
    Command(Command),
    /// Processes that run, and all that they started and will start.
    Processes(Vec<u32>),
    /// Every process that calls the driver.
    System,
}
