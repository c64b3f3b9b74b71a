//! Faults that an earlier observer of CUDA programs had, as a user of this one would notice them.
//! `docs/observation.md` lists them with all tests about them.

use std::process::Command;

use gpubench_tests::repository;
use regex::Regex;
use serde_json::Value;

use crate::double::{can_observe, compiled, finished, kernels, probe, program, stderr};

/// The last record of an observation of the program that does what the words say. No sample is
/// taken before it has ended.
fn observed(words: &[&str]) -> Value {
    observed_program(&program(), words)
}

fn observed_program(program: &str, words: &[&str]) -> Value {
    let options = ["--message-format", "json", "--quiet", "--interval", "1h", "--", program];
    let output = probe(&options).args(words).output().expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let finished = finished(&output);
    assert_eq!(finished["calls"]["lost_events"], 0, "{finished:#}");
    finished
}

/// The row of a table whose field has a value.
fn row<'a>(finished: &'a Value, table: &str, field: &str, value: &str) -> &'a Value {
    let rows = finished["calls"][table].as_array().expect("a table");
    let found = rows.iter().find(|row| row[field] == value);
    found.unwrap_or_else(|| panic!("`{value}` in {finished:#}"))
}

#[test]
fn thousands_of_allocations_between_two_samples_are_all_told() {
    if !can_observe("thousands_of_allocations_between_two_samples_are_all_told") {
        return;
    }
    let finished = observed(&["allocate", "4000"]);
    let memory = row(&finished, "memory", "kind", "device");
    assert_eq!(
        (&memory["allocations"], &memory["unfreed"]),
        (&4000.into(), &4000.into())
    );
    assert_eq!(memory["unfreed_bytes"], 32_000);
}

#[test]
fn a_process_of_many_threads_is_one_process_and_seen_to_its_last_thread() {
    if !can_observe("a_process_of_many_threads_is_one_process_and_seen_to_its_last_thread") {
        return;
    }
    let finished = observed(&["many-threads", "1203"]);
    assert_eq!(finished["calls"]["processes"].as_array().map(Vec::len), Some(1));
    assert_eq!(row(&finished, "memory", "kind", "device")["allocations"], 1203);
    assert_eq!(kernels(&finished), [("in_thread".to_owned(), 1203)]);
}

#[test]
fn a_thread_that_frees_first_stops_nothing() {
    if !can_observe("a_thread_that_frees_first_stops_nothing") {
        return;
    }
    let finished = observed(&["free-first"]);
    assert_eq!(finished["calls"]["unknown_frees"], 1);
    let memory = row(&finished, "memory", "kind", "device");
    assert_eq!(
        (&memory["allocations"], &memory["unfreed_bytes"]),
        (&1.into(), &4096.into())
    );
}

#[test]
fn copies_have_their_direction_and_those_that_wait_a_bandwidth() {
    if !can_observe("copies_have_their_direction_and_those_that_wait_a_bandwidth") {
        return;
    }
    let finished = observed(&["copies"]);
    for (direction, has_bandwidth) in [
        ("host-to-device", true),
        ("device-to-host", true),
        ("device-to-device", false),
        ("peer-to-peer", false),
    ] {
        let copies = row(&finished, "copies", "direction", direction);
        assert_eq!(copies["bandwidth"].is_f64(), has_bandwidth, "{copies:#}");
    }
    // One of 12 bytes, and one of 5 rows of 10.
    let copies = row(&finished, "copies", "direction", "device-to-host");
    assert_eq!((&copies["copies"], &copies["bytes"]), (&2.into(), &62.into()));
}

#[test]
fn a_copy_that_failed_is_an_error_and_no_copy() {
    if !can_observe("a_copy_that_failed_is_an_error_and_no_copy") {
        return;
    }
    let finished = observed(&["errors"]);
    let copies = row(&finished, "copies", "direction", "host-to-device");
    assert_eq!((&copies["copies"], &copies["bytes"]), (&1.into(), &6.into()));
    assert_eq!(
        row(&finished, "errors", "call", "cuMemcpyHtoD")["name"],
        "CUDA_ERROR_INVALID_VALUE"
    );
    // Each code has its own row.
    assert_eq!(row(&finished, "errors", "call", "cuMemAlloc")["code"], 2);
    assert_eq!(row(&finished, "errors", "call", "cuCtxSetLimit")["code"], 700);
}

