//! Several modes in one run: a result for each, compared, saved, exported and remembered by mode.
#![forbid(unsafe_code)]

use gpubench_tests::{FakeGpu, Fixture, Records, Run, RunFolder};
use serde_json::Value;

/// Returns a run of one case in some modes, with enough workers for a comparison.
fn in_modes(modes: &str) -> Run {
    of_walk(modes).args(["--flush-bytes", "256KiB"])
}

fn of_walk(modes: &str) -> Run {
    Run::on(&Fixture::new("paced"))
        .patiently()
        .args(["walk", "--mode", modes, "--workers", "3", "--max-samples", "30"])
        .args(["--threads", "1"])
}

fn modes(records: &Records) -> Vec<&Value> {
    records.results().map(|result| &result["mode"]).collect()
}

fn texts(value: &Value) -> Vec<&str> {
    let texts = value.as_array().into_iter().flatten();
    texts.filter_map(Value::as_str).collect()
}

#[test]
fn each_mode_has_a_result() {
    let records = in_modes("cold,warm").json().finish().expect_code(0).records();
    assert_eq!(modes(&records), ["cold", "warm"]);
    let started: Vec<&Value> = records
        .with_reason("benchmark-started")
        .map(|one| &one["mode"])
        .collect();
    assert_eq!(started, ["cold", "warm"]);
    let results: Vec<&Value> = records.results().collect();
    assert_eq!(results[0]["case"], results[1]["case"]);
    assert_eq!((&results[0]["index"], &results[1]["index"]), (&0.into(), &1.into()));
    assert_eq!(
        (
            &records.the("run-started")["cases"],
            &records.the("run-finished")["passed"]
        ),
        (&2.into(), &2.into())
    );
}

#[test]
fn a_baseline_is_compared_by_mode_and_a_mode_that_it_lacks_is_new() {
    let folder = RunFolder::new();
    let baseline = folder.path("main.json").into_string();
    let _ = in_modes("cold")
        .args(["--save-baseline", &baseline])
        .finish()
        .expect_code(0);
    let refused = in_modes("cold,warm")
        .args(["--baseline", &baseline])
        .finish()
        .expect_code(2);
    assert!(
        refused
            .stderr
            .contains("lacks 1 of 2 results of the selected cases:\n  steps::walk::n=1000 [warm]"),
        "{}",
        refused.stderr
    );
    let lenient = in_modes("cold,warm").args(["--baseline-lenient", &baseline, "--no-fail-on-regression"]);
    let records = lenient.json().finish().expect_code(0).records();
    let comparison = records.the("comparison-complete");
    assert_eq!(comparison["rows"].as_array().expect("a list").len(), 1);
    assert_eq!(comparison["rows"][0]["mode"], "cold");
    assert_eq!(texts(&comparison["new"]), ["steps::walk::n=1000 [warm]"]);

    let _ = in_modes("warm,cold")
        .args(["--save-baseline", &baseline])
        .finish()
        .expect_code(0);
    let both = in_modes("cold,warm").args(["--baseline", &baseline, "--no-fail-on-regression"]);
    let records = both.json().finish().expect_code(0).records();
    let rows = records.the("comparison-complete")["rows"].as_array().expect("a list");
    let modes: Vec<&Value> = rows.iter().map(|row| &row["mode"]).collect();
    assert_eq!(modes, ["cold", "warm"]);
    assert!(rows.iter().all(|row| row["change"]["ratio"].is_f64()), "{rows:#?}");
}

#[test]
fn a_history_keeps_modes_apart() {
    let folder = RunFolder::new();
    let history = folder.path("history").into_string();
    for modes in ["cold,warm", "warm"] {
        let run = in_modes(modes).args(["--history", "--history-dir", &history]);
        let _ = run.finish().expect_code(0);
    }
    let shown = Run::on_verb("history", &Fixture::new("paced")).args(["--history-dir", &history]);
    let records = shown.json().finish().expect_code(0).records();
    let runs: Vec<(&str, usize)> = records
        .with_reason("benchmark-history")
        .map(|history| {
            let runs = history["runs"].as_array().expect("a list");
            (history["mode"].as_str().expect("a mode"), runs.len())
        })
        .collect();
    assert_eq!(runs, [("warm", 2), ("cold", 1)], "in one file: the device is the same");
}

