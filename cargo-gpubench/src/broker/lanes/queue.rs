//! The cases that wait for a lane, longest first.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::job::Job;
use gpubench_measure::clients::Interrupt;

/// How long a lane waits for another before it looks whether the run was interrupted.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// Jobs that one lane measures, one group after another: the results of one case, or of cases that
/// alternate.
#[derive(Clone)]
pub(super) struct Unit<'u, 'j> {
    /// The groups. Jobs of one group are measured together.
    pub(super) groups: &'u [Vec<&'u Job<'j>>],
    /// Position of the first job among all jobs.
    pub(super) first: usize,
    /// The device that failed under it, if one did.
    pub(super) moved_from: Option<LostDevice>,
}

/// A device that failed.
#[derive(Clone, Debug)]
pub(super) struct LostDevice {
    /// Its name for people.
    pub(super) name: String,
    /// Why it cannot be used.
    pub(super) why: String,
}

impl std::fmt::Display for LostDevice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} failed ({})", self.name, self.why)
    }
}

/// What follows if a device fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OnLoss {
    /// Its cases fail.
    Reported,
    /// Other devices measure its cases.
    Moved,
}

/// The units that wait for a lane.
pub(super) struct Queue<'u, 'j> {
    /// What follows if the device of a lane fails.
    pub(super) on_loss: OnLoss,
    state: Mutex<State<'u, 'j>>,
    changed: Condvar,
}

struct State<'u, 'j> {
    waiting: VecDeque<Unit<'u, 'j>>,
    /// Units that lanes measure now. They may come back.
    underway: usize,
    lanes: usize,
}

impl<'u, 'j> Queue<'u, 'j> {
    /// Returns a queue of units, in the order in which `lanes` lanes take them.
    pub(super) fn new(units: Vec<Unit<'u, 'j>>, lanes: usize, on_loss: OnLoss) -> Queue<'u, 'j> {
        Queue {
            on_loss,
            state: Mutex::new(State {
                waiting: units.into(),
                underway: 0,
                lanes,
            }),
            changed: Condvar::new(),
        }
    }

    /// Takes the next unit. Waits while another lane may give one back. `None` if nothing more
    /// comes, or the run is interrupted.
    pub(super) fn take(&self, interrupt: &Interrupt) -> Option<Unit<'u, 'j>> {
        let mut state = self.state();
        loop {
            if interrupt.is_set() {
                return None;
            }
            if let Some(unit) = state.waiting.pop_front() {
                state.underway += 1;
                return Some(unit);
            }
            if state.underway == 0 || self.on_loss == OnLoss::Reported {
                return None;
            }
            let waited = self.changed.wait_timeout(state, BETWEEN_LOOKS);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Notes that a taken unit is done.
    pub(super) fn done(&self) {
        self.state().underway -= 1;
        self.changed.notify_all();
    }

    /// Gives what is left of a taken unit to the other lanes, and leaves. Returns the units that
    /// nobody can take if this was the last lane.
    pub(super) fn leave(&self, left: Option<Unit<'u, 'j>>) -> Vec<Unit<'u, 'j>> {
        let mut state = self.state();
        state.underway = state.underway.saturating_sub(1);
        state.lanes = state.lanes.saturating_sub(1);
        left.into_iter().for_each(|unit| state.waiting.push_front(unit));
        let stranded = match state.lanes {
            0 => std::mem::take(&mut state.waiting).into(),
            _ => Vec::new(),
        };
        drop(state);
        self.changed.notify_all();
        stranded
    }

    /// Returns a value that leaves the queue if this thread panics: the other lanes would wait for
    /// it for ever.
    pub(super) fn left_by_a_panic(&self) -> impl Drop + use<'_, 'u, 'j> {
        LeftByAPanic(self)
    }

    fn state(&self) -> MutexGuard<'_, State<'u, 'j>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct LeftByAPanic<'q, 'u, 'j>(&'q Queue<'u, 'j>);

impl Drop for LeftByAPanic<'_, '_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.leave(None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(first: usize) -> Unit<'static, 'static> {
        Unit {
            groups: &[],
            first,
            moved_from: None,
        }
    }

    fn uninterrupted() -> Interrupt {
        Interrupt::catch().expect("signals can be caught")
    }

    #[test]
    fn a_lane_waits_for_what_another_may_give_back() {
        let (queue, interrupt) = (Queue::new(vec![unit(0)], 2, OnLoss::Moved), uninterrupted());
        let taken = queue.take(&interrupt).expect("a unit");
        std::thread::scope(|threads| {
            let other = threads.spawn(|| queue.take(&interrupt).map(|unit| unit.first));
            assert!(queue.leave(Some(taken)).is_empty(), "a lane is left");
            assert_eq!(other.join().expect("no panic"), Some(0));
        });
        queue.done();
        assert!(queue.take(&interrupt).is_none());
    }

    #[test]
    fn a_lane_does_not_wait_if_nothing_comes_back() {
        let (queue, interrupt) = (Queue::new(vec![unit(0)], 2, OnLoss::Reported), uninterrupted());
        let taken = queue.take(&interrupt);
        assert!(taken.is_some() && queue.take(&interrupt).is_none());
    }

    #[test]
    fn the_last_lane_gets_what_nobody_can_take() {
        let (queue, interrupt) = (Queue::new(vec![unit(0), unit(3)], 1, OnLoss::Moved), uninterrupted());
        let taken = queue.take(&interrupt);
        let stranded = queue.leave(taken);
        let first: Vec<usize> = stranded.iter().map(|unit| unit.first).collect();
        assert_eq!(first, [0, 3]);
    }

    #[test]
    fn a_lane_that_panics_lets_the_others_end() {
        let (queue, interrupt) = (Queue::new(vec![unit(0)], 2, OnLoss::Moved), uninterrupted());
        let taken = std::thread::scope(|threads| {
            let panicking = threads.spawn(|| {
                let _left = queue.left_by_a_panic();
                let _taken = queue.take(&interrupt);
                panic!("the lane ends");
            });
            assert!(panicking.join().is_err());
            queue.take(&interrupt)
        });
        assert!(taken.is_none());
    }

    #[test]
    fn an_interrupted_lane_takes_nothing() {
        let (queue, interrupt) = (Queue::new(vec![unit(0)], 1, OnLoss::Moved), uninterrupted().child());
        interrupt.cancel();
        assert!(queue.take(&interrupt).is_none());
    }
}
