//! The order about the resources of a kernel, and its answer.

use bytemuck::{Pod, Zeroable};
use gpubench_contract::OccupancyLimit;
use gpubench_device::{LaunchConfig, Resources};

/// Head of a `RESOURCES` frame: the shape of a launch. The kernel's name follows; the descriptor is
/// the compiled kernel.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct LaunchShape {
    /// Blocks along x, y and z.
    pub grid: [u32; 3],
    /// Threads per block along x, y and z.
    pub block: [u32; 3],
    /// Blocks per cluster along x, y and z.
    pub cluster: [u32; 3],
    /// Dynamic shared memory per block in bytes.
    pub dynamic_shared: u32,
}

impl From<&LaunchConfig> for LaunchShape {
    fn from(config: &LaunchConfig) -> LaunchShape {
        LaunchShape {
            grid: config.grid,
            block: config.block,
            cluster: config.cluster,
            dynamic_shared: config.dynamic_shared,
        }
    }
}

impl From<LaunchShape> for LaunchConfig {
    fn from(shape: LaunchShape) -> LaunchConfig {
        LaunchConfig {
            grid: shape.grid,
            block: shape.block,
            cluster: shape.cluster,
            dynamic_shared: shape.dynamic_shared,
            ..LaunchConfig::linear(1, 1)
        }
    }
}

/// The resources of a kernel in launches of one shape.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct KernelNeeds {
    registers: u32,
    local_bytes: u32,
    static_shared: u32,
    blocks: u32,
    /// One more than the number of clusters; 0 if it is not known.
    clusters_and_one: u32,
    /// A bit for each [`OccupancyLimit`], in the order of their declaration.
    limited_by: u32,
}

impl From<&Resources> for KernelNeeds {
    fn from(resources: &Resources) -> KernelNeeds {
        let bits = OccupancyLimit::ALL
            .iter()
            .enumerate()
            .map(|(position, limit)| u32::from(resources.limited_by.contains(limit)) << position);
        KernelNeeds {
            registers: resources.registers,
            local_bytes: resources.local_bytes,
            static_shared: resources.static_shared,
            blocks: resources.blocks,
            clusters_and_one: resources.clusters.map_or(0, |clusters| clusters.saturating_add(1)),
            limited_by: bits.sum(),
        }
    }
}

impl From<KernelNeeds> for Resources {
    fn from(needs: KernelNeeds) -> Resources {
        let limits = OccupancyLimit::ALL.iter().enumerate();
        let limiting = limits.filter(|(position, _)| needs.limited_by >> position & 1 == 1);
        Resources {
            registers: needs.registers,
            local_bytes: needs.local_bytes,
            static_shared: needs.static_shared,
            blocks: needs.blocks,
            clusters: needs.clusters_and_one.checked_sub(1),
            limited_by: limiting.map(|(_, limit)| *limit).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_survive_their_record() {
        for (clusters, limited_by) in [
            (None, vec![]),
            (Some(0), vec![OccupancyLimit::Blocks]),
            (Some(7), vec![OccupancyLimit::Registers, OccupancyLimit::Threads]),
        ] {
            let resources = Resources {
                registers: 40,
                local_bytes: 8,
                static_shared: 1024,
                blocks: 3,
                clusters,
                limited_by,
            };
            assert_eq!(Resources::from(KernelNeeds::from(&resources)), resources);
        }
    }

    #[test]
    fn a_launch_shape_survives_its_record() {
        let config = LaunchConfig {
            grid: [8, 4, 2],
            block: [32, 2, 1],
            cluster: [2, 1, 1],
            dynamic_shared: 512,
            ..LaunchConfig::linear(1, 1)
        };
        assert_eq!(LaunchConfig::from(LaunchShape::from(&config)), config);
    }
}
