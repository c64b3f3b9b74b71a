//! Launches that the kernel counts.
//!
//! The first launch of a kernel by a process has a record, which says that later ones are counted.
//! So the reader knows each entry of the table, and loses none however fast a program launches.

use std::collections::BTreeMap;

use gpubench_bpf::Map;

use super::layout::{Record, field};
use super::map::launch;
use crate::{FunctionHandle, Timestamp};

/// A kernel of a process, and the function that launches it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LaunchKey {
    pub(super) handle: FunctionHandle,
    /// Since when the handle stands for what it does.
    pub(super) epoch: Timestamp,
    pub(super) process: u32,
    pub(super) function: u32,
}

impl LaunchKey {
    fn bytes(self) -> [u8; launch::BYTES as usize] {
        let mut bytes = [0; launch::BYTES as usize];
        let mut put = |at: i16, value: &[u8]| bytes[at as usize..][..value.len()].copy_from_slice(value);
        put(launch::HANDLE, &self.handle.0.to_ne_bytes());
        put(launch::EPOCH, &self.epoch.0.to_ne_bytes());
        put(launch::PROCESS, &self.process.to_ne_bytes());
        put(launch::FUNCTION, &self.function.to_ne_bytes());
        bytes
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> LaunchKey {
        LaunchKey {
            handle: FunctionHandle(double(&bytes[launch::HANDLE as usize..])),
            epoch: Timestamp(double(&bytes[launch::EPOCH as usize..])),
            process: double(&bytes[launch::PROCESS as usize..]) as u32,
            function: (double(&bytes[launch::PROCESS as usize..]) >> 32) as u32,
        }
    }
}

/// Returns the number that bytes of this machine begin with.
pub(super) fn double(bytes: &[u8]) -> u64 {
    let mut first = [0; 8];
    first.copy_from_slice(&bytes[..8]);
    u64::from_ne_bytes(first)
}

/// The counted kernels of a process, with the launches that are reported or that failed.
#[derive(Debug, Default)]
pub(super) struct CountedLaunches(BTreeMap<LaunchKey, u64>);

impl CountedLaunches {
    /// Notes that the kernel counts launches like this one from now on, if the record says so.
    pub(super) fn begin(&mut self, record: Record<'_>, handle: FunctionHandle) {
        let epoch = Timestamp(record.double(field::EPOCH));
        if epoch.0 != 0 {
            let key = LaunchKey {
                handle,
                epoch,
                process: record.process(),
                function: record.word(field::FUNCTION),
            };
            self.0.insert(key, 0);
        }
    }

    /// Takes one launch back, which failed after it was counted.
    pub(super) fn failed(&mut self, handle: FunctionHandle) {
        let latest = self.0.range_mut(..=last_of(handle)).next_back();
        if let Some((_, reported)) = latest.filter(|(key, _)| key.handle == handle) {
            *reported += 1;
        }
    }

    /// Returns how many launches of a count are new. A launch that failed may be counted later.
    pub(super) fn report(&mut self, key: LaunchKey, count: u64) -> u64 {
        let Some(reported) = self.0.get_mut(&key) else {
            return 0;
        };
        let new = count.saturating_sub(*reported);
        *reported += new;
        new
    }

    /// Ends the kernels whose handles may stand for others since `until`, and returns their
    /// launches that are not reported. Nobody launches them any more.
    pub(super) fn end(&mut self, until: Timestamp, table: &Map) -> Vec<(LaunchKey, u64)> {
        let all = std::mem::take(&mut self.0).into_iter();
        let (ended, going_on): (BTreeMap<_, _>, _) = all.partition(|(key, _)| key.epoch <= until);
        self.0 = going_on;
        let last = |(key, reported): (LaunchKey, u64)| {
            let bytes = key.bytes();
            let count = table.lookup(&bytes).ok().flatten().map_or(0, |count| double(&count));
            // An entry that stays takes room, and no more.
            let _ = table.delete(&bytes);
            (key, count.saturating_sub(reported))
        };
        ended.into_iter().map(last).filter(|(_, new)| *new > 0).collect()
    }
}

fn last_of(handle: FunctionHandle) -> LaunchKey {
    LaunchKey {
        handle,
        epoch: Timestamp(u64::MAX),
        process: u32::MAX,
        function: u32::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(handle: u64, epoch: u64) -> LaunchKey {
        LaunchKey {
            handle: FunctionHandle(handle),
            epoch: Timestamp(epoch),
            process: 0x1234_5678,
            function: 42,
        }
    }

    #[test]
    fn keys_survive_the_kernels_table() {
        assert_eq!(LaunchKey::from_bytes(&key(7, 8).bytes()), key(7, 8));
    }

    #[test]
    fn a_failed_launch_is_taken_back_before_or_after_it_is_counted() {
        let mut counted = CountedLaunches::default();
        counted.0.extend([(key(7, 1), 0), (key(8, 1), 0)]);
        assert_eq!(counted.report(key(7, 1), 10), 10);
        counted.failed(FunctionHandle(7));
        assert_eq!([11, 11, 13].map(|count| counted.report(key(7, 1), count)), [0, 0, 2]);
        counted.failed(FunctionHandle(6));
        assert_eq!(counted.report(key(8, 1), 1), 1);
    }
}
