//! A case that is ready to be measured, alone or against a baseline.

use std::fmt::Debug;
use std::path::PathBuf;

use gpubench::catalog::{Recording, Role, Tensor};

use super::protocol::Protocol;
use gpubench_contract::Method;
use gpubench_device::{FrozenFile, KernelHost};
use gpubench_protocol::window::{Gate, WindowCalls};
use gpubench_protocol::wire::SourceModule;

/// A case that is ready to be measured.
#[derive(Debug)]
pub struct ReadyCase<'a> {
    /// Number in the run.
    pub number: u64,
    /// Position of the benchmark in its catalog.
    pub benchmark: u32,
    /// The encoded request of the recording.
    pub request: &'a [u8],
    /// The validated recording.
    pub recording: &'a Recording,
    /// The encoded recording.
    pub encoded: &'a [u8],
    /// Compiled kernels of the plan, by position of their source.
    pub modules: &'a [SourceModule],
    /// Compiled kernels of the generators, and of a reference that is a plan.
    pub own_modules: &'a [SourceModule],
    /// The calls of its windows.
    pub calls: WindowCalls,
    /// Bytes that a flush between the calls of a graph accesses; 0 for other methods.
    pub flush_bytes: u64,
    /// The least time that a call can take, in nanoseconds, if known.
    pub floor_ns: Option<f64>,
    /// The name of the windows in a profiler, if they are annotated.
    pub annotation: Option<&'a str>,
    /// The cdylib of the case.
    pub library: CaseLibrary<'a>,
}

impl ReadyCase<'_> {
    /// Whether a call has parts that a worker can time one by one, or whose work on a device it may
    /// be able to record.
    pub(super) fn has_parts(&self, protocol: &Protocol<'_>) -> bool {
        if Gate::of(self.recording.execution) == Gate::Host {
            return protocol.kernels_run_in == KernelHost::Referee;
        }
        match self.calls.method {
            Method::Graph => true,
            Method::Cold | Method::Warm => self.recording.plan.steps.len() > 1,
            Method::Hot => false,
        }
    }
}

/// Returns a tensor that each call reads and changes. A case that has one cannot repeat its call on
/// the same tensors.
pub fn changed_input(recording: &Recording) -> Option<&Tensor> {
    recording.tensors.iter().find(|tensor| tensor.role == Role::InOut)
}

/// The user's code, for hosted workers.
#[derive(Clone, Copy, Debug)]
pub struct CaseLibrary<'a> {
    /// The libraries that the cdylib needs, then the cdylib.
    pub files: &'a [FrozenFile],
    /// Folders to search for shared libraries that it loads at run time.
    pub search: &'a [PathBuf],
}

/// The cases to measure in alternating windows. Both have the same tensors.
#[derive(Clone, Copy, Debug)]
pub struct CasePair<'a> {
    /// The case that is judged.
    pub candidate: &'a ReadyCase<'a>,
    /// The case to compare it with. Its reference and generators are not used.
    pub baseline: Option<&'a ReadyCase<'a>>,
    /// Decides the number of rounds. Without it there is one round for each worker.
    pub question: Option<&'a dyn StoppingQuery>,
}

impl CasePair<'_> {
    /// Whether a worker runs the user's host code.
    pub(super) fn holds_host_code(&self) -> bool {
        let cases = [Some(self.candidate), self.baseline];
        let mut cases = cases.into_iter().flatten();
        cases.any(|case| case.recording.execution.is_hosted())
    }
}

/// Decides after a round whether two arms need more rounds.
pub trait StoppingQuery: Debug {
    /// Returns how many rounds to reach after `rounds`, given the samples of each worker. Returns
    /// `None` if the result is decided or more rounds would not help.
    fn next(&self, rounds: usize, baseline: &[&[f64]], candidate: &[&[f64]]) -> Option<usize>;

    /// Returns the largest number of rounds for a case that begins with `first`.
    fn most(&self, first: usize) -> usize;
}
