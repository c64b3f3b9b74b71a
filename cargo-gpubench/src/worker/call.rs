//! One call of a benchmark, whoever launches it.

use super::hosted::Hosted;
use super::replay::Replay;
use crate::device::{DeviceError, Driver, Stream};

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

    /// Position among the plan's steps, and kernel, of launch number `launch`.
    pub(super) fn launch(&self, launch: u32) -> (u32, &str) {
        match self {
            Call::Sealed(replay) => (replay.step_of_launch(launch), replay.kernel_of_launch(launch)),
            Call::Hosted(_) => (0, "?"),
        }
    }
}
