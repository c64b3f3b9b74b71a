//! GPUs that fail while a run measures on them.

use std::ffi::c_int;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::behaviour::{LostGpu, behaviour, role};
use crate::error::Refusal;
use crate::shared_page::shared_page;

/// GPUs that a page counts.
const MOST: usize = 16;

/// How many workers have opened each GPU, in memory that all processes share.
fn workers() -> Option<&'static [AtomicU32; MOST]> {
    static PAGE: OnceLock<Option<&'static [AtomicU32; MOST]>> = OnceLock::new();
    *PAGE.get_or_init(|| {
        let LostGpu { page, .. } = behaviour().lost.as_ref()?;
        let start = shared_page(page, size_of::<[AtomicU32; MOST]>());
        // SAFETY: the page stays mapped, is large enough and aligned, and all use atomics.
        Some(unsafe { &*start.cast() })
    })
}

/// Maps the page, before the process gives up its right to open files.
pub(crate) fn prepare() {
    workers();
}

/// Notes that this process opens a GPU.
pub(crate) fn note_opened(ordinal: c_int) {
    if let Some(opened) = workers().and_then(|workers| workers.get(ordinal as usize))
        && role() == "worker"
    {
        opened.fetch_add(1, Ordering::SeqCst);
    }
}

/// Fails if the GPU has failed.
pub(crate) fn sound(ordinal: c_int) -> Result<(), Refusal> {
    let (Some(lost), Some(workers)) = (&behaviour().lost, workers()) else {
        return Ok(());
    };
    let opened = workers
        .get(ordinal as usize)
        .map_or(0, |opened| opened.load(Ordering::SeqCst));
    match lost.ordinals.contains(&ordinal) && opened > lost.workers {
        true => Err(Refusal(lost.code)),
        false => Ok(()),
    }
}
