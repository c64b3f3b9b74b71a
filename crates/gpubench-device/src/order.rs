//! The device that a role opens.

use bytemuck::{CheckedBitPattern, NoUninit};
use gpubench::catalog::DeviceKind;

/// The device that a role opens, as it is sent to the role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, CheckedBitPattern, NoUninit)]
#[repr(C)]
pub struct DeviceOrder {
    kind: Kind,
    /// Index among the devices of this kind, for people, and for the choice of a device whose UUID
    /// is not known.
    pub ordinal: u32,
    /// Threads of the CPU device; 0 means all.
    pub threads: u32,
    /// Padding; zero.
    reserved: u32,
    /// Seed for the order in which the CPU device runs blocks and threads; 0 means ascending order.
    pub schedule: u64,
    /// The UUID of the device; zero means that it is not known.
    uuid: [u8; 16],
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
            uuid: [0; 16],
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
            uuid: [0; 16],
        }
    }

    /// Returns the same device, to be found by its identity, as in [`Facts::identity`]. The index
    /// of a device changes when another one fails.
    ///
    /// [`Facts::identity`]: crate::Facts::identity
    #[must_use]
    pub fn with_identity(self, identity: Option<&str>) -> DeviceOrder {
        let uuid = identity.and_then(uuid_bytes).unwrap_or_default();
        DeviceOrder { uuid, ..self }
    }

    /// Returns the UUID, if it is known.
    pub fn uuid(&self) -> Option<[u8; 16]> {
        Some(self.uuid).filter(|uuid| *uuid != [0; 16])
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

/// Reads a UUID in the notation of `nvidia-smi`.
fn uuid_bytes(text: &str) -> Option<[u8; 16]> {
    let digits: String = text.strip_prefix("GPU-")?.split('-').collect();
    if digits.len() != 32 || !digits.is_ascii() {
        return None;
    }
    let mut bytes = [0; 16];
    for (position, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&digits[2 * position..2 * position + 2], 16).ok()?;
    }
    Some(bytes)
}

/// [`DeviceKind`] in messages between processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, CheckedBitPattern, NoUninit)]
#[repr(u32)]
enum Kind {
    Cpu,
    Cuda,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_ordered_by_its_uuid() {
        let ordered = |text| DeviceOrder::cuda(1).with_identity(Some(text)).uuid();
        let bytes: [u8; 16] = std::array::from_fn(|position| position as u8 * 17);
        assert_eq!(ordered("GPU-00112233-4455-6677-8899-aabbccddeeff"), Some(bytes));
        for unknown in [
            "",
            "GPU-0011",
            "00112233-4455-6677-8899-aabbccddeeff",
            "GPU-00112233-4455-6677-8899-aabbccddeefg",
            "GPU-00112233-4455-6677-8899-aabbccddé",
        ] {
            assert_eq!(ordered(unknown), None, "{unknown}");
        }
        assert_eq!(DeviceOrder::cuda(0).with_identity(None).uuid(), None);
    }
}
