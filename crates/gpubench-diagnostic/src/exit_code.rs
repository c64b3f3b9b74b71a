//! Exit codes of the command: part of its machine contract, numbered as nextest numbers them where
//! it has the case.

use std::process;

/// How the command ends, as scripts see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ExitCode {
    /// Every selected benchmark passed or was skipped.
    Success = 0,
    /// Something is wrong in the tool itself, a panic included.
    Internal = 1,
    /// The command line, an environment variable that stands for an option, or the configuration
    /// makes no sense.
    Usage = 2,
    /// A result is worse than its baseline.
    Regression = 3,
    /// No benchmark was selected.
    NothingSelected = 4,
    /// Too little of a comparison could be judged, and `--fail-on-inconclusive` asks for it.
    /// nextest's 5 is another matter.
    Inconclusive = 6,
    /// The configuration needs a newer tool.
    RequiredVersion = 92,
    /// A device, a compiler or a sandbox that the run needs is missing.
    SetupMissing = 96,
    /// A benchmark failed, whatever else happened.
    BenchmarkFailed = 100,
    /// A crate or a kernel did not build.
    BuildFailed = 101,
    /// `cargo metadata` failed, or its answer cannot be used.
    MetadataFailed = 102,
    /// An archive could not be made or read.
    ArchiveFailed = 103,
    /// A built crate could not say which benchmarks it has.
    ListingFailed = 104,
    /// A result could not be written.
    OutputFailed = 110,
    /// The run was interrupted by a signal.
    Interrupted = 130,
}

impl ExitCode {
    /// The number the process exits with.
    pub fn number(self) -> u8 {
        self as u8
    }
}

impl From<ExitCode> for process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code.number())
    }
}
