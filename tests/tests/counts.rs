//! `--metric instructions` and `--metric ncu:…`: what a call does, counted instead of timed.
#![forbid(unsafe_code)]

use std::path::Path;
use std::sync::OnceLock;

use camino::{Utf8Path, Utf8PathBuf};
use gpubench_tests::{BareMachine, FakeGpu, Fixture, Records, Run, RunFolder, repository, write_script};
use serde_json::Value;

const LIBRARY: &str = r#"
use gpubench::prelude::*;

cuda_source!(SPIN = "spin.cu");
cuda_source!(WITH_SHARED = "with_shared.cu");
cuda_source!(HIDING = "hiding.cu");

fn vectors() -> Tensors {
    Tensors::new().input("x", u32::shape([64]), Bits).output("y", u32::shape([64]))
}

fn on_cpu(_rounds: usize, x: &[u32], y: &mut [u32]) {
    y.copy_from_slice(x);
}

fn of_trial_on_cpu(_rounds: usize, _trial: usize, x: &[u32], y: &mut [u32]) {
    y.copy_from_slice(x);
}

#[gpubench(axes(rounds = [1000, 1001, 1003]), tensors = vectors(), reference = on_cpu, exact)]
fn spin(launcher: &mut Launcher, rounds: usize, x: In<u32>, y: Out<u32>) -> Result<()> {
    launcher.launch(SPIN.kernel("spin"), Grid::covering(64, 64), (x, y, rounds))
}

#[gpubench(
    axes(
        rounds = [1000, 1003],
        trial = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19],
    ),
    tensors = vectors(),
    reference = of_trial_on_cpu,
    exact
)]
fn trials(launcher: &mut Launcher, rounds: usize, trial: usize, x: In<u32>, y: Out<u32>) -> Result<()> {
    let _ = trial;
    spin(launcher, rounds, x, y)
}

#[gpubench(axes(rounds = [1]), tensors = vectors(), reference = on_cpu, exact)]
fn alone_in_its_file(launcher: &mut Launcher, rounds: usize, x: In<u32>, y: Out<u32>) -> Result<()> {
    let _ = rounds;
    launcher.launch(SPIN.kernel("copy"), Grid::covering(64, 1), (x, y))
}

#[gpubench(axes(rounds = [1]), tensors = vectors(), reference = on_cpu, exact)]
fn with_shared(launcher: &mut Launcher, rounds: usize, x: In<u32>, y: Out<u32>) -> Result<()> {
    let _ = rounds;
    launcher.launch(WITH_SHARED.kernel("copy"), Grid::covering(64, 1), (x, y))
}

#[gpubench(axes(rounds = [1]), tensors = vectors(), reference = on_cpu, exact, ignore)]
fn hides_by_request(launcher: &mut Launcher, rounds: usize, x: In<u32>, y: Out<u32>) -> Result<()> {
    let _ = rounds;
    launcher.launch(HIDING.kernel("hides_by_request"), Grid::covering(64, 64), (x, y))
}

#[gpubench(axes(rounds = [20_000]), tensors = vectors(), reference = on_cpu, exact, ignore)]
fn hides_in_a_thread(launcher: &mut Launcher, rounds: usize, x: In<u32>, y: Out<u32>) -> Result<()> {
    launcher.launch(SPIN.kernel("hides_in_a_thread"), Grid::covering(64, 64), (x, y, rounds))
}

#[gpubench(axes(rounds = [20_000]), tensors = vectors(), reference = on_cpu, exact, ignore)]
fn hides_in_a_child(launcher: &mut Launcher, rounds: usize, x: In<u32>, y: Out<u32>) -> Result<()> {
    launcher.launch(SPIN.kernel("hides_in_a_child"), Grid::covering(64, 64), (x, y, rounds))
}

#[gpubench(axes(rounds = [1]), tensors = vectors(), reference = on_cpu, exact)]
fn twice(launcher: &mut Launcher, rounds: usize, x: In<u32>, y: Out<u32>) -> Result<()> {
    launcher.launch(SPIN.kernel("spin"), Grid::covering(64, 64), (x, y, rounds))?;
    launcher.launch(SPIN.kernel("copy"), Grid::covering(64, 64), (x, y))
}

#[gpubench(axes(rounds = [1]), tensors = vectors(), reference = on_cpu, exact)]
fn wrong(launcher: &mut Launcher, rounds: usize, x: In<u32>, y: Out<u32>) -> Result<()> {
    let _ = rounds;
    launcher.launch(SPIN.kernel("half"), Grid::covering(64, 64), (x, y))
}
"#;

