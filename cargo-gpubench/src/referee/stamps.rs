//! The referee's own clock: the device's, read by kernels of the referee into private memory.

use super::RefereeError;
use super::case::Referee;
use crate::device::{DeviceError, DevicePtr, Driver};

/// Moments of a window whose time is taken, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    /// Before the buffers are restored.
    S0,
    /// Before the cache flush.
    FlushBegins,
    /// Behind it.
    FlushEnds,
    /// Before *go*.
    S1,
    /// After *done*.
    S2,
    /// When the outputs have been copied.
    S3,
}

const MOMENTS: usize = 6;

/// Room for the stamps of a window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stamps {
    slots: DevicePtr,
}

/// The stamps of a window in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stamped([u64; MOMENTS]);

impl Stamped {
    pub(super) fn at(&self, moment: Moment) -> u64 {
        self.0[moment as usize]
    }

    pub(super) fn between(&self, start: Moment, end: Moment) -> u64 {
        self.at(end).saturating_sub(self.at(start))
    }
}

impl Stamps {
    /// Makes room.
    pub(super) fn new(driver: &mut dyn Driver) -> Result<Stamps, DeviceError> {
        let bytes = 8 * MOMENTS;
        let slots = driver.alloc(bytes as u64)?;
        driver.write(slots, &vec![0; bytes])?;
        Ok(Stamps { slots })
    }
}

impl Referee {
    /// Queues: take the time.
    pub(super) fn stamp(&mut self, moment: Moment) -> Result<(), RefereeError> {
        let target = self.stamps.slots.offset(8 * moment as u64);
        Ok(self.harness.stamp(&mut *self.driver, self.stream, target)?)
    }

    /// The stamps taken, the stream having been synchronized with; one that was not taken is of an earlier window.
    pub(super) fn stamped(&mut self) -> Result<Stamped, RefereeError> {
        let mut bytes = [0; 8 * MOMENTS];
        self.driver.read(self.stamps.slots, &mut bytes)?;
        let mut stamps = [0; MOMENTS];
        for (stamp, bytes) in stamps.iter_mut().zip(bytes.as_chunks().0) {
            *stamp = u64::from_le_bytes(*bytes);
        }
        Ok(Stamped(stamps))
    }
}
