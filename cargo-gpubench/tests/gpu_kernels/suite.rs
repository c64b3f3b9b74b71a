//! The suite's kernels, compiled for the oldest architecture and a recent one.

#![allow(unsafe_code)]

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_void;

use gpubench::abi::{Bytes, Sink, Status, Table, gpubench_abi_v1};
use gpubench::catalog::{
    Axis, Benchmark, Catalog, DeviceFacts, DeviceKind, Fill, Occupancy, OccupancyQuery, Params, RecordRequest,
    Recording, Requirement,
};
use gpubench::codec::{decode, encode};
use gpubench::plan::{KernelRef, Step};
// Linked in, so that the table has its benchmarks.
use gpubench_problems as _;

use super::tools::{CUDA_12, compile, nvrtc_in};

#[test]
fn every_kernel_of_the_suite_compiles_for_turing_and_hopper() {
    let (status, catalog) = answer(|sink| {
        // SAFETY: the sink is valid for the call.
        unsafe { (table().catalog)(sink) }
    });
    assert_eq!(status, 0, "{}", String::from_utf8_lossy(&catalog));
    let catalog: Catalog = decode(&catalog).expect("a catalog");
    for capability in [75, 90] {
        let wanted = wanted_kernels(&catalog, capability);
        let unused = catalog.sources.len() - wanted.len();
        assert!(capability == 75 || unused == 0, "{unused} sources are not used");
        for (source, names) in wanted {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let source = &catalog.sources[source as usize];
            let made = compile(nvrtc_in(&CUDA_12), &format!("sm_{capability}"), source, &names);
            assert_eq!(made.unwrap_or_else(|error| panic!("{error}")).names.len(), names.len());
        }
    }
}

/// Returns the kernels of every case that a GPU of a compute capability can run, by source: those
/// of the benchmarks, and the references of problems, which may have none.
fn wanted_kernels(catalog: &Catalog, capability: u32) -> BTreeMap<u32, BTreeSet<String>> {
    let mut wanted: BTreeMap<u32, BTreeSet<String>> = BTreeMap::new();
    let problems = catalog.problems.iter().map(|problem| &problem.outline);
    for (position, benchmark) in catalog.benchmarks.iter().chain(problems).enumerate() {
        let runs = benchmark.requirements.iter().all(|requirement| match requirement {
            Requirement::Device(kind) => *kind == DeviceKind::Cuda,
            Requirement::Capability(least) => *least <= capability,
        });
        for params in cases(benchmark).into_iter().filter(|_| runs) {
            let recording = record(position as u32, params, capability);
            for kernel in kernels_of(&recording) {
                wanted.entry(kernel.source).or_default().insert(kernel.name.clone());
            }
        }
    }
    wanted
}

/// Records a case, with an occupancy of one block.
fn record(benchmark: u32, params: Params, capability: u32) -> Recording {
    let mut request = RecordRequest {
        occupancies: Vec::new(),
        params,
        facts: facts(capability),
    };
    loop {
        let encoded = encode(&request);
        let lent = Bytes {
            data: encoded.as_ptr(),
            len: encoded.len(),
        };
        // SAFETY: request and sink are valid for the call.
        let (status, bytes) = answer(|sink| unsafe { (table().record)(benchmark, lent, sink) });
        if status != Status::NeedsOccupancy as i32 {
            assert_eq!(status, 0, "{}", String::from_utf8_lossy(&bytes));
            return decode(&bytes).expect("a recording");
        }
        let query: OccupancyQuery = decode(&bytes).expect("a question");
        request.occupancies.push(Occupancy { query, blocks: 1 });
    }
}

fn kernels_of(recording: &Recording) -> impl Iterator<Item = &KernelRef> {
    let plans = std::iter::once(&recording.plan).chain(recording.reference.plan());
    let launched = plans.flat_map(|plan| &plan.steps).filter_map(|step| match step {
        Step::Launch(launch) => Some(&launch.kernel),
        Step::Memset { .. } | Step::Copy { .. } => None,
    });
    let generating = recording.tensors.iter().filter_map(|tensor| match &tensor.fill {
        Fill::Kernel(kernel) => Some(kernel),
        _ => None,
    });
    launched.chain(generating)
}

/// Returns every combination of the axes' values on a GPU.
fn cases(benchmark: &Benchmark) -> Vec<Params> {
    let replaced = benchmark.device_axes.iter().find(|(kind, _)| *kind == DeviceKind::Cuda);
    let replaced = replaced.map_or(&[][..], |(_, axes)| axes);
    let axes = Axis::replaced(benchmark.axes.clone(), replaced).expect("whole groups");
    axes.iter().fold(vec![Params::new()], |cases, axis| {
        let with = |case: &Params| {
            let named = |values: &Vec<_>| axis.names.iter().cloned().zip(values.clone()).collect();
            let extended = axis.values.iter().map(|values| [case.clone(), named(values)].concat());
            extended.collect::<Vec<_>>()
        };
        cases.iter().flat_map(with).collect()
    })
}

fn facts(capability: u32) -> DeviceFacts {
    DeviceFacts {
        kind: DeviceKind::Cuda,
        name: "GPU".to_owned(),
        multiprocessors: 132,
        capability,
        warp_size: 32,
        max_threads_per_block: 1024,
        max_threads_per_multiprocessor: 1024,
        max_block: [1024, 1024, 64],
        max_grid: [i32::MAX as u32, 65535, 65535],
        shared_per_block: 48 << 10,
        shared_per_block_optin: 64 << 10,
        l2_bytes: 32 << 20,
    }
}

fn table() -> &'static Table {
    // SAFETY: the entry point may be called at any time, and its table lives forever.
    unsafe { &*gpubench_abi_v1() }
}

unsafe extern "C" fn append(context: *mut c_void, data: *const u8, len: usize) {
    // SAFETY: the context is the vector of `answer`, and the bytes are lent for the call.
    unsafe { (*context.cast::<Vec<u8>>()).extend_from_slice(std::slice::from_raw_parts(data, len)) }
}

/// Calls a function of the table and returns its status and answer.
fn answer(call: impl FnOnce(Sink) -> i32) -> (i32, Vec<u8>) {
    let mut bytes: Vec<u8> = Vec::new();
    let status = call(Sink {
        context: (&raw mut bytes).cast(),
        write: append,
    });
    (status, bytes)
}
