//! The parts of a call, each timed alone: the steps of a plan, or the calls of a graph.

use gpubench_contract::Method;

use super::WorkerError;
use super::call::{Work, capture};
use crate::replay::FlushBuffer;
use crate::window::WindowCalls;
use crate::wire::{Claim, MAX_PARTS};
use gpubench_device::harness::Harness;
use gpubench_device::{DeviceError, Driver, Event, Graph, Stream};

/// The events before and after each part of a call.
pub(super) struct Parts {
    marks: Vec<[Event; 2]>,
    /// The parts with their events and flushes, if they are calls of a graph.
    graph: Option<(Graph, FlushBuffer)>,
}

impl Parts {
    /// Makes the events. Captures the parts if they are calls of a graph, each after `flush`.
    pub(super) fn new(
        driver: &mut dyn Driver,
        harness: &Harness,
        stream: Stream,
        work: &Work,
        calls: WindowCalls,
        flush: Option<FlushBuffer>,
    ) -> Result<Parts, WorkerError> {
        let count = number_of_parts(calls, work.steps());
        let mut marks = Vec::with_capacity(count);
        for _ in 0..count {
            marks.push([driver.event()?, driver.event()?]);
        }
        let mut parts = Parts { marks, graph: None };
        if let Some(flush) = flush.filter(|_| calls.method == Method::Graph) {
            let before = |driver: &mut dyn Driver| flush.queue(driver, harness, stream);
            let graph = capture(driver, stream, |driver| parts.queue_each(driver, stream, work, &before))?;
            parts.graph = Some((graph, flush));
        }
        Ok(parts)
    }

    /// Queues the parts, each between its events.
    pub(super) fn queue(&self, driver: &mut dyn Driver, stream: Stream, work: &Work) -> Result<(), DeviceError> {
        match self.graph {
            Some((graph, _)) => driver.launch_graph(stream, graph),
            None if self.marks.is_empty() => work.queue(driver, stream),
            None => self.queue_each(driver, stream, work, &|_| Ok(())),
        }
    }

    fn queue_each(
        &self,
        driver: &mut dyn Driver,
        stream: Stream,
        work: &Work,
        before: &dyn Fn(&mut dyn Driver) -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        let count = self.marks.len();
        for (part, [begins, ends]) in self.marks.iter().enumerate() {
            before(driver)?;
            driver.record(*begins, stream)?;
            work.queue_part(part, count, driver, stream)?;
            driver.record(*ends, stream)?;
        }
        Ok(())
    }

    /// Writes the times of the parts into a claim, after they have run.
    pub(super) fn read(&self, driver: &mut dyn Driver, claim: Claim) -> Result<Claim, DeviceError> {
        let mut claim = Claim {
            parts: self.marks.len() as u64,
            ..claim
        };
        for (time, [begins, ends]) in claim.part_ns.iter_mut().zip(&self.marks) {
            *time = driver.elapsed_ns(*begins, *ends)?;
        }
        Ok(claim)
    }

    /// Frees the graph and the memory of its flushes.
    pub(super) fn release(self, driver: &mut dyn Driver) {
        if let Some((graph, flush)) = self.graph {
            driver.release_graph(graph);
            driver.free(flush.buffer);
        }
    }
}

/// Returns the number of parts of a call with `steps` steps; 0 if there is only one step, or if
/// there are too many.
fn number_of_parts(calls: WindowCalls, steps: usize) -> usize {
    match (calls.method, calls.count.get() as usize) {
        (Method::Graph, calls @ ..=MAX_PARTS) => calls,
        (Method::Cold | Method::Warm, _) if (2..=MAX_PARTS).contains(&steps) => steps,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;

    #[test]
    fn parts_are_the_steps_of_a_plan_or_the_calls_of_a_graph() {
        let of_plan = |steps| number_of_parts(WindowCalls::one(Method::Cold), steps);
        assert_eq!(
            [0, 1, 2, MAX_PARTS, MAX_PARTS + 1].map(of_plan),
            [0, 0, 2, MAX_PARTS, 0]
        );
        let of_graph = |calls| {
            let calls = WindowCalls {
                method: Method::Graph,
                count: NonZeroU32::new(calls).unwrap(),
            };
            number_of_parts(calls, 100)
        };
        assert_eq!([1, 10, 65].map(of_graph), [1, 10, 0]);
    }
}
