//! `--sanitize` and `--profile-with`. Scripts replace NVIDIA's programs: they start the worker as
//! the programs do, and write what the programs write. The text of the logs is that of NVIDIA's
//! manuals of Compute Sanitizer and Nsight Compute.
#![forbid(unsafe_code)]

use std::path::Path;

use gpubench_tests::{FakeGpu, Finished, Fixture, Run, write_script};
use serde_json::{Value, json};
use tempfile::TempDir;

const CASE: &str = "sums::one_thread_a_row::rows=33,cols=100";

/// Starts the worker as a child, like compute-sanitizer. Then writes the text of `$SAYS` to its
/// log.
const SANITIZER: &str = r#"#!/bin/sh
log=
echo "$@" >"$0.arguments"
while :; do
    case $1 in
    --log-file) log=$2; shift 2 ;;
    --*) shift 2 ;;
    *) break ;;
    esac
done
"$@"
ended=$?
[ -n "$SAYS" ] && printf '========= COMPUTE-SANITIZER\n%s\n' "$SAYS" >"$log"
exit $ended
"#;

/// Starts the worker as a child, like ncu. Then writes a report.
const PROFILER: &str = r#"#!/bin/sh
echo "$@" >"$0.arguments"
report=$PWD/none
while :; do
    case $1 in
    -o) report=$REPORTS/$2.ncu-rep; shift 2 ;;
    --*) shift 2 ;;
    *) break ;;
    esac
done
echo "==PROF== Connected to process $$ ($1)"
"$@"
ended=$?
echo "==PROF== Disconnected from process $$"
echo report >"$report"
echo "==PROF== Report: $report"
exit $ended
"#;

const CLEAN: &str = "========= ERROR SUMMARY: 0 errors";

const INVALID: &str = "\
========= Invalid __global__ write of size 4 bytes
=========     at sum(const float *, float *, int)+0x90 in sums.cu:41
=========     by thread (5,0,0) in block (1,0,0)
=========     Address 0x87654320 is out of bounds
=========     and is 1 bytes after the nearest allocation at 0x87654000 of size 800 bytes
=========
========= Invalid __global__ write of size 4 bytes
=========     at sum(const float *, float *, int)+0x90 in sums.cu:41
=========     by thread (6,0,0) in block (1,0,0)
=========     Address 0x87654324 is out of bounds
=========     and is 5 bytes after the nearest allocation at 0x87654000 of size 800 bytes
=========
========= ERROR SUMMARY: 2 errors";

const RACE: &str = "\
========= Error: Potential WAW hazard detected at __shared__ 0x0 in block (2,0,0) :
=========     Write Thread (0,0,0) at WAW()+0x2f0 in raceWAW.cu:20
=========     Write Thread (1,0,0) at WAW()+0x2f0 in raceWAW.cu:20
=========     Current Value : 1, Incoming Value : 2
=========
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)";

/// A folder with a program, and the GPU.
struct Stage {
    gpu: FakeGpu,
    programs: TempDir,
}

impl Stage {
    fn with(name: &str, script: &str) -> Stage {
        let programs = tempfile::tempdir().expect("a folder");
        let program = programs.path().join(name);
        write_script(&program, script);
        Stage {
            gpu: FakeGpu::new(),
            programs,
        }
    }

    fn run(&self) -> Run {
        let folder = self.text(self.programs.path());
        let path = std::env::var("PATH").unwrap_or_default();
        self.gpu
            .run(&Fixture::new("tidy"))
            .briefly()
            .env("PATH", &format!("{folder}:{path}"))
            .env("REPORTS", &folder)
    }

    fn sanitized(&self, tool: &str, says: &str) -> Finished {
        self.run()
            .json()
            .args(["--exact", CASE, "--sanitize", tool])
            .env("SAYS", says)
            .finish()
    }

    fn arguments_of(&self, name: &str) -> String {
        let file = self.programs.path().join(format!("{name}.arguments"));
        std::fs::read_to_string(file).expect("the program was started")
    }

    fn text(&self, path: &Path) -> String {
        path.to_str().expect("UTF-8").to_owned()
    }
}

fn sanitizer() -> Stage {
    Stage::with("compute-sanitizer", SANITIZER)
}

fn ends(result: &Value) -> [&Value; 2] {
    [&result["verdict"], &result["cause"]]
}

fn message(result: &Value) -> &str {
    result["message"].as_str().unwrap_or_default()
}

#[test]
fn a_call_that_the_sanitizer_finds_clean_passes_without_times() {
    let stage = sanitizer();
    let records = stage.sanitized("memcheck", CLEAN).expect_code(0).records();
    let result = records.result(CASE);
    assert_eq!(ends(result), [&json!("pass"), &Value::Null]);
    assert_eq!(
        result["sanitizer"],
        json!({"tool": "memcheck", "errors": 0, "findings": []})
    );
    assert_eq!((&result["samples"], &result["grade"]), (&json!([]), &Value::Null));
    assert_eq!(result["windows"], 1, "one call");
    let arguments = stage.arguments_of("compute-sanitizer");
    assert!(arguments.trim_end().ends_with("cargo-gpubench __worker"), "{arguments}");
}

