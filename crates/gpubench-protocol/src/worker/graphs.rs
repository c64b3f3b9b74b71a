//! The calls of a window in graphs.

use super::WorkerError;
use crate::window::MadeCalls;
use gpubench_device::{DeviceError, Driver, Graph, Stream};

/// A graph of all calls of a window, and one of the first alone.
pub(super) struct CallGraphs {
    all: Graph,
    first: Graph,
}

impl CallGraphs {
    /// Captures what `queue` puts on a stream.
    ///
    /// # Errors
    /// If it cannot be in a graph.
    pub(super) fn capture(
        driver: &mut dyn Driver,
        stream: Stream,
        queue: impl Fn(&mut dyn Driver, MadeCalls) -> Result<(), DeviceError>,
    ) -> Result<CallGraphs, WorkerError> {
        Ok(CallGraphs {
            all: capture(driver, stream, |driver| queue(driver, MadeCalls::All))?,
            first: capture(driver, stream, |driver| queue(driver, MadeCalls::First))?,
        })
    }

    /// Queues the calls that a window makes.
    pub(super) fn queue(&self, made: MadeCalls, driver: &mut dyn Driver, stream: Stream) -> Result<(), DeviceError> {
        let graph = match made {
            MadeCalls::All => self.all,
            MadeCalls::First => self.first,
        };
        driver.launch_graph(stream, graph)
    }

    /// Frees the graphs.
    pub(super) fn release(self, driver: &mut dyn Driver) {
        driver.release_graph(self.all);
        driver.release_graph(self.first);
    }
}

/// Captures what `queue` puts on a stream in a graph. Always ends the capture, so that the stream
/// can be used again.
pub(super) fn capture(
    driver: &mut dyn Driver,
    stream: Stream,
    queue: impl FnOnce(&mut dyn Driver) -> Result<(), DeviceError>,
) -> Result<Graph, WorkerError> {
    driver.begin_capture(stream).map_err(WorkerError::Capture)?;
    let queued = queue(driver);
    let captured = driver.end_capture(stream);
    match queued {
        Ok(()) => captured.map_err(WorkerError::Capture),
        Err(error) => Err(WorkerError::Capture(error)),
    }
}
