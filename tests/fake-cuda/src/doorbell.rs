//! The doorbell of the GPU: a word in memory that a process writes when it submits work.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::behaviour::behaviour;
use crate::shared_page::shared_page;

/// The size of the mapping, and where the word is in it.
const BYTES: usize = 0x10000;
const WORD: usize = 0x90;

/// The functions that submit work, once each, as an H200 with driver 580 does.
const SUBMITTING: [&str; 10] = [
    "cuLaunchKernelEx",
    "cuGraphLaunch",
    "cuStreamWaitValue32_v2",
    "cuStreamWriteValue32_v2",
    "cuMemcpyAsync",
    "cuMemcpy2DAsync_v2",
    "cuMemcpyDtoHAsync_v2",
    "cuMemcpyHtoDAsync_v2",
    "cuMemsetD8Async",
    "cuEventRecord",
];

/// The mapped word.
pub(crate) struct Doorbell(&'static AtomicU32);

impl Doorbell {
    /// Maps the file of `FAKE_CUDA_DOORBELL`, if it is set.
    pub(crate) fn map() -> Option<Doorbell> {
        let start = shared_page(behaviour().doorbell.as_deref()?, BYTES);
        // SAFETY: the mapping has the word, and lives until the process ends.
        Some(Doorbell(unsafe { &*start.byte_add(WORD).cast() }))
    }

    /// Rings if the function submits work.
    pub(crate) fn ring_for(&self, function: &str) {
        if SUBMITTING.contains(&function) {
            self.0.store(1, Ordering::Release);
        }
    }
}
