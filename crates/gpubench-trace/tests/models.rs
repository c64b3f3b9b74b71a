//! The models of FlashInfer-Bench read what is written here, and the other way round.
#![forbid(unsafe_code)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use gpubench_contract::{Cause, Verdict};
use gpubench_trace::{
    Case, CaseError, Definition, Dialect, Environment, Errors, Outcome, Solution, Status, Submission, Trace, Workload,
    expression, read_traces, read_workloads, status_of,
};
use serde_json::{Value, json};

/// A project whose models are used.
struct Models {
    dialect: Dialect,
    python: PathBuf,
    project: String,
}

impl Models {
    /// The models of FlashInfer-Bench, which are installed if they are missing.
    fn of_flashinfer() -> Models {
        Models {
            dialect: Dialect::FlashInfer,
            python: python(),
            project: "flashinfer-bench".to_owned(),
        }
    }

    /// The models of SOL-ExecBench, which are in no package.
    fn of_sol_execbench() -> Models {
        let checkout = std::env::var("SOL_EXECBENCH").expect("the folder of a checkout in `SOL_EXECBENCH`");
        Models {
            dialect: Dialect::SolExecBench,
            python: python(),
            project: checkout,
        }
    }

    /// Runs an action of the script and returns what it printed.
    fn run(&self, action: &str, folder: Option<&Path>) -> String {
        let folder = folder.map(|folder| folder.to_str().expect("text"));
        let arguments = [action, &self.project].into_iter().chain(folder);
        ran(&self.python, &arguments.collect::<Vec<_>>())
    }
}

fn ran(python: &Path, arguments: &[&str]) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models.py");
    let ran = Command::new(python).arg("-B").arg(script).args(arguments).output();
    let ran = ran.expect("it starts");
    let stderr = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{arguments:?}: {stderr}");
    String::from_utf8(ran.stdout).expect("text")
}

fn python() -> PathBuf {
    static FOUND: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.ci/trace-models");
        let ran = Command::new(script).output().map_err(|error| error.to_string())?;
        match ran.status.success() {
            true => Ok(PathBuf::from(String::from_utf8_lossy(&ran.stdout).trim())),
            false => Err(String::from_utf8_lossy(&ran.stderr).into_owned()),
        }
    });
    match found {
        Ok(python) => python.clone(),
        Err(reason) => panic!("this test needs the packages of `.ci/trace-models`, which this machine lacks\n{reason}"),
    }
}

fn outcome(verdict: Verdict, cause: Option<Cause>) -> Outcome {
    Outcome {
        verdict,
        cause,
        grade: Some(gpubench_contract::Grade::Sandboxed),
        bound_ns: Some(2500.0),
        message: Some("two\nlines \u{1b}[2J".to_owned()),
        errors: Some(Errors {
            absolute: 0.25,
            relative: 0.5,
        }),
        latency_ms: Some(0.125),
        reference_latency_ms: None,
        environment: Environment {
            hardware: "NVIDIA H200".to_owned(),
            libs: [("gpubench", "0.1.0".to_owned())].into_iter().collect(),
        },
        timestamp: "2026-01-01T00:00:00Z".to_owned(),
    }
}

/// Every outcome that a case can have, and some whose figures are no numbers.
fn outcomes() -> Vec<Outcome> {
    let mut outcomes = vec![outcome(Verdict::Pass, None)];
    for cause in Cause::ALL {
        outcomes.extend(cause.verdicts().iter().map(|verdict| outcome(*verdict, Some(*cause))));
    }
    for errors in [
        None,
        Some(Errors {
            absolute: f64::INFINITY,
            relative: f64::NAN,
        }),
    ] {
        outcomes.push(Outcome {
            errors,
            reference_latency_ms: Some(1.0),
            ..outcome(Verdict::WrongOutput, Some(Cause::NonFinite))
        });
    }
    outcomes
}

const REFERENCE: &str = "def run(x, scale):\n    return x * scale\n";

fn definition(dialect: Dialect) -> Definition {
    let axes = match dialect {
        Dialect::FlashInfer => json!({"n": {"type": "var"}}),
        Dialect::SolExecBench => json!({"n": {"type": "var"}, "m": {"type": "expr", "expression": "n * 2"}}),
    };
    let text = json!({
        "name": "scaled",
        "op_type": "elementwise",
        "axes": axes,
        // In the order of the parameters, which is not that of the alphabet.
        "outputs": {"y": {"shape": ["n"], "dtype": "float32"}},
        "reference": REFERENCE,
    });
    let inputs =
        r#"{"inputs": {"x": {"shape": ["n"], "dtype": "float32"}, "scale": {"shape": null, "dtype": "float32"}},"#;
    let text = text.to_string().replacen('{', inputs, 1);
    Definition::parse(&text).expect("a definition")
}

