//! Opens the gate of a window that would never be queued.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Longest time to queue the rest of a window while its call waits.
const LONGEST_QUEUEING: Duration = Duration::from_millis(250);

/// How queueing the rest of a window ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Queueing {
    Done,
    /// It had to wait for the call, so the gate was opened early.
    Stuck,
}

/// Queues the rest of a window while its call may wait for the device. Some waits of the driver
/// keep other threads from queueing, such as that of a copy to pageable memory. Then neither would
/// end, so `go` is written here.
pub(super) fn open_if_stuck<T>(go: &AtomicU32, window: u32, queue: impl FnOnce() -> T) -> (Queueing, T) {
    std::thread::scope(|scope| {
        let (ended, end) = channel::<()>();
        let guard = scope.spawn(move || match end.recv_timeout(LONGEST_QUEUEING) {
            Err(RecvTimeoutError::Timeout) => {
                go.store(window, Ordering::Release);
                Queueing::Stuck
            }
            Ok(()) | Err(RecvTimeoutError::Disconnected) => Queueing::Done,
        });
        let queued = queue();
        drop(ended);
        (guard.join().unwrap_or(Queueing::Stuck), queued)
    })
}
