//! The referee's own clock: the device's, read by kernels of the referee into private memory.

use super::RefereeError;
use super::case::Referee;
use crate::wire::WindowFacts;
use gpubench_device::harness::{Batch, Findings, Nanoseconds, Ticket};

/// The moments of a preparation whose time is taken, in their order.
#[derive(Debug)]
pub(super) struct Stamps {
    /// Before the buffers are restored.
    pub(super) s0: Ticket<Nanoseconds>,
    /// Before the cache flush.
    pub(super) flush_begins: Ticket<Nanoseconds>,
    /// Behind it.
    pub(super) flush_ends: Ticket<Nanoseconds>,
    /// Before *go*.
    pub(super) s1: Ticket<Nanoseconds>,
}

impl Stamps {
    /// Puts the times in the facts, with the preparation's those at which the window was *done* and its outputs were copied.
    pub(super) fn report(
        self,
        [s2, s3]: [Ticket<Nanoseconds>; 2],
        found: &Findings,
        facts: &mut WindowFacts,
    ) -> Result<(), RefereeError> {
        let [flush_begins, flush_ends] = [found.of(self.flush_begins)?, found.of(self.flush_ends)?];
        facts.s0_ns = found.of(self.s0)?.0;
        facts.s1_ns = found.of(self.s1)?.0;
        facts.s2_ns = found.of(s2)?.0;
        facts.s3_ns = found.of(s3)?.0;
        facts.flush_ns = flush_ends.0.saturating_sub(flush_begins.0);
        Ok(())
    }
}

impl Referee {
    /// Queues: take the time.
    pub(super) fn stamp(&mut self, batch: &mut Batch) -> Result<Ticket<Nanoseconds>, RefereeError> {
        Ok(self.harness.stamp(&mut *self.driver, batch)?)
    }
}