const KERNELS: &str = r#"
extern "C" __global__ void spin(const unsigned *x, unsigned *y, size_t rounds) {
  volatile size_t round = 0;
  while (round < rounds) round = round + 1;
  y[threadIdx.x] = x[threadIdx.x];
}

extern "C" __global__ void copy(const unsigned *x, unsigned *y) {
  y[blockIdx.x * blockDim.x + threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x];
}

extern "C" __global__ void half(const unsigned *x, unsigned *y) {
  if (threadIdx.x < 32) y[threadIdx.x] = x[threadIdx.x];
}

extern "C" int pthread_create(unsigned long *thread, const void *attributes, void *(*run)(void *), void *argument);
extern "C" int pthread_join(unsigned long thread, void **result);
extern "C" int fork();
extern "C" int waitpid(int child, int *status, int options);
extern "C" void _exit(int code);

struct hidden_work {
  const unsigned *x;
  unsigned *y;
  size_t rounds;
};

static void *work(void *argument) {
  const hidden_work *const given = static_cast<hidden_work *>(argument);
  volatile size_t round = 0;
  while (round < given->rounds) round = round + 1;
  for (int i = 0; i < 64; ++i) given->y[i] = given->x[i];
  return nullptr;
}

/* The call itself only waits, if it may. */
extern "C" __global__ void hides_in_a_thread(const unsigned *x, unsigned *y, size_t rounds) {
  if (threadIdx.x != 0) return;
  hidden_work given = {x, y, rounds};
  unsigned long thread;
  if (pthread_create(&thread, nullptr, work, &given) == 0)
    pthread_join(thread, nullptr);
  else
    work(&given);
}

extern "C" __global__ void hides_in_a_child(const unsigned *x, unsigned *y, size_t rounds) {
  if (threadIdx.x != 0) return;
  hidden_work given = {x, y, rounds};
  const int child = fork();
  if (child == 0) {
    work(&given);
    _exit(0);
  }
  if (child > 0)
    waitpid(child, nullptr, 0);
  else
    work(&given);
}
"#;

/// Nothing launches the second kernel.
const WITH_SHARED: &str = r#"
extern "C" __global__ void copy(const unsigned *x, unsigned *y) {
  y[blockIdx.x * blockDim.x + threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x];
}

extern "C" __global__ void unused(unsigned *y) {
  __shared__ unsigned all[2048];
  all[threadIdx.x] = y[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = all[63 - threadIdx.x];
}
"#;

/// Asks callgrind to stop collecting. The tool does not accept assembler in a source by its name.
const HIDING: &str = r#"
#define JOINED(one, other) one##other
#define ASSEMBLER JOINED(__as, m__)

static void toggle_collection() {
  const size_t request[6] = {0x43540002};
  size_t result = 0;
  ASSEMBLER volatile(
      "rol $3, %%rdi; rol $13, %%rdi; rol $61, %%rdi; rol $51, %%rdi; xchg %%rbx, %%rbx"
      : "+d"(result)
      : "a"(request)
      : "cc", "memory");
}

extern "C" __global__ void hides_by_request(const unsigned *x, unsigned *y) {
  toggle_collection();
  y[threadIdx.x] = x[threadIdx.x];
  toggle_collection();
}
"#;

/// Returns the one crate that all tests share.
fn crate_folder() -> &'static Utf8Path {
    static FOLDER: OnceLock<(tempfile::TempDir, Utf8PathBuf)> = OnceLock::new();
    let (_, folder) = FOLDER.get_or_init(|| {
        let temporary = tempfile::tempdir().expect("a folder");
        let folder = Utf8Path::from_path(temporary.path())
            .expect("the name is text")
            .to_owned();
        std::fs::create_dir_all(folder.join("src")).expect("a folder");
        let runtime = repository().join("gpubench");
        let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("it is written");
        write(
            "Cargo.toml",
            &format!(
                "[package]\nname = \"counted\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
                 [dependencies]\ngpubench = {{ path = {runtime:?} }}\n"
            ),
        );
        write("src/spin.cu", KERNELS);
        write("src/with_shared.cu", WITH_SHARED);
        write("src/hiding.cu", HIDING);
        write("src/lib.rs", LIBRARY);
        (temporary, folder)
    });
    folder
}

fn counting(filter: &str) -> Run {
    reading(filter, "instructions")
}