#[test]
fn exports_have_an_entry_for_each_mode() {
    let folder = RunFolder::new();
    let [csv, junit] = ["a.csv", "a.xml"].map(|name| folder.path(name).into_string());
    let run = in_modes("cold,warm").args(["--export-csv", &csv, "--export-junit", &junit]);
    let table = run.finish().expect_code(0).stdout;
    let rows = std::fs::read_to_string(csv).expect("it was written");
    assert!(rows.contains(",cold,pass,") && rows.contains(",warm,pass,"), "{rows}");
    let cases = std::fs::read_to_string(junit).expect("it was written");
    assert!(
        cases.contains("name=\"steps::walk::n=1000\"") && cases.contains("name=\"steps::walk::n=1000 [warm]\""),
        "{cases}"
    );
    assert!(table.contains("2 passed"), "{table}");
}

#[test]
fn alternating_sides_are_paired_by_mode() {
    // Other tests build `paced` with other features into the same file meanwhile.
    let fixture = Fixture::new("tidy");
    let folder = RunFolder::new();
    let archive = folder.path("other.tar.zst");
    let _ = Run::archiving(&fixture, &archive).finish().expect_code(0);
    let run = Run::on(&fixture).args(["sums::one_thread", "--mode", "cold,warm", "--flush-bytes", "256KiB"]);
    let run = run.args([
        "--workers",
        "3",
        "--max-samples",
        "30",
        "--threads",
        "1",
        "--no-fail-on-regression",
    ]);
    let run = run.args(["--against-archive", archive.as_str()]);
    let records = run.json().finish().expect_code(0).records();
    let rows = records.the("comparison-complete")["rows"].as_array().expect("a list");
    let modes: Vec<&Value> = rows.iter().map(|row| &row["mode"]).collect();
    assert_eq!(modes, ["cold", "warm"]);
}

#[test]
fn wrong_modes_are_refused() {
    let refused = in_modes("cold,wram").finish().expect_code(2);
    assert!(refused.stderr.contains("unknown mode `wram`"), "{}", refused.stderr);
    assert!(refused.stderr.contains("did you mean `warm`?"), "{}", refused.stderr);
    let twice = in_modes("cold,cold").finish().expect_code(2);
    assert!(twice.stderr.contains("duplicate mode `cold`"), "{}", twice.stderr);
    let unflushed = of_walk("cold").args(["--flush-bytes", "0"]).finish().expect_code(2);
    assert!(
        unflushed
            .stderr
            .contains("`steps::walk::n=1000` has the mode `cold`, but `--flush-bytes 0` flushes nothing"),
        "{}",
        unflushed.stderr
    );
}

#[test]
fn without_a_flush_calls_are_warm_by_default() {
    let run = Run::on(&Fixture::new("paced")).args(["walk", "--workers", "1", "--max-samples", "5"]);
    let records = run
        .args(["--flush-bytes", "0"])
        .json()
        .finish()
        .expect_code(0)
        .records();
    assert_eq!(modes(&records), ["warm"]);
}

#[test]
fn an_attribute_sets_the_modes_of_a_benchmark_and_the_command_line_replaces_them() {
    let sway = || {
        let run = Run::on(&Fixture::new("paced")).args(["sway", "--features", "modal"]);
        run.args(["--workers", "1", "--max-samples", "5"]).json()
    };
    assert_eq!(modes(&sway().finish().expect_code(0).records()), ["warm", "cold"]);
    let replaced = sway().args(["--mode", "cold"]).finish().expect_code(0).records();
    assert_eq!(modes(&replaced), ["cold"]);
    let checked = sway().args(["--test"]).finish().expect_code(0).records();
    assert_eq!(modes(&checked), ["warm"], "a check needs no other mode");
}

