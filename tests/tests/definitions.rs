//! Definitions, workloads and solutions of FlashInfer-Bench are a problem and its submissions.
#![forbid(unsafe_code)]

use std::process::Command;
use std::sync::OnceLock;

use camino::Utf8PathBuf;
use gpubench_tests::{Finished, Records, Run, RunFolder, repository};
use serde_json::{Value, json};

/// Debian's Python, which has NumPy and PyTorch as packages of the system.
const PYTHON: &str = "/usr/bin/python3";

/// The solutions that are graded together, in order.
const SOLUTIONS: [&str; 8] = [
    "right",
    "without_offset",
    "crashes",
    "does_not_compile",
    "has_no_such_function",
    "of_triton",
    "of_torch",
    "returns",
];

fn data_set() -> Utf8PathBuf {
    repository().join("tests/fixtures/definitions")
}

/// Fails with the words for a missing program, if Debian's Python lacks a module.
fn need(module: &str) {
    let import = format!("import {module}");
    let ran = Command::new(PYTHON).args(["-c", &import]).output();
    assert!(
        ran.is_ok_and(|ran| ran.status.success()),
        "this test needs Debian's python3-{module}, which this machine lacks"
    );
}

fn grade(python: &str) -> Run {
    Run::outside_of_workspaces(&data_set()).args(["grade", "--device", "cpu", "--python", python])
}

fn of_set(definition: &str) -> Run {
    of_set_with(PYTHON, definition)
}

fn of_set_with(python: &str, definition: &str) -> Run {
    let [definition, workloads] = [
        format!("definitions/elementwise/{definition}.json"),
        format!("workloads/elementwise/{definition}.jsonl"),
    ];
    grade(python).args(["--definition", &definition, "--workloads", &workloads])
}

fn solution(name: &str) -> String {
    format!("solutions/elementwise/{name}.json")
}

/// What a run of all solutions printed, and the traces that it wrote.
struct Graded {
    records: Records,
    finished: Finished,
    traces: Vec<Value>,
    folder: RunFolder,
}

fn graded() -> &'static Graded {
    static GRADED: OnceLock<Graded> = OnceLock::new();
    GRADED.get_or_init(|| {
        need("numpy");
        let folder = RunFolder::new();
        let traces = folder.path("traces.jsonl");
        let solutions: Vec<String> = SOLUTIONS.iter().map(|name| solution(name)).collect();
        let run = of_set("scaled_add").briefly().json();
        let run = run.args(["--export-trace", traces.as_str(), "--solution", "missing.json"]);
        let run = run.args(["--solution"]).args(solutions.iter().map(String::as_str));
        let finished = run.finish().expect_code(100);
        let text = std::fs::read_to_string(traces).expect("traces");
        let traces = text.lines().map(|line| serde_json::from_str(line).expect("JSON"));
        Graded {
            records: finished.records(),
            traces: traces.collect(),
            finished,
            folder,
        }
    })
}

#[test]
fn solutions_are_judged_by_the_reference_of_the_definition() {
    let records = &graded().records;
    let results = |name: &str| -> Vec<(String, String)> {
        let of = records.results().filter(|result| result["benchmark"] == name);
        let words = of.map(|result| {
            let text = |key: &str| result[key].as_str().unwrap_or("-").to_owned();
            (text("verdict"), text("cause"))
        });
        words.collect()
    };
    let both = |verdict: &str, cause: &str| vec![(verdict.to_owned(), cause.to_owned()); 2];
    assert_eq!(results("right"), both("pass", "-"));
    assert_eq!(results("without_offset"), both("wrong-output", "mismatch"));
    assert_eq!(results("crashes").len(), 2);
    assert!(results("crashes").iter().all(|(verdict, _)| verdict == "crashed"));
    assert_eq!(results("does_not_compile"), both("error", "compile-failed"));
    assert_eq!(results("has_no_such_function"), both("error", "setup-failed"));
    for name in ["missing", "of_triton", "of_torch", "returns"] {
        assert_eq!(results(name), both("error", "submission-invalid"), "{name}");
    }
}

#[test]
fn cases_are_named_by_their_workload_and_its_axes() {
    let cases: Vec<&str> = graded()
        .records
        .results()
        .filter(|result| result["benchmark"] == "right")
        .map(|result| result["case"].as_str().expect("a name"))
        .collect();
    assert_eq!(
        cases,
        ["right::workload=5d1f0a52,rows=64", "right::workload=a0b1c2d3,rows=300"]
    );
}

