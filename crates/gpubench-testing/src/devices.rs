//! The results of several devices.

use gpubench_contract::{Cause, DeviceKind, DeviceMatrix, Execution, Grade, KernelUse, Mode, Revision, Verdict};
use gpubench_store::StoredRun;
use gpubench_store::compare::{NamedRun, device_matrix};
use gpubench_store::testing::{Size, on_gpu, run};

/// A device: its name, its host, its multiprocessors, its compute capability, and how many times as
/// long it needs as the first.
type Device = (&'static str, &'static str, u64, Option<u64>, f64);

const DEVICES: [Device; 8] = [
    ("NVIDIA H100 80GB HBM3", "node1", 132, Some(90), 1.0),
    ("NVIDIA H200", "node2", 132, Some(90), 0.81),
    ("NVIDIA A100-SXM4-80GB", "node3", 108, Some(80), 1.71),
    ("NVIDIA H200", "node4", 132, Some(90), 0.81),
    ("NVIDIA B200", "node5", 148, Some(100), 0.52),
    ("NVIDIA GeForce RTX 4090", "desk", 128, Some(89), 2.4),
    ("NVIDIA L40S", "node6", 142, Some(89), 2.9),
    ("AMD EPYC 9654 96-Core Processor", "laptop", 8, None, 25_000.0),
];

/// Returns the runs of the first `count` of eight devices, with a name for each. Two devices have
/// the same name, the third fails one case and skips another, the fifth lacks a case, some values
/// are below `sealed`, and one run is of another revision.
pub fn runs_on_devices(count: usize) -> Vec<(String, StoredRun)> {
    let runs = DEVICES.iter().take(count).enumerate();
    runs.map(|(position, device)| (format!("{}.jsonl", device.1), on_device(position, device)))
        .collect()
}

/// Returns these runs next to each other. At least two.
pub fn several_devices(count: usize) -> DeviceMatrix {
    let runs = runs_on_devices(count);
    let named: Vec<NamedRun<'_>> = runs.iter().map(|(name, run)| NamedRun { name, run }).collect();
    device_matrix(&named).expect("there are several devices")
}

fn on_device(position: usize, (name, host, multiprocessors, capability, factor): &Device) -> StoredRun {
    let size = Size {
        workers: 3,
        samples: 12,
    };
    let times = [
        ("copy", 3_648.0),
        ("reduce::two_passes", 61_440.0 * factor),
        ("gemm::tensor_cores", 205_200.0 * factor),
        ("scan", 9_130.0 * factor),
        ("attention::forward_with_a_mask", 1_204_000.0 * factor),
    ];
    let mut run = on_gpu(name, run(position as u64 + 1, &times, size));
    run.saved_at.clear();
    run.run.device.multiprocessors = Some(*multiprocessors);
    run.run.device.capability = *capability;
    run.run.environment.host = Some((*host).to_owned());
    run.revision = Some(Revision {
        commit: if position == 5 { "89abcdef0" } else { "012345678" }.to_owned(),
        branch: Some("main".to_owned()),
        modified: false,
    });
    for result in &mut run.results {
        result.kernels = Some(vec![KernelUse {
            kernel: result.benchmark.replace("::", "_"),
            launches: 1,
            grid: [1, 1, 1],
            block: [256, 1, 1],
            cluster: None,
            dynamic_shared_bytes: 0,
            resources: None,
        }]);
    }
    run.results[4].mode = Mode::Warm;
    match position {
        2 => {
            let failed = &mut run.results[3];
            (failed.verdict, failed.cause) = (Verdict::WrongOutput, Some(Cause::Stale));
            let skipped = &mut run.results[2];
            (skipped.verdict, skipped.stats) = (Verdict::Skipped, None);
        }
        4 => drop(run.results.remove(3)),
        6 => {
            let hosted = &mut run.results[2];
            (hosted.grade, hosted.execution, hosted.kernels) = (Some(Grade::Sandboxed), Some(Execution::Hosted), None);
        }
        7 => {
            run.run.device.kind = DeviceKind::Cpu;
            for result in &mut run.results {
                (result.device.kind, result.grade) = (DeviceKind::Cpu, Some(Grade::Unverified));
            }
        }
        _ => {}
    }
    run
}
