//! A hosted benchmark: its host code, loaded in a closed sandbox, and its call.
#![allow(unsafe_code)]

use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use gpubench::abi::{Buffer, HostEnvironment};
use gpubench::catalog::{DeviceKind, Tensor};
use gpubench::plan::LibraryCall;

use super::WorkerError;
use super::buffers::Buffers;
use crate::cdylib::{AuthorError, HostedBenchmark, Library};
use crate::own_library::{BoundCall, CallPlace, OwnLibrary};
use crate::window::Gate;
use crate::wire::AuthorFailure;
use gpubench_device::{DeviceError, Driver, FrozenFile, HostFailure, HostWork, Stream};

/// How long one wait for the end of a call is.
const A_WAIT: Duration = Duration::from_secs(60);

/// The broker's data about a hosted benchmark.
#[derive(Clone, Debug)]
pub(super) struct HostedOrder {
    /// The libraries to load, in order. The last one has the host code.
    pub(super) library: Vec<FrozenFile>,
    pub(super) code: HostCode,
}

/// Which thread makes the calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Caller {
    /// The one that the device takes for a stream.
    OfStream,
    /// One of its own, so that the worker can queue the rest of a window while the call waits for
    /// the device. Windows are then on the default stream, which such calls use.
    OwnThread,
}

/// Where the host code of a benchmark is.
#[derive(Clone, Debug)]
pub(super) enum HostCode {
    /// In the crate's library: the benchmark function makes the call.
    OfCrate {
        /// Position of the benchmark in its catalog.
        benchmark: u32,
        /// The encoded request of the recording.
        request: Vec<u8>,
    },
    /// In a library of its own, which exports a function. The crate's library is not loaded.
    OwnLibrary {
        call: LibraryCall,
        /// The tensors of one call.
        tensors: Vec<Tensor>,
        device: DeviceKind,
        gate: Gate,
    },
}

/// A hosted benchmark after its set-up, with its stream.
pub(super) struct Hosted {
    /// The benchmark on the tensors of each call of a window.
    calls: Vec<HostedCall>,
    caller: Caller,
}

/// A benchmark on the tensors of a call.
#[derive(Clone)]
enum HostedCall {
    OfCrate(HostedBenchmark),
    OwnLibrary(Arc<BoundCall>),
}

/// The benchmarks that the set-up stores. The set-up runs on the stream's host thread.
type Place = Arc<Mutex<Vec<HostedCall>>>;

/// The raw handles of the worker's stream and device.
#[derive(Clone, Copy)]
struct Handles {
    stream: u64,
    ordinal: u32,
}

impl Hosted {
    /// Loads the library and runs the set-up for each of `calls` calls, which share the first
    /// `tensors` buffers. From here on the user's code runs in this process.
    pub(super) fn open(
        driver: &mut dyn Driver,
        stream: Stream,
        (order, caller): (HostedOrder, Caller),
        calls: NonZeroU32,
        buffers: &Buffers,
        tensors: usize,
    ) -> Result<Hosted, WorkerError> {
        let handles = Handles {
            stream: driver.raw_stream(stream),
            ordinal: driver.ordinal(),
        };
        let buffers = addresses(buffers, tensors);
        let tensors_of_call = tensors / calls.get() as usize;
        let place = Place::default();
        let made = Arc::clone(&place);
        let work = Box::new(move || {
            let calls = order.set_up(handles, buffers.chunks(tensors_of_call.max(1)));
            *made.lock().unwrap_or_else(PoisonError::into_inner) = calls.map_err(failure)?;
            Ok(())
        });
        let ended = caller.call(driver, stream, work);
        match ended.and_then(|()| driver.synchronize(stream)) {
            Ok(()) => {}
            Err(DeviceError::Host(failure)) => return Err(WorkerError::Refused(failure)),
            Err(error) => return Err(error.into()),
        }
        let made = std::mem::take(&mut *place.lock().unwrap_or_else(PoisonError::into_inner));
        if made.len() == calls.get() as usize {
            Ok(Hosted { calls: made, caller })
        } else {
            Err(WorkerError::Order("the set-up stored another number of benchmarks"))
        }
    }

    /// Queues the calls of a window.
    pub(super) fn queue(&self, driver: &mut dyn Driver, stream: Stream) -> Result<(), DeviceError> {
        (0..self.calls.len()).try_for_each(|call| self.queue_call(call, driver, stream))
    }

    /// Returns the number of calls of a window.
    pub(super) fn calls(&self) -> usize {
        self.calls.len()
    }

    /// Queues one call of a window.
    ///
    /// # Panics
    /// If the window has fewer calls.
    pub(super) fn queue_call(&self, call: usize, driver: &mut dyn Driver, stream: Stream) -> Result<(), DeviceError> {
        self.caller.call(driver, stream, self.work_of(call))
    }

    /// Begins the only call of a window, which may wait for the device.
    /// [`Driver::end_host_call`] waits for its end.
    ///
    /// # Panics
    /// If the window has none.
    pub(super) fn begin(&self, driver: &mut dyn Driver) -> Result<(), DeviceError> {
        driver.begin_host_call(self.work_of(0))
    }

