//! How cases are measured.

use std::time::Duration;

use super::run_mode::RunMode;
use crate::clients::{Interrupt, Output};
use gpubench_device::{ClockBound, DeviceOrder, KernelHost};
use gpubench_protocol::window::Seeds;
use gpubench_stats::{StopRule, WarmUpRule, WorkerCountRule};

/// How cases are measured.
#[derive(Debug)]
pub struct Protocol<'a> {
    /// What cases are run for.
    pub mode: RunMode,
    /// How many fresh workers a case's samples come from; fewer where there may be fewer samples.
    pub worker_count: WorkerCountRule,
    /// When the first worker's warm-up is over.
    pub warm_up: WarmUpRule,
    /// When a case has samples enough.
    pub stop: StopRule,
    /// How long a window may take.
    pub within: Duration,
    /// How long a generator or a reference may take.
    pub reference_within: Duration,
    /// Who runs kernels of generators and references.
    pub kernels_run_in: KernelHost,
    /// The device.
    pub device: DeviceOrder,
    /// Seeds of the orders of blocks and threads that the workers of a test have, one after
    /// another.
    pub schedules: &'a [u64],
    /// What becomes of what user code prints.
    pub output: Output,
    /// Whether the referee's clock bounds the worker's claims.
    pub clock_bound: &'a ClockBound,
    /// The run's keys.
    pub seeds: &'a Seeds,
    /// Ctrl-C.
    pub interrupt: &'a Interrupt,
}

impl Protocol<'_> {
    /// The device as an arm's worker opens it, which is the `position`-th, counted from 0.
    pub(super) fn device_of_worker(&self, position: usize) -> DeviceOrder {
        match (self.mode, self.schedules.get(position)) {
            (RunMode::Test, Some(schedule)) => self.device.with_schedule(*schedule),
            _ => self.device,
        }
    }
}
