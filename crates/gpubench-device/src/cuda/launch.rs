//! Kernel launches with attributes.

use std::ffi::{c_int, c_uint, c_void};

use cudarc::driver::sys::{
    CUfunction_attribute, CUlaunchAttribute, CUlaunchAttributeID, CUlaunchAttributeValue,
    CUlaunchAttributeValue_union__bindgen_ty_1 as ClusterDimension, CUlaunchConfig, CUstream,
};
use gpubench::plan::{Cooperation, Dependence};

use super::call::{DriverError, call};
use super::context::Context;
use super::module::Kernel;
use super::occupancy::{BlockNeeds, MultiprocessorLimits};
use crate::{LaunchConfig, Resources};

/// The largest cluster that every GPU with clusters supports, in blocks.
const PORTABLE_CLUSTER: u32 = 8;

/// The lowest compute capability with programmatic dependent launch.
const PROGRAMMATIC_FROM: u32 = 90;

impl Kernel {
    /// Sets the kernel attributes and reserves the local memory for launches of a shape. A first
    /// launch that had to do so after a queued stream wait could block for ever.
    pub(super) fn prepare(&mut self, context: &mut Context, config: &LaunchConfig) -> Result<(), DriverError> {
        self.allow(context, config)?;
        let local = self.attribute(context, CUfunction_attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?;
        match usize::try_from(local) {
            Ok(bytes) if bytes > 0 => context.reserve_local(bytes),
            _ => Ok(()),
        }
    }

    /// Sets the attributes without which the driver refuses launches of a shape.
    fn allow(&mut self, context: &Context, config: &LaunchConfig) -> Result<(), DriverError> {
        if config.dynamic_shared > self.dynamic_shared {
            let attribute = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            let bytes = c_int::try_from(config.dynamic_shared).unwrap_or(c_int::MAX);
            self.set_attribute(context, attribute, bytes)?;
            self.dynamic_shared = config.dynamic_shared;
        }
        let blocks: u32 = config.cluster.iter().product();
        if blocks > PORTABLE_CLUSTER && !self.allows_large_clusters {
            let attribute = CUfunction_attribute::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED;
            self.set_attribute(context, attribute, 1)?;
            self.allows_large_clusters = true;
        }
        Ok(())
    }

    /// Returns what launches of a shape need of the device.
    pub(super) fn resources(
        &mut self,
        context: &Context,
        config: &LaunchConfig,
        limits: &MultiprocessorLimits,
        capability: u32,
    ) -> Result<Resources, DriverError> {
        self.allow(context, config)?;
        let number = |attribute| self.attribute(context, attribute).map(not_negative);
        let registers = number(CUfunction_attribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?;
        let static_shared = number(CUfunction_attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?;
        let blocks = self.most_blocks(context, config)?;
        let needs = BlockNeeds {
            registers,
            shared: static_shared.saturating_add(config.dynamic_shared),
            threads: config.block.iter().product(),
        };
        Ok(Resources {
            registers,
            local_bytes: number(CUfunction_attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
            static_shared,
            blocks,
            clusters: self.most_clusters(context, config, capability)?,
            limited_by: limits.limiting(needs, blocks),
        })
    }

    fn most_blocks(&self, context: &Context, config: &LaunchConfig) -> Result<u32, DriverError> {
        let threads = config.block.iter().product::<u32>() as c_int;
        let (handle, shared) = (self.handle, config.dynamic_shared as usize);
        let mut blocks = 0;
        // SAFETY: it writes one number; the kernel's module is loaded.
        unsafe {
            call!(
                context.api,
                cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, handle, threads, shared)
            )
        }?;
        Ok(not_negative(blocks))
    }

    /// Returns how many clusters the device can hold at once. `None` without clusters, and if the
    /// driver cannot tell.
    fn most_clusters(
        &self,
        context: &Context,
        config: &LaunchConfig,
        capability: u32,
    ) -> Result<Option<u32>, DriverError> {
        let Some(query) = context
            .api
            .cuOccupancyMaxActiveClusters
            .filter(|_| config.has_clusters())
        else {
            return Ok(None);
        };
        let mut attributes = attributes_of(config, capability);
        let launch = launch_config(config, std::ptr::null_mut(), &mut attributes);
        let mut clusters = 0;
        // SAFETY: it reads the configuration and its attributes, and writes one number; the
        // kernel's module is loaded.
        let code = unsafe { query(&mut clusters, self.handle, &launch) };
        context
            .api
            .check("cuOccupancyMaxActiveClusters", code, || format!("{config:?}"))?;
        Ok(Some(not_negative(clusters)))
    }

    /// Queues a launch of a prepared shape.
    pub(super) fn launch(
        &self,
        context: &Context,
        stream: CUstream,
        config: &LaunchConfig,
        arguments: &[&[u8]],
        capability: u32,
    ) -> Result<(), DriverError> {
        let mut attributes = attributes_of(config, capability);
        let launch = launch_config(config, stream, &mut attributes);
        let mut values: Vec<*mut c_void> = arguments
            .iter()
            .map(|argument| argument.as_ptr().cast_mut().cast())
            .collect();
        let (values, extra) = (values.as_mut_ptr(), std::ptr::null_mut());
        // SAFETY: the caller compared the arguments with the kernel's parameters, if the driver
        // reports those; the driver copies the arguments before it returns.
        unsafe { call!(context.api, cuLaunchKernelEx(&launch, self.handle, values, extra)) }
    }
}

/// Returns the driver's form of a launch, which refers to `attributes`.
fn launch_config(config: &LaunchConfig, stream: CUstream, attributes: &mut [CUlaunchAttribute]) -> CUlaunchConfig {
    let [grid_x, grid_y, grid_z] = config.grid;
    let [block_x, block_y, block_z] = config.block;
    CUlaunchConfig {
        gridDimX: grid_x,
        gridDimY: grid_y,
        gridDimZ: grid_z,
        blockDimX: block_x,
        blockDimY: block_y,
        blockDimZ: block_z,
        sharedMemBytes: config.dynamic_shared,
        hStream: stream,
        attrs: attributes.as_mut_ptr(),
        numAttrs: attributes.len() as c_uint,
    }
}

fn not_negative(number: c_int) -> u32 {
    u32::try_from(number).unwrap_or(0)
}

fn attributes_of(config: &LaunchConfig, capability: u32) -> Vec<CUlaunchAttribute> {
    let mut attributes = Vec::new();
    if config.has_clusters() {
        let [x, y, z] = config.cluster;
        let value = CUlaunchAttributeValue {
            clusterDim: ClusterDimension { x, y, z },
        };
        attributes.push(attribute(
            CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
            value,
        ));
    }
    if config.cooperation == Cooperation::Grid {
        let value = CUlaunchAttributeValue { cooperative: 1 };
        attributes.push(attribute(CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE, value));
    }
    if config.dependence == Dependence::Programmatic && capability >= PROGRAMMATIC_FROM {
        let value = CUlaunchAttributeValue {
            programmaticStreamSerializationAllowed: 1,
        };
        attributes.push(attribute(
            CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
            value,
        ));
    }
    attributes
}

fn attribute(id: CUlaunchAttributeID, value: CUlaunchAttributeValue) -> CUlaunchAttribute {
    CUlaunchAttribute { id, pad: [0; 4], value }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(config: &LaunchConfig, capability: u32) -> Vec<CUlaunchAttributeID> {
        attributes_of(config, capability)
            .iter()
            .map(|attribute| attribute.id)
            .collect()
    }

    #[test]
    fn a_plain_launch_has_no_attributes() {
        assert!(attributes_of(&LaunchConfig::linear(1, 32), 90).is_empty());
    }

    #[test]
    fn each_option_is_a_separate_attribute() {
        let config = LaunchConfig {
            cluster: [2, 1, 1],
            cooperation: Cooperation::Grid,
            dependence: Dependence::Programmatic,
            ..LaunchConfig::linear(4, 32)
        };
        assert_eq!(
            ids(&config, 90),
            [
                CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
                CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
            ]
        );
    }

    #[test]
    fn programmatic_launches_are_plain_before_hopper() {
        let config = LaunchConfig {
            dependence: Dependence::Programmatic,
            ..LaunchConfig::linear(1, 32)
        };
        assert!(attributes_of(&config, 89).is_empty());
    }
}
