//! Programs that observe calls: compute-sanitizer and profilers.

use std::ffi::OsString;

use gpubench_contract::SanitizerTool;

/// The program that observes the call of each case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ObserverChoice {
    /// `--sanitize`: a tool of compute-sanitizer checks it.
    Sanitizer(SanitizerTool),
    /// `--profile-with`: a profiler records it. The words are its own arguments.
    Profiler(Profiler, Vec<OsString>),
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
        }
    }
}
