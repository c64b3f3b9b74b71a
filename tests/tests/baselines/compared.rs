//! Messages and exit codes of a run that is compared with a baseline.
#![forbid(unsafe_code)]

use gpubench_tests::{Ending, Fixture, Run, RunFolder, repository, slowed};
use serde_json::{Value, json};

use crate::{comparison, loaded, paced, records, verdict_of};

#[test]
fn a_slower_kernel_is_a_regression_with_exit_code_3() {
    let folder = RunFolder::new();
    let baseline = folder.path("before.json");
    // Both runs are loaded, and the factor is far beyond what a busy machine can blur.
    let before = folder.lines("before.jsonl", records());
    let after = folder.lines("after.jsonl", &slowed(records(), 1000.0));
    let saving = loaded(&before).args(["--save-baseline", baseline.as_str()]);
    let saved = saving.finish().expect_code(0);
    assert!(saved.stderr.contains("Saved"), "{}", saved.stderr);
    let slower = loaded(&after).args(["--baseline", baseline.as_str()]);
    let finished = slower.finish().expect_code(3);
    let row = finished
        .stdout
        .lines()
        .find(|line| line.contains("steps::walk") && line.contains("regressed"));
    assert!(row.is_some(), "{}", finished.stdout);
}

#[test]
fn a_regression_can_be_shown_without_failing() {
    let folder = RunFolder::new();
    let before = folder.lines("before.jsonl", records());
    let after = folder.lines("after.jsonl", &slowed(records(), 1000.0));
    let judged = |arguments: &[&'static str]| {
        let run = loaded(&after).json().args(["--baseline", &before]);
        run.args(arguments.iter().copied()).finish()
    };
    let failed = judged(&[]).expect_code(3).records();
    assert_eq!(verdict_of(&failed, "steps::walk"), "regressed");
    let shown = judged(&["--no-fail-on-regression"]).expect_code(0).records();
    assert_eq!(verdict_of(&shown, "steps::walk"), "regressed");
    let noise = judged(&["--noise-threshold", "0.999"]);
    assert_eq!(noise.ending, Ending::Code(3), "1000 times is more than 99.9 %");
}

#[test]
fn a_run_compared_with_itself_has_no_change() {
    let folder = RunFolder::new();
    let run = folder.lines("run.jsonl", records());
    let records = loaded(&run)
        .json()
        .args(["--compare", &run])
        .finish()
        .expect_code(0)
        .records();
    let compared = loaded(&run).args(["--compare", &run]).finish().expect_code(0);
    assert!(
        compared.stdout.contains("! both are the same run, `"),
        "{}",
        compared.stdout
    );
    let rows = comparison(&records)["rows"].as_array().expect("a list").clone();
    assert_eq!(rows.len(), 2);
    for row in rows {
        assert_eq!((&row["verdict"], &row["remark"]), (&json!("no-change"), &Value::Null));
        assert_eq!(row["change"]["ratio"], 1.0);
        assert_eq!(row["baseline"], row["candidate"]);
    }
}

#[test]
fn the_comparison_is_a_record_before_the_run_ends() {
    let folder = RunFolder::new();
    let run = folder.lines("run.jsonl", records());
    let records = loaded(&run)
        .json()
        .args(["--baseline", &run])
        .finish()
        .expect_code(0)
        .records();
    let reasons: Vec<&str> = records
        .all()
        .iter()
        .filter_map(|record| record["reason"].as_str())
        .collect();
    assert_eq!(reasons[reasons.len() - 2..], ["comparison-complete", "run-finished"]);
    let schema = repository().join("crates/gpubench-contract/schema/gpubench-v2.schema.json");
    let schema = serde_json::from_str(&std::fs::read_to_string(schema).expect("the schema is there")).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("the schema is one");
    assert!(validator.is_valid(comparison(&records)));
}

