//! References and generators in the referee, as on a device that isolates kernels from its process.

use std::sync::atomic::AtomicBool;

use gpubench::catalog::{Source, SourceFile, SourceForm};
use gpubench::plan::{Argument, BufferId, KernelRef, Launch, Step};

use super::*;
use crate::wire::SourceModule;
use gpubench_device::compilers::{Compiler as _, HostCompiler, Wanted};
use gpubench_device::{FrozenFile, KernelHost};

const KERNELS: &str = r#"
extern "C" __global__ void ramp(float *out, size_t len, unsigned long long seed) {
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < len) out[i] = float(i) + float(seed % 1000);
}
extern "C" __global__ void copy(const float *x, float *y) { y[threadIdx.x] = x[threadIdx.x]; }
extern "C" __global__ void add(const float *x, float *y) { y[threadIdx.x] += x[threadIdx.x]; }
extern "C" __global__ void stray(const float *x, float *y) { ((volatile float *)0)[threadIdx.x] = x[0]; }
"#;

fn kernel(name: &str) -> KernelRef {
    KernelRef {
        source: 3,
        name: name.to_owned(),
    }
}

fn compile(directory: &std::path::Path) -> Vec<SourceModule> {
    let source = Source {
        name: "own.cu".to_owned(),
        form: SourceForm::Cuda,
        files: vec![SourceFile {
            path: "src/own.cu".to_owned(),
            contents: KERNELS.as_bytes().to_vec(),
        }],
        options: Vec::new(),
    };
    let names = ["ramp", "copy", "add", "stray"].map(str::to_owned);
    let compiler = HostCompiler::find().expect("a C++ compiler");
    let compiled = compiler.compile(Wanted {
        source: &source,
        names: &names,
        cache: directory,
        interrupt: &AtomicBool::new(false),
        most: None,
    });
    let compiled = compiled.expect("they compile");
    vec![(3, FrozenFile::copy_of(&compiled).expect("it is there"))]
}

/// A case with an input that a kernel fills, and an output or in-out tensor that a plan of one
/// launch computes.
fn own(reference: &str, role: Role) -> Recording {
    let pointer = |tensor| Argument::Pointer {
        buffer: BufferId::Tensor(tensor),
        offset: 0,
    };
    let launch = Launch {
        kernel: kernel(reference),
        grid: [1; 3],
        block: [ELEMENTS as u32, 1, 1],
        cluster: [1; 3],
        dynamic_shared: 0,
        cooperation: Default::default(),
        dependence: Default::default(),
        arguments: vec![pointer(0), pointer(1)],
        types: Vec::new(),
        place: String::new(),
    };
    let mut recording = recording();
    recording.tensors[0].fill = Fill::Kernel(kernel("ramp"));
    recording.tensors[1].role = role;
    if role == Role::InOut {
        recording.tensors[1].fill = Fill::Uniform { low: 0.0, high: 1.0 };
    }
    recording.reference = Reference::Plan(Plan {
        steps: vec![Step::Launch(launch)],
        scratch: Vec::new(),
        constants: Vec::new(),
    });
    recording
}

fn open(recording: Recording) -> (Referee, Result<OpenCase, RefereeError>) {
    let cache = tempfile::tempdir().expect("a directory");
    let mut referee = referee(Box::new(cpu())).unwrap();
    referee.kernels_run_in = KernelHost::Referee;
    let case = open_case(
        &mut referee,
        BEGINNING,
        WindowCalls::one(Mode::Cold),
        ALONE,
        recording,
        &compile(cache.path()),
    );
    (referee, case)
}

fn floats(referee: &mut Referee, address: DevicePtr) -> Vec<f32> {
    referee.driver.synchronize(referee.stream).unwrap();
    let mut bytes = vec![0; 4 * ELEMENTS];
    referee.driver.read(address, &mut bytes).unwrap();
    bytemuck::pod_collect_to_vec(&bytes)
}

#[test]
fn a_case_without_author_code_shares_nothing_with_the_author() {
    let (mut referee, case) = open(own("copy", Role::Output));
    let descriptors = case.unwrap().author_descriptors(&mut *referee.driver).unwrap();
    assert!(descriptors.is_empty());
}

