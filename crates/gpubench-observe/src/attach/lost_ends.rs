//! Processes whose end was lost.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use crate::ProcessId;

/// Time between two looks, of which each asks the kernel once.
const BETWEEN: Duration = Duration::from_millis(250);
/// Looks at all processes after a loss. One that ends takes a moment until it is gone.
const LOOKS: u32 = 8;

/// Finds processes whose end was lost, after a loss.
#[derive(Debug)]
pub(super) struct LostEnds {
    lost: u64,
    looks: u32,
    next: Instant,
    /// Those that were gone at the last look. Their last records may not have been read then.
    gone: BTreeSet<ProcessId>,
}

impl LostEnds {
    pub(super) fn new() -> Self {
        Self {
            lost: 0,
            looks: 0,
            next: Instant::now(),
            gone: BTreeSet::new(),
        }
    }

    /// Whether it is time to ask how many records of processes were lost.
    pub(super) fn are_due(&mut self) -> bool {
        let now = Instant::now();
        let are_due = now >= self.next;
        if are_due {
            self.next = now + BETWEEN;
        }
        are_due
    }

    /// Returns the processes that are gone now and were at the last look, if records of processes
    /// were `lost` lately.
    pub(super) fn look(
        &mut self,
        lost: u64,
        followed: impl Iterator<Item = ProcessId>,
        has_ended: impl Fn(u32) -> bool,
    ) -> Vec<ProcessId> {
        if lost > self.lost {
            (self.lost, self.looks) = (lost, LOOKS);
        }
        if self.looks == 0 {
            return Vec::new();
        }
        self.looks -= 1;
        let gone: BTreeSet<_> = followed.filter(|process| has_ended(process.pid)).collect();
        let ended = gone.intersection(&self.gone).copied().collect();
        self.gone = gone;
        ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Timestamp;

    #[test]
    fn after_a_loss_a_process_that_is_gone_twice_has_ended() {
        let process = |pid| ProcessId {
            pid,
            started: Timestamp(1),
        };
        let mut ends = LostEnds::new();
        let mut look = |lost| ends.look(lost, [process(1), process(2)].into_iter(), |pid| pid == 2);
        assert_eq!(look(0), []);
        assert_eq!(look(3), [], "its last records may come");
        assert_eq!(look(3), [process(2)]);
        let more = (0..20).map(|_| look(3).len()).sum::<usize>();
        assert_eq!(more, 6, "nothing is asked long after a loss");
        assert_eq!(look(4), [process(2)]);
    }
}
