//! The clock of the GPU: the host's, or one that only the work of the GPU advances.

use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use gpubench_device::monotonic_ns;

use crate::behaviour::behaviour;
use crate::shared_page::shared_page;

/// How far each reading advances a clock of work, in nanoseconds.
const READING_NS: u64 = 1_000;

/// The size of the mapping.
const BYTES: usize = 0x1000;

/// A number that all processes of the run share. Its times depend on what the GPU does, and in
/// which order, but not on how long the machine takes for it.
pub(crate) struct WorkClock(&'static AtomicU64);

impl WorkClock {
    /// Returns the clock in the file of `FAKE_CUDA_CLOCK`, if it is set.
    pub(crate) fn get() -> Option<&'static WorkClock> {
        static CLOCK: OnceLock<Option<WorkClock>> = OnceLock::new();
        let clock = CLOCK.get_or_init(|| behaviour().clock.as_deref().map(WorkClock::map));
        clock.as_ref()
    }

    fn map(path: &Path) -> WorkClock {
        // SAFETY: the page has the number, and lives until the process ends.
        WorkClock(unsafe { &*shared_page(path, BYTES).cast() })
    }

    /// Returns the time in nanoseconds.
    pub(crate) fn read(&self) -> u64 {
        self.0.fetch_add(READING_NS, Ordering::AcqRel) + READING_NS
    }
}

/// Lets the GPU work for a while.
pub(crate) fn work_for(duration: Duration) {
    std::thread::sleep(duration);
    if let Some(WorkClock(now_ns)) = WorkClock::get() {
        now_ns.fetch_add(duration.as_nanos() as u64, Ordering::AcqRel);
    }
}

/// The clock of the tool's kernels, instead of the CPU device's.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn gb_host_clock() -> u64 {
    WorkClock::get().map_or_else(monotonic_ns, WorkClock::read)
}