fn solution(dialect: Dialect) -> Solution {
    let mut spec = json!({"target_hardware": ["LOCAL"], "entry_point": "kernel.cu::run"});
    match dialect {
        Dialect::FlashInfer => spec["language"] = "cuda".into(),
        Dialect::SolExecBench => spec["languages"] = json!(["cuda_cpp"]),
    }
    let sources = json!([{"path": "kernel.cu", "content": "int x;"}]);
    let text = json!({"name": "s", "definition": "scaled", "author": "a", "spec": spec, "sources": sources});
    Solution::parse(&text.to_string()).expect("a solution")
}

fn workload(dialect: Dialect) -> Workload {
    let mut text = json!({
        "uuid": "w",
        "axes": {"n": 8},
        "inputs": {"x": {"type": "random"}, "scale": {"type": "scalar", "value": 0.5}},
    });
    if dialect == Dialect::SolExecBench {
        text["tolerance"] = json!({"max_atol": 0.125, "max_error_cap": 1.0});
    }
    Workload::parse(&text.to_string()).expect("a workload")
}

/// The project's models read everything that is written here.
fn assert_is_read_by(models: &Models) {
    let folder = tempfile::tempdir().expect("a folder");
    let dialect = models.dialect;
    let text = |document: serde_json::Result<String>| document.expect("it is written");
    let write = |name: &str, contents: String| fs::write(folder.path().join(name), contents).expect("room");
    write("definition.json", text(serde_json::to_string(&definition(dialect))));
    write("solution.json", text(serde_json::to_string(&solution(dialect))));
    write("workloads.jsonl", text(serde_json::to_string(&workload(dialect))));
    let mut lines = String::new();
    let mut statuses = Vec::new();
    for outcome in outcomes() {
        let Some(status) = status_of(dialect, outcome.verdict, outcome.cause) else {
            outcome.evaluation(dialect).expect_err("no status fits");
            continue;
        };
        let evaluation = outcome.evaluation(dialect).expect("a status fits");
        assert_eq!(evaluation.status, status);
        let trace = Trace {
            definition: "scaled".to_owned(),
            workload: workload(dialect),
            solution: Some("s".to_owned()),
            evaluation: Some(evaluation),
        };
        lines.push_str(&trace.to_line().expect("a line"));
        lines.push('\n');
        statuses.push((status, outcome.verdict));
    }
    write("traces.jsonl", lines);
    let read = models.run("read", Some(folder.path()));
    let mut read: Vec<&str> = read.lines().collect();
    assert_eq!(read.pop(), Some(&*format!("{} documents", statuses.len() + 3)));
    for (line, (status, verdict)) in read.iter().zip(&statuses) {
        let mut words = line.splitn(3, ' ').skip(1);
        assert_eq!(words.next(), Some(status.word()), "{line}");
        let extra: Value = serde_json::from_str(words.next().unwrap_or_default()).expect("JSON");
        let expected = match status.has_correctness() {
            true => Value::from(verdict.as_str()),
            false => Value::Null,
        };
        assert_eq!(extra["gpubench"]["verdict"], expected, "{line}");
    }
    let used: Vec<Status> = statuses.iter().map(|(status, _)| *status).collect();
    let never = Status::ALL.into_iter().filter(|status| !used.contains(status));
    let expected: &[Status] = match dialect {
        Dialect::FlashInfer => &[
            Status::InvalidReference,
            Status::IncorrectShape,
            Status::IncorrectDtype,
            Status::RewardHack,
        ],
        Dialect::SolExecBench => &[Status::IncorrectShape, Status::IncorrectDtype],
    };
    assert_eq!(never.collect::<Vec<_>>(), expected);
}

/// Everything that the project's models write is read here, and is the same when it is written
/// again.
fn assert_is_read_here(models: &Models) {
    let folder = tempfile::tempdir().expect("a folder");
    let again = folder.path().join("again");
    fs::create_dir(&again).expect("a folder");
    models.run("write", Some(folder.path()));
    let given = |name: &str| fs::read_to_string(folder.path().join(name)).expect(name);
    let write = |name: &str, contents: String| fs::write(again.join(name), contents).expect("room");
    let definition = Definition::parse(&given("definition.json")).expect("a definition");
    let solution = Solution::parse(&given("solution.json")).expect("a solution");
    assert_eq!(solution.dialect(), models.dialect);
    let workloads = read_workloads(&given("workloads.jsonl")).expect("workloads");
    let traces = read_traces(&given("traces.jsonl")).expect("traces");
    let json = |document: serde_json::Result<String>| document.expect("it is written");
    write("definition.json", json(serde_json::to_string(&definition)));
    write("solution.json", json(serde_json::to_string(&solution)));
    let lines = workloads
        .iter()
        .map(|listed| json(serde_json::to_string(&listed.workload)) + "\n");
    write("workloads.jsonl", lines.collect());
    let lines = traces.iter().map(|trace| trace.to_line().expect("a line") + "\n");
    write("traces.jsonl", lines.collect());
    let count = 2 + workloads.len() + traces.len();
    assert_eq!(
        models.run("compare", Some(folder.path())),
        format!("{count} documents\n")
    );
    // The second one gives values to all scalars.
    let error = Case::new(models.dialect, &definition, &workloads[1].workload, None).expect_err("`on` is a tensor");
    assert_eq!(error.to_string(), "the workload gives a scalar for the tensor `on`");
}

