//! The device memory that host code has in use, from CUPTI's records of allocations.

use std::collections::HashMap;

use super::activity::{MemoryOperation, MemoryRecord, Recorder};
use crate::{Count, Counter, DeviceError};

/// The word in counts for memory that host code has allocated.
const ALLOCATED: &str = "allocated";

/// Follows the allocations of this process and counts the most bytes that are allocated at a time
/// in each range.
pub(in crate::cuda) struct CuptiAllocations {
    recorder: Recorder,
    allocated: Allocated,
    counts: Vec<Count>,
}

/// The bytes that are allocated.
#[derive(Debug, Default)]
struct Allocated {
    /// Bytes of each allocation, by address.
    live: HashMap<u64, u64>,
    now: u64,
    most: u64,
}

impl CuptiAllocations {
    /// Follows allocations from now on.
    ///
    /// # Errors
    /// [`DeviceError::Absent`] when CUPTI is missing, or refuses.
    pub(in crate::cuda) fn open() -> Result<CuptiAllocations, DeviceError> {
        let recorder = Recorder::open("device memory is recorded by CUPTI")?;
        recorder.record_memory()?;
        Ok(CuptiAllocations {
            recorder,
            allocated: Allocated::default(),
            counts: Vec::new(),
        })
    }

    fn catch_up(&mut self) -> Result<(), DeviceError> {
        self.allocated.follow(self.recorder.memory()?);
        Ok(())
    }
}

impl Counter for CuptiAllocations {
    fn description(&self) -> String {
        "the activity records of CUPTI".to_owned()
    }

    fn leave_out_so_far(&mut self) -> Result<(), DeviceError> {
        self.recorder.memory()?;
        self.allocated = Allocated::default();
        Ok(())
    }

    fn start(&mut self, _ranges: usize) -> Result<(), DeviceError> {
        self.counts.clear();
        Ok(())
    }

    fn begin(&mut self, range: &str) -> Result<(), DeviceError> {
        self.catch_up()?;
        self.allocated.most = self.allocated.now;
        self.counts.push(Count {
            range: range.to_owned(),
            of: ALLOCATED.to_owned(),
            value: 0.0,
        });
        Ok(())
    }

    fn end(&mut self) -> Result<(), DeviceError> {
        self.catch_up()?;
        if let Some(count) = self.counts.last_mut() {
            count.value = self.allocated.most as f64;
        }
        Ok(())
    }

    fn stop(&mut self) -> Result<Option<Vec<Count>>, DeviceError> {
        Ok(Some(std::mem::take(&mut self.counts)))
    }
}

impl Allocated {
    /// Follows what the records say. Those of several threads are in any order.
    fn follow(&mut self, mut records: Vec<MemoryRecord>) {
        records.sort_by_key(|record| record.at);
        for MemoryRecord {
            operation,
            address,
            bytes,
            ..
        } in records
        {
            let freed = match operation {
                MemoryOperation::Allocated => self.live.insert(address, bytes),
                MemoryOperation::Released => self.live.remove(&address),
            };
            self.now = self.now.saturating_sub(freed.unwrap_or_default());
            if operation == MemoryOperation::Allocated {
                self.now = self.now.saturating_add(bytes);
            }
            self.most = self.most.max(self.now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(at: u64, operation: MemoryOperation, address: u64, bytes: u64) -> MemoryRecord {
        MemoryRecord {
            at,
            operation,
            address,
            bytes,
        }
    }

    #[test]
    fn the_most_bytes_at_a_time_are_found_whatever_the_order_of_the_records() {
        use MemoryOperation::{Allocated as Got, Released};
        let mut allocated = Allocated::default();
        allocated.follow(vec![
            record(3, Released, 0x100, 0),
            record(1, Got, 0x100, 70),
            record(4, Got, 0x300, 20),
            record(2, Got, 0x200, 10),
        ]);
        assert_eq!((allocated.now, allocated.most), (30, 80));
        allocated.follow(vec![record(5, Released, 0x999, 5), record(6, Got, 0x300, 1)]);
        assert_eq!(
            (allocated.now, allocated.most),
            (11, 80),
            "an address has one allocation"
        );
        allocated.follow(vec![record(7, Got, 0x400, u64::MAX), record(8, Released, 0x400, 0)]);
        allocated.follow(vec![record(9, Released, 0x300, 0), record(10, Got, 0x500, 3)]);
        assert_eq!(allocated.now, 3, "impossible sizes neither wrap nor panic");
    }
}
