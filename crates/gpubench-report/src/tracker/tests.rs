//! The formats, as their consumers read them.

use std::collections::HashSet;
use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::*;
use crate::tests::written;
use gpubench_contract::{CounterRate, ParamValue};
use gpubench_testing::{SampleRun, every_verdict, in_two_modes, on_gpu};

fn shown(run: &SampleRun, format: TrackerFormat) -> String {
    written(run, |output| TrackerReporter::new(output, format))
}

/// A run with names and values that break careless writers.
fn hostile() -> SampleRun {
    let mut run = in_two_modes(on_gpu());
    let hostile = "a\"b\\c\nd{e}\u{1b}[31m,é#";
    run.started.device.name = hostile.into();
    for result in &mut run.results {
        result.device.name = hostile.into();
        result.energy_per_call_j = Some(0.0125);
        result.params.0.push(("größe".into(), ParamValue::Text(hostile.into())));
        result.params.0.push(("gr__e".into(), ParamValue::Int(1)));
        result.throughput.counters = vec![CounterRate {
            name: "tokens".into(),
            amount: 1,
            per_s: 2.5e9,
        }];
    }
    run
}

#[test]
fn bencher_metric_format_of_a_gpu_run() {
    insta::assert_snapshot!(shown(&on_gpu(), TrackerFormat::Bencher));
}

#[test]
fn github_action_benchmark_of_a_gpu_run() {
    insta::assert_snapshot!(shown(&on_gpu(), TrackerFormat::GithubBenchmark));
}

#[test]
fn open_metrics_of_a_gpu_run() {
    insta::assert_snapshot!(shown(&on_gpu(), TrackerFormat::OpenMetrics));
}

#[test]
fn results_that_did_not_pass_have_no_value() {
    let mut run = every_verdict();
    run.results.retain(|result| result.verdict != Verdict::Pass);
    assert_eq!(shown(&run, TrackerFormat::Bencher), "{}\n");
    assert_eq!(shown(&run, TrackerFormat::GithubBenchmark), "[]\n");
    let metrics = shown(&run, TrackerFormat::OpenMetrics);
    assert!(
        metrics.contains("gpubench_passed{") && !metrics.contains("gpubench_time"),
        "{metrics}"
    );
    assert!(!metrics.contains(" 1.0\n"), "{metrics}");
}

/// Bencher's documentation: an object of benchmarks, each an object of measures, each with a
/// `value` and optional bounds, all numbers.
#[test]
fn bencher_reads_numbers_in_order() {
    for run in [on_gpu(), every_verdict(), hostile()] {
        let text = shown(&run, TrackerFormat::Bencher);
        let Value::Object(benchmarks) = serde_json::from_str(&text).unwrap() else {
            panic!("{text}")
        };
        for (name, measures) in benchmarks {
            assert!(!name.is_empty() && name.len() <= 1024);
            for (_, measure) in measures.as_object().unwrap() {
                let measure = measure.as_object().unwrap();
                let known = ["value", "lower_value", "upper_value"];
                assert!(measure.keys().all(|key| known.contains(&&**key)));
                let number = |key: &str| measure.get(key).map(|number| number.as_f64().unwrap());
                let value = number("value").unwrap();
                assert!(number("lower_value").is_none_or(|low| low <= value));
                assert!(number("upper_value").is_none_or(|high| value <= high));
            }
        }
    }
}

/// The action's README: `name`, `unit` and `value` are required, `range` and `extra` are strings.
#[test]
fn github_action_benchmark_reads_entries_with_names_of_their_own() {
    for run in [on_gpu(), every_verdict(), hostile()] {
        let text = shown(&run, TrackerFormat::GithubBenchmark);
        let entries: Vec<Value> = serde_json::from_str(&text).unwrap();
        let names: HashSet<&str> = entries.iter().map(|entry| entry["name"].as_str().unwrap()).collect();
        assert_eq!(names.len(), entries.len(), "{text}");
        for entry in &entries {
            assert!(entry["unit"].is_string() && entry["value"].is_number() && entry["extra"].is_string());
            assert!(entry.get("range").is_none_or(Value::is_string));
        }
    }
}

#[test]
fn metrics_of_which_more_is_better_are_not_turned_round() {
    let mut run = on_gpu();
    for result in &mut run.results {
        result.metric.better = gpubench_contract::Better::Higher;
    }
    assert_eq!(shown(&run, TrackerFormat::GithubBenchmark), "[]\n");
}

#[test]
fn open_metrics_keep_hostile_text_in_their_line() {
    let text = shown(&hostile(), TrackerFormat::OpenMetrics);
    assert!(text.ends_with("# EOF\n") && !text.contains('\u{1b}'), "{text}");
    for line in text.lines() {
        let is_known = line.starts_with("# ") || line.starts_with("gpubench_");
        assert!(is_known, "{line}");
    }
}

/// The parser of Prometheus' own Python client, which is strict about OpenMetrics.
#[test]
#[ignore = "needs Python's prometheus-client: `.ci/run prometheus` installs it"]
fn open_metrics_are_what_a_strict_parser_reads() {
    const READ: &str = "import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families as read
families = list(read(sys.stdin.read()))
samples = [sample for family in families for sample in family.samples]
print(len(samples), sorted({sample.labels['device'] for sample in samples})[0].encode())";
    for run in [on_gpu(), every_verdict(), hostile()] {
        let text = shown(&run, TrackerFormat::OpenMetrics);
        let samples = text.lines().filter(|line| !line.starts_with('#')).count();
        let mut python = Command::new("python3")
            .args(["-c", READ])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        python.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let read = python.wait_with_output().unwrap();
        let read = String::from_utf8(read.stdout).unwrap();
        assert!(read.starts_with(&format!("{samples} ")), "{read}\n{text}");
    }
}
