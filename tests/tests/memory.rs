//! `--metric memory`, the most device memory that is in use at a time during a call; and cases that
//! need more memory than there is.
#![forbid(unsafe_code)]

use std::io::Write as _;
use std::path::{Path, PathBuf};

use camino::Utf8Path;
use gpubench_tests::{FakeGpu, Fixture, Run, repository};
use serde_json::json;

/// A benchmark with four tensors' worth of elements in its two tensors, and with scratch for one
/// more, or for three.
const LIBRARY: &str = r#"
use gpubench::prelude::*;

cuda_source!(COPY = "copy.cu");

fn vectors(n: usize) -> Tensors {
    Tensors::new().input("x", f32::shape([n]), Uniform(0.0..1.0)).output("y", f32::shape([n]))
}

fn on_cpu(_n: usize, x: &[f32], y: &mut [f32]) {
    y.copy_from_slice(x);
}

#[gpubench(axes(n = [1000, 4000]), tensors = vectors, reference = on_cpu, exact)]
fn through_scratch(launcher: &mut Launcher, n: usize, x: In<f32>, y: Out<f32>) -> Result<()> {
    let between = launcher.scratch::<f32>(n * BUFFERS)?;
    launcher.launch(COPY.kernel("copy"), Grid::covering(n, 128), (x, between, n))?;
    launcher.launch(COPY.kernel("copy"), Grid::covering(n, 128), (between, y, n))
}

const BUFFERS: usize = 1;
"#;

const KERNEL: &str = r#"
extern "C" __global__ void copy(const float *x, float *y, size_t n) {
  size_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i];
}
"#;

/// Writes the crate, with scratch for this many copies of its input.
fn written(folder: &Utf8Path, buffers: usize) -> Fixture {
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("it is written");
    std::fs::create_dir_all(folder.join("src")).expect("a folder");
    let runtime = repository().join("gpubench");
    write(
        "Cargo.toml",
        &format!(
            "[package]\nname = \"mindful\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
             [dependencies]\ngpubench = {{ path = {runtime:?} }}\n"
        ),
    );
    write("src/copy.cu", KERNEL);
    write(
        "src/lib.rs",
        &LIBRARY.replace("BUFFERS: usize = 1", &format!("BUFFERS: usize = {buffers}")),
    );
    Fixture::made_in(folder)
}

#[test]
fn a_call_uses_its_tensors_and_its_scratch_and_more_scratch_is_a_regression() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = Utf8Path::from_path(folder.path()).expect("UTF-8");
    let fixture = written(folder, 1);
    let reading = |fixture: &Fixture, more: &[&str]| {
        let run = Run::on(fixture).args(["--metric", "time,memory", "--exact", "through_scratch::n=4000"]);
        run.args(more.iter().copied()).finish()
    };
    let records = reading(&fixture, &["--message-format", "json", "--save-baseline", "before"])
        .expect_code(0)
        .records();
    let memory = records
        .results()
        .find(|result| result["metric"]["name"] == "memory")
        .expect("a result of the memory");
    assert_eq!(
        memory["metric"],
        json!({"name": "memory", "unit": "B", "better": "lower"})
    );
    assert_eq!(memory["samples"], json!([48_000.0, 48_000.0, 48_000.0]));
    assert_eq!(
        (&memory["counts"]["memory"], &memory["counts"]["counted_by"]),
        (
            &json!({"scratch": 16_000.0, "tensors": 32_000.0}),
            &json!("the plan of the call")
        )
    );
    assert_eq!(
        (&memory["verdict"], &memory["grade"]),
        (&json!("pass"), &json!("sealed"))
    );

    let fixture = written(folder, 3);
    let compared = reading(&fixture, &["--baseline", "before", "--verbose"]).expect_code(3);
    let shown = ["78.12 KiB", "+66.7%", "scratch 46.88 KiB, tensors 31.25 KiB"];
    for part in shown {
        assert!(compared.stdout.contains(part), "`{part}` in\n{}", compared.stdout);
    }
}