#[test]
fn a_wrong_mode_in_an_attribute_is_refused_with_its_line() {
    let run = Run::on(&Fixture::new("paced")).args(["swya", "--features", "misspelt"]);
    let refused = run.finish().expect_code(104);
    let (place, reason) = ("src/steps.rs:", "`mode` of `steps::swya` has an invalid value");
    let words = [place, reason, "unknown mode `wram`", "did you mean `warm`?"];
    assert!(
        words.iter().all(|word| refused.stderr.contains(word)),
        "{}",
        refused.stderr
    );
}

/// Runs one kernel of the hostile crate in a mode.
fn hostile(kernel: &str, mode: &str) -> Value {
    let name = format!("answers::{kernel}::n=600");
    let run = Run::on(&Fixture::new("hostile")).patiently();
    let run = run.args(["--exact", &name, "--include-ignored", "--mode", mode]);
    let records = run.args(["--workers", "2", "--threads", "1"]).json().finish().records();
    records.results().next().expect("a result").clone()
}

/// The modes whose samples have several calls.
const OF_SEVERAL_CALLS: [&str; 3] = ["hot", "graph", "hot-graph"];

#[test]
fn each_of_several_calls_has_its_own_tensors_and_is_checked() {
    for mode in OF_SEVERAL_CALLS {
        let honest = hostile("honest", mode);
        assert_eq!((&honest["verdict"], &honest["mode"]), (&"pass".into(), &mode.into()));
        let calls = honest["calls_per_sample"].as_u64().expect("a number");
        assert!(calls >= 8, "{calls}");
        let number = |name: &str| honest[name].as_u64().expect("a number");
        let single = honest["window_counts"]["single"].as_u64().expect("a number");
        assert_eq!(
            number("distinct_inputs"),
            calls * (number("windows") - single) + single,
            "{mode}: no call sees inputs twice"
        );
        assert_eq!(honest["checks"].as_array().map(Vec::len), Some(1));
        assert_eq!(
            honest["single_calls"]["n"], single,
            "{mode}: one call in each such window"
        );
        assert!(single >= 4, "{single}");
        assert!(honest["single_calls"]["median_ns"].as_f64() > Some(0.0), "{honest}");
        assert_eq!(honest["sharing"], Value::Null, "no clock checks the times");
    }
}

#[test]
fn a_kernel_that_skips_or_repeats_calls_is_wrong_in_every_mode() {
    for mode in OF_SEVERAL_CALLS {
        for (kernel, cause, output) in [
            ("skips_every_third_call", "unwritten", "`y@3`"),
            ("gives_the_answer_before", "stale", "`y@2`"),
            ("keeps_the_first_answer", "cached", "`y@1`"),
        ] {
            let found = hostile(kernel, mode);
            assert_eq!(
                (&found["verdict"], &found["cause"]),
                (&"wrong-output".into(), &cause.into()),
                "{mode}"
            );
            let message = found["message"].as_str().expect("a message");
            assert!(message.contains(output), "{mode}: {message}");
        }
    }
}

#[test]
fn a_call_must_be_complete_without_the_calls_after_it() {
    assert_eq!(hostile("writes_the_output_before", "cold")["verdict"], "pass");
    for mode in OF_SEVERAL_CALLS {
        let found = hostile("writes_the_output_before", mode);
        assert_eq!(
            (&found["verdict"], &found["cause"]),
            (&"wrong-output".into(), &"unwritten".into()),
            "{mode}: {}",
            found["message"]
        );
    }
}

#[test]
fn a_window_with_one_call_says_nothing_about_the_next() {
    assert_eq!(hostile("expects_single_calls_in_a_row", "cold")["verdict"], "pass");
    for mode in OF_SEVERAL_CALLS {
        let found = hostile("expects_single_calls_in_a_row", mode);
        assert_eq!(
            (&found["verdict"], &found["cause"]),
            (&"wrong-output".into(), &"unwritten".into()),
            "{mode}: {}",
            found["message"]
        );
    }
}