#[test]
fn what_cannot_run_says_why_and_what_to_do() {
    for (name, words) in [
        ("missing", &["cannot read `missing.json`"][..]),
        ("of_triton", &["is in triton", "hint: compile it to a library"]),
        (
            "of_torch",
            &["extension module of PyTorch", "set `binding` to `tvm-ffi`"],
        ),
        ("returns", &["returns its outputs", "destination_passing_style"]),
        ("does_not_compile", &["does_not_compile.json:main.cpp"]),
        ("has_no_such_function", &["exports neither `run` nor `__tvm_ffi_run`"]),
    ] {
        let result = graded().records.results().find(|result| result["benchmark"] == name);
        let message = result.and_then(|result| result["message"].as_str()).expect(name);
        for word in words {
            assert!(message.contains(word), "{name}: {message}");
        }
    }
}

#[test]
fn each_solution_has_a_trace_for_each_workload() {
    let traces = &graded().traces;
    let statuses: Vec<(&str, &str)> = traces
        .iter()
        .map(|trace| {
            let text = |value: &'static Value| value.as_str().expect("a text");
            (text(&trace["solution"]), text(&trace["evaluation"]["status"]))
        })
        .collect();
    let expected = [
        ("right", "PASSED"),
        ("without_offset", "INCORRECT_NUMERICAL"),
        ("crashes", "RUNTIME_ERROR"),
        ("does_not_compile", "COMPILE_ERROR"),
        ("has_no_such_function", "COMPILE_ERROR"),
        ("of_triton", "COMPILE_ERROR"),
        ("of_torch", "COMPILE_ERROR"),
        ("returns", "COMPILE_ERROR"),
        ("missing", "COMPILE_ERROR"),
    ];
    for expected in expected {
        assert_eq!(
            statuses.iter().filter(|found| **found == expected).count(),
            2,
            "{statuses:?}"
        );
    }
    assert_eq!(statuses.len(), 18);
    let latency = &traces.iter().find(|trace| trace["solution"] == "right").expect("one")["evaluation"]["performance"];
    assert!(latency["latency_ms"].as_f64().expect("a number") > 0.0);
    assert_eq!(traces[0]["workload"]["axes"], json!({"rows": 64}));
    assert!(!graded().finished.stderr.contains("without a trace"));
}

/// A Python with the models of FlashInfer-Bench, TVM-FFI and NumPy.
fn python_with_packages() -> String {
    let installed = Command::new(repository().join(".ci/trace-models"))
        .output()
        .expect("it starts");
    assert!(
        installed.status.success(),
        "this test needs the packages of `.ci/trace-models`, which this machine lacks\n{}",
        String::from_utf8_lossy(&installed.stderr)
    );
    let python = String::from_utf8(installed.stdout).expect("text");
    python.trim().to_owned()
}

#[test]
fn a_solution_is_compiled_with_the_headers_of_tvm_ffi_and_linked_with_it() {
    let python = python_with_packages();
    let run = of_set_with(&python, "scaled_add").json();
    let run = run.args(["--test", "--solution", &solution("with_headers"), &solution("throws")]);
    let records = run.finish().expect_code(100).records();
    let results: Vec<&Value> = records.results().collect();
    assert!(
        results[..2].iter().all(|result| result["verdict"] == "pass"),
        "{results:?}"
    );
    assert_eq!(results[2]["cause"], "call-failed");
    let message = results[2]["message"].as_str().expect("a message");
    assert!(message.contains("no offset of 0.5"), "{message}");
}

#[test]
fn without_tvm_ffi_nothing_is_said_of_a_solution_that_needs_it() {
    let folder = RunFolder::new();
    let traces = folder.path("traces.jsonl");
    let run = of_set_with("/bin/false", "scaled_add").args(["--export-trace", traces.as_str()]);
    let finished = run
        .args(["--solution", &solution("with_headers")])
        .finish()
        .expect_code(96);
    for words in ["error: compiler-missing", "apache-tvm-ffi", "2 results without a trace"] {
        let shown = format!("{}{}", finished.stdout, finished.stderr);
        assert!(shown.contains(words), "{words}: {shown}");
    }
    assert_eq!(std::fs::read_to_string(traces).expect("a file"), "");
}

