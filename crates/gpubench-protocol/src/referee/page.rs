//! The pages shared with the case's workers, as the referee's host and device see them.

use super::RefereeError;
use crate::window::Seat;
use crate::wire::{Cast, PAGE_BYTES, PageAddresses, SharedPage};
use gpubench_device::Driver;

/// A page that streams of the referee wait for and write to.
#[derive(Debug)]
pub(super) struct WorkerPage {
    pub(super) seat: Seat,
    pub(super) words: SharedPage,
    pub(super) on_device: PageAddresses,
}

impl WorkerPage {
    /// Makes the pages of a case.
    pub(super) fn for_cast(driver: &mut dyn Driver, cast: Cast) -> Result<Vec<WorkerPage>, RefereeError> {
        let mut pages = Vec::new();
        for seat in cast.seats() {
            match WorkerPage::share(driver, seat) {
                Ok(page) => pages.push(page),
                Err(error) => {
                    pages.into_iter().for_each(|page| page.release(driver));
                    return Err(error);
                }
            }
        }
        Ok(pages)
    }

    fn share(driver: &mut dyn Driver, seat: Seat) -> Result<WorkerPage, RefereeError> {
        let words = SharedPage::create().map_err(RefereeError::Page)?;
        let on_device = driver.register(words.on_host().base(), PAGE_BYTES as u64)?;
        Ok(WorkerPage {
            seat,
            words,
            on_device: PageAddresses::at(on_device.0),
        })
    }

    /// Gives it back.
    pub(super) fn release(self, driver: &mut dyn Driver) {
        driver.unregister(self.words.on_host().base());
    }
}
