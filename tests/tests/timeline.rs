//! The timeline of a run.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;

use gpubench_tests::{Fixture, Run, RunFolder};
use serde_json::Value;

/// Returns the rows of a timeline, without the ids of processes, and the names of its events.
fn rows_and_names(file: &str) -> (BTreeSet<String>, BTreeSet<String>) {
    let text = std::fs::read_to_string(file).expect("the timeline was written");
    let timeline: Value = serde_json::from_str(&text).expect("it is JSON");
    let events = timeline["traceEvents"].as_array().expect("a list");
    let texts = |of: fn(&Value) -> Option<&str>| events.iter().filter_map(of).map(str::to_owned).collect();
    let rows: BTreeSet<String> = texts(|event| event["args"]["name"].as_str());
    let without_ids = rows
        .iter()
        .map(|row| row.trim_end_matches(char::is_numeric).trim_end().to_owned());
    (without_ids.collect(), texts(|event| event["name"].as_str()))
}

fn traced(file: &str) -> Run {
    Run::on(&Fixture::new("tidy")).args(["--device", "cpu", "--test", "--trace", file])
}

#[test]
fn a_timeline_shows_what_each_process_did() {
    let folder = RunFolder::new();
    let file = folder.path("timeline.json").into_string();
    let _ = traced(&file).args(["sums::one_thread"]).finish().expect_code(0);
    let (rows, names) = rows_and_names(&file);
    for row in ["cargo gpubench", "referee", "author", "worker", "device"] {
        assert!(rows.contains(row), "{row} is not in {rows:?}");
    }
    for name in [
        "builds the libraries",
        "opens its device",
        "is set up",
        "inputs",
        "reference",
        "early check",
        "from go to done",
        "ends",
    ] {
        assert!(names.contains(name), "{name} is not in {names:?}");
    }
}

#[test]
fn a_timeline_is_written_even_if_the_run_fails_and_not_over_other_output() {
    let folder = RunFolder::new();
    let file = folder.path("timeline.json").into_string();
    let _ = traced(&file).args(["--axis", "no_such_axis=1"]).finish().expect_code(2);
    assert!(rows_and_names(&file).1.contains("builds the libraries"));
    std::fs::remove_file(&file).expect("it was written");
    let refused = traced(&file).args(["--export-json", &file]).finish();
    assert!(refused.stderr.contains("--trace"), "{}", refused.stderr);
    assert!(!std::path::Path::new(&file).exists());
}
