//! One process.

use std::collections::{HashMap, HashSet};

use super::errors::{ErrorKey, ErrorTable};
use super::functions::Functions;
use super::kernels::{KernelKey, LaunchCount};
use super::limits::{Budget, Budgets};
use super::live_memory::{Left, LiveMemory};
use super::programs::ProgramKey;
use super::{Activity, ByKind};
use crate::{Origin, ProcessId, ProcessStart, Timestamp};

/// The end of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// When it ended.
    pub at: Timestamp,
    /// The status that `wait` gives, if it is known.
    pub status: Option<i32>,
    /// What it had when it or its contexts ended.
    pub left: Left,
}

/// A process and what it did.
#[derive(Clone, Debug)]
pub struct Process {
    /// Which process it is.
    pub id: ProcessId,
    /// How it began and what it runs, if that was seen.
    pub start: Option<ProcessStart>,
    /// When its first event was.
    pub first_seen: Timestamp,
    /// How it ended. `None` while it runs.
    pub ended: Option<Ended>,
    /// Its sums.
    pub activity: Activity,
    /// Its memory. Empty when it has ended.
    pub memory: LiveMemory,
    /// The most bytes that were live at once.
    pub peak_bytes: u64,
    /// Its errors.
    pub errors: ErrorTable,
    pub(super) kernels: HashMap<KernelKey, LaunchCount>,
    pub(super) functions: Functions,
    /// What it had when contexts ended.
    left: Left,
    /// Its row in the table of programs, from its first event that counts on.
    pub(super) program_key: Option<ProgramKey>,
}

impl Process {
    pub(super) fn new(id: ProcessId, start: Option<ProcessStart>, first_seen: Timestamp) -> Self {
        Self {
            id,
            start,
            first_seen,
            ended: None,
            activity: Activity::default(),
            memory: LiveMemory::default(),
            peak_bytes: 0,
            errors: ErrorTable::default(),
            kernels: HashMap::new(),
            functions: Functions::default(),
            left: Left::default(),
            program_key: None,
        }
    }

    /// Returns each kernel with its launches. Launches that wait for a name are
    /// [`KernelKey::Unnamed`] until then.
    pub fn kernels(&self) -> Vec<(KernelKey, LaunchCount)> {
        let mut kernels = self.kernels.clone();
        kernels
            .entry(KernelKey::Unnamed)
            .or_default()
            .merge(self.functions.waiting());
        let mut kernels: Vec<_> = kernels.into_iter().filter(|(_, count)| !count.is_zero()).collect();
        kernels.sort_by_key(|(key, count)| (std::cmp::Reverse(count.launches), *key));
        kernels
    }

    /// Returns the file name of its executable, or else of its first argument.
    pub fn program(&self) -> Option<&str> {
        program_of(self.start.as_ref()?)
    }

    /// Returns the process that forked it, if it still runs the same program.
    pub(super) fn parent(&self) -> Option<ProcessId> {
        match self.start.as_ref()?.origin {
            Origin::Fork { parent } => Some(parent),
            Origin::Before | Origin::Exec { .. } => None,
        }
    }

    /// Whether nothing was seen but that it exists.
    pub fn is_idle(&self) -> bool {
        self.activity.is_idle()
    }

    /// Returns how many rows of kernels are taken from the budget: all but that of the others.
    pub(super) fn kernel_rows(&self) -> usize {
        self.kernels.len() - usize::from(self.kernels.contains_key(&KernelKey::Other))
    }

    pub(super) fn launched(&mut self, kernel: KernelKey, count: LaunchCount, budget: &mut Budget) {
        if count.is_zero() {
            return;
        }
        let is_free = kernel == KernelKey::Other || self.kernels.contains_key(&kernel);
        let kernel = if is_free || budget.take() {
            kernel
        } else {
            KernelKey::Other
        };
        self.kernels.entry(kernel).or_default().merge(count);
    }

    /// Makes kernels whose names are given up others.
    pub(super) fn forget(&mut self, kernels: &HashSet<KernelKey>, budget: &mut Budget) {
        let mut forgotten = LaunchCount::default();
        let before = self.kernels.len();
        self.kernels.retain(|kernel, count| {
            let stays = !kernels.contains(kernel);
            if !stays {
                forgotten.merge(*count);
            }
            stays
        });
        budget.give(before - self.kernels.len());
        self.launched(KernelKey::Other, forgotten, budget);
    }

    pub(super) fn failed(&mut self, error: &ErrorKey, limit: usize) {
        self.errors.count(error, limit);
    }

    /// Notes what it had when it, or a context, ended.
    pub(super) fn leave(&mut self, left: Left, listed: usize) {
        self.left.add(left, listed);
    }

    /// Ends the process, and returns the memory it had and the launches without a name.
    pub(super) fn end(
        &mut self,
        at: Timestamp,
        status: Option<i32>,
        listed: usize,
        budgets: &mut Budgets,
    ) -> (ByKind, LaunchCount) {
        let left = *self.memory.totals();
        self.leave(self.memory.left(listed), listed);
        let kept = std::mem::take(&mut self.left);
        self.memory.clear(&mut budgets.allocations);
        let unnamed = self.functions.clear(&mut budgets.functions);
        self.ended = Some(Ended { at, status, left: kept });
        (left, unnamed)
    }
}

/// Returns the file name of the executable, or else of the first argument.
pub(crate) fn program_of(start: &ProcessStart) -> Option<&str> {
    let executable = start.executable.as_ref().and_then(|path| path.file_name()?.to_str());
    executable.or_else(|| start.command.first()?.rsplit('/').next())
}
