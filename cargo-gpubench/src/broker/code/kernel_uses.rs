//! The kernels that a case launches, with what each needs of the device.

use gpubench::catalog::{DeviceFacts, Recording};
use gpubench::plan::Launch;

use gpubench_contract::{KernelResources, KernelUse};
use gpubench_device::cuda::{AssemblerReport, KernelImage};
use gpubench_device::{FrozenFile, LaunchConfig, Resources};

/// What a kernel needs of the device, and what the compiler says of it, if it does.
pub(crate) type Needs = (Resources, Option<AssemblerReport>);

/// Returns the kernels that a call launches, in the order of their first launches. `ask` returns
/// what the launches of one shape need of the device. `None` for a hosted benchmark.
pub(crate) fn kernel_uses<E>(
    recording: &Recording,
    device: &DeviceFacts,
    mut ask: impl FnMut(&Launch) -> Result<Option<Needs>, E>,
) -> Result<Option<Vec<KernelUse>>, E> {
    if recording.execution.is_hosted() {
        return Ok(None);
    }
    let mut uses: Vec<(&Launch, KernelUse)> = Vec::new();
    for launch in recording.plan.launches() {
        match uses.iter_mut().find(|(first, _)| is_alike(first, launch)) {
            Some((_, known)) => known.launches += 1,
            None => {
                let resources = ask(launch)?.map(|needs| of_launch(launch, device, needs));
                uses.push((launch, one_launch(launch, resources)));
            }
        }
    }
    Ok(Some(uses.into_iter().map(|(_, kernel)| kernel).collect()))
}

/// Returns what the compiler said of a kernel when it made a file. `None` if it was not asked.
pub(crate) fn report_on(module: &FrozenFile, kernel: &str) -> Option<AssemblerReport> {
    image_of(module)?.report(kernel).cloned()
}

/// Returns the image in a compiled file. `None` if it cannot be read.
pub(crate) fn image_of(module: &FrozenFile) -> Option<KernelImage> {
    KernelImage::decode(&fs_err::read(module.path()).ok()?).ok()
}

/// Returns whether two launches have the same kernel and the same shape.
fn is_alike(one: &Launch, other: &Launch) -> bool {
    let shape = |launch: &Launch| (launch.grid, launch.block, launch.cluster, launch.dynamic_shared);
    one.kernel == other.kernel && shape(one) == shape(other)
}

fn one_launch(launch: &Launch, resources: Option<KernelResources>) -> KernelUse {
    KernelUse {
        kernel: launch.kernel.name.clone(),
        launches: 1,
        grid: launch.grid.map(u64::from),
        block: launch.block.map(u64::from),
        cluster: (launch.cluster != [1; 3]).then(|| launch.cluster.map(u64::from)),
        dynamic_shared_bytes: u64::from(launch.dynamic_shared),
        resources,
    }
}

fn of_launch(launch: &Launch, device: &DeviceFacts, (resources, report): Needs) -> KernelResources {
    let Resources {
        registers,
        local_bytes,
        static_shared,
        blocks,
        clusters,
        limited_by,
    } = resources;
    let warps_per_block = count(launch.block).div_ceil(u64::from(device.warp_size.max(1)));
    let warps = u64::from(device.max_threads_per_multiprocessor / device.warp_size.max(1));
    let resident = if LaunchConfig::new(launch).has_clusters() {
        clusters.map(|clusters| u64::from(clusters) * count(launch.cluster))
    } else {
        Some(u64::from(blocks) * u64::from(device.multiprocessors))
    };
    KernelResources {
        registers: u64::from(registers),
        local_bytes: u64::from(local_bytes),
        spill_store_bytes: report.as_ref().map(|report| u64::from(report.spill_stores)),
        spill_load_bytes: report.as_ref().map(|report| u64::from(report.spill_loads)),
        static_shared_bytes: u64::from(static_shared),
        blocks_per_multiprocessor: u64::from(blocks),
        occupancy: (warps > 0).then(|| (u64::from(blocks) * warps_per_block) as f64 / warps as f64),
        limited_by,
        waves: resident
            .filter(|resident| *resident > 0)
            .map(|resident| count(launch.grid) as f64 / resident as f64),
    }
}

