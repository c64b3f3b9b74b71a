//! One call of a benchmark, whoever launches it.

use super::hosted::Hosted;
use super::replay::Replay;
use gpubench_device::{DeviceError, Driver, Fault, Stream};

/// What a window's call consists of.
pub(super) enum Call {
    /// The steps of a plan.
    Sealed(Replay),
    /// The user's host code.
    Hosted(Hosted),
}

impl Call {
    /// Queues it.
    pub(super) fn queue(&self, driver: &mut dyn Driver, stream: Stream) -> Result<(), DeviceError> {
        match self {
            Call::Sealed(replay) => replay.queue(driver, stream),
            Call::Hosted(hosted) => hosted.queue(driver, stream),
        }
    }

    /// The launch that faulted, by its position among the plan's steps and its kernel, where that can be told.
    pub(super) fn faulting_launch(&self, fault: &Fault) -> Option<(u32, &str)> {
        match self {
            Call::Sealed(replay) => replay.faulting_launch(fault),
            Call::Hosted(_) => None,
        }
    }
}