#[test]
fn the_models_of_flashinfer_bench_read_the_traces() {
    let python = python_with_packages();
    let folder = &graded().folder;
    let copy = |from: &str, to: &str| std::fs::copy(data_set().join(from), folder.path(to)).expect("a copy");
    copy("definitions/elementwise/scaled_add.json", "definition.json");
    copy(&solution("right"), "solution.json");
    let workloads: Vec<String> = graded()
        .traces
        .iter()
        .map(|trace| trace["workload"].to_string())
        .collect();
    std::fs::write(folder.path("workloads.jsonl"), workloads.join("\n")).expect("a file");
    let script = repository().join("crates/gpubench-trace/tests/models.py");
    let read = Command::new(python)
        .args([
            "-B",
            script.as_str(),
            "read",
            "flashinfer-bench",
            folder.path(".").as_str(),
        ])
        .output()
        .expect("it starts");
    let printed = String::from_utf8_lossy(&read.stdout);
    let errors = String::from_utf8_lossy(&read.stderr);
    assert!(
        read.status.success() && printed.ends_with("38 documents\n"),
        "{printed}{errors}"
    );
}

#[test]
fn a_reference_of_pytorch_judges() {
    need("torch");
    let run = of_set("scaled_add_of_pytorch").json();
    let run = run.args(["--test", "--solution", &solution("of_pytorch")]);
    let records = run.finish().expect_code(0).records();
    assert!(records.results().all(|result| result["verdict"] == "pass"));
}

