//! Facts of a typical device of each architecture: plans are recorded with them if there is no
//! device to query.
//!
//! A benchmark function may choose kernels by these facts. If the run's device has other facts and
//! a plan then uses other kernels, they are compiled there.

use gpubench::catalog::{DeviceFacts, DeviceKind};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// The facts that differ between architectures: capability, name, multiprocessors, threads per
/// multiprocessor, opt-in shared memory, L2 cache.
type Typical = (u32, &'static str, u32, u32, u64, u64);

/// The most common device of each architecture, ordered by capability.
const DEVICES: [Typical; 9] = [
    (75, "T4", 40, 1024, 64 * KIB, 4 * MIB),
    (80, "A100", 108, 2048, 163 * KIB, 40 * MIB),
    (86, "RTX 3090", 82, 1536, 99 * KIB, 6 * MIB),
    (87, "Orin", 16, 1536, 163 * KIB, 4 * MIB),
    (89, "RTX 4090", 128, 1536, 99 * KIB, 72 * MIB),
    (90, "H100", 132, 2048, 227 * KIB, 50 * MIB),
    (100, "B200", 148, 2048, 227 * KIB, 126 * MIB),
    (103, "B300", 148, 2048, 227 * KIB, 126 * MIB),
    (120, "RTX 5090", 170, 1536, 99 * KIB, 96 * MIB),
];

/// Returns the facts of a typical device of a compute capability, `major * 10 + minor`. A
/// capability that is not in the table gets the facts of the next older one, or of the oldest.
pub fn typical_device(capability: u32) -> DeviceFacts {
    let older = DEVICES.iter().rev().find(|device| device.0 <= capability);
    let (_, name, multiprocessors, threads, shared_optin, l2) = *older.unwrap_or(&DEVICES[0]);
    DeviceFacts {
        kind: DeviceKind::Cuda,
        name: format!("a device like {}", name),
        multiprocessors,
        capability,
        warp_size: 32,
        max_threads_per_block: 1024,
        max_threads_per_multiprocessor: threads,
        max_block: [1024, 1024, 64],
        max_grid: [i32::MAX as u32, 65_535, 65_535],
        shared_per_block: 48 * KIB,
        shared_per_block_optin: shared_optin,
        l2_bytes: l2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_outside_the_table_gets_the_next_older_facts() {
        let limits = |capability| {
            let device = typical_device(capability);
            assert_eq!(device.capability, capability);
            (device.multiprocessors, device.shared_per_block_optin)
        };
        assert_eq!(limits(90), (132, 232_448));
        assert_eq!(limits(101), limits(100));
        assert_eq!(limits(121), limits(120));
        assert_eq!(limits(70), limits(75));
    }

    #[test]
    fn the_table_is_ordered_by_capability() {
        assert!(DEVICES.is_sorted_by_key(|device| device.0));
    }
}
