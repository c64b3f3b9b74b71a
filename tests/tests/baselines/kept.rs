//! Where runs are saved, and which results are kept.
#![forbid(unsafe_code)]

use camino::Utf8Path;
use gpubench_tests::{Fixture, Role, Run, RunFolder, repository, slowed};
use rustix::process::Signal;
use serde_json::Value;

use crate::{comparison, loaded, paced, records, save_run, verdict_of};

#[test]
fn a_name_is_a_baseline_in_the_target_directory() {
    let target = RunFolder::new();
    let directory = target.path("target");
    let named = |run: Run| run.args(["--target-dir", directory.as_str()]);
    let run = target.lines("run.jsonl", records());
    let saved = named(loaded(&run)).args(["-s", "main"]).finish().expect_code(0);
    let file = directory.join("gpubench/baselines/main.json");
    assert!(
        saved.stderr.contains(&format!("Saved `main` ({file})")),
        "{}",
        saved.stderr
    );
    let compared = named(loaded("main"))
        .json()
        .args(["-b", "main"])
        .finish()
        .expect_code(0);
    assert_eq!(comparison(&compared.records())["baseline"]["name"], "main");
    let missing = named(loaded("main")).args(["-b", "mian"]).finish().expect_code(2);
    assert_eq!(missing.errors(), ["error: there is no baseline `mian`"]);
    assert!(missing.stderr.contains("did you mean `main`?"), "{}", missing.stderr);
    let schema = repository().join("crates/gpubench-store/schema/gpubench-run-v2.schema.json");
    let schema = serde_json::from_str(&std::fs::read_to_string(schema).expect("the schema is there")).expect("JSON");
    let stored: Value = serde_json::from_str(&std::fs::read_to_string(file).expect("it is there")).expect("JSON");
    assert!(
        jsonschema::validator_for(&schema)
            .expect("the schema is one")
            .is_valid(&stored)
    );
}

#[test]
fn a_baseline_can_be_compared_with_and_replaced_in_one_run() {
    let folder = RunFolder::new();
    let kept = folder.path("kept.json");
    let (before, after) = (
        folder.lines("before.jsonl", records()),
        folder.lines("after.jsonl", &slowed(records(), 1000.0)),
    );
    let save = |run: &str| loaded(run).args(["--save-baseline", kept.as_str()]);
    let _ = save(&before).finish().expect_code(0);
    let both = |run: &str| save(run).args(["--baseline", kept.as_str()]);
    let _ = both(&after).finish().expect_code(3);
    let _ = both(&after).finish().expect_code(0);
}

#[test]
fn a_loaded_run_equals_the_saved_one() {
    let folder = RunFolder::new();
    let saved = folder.path("saved.json");
    let run = folder.lines("run.jsonl", records());
    save_run(&run, &saved);
    let again = loaded(saved.as_str()).json().finish().expect_code(0).records();
    assert_eq!(again.all(), records());
    let chosen = loaded(saved.as_str())
        .json()
        .args(["walk"])
        .finish()
        .expect_code(0)
        .records();
    assert_eq!(chosen.results().count(), 1);
    let none = loaded(saved.as_str()).args(["run_away"]).finish().expect_code(4);
    assert!(none.errors()[0].contains("saved.json"), "{}", none.stderr);
}

/// Returns the path of a stored run.
fn file(path: &Utf8Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).expect("it is there")).expect("JSON")
}

#[test]
fn a_partial_run_does_not_replace_a_baseline_with_other_results() {
    let folder = RunFolder::new();
    let kept = folder.path("main.json");
    let run = folder.lines("run.jsonl", records());
    save_run(&run, &kept);
    let before = file(&kept);
    let part = paced().json().args(["walk", "--save-baseline", kept.as_str()]);
    let part = part.finish().expect_code(2);
    assert!(
        part.stderr.contains("has 1 result that this run does not measure"),
        "{}",
        part.stderr
    );
    assert!(part.stderr.contains("save under another name"), "{}", part.stderr);
    assert_eq!(part.stdout, "", "nothing was measured");
    assert_eq!(file(&kept), before);
}

#[test]
fn a_failed_benchmark_leaves_the_baseline_with_a_note() {
    let folder = RunFolder::new();
    let kept = folder.path("main.json");
    let run = folder.lines("run.jsonl", records());
    save_run(&run, &kept);
    let before = file(&kept);
    let broken = paced().json().args(["--features", "wrong"]);
    let broken = broken
        .args(["--save-baseline", kept.as_str()])
        .finish()
        .expect_code(100);
    let message = format!(
        "warning: `{kept}` is not replaced, because it has the good results of cases that fail now: `paced::steps::walk"
    );
    assert!(broken.stderr.contains(&message), "{}", broken.stderr);
    assert_eq!(file(&kept), before);
    let compared = paced()
        .json()
        .args(["--features", "wrong", "--baseline", kept.as_str()]);
    let compared = compared.finish().expect_code(100).records();
    assert_eq!(
        verdict_of(&compared, "steps::walk"),
        "now-fails",
        "as before the failure"
    );
}

#[test]
fn an_interrupted_run_is_not_saved_and_a_message_says_so() {
    let folder = RunFolder::new();
    let kept = folder.path("kept.json");
    let names = ["--exact", "answers::honest::n=600", "faults::loops_forever::n=600"];
    let run = Run::on(&Fixture::new("hostile")).briefly().json().args(names);
    let mut running = run
        .args(["--timeout", "10min", "--save-baseline", kept.as_str()])
        .start();
    running.wait_for_record("the case that hangs", |record| {
        record["reason"] == "benchmark-started" && record["benchmark"] == "faults::loops_forever"
    });
    running.wait_for_role(Role::Worker);
    running.signal(Signal::INT);
    let finished = running.finish().expect_code(130);
    assert!(finished.stderr.contains("is incomplete"), "{}", finished.stderr);
    assert_eq!(folder.names(), [""; 0]);
}

#[test]
fn listing_and_building_save_nothing() {
    let folder = RunFolder::new();
    let kept = folder.path("kept.json");
    for action in ["--list", "--no-run"] {
        let _ = paced()
            .args([action, "--save-baseline", kept.as_str()])
            .finish()
            .expect_code(0);
    }
    let discarded = ["--save-baseline", kept.as_str(), "--discard-baseline"];
    let _ = paced().args(["walk"]).args(discarded).finish().expect_code(0);
    assert_eq!(folder.names(), [""; 0]);
}