#[test]
fn a_finding_fails_the_case_and_has_its_place() {
    let finished = sanitizer().sanitized("memcheck", INVALID).expect_code(100);
    let records = finished.records();
    let result = records.result(CASE);
    assert_eq!(ends(result), [&json!("crashed"), &json!("out-of-bounds")]);
    let place = "kernel `sum(const float *, float *, int)`, sums.cu:41, block (1, 0, 0), thread (5, 0, 0)";
    assert!(message(result).contains(place), "{}", message(result));
    assert_eq!(
        result["sanitizer"],
        json!({
            "tool": "memcheck",
            "errors": 2,
            "findings": [{
                "cause": "out-of-bounds",
                "message": "Invalid __global__ write of size 4 bytes; Address 0x87654320 is out of bounds and is 1 \
                            bytes after the nearest allocation at 0x87654000 of size 800 bytes",
                "kernel": "sum(const float *, float *, int)",
                "block": [1, 0, 0],
                "thread": [5, 0, 0],
                "file": "sums.cu",
                "line": 41,
                "count": 2,
            }]
        })
    );
}

#[test]
fn every_tool_runs_and_a_race_is_a_finding() {
    let stage = sanitizer();
    for tool in ["racecheck", "initcheck", "synccheck"] {
        let _ = stage.sanitized(tool, CLEAN).expect_code(0);
        let arguments = stage.arguments_of("compute-sanitizer");
        assert!(arguments.contains(&format!("--tool {tool} ")), "{arguments}");
    }
    let records = stage.sanitized("racecheck", RACE).expect_code(100).records();
    assert_eq!(ends(records.result(CASE)), [&json!("crashed"), &json!("data-race")]);
}

#[test]
fn a_sanitizer_that_fails_is_an_error_and_never_a_pass() {
    let dies = "#!/bin/sh\nexec </dev/null\necho 'no GPU driver was found' >&2\nexit 3\n";
    let failed = "========= Error: Target application terminated before first instrumented API call";
    for (script, says, words) in [
        (SANITIZER, "", "log cannot be read"),
        (SANITIZER, "=========", "no summary"),
        (SANITIZER, failed, "before first instrumented API call"),
    ] {
        let stage = Stage::with("compute-sanitizer", script);
        let records = stage.sanitized("memcheck", says).expect_code(100).records();
        let result = records.result(CASE);
        assert_eq!(ends(result), [&json!("error"), &json!("observer-failed")], "{says}");
        assert!(message(result).contains(words), "{}", message(result));
    }
    let records = Stage::with("compute-sanitizer", dies).sanitized("memcheck", CLEAN);
    let records = records.expect_code(100).records();
    let result = records.result(CASE);
    assert_eq!(ends(result), [&json!("error"), &json!("observer-failed")]);
    assert!(
        message(result).contains("no GPU driver was found"),
        "{}",
        message(result)
    );
}

#[test]
fn wrong_outputs_and_findings_reach_every_format() {
    let stage = sanitizer();
    let run = stage
        .run()
        .args(["--exact", CASE, "--sanitize", "memcheck", "--export-junit", "-"]);
    let finished = run.env("SAYS", INVALID).finish().expect_code(100);
    for output in [&finished.stdout, &finished.stderr] {
        assert!(output.contains("sums.cu:41"), "{output}");
    }
}

#[test]
fn a_profiler_records_exactly_the_call() {
    let stage = Stage::with("ncu", PROFILER);
    let launches = stage.programs.path().join("launches");
    let run = stage.run().json().env("FAKE_CUDA_LAUNCHES", &stage.text(&launches));
    let words = [
        "--exact",
        CASE,
        "--profile-with",
        "ncu",
        "--",
        "-o",
        "mine",
        "--set",
        "full",
    ];
    let finished = run.args(words).finish().expect_code(0);
    let launches = std::fs::read_to_string(launches).expect("a worker has launched kernels");
    let recorded = launches
        .split("begin\n")
        .nth(1)
        .and_then(|rest| rest.split_once("end\n"));
    let (recorded, after) = recorded.expect("a profiler could record");
    assert_eq!(recorded, "one_thread_a_row\n", "{launches}");
    assert!(!after.contains("begin"), "{launches}");
    let arguments = stage.arguments_of("ncu");
    assert!(
        arguments.contains("--profile-from-start off") && arguments.contains("-o mine --set full "),
        "{arguments}"
    );
    let report = stage.text(&stage.programs.path().join("mine.ncu-rep"));
    let records = finished.records();
    let result = records.result(CASE);
    assert_eq!(result["notices"], json!([format!("ncu wrote `{report}`")]));
    assert_eq!((&result["samples"], &result["verdict"]), (&json!([]), &json!("pass")));
    assert!(
        finished.stderr.contains("worker | ==PROF== Connected"),
        "{}",
        finished.stderr
    );
}

