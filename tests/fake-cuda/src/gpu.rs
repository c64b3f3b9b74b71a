//! The state of one process: a CPU device, and the handles that refer to it.

use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use gpubench_device::FaultCode;
use gpubench_device::cpu::CpuDriver;
use gpubench_device::cpu::executor::ScheduleSeed;
use gpubench_device::{DeviceError, Driver as _, Event, Fault, Function, Graph, Module, Stream};

use crate::cheat::Cheat;
use crate::clock::WorkClock;
use crate::doorbell::Doorbell;
use crate::error::{INVALID_HANDLE, INVALID_VALUE, LAUNCH_FAILED, NOT_READY, Refusal};
use crate::ledger::Ledger;
use crate::lost;
use crate::memory::AddressSpace;

/// The fake GPU of this process.
pub(crate) struct Gpu {
    pub(crate) cpu: CpuDriver,
    pub(crate) addresses: AddressSpace,
    pub(crate) ledger: Ledger,
    pub(crate) doorbell: Option<Doorbell>,
    /// The times of events by the clock of work, where there is one. Events in graphs have none.
    pub(crate) event_times: HashMap<Event, Arc<AtomicU64>>,
    /// The names of the looked-up kernels, in the order of their handles.
    pub(crate) kernels: Vec<String>,
    /// The number of streams so far. The CPU device numbers them from 0.
    pub(crate) streams: u32,
    /// The signal that this process gets at its next wait.
    pub(crate) signal_underway: Option<c_int>,
    /// The value added to numbers that streams write.
    pub(crate) added: c_int,
    /// `Some` if this process is a cheating worker.
    pub(crate) cheat: Option<Cheat>,
    /// The code of a planned fault that was queued.
    pub(crate) fault_underway: Option<c_int>,
    /// The code that every call returns after a fault.
    fault: Option<c_int>,
    /// The number of the GPU that the process has a context on.
    pub(crate) ordinal: c_int,
}

/// The time that one stream query waits. A real driver answers at once; the CPU device answers from
/// another thread.
const A_LOOK: std::time::Duration = std::time::Duration::from_millis(1);

impl Gpu {
    pub(crate) fn new() -> Result<Gpu, DeviceError> {
        // It is mapped before the process gives up its right to open files.
        WorkClock::get();
        lost::prepare();
        let mut cpu = CpuDriver::new(None, ScheduleSeed::Natural)?;
        // Number 0, the default stream.
        cpu.stream()?;
        Ok(Gpu {
            cpu,
            addresses: AddressSpace::default(),
            ledger: Ledger::open(),
            doorbell: Doorbell::map(),
            event_times: HashMap::new(),
            kernels: Vec::new(),
            streams: 1,
            signal_underway: None,
            added: 0,
            cheat: None,
            fault_underway: None,
            fault: None,
            ordinal: 0,
        })
    }

    /// Queues the reading of the clock for an event.
    pub(crate) fn record(&mut self, event: Event, stream: Stream) -> Result<(), Refusal> {
        self.cpu.record(event, stream)?;
        self.event_times.remove(&event);
        if let Some(clock) = WorkClock::get() {
            let time_ns = Arc::new(AtomicU64::new(0));
            let read = Arc::clone(&time_ns);
            let read = move || {
                read.store(clock.read(), Ordering::Release);
                Ok(())
            };
            // A stream that captures refuses it.
            if self.cpu.host_call(stream, Box::new(read)).is_ok() {
                self.event_times.insert(event, time_ns);
            }
        }
        Ok(())
    }

    /// Returns the time between two events in nanoseconds.
    pub(crate) fn elapsed_ns(&mut self, start: Event, end: Event) -> Result<f64, Refusal> {
        let [start_ns, end_ns] = [start, end].map(|event| {
            let time_ns = self.event_times.get(&event)?;
            Some(time_ns.load(Ordering::Acquire))
        });
        match start_ns.zip(end_ns) {
            Some((start_ns, end_ns)) => Ok(end_ns.saturating_sub(start_ns) as f64),
            None => Ok(self.cpu.elapsed_ns(start, end)?),
        }
    }

    /// Creates a stream.
    pub(crate) fn create_stream(&mut self) -> Result<Stream, Refusal> {
        let made = self.cpu.stream()?;
        self.streams = made.0 + 1;
        Ok(made)
    }

