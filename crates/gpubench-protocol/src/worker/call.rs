//! One call of a benchmark, whoever launches it.

use super::hosted::Hosted;
use crate::replay::ReadyPlan;
use gpubench_device::{DeviceError, Driver, Fault, Stream};

/// What a window's call consists of.
pub(super) enum Call {
    /// The steps of a plan.
    Sealed(ReadyPlan),
    /// The user's host code.
    Hosted(Hosted),
}

impl Call {
    /// Queues it.
    pub(super) fn queue(&self, driver: &mut dyn Driver, stream: Stream) -> Result<(), DeviceError> {
        match self {
            Call::Sealed(plan) => plan.queue(driver, stream),
            Call::Hosted(hosted) => hosted.queue(driver, stream),
        }
    }

    /// The launch that faulted, by its position among the plan's steps and its kernel, where that can be told.
    pub(super) fn faulting_launch(&self, fault: &Fault) -> Option<(u32, &str)> {
        match self {
            Call::Sealed(plan) => plan.faulting_launch(fault),
            Call::Hosted(_) => None,
        }
    }
}
