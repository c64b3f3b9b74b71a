//! Which kernels have a row of their own.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::time::Duration;

use super::RETENTION;
use crate::Timestamp;
use crate::ledger::{KernelKey, Ledger, ProgramKey};

/// The most kernels with their own row.
pub(super) const MOST: usize = 400;

/// A kernel that was launched within this time runs. Others give up their rows to it.
const RUNS: Duration = Duration::from_secs(30);
/// After this time a launch weighs half as much in the choice of the busiest.
const HALF_LIFE: Duration = Duration::from_secs(30);
/// A kernel needs this many times the launches of one that has a row to take its place.
const ADVANTAGE: f64 = 2.0;

/// A kernel in a program.
type Key = (ProgramKey, KernelKey);

/// The launches of each kernel in a program. The busiest have a row of their own, which begins with
/// the launches at which it is given: what was counted among the others before stays there. So no
/// row ever shrinks, and no launch is in two rows.
#[derive(Clone, Debug, Default)]
pub(super) struct KernelRows {
    kernels: HashMap<Key, Kernel>,
    /// Launches of kernels without a row, by program.
    others: HashMap<ProgramKey, u64>,
    at: Timestamp,
    folded: u64,
    retired: u64,
}

#[derive(Clone, Copy, Debug)]
struct Kernel {
    /// All its launches.
    total: u64,
    /// Launches since the last page.
    new: u64,
    /// Launches, of which older ones weigh less.
    recent: f64,
    /// When it was launched last, as far as pages show.
    active: Timestamp,
    /// The launches in its row, if it has one.
    row: Option<u64>,
}

impl KernelRows {
    /// Counts what was launched since the last time.
    pub(super) fn update(&mut self, ledger: &Ledger, now: Timestamp) {
        let fading = now.since(self.at).as_secs_f64() / HALF_LIFE.as_secs_f64();
        let fading = 0.5_f64.powf(fading);
        self.at = now;
        let mut before = std::mem::take(&mut self.kernels);
        let mut others = std::mem::take(&mut self.others);
        for (program, sums) in ledger.programs().iter() {
            let mut without = others.remove(&program).unwrap_or(0);
            for (kernel, count) in sums.kernels().filter(|(_, count)| count.launches > 0) {
                let key = (program, kernel);
                let old = before.remove(&key);
                // Fewer than before: it was forgotten meanwhile, and counted again.
                let known = old.map(|old| old.total).filter(|total| *total <= count.launches);
                let new = count.launches - known.unwrap_or(0);
                let recent = old.map_or(0.0, |old| old.recent) * fading + new as f64;
                let active = if new > 0 {
                    now
                } else {
                    old.map_or(now, |old| old.active)
                };
                let row = old.and_then(|old| old.row);
                if kernel == KernelKey::Other {
                    without += new;
                    self.folded += new;
                }
                let total = count.launches;
                self.kernels.insert(
                    key,
                    Kernel {
                        total,
                        new,
                        recent,
                        active,
                        row,
                    },
                );
            }
            self.others.insert(program, without);
        }
        // Their kernels gave up their names, or their programs their rows.
        self.retired += before.values().filter(|gone| gone.row.is_some()).count() as u64;
        let chosen = self.chosen(now);
        for (key, kernel) in &mut self.kernels {
            match (chosen.contains(key), kernel.row) {
                (true, row) => kernel.row = Some(row.unwrap_or(0) + kernel.new),
                (false, row) if key.1 != KernelKey::Other => {
                    self.retired += u64::from(row.is_some());
                    self.folded += kernel.new;
                    *self.others.entry(key.0).or_default() += kernel.new;
                    kernel.row = None;
                }
                (false, _) => {}
            }
        }
    }

    /// Returns the launches of each kernel that has a row.
    pub(super) fn rows(&self) -> impl Iterator<Item = (ProgramKey, KernelKey, u64)> {
        let rows = self.kernels.iter();
        rows.filter_map(|((program, kernel), counts)| Some((*program, *kernel, counts.row?)))
    }

    /// Returns the launches of kernels without a row, by program.
    pub(super) fn others(&self) -> impl Iterator<Item = (ProgramKey, u64)> {
        let others = self.others.iter().map(|(program, launches)| (*program, *launches));
        others.filter(|(_, launches)| *launches > 0)
    }

    /// Returns how many launches are among the others.
    pub(super) fn folded(&self) -> u64 {
        self.folded
    }

    /// Returns how many rows were given up.
    pub(super) fn retired(&self) -> u64 {
        self.retired
    }

    /// Returns the kernels that have a row now. Those without a name have one in each program.
    fn chosen(&self, now: Timestamp) -> HashSet<Key> {
        let wants_row = |kernel: &Kernel| {
            let is_kept = kernel.row.is_some() && now.since(kernel.active) <= RETENTION;
            kernel.new > 0 || is_kept
        };
        let wanting = self.kernels.iter().filter(|(_, kernel)| wants_row(kernel));
        let (unnamed, mut named): (Vec<_>, Vec<_>) = wanting
            .filter(|((_, kernel), _)| *kernel != KernelKey::Other)
            .partition(|((_, kernel), _)| *kernel == KernelKey::Unnamed);
        if named.len() > MOST {
            named.sort_by(|(one_key, one), (other_key, other)| {
                rank(other, now).total_cmp(&rank(one, now)).then(one_key.cmp(other_key))
            });
            named.truncate(MOST);
        }
        named.into_iter().chain(unnamed).map(|(key, _)| *key).collect()
    }
}

/// Returns how much a kernel deserves a row. One that runs deserves it more than any that does not.
fn rank(kernel: &Kernel, now: Timestamp) -> f64 {
    let advantage = if kernel.row.is_some() { ADVANTAGE } else { 1.0 };
    let idle = now.since(kernel.active);
    match idle.cmp(&RUNS) {
        Ordering::Less | Ordering::Equal => kernel.recent * advantage,
        Ordering::Greater => -idle.as_secs_f64(),
    }
}
