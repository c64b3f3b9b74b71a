//! Which device a role opens.

use bytemuck::{CheckedBitPattern, NoUninit};
use gpubench::catalog::DeviceKind;

use crate::Backend;

/// Which device a role opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, CheckedBitPattern, NoUninit)]
#[repr(C)]
pub struct DeviceOrder {
    kind: Kind,
    /// Which of several devices of the kind.
    pub ordinal: u32,
    /// Threads of the CPU device; 0 takes all.
    pub threads: u32,
    /// Zero.
    reserved: u32,
    /// Seed for the order in which the CPU device runs blocks and their threads; 0 keeps their own
    /// order.
    pub schedule: u64,
}

impl DeviceOrder {
    /// The CPU device.
    pub fn cpu(threads: u32, schedule: u64) -> DeviceOrder {
        DeviceOrder {
            kind: Kind::Cpu,
            ordinal: 0,
            threads,
            reserved: 0,
            schedule,
        }
    }

    /// A CUDA device.
    pub fn cuda(ordinal: u32) -> DeviceOrder {
        DeviceOrder {
            kind: Kind::Cuda,
            ordinal,
            threads: 0,
            reserved: 0,
            schedule: 0,
        }
    }

    /// The same device, whose blocks and threads run in another order.
    #[must_use]
    pub fn with_schedule(self, schedule: u64) -> DeviceOrder {
        DeviceOrder { schedule, ..self }
    }

    /// The backend for this kind of device.
    pub fn backend(&self) -> &'static Backend {
        Backend::of(match self.kind {
            Kind::Cpu => DeviceKind::Cpu,
            Kind::Cuda => DeviceKind::Cuda,
        })
    }
}

/// [`DeviceKind`] as it is sent between processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, CheckedBitPattern, NoUninit)]
#[repr(u32)]
enum Kind {
    Cpu,
    Cuda,
}
