//! The events of the driver while cases run.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use gpubench_diagnostic::Failure;
use gpubench_observe::{Event, ObserveError, Observer, Source, SystemCall, SystemCalls, Target};

/// Pause between two looks at the events. The kernel has room for many more.
const PAUSE: Duration = Duration::from_millis(5);

/// Most events that are kept. More are lost.
const MOST_EVENTS: usize = 1 << 20;

/// What probes saw.
#[derive(Debug, Default)]
pub(crate) struct SeenEvents {
    /// The events of all processes of this run.
    pub(crate) events: Vec<Event>,
    /// Their system calls.
    pub(crate) system_calls: Vec<SystemCall>,
    /// Number of lost events.
    pub(crate) lost: u64,
}

/// Records the events of this process and its descendants, on a thread of its own.
#[derive(Debug)]
pub(crate) struct Probes {
    ends: Arc<AtomicBool>,
    thread: JoinHandle<Result<SeenEvents, Failure>>,
}

impl Probes {
    /// Attaches the probes.
    ///
    /// # Errors
    /// If this machine does not allow it.
    pub(crate) fn begin() -> Result<Probes, ObserveError> {
        let observer = Observer::attach(Target::Process(std::process::id()))?;
        let system_calls = SystemCalls::of(&observer)?;
        let ends = Arc::new(AtomicBool::new(false));
        let until = Arc::clone(&ends);
        Ok(Probes {
            thread: std::thread::spawn(move || record(observer, system_calls, &until)),
            ends,
        })
    }

    /// Removes the probes and returns what they saw.
    ///
    /// # Errors
    /// If the events could not be read.
    pub(crate) fn end(self) -> Result<SeenEvents, Failure> {
        self.ends.store(true, Ordering::Release);
        self.thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

fn record(mut source: impl Source, mut calls: SystemCalls, ends: &AtomicBool) -> Result<SeenEvents, Failure> {
    let mut seen = SeenEvents::default();
    loop {
        // What happened before the end is read after it.
        let is_last = ends.load(Ordering::Acquire);
        let SeenEvents {
            events,
            system_calls,
            lost,
        } = &mut seen;
        source.poll(&mut |event| match events.len() < MOST_EVENTS {
            true => events.push(event),
            false => *lost += 1,
        })?;
        calls.poll(&mut |call| match system_calls.len() < MOST_EVENTS {
            true => system_calls.push(call),
            false => *lost += 1,
        });
        if is_last {
            seen.lost += source.lost() + calls.lost().map_err(ObserveError::from)?;
            return Ok(seen);
        }
        std::thread::sleep(PAUSE);
    }
}
