//! A thread for host code that may wait for the device. Meanwhile the thread of the driver queues
//! what follows the call.

use std::os::unix::thread::JoinHandleExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use super::context::Entry;
use crate::{DeviceError, HostFailure, HostWork};

/// How often the work of the thread is looked at.
const A_LOOK: Duration = Duration::from_micros(100);

/// The thread. It ends with the value, unless a call still runs.
pub(super) struct HostThread {
    calls: Sender<HostWork>,
    ends: Receiver<Result<(), DeviceError>>,
    state: CallState,
    worked: Worked,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CallState {
    Idle,
    Running,
}

impl HostThread {
    /// Starts the thread for calls in a context.
    ///
    /// # Errors
    /// When the machine has no thread left, or no clock of its work.
    pub(super) fn start(entry: Entry) -> Result<HostThread, DeviceError> {
        let (calls, orders) = channel::<HostWork>();
        let (results, ends) = channel();
        let began_ns = Arc::new(AtomicU64::new(NOT_BEGUN));
        let begins_ns = Arc::clone(&began_ns);
        let serve = move || {
            for work in orders {
                begins_ns.store(read_ns(libc::CLOCK_THREAD_CPUTIME_ID), Ordering::Release);
                if results.send(entry.call(work)).is_err() {
                    break;
                }
            }
        };
        let failed = |source| DeviceError::Os {
            what: "starting the thread of the host code",
            source,
        };
        let thread = std::thread::Builder::new().name("host-code".to_owned());
        let thread = thread.spawn(serve).map_err(failed)?;
        Ok(HostThread {
            calls,
            ends,
            state: CallState::Idle,
            worked: Worked {
                clock: clock_of(thread.as_pthread_t()).map_err(failed)?,
                began_ns,
            },
        })
    }

    /// Begins a call.
    ///
    /// # Errors
    /// When another one still runs.
    pub(super) fn begin(&mut self, work: HostWork) -> Result<(), DeviceError> {
        if self.state == CallState::Running {
            return Err(DeviceError::Unsupported("make two host calls at once".to_owned()));
        }
        self.worked.began_ns.store(NOT_BEGUN, Ordering::Release);
        self.calls.send(work).map_err(|_| ended())?;
        self.state = CallState::Running;
        Ok(())
    }

    /// Waits for the end of the call, until the thread has worked on it for `work`, or `patience`
    /// is over. Returns whether it has ended, or none was begun.
    ///
    /// # Errors
    /// That of the call.
    pub(super) fn end(&mut self, work: Duration, patience: Duration) -> Result<bool, DeviceError> {
        if self.state == CallState::Idle {
            return Ok(true);
        }
        let began = Instant::now();
        while self.worked.time() < work && began.elapsed() < patience {
            match self.ends.recv_timeout(A_LOOK) {
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(ended()),
                Ok(result) => {
                    self.state = CallState::Idle;
                    return result.map(|()| true);
                }
            }
        }
        Ok(false)
    }
}

/// The processor time that a call has used. A call whose thread gets no processor does not work.
struct Worked {
    clock: libc::clockid_t,
    /// The clock when the call began.
    began_ns: Arc<AtomicU64>,
}

/// The call has not begun.
const NOT_BEGUN: u64 = u64::MAX;

impl Worked {
    fn time(&self) -> Duration {
        let began_ns = self.began_ns.load(Ordering::Acquire);
        Duration::from_nanos(read_ns(self.clock).saturating_sub(began_ns))
    }
}

/// Returns the clock of a thread's processor time.
fn clock_of(thread: libc::pthread_t) -> std::io::Result<libc::clockid_t> {
    let mut clock = 0;
    // SAFETY: it writes one number, and the thread lives: it waits for its first call.
    match unsafe { libc::pthread_getcpuclockid(thread, &mut clock) } {
        0 => Ok(clock),
        code => Err(std::io::Error::from_raw_os_error(code)),
    }
}

/// Returns the reading of a clock in nanoseconds; 0 if its thread has ended.
fn read_ns(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: it writes one time.
    match unsafe { libc::clock_gettime(clock, &mut time) } {
        0 => time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64,
        _ => 0,
    }
}

/// The thread is gone, which only its own end explains.
fn ended() -> DeviceError {
    HostFailure::Panicked("the thread of the host code ended".to_owned()).into()
}
