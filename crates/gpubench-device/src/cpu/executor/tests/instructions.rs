//! Instructions of kernels, counted by callgrind.

use std::process::Command;
use std::sync::Arc;

use super::*;
use crate::compilers::Processors;
use crate::cpu::callgrind::{CallgrindCounter, launcher};
use crate::{Count, Counter as _};

const STORES: &str = r#"
    extern "C" __global__ void once(volatile float *y) { y[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
    extern "C" __global__ void four_times(volatile float *y) {
        volatile float *mine = y + blockIdx.x * blockDim.x + threadIdx.x;
        *mine = 1; *mine = 1; *mine = 1; *mine = 1;
    }
    extern "C" __global__ void together(float *y) {
        __shared__ float all[64];
        all[threadIdx.x] = y[threadIdx.x];
        __syncthreads();
        y[threadIdx.x] = expf(all[63 - threadIdx.x]);
    }
"#;

/// The variable with the library of these kernels.
const LIBRARY: &str = "LIBRARY_TO_COUNT";

/// Runs a test of this file again, under callgrind.
fn under_callgrind(test: &str) {
    gpubench_diagnostic::testing::need("valgrind");
    let names = ["once", "four_times", "together"].map(str::to_owned);
    let library = COMPILER.clone().for_processors(Processors::Portable).compile(Wanted {
        source: &source(STORES),
        names: &names,
        cache: &CACHE,
        interrupt: &AtomicBool::new(false),
        most: None,
    });
    let folder = tempfile::tempdir().unwrap();
    let valgrind = launcher(folder.path()).unwrap();
    let ran = Command::new(valgrind.program)
        .args(valgrind.arguments)
        .arg(std::env::current_exe().unwrap())
        .arg(format!("cpu::executor::tests::instructions::{test}"))
        .args(["--exact", "--ignored", "--test-threads=1"])
        .env("TMPDIR", folder.path())
        .env(LIBRARY, library.unwrap())
        .output()
        .expect("valgrind runs");
    let printed = String::from_utf8_lossy(&ran.stdout);
    let has_run = ran.status.success() && printed.contains("1 passed");
    assert!(has_run, "{printed}{}", String::from_utf8_lossy(&ran.stderr));
}

/// A counter, and the kernels of [`STORES`].
struct Counting {
    pool: Arc<Pool>,
    counter: CallgrindCounter,
    module: Module,
}

impl Counting {
    fn begin() -> Counting {
        let library = PathBuf::from(std::env::var_os(LIBRARY).expect("the library of the kernels"));
        let pool = Arc::new(pool(1));
        let counter = CallgrindCounter::open(&pool).unwrap();
        // SAFETY: the library was built from this test's source.
        let module = unsafe { Module::load(&library) }.unwrap();
        Counting { pool, counter, module }
    }

    fn count(&mut self, launches: &[(&str, LaunchShape)]) -> Vec<Count> {
        let mut y = vec![1.0_f32; 1 << 14];
        self.counter.start(launches.len()).unwrap();
        for (name, shape) in launches {
            self.counter.begin(name).unwrap();
            let kernel = self.module.kernel(name).unwrap();
            launch(&self.pool, kernel, shape, &[address(&mut y)]).unwrap();
            self.counter.end().unwrap();
        }
        self.counter.stop().unwrap().unwrap()
    }
}

fn total(counts: &[Count]) -> f64 {
    counts.iter().map(|count| count.value).sum()
}

#[test]
#[ignore = "another test runs it under callgrind"]
fn counts_each_store() {
    let mut counting = Counting::begin();
    let mut of = |kernel, blocks| total(&counting.count(&[(kernel, line(blocks, 64))]));
    // The first call of a library loads what it needs later.
    of("once", 1);
    let threads = 64.0 * 64.0;
    let more = of("four_times", 64) - of("once", 64);
    // The compiler may need a few more for each block.
    assert!((3.0 * threads..3.2 * threads).contains(&more), "{more}");
    let [few, more, most] = [16, 32, 64].map(|blocks| of("once", blocks));
    assert_eq!(most - more, 2.0 * (more - few));
}

#[test]
fn a_kernel_with_three_more_stores_has_three_more_instructions_for_each_thread() {
    under_callgrind("counts_each_store");
}

#[test]
#[ignore = "another test runs it under callgrind"]
fn counts_the_same_each_time() {
    let mut counting = Counting::begin();
    let mut count = || counting.count(&[("once", line(64, 64)), ("together", line(1, 64))]);
    count();
    let first = count();
    assert!((1..20).all(|_| count() == first), "{first:?}");
    let functions: Vec<(&str, &str)> = first.iter().map(|count| (&*count.range, &*count.of)).collect();
    for expected in [("once", "once"), ("together", "together"), ("together", "__expf_fma")] {
        assert!(functions.contains(&expected), "{functions:?}");
    }
    // The tool's barrier stands for hardware.
    let is_of_tool = |function: &str| function.contains("executor") || function.contains("corosensei");
    assert!(
        !functions.iter().any(|(_, function)| is_of_tool(function)),
        "{functions:?}"
    );
}

#[test]
fn counts_repeat_exactly_and_leave_out_what_the_tool_does() {
    under_callgrind("counts_the_same_each_time");
}

#[test]
fn nothing_is_counted_without_valgrind() {
    let error = CallgrindCounter::open(&Arc::new(pool(1))).err().expect("an error");
    assert_eq!(
        error.to_string(),
        "the device cannot count instructions, because the process does not run under valgrind"
    );
}