    /// Returns which thread makes the calls.
    pub(super) fn caller(&self) -> Caller {
        self.caller
    }

    fn work_of(&self, call: usize) -> HostWork {
        let call = self.calls[call].clone();
        // SAFETY: a driver makes all calls of one caller on one thread, the one that `open` ran
        // on. The buffers stay mapped until the process ends.
        Box::new(move || unsafe { call.make() }.map_err(failure))
    }
}

impl Caller {
    /// Makes a call, as the device does it, and waits for it if its thread is its own.
    fn call(self, driver: &mut dyn Driver, stream: Stream, work: HostWork) -> Result<(), DeviceError> {
        match self {
            Caller::OfStream => driver.host_call(stream, work),
            Caller::OwnThread => {
                driver.begin_host_call(work)?;
                await_call(driver)
            }
        }
    }
}

/// Waits for the end of the call that was begun. The broker limits the time of a window.
pub(super) fn await_call(driver: &mut dyn Driver) -> Result<(), DeviceError> {
    while !driver.end_host_call(Duration::MAX, A_WAIT)? {}
    Ok(())
}

impl HostedOrder {
    /// Loads the host code and sets it up for each call, on the stream's host thread. Addresses are
    /// only numbers there, because the memory is the device's.
    fn set_up<'a>(
        &self,
        handles: Handles,
        calls: impl Iterator<Item = &'a [(u64, u64)]>,
    ) -> Result<Vec<HostedCall>, AuthorError> {
        match &self.code {
            HostCode::OfCrate { benchmark, request } => {
                let library = Library::load(self.library.clone())?;
                let opened = calls.map(|buffers| open_benchmark(&library, *benchmark, request, handles, buffers));
                opened.collect()
            }
            HostCode::OwnLibrary {
                call,
                tensors,
                device,
                gate,
            } => {
                let file = self.library.last().ok_or_else(no_library)?;
                let library = OwnLibrary::open(file)?;
                let place = CallPlace {
                    kind: *device,
                    ordinal: handles.ordinal,
                    stream: (*gate == Gate::Stream).then_some(handles.stream),
                };
                let bound = calls.map(|buffers| {
                    let addresses: Vec<u64> = buffers.iter().map(|(address, _)| *address).collect();
                    let bound = library.bind(call, tensors, &addresses, place)?;
                    Ok(HostedCall::OwnLibrary(Arc::new(bound)))
                });
                let bound: Vec<HostedCall> = bound.collect::<Result<_, AuthorError>>()?;
                if let (Gate::Stream, Some(first)) = (gate, bound.first()) {
                    // Code that loads its kernels in its first call would wait for its stream,
                    // which waits for *go*.
                    // SAFETY: this is the stream's host thread, and the buffers are mapped.
                    unsafe { first.make() }?;
                }
                Ok(bound)
            }
        }
    }
}

impl HostedCall {
    /// Makes the call.
    ///
    /// # Safety
    /// The caller is on the thread of the set-up, makes one call at a time, and keeps the buffers
    /// mapped.
    unsafe fn make(&self) -> Result<(), AuthorError> {
        match self {
            // SAFETY: as the caller guarantees.
            HostedCall::OfCrate(benchmark) => unsafe { benchmark.call() },
            // SAFETY: as the caller guarantees.
            HostedCall::OwnLibrary(call) => unsafe { call.call() },
        }
    }
}

fn open_benchmark(
    library: &Library,
    benchmark: u32,
    request: &[u8],
    handles: Handles,
    buffers: &[(u64, u64)],
) -> Result<HostedCall, AuthorError> {
    let buffer = |(address, bytes): (u64, u64)| Buffer {
        data: address as *mut u8,
        len: bytes as usize,
    };
    let buffers: Vec<Buffer> = buffers.iter().copied().map(buffer).collect();
    let environment = HostEnvironment {
        stream: handles.stream as *mut _,
        ordinal: handles.ordinal,
        reserved: 0,
    };
    // SAFETY: the buffers are mapped by the worker's driver, which lives until the process ends.
    let opened = unsafe { library.host_open(benchmark, request, environment, &buffers) };
    opened.map(HostedCall::OfCrate)
}

fn addresses(buffers: &Buffers, tensors: usize) -> Vec<(u64, u64)> {
    let tensors = buffers.0.iter().take(tensors);
    tensors.map(|buffer| (buffer.address().0, buffer.layout.len)).collect()
}

fn no_library() -> AuthorError {
    AuthorError::new(AuthorFailure::Library, "there is no library to open")
}

fn failure(error: AuthorError) -> HostFailure {
    match error.failure {
        AuthorFailure::Panicked => HostFailure::Panicked(error.message),
        _ => HostFailure::Returned(error.message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_panic_is_told_as_one() {
        for kind in [AuthorFailure::Panicked, AuthorFailure::Returned, AuthorFailure::Library] {
            let failed = failure(AuthorError::new(kind, "why"));
            let panicked = matches!(&failed, HostFailure::Panicked(text) if text == "why");
            let returned = matches!(&failed, HostFailure::Returned(text) if text == "why");
            assert_eq!(
                (panicked, returned),
                (kind == AuthorFailure::Panicked, kind != AuthorFailure::Panicked)
            );
        }
    }
}
