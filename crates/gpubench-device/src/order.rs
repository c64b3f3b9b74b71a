//! Which device a role opens.

use bytemuck::{Pod, Zeroable};
use gpubench::catalog::DeviceKind;

/// Which device a role opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct DeviceOrder {
    /// 0 for the CPU device, 1 for a CUDA device.
    kind: u32,
    /// Which of several devices of the kind.
    pub ordinal: u32,
    /// Threads of the CPU device; 0 takes all.
    pub threads: u32,
    /// Zero.
    reserved: u32,
    /// Seed of the order in which threads of a block run on the CPU device; 0 is their own order.
    pub schedule: u64,
}

impl DeviceOrder {
    /// The CPU device.
    pub fn cpu(threads: u32, schedule: u64) -> DeviceOrder {
        DeviceOrder {
            kind: 0,
            ordinal: 0,
            threads,
            reserved: 0,
            schedule,
        }
    }

    /// A CUDA device.
    pub fn cuda(ordinal: u32) -> DeviceOrder {
        DeviceOrder {
            kind: 1,
            ordinal,
            threads: 0,
            reserved: 0,
            schedule: 0,
        }
    }

    /// The kind of the device; `None` when the number is none of ours.
    pub fn kind(&self) -> Option<DeviceKind> {
        match self.kind {
            0 => Some(DeviceKind::Cpu),
            1 => Some(DeviceKind::Cuda),
            _ => None,
        }
    }
}
