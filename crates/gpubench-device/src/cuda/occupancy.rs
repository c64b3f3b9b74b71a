//! What limits the number of blocks that a multiprocessor can hold. The driver reports the number,
//! but not the reason.
//!
//! The rules are those of NVIDIA's `cuda_occupancy.h`. [`MultiprocessorLimits::limiting`] returns
//! no reason if they do not lead to the driver's number.

use cudarc::driver::sys::CUdevice_attribute as Attribute;
use gpubench_contract::OccupancyLimit;

use super::call::DriverError;
use super::choice::Gpu;

/// Threads per warp, on every GPU.
const WARP: u32 = 32;

/// Registers are allocated to a warp in steps of this many.
const REGISTER_STEP: u32 = 256;

/// Parts of a multiprocessor with registers of their own. A warp uses those of one part.
const PARTS: u32 = 4;

/// What a multiprocessor has.
#[derive(Clone, Copy, Debug)]
pub(super) struct MultiprocessorLimits {
    registers: u32,
    shared: u32,
    /// Shared memory that the driver adds to each block.
    reserved_shared: u32,
    /// Shared memory is allocated in steps of this many bytes.
    shared_step: u32,
    threads: u32,
    blocks: u32,
}

/// What a block needs of a multiprocessor.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockNeeds {
    /// Registers per thread.
    pub(super) registers: u32,
    /// Static and dynamic shared memory in bytes.
    pub(super) shared: u32,
    pub(super) threads: u32,
}

impl MultiprocessorLimits {
    pub(super) fn from_gpu(gpu: &Gpu) -> Result<MultiprocessorLimits, DriverError> {
        let number = |attribute| gpu.attribute(attribute).map(|value| u32::try_from(value).unwrap_or(0));
        Ok(MultiprocessorLimits {
            registers: number(Attribute::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR)?,
            shared: number(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)?,
            reserved_shared: number(Attribute::CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK)?,
            shared_step: if gpu.capability()? < 80 { 256 } else { 128 },
            threads: number(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)?,
            blocks: number(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR)?,
        })
    }

    /// Returns what ends at `blocks`, the number of blocks that the driver reports. Empty if these
    /// rules lead to another number.
    pub(super) fn limiting(&self, needs: BlockNeeds, blocks: u32) -> Vec<OccupancyLimit> {
        let most = OccupancyLimit::ALL
            .iter()
            .map(|limit| (*limit, self.most_blocks(*limit, needs)));
        let most: Vec<(OccupancyLimit, u32)> = most.collect();
        if most.iter().any(|(_, fitting)| *fitting < blocks) {
            return Vec::new();
        }
        let limiting = most.into_iter().filter(|(_, fitting)| *fitting == blocks);
        limiting.map(|(limit, _)| limit).collect()
    }

    /// Returns how many blocks one resource has room for.
    fn most_blocks(&self, limit: OccupancyLimit, needs: BlockNeeds) -> u32 {
        let warps_per_block = needs.threads.div_ceil(WARP).max(1);
        match limit {
            OccupancyLimit::Registers => {
                let per_warp = (needs.registers * WARP).next_multiple_of(REGISTER_STEP).max(1);
                self.registers / PARTS / per_warp * PARTS / warps_per_block
            }
            OccupancyLimit::SharedMemory => {
                let per_block = (needs.shared + self.reserved_shared).next_multiple_of(self.shared_step);
                self.shared / per_block.max(1)
            }
            OccupancyLimit::Threads => self.threads / WARP / warps_per_block,
            OccupancyLimit::Blocks => self.blocks,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use OccupancyLimit::{Blocks, Registers, SharedMemory, Threads};

    const H100: MultiprocessorLimits = MultiprocessorLimits {
        registers: 65_536,
        shared: 228 << 10,
        reserved_shared: 1 << 10,
        shared_step: 128,
        threads: 2048,
        blocks: 32,
    };

    fn needs(registers: u32, shared: u32, threads: u32) -> BlockNeeds {
        BlockNeeds {
            registers,
            shared,
            threads,
        }
    }

    #[test]
    fn each_resource_can_be_the_limit() {
        assert_eq!(H100.limiting(needs(16, 0, 256), 8), [Threads]);
        assert_eq!(H100.limiting(needs(128, 0, 256), 2), [Registers]);
        assert_eq!(H100.limiting(needs(32, 48 << 10, 128), 4), [SharedMemory]);
        assert_eq!(H100.limiting(needs(16, 0, 32), 32), [Blocks]);
    }

    #[test]
    fn limits_that_end_at_the_same_number_of_blocks_are_all_named() {
        assert_eq!(H100.limiting(needs(32, 0, 256), 8), [Registers, Threads]);
        assert_eq!(H100.limiting(needs(32, 0, 64), 32), [Registers, Threads, Blocks]);
    }

    /// 40 registers are 1280 for a warp, so a part of 16384 has room for 12 warps.
    #[test]
    fn registers_are_allocated_to_warps_in_steps_and_by_part() {
        assert_eq!(H100.limiting(needs(40, 0, 32), 32), [Blocks]);
        assert_eq!(H100.limiting(needs(40, 0, 128), 12), [Registers]);
        assert_eq!(H100.limiting(needs(33, 0, 128), 12), [Registers]);
    }

    /// Without the reserved KiB of each block, four would fit.
    #[test]
    fn shared_memory_includes_what_the_driver_reserves() {
        assert_eq!(H100.limiting(needs(32, 57 << 10, 128), 3), [SharedMemory]);
    }

    #[test]
    fn a_number_that_the_rules_do_not_lead_to_has_no_reason() {
        assert_eq!(H100.limiting(needs(32, 0, 256), 7), []);
        assert_eq!(H100.limiting(needs(32, 0, 256), 9), []);
    }
}
