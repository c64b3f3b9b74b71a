//! The referee's clock: timestamps of the device, written by the referee's kernels into private
//! memory.

use super::RefereeError;
use super::case::Referee;
use crate::wire::WindowFacts;
use gpubench_device::harness::{Batch, Findings, Nanoseconds, Ticket};

/// The timestamps of a preparation, in order.
#[derive(Debug)]
pub(super) struct Preparation {
    /// Before the buffers are restored, for the last time if calls with other inputs come first.
    pub(super) s0: Ticket<Nanoseconds>,
    /// Before the cache flush.
    pub(super) flush_begins: Ticket<Nanoseconds>,
    /// After the cache flush.
    pub(super) flush_ends: Ticket<Nanoseconds>,
}

/// The timestamps of a window.
#[derive(Debug)]
pub(super) struct Stamps {
    /// Those before *go*.
    pub(super) preparation: Preparation,
    /// Before *go*.
    pub(super) s1: Ticket<Nanoseconds>,
    /// After *done*.
    pub(super) s2: Ticket<Nanoseconds>,
    /// After the copies of the outputs.
    pub(super) s3: Ticket<Nanoseconds>,
}

impl Stamps {
    /// Writes the times into the facts.
    pub(super) fn report(self, found: &Findings, facts: &mut WindowFacts) -> Result<(), RefereeError> {
        let Preparation {
            s0,
            flush_begins,
            flush_ends,
        } = self.preparation;
        let [flush_begins, flush_ends] = [found.get(flush_begins)?, found.get(flush_ends)?];
        facts.s0_ns = found.get(s0)?.0;
        facts.s1_ns = found.get(self.s1)?.0;
        facts.s2_ns = found.get(self.s2)?.0;
        facts.s3_ns = found.get(self.s3)?.0;
        facts.flush_ns = flush_ends.0.saturating_sub(flush_begins.0);
        Ok(())
    }
}

impl Referee {
    /// Queues a timestamp.
    pub(super) fn stamp(&mut self, batch: &mut Batch) -> Result<Ticket<Nanoseconds>, RefereeError> {
        Ok(self.harness.stamp(&mut *self.driver, batch)?)
    }
}
