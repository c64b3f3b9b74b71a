//! A device that a run can use.

use gpubench_device::{DeviceOrder, Facts};
use gpubench_measure::clients::RefereeClient;

/// A chosen device of a run.
#[derive(Clone, Debug)]
pub(in crate::broker) struct ChosenDevice {
    pub(in crate::broker) order: DeviceOrder,
    pub(in crate::broker) facts: Facts,
}

/// A usable device, with the referee if one was started to query it.
pub(in crate::broker) struct OpenDevice {
    pub(in crate::broker) device: ChosenDevice,
    pub(in crate::broker) referee: Option<RefereeClient>,
}
