//! The pages shared with the case's workers, as the referee's host and device see them.

use super::RefereeError;
use crate::window::Seat;
use crate::wire::{Cast, PageAddresses, SharedPage};
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
            match WorkerPage::share(driver, seat, cast.places()) {
                Ok(page) => pages.push(page),
                Err(error) => {
                    pages.into_iter().for_each(|page| page.release(driver));
                    return Err(error);
                }
            }
        }
        Ok(pages)
    }

    fn share(driver: &mut dyn Driver, seat: Seat, places: u32) -> Result<WorkerPage, RefereeError> {
        let words = SharedPage::create(places).map_err(RefereeError::Page)?;
        let on_device = driver.register(words.on_host().base(), words.bytes())?;
        Ok(WorkerPage {
            seat,
            on_device: words.mapped_at(on_device.0),
            words,
        })
    }

    /// Gives it back.
    pub(super) fn release(self, driver: &mut dyn Driver) {
        driver.unregister(self.words.on_host().base());
    }
}
