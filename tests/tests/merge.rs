//! One run of several parts, with `--load-baseline` for each.
#![forbid(unsafe_code)]

use std::sync::OnceLock;

use camino::Utf8PathBuf;
use gpubench_tests::{Fixture, Records, Run, RunFolder};
use serde_json::{Value, json};

const FILTER: &str = "axes::scale::n=100,";

fn measured(part: &str) -> Vec<Value> {
    let run = Run::on(&Fixture::new("tidy")).briefly().json();
    let run = run.args(["--device", "cpu", FILTER, "--partition", part]);
    run.finish().expect_code(0).records().all().to_vec()
}

/// Returns the records of two parts of a run.
fn parts() -> &'static [Vec<Value>; 2] {
    static PARTS: OnceLock<[Vec<Value>; 2]> = OnceLock::new();
    PARTS.get_or_init(|| ["hash:1/2", "hash:2/2"].map(measured))
}

/// Returns a run that loads files outside of any workspace.
fn loading(folder: &RunFolder, files: &[&str]) -> Run {
    let run = Run::outside_of_workspaces(&folder.path("."));
    run.args(files.iter().flat_map(|file| ["--load-baseline", file]))
}

/// Writes both parts, the second one changed.
fn written(folder: &RunFolder, change: impl Fn(&mut Vec<Value>)) -> [String; 2] {
    let [one, other] = parts();
    let mut other = other.clone();
    change(&mut other);
    [folder.lines("one.jsonl", one), folder.lines("other.jsonl", &other)]
}

/// Expects that two parts are refused. Returns what is printed.
fn refused(change: impl Fn(&mut Vec<Value>)) -> String {
    let folder = RunFolder::new();
    let [one, other] = written(&folder, change);
    let merged = folder.path("merged.jsonl");
    let run = loading(&folder, &[&one, &other]).args(["--export-json", merged.as_str()]);
    let stderr = run.finish().expect_code(2).stderr;
    assert!(!merged.exists(), "nothing is written");
    assert!(
        stderr.contains("other.jsonl`") && stderr.contains("(hint: "),
        "{stderr}"
    );
    stderr
}

fn first(records: &mut [Value], reason: &str) -> usize {
    let found = records.iter().position(|record| record["reason"] == reason);
    found.expect("there is one")
}

fn changed<'a>(records: &'a mut [Value], reason: &str, field: &str) -> &'a mut Value {
    let place = first(records, reason);
    &mut records[place][field]
}

#[test]
fn two_parts_make_the_run_that_measured_all_of_their_cases() {
    let listed = Run::on(&Fixture::new("tidy")).args(["--device", "cpu", "--list", FILTER]);
    let listed = listed.finish().expect_code(0).stdout;
    let folder = RunFolder::new();
    let [one, other] = written(&folder, |_| ());
    let merge = |name: &str, files: &[&str]| -> (Utf8PathBuf, String) {
        let merged = folder.path(name);
        let run = loading(&folder, files).args(["--export-json", merged.as_str()]);
        (merged, run.finish().expect_code(0).stderr)
    };
    let (merged, stderr) = merge("merged.jsonl", &[&one, &other]);
    assert!(
        stderr.contains("have different seeds, so the run of both has none"),
        "{stderr}"
    );
    let text = std::fs::read_to_string(&merged).expect("it is written");
    let (again, _) = merge("again.jsonl", &[&other, &one, &other]);
    assert_eq!(std::fs::read_to_string(again).expect("it is written"), text);

    let records = Records::parse(&text);
    let started = records.the("run-started");
    let names: Vec<&str> = records.results().filter_map(|result| result["case"].as_str()).collect();
    assert_eq!(names, listed.lines().collect::<Vec<_>>());
    assert_eq!(started["cases"], names.len());
    assert!(records.all().iter().all(|record| record["run_id"] == started["run_id"]));
    assert!(parts().iter().all(|part| part[0]["run_id"] != started["run_id"]));
    let indices = records.results().map(|result| result["index"].clone());
    assert!(indices.eq((0..names.len()).map(Value::from)));
    let finished = records.the("run-finished");
    assert_eq!(
        (&finished["passed"], &finished["not_run"]),
        (&json!(names.len()), &json!(0))
    );
    assert_eq!(
        (&finished["seed"], &started["seed_commitment"]),
        (&json!(""), &json!(""))
    );
    for part in parts() {
        for measured in part.iter().filter(|record| record["reason"] == "benchmark-complete") {
            let kept = records.result(measured["case"].as_str().expect("text"));
            assert_eq!(kept["samples"], measured["samples"]);
            assert_eq!(kept["environment"], measured["environment"]);
        }
    }

    let page = folder.path("page.html");
    let read = |arguments: &[&str]| Run::outside_of_workspaces(&folder.path(".")).args(arguments.iter().copied());
    let report = ["report", merged.as_str(), "--output", page.as_str()];
    let compare = ["compare", merged.as_str(), merged.as_str()];
    let baseline = ["--load-baseline", &one, "--baseline", merged.as_str()];
    for arguments in [&report[..], &compare[..], &baseline[..]] {
        let _ = read(arguments).finish().expect_code(0);
    }
    assert!(!std::fs::read_to_string(page).expect("a page").contains("<dt>Seed"));
}