#[test]
fn a_reward_a_ranking_and_a_contest_are_as_with_a_problem_of_a_crate() {
    need("numpy");
    let folder = RunFolder::new();
    let [reward, ranking] = ["reward.json", "ranking.csv"].map(|name| folder.path(name));
    let run = of_set("scaled_add").args(["--test", "--leaderboard", "--reward", reward.as_str()]);
    let _ = run.args(["--solution", &solution("right")]).finish().expect_code(0);
    let reward = std::fs::read_to_string(reward).expect("a reward");
    assert_eq!(reward.trim(), r#"{"reward":1.0,"passed":2,"cases":2}"#);
    let run = of_set("scaled_add")
        .briefly()
        .args(["--contest", "--export-ranking", ranking.as_str()]);
    let run = run.args(["--solution", &solution("right"), &solution("without_offset")]);
    let _ = run.finish().expect_code(100);
    let ranking = std::fs::read_to_string(ranking).expect("a ranking");
    let places: Vec<&str> = ranking
        .lines()
        .skip(1)
        .map(|line| line.split(',').next().unwrap_or_default())
        .collect();
    assert_eq!(places, ["1", ""], "{ranking}");
}

#[test]
fn a_submission_of_the_tools_own_is_graded_against_a_definition() {
    need("numpy");
    let folder = RunFolder::new();
    let text = "/* gpubench\ngrid = \"rows\"\nblock = \"cols\"\narguments = [\"matrix\", {value = \"offset\", type = \"f32\"}, \"weights\", \"y\"]\n*/\n\
        __global__ void add(const float *matrix, float offset, const float *weights, float *y) {\n    \
        y[blockIdx.x * 16 + threadIdx.x] = matrix[blockIdx.x * 16 + threadIdx.x] * weights[threadIdx.x] + offset;\n}\n";
    std::fs::write(folder.path("own.cu"), text).expect("a file");
    let run = of_set("scaled_add")
        .json()
        .args(["--test", folder.path("own.cu").as_str()]);
    let records = run.finish().expect_code(0).records();
    assert_eq!(
        records.results().filter(|result| result["verdict"] == "pass").count(),
        2
    );
}

/// A definition, workloads and a solution in a folder, to be changed.
struct Files {
    folder: RunFolder,
    definition: Value,
    workloads: Vec<Value>,
    solution: Value,
}

impl Files {
    fn new() -> Files {
        let read = |path: &str| std::fs::read_to_string(data_set().join(path)).expect("a file");
        let json = |text: &str| serde_json::from_str(text).expect("JSON");
        let workloads = read("workloads/elementwise/scaled_add.jsonl");
        Files {
            folder: RunFolder::new(),
            definition: json(&read("definitions/elementwise/scaled_add.json")),
            workloads: workloads.lines().take(1).map(json).collect(),
            solution: json(&read(&solution("right"))),
        }
    }

    fn add_workload(&mut self, uuid: &str, change: impl FnOnce(&mut Value)) {
        let mut workload = self.workloads[0].clone();
        workload["workload"]["uuid"] = uuid.into();
        change(&mut workload["workload"]);
        self.workloads.push(workload);
    }

    fn test(&self) -> Finished {
        let write = |name: &str, text: String| {
            let path = self.folder.path(name);
            std::fs::write(&path, text).expect("a file");
            path
        };
        let lines: Vec<String> = self.workloads.iter().map(Value::to_string).collect();
        let definition = write("definition.json", self.definition.to_string());
        let workloads = write("workloads.jsonl", lines.join("\n"));
        let solution = write("solution.json", self.solution.to_string());
        let run = grade(PYTHON)
            .json()
            .args(["--test", "--definition", definition.as_str()]);
        let run = run.args(["--workloads", workloads.as_str(), "--solution", solution.as_str()]);
        run.finish()
    }

    /// Expects that the run ends before anything is graded.
    fn expect_refused(&self, words: &[&str]) {
        let finished = self.test().expect_code(2);
        for word in words {
            assert!(finished.stderr.contains(word), "{word}: {}", finished.stderr);
        }
        assert!(finished.stderr.len() < 4_000, "{}", finished.stderr);
    }

    /// Expects that the first case passes and the last fails.
    fn expect_the_last_fails(&self, cause: &str, words: &[&str]) {
        let records = self.test().expect_code(100).records();
        let results: Vec<&Value> = records.results().collect();
        let [first, .., last] = results[..] else {
            panic!("{results:?}")
        };
        assert_eq!(first["verdict"], "pass", "{first}");
        assert_eq!(
            (&last["verdict"], &last["cause"]),
            (&"error".into(), &cause.into()),
            "{last}"
        );
        let message = last["message"].as_str().expect("a message");
        for word in words {
            assert!(message.contains(word), "{word}: {message}");
        }
        let places = ["definition.json:", "workloads.jsonl:"].map(|file| message.matches(file).count());
        assert!(places.iter().sum::<usize>() <= 1, "{message}");
    }
}

#[test]
fn a_hostile_definition_is_refused_with_its_place() {
    let of = |change: &dyn Fn(&mut Value), words: &[&str]| {
        let mut files = Files::new();
        change(&mut files.definition);
        files.expect_refused(words);
    };
    of(
        &|definition| definition["name"] = "a\u{1b}[2J".into(),
        &["definition.json", "`name`", "hint"],
    );
    of(&|definition| definition["axes"]["cols"]["value"] = json!(-1), &["axes"]);
    of(
        &|definition| definition["axes"]["cols"]["value"] = json!(1_u64 << 62),
        &["`matrix`", "is too large"],
    );
    of(
        &|definition| definition["axes"]["cols"] = json!({"type": "expr", "expression": "9**9**9**9"}),
        &["the axis `cols` has no value"],
    );
    of(
        &|definition| definition["axes"]["cols"] = json!({"type": "expr", "expression": "(".repeat(100_000)}),
        &["the axis `cols` has no value"],
    );
    of(&|definition| definition["op_type"] = "sampling".into(), &["sampling"]);
    of(&|definition| definition["outputs"] = json!({}), &["no output"]);
    of(
        &|definition| definition["inputs"]["gpubench_sets"] = definition["inputs"]["matrix"].clone(),
        &["gpubench_sets"],
    );
    of(
        &|definition| definition["inputs"]["matrix"]["shape"] = json!(["absent"]),
        &["`inputs.matrix.shape[0]`"],
    );
    of(
        &|definition| definition["description"] = "x".repeat(17 << 20).into(),
        &["cannot read", "definition.json"],
    );
    of(
        &|definition| definition["axes"] = (0..2_000).map(|axis| (format!("a{axis}"), json!({}))).collect(),
        &["axes"],
    );
}

#[test]
fn hostile_workloads_are_refused_or_fail_alone() {
    let mut twice = Files::new();
    twice.workloads.push(twice.workloads[0].clone());
    twice.expect_refused(&["lines 1 and 2", "are both called"]);
    let mut none = Files::new();
    none.workloads.clear();
    none.expect_refused(&["has no workloads"]);
    let mut other = Files::new();
    other.workloads[0]["definition"] = "another".into();
    other.expect_refused(&["line 1", "for the definition `another`, not for `scaled_add`"]);
    let mut unmeasured = Files::new();
    unmeasured.workloads[0]["workload"]["axes"] = json!({});
    unmeasured.expect_refused(&["no workload of", "in line 1, cannot", "no value for the axis `rows`"]);
    need("numpy");
    let alone = |cause: &str, change: &dyn Fn(&mut Value), words: &[&str]| {
        let mut files = Files::new();
        std::fs::write(files.folder.path("text.safetensors"), "this is a text, and no tensor").expect("a file");
        files.add_workload("--help", |workload| change(workload));
        files.expect_the_last_fails(cause, words);
    };
    alone(
        "out-of-memory",
        &|workload| workload["axes"]["rows"] = json!(1_u64 << 32),
        &["are free"],
    );
    alone(
        "generator-failed",
        &|workload| workload["axes"]["rows"] = json!(u64::MAX),
        &["its workload cannot be measured", "workloads.jsonl:2: "],
    );
    alone(
        "generator-failed",
        &|workload| workload["axes"] = json!({}),
        &["workloads.jsonl:2: its workload cannot be measured: the workload has no value for the axis `rows`"],
    );
    alone(
        "generator-failed",
        &|workload| workload["inputs"]["matrix"] = json!({"type": "custom"}),
        &["is custom", "hint"],
    );
    for (path, words) in [
        ("/etc/passwd", &["outside of the data set"][..]),
        ("../x.safetensors", &["outside of the data set"]),
        ("missing.safetensors", &["missing.safetensors", "cannot be used"]),
        ("text.safetensors", &["not a safetensors file"]),
        (".", &["outside of the data set"]),
    ] {
        alone(
            "generator-failed",
            &|workload| {
                workload["inputs"]["weights"] = json!({"type": "safetensors", "path": path, "tensor_key": "weights"});
            },
            words,
        );
    }
}

#[test]
fn two_solutions_of_one_name_are_refused_because_their_traces_would_be_alike() {
    let folder = RunFolder::new();
    let text = std::fs::read_to_string(data_set().join(solution("right"))).expect("a file");
    let [one, other] = ["one.json", "other.json"].map(|name| folder.file(name, &text));
    let finished = of_set("scaled_add")
        .args(["--test", "--solution", &one, &other])
        .finish();
    let text = finished.expect_code(2).stderr;
    assert!(
        text.contains("one.json` and `") && text.contains("are both called"),
        "{text}"
    );
    assert!(text.contains("(hint: traces tell solutions apart"), "{text}");
}

#[test]
fn a_solution_runs_alone_as_a_solution_whatever_its_file_is_called() {
    need("numpy");
    let folder = RunFolder::new();
    let text = std::fs::read_to_string(data_set().join(solution("right"))).expect("a file");
    let mut wrong: Value = serde_json::from_str(&text).expect("JSON");
    wrong["sources"] = json!([]);
    let place = folder.file("wrong", wrong.to_string());
    let finished = of_set("scaled_add")
        .args(["--test", "--solution", &place])
        .finish()
        .expect_code(100);
    let command = format!("--solution {place} --exact");
    assert!(finished.stdout.contains(&command), "{}", finished.stdout);
}

#[test]
fn traces_go_through_a_pipe_as_other_exports_do() {
    need("numpy");
    let folder = RunFolder::new();
    let pipe = folder.path("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, pipe.as_std_path(), rustix::fs::Mode::RWXU).expect("a pipe");
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::read_to_string(pipe).expect("a text")
    });
    let run = of_set("scaled_add").briefly().args(["--export-trace", pipe.as_str()]);
    let _ = run.args(["--solution", &solution("right")]).finish().expect_code(0);
    assert_eq!(reader.join().expect("it ends").lines().count(), 2);
}

