//! Sealed workers after their last window.
//!
//! A GPU's driver makes and ends the contexts of all processes one after another, and the end of a
//! context takes longer than many a call. It must not happen during a window. Several ends at once
//! take less time than one after another, and less still while others start. So workers end
//! together, when the next ones start or the case is over.

use std::time::Duration;

use crate::clients::{Interrupt, WorkerClient};

/// About as much of a GPU's memory as a context takes, in bytes.
const CONTEXT_BYTES: u64 = 512 << 20;

/// Time limit to release the case after the last window. A worker that needs longer ends at once.
const RELEASE: Duration = Duration::from_secs(1);

/// Workers that are not needed any more. None has host code of a user.
#[derive(Debug, Default)]
pub struct LeavingWorkers {
    /// Those that have released their case, and only wait.
    released: Vec<WorkerClient>,
    /// Killed ones, whose ends the driver may still work on.
    ending: Vec<WorkerClient>,
}

impl LeavingWorkers {
    /// Receives a worker after its last window. It ends with others, unless it does not release its
    /// case: then its kernels may still run, and it ends at once.
    pub(super) fn add(&mut self, mut worker: WorkerClient, within: Duration, interrupt: &Interrupt) {
        if worker.rest(within.min(RELEASE), interrupt).is_ok() {
            self.released.push(worker);
        }
    }

    /// Receives the workers of a pool.
    pub(super) fn add_all(&mut self, others: LeavingWorkers) {
        self.released.extend(others.released);
        self.ending.extend(others.ending);
    }

    /// Kills the workers. [`LeavingWorkers::await_ends`] waits for their ends.
    pub(super) fn end(&mut self) {
        for mut worker in self.released.drain(..) {
            worker.child().kill();
            self.ending.push(worker);
        }
    }

    /// Waits for the ends of the killed workers.
    pub(super) fn await_ends(&mut self) {
        self.ending.clear();
    }

    /// Waits for the ends if a case that needs `bytes` may lack their memory. `free_memory` is how
    /// much was free at the start of the run, in bytes, if known. A context that has grown by its
    /// kernels' local memory takes more than a new one, so half of it is not enough.
    pub fn make_room(&mut self, bytes: u64, free_memory: Option<u64>) {
        let contexts = CONTEXT_BYTES.saturating_mul(self.ending.len() as u64);
        let needed = bytes.saturating_add(contexts);
        if free_memory.is_some_and(|free| needed > free / 4) {
            self.await_ends();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clients::{Child, RoleName};
    use gpubench_protocol::wire::{Channel, from_worker};

    const WITHIN: Duration = Duration::from_secs(60);

    fn simulated() -> (WorkerClient, Channel) {
        let (child, process) = Child::simulated(RoleName::Worker);
        (WorkerClient::simulated(child), process)
    }

    /// Adds a worker that releases its case. Returns its end of the connection.
    fn add(leaving: &mut LeavingWorkers) -> Channel {
        let (worker, process) = simulated();
        process.send(from_worker::RESTS, &[], &[]).unwrap();
        leaving.add(worker, WITHIN, &Interrupt::default());
        process
    }

    fn numbers(leaving: &LeavingWorkers) -> [usize; 2] {
        [leaving.released.len(), leaving.ending.len()]
    }

    #[test]
    fn workers_live_until_they_are_killed_together_and_then_have_ended() {
        let mut leaving = LeavingWorkers::default();
        let _processes = [add(&mut leaving), add(&mut leaving)];
        assert_eq!(numbers(&leaving), [2, 0]);
        assert!(leaving.released.iter_mut().all(|worker| !worker.child().has_ended()));
        leaving.await_ends();
        assert_eq!(numbers(&leaving), [2, 0]);
        leaving.end();
        assert_eq!(numbers(&leaving), [0, 2]);
        leaving.await_ends();
        assert_eq!(numbers(&leaving), [0, 0]);
    }

    #[test]
    fn a_worker_that_does_not_release_its_case_ends_at_once() {
        for answer in [None, Some(from_worker::FAILED)] {
            let (worker, process) = simulated();
            if let Some(kind) = answer {
                process.send(kind, &[], &[]).unwrap();
            }
            let mut leaving = LeavingWorkers::default();
            leaving.add(worker, Duration::from_millis(50), &Interrupt::default());
            assert_eq!(numbers(&leaving), [0, 0], "{answer:?}");
        }
    }

    #[test]
    fn ends_are_awaited_before_a_case_that_may_lack_memory() {
        let quarter = CONTEXT_BYTES + 1_000;
        for (free, bytes, waits) in [
            (None, u64::MAX, false),
            (Some(4 * quarter), 1_000, false),
            (Some(4 * quarter), 1_001, true),
            (Some(4 * quarter - 4), 1_000, true),
        ] {
            let mut leaving = LeavingWorkers::default();
            let _process = add(&mut leaving);
            leaving.end();
            leaving.make_room(bytes, free);
            assert_eq!(numbers(&leaving), [0, usize::from(!waits)], "{free:?}, {bytes}");
        }
    }

    #[test]
    fn the_workers_of_a_pool_keep_their_state() {
        let (mut all, mut of_pool) = (LeavingWorkers::default(), LeavingWorkers::default());
        let _process = add(&mut of_pool);
        of_pool.end();
        let _other = add(&mut of_pool);
        all.add_all(of_pool);
        assert_eq!(numbers(&all), [1, 1]);
    }
}
