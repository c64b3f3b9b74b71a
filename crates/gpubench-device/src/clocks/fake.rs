//! A device whose clocks a test sets.

use super::{ClockControl, ClockError};

/// The state of the device, and what its driver refuses.
#[derive(Clone, Debug)]
pub(super) struct FakeClocks {
    pub(super) supported: Result<Vec<u32>, ClockError>,
    pub(super) usual: Result<u32, ClockError>,
    /// The clock of the rated power.
    pub(super) rated: Result<u32, ClockError>,
    pub(super) may_lock: Result<(), ClockError>,
    pub(super) locked: Option<u32>,
    /// Readings that a new clock takes to show.
    pub(super) slow: usize,
}

impl Default for FakeClocks {
    fn default() -> FakeClocks {
        FakeClocks {
            supported: Ok(vec![1980, 1965, 1410, 1395, 345]),
            usual: Ok(1980),
            rated: Ok(1395),
            may_lock: Ok(()),
            locked: None,
            slow: 0,
        }
    }
}

impl ClockControl for FakeClocks {
    fn supported(&mut self) -> Result<Vec<u32>, ClockError> {
        self.supported.clone()
    }

    fn usual(&mut self) -> Result<u32, ClockError> {
        self.usual.clone()
    }

    fn now(&mut self) -> Result<u32, ClockError> {
        if self.slow > 0 {
            self.slow -= 1;
            return Ok(1980 - self.slow as u32);
        }
        self.locked.ok_or(ClockError::NotSupported)
    }

    fn lock_rated(&mut self) -> Result<(), ClockError> {
        self.may_lock.clone()?;
        self.locked = Some(self.rated.clone()?);
        Ok(())
    }

    fn lock(&mut self, megahertz: u32) -> Result<(), ClockError> {
        self.may_lock.clone()?;
        self.locked = Some(megahertz);
        Ok(())
    }

    fn unlock(&mut self) -> Result<(), ClockError> {
        self.locked = None;
        Ok(())
    }
}