#[test]
fn a_graph_has_as_many_calls_as_requested_and_possible() {
    let calls = |number: &str| {
        let name = "answers::honest::n=600";
        let run = Run::on(&Fixture::new("hostile")).args(["--exact", name, "--mode", "graph", "--workers", "1"]);
        let records = run
            .args(["--calls-per-sample", number])
            .json()
            .finish()
            .expect_code(0)
            .records();
        records.results().next().expect("a result")["calls_per_sample"].clone()
    };
    assert_eq!(calls("3"), 3);
    assert_eq!(calls("60"), 60);
}

#[test]
fn a_graph_has_fewer_calls_if_an_earlier_mode_shows_that_they_are_long() {
    let calls = |modes: &str| {
        let records = in_modes(modes).args(["--axis", "n=100000"]).json().finish().records();
        let results = records.results().map(|result| result["calls_per_sample"].as_u64());
        results.flatten().collect::<Vec<u64>>()
    };
    assert_eq!(calls("cold,graph"), [1, 2]);
    assert_eq!(calls("graph,cold"), [10, 1]);
}

#[test]
fn no_call_sees_inputs_or_outputs_of_an_earlier_one() {
    // Each is right only if its inputs are new, and its output does not hold an earlier answer.
    for kernel in ["answers_new_inputs_only", "trusts_its_output"] {
        for mode in ["cold", "hot", "hot-graph"] {
            let found = hostile(kernel, mode);
            assert_eq!(found["verdict"], "pass", "{mode}: {}", found["message"]);
        }
    }
}

#[test]
fn hot_calls_that_do_not_fit_into_half_of_the_cache_are_skipped() {
    for mode in ["hot", "hot-graph"] {
        let run = in_modes(mode).args(["--axis", "n=1000000"]);
        let records = run.json().finish().expect_code(0).records();
        let result = records.results().next().expect("a result");
        assert_eq!(result["verdict"], "skipped");
        let message = result["message"].as_str().expect("a message");
        assert!(
            message.starts_with("too large, use `--mode graph`: ") && message.contains("half of a cache"),
            "{message}"
        );
    }
}

/// Returns the number of worker processes of a run on a GPU with three workers for each mode.
fn workers_on_a_gpu(modes: &str) -> usize {
    let gpu = FakeGpu::new();
    let run = gpu.run(&Fixture::new("tidy")).json();
    let run = run.args(["--exact", "sums::one_thread_a_row::rows=33,cols=100"]);
    let run = run.args([
        "--flush-bytes",
        "256KiB",
        "--workers",
        "3",
        "--min-samples",
        "9",
        "--max-samples",
        "9",
    ]);
    let records = run
        .args(["--max-time", "1min", "--mode", modes])
        .finish()
        .expect_code(0)
        .records();
    for result in records.results() {
        let workers = result["workers"].as_array().expect("a list");
        assert_eq!(workers.len(), 3, "{result:#}");
    }
    gpu.ledgers_of("worker").len()
}

#[test]
fn the_sealed_workers_of_a_case_on_a_gpu_serve_all_its_modes() {
    assert_eq!(workers_on_a_gpu("cold"), 3);
    assert_eq!(workers_on_a_gpu("cold,warm"), 3);
}

#[test]
fn a_worker_whose_kernels_failed_serves_no_other_mode() {
    let gpu = FakeGpu::new();
    let run = gpu.run(&Fixture::new("hostile")).json();
    let run = run.args(["answers::second_output_is_wrong", "--flush-bytes", "256KiB"]);
    let run = run.args(["--workers", "3", "--max-samples", "9", "--min-samples", "9"]);
    let records = run.args(["--mode", "cold,warm"]).finish().expect_code(100).records();
    let verdicts: Vec<&Value> = records.results().map(|result| &result["verdict"]).collect();
    assert_eq!(verdicts, ["wrong-output", "wrong-output"]);
    assert_eq!(gpu.ledgers_of("worker").len(), 6, "three for each mode");
}
