//! Whom to observe.

use std::process::Command;

/// Whom to observe.
#[derive(Debug)]
pub enum Target {
    /// A program, from its first instruction on, and all that it starts.
    Command(Command),
    /// A process that runs, and all that it started and will start.
    Process(u32),
    /// Every process that calls the driver.
    System,
}