#[test]
fn benchmarks_missing_from_the_baseline_are_listed_before_anything_is_measured() {
    let folder = RunFolder::new();
    let before = folder.lines("before.jsonl", records());
    let features = ["--features", "newcomer", "--no-default-features"];
    let strict = paced()
        .json()
        .args(features)
        .args(["--baseline", &before])
        .finish()
        .expect_code(2);
    assert_eq!(strict.stdout, "");
    for words in ["lacks 1 of 2", "\n  steps::hop::n=1000\n", "--baseline-lenient"] {
        assert!(strict.stderr.contains(words), "{}", strict.stderr);
    }
    let lenient = paced().json().args(features).args(["--baseline-lenient", &before]);
    let lenient = lenient
        .args(["--no-fail-on-regression"])
        .finish()
        .expect_code(0)
        .records();
    assert_eq!(comparison(&lenient)["new"], json!(["steps::hop::n=1000"]));
    assert_eq!(comparison(&lenient)["removed"], json!(["steps::stroll::n=1000"]));
}

#[test]
fn filtered_benchmarks_are_not_called_removed() {
    let folder = RunFolder::new();
    let before = folder.lines("before.jsonl", records());
    let run = loaded(&before).json().args(["walk", "--baseline", &before]);
    let records = run.finish().expect_code(0).records();
    assert_eq!(comparison(&records)["removed"], json!([]));
    assert_eq!(comparison(&records)["rows"].as_array().map(Vec::len), Some(1));
}

#[test]
fn benchmarks_of_other_partitions_are_not_called_removed() {
    let folder = RunFolder::new();
    let baseline = folder.path("before.json").into_string();
    let both = || {
        Run::on(&Fixture::new("paced"))
            .briefly()
            .json()
            .args(["--features", "veteran"])
    };
    let _ = both().args(["--save-baseline", &baseline]).finish().expect_code(0);
    let part = both().args(["--partition", "count:1/2", "--baseline", &baseline]);
    let records = part.args(["--no-fail-on-regression"]).finish().expect_code(0).records();
    assert_eq!(comparison(&records)["removed"], json!([]));
    assert_eq!(comparison(&records)["rows"].as_array().map(Vec::len), Some(1));
}

#[test]
fn another_device_is_compared_only_on_request() {
    let folder = RunFolder::new();
    let before = folder.lines("before.jsonl", records());
    let mut other = slowed(records(), 1000.0);
    for record in &mut other {
        if record["device"].is_object() {
            record["device"]["name"] = "Another Processor".into();
        }
    }
    let other = folder.lines("other.jsonl", &other);
    let compared = loaded(&other)
        .json()
        .args(["--baseline", &before])
        .finish()
        .expect_code(0)
        .records();
    assert_eq!(verdict_of(&compared, "steps::walk"), "not-compared");
    let differences = comparison(&compared)["differences"].to_string();
    assert!(differences.contains("Another Processor"), "{differences}");
    let insisting = ["--baseline", &before, "--allow-different-setups"];
    let insisted = loaded(&other).json().args(insisting).finish().expect_code(3).records();
    assert_eq!(verdict_of(&insisted, "steps::walk"), "regressed");
    assert_ne!(comparison(&insisted)["differences"], json!([]));
}

#[test]
fn a_failed_benchmark_is_worse_than_a_regression_and_is_stored_as_failed() {
    let folder = RunFolder::new();
    let before = folder.lines("before.jsonl", records());
    let saved = folder.path("failed.json");
    let run = paced().json().args(["--features", "wrong,slow", "--baseline", &before]);
    let failed = run
        .args(["--save-baseline", saved.as_str()])
        .finish()
        .expect_code(100)
        .records();
    assert_eq!(verdict_of(&failed, "steps::walk"), "now-fails");
    let stored: Value = serde_json::from_str(&std::fs::read_to_string(&saved).expect("it is saved")).expect("JSON");
    let walk = stored["results"]
        .as_array()
        .expect("a list")
        .iter()
        .find(|result| result["benchmark"] == "steps::walk");
    assert_eq!(walk.expect("it is there")["verdict"], "wrong-output");
    let _ = loaded(saved.as_str()).finish().expect_code(100);
}

#[test]
fn an_incomplete_run_is_a_baseline_with_a_warning() {
    let folder = RunFolder::new();
    let whole = folder.lines("whole.jsonl", records());
    let short = folder.lines("short.jsonl", &records()[..3]);
    let lenient = ["--baseline-lenient", &short];
    let compared = loaded(&whole).json().args(lenient).finish().expect_code(0);
    assert!(compared.stderr.contains("is incomplete"), "{}", compared.stderr);
    assert_eq!(comparison(&compared.records())["new"].as_array().map(Vec::len), Some(1));
}

