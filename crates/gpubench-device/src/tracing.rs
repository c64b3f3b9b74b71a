//! What a device does for a process, operation by operation.
#![forbid(unsafe_code)]

use super::DeviceError;

/// An operation of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// What it did.
    pub kind: OperationKind,
    /// Its start by the device's clock, in nanoseconds.
    pub start_ns: u64,
    /// Its end.
    pub end_ns: u64,
}

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationKind {
    /// It runs a kernel.
    Kernel,
    /// It copies memory.
    Copy,
    /// It sets memory.
    Fill,
}

/// Records what the device does for this process between two moments at which it is idle. Until the
/// first `begin` it costs nothing.
pub trait Tracer: Send {
    /// Begins to record.
    ///
    /// # Errors
    /// When the device refuses.
    fn begin(&mut self) -> Result<(), DeviceError>;

    /// Ends, and returns the operations in any order.
    ///
    /// # Errors
    /// When the device refuses.
    fn end(&mut self) -> Result<Vec<Operation>, DeviceError>;
}

/// Returns the time in which at least one of some operations ran, in nanoseconds.
pub fn busy_ns(operations: &[Operation]) -> u64 {
    let mut spans: Vec<(u64, u64)> = operations.iter().map(|it| (it.start_ns, it.end_ns)).collect();
    spans.sort_unstable();
    let (mut busy, mut until) = (0, 0);
    for (start, end) in spans {
        busy += end.saturating_sub(start.max(until));
        until = until.max(end);
    }
    busy
}

/// Returns the time from the first start to the last end, in nanoseconds.
pub fn span_ns(operations: &[Operation]) -> u64 {
    let first = operations.iter().map(|it| it.start_ns).min().unwrap_or_default();
    let last = operations.iter().map(|it| it.end_ns).max().unwrap_or_default();
    last.saturating_sub(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operations(spans: &[(u64, u64)]) -> Vec<Operation> {
        let operation = |(start_ns, end_ns): &(u64, u64)| Operation {
            kind: OperationKind::Kernel,
            start_ns: *start_ns,
            end_ns: *end_ns,
        };
        spans.iter().map(operation).collect()
    }

    #[test]
    fn operations_that_overlap_count_once_and_gaps_do_not_count() {
        let overlapping = operations(&[(50, 60), (10, 20), (15, 30), (16, 18)]);
        assert_eq!((busy_ns(&overlapping), span_ns(&overlapping)), (30, 50));
        assert_eq!((busy_ns(&[]), span_ns(&[])), (0, 0));
        // A record without an end.
        assert_eq!(busy_ns(&operations(&[(10, 0)])), 0);
    }
}
