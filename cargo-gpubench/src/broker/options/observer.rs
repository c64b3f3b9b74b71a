//! Programs that observe calls: compute-sanitizer, profilers and debuggers.

use std::ffi::OsString;
use std::str::FromStr;

use gpubench_contract::SanitizerTool;

/// The program that observes the call of each case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ObserverChoice {
    /// `--sanitize`: a tool of compute-sanitizer checks it.
    Sanitizer(SanitizerTool),
    /// `--profile-with`: a profiler records it. The words are its own arguments.
    Profiler(Profiler, Vec<OsString>),
    /// `--debugger`: a person debugs it with this program and its arguments.
    Debugger(DebuggerCommand),
}

/// A debugger and its arguments before the command that it debugs: `gdb --args`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DebuggerCommand {
    /// The program.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
}

/// `--debugger` names no program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the command of a debugger is missing")]
pub struct NoDebugger;

impl FromStr for DebuggerCommand {
    type Err = NoDebugger;

    fn from_str(text: &str) -> Result<DebuggerCommand, NoDebugger> {
        let mut words = text.split_whitespace().map(str::to_owned);
        Ok(DebuggerCommand {
            program: words.next().ok_or(NoDebugger)?,
            arguments: words.collect(),
        })
    }
}

/// A profiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profiler {
    /// Nsight Compute.
    Ncu,
    /// Nsight Systems.
    Nsys,
}

impl Profiler {
    /// Every profiler.
    pub const ALL: [Profiler; 2] = [Profiler::Ncu, Profiler::Nsys];

    /// Returns the name of its program.
    pub const fn program(self) -> &'static str {
        match self {
            Profiler::Ncu => "ncu",
            Profiler::Nsys => "nsys",
        }
    }
}

impl ObserverChoice {
    /// Returns the option that chooses it, for messages.
    pub fn option(&self) -> String {
        match self {
            ObserverChoice::Sanitizer(tool) => format!("--sanitize {tool}"),
            ObserverChoice::Profiler(profiler, _) => format!("--profile-with {}", profiler.program()),
            ObserverChoice::Debugger(debugger) => format!("--debugger {}", debugger.program),
        }
    }
}