fn count(extent: [u32; 3]) -> u64 {
    extent.into_iter().map(u64::from).product()
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use gpubench::catalog::{Execution, Reference, Work};
    use gpubench::plan::{KernelRef, Plan, Step};
    use gpubench_contract::OccupancyLimit;

    use super::*;

    fn launch(kernel: &str, grid: u32, cluster: u32) -> Step {
        Step::Launch(Launch {
            kernel: KernelRef {
                source: 0,
                name: kernel.to_owned(),
            },
            grid: [grid, 1, 1],
            block: [80, 2, 1],
            cluster: [cluster, 1, 1],
            dynamic_shared: 512,
            cooperation: Default::default(),
            dependence: Default::default(),
            arguments: Vec::new(),
            types: Vec::new(),
            place: "a.rs:1".to_owned(),
        })
    }

    fn uses_of(steps: Vec<Step>, execution: Execution, clusters: Option<u32>) -> Option<Vec<KernelUse>> {
        let recording = Recording {
            plan: Plan {
                steps,
                ..Plan::default()
            },
            execution,
            call: None,
            tensors: Vec::new(),
            work: Work::default(),
            reference: Reference::Author,
        };
        let device = DeviceFacts {
            multiprocessors: 10,
            warp_size: 32,
            max_threads_per_multiprocessor: 2048,
            ..gpubench_device::cpu::facts(std::num::NonZeroUsize::MIN).device
        };
        let answer = Resources {
            registers: 40,
            local_bytes: 0,
            static_shared: 1024,
            blocks: 4,
            clusters,
            limited_by: vec![OccupancyLimit::Registers],
        };
        let uses = kernel_uses(&recording, &device, |_| {
            let report = AssemblerReport {
                spill_stores: 8,
                spill_loads: 12,
                ..AssemblerReport::default()
            };
            Ok::<_, Infallible>(Some((answer.clone(), Some(report))))
        });
        uses.unwrap_or_else(|never| match never {})
    }

    #[test]
    fn launches_of_one_shape_are_one_entry_in_the_order_of_the_first() {
        let steps = vec![
            launch("add", 80, 1),
            launch("scale", 80, 1),
            launch("add", 80, 1),
            launch("add", 8, 1),
        ];
        let uses = uses_of(steps, Execution::Sealed, None).expect("a plan");
        let seen: Vec<_> = uses
            .iter()
            .map(|kernel| (&*kernel.kernel, kernel.grid[0], kernel.launches))
            .collect();
        assert_eq!(seen, [("add", 80, 2), ("scale", 80, 1), ("add", 8, 1)]);
    }

    /// 160 threads are 5 warps. Four blocks of them are 20 of 64 warps, and ten multiprocessors
    /// hold 40 blocks.
    #[test]
    fn occupancy_counts_warps_and_waves_count_what_the_whole_device_holds() {
        let uses = uses_of(vec![launch("add", 60, 1)], Execution::Sealed, None).expect("a plan");
        let resources = uses[0].resources.as_ref().expect("a GPU");
        assert_eq!((resources.occupancy, resources.waves), (Some(20.0 / 64.0), Some(1.5)));
        assert_eq!((resources.registers, resources.static_shared_bytes), (40, 1024));
        assert_eq!(
            (resources.spill_store_bytes, resources.spill_load_bytes),
            (Some(8), Some(12))
        );
        assert_eq!((uses[0].dynamic_shared_bytes, uses[0].cluster), (512, None));
    }

    #[test]
    fn waves_of_clusters_count_the_clusters_that_fit() {
        let waves = |clusters| {
            let uses = uses_of(vec![launch("add", 60, 2)], Execution::Sealed, clusters).expect("a plan");
            assert_eq!(uses[0].cluster, Some([2, 1, 1]));
            uses[0].resources.as_ref().expect("a GPU").waves
        };
        assert_eq!(waves(Some(15)), Some(2.0));
        assert_eq!(waves(None), None, "the driver cannot tell");
        assert_eq!(waves(Some(0)), None);
    }

    #[test]
    fn a_hosted_benchmark_has_no_kernels() {
        assert_eq!(uses_of(Vec::new(), Execution::Hosted, None), None);
        assert_eq!(uses_of(Vec::new(), Execution::Sealed, None), Some(Vec::new()));
    }
}
