//! Processes added up by the name of their program, for what must not have pids.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::activity::Activity;
use super::errors::{ErrorKey, ErrorTable};
use super::kernels::{KernelKey, LaunchCount};
use super::limits::Budget;
use crate::Timestamp;

/// The name of a program whose executable is not known.
const UNKNOWN: &str = "unknown";
/// The name of the programs beyond the limit.
const OTHER: &str = "other";

/// Kinds of errors of a program.
const MOST_ERRORS: usize = 16;

/// Which program a row is about. No other program gets the same key later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProgramKey(u64);

impl ProgramKey {
    /// The row that programs beyond the limit share.
    pub const OTHER: ProgramKey = ProgramKey(u64::MAX);
}

/// What all processes of a program did.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The file name of its executable.
    pub name: String,
    /// Whose its processes are, by the labels that the ledger tells apart. Empty for the others.
    pub owner: Vec<String>,
    /// What its processes did, those that ended included.
    pub activity: Activity,
    /// The calls of its processes that failed.
    pub errors: ErrorTable,
    /// How many of its processes run.
    pub running: usize,
    /// When one of its processes began or ended, the latest time.
    pub changed: Timestamp,
    kernels: HashMap<KernelKey, LaunchCount>,
}

impl Program {
    /// Returns each kernel with its launches. Launches that still wait for a name are absent.
    pub fn kernels(&self) -> impl Iterator<Item = (KernelKey, LaunchCount)> {
        self.kernels.iter().map(|(key, count)| (*key, *count))
    }

    /// Returns how many rows of kernels are taken from the budget.
    fn kernel_rows(&self) -> usize {
        self.kernels.len() - usize::from(self.kernels.contains_key(&KernelKey::Other))
    }
}

/// The programs. One that runs keeps its row. When there is no room for another one, the program
/// that ended first gives up its row.
#[derive(Clone, Debug)]
pub struct Programs {
    programs: BTreeMap<ProgramKey, Program>,
    of_names: HashMap<(String, Vec<String>), ProgramKey>,
    next: u64,
    kernels: Budget,
    retired: Activity,
    retired_rows: u64,
    turned_away: u64,
}

impl Programs {
    /// Returns an empty table with room for this many kernels of all programs together.
    pub(super) fn with_kernels(limit: usize) -> Self {
        Self {
            programs: BTreeMap::new(),
            of_names: HashMap::new(),
            next: 0,
            kernels: Budget::new(limit),
            retired: Activity::default(),
            retired_rows: 0,
            turned_away: 0,
        }
    }

    /// Returns the programs, in the order in which they were first seen.
    pub fn iter(&self) -> impl Iterator<Item = (ProgramKey, &Program)> {
        self.programs.iter().map(|(key, program)| (*key, program))
    }

    /// Returns what the programs did that gave up their rows.
    pub fn retired(&self) -> &Activity {
        &self.retired
    }

    /// Returns how many programs gave up their rows.
    pub fn retired_rows(&self) -> u64 {
        self.retired_rows
    }

    /// Returns how many processes are in the row of the others, since there was no room for their
    /// program.
    pub fn turned_away(&self) -> u64 {
        self.turned_away
    }

    /// Adds a process that runs to its program. Up to `limit` programs have their own row.
    pub(super) fn enter(&mut self, name: Option<&str>, owner: Vec<String>, now: Timestamp, limit: usize) -> ProgramKey {
        let name = (name.unwrap_or(UNKNOWN).to_owned(), owner);
        let key = match self.of_names.get(&name).copied() {
            Some(known) => known,
            None if self.has_room(limit) => {
                let key = ProgramKey(self.next);
                self.next += 1;
                let program = self.programs.entry(key).or_default();
                (program.name, program.owner) = name.clone();
                self.of_names.insert(name, key);
                key
            }
            None => {
                self.turned_away += 1;
                ProgramKey::OTHER
            }
        };
        let program = self.at(key);
        program.running += 1;
        program.changed = program.changed.max(now);
        key
    }

    /// Notes that a process of a program ended.
    pub(super) fn leave(&mut self, key: ProgramKey, now: Timestamp) {
        let program = self.at(key);
        program.running = program.running.saturating_sub(1);
        program.changed = program.changed.max(now);
    }

    pub(super) fn at(&mut self, key: ProgramKey) -> &mut Program {
        let program = self.programs.entry(key).or_default();
        if key == ProgramKey::OTHER && program.name.is_empty() {
            OTHER.clone_into(&mut program.name);
        }
        program
    }

    pub(super) fn launched(&mut self, key: ProgramKey, kernel: KernelKey, count: LaunchCount) {
        if count.is_zero() {
            return;
        }
        let is_free = kernel == KernelKey::Other || self.at(key).kernels.contains_key(&kernel);
        let kernel = if is_free || self.kernels.take() {
            kernel
        } else {
            KernelKey::Other
        };
        self.at(key).kernels.entry(kernel).or_default().merge(count);
    }

    pub(super) fn failed(&mut self, key: ProgramKey, error: &ErrorKey) {
        self.at(key).errors.count(error, MOST_ERRORS);
    }

    /// Whether there is no room for another kernel of a program.
    pub(super) fn are_full(&self) -> bool {
        self.kernels.is_empty()
    }

    /// Forgets kernels of programs that nothing is `used` by any more: the half with the fewest
    /// launches. Returns how many.
    pub(super) fn make_room(&mut self, used: &HashSet<(ProgramKey, KernelKey)>) -> usize {
        let programs = self.programs.iter();
        let rows = programs.flat_map(|(program, sums)| sums.kernels().map(|(kernel, count)| (*program, kernel, count)));
        let unused = rows.filter(|(program, kernel, _)| {
            matches!(kernel, KernelKey::Named(_)) && !used.contains(&(*program, *kernel))
        });
        let mut unused: Vec<_> = unused
            .map(|(program, kernel, count)| (count.launches, program, kernel))
            .collect();
        unused.sort_unstable();
        unused.truncate(unused.len().div_ceil(2));
        for (_, program, kernel) in &unused {
            self.at(*program).kernels.remove(kernel);
        }
        self.kernels.give(unused.len());
        unused.len()
    }

    /// Forgets kernels whose names are given up.
    pub(super) fn forget(&mut self, kernels: &HashSet<KernelKey>) {
        for program in self.programs.values_mut() {
            let before = program.kernels.len();
            program.kernels.retain(|kernel, _| !kernels.contains(kernel));
            self.kernels.give(before - program.kernels.len());
        }
    }

    /// Whether there is room for another program, if need be in place of one that ended.
    fn has_room(&mut self, limit: usize) -> bool {
        if self.of_names.len() < limit {
            return true;
        }
        let own = self.programs.iter().filter(|(key, _)| **key != ProgramKey::OTHER);
        let ended = own.filter(|(_, program)| program.running == 0);
        let Some(oldest) = ended.min_by_key(|(_, program)| program.changed).map(|(key, _)| *key) else {
            return false;
        };
        if let Some(program) = self.programs.remove(&oldest) {
            self.kernels.give(program.kernel_rows());
            self.retired.merge(&program.activity);
            self.retired_rows += 1;
            self.of_names.remove(&(program.name, program.owner));
        }
        true
    }
}
