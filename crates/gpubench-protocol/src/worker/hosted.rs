//! A hosted benchmark: the user's library, loaded in a closed sandbox, and its call.
#![allow(unsafe_code)]

use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};

use gpubench::abi::{Buffer, HostEnvironment};

use super::WorkerError;
use super::buffers::Buffers;
use crate::cdylib::{AuthorError, HostedBenchmark, Library};
use crate::wire::AuthorFailure;
use gpubench_device::{DeviceError, Driver, FrozenFile, HostFailure, Stream};

/// The broker's data about a hosted benchmark.
#[derive(Clone, Debug)]
pub(super) struct HostedOrder {
    /// The libraries that the user's cdylib needs, then the cdylib.
    pub(super) library: Vec<FrozenFile>,
    /// Position of the benchmark in its catalog.
    pub(super) benchmark: u32,
    /// The encoded request of the recording.
    pub(super) request: Vec<u8>,
}

/// A hosted benchmark after its set-up, with its stream.
pub(super) struct Hosted {
    /// The benchmark on the tensors of each call of a window.
    calls: Vec<HostedBenchmark>,
}

/// The benchmarks that the set-up stores. The set-up runs on the stream's host thread.
type Place = Arc<Mutex<Vec<HostedBenchmark>>>;

impl Hosted {
    /// Loads the library and runs the set-up for each of `calls` calls, which share the first
    /// `tensors` buffers. From here on the user's code runs in this process.
    pub(super) fn open(
        driver: &mut dyn Driver,
        stream: Stream,
        order: HostedOrder,
        calls: NonZeroU32,
        buffers: &Buffers,
        tensors: usize,
    ) -> Result<Hosted, WorkerError> {
        let (raw_stream, ordinal) = (driver.raw_stream(stream), driver.ordinal());
        let buffers = addresses(buffers, tensors);
        let tensors_of_call = tensors / calls.get() as usize;
        let place = Place::default();
        let made = Arc::clone(&place);
        let work = Box::new(move || {
            let library = Library::load(order.library.clone()).map_err(failure)?;
            for buffers in buffers.chunks(tensors_of_call.max(1)) {
                let benchmark = set_up(&library, &order, raw_stream, ordinal, buffers).map_err(failure)?;
                made.lock().unwrap_or_else(PoisonError::into_inner).push(benchmark);
            }
            Ok(())
        });
        let ended = driver.host_call(stream, work).and_then(|()| driver.synchronize(stream));
        match ended {
            Ok(()) => {}
            Err(DeviceError::Host(failure)) => return Err(WorkerError::Refused(failure)),
            Err(error) => return Err(error.into()),
        }
        let made = std::mem::take(&mut *place.lock().unwrap_or_else(PoisonError::into_inner));
        match made.len() == calls.get() as usize {
            true => Ok(Hosted { calls: made }),
            false => Err(WorkerError::Order("the set-up stored another number of benchmarks")),
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
        let benchmark = self.calls[call];
        // SAFETY: a driver makes all host calls for one stream on one thread, the one that `open`
        // ran on.
        let work = Box::new(move || unsafe { benchmark.call() }.map_err(failure));
        driver.host_call(stream, work)
    }
}

/// Runs the set-up on the stream's host thread. Addresses are only numbers there, because the
/// memory is the device's.
fn set_up(
    library: &Library,
    order: &HostedOrder,
    stream: u64,
    ordinal: u32,
    buffers: &[(u64, u64)],
) -> Result<HostedBenchmark, AuthorError> {
    let buffer = |(address, bytes): (u64, u64)| Buffer {
        data: address as *mut u8,
        len: bytes as usize,
    };
    let buffers: Vec<Buffer> = buffers.iter().copied().map(buffer).collect();
    let environment = HostEnvironment {
        stream: stream as *mut _,
        ordinal,
        reserved: 0,
    };
    // SAFETY: the buffers are mapped by the worker's driver, which lives until the process ends.
    unsafe { library.host_open(order.benchmark, &order.request, environment, &buffers) }
}

fn addresses(buffers: &Buffers, tensors: usize) -> Vec<(u64, u64)> {
    let tensors = buffers.0.iter().take(tensors);
    tensors.map(|buffer| (buffer.address().0, buffer.layout.len)).collect()
}

fn failure(error: AuthorError) -> HostFailure {
    match error.failure {
        AuthorFailure::Panicked => HostFailure::Panicked(error.message),
        _ => HostFailure::Returned(error.message),
    }
}
