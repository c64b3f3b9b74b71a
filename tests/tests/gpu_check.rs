//! A check on the CPU device compiles the kernels for a GPU as well.
#![forbid(unsafe_code)]

use std::fs;

use gpubench_tests::{Finished, Fixture, Run, RunFolder, nvrtc, repository};

const KERNELS: &str = "static float twice(float x) { return 2 * x; }\n\
    __global__ void calls(float *y) { y[threadIdx.x] = twice(0); }\n\
    __global__ void plain(float *y) { y[threadIdx.x] = 0; }\n";

const BENCHMARKS: &str = r#"
use gpubench::prelude::*;

cuda_source!(KERNELS = "kernels.cu");

fn zeros() -> Tensors {
    Tensors::new().output("y", f32::shape(64))
}

fn zero(y: &mut [f32]) {
    y.fill(0.0);
}

#[gpubench(tensors = zeros, reference = zero, exact)]
fn calling(launcher: &mut Launcher, y: Out<f32>) -> Result<()> {
    launcher.launch(KERNELS.kernel("calls"), Grid::new(1, 64), (y,))
}

#[gpubench(tensors = zeros, reference = zero, exact)]
fn calling_none(launcher: &mut Launcher, y: Out<f32>) -> Result<()> {
    launcher.launch(KERNELS.kernel("plain"), Grid::new(1, 64), (y,))
}
"#;

fn run(benchmarks: &str, arguments: &[&str]) -> Finished {
    let folder = RunFolder::new();
    let package = folder.path("crate");
    fs::create_dir_all(package.join("src")).expect("a folder");
    let manifest = format!(
        "[package]\nname = \"checked\"\nversion = \"0.1.0\"\nedition = \"2024\"\npublish = false\n[workspace]\n\
         [dependencies]\ngpubench = {{ path = \"{}\" }}\n",
        repository().join("gpubench")
    );
    for (file, text) in [
        ("Cargo.toml", &*manifest),
        ("src/kernels.cu", KERNELS),
        ("src/lib.rs", benchmarks),
    ] {
        fs::write(package.join(file), text).expect("written");
    }
    let run = Run::on(&Fixture::made_in(&package)).json();
    run.args(["--device", "cpu", "--nvrtc", &nvrtc()])
        .args(arguments.iter().copied())
        .finish()
}

#[test]
fn a_host_function_in_a_kernel_fails_the_cases_that_use_it() {
    let records = run(BENCHMARKS, &["--test"]).expect_code(101).records();
    let (calling, other) = (records.result("calling"), records.result("calling_none"));
    assert_eq!(other["verdict"], "pass", "{other}");
    assert_eq!(calling["cause"], "compile-failed", "{calling}");
    let message = calling["message"].to_string();
    let words = "src/kernels.cu:1: error: A function without execution space annotations";
    assert!(message.contains(words), "{message}");
}

#[test]
fn a_benchmark_for_the_cpu_device_alone_is_not_compiled_for_a_gpu() {
    let for_cpu = BENCHMARKS.replace("exact)]", "exact, requires(cpu))]");
    let records = run(&for_cpu, &["--test"]).expect_code(0).records();
    assert_eq!(records.result("calling")["verdict"], "pass");
}

#[test]
fn a_benchmark_for_the_cpu_device_alone_may_share_a_kernel_that_no_gpu_can_run() {
    let function = BENCHMARKS.find("#[gpubench").expect("a benchmark");
    let end = function + BENCHMARKS[function..].find("\n\n").expect("another one");
    let shared = BENCHMARKS[function..end]
        .replace("exact)]", "exact, requires(cpu))]")
        .replace("fn calling(", "fn on_the_cpu_device_alone(");
    let records = run(&format!("{BENCHMARKS}{shared}\n"), &["--test"])
        .expect_code(101)
        .records();
    assert_eq!(records.result("calling")["cause"], "compile-failed");
    let alone = records.result("on_the_cpu_device_alone");
    assert_eq!(alone["verdict"], "pass", "{alone}");
}
