//! What is armed round a window's call and read after it.

use gpubench_contract::Method;

use crate::window::WindowKind;
use crate::wire::Claim;
use gpubench_device::{DeviceError, Driver, Event, Stream};

/// Readings with nothing between: their median is reported as the overhead, and the shortest that a null worker has is the least that can be claimed.
pub(super) const EMPTY_READINGS: usize = 101;

/// Reads a window's call: armed right before it, disarmed right after it, read when the stream's
/// work has ended.
#[derive(Clone, Copy)]
pub(super) enum Stopwatch {
    /// An event on either side of the call.
    Events { start: Event, end: Event },
    /// None: nothing may come between the call and what follows it.
    Absent,
}

impl Stopwatch {
    /// A device's two events.
    pub(super) fn events(driver: &mut dyn Driver) -> Result<Stopwatch, DeviceError> {
        let (start, end) = (driver.event()?, driver.event()?);
        Ok(Stopwatch::Events { start, end })
    }

    /// What the call of a window is read by, on a device with these events.
    pub(super) fn of(self, method: Method, kind: WindowKind) -> Stopwatch {
        match (method, kind) {
            (_, WindowKind::EarlyCheck) => Stopwatch::Absent,
            (Method::Cold | Method::Warm, WindowKind::Timed | WindowKind::Null) => self,
        }
    }

    /// Queues what goes right before the call: nothing may come between the two.
    pub(super) fn arm(self, driver: &mut dyn Driver, stream: Stream) -> Result<(), DeviceError> {
        match self {
            Stopwatch::Events { start, .. } => driver.record(start, stream),
            Stopwatch::Absent => Ok(()),
        }
    }

    /// Queues what goes right after it.
    pub(super) fn disarm(self, driver: &mut dyn Driver, stream: Stream) -> Result<(), DeviceError> {
        match self {
            Stopwatch::Events { end, .. } => driver.record(end, stream),
            Stopwatch::Absent => Ok(()),
        }
    }

    /// Puts what it reads into a claim. The stream's work has ended.
    pub(super) fn read(self, driver: &mut dyn Driver, claim: Claim) -> Result<Claim, DeviceError> {
        match self {
            Stopwatch::Events { start, end } => Ok(Claim {
                elapsed_ns: driver.elapsed_ns(start, end)?,
                ..claim
            }),
            Stopwatch::Absent => Ok(claim),
        }
    }

    /// The median of what it reads where there is no call, in nanoseconds.
    pub(super) fn overhead(self, driver: &mut dyn Driver, stream: Stream) -> Result<f64, DeviceError> {
        let mut readings = Vec::with_capacity(EMPTY_READINGS);
        for _ in 0..EMPTY_READINGS {
            self.arm(driver, stream)?;
            self.disarm(driver, stream)?;
            driver.synchronize(stream)?;
            readings.push(self.read(driver, Claim::empty(0))?.elapsed_ns);
        }
        readings.sort_by(f64::total_cmp);
        Ok(readings[EMPTY_READINGS / 2])
    }
}