#[test]
fn files_can_be_compared_outside_a_workspace() {
    let folder = RunFolder::new();
    let before = folder.lines("before.jsonl", records());
    let after = folder.lines("after.jsonl", &slowed(records(), 1000.0));
    let run = Run::outside_of_workspaces(&folder.path("."));
    let run = run.args(["--load-baseline", &after, "--baseline", &before]);
    let finished = run.finish().expect_code(3);
    // The only message is that nothing is run.
    assert!(
        finished.stderr.trim_start().starts_with("Loaded `") && finished.stderr.ends_with(" UTC; nothing is run\n"),
        "{}",
        finished.stderr
    );
    assert_eq!(finished.stderr.lines().count(), 1, "{}", finished.stderr);
}

/// The history has thirteen runs whose times vary by a fifth.
#[test]
fn a_noisy_history_raises_the_threshold() {
    let folder = RunFolder::new();
    let history = folder.path("history");
    let recorded = paced().args(["--history", "--history-dir", history.as_str()]);
    let recorded = recorded.json().finish().expect_code(0).records();
    let before = folder.lines("before.jsonl", recorded.all());
    let after = folder.lines("after.jsonl", &slowed(recorded.all(), 1.15));
    let compared = || {
        let run = loaded(&after).json().args(["--baseline", &before]);
        let run = run.args(["--no-fail-on-regression", "--history-dir", history.as_str()]);
        let records = run.finish().expect_code(0).records();
        comparison(&records)["rows"][0]["change"].clone()
    };
    assert_eq!(compared()["threshold_source"], "floor");
    let files = history.read_dir_utf8().expect("there is a folder").flatten();
    let file = files
        .map(|entry| entry.into_path())
        .find(|path| path.extension() == Some("jsonl"));
    let file = file.expect("there is a history");
    let text = std::fs::read_to_string(&file).expect("it can be read");
    let entry: Value = serde_json::from_str(text.lines().nth(1).expect("a run")).expect("JSON");
    let noisy = (0..12).map(|run| {
        let mut entry = entry.clone();
        for case in entry["cases"].as_array_mut().expect("a list") {
            let factor = if run % 2 == 0 { 1.2 } else { 1.0 };
            case["value"] = (case["value"].as_f64().expect("a number") * factor).into();
        }
        format!("{entry}\n")
    });
    std::fs::write(&file, text + &noisy.collect::<String>()).expect("it can be written");
    let change = compared();
    assert_eq!(change["threshold_source"], "history");
    assert!(
        change["threshold"].as_f64().is_some_and(|threshold| threshold > 0.16),
        "{change}"
    );
}

#[test]
fn a_file_of_nvbench_can_be_compared_with_and_is_no_run() {
    let golden = repository().join("crates/gpubench-report/src/tests/snapshots");
    let golden = golden.join("gpubench_report__tests__golden__json_lines_on_a_gpu.snap");
    let golden = std::fs::read_to_string(golden).expect("the golden copy");
    let lines = golden.lines().filter(|line| line.starts_with('{'));
    let records: Vec<Value> = lines.map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let folder = RunFolder::new();
    let run = folder.lines("gpu.jsonl", &records);
    let nvbench = repository().join("crates/gpubench-store/src/nvbench/written-by-hand.json");
    let compare = |runs: [&str; 2]| Run::on_verb("compare", &Fixture::new("paced")).args(runs).finish();
    let compared = compare([nvbench.as_str(), &run]).expect_code(0);
    for what in [
        "axpy::add_one::n=1024",
        "3.389 µs",
        "2 inconclusive",
        "NVBench measures in one process",
    ] {
        assert!(compared.stdout.contains(what), "{what}: {}", compared.stdout);
    }
    for refused in [compare([&run, nvbench.as_str()]), loaded(nvbench.as_str()).finish()] {
        let refused = refused.expect_code(2);
        assert!(refused.stderr.contains("is a file of NVBench"), "{}", refused.stderr);
    }
}
