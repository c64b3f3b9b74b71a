//! The clock of the GPU: the host's, or one that only the work of the GPU advances.

use std::fs::OpenOptions;
use std::os::fd::AsRawFd as _;
use std::path::Path;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use gpubench_device::monotonic_ns;

use crate::behaviour::behaviour;

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
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(path);
        let file = file.unwrap_or_else(|error| panic!("cannot open `{}`: {error}", path.display()));
        file.set_len(BYTES as u64).expect("the file can have a size");
        let rights = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: the kernel chooses the address.
        let start = unsafe { libc::mmap(ptr::null_mut(), BYTES, rights, libc::MAP_SHARED, file.as_raw_fd(), 0) };
        assert_ne!(start, libc::MAP_FAILED, "the file can be mapped");
        // SAFETY: the mapping has the number, and lives until the process ends.
        WorkClock(unsafe { &*start.cast() })
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