#[test]
fn a_profiler_takes_one_case() {
    let stage = Stage::with("ncu", PROFILER);
    let finished = stage
        .run()
        .args(["sums", "--profile-with", "ncu"])
        .finish()
        .expect_code(2);
    assert!(
        finished.stderr.contains("observes one case, but 3 are selected") && finished.stderr.contains("--exact"),
        "{}",
        finished.stderr
    );
}

#[test]
fn a_profiler_that_fails_is_an_error() {
    let stage = Stage::with(
        "nsys",
        "#!/bin/sh\nwhile [ \"${1#-}\" != \"$1\" ] || [ \"$1\" = profile ]; do shift; done\n\"$@\"\nexit 9\n",
    );
    let run = stage.run().json().args(["--exact", CASE, "--profile-with", "nsys"]);
    let records = run.finish().expect_code(100).records();
    let result = records.result(CASE);
    assert_eq!(ends(result), [&json!("error"), &json!("observer-failed")]);
    assert!(
        message(result).contains("nsys failed: it exited with code 9"),
        "{}",
        message(result)
    );
}

#[test]
fn nvidias_tools_cannot_observe_the_cpu_device() {
    for option in [["--sanitize", "memcheck"], ["--profile-with", "ncu"]] {
        let run = Run::on(&Fixture::new("tidy"))
            .briefly()
            .args(["--exact", CASE, "--device", "cpu"]);
        let finished = run.args(option).finish().expect_code(96);
        assert!(
            finished.stderr.contains("CPU device") && finished.stderr.contains("`--test`"),
            "{}",
            finished.stderr
        );
    }
}

/// Starts a grading of a problem of `tidy`.
fn graded(stage: &Stage, file: &str, contents: &str, options: &[&str]) -> Run {
    let place = stage.programs.path().join(file);
    std::fs::write(&place, contents).expect("a file");
    let folder = stage.text(stage.programs.path());
    let path = std::env::var("PATH").unwrap_or_default();
    let run = stage.gpu.run_of_verb("grade", &Fixture::new("tidy"));
    run.briefly()
        .env("PATH", &format!("{folder}:{path}"))
        .env("REPORTS", &folder)
        .json()
        .args(["--offline", "--problem", "row_sums", "--nvrtc", &stage.gpu.nvrtc()])
        .args([stage.text(&place).as_str()])
        .args(options.iter().copied())
}

const SUBMISSION: &str = r#"/* gpubench
grid = "ceil_div(rows, 32)"
block = 32
*/
extern "C" __global__ void one_thread_a_row(const float *x, float *sums, size_t rows, size_t cols) {
    size_t row = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
    for (size_t col = 0; col < cols; ++col) sum += x[row * cols + col];
    sums[row] = sum;
}
"#;

#[test]
fn a_sanitizer_names_the_line_of_a_submission() {
    let stage = sanitizer();
    let run = graded(&stage, "mine.cu", SUBMISSION, &["--sanitize", "memcheck"]);
    let records = run.env("SAYS", INVALID).finish().expect_code(100).records();
    let result = records.result("mine");
    assert_eq!(ends(result), [&json!("crashed"), &json!("out-of-bounds")]);
    assert!(message(result).contains("sums.cu:41"), "{}", message(result));
}

#[test]
fn a_profiler_records_the_call_of_a_submission() {
    let stage = Stage::with("ncu", PROFILER);
    let run = graded(
        &stage,
        "mine.cu",
        SUBMISSION,
        &["--profile-with", "ncu", "--", "--set", "full"],
    );
    let records = run.finish().expect_code(0).records();
    let result = records.result("mine");
    assert_eq!((&result["samples"], &result["verdict"]), (&json!([]), &json!("pass")));
    assert!(stage.arguments_of("ncu").contains("--set full"));
}

#[test]
fn no_program_observes_the_host_code_of_a_submission() {
    let library = "/* gpubench\n[library]\narguments = ['x', 'sums', 'rows', 'cols']\n*/\n\
                   extern \"C\" void solution(const float *x, float *sums, long long rows, long long cols) {}\n";
    for option in [["--sanitize", "memcheck"], ["--profile-with", "ncu"]] {
        let stage = Stage::with("ncu", PROFILER);
        let finished = graded(&stage, "mine.cu", library, &option).finish().expect_code(2);
        let said = format!("`{}` is not for libraries, and `mine` is one", option.join(" "));
        assert!(finished.stderr.contains(&said), "{}", finished.stderr);
    }
}

#[test]
fn no_program_observes_a_library_without_a_description() {
    let stage = sanitizer();
    let mut folder = stage.programs.path().to_owned();
    folder.push("mine");
    std::fs::create_dir(&folder).expect("a folder");
    std::fs::write(folder.join("mine.so"), b"\x7fELF").expect("a file");
    let run = graded(&stage, "other.cu", SUBMISSION, &["--sanitize", "memcheck"]);
    let finished = run.args([stage.text(&folder).as_str()]).finish().expect_code(2);
    let said = "`--sanitize memcheck` is not for libraries, and `mine` is one";
    assert!(finished.stderr.contains(said), "{}", finished.stderr);
}