fn reading(filter: &str, metrics: &str) -> Run {
    gpubench_diagnostic::testing::need("valgrind");
    Run::on(&Fixture::made_in(crate_folder())).args([filter, "--metric", metrics])
}

fn samples(records: &Records, case: &str) -> Vec<f64> {
    let samples = records.result(case)["samples"].as_array().cloned().unwrap_or_default();
    samples.iter().filter_map(Value::as_f64).collect()
}

#[test]
fn counts_are_the_same_in_every_call_and_every_run() {
    let counts = |samples_wanted: &str| {
        let run =
            counting("spin::rounds=1000").args(["--min-samples", samples_wanted, "--max-samples", samples_wanted]);
        let records = run.json().finish().expect_code(0).records();
        let result = records.result("spin::rounds=1000");
        assert_eq!(result["metric"]["name"], "instructions");
        assert_eq!(
            (&result["twin"], &result["conservation"], &result["event_overhead_ns"]),
            (&Value::Null, &Value::Null, &Value::Null)
        );
        samples(&records, "spin::rounds=1000")
    };
    let many = counts("20");
    assert_eq!(many, vec![many[0]; 20]);
    // Each round of the loop takes a few instructions of each of the 64 threads.
    assert!((3.0 * 64_000.0..12.0 * 64_000.0).contains(&many[0]), "{}", many[0]);
    for _ in 0..2 {
        assert_eq!(counts("1"), many[..1]);
    }
}

#[test]
fn an_unused_kernel_with_shared_memory_in_the_same_file_changes_no_count() {
    let records = counting("shared|alone_in").json().finish().expect_code(0).records();
    let [alone, with_shared] = ["alone_in_its_file::rounds=1", "with_shared::rounds=1"].map(|case| {
        let functions = &records.result(case)["counts"]["functions"];
        let names: Vec<&str> = functions
            .as_array()
            .expect("a list")
            .iter()
            .filter_map(|function| function["function"].as_str())
            .collect();
        assert_eq!(names, ["copy"], "only the kernel counts");
        samples(&records, case)
    });
    assert_eq!(alone, with_shared);
}

#[test]
fn work_that_a_kernel_gives_to_a_thread_or_a_child_counts() {
    let run = counting("hides_in_a").args(["--include-ignored"]);
    let records = run.json().finish().expect_code(0).records();
    for case in ["hides_in_a_thread::rounds=20000", "hides_in_a_child::rounds=20000"] {
        let counts = samples(&records, case);
        assert!(counts.iter().all(|count| *count > 60_000.0), "{case}: {counts:?}");
    }
}

#[test]
fn a_kernel_that_could_turn_the_counter_off_is_refused() {
    let run = counting("hides_by_request").args(["--include-ignored"]);
    let records = run.json().finish().expect_code(100).records();
    let words = ["the kernels send requests to valgrind", "(hint: measure their times"];
    records.assert_ends("hides_by_request", "error", "plan-invalid", &words);
    assert!(samples(&records, "hides_by_request::rounds=1").is_empty());
}

#[test]
fn a_change_of_0_3_percent_is_a_regression_and_one_of_0_1_percent_is_not() {
    let folder = RunFolder::new();
    let saved = |rounds: &str| {
        let file = folder.path(&format!("{rounds}.json")).into_string();
        let run = counting(&format!("spin::rounds={rounds}")).args(["--save-baseline", &file]);
        let _ = run.finish().expect_code(0);
        file
    };
    let [before, within, beyond] = ["1000", "1001", "1003"].map(saved);
    let table = std::fs::read_to_string(before.replace(".json", ".icounts.csv")).expect("a table");
    assert!(
        table
            .lines()
            .any(|line| line.starts_with("counted,spin::rounds=1000,cold,spin,spin,")),
        "{table}"
    );
    let compared = |after: &str| {
        let run = Run::on_verb("compare", &Fixture::made_in(crate_folder()));
        run.args([before.as_str(), after, "-g", "(spin)::"])
    };
    let regressed = compared(&beyond).finish().expect_code(3);
    let shown = &regressed.stdout;
    assert!(shown.contains("+0.3") || shown.contains("+0.29"), "{shown}");
    let by_function = |line: &str| line.starts_with("  spin: ") && line.contains(" instructions (+");
    assert!(shown.lines().any(by_function), "{shown}");
    let _ = compared(&within).finish().expect_code(0);
    let strict = compared(&within).args(["--count-threshold", "0.05%"]);
    let _ = strict.finish().expect_code(3);
}

