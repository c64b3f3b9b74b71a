//! The pages shared with the case's workers, with their addresses on the referee's host and device.

use super::RefereeError;
use crate::window::WindowOwner;
use crate::wire::{CaseWorkers, PageAddresses, SharedPage};
use gpubench_device::Driver;

/// A page that the referee's stream waits on and writes.
#[derive(Debug)]
pub(super) struct WorkerPage {
    pub(super) owner: WindowOwner,
    pub(super) words: SharedPage,
    pub(super) on_device: PageAddresses,
}

impl WorkerPage {
    /// Makes the pages of a case.
    pub(super) fn for_workers(
        driver: &mut dyn Driver,
        workers_of_case: CaseWorkers,
    ) -> Result<Vec<WorkerPage>, RefereeError> {
        let mut pages = Vec::new();
        for owner in workers_of_case.owners() {
            match WorkerPage::share(driver, owner, workers_of_case.places()) {
                Ok(page) => pages.push(page),
                Err(error) => {
                    pages.into_iter().for_each(|page| page.release(driver));
                    return Err(error);
                }
            }
        }
        Ok(pages)
    }

    /// Makes a page that the referee does not share.
    pub(super) fn private(driver: &mut dyn Driver) -> Result<WorkerPage, RefereeError> {
        WorkerPage::share(driver, WindowOwner::CONTROL, 1)
    }

    fn share(driver: &mut dyn Driver, owner: WindowOwner, places: u32) -> Result<WorkerPage, RefereeError> {
        let words = SharedPage::create(places).map_err(RefereeError::Page)?;
        let on_device = driver.register(words.on_host().base(), words.bytes())?;
        Ok(WorkerPage {
            owner,
            on_device: words.mapped_at(on_device.0),
            words,
        })
    }

    /// Frees the page.
    pub(super) fn release(self, driver: &mut dyn Driver) {
        driver.unregister(self.words.on_host().base());
    }
}
