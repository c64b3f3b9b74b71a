//! What the programs and the observer share.

use gpubench_bpf::{BpfError, Map, MapKind, Ring};

use crate::{Launches, Users};

/// Which processes are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Those that the map of processes lists. The kernel lists their children before they run.
    Listed,
    /// Those that the map of processes lists, without their children.
    Alone,
    /// All that call the driver. The kernel lists each at its first call.
    Everything,
}

/// What programs record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Recording {
    pub(crate) scope: Scope,
    pub(crate) launches: Launches,
    pub(crate) pids: Pids,
    pub(crate) users: Users,
}

/// Whose process ids are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pids {
    /// The kernel's own.
    OfTheKernel,
    /// Those of a namespace, and its processes alone: the observer is in a container.
    OfNamespace { device: u64, inode: u64 },
}

/// The maps of one observation.
#[derive(Debug)]
pub(crate) struct Maps {
    /// By number of function: entries, returns, errors, dropped, 8 bytes each.
    pub(crate) counters: Map,
    /// By pid: when the process began, how many of its streams are captured, and how many of its
    /// threads are in a call.
    pub(crate) processes: Map,
    /// By thread: the call that it is in, or was in.
    pub(super) calls: Map,
    /// By [`LaunchKey`](super::counted::LaunchKey): launches that have no record of their own.
    pub(crate) launches: Map,
    /// By processor: the launch that began last. Only its own failure is of interest.
    pub(super) latest: Map,
    pub(crate) ring: Ring,
}

/// Functions with different names. A driver has about 700.
pub(crate) const FUNCTIONS: u32 = 4096;

/// The counter of processes whose begin or end was lost.
pub(crate) const PROCESSES_LOST: u32 = FUNCTIONS - 1;

/// Processes at a time. Their entries are removed when they end.
pub(crate) const PROCESSES: u32 = 16_384;

/// Threads at a time that make calls whose returns are recorded. An entry is removed at the
/// thread's end.
const THREADS: u32 = 16_384;

/// Kernels of all processes whose launches are counted. The launches of more are recorded.
const LAUNCHES: u32 = 65_536;

/// Room for 90 ms at a million launches a second.
const RING_BYTES: u32 = 16 << 20;

/// Offsets in an entry of `counters`.
pub(crate) mod counter {
    pub(crate) const ENTRIES: i16 = 0;
    pub(crate) const RETURNS: i16 = 8;
    pub(crate) const ERRORS: i16 = 16;
    pub(crate) const DROPPED: i16 = 24;
    pub(crate) const BYTES: usize = 32;
}

/// Offsets in an entry of `processes`.
pub(super) mod process {
    pub(in crate::cuda) const STARTED: i16 = 0;
    pub(in crate::cuda) const CAPTURES: i16 = 8;
    /// How many threads are in a call whose return is recorded, or more: 0 is exact.
    pub(in crate::cuda) const CALLS: i16 = 16;
    /// Since when its handles of kernels stand for what they do. A handle of an earlier time may
    /// stand for another kernel.
    pub(in crate::cuda) const EPOCH: i16 = 24;
    pub(in crate::cuda) const BYTES: i16 = 32;
}

/// Offsets in an entry of `calls`.
pub(super) mod call {
    /// The stack pointer at the entry, 0 once the call returned. A call that another one makes has
    /// a lower one.
    pub(in crate::cuda) const STACK: i16 = 0;
    pub(in crate::cuda) const FUNCTION: i16 = 8;
    pub(in crate::cuda) const AT: i16 = 16;
    pub(in crate::cuda) const ARGUMENTS: i16 = 24;
    pub(in crate::cuda) const BYTES: i16 = 72;
}

/// Offsets in a key of `launches`.
pub(super) mod launch {
    pub(in crate::cuda) const HANDLE: i16 = 0;
    pub(in crate::cuda) const EPOCH: i16 = 8;
    pub(in crate::cuda) const PROCESS: i16 = 16;
    pub(in crate::cuda) const FUNCTION: i16 = 20;
    pub(in crate::cuda) const BYTES: i16 = 24;
}

/// Offsets in an entry of `latest`.
pub(super) mod latest {
    pub(in crate::cuda) const TASK: i16 = 0;
    pub(in crate::cuda) const HANDLE: i16 = 8;
    pub(in crate::cuda) const BYTES: i16 = 16;
}

/// When a process began that runs no program yet: it waits for its first exec.
pub(crate) const FIRST_SEEN: u64 = 1;

/// Returns the entry of a process that began at `started`.
pub(crate) fn process_value(started: u64) -> [u8; process::BYTES as usize] {
    let mut value = [0; process::BYTES as usize];
    for at in [process::STARTED, process::EPOCH] {
        value[at as usize..at as usize + 8].copy_from_slice(&started.to_ne_bytes());
    }
    value
}

impl Maps {
    pub(crate) fn create() -> Result<Maps, BpfError> {
        let hash = |key, value, entries, name| Map::create(MapKind::Hash, key, value, entries, name);
        Ok(Maps {
            counters: Map::create(MapKind::Array, 4, counter::BYTES, FUNCTIONS, "gpubench_counts")?,
            processes: hash(4, process::BYTES as usize, PROCESSES, "gpubench_procs")?,
            calls: hash(8, call::BYTES as usize, THREADS, "gpubench_calls")?,
            launches: hash(launch::BYTES as usize, 8, LAUNCHES, "gpubench_launch")?,
            latest: Map::create(MapKind::ProcessorArray, 4, latest::BYTES as usize, 1, "gpubench_latest")?,
            ring: Ring::create(RING_BYTES)?,
        })
    }
}