/// Returns the counts of every call in a stored run.
fn counts_in(file: &str) -> Vec<f64> {
    let text = std::fs::read_to_string(file).expect("it was saved");
    let run: Value = serde_json::from_str(&text).expect("JSON");
    let results = run["results"].as_array().cloned().unwrap_or_default();
    let samples = results.iter().filter_map(|result| result["samples"].as_array());
    samples.flatten().filter_map(Value::as_f64).collect()
}

/// Each of the trials counts in a fresh process, on inputs of its own.
#[test]
#[ignore = "takes minutes: 60 processes under valgrind"]
fn a_change_of_0_3_percent_is_found_in_20_of_20_trials_and_no_change_in_none() {
    let folder = RunFolder::new();
    let saved = |name: &str, filter: &str| {
        let file = folder.path(name).into_string();
        let run = counting(filter).args(["--save-baseline", &file]);
        let _ = run.finish().expect_code(0);
        file
    };
    let before = saved("before.json", "trials::rounds=1000,");
    let compared = |after: &str, code: i32| {
        let run = Run::on_verb("compare", &Fixture::made_in(crate_folder()));
        let run = run.args([before.as_str(), after, "-g", r"trial=(\d+)"]);
        run.finish().expect_code(code).stdout
    };
    let after = saved("after.json", "trials::rounds=1003,");
    let again = saved("again.json", "trials::rounds=1000,");
    let [of_before, of_after, of_again] = [&before, &after, &again].map(|file| counts_in(file));
    assert_eq!([of_before.len(), of_after.len()], [60; 2]);
    assert_eq!(
        (&of_before, &of_after),
        (&vec![of_before[0]; 60], &vec![of_after[0]; 60])
    );
    assert_eq!(of_before, of_again);
    let found = compared(&after, 3);
    assert!(found.contains("\n20 regressed\n"), "{found}");
    let unchanged = compared(&again, 0);
    assert!(unchanged.contains("\n20 no change\n"), "{unchanged}");
    println!("{found}\n{unchanged}");
}

#[test]
fn counts_are_listed_by_kernel_and_function_and_stand_next_to_times() {
    let run = reading("twice", "time,instructions").briefly();
    let records = run.json().finish().expect_code(0).records();
    let results: Vec<&Value> = records.results().collect();
    let metrics: Vec<&Value> = results.iter().map(|result| &result["metric"]["name"]).collect();
    assert_eq!(metrics, ["time", "instructions"]);
    assert_eq!(results[0]["counts"], Value::Null);
    let counts = &results[1]["counts"];
    assert_eq!(counts["counted_by"], "callgrind of valgrind");
    let functions = counts["functions"].as_array().expect("functions");
    for kernel in ["spin", "copy"] {
        let is_named = |one: &&Value| one["kernel"] == kernel && one["function"] == kernel;
        assert!(functions.iter().any(|one| is_named(&one)), "{functions:#?}");
    }
    let total: f64 = functions.iter().filter_map(|one| one["instructions"].as_f64()).sum();
    assert_eq!(results[1]["samples"][0], total);
    let reason = results[1]["grade_reason"].as_str().unwrap_or_default();
    assert!(reason.contains("valgrind"), "{reason}");
}

#[test]
fn a_wrong_output_fails_while_it_is_counted() {
    let records = counting("wrong").json().finish().expect_code(100).records();
    records.assert_ends("wrong", "wrong-output", "partial", &[]);
}

#[test]
fn without_valgrind_the_run_ends_before_it_measures() {
    let archive = RunFolder::new().path("counted.tar.gz");
    std::fs::create_dir_all(archive.parent().expect("a folder")).expect("a folder");
    let _ = Run::archiving(&Fixture::made_in(crate_folder()), &archive)
        .finish()
        .expect_code(0);
    let bare = BareMachine::with_a_cpp_compiler();
    let refused = bare.run(&archive).args(["twice", "--metric", "instructions"]);
    let stderr = refused.finish().expect_code(96).stderr;
    assert!(
        stderr.contains("`valgrind` is not on the path") && stderr.contains("install the package"),
        "{stderr}"
    );
}

#[test]
fn the_cpu_device_has_no_hardware_metrics() {
    let refused = reading("twice", "ncu:dram__bytes.sum").finish();
    let stderr = refused.expect_code(96).stderr;
    assert!(stderr.contains("the CPU device has no hardware metrics"), "{stderr}");
}