    /// Fails if a kernel has faulted.
    pub(crate) fn sound(&self) -> Result<(), Refusal> {
        lost::sound(self.ordinal)?;
        self.fault.map_or(Ok(()), |code| Err(Refusal(code)))
    }

    /// Starts cheating if this process is a worker that should cheat.
    pub(crate) fn begin_cheating(&mut self) {
        self.cheat = self.cheat.take().or_else(Cheat::begin);
    }

    /// Waits for all streams, as a driver may do when it allocates or frees memory.
    pub(crate) fn wait_for_all(&mut self) -> Result<(), Refusal> {
        (0..self.streams).try_for_each(|number| self.wait_for(Stream(number)))
    }

    /// Waits for a stream. An error in the stream sticks to the context.
    pub(crate) fn wait_for(&mut self, stream: Stream) -> Result<(), Refusal> {
        self.signal_underway.map_or(Ok(()), raise)?;
        let ended = self.cpu.synchronize(stream);
        ended.map_err(|error| self.break_down(error))
    }

    /// Looks whether all work of all streams has run.
    pub(crate) fn look_for_all(&mut self) -> Result<bool, Refusal> {
        for number in 0..self.streams {
            if !self.look_for(Stream(number))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Looks whether all work of a stream has run. An error in the stream sticks to the context.
    pub(crate) fn look_for(&mut self, stream: Stream) -> Result<bool, Refusal> {
        self.signal_underway.map_or(Ok(()), raise)?;
        let looked = self.cpu.synchronize_within(stream, A_LOOK);
        looked.map_err(|error| self.break_down(error))
    }

    pub(crate) fn query(&mut self, stream: Stream) -> Result<(), Refusal> {
        match self.cpu.synchronize_within(stream, A_LOOK) {
            Ok(true) => Ok(()),
            Ok(false) => Err(Refusal(NOT_READY)),
            Err(error) => Err(self.break_down(error)),
        }
    }

    /// Stores the code that all later calls return.
    fn break_down(&mut self, error: DeviceError) -> Refusal {
        let code = match (error, self.fault_underway) {
            (DeviceError::Fault(fault), _) => result_of(&fault),
            (_, Some(code)) => code,
            (_, None) => LAUNCH_FAILED,
        };
        self.fault = Some(code);
        Refusal(code)
    }
}

fn result_of(fault: &Fault) -> c_int {
    match fault.code {
        FaultCode::OutOfBounds => 700,
        FaultCode::StackOverflow => 714,
        FaultCode::IllegalInstruction => 715,
        FaultCode::Trap => 710,
        _ => LAUNCH_FAILED,
    }
}

/// Sends this process a signal.
pub(crate) fn raise(signal: c_int) -> Result<(), Refusal> {
    // SAFETY: the call touches no memory.
    match unsafe { libc::kill(libc::getpid(), signal) } {
        0 => Ok(()),
        _ => Err(Refusal(INVALID_VALUE)),
    }
}

/// A number of the CPU device as a handle. Only the default stream has the null handle.
pub(crate) trait Handle: Sized {
    fn number(&self) -> u32;
    fn of_number(number: u32) -> Self;

    fn to_pointer<T>(&self) -> *mut T {
        (self.number() as usize + 1) as *mut T
    }

    fn of_pointer<T>(pointer: *mut T) -> Result<Self, Refusal> {
        let number = (pointer as usize).checked_sub(1).and_then(|it| u32::try_from(it).ok());
        number.map(Self::of_number).ok_or(Refusal(INVALID_HANDLE))
    }
}

macro_rules! handles {
    ($($handle:ident)*) => {$(
        impl Handle for $handle {
            fn number(&self) -> u32 {
                self.0
            }

            fn of_number(number: u32) -> Self {
                $handle(number)
            }
        }
    )*};
}

handles! { Event Graph Module Function }

impl Handle for Stream {
    fn number(&self) -> u32 {
        self.0
    }

    fn of_number(number: u32) -> Self {
        Stream(number)
    }

    fn to_pointer<T>(&self) -> *mut T {
        self.0 as usize as *mut T
    }

    fn of_pointer<T>(pointer: *mut T) -> Result<Self, Refusal> {
        u32::try_from(pointer as usize)
            .map(Stream)
            .map_err(|_| Refusal(INVALID_HANDLE))
    }
}

/// The only context.
pub(crate) const CONTEXT: *mut c_void = 0xC0_usize as *mut c_void;