#[test]
fn a_hostile_solution_fails_alone() {
    need("numpy");
    let of = |change: &dyn Fn(&mut Value), words: &[&str]| {
        let mut files = Files::new();
        change(&mut files.solution);
        let records = files.test().expect_code(100).records();
        let result = records.results().next().expect("a result");
        assert_eq!(result["cause"], "submission-invalid", "{result}");
        let message = result["message"].as_str().expect("a message");
        for word in words {
            assert!(message.contains(word), "{word}: {message}");
        }
    };
    for path in ["../main.cpp", "/etc/main.cpp", "a/../../main.cpp"] {
        of(
            &|solution| solution["sources"][0]["path"] = path.into(),
            &["`sources[0].path`", "leaves the folder"],
        );
    }
    of(
        &|solution| solution["sources"][2]["content"] = "#include \"/etc/passwd\"\n".into(),
        &["/etc/passwd"],
    );
    of(
        &|solution| solution["sources"][2]["content"] = "x".repeat(10 << 20).into(),
        &["main.cpp"],
    );
    of(
        &|solution| solution["spec"]["entry_point"] = "absent.cpp::run".into(),
        &["`spec.entry_point`"],
    );
    of(
        &|solution| solution["definition"] = "another".into(),
        &["is for the definition `another`"],
    );
}

