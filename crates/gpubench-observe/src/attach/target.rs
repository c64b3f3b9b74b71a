//! Whom to observe.

use std::process::Command;

/// Whether the processes that a command or a process starts are observed with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Descendants {
    /// They are. A probe is a trap for every process that uses the driver's file.
    Followed,
    /// They are not. Where the kernel can tell the process from others, they alone pay for the
    /// probes: the process, and children that run no other program.
    LeftOut,
}

/// Whom to observe.
#[derive(Debug)]
pub enum Target {
    /// A program, from its first instruction on.
    Command(Command),
    /// Processes that run.
    Processes(Vec<u32>),
    /// Every process that calls the driver.
    System,
}