/// The project's models and this crate agree on what must be null.
fn assert_agrees_on_null(models: &Models) {
    let rules = models.run("rules", None);
    for line in rules.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [status, correctness, performance, is_accepted] = words[..] else {
            panic!("{line}")
        };
        let object = |word| if word == "True" { json!({}) } else { Value::Null };
        let trace = json!({
            "definition": "d",
            "workload": {"uuid": "w", "axes": {}, "inputs": {}},
            "evaluation": {
                "status": status,
                "environment": {"hardware": "x"},
                "timestamp": "t",
                "correctness": object(correctness),
                "performance": object(performance),
            },
        });
        assert_eq!(
            Trace::parse(&trace.to_string()).is_ok(),
            is_accepted == "True",
            "{line}"
        );
    }
    assert!(rules.lines().count() >= 28, "{rules}");
}

#[test]
fn the_models_of_flashinfer_bench_read_what_is_written() {
    assert_is_read_by(&Models::of_flashinfer());
}

#[test]
fn what_the_models_of_flashinfer_bench_write_is_read() {
    assert_is_read_here(&Models::of_flashinfer());
}

#[test]
fn the_models_of_flashinfer_bench_agree_on_what_must_be_null() {
    assert_agrees_on_null(&Models::of_flashinfer());
}

#[test]
#[ignore = "needs a checkout of SOL-ExecBench, whose folder is in `SOL_EXECBENCH`"]
fn the_models_of_sol_execbench_read_and_write_the_same() {
    let models = Models::of_sol_execbench();
    assert_is_read_by(&models);
    assert_is_read_here(&models);
    assert_agrees_on_null(&models);
    assert_examples_are_cases(&Path::new(&models.project).join("examples"));
}

/// Every example of SOL-ExecBench is read, and each of its workloads without custom inputs is a
/// case.
fn assert_examples_are_cases(examples: &Path) {
    let (mut cases, mut custom) = (0, 0);
    for kind in entries(examples) {
        for example in entries(&kind) {
            let text = |name: &str| fs::read_to_string(example.join(name)).expect(name);
            let definition = Definition::parse(&text("definition.json")).expect("a definition");
            for listed in read_workloads(&text("workload.jsonl")).expect("workloads") {
                let case = Case::new(Dialect::SolExecBench, &definition, &listed.workload, None);
                match case {
                    Ok(_) => cases += 1,
                    Err(CaseError::CustomInput { .. }) => custom += 1,
                    Err(error) => panic!("{}: {error}", example.display()),
                }
            }
            let solutions = entries(&example);
            for file in solutions
                .iter()
                .filter(|file| file.to_string_lossy().contains("/solution_"))
            {
                let solution = Solution::parse(&fs::read_to_string(file).expect("text")).expect("a solution");
                assert_eq!(solution.dialect(), Dialect::SolExecBench);
                Submission::new(&solution, &definition.name).expect_err("neither its language nor its binding fits");
            }
        }
    }
    println!("{cases} cases, {custom} workloads with custom inputs");
    assert!(cases > 10 * custom, "{cases} cases, {custom} with custom inputs");
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder");
    entries.map(|entry| entry.expect("an entry").path()).collect()
}

#[test]
fn expressions_have_the_values_that_python_gives_them() {
    let axis = |name: &str| {
        [("n", 12), ("m", 4097), ("zero", 0)]
            .into_iter()
            .find(|(axis, _)| *axis == name)
    };
    let axis = |name: &str| axis(name).map(|(_, value)| value);
    let (mut equal, mut refused) = (0, 0);
    for line in ran(&python(), &["expressions"]).lines() {
        let (text, expected): (String, Option<String>) = serde_json::from_str(line).expect("a pair");
        let expected: Option<Option<i128>> = expected.map(|value| value.parse().ok());
        match (expression::evaluate(&text, &axis), expected) {
            (Ok(value), Some(Some(expected))) => {
                assert_eq!(value, expected, "{text}");
                equal += 1;
            }
            (Err(_), None | Some(None)) => refused += 1,
            // Integers beyond 53 bits are not divided, nor those beyond 128 bits computed at all.
            (Err(expression::ExpressionError::OutOfRange { .. }), Some(Some(_))) => refused += 1,
            (found, expected) => panic!("{text}: {found:?}, and in Python {expected:?}"),
        }
    }
    assert!(equal > 1000 && refused > 100, "{equal} equal, {refused} refused");
}