#[test]
fn a_gpu_counts_the_launches_of_a_plan_with_cupti() {
    let gpu = FakeGpu::with_cupti();
    let run = gpu.run(&Fixture::made_in(crate_folder())).args(["twice"]);
    let records = run
        .args(["--metric", "instructions"])
        .json()
        .finish()
        .expect_code(0)
        .records();
    let result = records.result("twice::rounds=1");
    // The double counts 23 instructions for each warp of a kernel. Each launch has two.
    assert_eq!(result["samples"], serde_json::json!([92.0, 92.0, 92.0]));
    assert_eq!(
        (&result["grade"], &result["grade_reason"]),
        (&"sealed".into(), &Value::Null)
    );
    let functions = serde_json::json!([
        {"kernel": "spin", "function": null, "instructions": 46.0},
        {"kernel": "copy", "function": null, "instructions": 46.0},
    ]);
    assert_eq!(result["counts"]["functions"], functions);
}

#[test]
fn a_worker_that_counts_alone_takes_the_counters_of_a_gpu_once() {
    let taken = |workers: &str| {
        let gpu = FakeGpu::with_cupti();
        let run = gpu.run(&Fixture::made_in(crate_folder())).args(["twice"]);
        let _ = run
            .args(["--metric", "instructions", "--workers", workers, "--min-samples", "6"])
            .finish()
            .expect_code(0);
        gpu.counters_taken()
    };
    assert_eq!(taken("1"), 1);
    // Two take them again for each counted call, of the warm-up and of the samples.
    assert!(taken("2") > 6);
}

/// Prints the machine code of two kernels, with `$EXTRA` in one of them.
const NVDISASM: &str = r#"#!/bin/sh
section() { printf '\t.section\t.text.%s,"ax",@progbits\n%s:\n' "$1" "$1"; }
section spin
echo '        /*0000*/                   LDC R1, c[0x0][0x28] ;'
echo "$EXTRA"
echo '        /*0020*/               @P0 BRA `(.L_x_0) ;'
section copy
echo '        /*0000*/                   EXIT ;'
"#;

#[test]
fn a_comparison_says_which_opcodes_of_a_kernel_changed() {
    let folder = RunFolder::new();
    let programs = tempfile::tempdir().expect("a folder");
    program_in(programs.path(), "nvdisasm", NVDISASM);
    let with_nvdisasm = format!(
        "{}:{}",
        text(programs.path()),
        std::env::var("PATH").unwrap_or_default()
    );
    let counted = |name: &str, extra: Option<&str>, of_a_warp: &str| {
        let file = folder.path(name).into_string();
        let gpu = FakeGpu::with_cupti();
        let run = gpu
            .run(&Fixture::made_in(crate_folder()))
            .env("FAKE_CUPTI_OF_A_WARP", of_a_warp);
        let run = run.args(["twice", "--metric", "instructions", "--save-baseline", &file]);
        let run = match extra {
            Some(extra) => run.env("PATH", &with_nvdisasm).env("EXTRA", extra),
            None => run,
        };
        let _ = run.finish().expect_code(0);
        file
    };
    let shown = |before: &str, after: &str| {
        let run = Run::on_verb("compare", &Fixture::made_in(crate_folder()));
        run.args([before, after]).finish().expect_code(3).stdout
    };
    let before = counted("before.json", Some("        /*0010*/    FADD R8, R8, R7 ;"), "23");
    let after = counted("after.json", Some("        /*0010*/    FFMA R8, R8, R7, R7 ;"), "24");
    let found = shown(&before, &after);
    for part in [
        "  spin: 46 → 48 instructions (+2, +4.35%)\n",
        "  SASS of spin: FADD 1 → 0, FFMA 0 → 1\n",
        "  SASS of copy: the same\n",
    ] {
        assert!(found.contains(part), "{found}");
    }
    let without = counted("without.json", None, "25");
    let found = shown(&after, &without);
    assert!(found.contains("  SASS of spin: not known (candidate: "), "{found}");
}

/// The double lends its counters to one process at a time, as a GPU does.
#[test]
fn cases_of_a_gpu_are_counted_one_after_another() {
    let gpu = FakeGpu::with_cupti();
    let run = gpu.run(&Fixture::made_in(crate_folder())).args(["spin::rounds="]);
    let run = run.args(["--metric", "instructions,ncu:dram__bytes.sum"]).json();
    let records = run.finish().expect_code(0).records();
    for rounds in [1000, 1001, 1003] {
        let case = format!("spin::rounds={rounds}");
        assert_eq!(samples(&records, &case), [46.0; 3]);
        let hardware = serde_json::json!({"dram__bytes.sum": 1.0});
        assert_eq!(records.result(&case)["counts"]["hardware"], hardware);
    }
}

