//! The pages shared with the case's workers, as the referee's host and device see them.

use super::RefereeError;
use crate::window::{Seat, WindowKind};
use crate::wire::{Cast, PAGE_BYTES, PageAddresses, SharedPage};
use gpubench_device::Driver;

/// Whose page it is. What one worker could write would be no clock to hold against another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PageOwner {
    /// A worker on this seat.
    Worker(Seat),
    /// The null worker.
    Null,
}

impl PageOwner {
    /// Who is called in a window.
    pub(super) fn called(kind: WindowKind, seat: Seat) -> PageOwner {
        match kind {
            WindowKind::Timed | WindowKind::EarlyCheck => PageOwner::Worker(seat),
            WindowKind::Null => PageOwner::Null,
        }
    }

    /// The owners of a case's pages, in the order in which their descriptors are sent.
    fn of(cast: Cast) -> impl Iterator<Item = PageOwner> {
        let baseline = cast.has_baseline.then_some(PageOwner::Worker(Seat::Baseline));
        let null = cast.has_null.then_some(PageOwner::Null);
        [Some(PageOwner::Worker(Seat::Candidate)), baseline, null]
            .into_iter()
            .flatten()
    }
}

/// A page that streams of the referee wait for and write to.
#[derive(Debug)]
pub(super) struct WorkerPage {
    pub(super) owner: PageOwner,
    pub(super) words: SharedPage,
    pub(super) on_device: PageAddresses,
}

impl WorkerPage {
    /// Makes the pages of a case.
    pub(super) fn for_cast(driver: &mut dyn Driver, cast: Cast) -> Result<Vec<WorkerPage>, RefereeError> {
        let mut pages = Vec::new();
        for owner in PageOwner::of(cast) {
            match WorkerPage::share(driver, owner) {
                Ok(page) => pages.push(page),
                Err(error) => {
                    pages.into_iter().for_each(|page| page.release(driver));
                    return Err(error);
                }
            }
        }
        Ok(pages)
    }

    fn share(driver: &mut dyn Driver, owner: PageOwner) -> Result<WorkerPage, RefereeError> {
        let words = SharedPage::create().map_err(RefereeError::Page)?;
        let on_device = driver.register(words.on_host().base(), PAGE_BYTES as u64)?;
        Ok(WorkerPage {
            owner,
            words,
            on_device: PageAddresses::at(on_device.0),
        })
    }

    /// Gives it back.
    pub(super) fn release(self, driver: &mut dyn Driver) {
        driver.unregister(self.words.on_host().base());
    }
}
