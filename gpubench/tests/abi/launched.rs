//! References that launch, constants and occupancy.

use gpubench::abi::Status;
use gpubench::catalog::{Occupancy, OccupancyQuery, Recording, Reference, SourceForm};
use gpubench::plan::{BufferId, Step};

use crate::client::{Memory, catalog, params, record, record_on_gpu};

mod cases {
    use gpubench::prelude::*;

    cuda_source!(SUMS = "kernels/sums.cu");

    fn numbers(len: usize) -> Tensors {
        Tensors::new()
            .input("x", f32::shape(len), Uniform(0.0..1.0))
            .output("sum", f32::shape(1))
    }

    fn plainly(launcher: &mut Launcher, len: usize, x: In<f32>, sum: Out<f32>) -> Result<()> {
        let partial = launcher.scratch::<f32>(len)?;
        launcher.copy(x, partial)?;
        launcher.launch(SUMS.kernel("total"), Grid::new(1, 1), (partial, sum, len))
    }

    #[gpubench(axes(len = [64]), tensors = numbers, reference = launch(plainly), exact)]
    fn sum(launcher: &mut Launcher, len: usize, x: In<f32>, sum: Out<f32>) -> Result<()> {
        launcher.set_constant(&SUMS, "weights", &[1.0f32, 0.5])?;
        launcher.launch(SUMS.kernel("atomics"), Grid::covering(len, 256), (x, sum, len))
    }

    #[problem(axes(len = [64]), tensors = numbers, exact, cuda(reference = launch(plainly)))]
    fn on_some_devices(_len: usize, x: &[f32], sum: &mut [f32]) {
        sum[0] = x.iter().sum();
    }

    #[gpubench(problem = on_some_devices)]
    fn persistent(launcher: &mut Launcher, len: usize, x: In<f32>, sum: Out<f32>) -> Result<()> {
        let kernel = SUMS.kernel("atomics");
        let resident = launcher.occupancy(&kernel, 256, 1024).unwrap_or(1) * launcher.device().multiprocessors;
        launcher.launch(kernel, Grid::new(resident, 256), (x, sum, len))
    }
}

#[test]
fn a_reference_that_launches_is_recorded_as_a_plan_over_the_same_tensors() {
    let recording = record("launched::cases::sum", params([("len", 100)])).unwrap();
    let Reference::Plan(plan) = &recording.reference else {
        panic!("{:?}", recording.reference)
    };
    assert_eq!(plan.scratch, [400]);
    let [Step::Copy { source, .. }, Step::Launch(total)] = &plan.steps[..] else {
        panic!("{plan:?}")
    };
    assert_eq!((source.buffer, source.len), (BufferId::Tensor(0), 400));
    assert_eq!(total.kernel.name, "total");
    assert!(recording.plan.scratch.is_empty());
    let (status, message) = Memory::new("launched::cases::sum", params([("len", 100)]))
        .reference()
        .unwrap_err();
    assert_eq!(
        (status, message.as_str()),
        (Status::Failed, "the reference is a plan, not a function on the CPU")
    );
}

#[test]
fn a_device_uses_its_device_specific_reference() {
    let on_cpu = record("launched::cases::persistent", params([("len", 4)])).unwrap();
    assert_eq!(on_cpu.reference, Reference::Author);
    let mut memory = Memory::new("launched::cases::persistent", params([("len", 4)]));
    memory.set_f32s("x", [1.0, 2.0, 3.0, 4.0]);
    memory.reference().unwrap();
    assert_eq!(memory.f32s("sum"), [10.0]);
    let known = Occupancy {
        query: needed("launched::cases::persistent"),
        blocks: 6,
    };
    let on_gpu = record_on_gpu("launched::cases::persistent", params([("len", 4)]), vec![known]).unwrap();
    assert!(matches!(on_gpu.reference, Reference::Plan(_)));
}

/// Returns the first occupancy that a case queries.
fn needed(path: &str) -> OccupancyQuery {
    let (status, bytes) = record_on_gpu(path, params([("len", 4)]), Vec::new()).unwrap_err();
    assert_eq!(status, Status::NeedsOccupancy);
    gpubench::codec::decode(&bytes).unwrap()
}

#[test]
fn an_occupancy_query_is_answered_even_if_the_function_ignores_its_error() {
    let query = needed("launched::cases::persistent");
    assert_eq!(
        (query.kernel.name.as_str(), query.threads, query.dynamic_shared),
        ("atomics", 256, 1024)
    );
    let known = Occupancy { query, blocks: 6 };
    let on_gpu = record_on_gpu("launched::cases::persistent", params([("len", 4)]), vec![known]).unwrap();
    let on_cpu = record("launched::cases::persistent", params([("len", 4)])).unwrap();
    let grid = |recording: &Recording| match &recording.plan.steps[..] {
        [Step::Launch(launch)] => launch.grid[0],
        other => panic!("{other:?}"),
    };
    // With two multiprocessors.
    assert_eq!((grid(&on_gpu), grid(&on_cpu)), (12, 2));
}

#[test]
fn a_constant_is_in_the_plan_with_its_bytes() {
    let plan = record("launched::cases::sum", params([("len", 100)])).unwrap().plan;
    let [constant] = &plan.constants[..] else {
        panic!("{plan:?}")
    };
    let source = &catalog().sources[constant.source as usize];
    assert_eq!(
        (source.name.as_str(), source.form, constant.symbol.as_str()),
        ("kernels/sums.cu", SourceForm::Cuda, "weights")
    );
    assert_eq!(constant.bytes, [1.0f32.to_le_bytes(), 0.5f32.to_le_bytes()].concat());
}