#[test]
fn both_sides_of_a_comparison_take_turns_with_the_counters_of_a_gpu() {
    let folder = RunFolder::new();
    let archive = folder.path("counted.tar.gz");
    std::fs::create_dir_all(archive.parent().expect("a folder")).expect("a folder");
    let _ = Run::archiving(&Fixture::made_in(crate_folder()), &archive)
        .finish()
        .expect_code(0);
    let against = [
        "twice",
        "--metric",
        "instructions",
        "--against-archive",
        archive.as_str(),
    ];
    let gpu = FakeGpu::with_cupti();
    let run = gpu.run(&Fixture::made_in(crate_folder())).args(against);
    let records = run.json().finish().expect_code(0).records();
    let row = &records.the("comparison-complete")["rows"][0];
    assert_eq!(
        (&row["verdict"], &row["baseline"]["value"]),
        (&"no-change".into(), &92.0.into())
    );
}

#[test]
fn hardware_metrics_take_several_passes_and_stand_in_the_record_of_the_time() {
    let gpu = FakeGpu::with_cupti();
    let run = gpu.run(&Fixture::made_in(crate_folder())).briefly().args(["twice"]);
    let run = run.args(["--metric", "ncu:dram__bytes.sum,lts__t_sector_hit_rate.pct"]);
    let records = run.json().finish().expect_code(0).records();
    let result = records.result("twice::rounds=1");
    assert_eq!(result["metric"]["name"], "time");
    // In the double, a metric of a kernel is the number of passes. There are two kernels.
    let hardware = serde_json::json!({"dram__bytes.sum": 4.0, "lts__t_sector_hit_rate.pct": 2.0});
    assert_eq!(result["counts"]["hardware"], hardware);
}

fn program_in(folder: &Path, name: &str, script: &str) {
    let program = folder.join(name);
    write_script(&program, script);
}

fn text(path: &Path) -> String {
    path.to_str().expect("UTF-8").to_owned()
}

#[test]
fn a_gpu_that_cannot_count_ends_the_run_with_a_hint() {
    let refused = |gpu: &FakeGpu, metric: &str, result: &str| {
        let run = gpu
            .run(&Fixture::made_in(crate_folder()))
            .env("FAKE_CUPTI_RESULT", result);
        let finished = run.args(["twice", "--metric", metric]).finish().expect_code(96);
        finished.stderr
    };
    let without = refused(&FakeGpu::new(), "instructions", "0");
    assert!(
        without.contains("`libcupti.so` was not found") && without.contains("hint: install CUPTI"),
        "{without}"
    );
    let gpu = FakeGpu::with_cupti();
    let forbidden = refused(&gpu, "instructions", "35");
    assert!(forbidden.contains("`CAP_PERFMON`"), "{forbidden}");
    let unknown = refused(&gpu, "ncu:bogus__metric.sum", "0");
    assert!(unknown.contains("no metric `bogus__metric.sum`"), "{unknown}");
}

#[test]
fn the_profiles_of_the_last_call_are_kept_for_other_programs() {
    let folder = tempfile::tempdir().expect("a folder");
    let profiles = folder.path().join("a folder/profiles");
    let option = ["--keep-callgrind", profiles.to_str().expect("text")];
    let _ = counting("twice").args(option).finish().expect_code(0);
    let mut names: Vec<String> = std::fs::read_dir(&profiles)
        .expect("the folder was made")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("text"))
        .collect();
    names.sort();
    assert_eq!(
        names,
        [
            "callgrind.out.0.counted.twice.rounds=1.1",
            "callgrind.out.0.counted.twice.rounds=1.2"
        ],
        "a launch each"
    );
    let profile = std::fs::read_to_string(profiles.join(&names[1])).expect("a profile");
    assert!(profile.contains("events: Ir") && profile.contains("fn="), "{profile}");

    let run = reading("twice", "time").args(option).finish().expect_code(2);
    for words in [
        "no selected case counts instructions",
        "(hint: add `--metric instructions`)",
    ] {
        assert!(run.stderr.contains(words), "{}", run.stderr);
    }
    std::fs::write(folder.path().join("file"), "").expect("a file");
    let inside = folder.path().join("file/inside");
    let option = ["--keep-callgrind", inside.to_str().expect("text")];
    let run = counting("twice").args(option).finish().expect_code(110);
    assert!(run.stderr.contains("cannot make the folder"), "{}", run.stderr);
}