#[test]
fn a_window_with_the_crates_kernels_is_checked_like_any_other() {
    let (mut referee, case) = open(own("copy", Role::Output));
    let case = case.unwrap();
    let mut peer = Peer::new(&case.layouts(), worker_descriptors(&case, &mut referee).unwrap());
    let broker = Channel::pair().unwrap();
    referee.generate(&case, 0).unwrap();
    let mut seen = Vec::new();
    for window in 1..=3 {
        referee.generate(&case, window).unwrap();
        referee.run_reference(&case, window).unwrap();
        peer.arm(window, |driver, stream, x, y| match window {
            3 => (),
            _ => driver.copy(stream, y, x, 4 * ELEMENTS as u64).unwrap(),
        });
        let facts = referee.release(&case, &order(window), &broker.0).unwrap();
        seen.push((facts.outputs()[0].matched, facts.outputs()[0].unwritten));
    }
    let all = ELEMENTS as u64;
    assert_eq!(seen, [(all, 0), (all, 0), (0, all)]);
}

#[test]
fn the_reference_starts_from_zeros_or_the_in_out_contents() {
    for role in [Role::Output, Role::InOut] {
        let (mut referee, case) = open(own("add", role));
        let case = case.unwrap();
        for window in 0..=2 {
            referee.generate(&case, window).unwrap();
        }
        referee.run_reference(&case, 2).unwrap();
        let [x, y] = [&case.buffers()[0], &case.buffers()[1]];
        let added = floats(&mut referee, x.pristine.as_ref().unwrap().current);
        let before = match &y.pristine {
            Some(pristine) => floats(&mut referee, pristine.current),
            None => vec![0.0; ELEMENTS],
        };
        let expected: Vec<f32> = before
            .iter()
            .zip(&added)
            .map(|(before, added)| before + added)
            .collect();
        assert_eq!(
            floats(&mut referee, y.answers.as_ref().unwrap().expected),
            expected,
            "{role:?}"
        );
    }
}

#[test]
fn a_faulting_reference_is_named_and_not_blamed_on_the_benchmark() {
    let (mut referee, case) = open(own("stray", Role::Output));
    let case = case.unwrap();
    referee.generate(&case, 1).unwrap();
    let error = referee.run_reference(&case, 1).expect_err("it writes to address 0");
    let text = gpubench_diagnostic::chain(&error);
    assert!(matches!(error, RefereeError::Reference(_)), "{text}");
    assert!(text.starts_with("kernel `stray`: "), "{text}");
}

#[test]
fn a_mismatched_reference_is_rejected_when_the_case_opens() {
    let (_, case) = open(own("ramp", Role::Output));
    let error = case.err().expect("the kernel takes three parameters");
    let text = gpubench_diagnostic::chain(&error);
    assert!(matches!(error, RefereeError::Reference(_)), "{text}");
    assert_eq!(text, "kernel `ramp` takes 3 parameters, and the launch has 2 arguments");
}

#[test]
fn the_referee_does_not_run_the_authors_reference() {
    let (mut referee, case) = open(recording());
    let refused = referee.run_reference(&case.unwrap(), 1);
    assert!(matches!(refused, Err(RefereeError::Order(_))));
}

#[test]
fn a_module_is_loaded_once_unless_its_variables_are_written() {
    let cache = tempfile::tempdir().expect("a directory");
    let files = compile(cache.path());
    let mut referee = referee(Box::new(cpu())).unwrap();
    let written = |source| gpubench::plan::ConstantValue {
        source,
        symbol: "c".to_owned(),
        bytes: vec![1],
    };
    let mut load = |constants: &[_]| referee.load_modules(&files, constants).unwrap();
    let kept = load(&[]);
    assert_eq!(load(&[]), kept);
    assert_eq!(load(&[written(4)]), kept, "another source");
    let own = load(&[written(3)]);
    assert_ne!(own, kept);
    assert_ne!(load(&[written(3)]), own);
    assert_eq!(load(&[]), kept);
}
