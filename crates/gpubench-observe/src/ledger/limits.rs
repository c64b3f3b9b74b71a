//! How much the ledger keeps.

/// The most of each thing that has its own row. The defaults need about 150 MB if all are reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Processes that run.
    pub processes: usize,
    /// Processes that ended.
    pub ended: usize,
    /// Live allocations of all processes together.
    pub allocations: usize,
    /// Handles of kernels of all processes together.
    pub functions: usize,
    /// Different names of kernels.
    pub names: usize,
    /// Kernels by process, of all processes together.
    pub kernels: usize,
    /// Kinds of errors, for each process and for all together.
    pub errors: usize,
    /// Programs.
    pub programs: usize,
    /// Kernels by program, of all programs together.
    pub kernels_of_programs: usize,
    /// Allocations of a process that are kept one by one when it ends.
    pub listed: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            processes: 4096,
            ended: 256,
            allocations: 1 << 18,
            functions: 1 << 18,
            names: 1 << 15,
            kernels: 1 << 17,
            errors: 256,
            programs: 128,
            kernels_of_programs: 1 << 16,
            listed: 0,
        }
    }
}

/// Rows that are left of a limit which processes share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    left: usize,
}

impl Budget {
    pub(super) fn new(limit: usize) -> Self {
        Self { left: limit }
    }

    /// Takes one row, and returns whether there was one.
    #[must_use]
    pub(super) fn take(&mut self) -> bool {
        let has_one = self.left > 0;
        self.left -= usize::from(has_one);
        has_one
    }

    /// Whether no row is left.
    pub(super) fn is_empty(self) -> bool {
        self.left == 0
    }

    /// Gives rows back.
    pub(super) fn give(&mut self, rows: usize) {
        self.left += rows;
    }
}

/// The limits that processes share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budgets {
    pub(super) allocations: Budget,
    pub(super) functions: Budget,
    pub(super) kernels: Budget,
}

impl Budgets {
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            allocations: Budget::new(limits.allocations),
            functions: Budget::new(limits.functions),
            kernels: Budget::new(limits.kernels),
        }
    }

    /// No rows at all.
    pub(super) const NONE: Budgets = Budgets {
        allocations: Budget { left: 0 },
        functions: Budget { left: 0 },
        kernels: Budget { left: 0 },
    };
}