#[test]
fn kernels_of_stripped_programs_at_fixed_addresses_have_names() {
    if !can_observe("kernels_of_stripped_programs_at_fixed_addresses_have_names") {
        return;
    }
    let source = repository().join("crates/gpubench-observe/tests/observer/double/program.c");
    let fixed = compiled("fixed");
    let compiler = Command::new("cc")
        .args([
            "-O0",
            "-w",
            "-no-pie",
            "-s",
            "-o",
            &fixed,
            source.as_str(),
            &compiled("libcuda.so.1"),
        ])
        .args(["-pthread", "-ldl"])
        .status();
    assert!(compiler.is_ok_and(|status| status.success()), "`program.c` compiles");
    let finished = observed_program(&fixed, &["short"]);
    assert_eq!(kernels(&finished), [("short_lived".to_owned(), 1)]);
}

#[test]
fn every_way_to_launch_and_every_kind_of_memory_is_told() {
    if !can_observe("every_way_to_launch_and_every_kind_of_memory_is_told") {
        return;
    }
    let launched = observed(&["launches"]);
    let work = &launched["calls"]["work"];
    for kind in [
        "plain_launches",
        "extended_launches",
        "cooperative_launches",
        "graph_launches",
    ] {
        assert_eq!(work[kind], 1, "{kind}: {work:#}");
    }
    assert!(observed(&["capture"])["calls"]["work"]["captured_launches"].as_u64() > Some(0));
    let finished = observed(&["memory"]);
    for kind in [
        "device",
        "stream-ordered",
        "pool",
        "managed",
        "pinned",
        "registered",
        "physical",
        "array",
    ] {
        let memory = row(&finished, "memory", "kind", kind);
        assert_eq!(memory["allocations"], memory["frees"], "{memory:#}");
        assert_eq!(memory["unfreed"], 0, "{memory:#}");
    }
}

#[test]
fn a_process_that_is_killed_in_a_call_ends_the_observation_with_its_results() {
    if !can_observe("a_process_that_is_killed_in_a_call_ends_the_observation_with_its_results") {
        return;
    }
    let output = probe(&["--message-format", "json", "--quiet", "--", &program(), "die-in-call"])
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(137), "{}", stderr(&output));
    assert_eq!(finished(&output)["signal"], 9);
}

#[test]
fn each_fault_in_the_document_has_tests_that_exist() {
    let text = std::fs::read_to_string(repository().join("docs/observation.md")).expect("the document is there");
    let faults: Vec<&str> = text.lines().filter(|line| line.starts_with("### ")).collect();
    assert_eq!(faults.len(), 16, "{faults:#?}");
    let sections = text.split("\n### ").skip(1);
    let sources = sources();
    let name = Regex::new(r"`([a-z]+(?:_[a-z0-9]+){3,})`").expect("a pattern");
    for section in sections {
        let tests: Vec<&str> = name
            .captures_iter(section)
            .map(|found| found.extract::<1>().1[0])
            .collect();
        assert!(!tests.is_empty(), "{section}");
        for test in tests {
            assert!(sources.contains(&format!("fn {test}()")), "`{test}`");
        }
    }
}

/// The sources with tests about observation, one after the other.
fn sources() -> String {
    let folders = [
        "tests/tests/probe",
        "crates/gpubench-observe/tests/observer",
        "crates/gpubench-observe/src/ledger",
        "crates/gpubench-observe/src/metrics",
    ];
    let files = folders.iter().flat_map(|folder| {
        let entries = std::fs::read_dir(repository().join(folder)).expect("a folder");
        entries.map(|entry| entry.expect("an entry").path())
    });
    let sources = files.filter(|file| file.extension().is_some_and(|end| end == "rs"));
    sources
        .map(|file| std::fs::read_to_string(file).expect("text"))
        .collect()
}
