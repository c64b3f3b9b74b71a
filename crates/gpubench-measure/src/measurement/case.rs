//! A case that can be measured, and what it is measured in turns with.

use std::fmt::Debug;
use std::path::PathBuf;

use gpubench::catalog::{Execution, Recording};

use gpubench_contract::Method;
use gpubench_device::FrozenFile;
use gpubench_protocol::wire::SourceModule;

/// A case that can be measured.
#[derive(Debug)]
pub struct ReadyCase<'a> {
    /// Number in the run.
    pub number: u64,
    /// Position of the benchmark in its catalog.
    pub benchmark: u32,
    /// The encoded request it was recorded for.
    pub request: &'a [u8],
    /// The validated recording.
    pub recording: &'a Recording,
    /// Its encoding.
    pub encoded: &'a [u8],
    /// Compiled kernels of the plan by position of their source.
    pub modules: &'a [SourceModule],
    /// Compiled kernels of its generators, and of a reference that is a plan.
    pub own_modules: &'a [SourceModule],
    /// How its calls are measured.
    pub method: Method,
    /// The least time a call can take, in nanoseconds, where it is known.
    pub floor_ns: Option<f64>,
    /// The name its windows are marked with for a profiler, where they are.
    pub annotation: Option<&'a str>,
    /// The cdylib that it comes from.
    pub library: CaseLibrary<'a>,
}

/// Where a hosted worker finds the user's code.
#[derive(Clone, Copy, Debug)]
pub struct CaseLibrary<'a> {
    /// The cdylib, after the libraries that it needs.
    pub files: &'a [FrozenFile],
    /// Where it finds shared libraries that it loads while it runs.
    pub search: &'a [PathBuf],
}

/// What is measured, and what it is compared with window by window. Both have the same tensors.
#[derive(Clone, Copy, Debug)]
pub struct CasePair<'a> {
    /// What is measured.
    pub candidate: &'a ReadyCase<'a>,
    /// What it is compared with; its own reference and generators take no part.
    pub baseline: Option<&'a ReadyCase<'a>>,
    /// What the rounds are to decide; without one there are as many as workers.
    pub question: Option<&'a dyn StoppingQuery>,
}

impl CasePair<'_> {
    /// Whether host code of the user's runs in a worker.
    pub(super) fn holds_host_code(&self) -> bool {
        let cases = [Some(self.candidate), self.baseline];
        let mut cases = cases.into_iter().flatten();
        cases.any(|case| case.recording.execution == Execution::Hosted)
    }
}

/// Decides after a round whether two arms need more of them.
pub trait StoppingQuery: Debug {
    /// The number of rounds to go on to after `rounds`, given the samples of each worker so far;
    /// nothing where they decide, or where more would not help.
    fn next(&self, rounds: usize, baseline: &[&[f64]], candidate: &[&[f64]]) -> Option<usize>;

    /// The number of rounds where none decides, of a case that begins with `first`.
    fn most(&self, first: usize) -> usize;
}