#[test]
fn the_name_of_a_source_is_no_option_of_a_compiler() {
    need("numpy");
    let mut files = Files::new();
    let ran = files.folder.path("the-script-has-run");
    files.solution["sources"] = json!([
        {"path": "@options.cpp", "content": "#if 0\n#include \"options.cpp\"\n#endif\nextern \"C\" void run() {}\n"},
        {"path": "options.cpp", "content": format!("-wrapper touch,{ran}\n")},
    ]);
    files.solution["spec"]["entry_point"] = "@options.cpp::run".into();
    let records = files.test().expect_code(100).records();
    assert_eq!(records.results().count(), 1);
    assert!(!ran.exists());
}

#[test]
fn a_reference_that_fails_is_no_fault_of_the_solution() {
    need("numpy");
    let mut files = Files::new();
    files.definition["reference"] = "def run(*_):\n    raise ValueError('no idea')\n".into();
    let records = files.test().expect_code(100).records();
    let result = records.results().next().expect("a result");
    assert_eq!(result["cause"], "reference-failed");
    assert!(result["message"].as_str().expect("a message").contains("no idea"));
}

#[test]
fn no_output_replaces_a_file_of_the_problem_or_a_solution() {
    let files = Files::new();
    let paths = ["definition.json", "workloads.jsonl", "solution.json"].map(|name| {
        let path = files.folder.path(name);
        std::fs::write(&path, "precious").expect("a file");
        path
    });
    let [definition, workloads, solution] = &paths;
    for output in &paths {
        let run = grade(PYTHON).args(["--definition", definition.as_str(), "--workloads", workloads.as_str()]);
        let run = run.args(["--export-trace", output.as_str(), "--solution", solution.as_str()]);
        let finished = run.finish().expect_code(2);
        assert!(
            finished.stderr.contains("cannot also be its output"),
            "{}",
            finished.stderr
        );
        assert_eq!(std::fs::read_to_string(output).expect("a file"), "precious");
    }
}

#[test]
fn no_output_replaces_the_tensors_of_a_workload() {
    let files = Files::new();
    let root = files.folder.path("");
    let all = repository().join("tests/fixtures/definitions/.");
    let copied = std::process::Command::new("cp")
        .args(["-r", "--", all.as_str(), root.as_str()])
        .status();
    assert!(copied.expect("cp runs").success());
    let weights = root.join("blob/elementwise/weights.safetensors");
    let before = std::fs::read(&weights).expect("tensors");
    let link = root.join("link.jsonl");
    std::os::unix::fs::symlink(&weights, &link).expect("a link");
    for output in [&weights, &link] {
        let run = grade(PYTHON).args([
            "--definition",
            root.join("definitions/elementwise/scaled_add.json").as_str(),
        ]);
        let run = run.args([
            "--workloads",
            root.join("workloads/elementwise/scaled_add.jsonl").as_str(),
        ]);
        let solution = root.join("solutions/elementwise/right.json");
        let run = run.args(["--export-trace", output.as_str(), "--solution", solution.as_str()]);
        let finished = run.finish().expect_code(2);
        assert!(finished.stderr.contains("would be overwritten"), "{}", finished.stderr);
        assert_eq!(std::fs::read(&weights).expect("tensors"), before);
    }
}

#[test]
fn options_that_do_not_fit_are_refused() {
    let definition = "definitions/elementwise/scaled_add.json";
    for (line, words) in [
        (&["--definition", definition, "--solution", "a.json"][..], "--workloads"),
        (&["--definition", definition, "--workloads", "w.jsonl"], "--solution"),
        (&["--problem", "p", "--solution", "a.json"], "--definition"),
        (&["--problem", "p", "--export-trace", "t.jsonl", "a.cu"], "--definition"),
        (&["a.cu"], "--problem"),
        (
            &[
                "--problem",
                "p",
                "--definition",
                definition,
                "--workloads",
                "w.jsonl",
                "a.cu",
            ],
            "cannot be used with",
        ),
        (
            &["--definition", definition, "--workloads", "absent.jsonl", "a.cu"],
            "cannot read `absent.jsonl`",
        ),
    ] {
        let run = Run::outside_of_workspaces(&data_set()).args(["grade", "--device", "cpu"]);
        let finished = run.args(line.iter().copied()).finish().expect_code(2);
        assert!(finished.stderr.contains(words), "{line:?}: {}", finished.stderr);
    }
}
