//! Events without a driver, for tests.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use gpubench_diagnostic::Failure;

use crate::{
    Allocation, ContextHandle, Copy, CopyDirection, Driver, DriverCall, Event, EventKind, Execution, FunctionHandle,
    FunctionTotal, Launch, LaunchKind, MemoryHandle, MemoryKind, Origin, Owner, ProcessId, ProcessStart, Source,
    StreamHandle, Timestamp, Waiting,
};

/// Gives recorded events, one batch a poll.
#[derive(Clone, Debug, Default)]
pub struct Replay {
    /// The batches. An empty one is a poll without events.
    pub batches: VecDeque<Vec<Event>>,
    /// What [`Source::totals`] returns.
    pub totals: Vec<FunctionTotal>,
    /// What [`Source::lost`] returns.
    pub lost: u64,
    /// What [`Source::drivers`] returns.
    pub drivers: Vec<Driver>,
}

impl Replay {
    /// Returns a source of one batch.
    pub fn new(events: impl IntoIterator<Item = Event>) -> Self {
        Self {
            batches: VecDeque::from([events.into_iter().collect()]),
            ..Self::default()
        }
    }
}

impl Source for Replay {
    fn poll(&mut self, sink: &mut dyn FnMut(Event)) -> Result<usize, Failure> {
        let batch = self.batches.pop_front().unwrap_or_default();
        let events = batch.len();
        batch.into_iter().for_each(sink);
        Ok(events)
    }

    fn totals(&self) -> Vec<FunctionTotal> {
        self.totals.clone()
    }

    fn lost(&self) -> u64 {
        self.lost
    }

    fn drivers(&self) -> Vec<Driver> {
        self.drivers.clone()
    }
}

/// Writes down the events of one process.
#[derive(Clone, Debug)]
pub struct Script {
    /// The process.
    pub process: ProcessId,
    /// The thread of the next events.
    pub thread: u32,
    /// The time of the next event.
    pub at: Timestamp,
    /// The context of the next allocations.
    pub context: ContextHandle,
    /// The events until now.
    pub events: Vec<Event>,
}

impl Script {
    /// Returns the script of a process that begins at a number of milliseconds, and runs `program`.
    pub fn new(pid: u32, started_ms: u64, program: &str) -> Self {
        let script = Self::unseen(pid, started_ms);
        script.push(EventKind::Started(ProcessStart {
            origin: Origin::Exec { before: None },
            executable: Some(format!("/opt/{program}").into()),
            command: vec![program.to_owned(), "--steps".to_owned(), "7".to_owned()],
            owner: Owner::default(),
        }))
    }

    /// Returns the script of a child that this process forks now.
    #[must_use]
    pub fn fork(&self, pid: u32) -> Self {
        let child = Self {
            process: ProcessId { pid, started: self.at },
            thread: pid,
            at: self.at,
            context: ContextHandle::default(),
            events: Vec::new(),
        };
        child.push(EventKind::Started(ProcessStart {
            origin: Origin::Fork { parent: self.process },
            executable: None,
            command: Vec::new(),
            owner: Owner::default(),
        }))
    }

    /// Returns the script of a process whose beginning is not seen.
    pub fn unseen(pid: u32, started_ms: u64) -> Self {
        let at = Timestamp(started_ms * 1_000_000);
        Self {
            process: ProcessId { pid, started: at },
            thread: pid,
            at,
            context: ContextHandle::default(),
            events: Vec::new(),
        }
    }

    /// Adds an event, a microsecond after the last one.
    #[must_use]
    pub fn push(mut self, kind: EventKind) -> Self {
        self.at.0 += 1000;
        self.events.push(Event {
            at: self.at,
            process: self.process,
            thread: self.thread,
            kind,
        });
        self
    }

    /// Waits.
    #[must_use]
    pub fn after_ms(mut self, milliseconds: u64) -> Self {
        self.at.0 += milliseconds * 1_000_000;
        self
    }

    /// Goes on in another thread.
    #[must_use]
    pub fn in_thread(mut self, thread: u32) -> Self {
        self.thread = thread;
        self
    }

    /// Uses another context.
    #[must_use]
    pub fn in_context(mut self, context: u64) -> Self {
        self.context = ContextHandle(context);
        self
    }

    /// Allocates memory of the device.
    #[must_use]
    pub fn allocate(self, value: u64, bytes: u64) -> Self {
        self.allocate_as(MemoryKind::Device, value, bytes)
    }

    /// Allocates memory of a kind.
    #[must_use]
    pub fn allocate_as(self, kind: MemoryKind, value: u64, bytes: u64) -> Self {
        let context = self.context;
        self.push(EventKind::Allocate(Allocation {
            kind,
            value,
            bytes,
            context,
            duration: Duration::from_micros(3),
        }))
    }

    /// Frees memory of the device.
    #[must_use]
    pub fn free(self, value: u64) -> Self {
        let space = MemoryKind::Device.space();
        self.push(EventKind::Free(MemoryHandle { space, value }))
    }

    /// Gives a kernel a name.
    #[must_use]
    pub fn name(self, function: u64, name: &str) -> Self {
        self.push(EventKind::Name {
            function: FunctionHandle(function),
            name: name.into(),
            module: None,
        })
    }

    /// Launches a kernel.
    #[must_use]
    pub fn launch(self, function: u64) -> Self {
        self.launch_as(function, LaunchKind::Plain, Execution::Runs)
    }

    /// Launches a kernel by another call.
    #[must_use]
    pub fn launch_as(self, function: u64, kind: LaunchKind, execution: Execution) -> Self {
        self.push(EventKind::Launch(Launch {
            function: FunctionHandle(function),
            stream: StreamHandle(0),
            grid: [1, 1, 1],
            block: [32, 1, 1],
            kind,
            execution,
        }))
    }

    /// Copies, with a call that waits for `duration`.
    #[must_use]
    pub fn copy(self, direction: CopyDirection, bytes: u64, duration: Duration) -> Self {
        self.copy_between(direction, (0, 0), bytes, duration)
    }

    /// Copies from one address to another.
    #[must_use]
    pub fn copy_between(
        self,
        direction: CopyDirection,
        (source, destination): (u64, u64),
        bytes: u64,
        duration: Duration,
    ) -> Self {
        self.push(EventKind::Copy(Copy {
            direction,
            bytes,
            destination,
            source,
            stream: StreamHandle(0),
            waiting: Waiting::Blocks,
            execution: Execution::Runs,
            duration,
        }))
    }

    /// Calls a function that fails.
    #[must_use]
    pub fn fail(self, call: &str, code: u32) -> Self {
        let call = DriverCall(Arc::from(call));
        self.push(EventKind::Failed { call, code })
    }

    /// Ends.
    #[must_use]
    pub fn exit(self, status: i32) -> Self {
        self.push(EventKind::Exited { status: Some(status) })
    }
}