#[test]
fn parts_with_one_seed_keep_it_and_other_options_are_told() {
    let folder = RunFolder::new();
    let [seed, commitment] = {
        let mut one = parts()[0].clone();
        [("run-finished", "seed"), ("run-started", "seed_commitment")]
            .map(|(reason, field)| changed(&mut one, reason, field).clone())
    };
    let [one, other] = written(&folder, |part| {
        *changed(part, "run-finished", "seed") = seed.clone();
        *changed(part, "run-started", "seed_commitment") = commitment.clone();
        changed(part, "run-started", "repeat")["options"] = json!(["--device", "cpu", "--threads", "3"]);
    });
    let finished = loading(&folder, &[&one, &other]).json().finish().expect_code(0);
    assert!(!finished.stderr.contains("seed"), "{}", finished.stderr);
    assert!(
        finished.stderr.contains("were measured with different options"),
        "{}",
        finished.stderr
    );
    let records = finished.records();
    assert_eq!(records.the("run-finished")["seed"], seed);
    assert_eq!(records.the("run-started")["seed_commitment"], commitment);
    assert_eq!(records.the("run-started")["repeat"], Value::Null);
}

#[test]
fn a_failed_or_interrupted_part_makes_the_run_fail() {
    let folder = RunFolder::new();
    let ends = |change: &dyn Fn(&mut Vec<Value>), code: i32| {
        let [one, other] = written(&folder, change);
        loading(&folder, &[&one, &other])
            .json()
            .finish()
            .expect_code(code)
            .records()
    };
    let failed = ends(
        &|part| {
            let place = first(part, "benchmark-complete");
            part[place]["verdict"] = json!("wrong-output");
            part[place]["cause"] = json!("mismatch");
        },
        100,
    );
    assert_eq!(failed.the("run-finished")["failed"], 1);
    let stopped = ends(
        &|part| {
            *changed(part, "run-finished", "end") = json!("interrupted");
            *changed(part, "run-finished", "not_run") = json!(2);
        },
        130,
    );
    let finished = stopped.the("run-finished");
    assert_eq!(
        (&finished["end"], &finished["not_run"]),
        (&json!("interrupted"), &json!(2))
    );
}

#[test]
fn parts_that_differ_in_what_a_run_has_once_are_refused_by_name() {
    let revision = json!({"commit": "0123456789abcdef", "branch": "main", "modified": true});
    let cases: [(&str, Value, &str); 3] = [
        ("tool_version", json!("9.9.9"), "version of the tool: "),
        ("revision", revision, "012345678 on main, modified"),
        (
            "device",
            json!({"kind": "cuda", "name": "NVIDIA H200"}),
            "kind of device: cpu in ",
        ),
    ];
    for (field, value, words) in cases {
        let stderr = refused(|part| match value.as_object().filter(|_| field == "device") {
            Some(fields) => {
                let device = changed(part, "run-started", field);
                fields.iter().for_each(|(name, value)| device[name] = value.clone());
            }
            None => *changed(part, "run-started", field) = value.clone(),
        });
        assert!(stderr.contains(words), "{stderr}");
    }
}

#[test]
fn a_part_without_its_end_of_another_version_or_of_a_grading_is_refused() {
    let unfinished = refused(|part| drop(part.pop()));
    assert!(unfinished.contains("has not finished"), "{unfinished}");
    let version = refused(|part| part.iter_mut().for_each(|record| record["schema_version"] = json!(9)));
    assert!(version.contains('9'), "{version}");
    let graded = refused(|part| {
        *changed(part, "benchmark-complete", "submission") =
            json!({"place": "a.cu", "sha256": null, "score_rule": "geometric-mean"});
    });
    assert!(graded.contains("has results of submissions"), "{graded}");
    let long = "x".repeat(8 << 20);
    let torn = refused(|part| *part = vec![json!({"reason": "run-started", "run_id": long})]);
    assert!(torn.contains("does not match its format"), "{torn}");
}

#[test]
fn a_case_with_two_results_is_refused_with_both_files() {
    let stderr = refused(|part| {
        let mut one = parts()[0].clone();
        let place = first(&mut one, "benchmark-complete");
        one[place]["wall_ns"] = json!(1);
        part.insert(1, one[place].clone());
    });
    assert!(
        stderr.contains("one.jsonl`") && stderr.contains("with different results"),
        "{stderr}"
    );
}

#[test]
fn an_output_is_never_an_input_and_a_pipe_is_no_part() {
    let folder = RunFolder::new();
    let [one, other] = written(&folder, |_| ());
    let run = loading(&folder, &[&one, &other]).args(["--export-json", &other]);
    let stderr = run.finish().expect_code(2).stderr;
    assert!(stderr.contains("is an input of this command"), "{stderr}");
    let line = format!("mkfifo p; \"$0\" gpubench --load-baseline {one} --load-baseline ./p");
    let stderr = Run::of_shell(&line, &folder.path(".")).finish().expect_code(2).stderr;
    assert!(stderr.contains("`./p` is a pipe"), "{stderr}");
}

#[test]
fn a_file_that_became_a_filter_has_a_hint() {
    let folder = RunFolder::new();
    let [one, other] = written(&folder, |_| ());
    let stderr = loading(&folder, &[&one]).args([&*other]).finish().expect_code(4).stderr;
    assert!(stderr.contains(&format!("add `--load-baseline {other}`")), "{stderr}");
}
