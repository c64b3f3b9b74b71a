//! The one place where a device is chosen by its kind.

use std::num::NonZeroUsize;

use gpubench::catalog::DeviceKind;

use super::cpu::{CpuDriver, executor::ScheduleSeed};
use super::cuda::CudaDriver;
use super::{DeviceError, Driver};
use crate::DeviceOrder;

/// Opens a device in this process.
///
/// # Errors
/// [`DeviceError::Absent`] when there is no such device; others when it refuses.
pub fn open(order: &DeviceOrder) -> Result<Box<dyn Driver>, DeviceError> {
    match order.kind() {
        DeviceKind::Cpu => {
            let schedule = match order.schedule {
                0 => ScheduleSeed::Natural,
                seed => ScheduleSeed::Permuted(seed),
            };
            let driver = CpuDriver::new(NonZeroUsize::new(order.threads as usize), schedule)?;
            Ok(Box::new(driver))
        }
        DeviceKind::Cuda => Ok(Box::new(CudaDriver::open(order.ordinal)?)),
    }
}
