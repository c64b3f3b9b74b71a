//! The twin of a call: one plain kernel of the tool that reads the call's inputs and writes its
//! outputs. A control window runs it instead of the call, so that the referee's clock sees the same
//! time beyond the claim.

use std::num::NonZeroU32;

use gpubench::catalog::{Recording, Role};
use gpubench::plan::Step;

use super::buffers::Buffers;
use gpubench_device::harness::{Harness, Touch, Touched};
use gpubench_device::{DeviceError, Driver, Stream};

/// The twin that a control window runs instead of the call.
pub(super) struct Twin {
    buffers: Vec<Touched>,
    launches: NonZeroU32,
}

impl Twin {
    /// Returns the twin of a call with `launches` launches on the case's buffers, without scratch.
    pub(super) fn of(buffers: &Buffers, launches: NonZeroU32) -> Twin {
        let touched = buffers.0.iter().filter_map(|buffer| {
            let access = match buffer.role {
                Role::Input | Role::Constant => Touch::Reads,
                Role::Output => Touch::Writes,
                Role::InOut => Touch::Both,
                Role::Scratch => return None,
            };
            Some(Touched {
                address: buffer.address(),
                bytes: buffer.layout.len,
                access,
            })
        });
        Twin {
            buffers: touched.collect(),
            launches,
        }
    }

    /// Queues the twin.
    pub(super) fn queue(&self, driver: &mut dyn Driver, harness: &Harness, stream: Stream) -> Result<(), DeviceError> {
        harness.twin(driver, stream, &self.buffers, self.launches)
    }
}

/// Returns the number of launches of a call. It is unknown for host code.
pub(super) fn launches(recording: &Recording) -> NonZeroU32 {
    let steps = recording.plan.steps.iter();
    let launches = steps.filter(|step| matches!(step, Step::Launch(_))).count();
    u32::try_from(launches)
        .ok()
        .and_then(NonZeroU32::new)
        .unwrap_or(NonZeroU32::MIN)
}
