//! A window whose call is counted instead of timed.
//!
//! The worker waits for *go* on the host and runs the launches one by one: ranges of a counter must
//! begin and end while the device is idle. The order in a window remains: *go*, call, digests,
//! *done*. An early check is not counted, so nothing comes between its call and the digests.

use super::WorkerError;
use super::case::Worker;
use crate::window::WindowKind;
use crate::wire::{Channel, Claim, CountProgress, WindowOrder, encode_counts};
use gpubench_device::DeviceError;

/// What a counted window found.
pub(super) struct Counted {
    pub(super) claim: Claim,
    /// The counts of each range, encoded.
    pub(super) counts: Vec<u8>,
}

impl Worker {
    /// Runs a window, from *go* to *done*.
    ///
    /// # Errors
    /// If the device fails, or the broker is gone. A fault of the kernels is part of the claim.
    pub(super) fn run_counted(&mut self, order: &WindowOrder, channel: &Channel) -> Result<Counted, WorkerError> {
        self.await_go(order, channel)?;
        let claim = Claim::empty(order.window);
        let claimed = match self.count_call(order, claim) {
            Ok(claimed) => claimed,
            Err(DeviceError::Fault(fault)) => {
                return Ok(Counted {
                    claim: self.fault_claim(claim, &fault),
                    counts: Vec::new(),
                });
            }
            Err(DeviceError::Host(failure)) => {
                return Ok(Counted {
                    claim: super::window::host_claim(claim, &failure),
                    counts: Vec::new(),
                });
            }
            Err(error) => return Err(WorkerError::Plan(error)),
        };
        Ok(claimed)
    }

    fn count_call(&mut self, order: &WindowOrder, claim: Claim) -> Result<Counted, DeviceError> {
        let (case, device) = (&self.assignment, &mut self.device);
        let (driver, harness, stream) = (&mut *device.driver, &device.harness, device.stream);
        let counted = if order.kind == WindowKind::Timed {
            Some(case.count(driver, stream, device.counter.as_deref_mut())?)
        } else {
            case.queue(order, driver, harness, stream)?;
            None
        };
        case.finish_window(order, driver, harness, stream)?;
        driver.synchronize(stream)?;
        Ok(match counted {
            None => Counted {
                claim,
                counts: Vec::new(),
            },
            Some(None) => Counted {
                claim: Claim {
                    progress: CountProgress::Partial,
                    ..claim
                },
                counts: Vec::new(),
            },
            Some(Some(counts)) => Counted {
                claim: Claim {
                    count: counts.iter().map(|count| count.value).sum(),
                    progress: CountProgress::Complete,
                    ..claim
                },
                counts: encode_counts(&counts),
            },
        })
    }
}
