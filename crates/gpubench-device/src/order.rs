//! The device that a role opens.

use bytemuck::{CheckedBitPattern, NoUninit};
use gpubench::catalog::DeviceKind;

/// The device that a role opens, as it is sent to the role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, CheckedBitPattern, NoUninit)]
#[repr(C)]
pub struct DeviceOrder {
    kind: Kind,
    /// Index among the devices of this kind.
    pub ordinal: u32,
    /// Threads of the CPU device; 0 means all.
    pub threads: u32,
    /// Padding; zero.
    reserved: u32,
    /// Seed for the order in which the CPU device runs blocks and threads; 0 means ascending order.
    pub schedule: u64,
}

impl DeviceOrder {
    /// Returns the CPU device.
    pub fn cpu(threads: u32, schedule: u64) -> DeviceOrder {
        DeviceOrder {
            kind: Kind::Cpu,
            ordinal: 0,
            threads,
            reserved: 0,
            schedule,
        }
    }

    /// Returns a CUDA device.
    pub fn cuda(ordinal: u32) -> DeviceOrder {
        DeviceOrder {
            kind: Kind::Cuda,
            ordinal,
            threads: 0,
            reserved: 0,
            schedule: 0,
        }
    }

    /// Returns the same device with another order of blocks and threads.
    #[must_use]
    pub fn with_schedule(self, schedule: u64) -> DeviceOrder {
        DeviceOrder { schedule, ..self }
    }

    /// Returns the same device with one thread, if its threads can be chosen.
    #[must_use]
    pub fn with_one_thread(self) -> DeviceOrder {
        let threads = match self.kind {
            Kind::Cpu => 1,
            Kind::Cuda => 0,
        };
        DeviceOrder { threads, ..self }
    }

    /// Returns the kind of device.
    pub fn kind(&self) -> DeviceKind {
        match self.kind {
            Kind::Cpu => DeviceKind::Cpu,
            Kind::Cuda => DeviceKind::Cuda,
        }
    }
}

/// [`DeviceKind`] in messages between processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, CheckedBitPattern, NoUninit)]
#[repr(u32)]
enum Kind {
    Cpu,
    Cuda,
}