#[test]
fn the_cpu_device_does_not_know_what_host_code_allocates_and_says_so() {
    let run = Run::on(&Fixture::new("hosted")).args(["--metric", "memory", "--exact", "honest::on_the_host::n=600"]);
    let failed = run.finish().expect_code(100);
    let text =
        "the CPU device does not know what memory host code allocates (hint: leave out `memory`, or measure on a GPU)";
    assert!(failed.stdout.contains(text), "{}", failed.stdout);
}

#[test]
fn on_a_gpu_what_host_code_allocates_in_a_call_counts_and_what_it_has_freed_does_not() {
    let gpu = FakeGpu::for_host_code().and_cupti();
    let measured = |case: &str| {
        let run = gpu
            .run(&Fixture::new("gpu"))
            .json()
            .args(["--metric", "memory", "--exact", case]);
        run.finish().expect_code(0).records().result(case).clone()
    };
    // It allocates as much as one of its tensors, and frees it in the same call.
    let between = measured("copies::waits_for_the_device::n=4099,stream=0");
    assert_eq!(
        (&between["counts"]["memory"], &between["samples"]),
        (
            &json!({"allocated": 16_396.0, "scratch": 0.0, "tensors": 32_792.0}),
            &json!([49_188.0, 49_188.0, 49_188.0])
        )
    );
    assert_eq!(
        (&between["counts"]["counted_by"], &between["grade"]),
        (&json!("the activity records of CUPTI"), &json!("unverified"))
    );
    let copies = measured("copies::writes_a_word_first::n=4099");
    assert_eq!(copies["counts"]["memory"]["allocated"], 0.0);
    // Each call leaves some memory, so each has more than the one before.
    let leaks = measured("copies::leaks::n=4099");
    let samples: Vec<f64> = serde_json::from_value(leaks["samples"].clone()).expect("numbers");
    assert!(samples.is_sorted() && samples[0] < samples[2], "{samples:?}");
    assert!(
        leaks["notices"][0]
            .as_str()
            .is_some_and(|notice| notice.contains("differ")),
        "{leaks:#}"
    );
}

#[test]
fn without_cupti_the_memory_of_host_code_is_an_error_that_says_what_to_install() {
    let gpu = FakeGpu::for_host_code();
    let case = "copies::writes_a_word_first::n=4099";
    let run = gpu
        .run(&Fixture::new("gpu"))
        .args(["--metric", "memory", "--exact", case]);
    let shown = run.finish().expect_code(100).stdout;
    assert!(
        shown.contains("device memory is recorded by CUPTI, and `libcupti.so` was not found"),
        "{shown}"
    );
}

/// A control group whose processes may use so much memory.
struct Group(PathBuf);

impl Group {
    /// Makes one, if this machine lets this process make it.
    fn limited_to(bytes: u64) -> Option<Group> {
        let name = format!("gpubench-tests-{}", std::process::id());
        let versions = [
            ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
            ("/sys/fs/cgroup", "memory.max"),
        ];
        versions.iter().find_map(|(root, limit)| {
            let group = Group(Path::new(root).join(&name));
            std::fs::create_dir(&group.0).ok()?;
            let limit = group.0.join(limit);
            (limit.exists() && std::fs::write(&limit, bytes.to_string()).is_ok()).then_some(group)
        })
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0);
    }
}

#[test]
fn a_case_that_needs_more_memory_than_the_control_group_may_use_does_not_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = Utf8Path::from_path(folder.path()).expect("UTF-8");
    let fixture = written(folder, 1);
    let only_built = Run::on(&fixture).briefly().args(["--list"]).finish();
    let _ = only_built.expect_code(0);
    let Some(group) = Group::limited_to(256 << 20) else {
        let _ = writeln!(std::io::stderr(), "skipped: no control group can be made here");
        return;
    };
    let enter = format!("echo $$ > '{}/cgroup.procs'", group.0.display());
    let run = Run::after(&enter, &fixture).briefly().json();
    let sizes = ["--axis", "n=1000,40000000"];
    let records = run.args(sizes).finish().expect_code(100).records();
    assert_eq!(records.result("through_scratch::n=1000")["verdict"], "pass");
    let words = ["it needs ", "MiB are free (hint: choose a smaller size with `--axis`)"];
    records.assert_ends("through_scratch::n=40000000", "error", "out-of-memory", &words);
}
