//! Baselines: what is saved, compared and refused, and what is left when the tool is killed.
#![forbid(unsafe_code)]

use std::os::unix::fs::MetadataExt;
use std::sync::OnceLock;
use std::time::Duration;

use camino::Utf8Path;
use gpubench_tests::{Ending, Fixture, Records, Role, Run, RunFolder, repository, slowed, wait_until};
use rustix::process::Signal;
use serde_json::{Value, json};

/// A run with enough samples for a comparison, from five workers.
fn paced() -> Run {
    Run::on(&Fixture::of("paced"))
        .args(["--min-samples", "40", "--max-samples", "40", "--max-time", "1min"])
        .args(["--flush-bytes", "256KiB", "--threads", "1"])
}

/// Nothing is measured: a stored run takes the place of a run.
fn loaded(run: &str) -> Run {
    Run::on(&Fixture::of("paced")).args(["--load-baseline", run])
}

/// The records of one run of all cases. Its times vary with the machine; what tests compare with it are copies of it.
fn records() -> &'static [Value] {
    static RECORDS: OnceLock<Records> = OnceLock::new();
    let run = || paced().json().finish().expect_code(0).records();
    RECORDS.get_or_init(run).all()
}

fn comparison(records: &Records) -> &Value {
    records.the("comparison-complete")
}

fn verdict_of(records: &Records, benchmark: &str) -> Value {
    let rows = comparison(records)["rows"].as_array().expect("a list");
    let found = rows.iter().find(|row| row["benchmark"] == benchmark);
    found.unwrap_or_else(|| panic!("no row for `{benchmark}`"))["verdict"].clone()
}

#[test]
fn a_kernel_that_became_slower_is_a_regression_and_the_exit_code_3() {
    let folder = RunFolder::new();
    let baseline = folder.path("before.json");
    let saving = paced().args(["--save-baseline", baseline.as_str()]);
    let saved = saving.finish().expect_code(0);
    assert!(saved.stderr.contains("Saved"), "{}", saved.stderr);
    let slower = paced().args(["--features", "slow", "--baseline", baseline.as_str()]);
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
    let after = folder.lines("after.jsonl", &slowed(records(), 4.0));
    let judged = |arguments: &[&'static str]| {
        let run = loaded(&after).json().args(["--baseline", &before]);
        run.args(arguments.iter().copied()).finish()
    };
    let failed = judged(&[]).expect_code(3).records();
    assert_eq!(verdict_of(&failed, "steps::walk"), "regressed");
    let shown = judged(&["--no-fail-on-regression"]).expect_code(0).records();
    assert_eq!(verdict_of(&shown, "steps::walk"), "regressed");
    let noise = judged(&["--noise-threshold", "0.999"]);
    assert_eq!(noise.ending, Ending::Code(3), "400 % is more than 99.9 %");
}

#[test]
fn a_run_is_no_change_from_itself() {
    let folder = RunFolder::new();
    let run = folder.lines("run.jsonl", records());
    let records = loaded(&run)
        .json()
        .args(["--compare", &run])
        .finish()
        .expect_code(0)
        .records();
    let rows = comparison(&records)["rows"].as_array().expect("a list").clone();
    assert_eq!(rows.len(), 2);
    for row in rows {
        assert!(
            ["no-change", "inconclusive"].contains(&row["verdict"].as_str().expect("a text")),
            "{row:#}"
        );
        assert_eq!(row["change"]["ratio"], 1.0);
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
    let schema = repository().join("cargo-gpubench/schema/gpubench-v1.schema.json");
    let schema = serde_json::from_str(&std::fs::read_to_string(schema).expect("the schema is there")).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("the schema is one");
    assert!(validator.is_valid(comparison(&records)));
}

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
    let schema = repository().join("cargo-gpubench/schema/gpubench-run-v1.schema.json");
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
        folder.lines("after.jsonl", &slowed(records(), 4.0)),
    );
    let save = |run: &str| loaded(run).args(["--save-baseline", kept.as_str()]);
    let _ = save(&before).finish().expect_code(0);
    let both = |run: &str| save(run).args(["--baseline", kept.as_str()]);
    let _ = both(&after).finish().expect_code(3);
    let _ = both(&after).finish().expect_code(0);
}

#[test]
fn what_is_loaded_is_what_was_saved() {
    let folder = RunFolder::new();
    let saved = folder.path("saved.json");
    let run = folder.lines("run.jsonl", records());
    let _ = loaded(&run)
        .args(["--save-baseline", saved.as_str()])
        .finish()
        .expect_code(0);
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

#[test]
fn benchmarks_that_the_baseline_lacks_are_named_before_anything_is_measured() {
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

/// The file of a stored run.
fn file(path: &Utf8Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).expect("it is there")).expect("JSON")
}

#[test]
fn a_run_of_some_benchmarks_replaces_theirs_and_leaves_the_others_in_the_baseline() {
    let folder = RunFolder::new();
    let kept = folder.path("main.json");
    let run = folder.lines("run.jsonl", records());
    let _ = loaded(&run)
        .args(["--save-baseline", kept.as_str()])
        .finish()
        .expect_code(0);
    let part = paced().json().args(["walk", "--save-baseline", kept.as_str()]);
    let part = part.finish().expect_code(0);
    assert!(part.stderr.contains("Kept 1 result in"), "{}", part.stderr);
    let stored = file(&kept);
    let results = stored["results"].as_array().expect("a list");
    let of_run = |result: &Value| result["run_id"] == stored["run"]["run_id"];
    let of_this_run: Vec<bool> = results.iter().map(of_run).collect();
    assert_eq!(of_this_run.iter().filter(|own| **own).count(), 1);
    assert_eq!(results.len(), 2);
    assert_eq!(stored["run"]["earlier_runs"].as_array().map(Vec::len), Some(1));
    let junit = folder.path("junit.xml");
    let compared = loaded(kept.as_str())
        .json()
        .args(["--baseline", kept.as_str(), "--export-junit", junit.as_str()])
        .finish();
    let records = compared.expect_code(0).records();
    let median = |case: &str| {
        let page = std::fs::read_to_string(&junit).expect("it is written");
        let shown = page.split("<testcase ").find(|shown| shown.contains(case));
        let shown = shown.and_then(|shown| Some(shown.split_once("median ")?.1.split_once(" ±")?.0.to_owned()));
        shown.unwrap_or_else(|| panic!("no median of {case} in {page}"))
    };
    assert_ne!(median("walk"), median("stroll"), "each has its own figures");
    assert_eq!(comparison(&records)["baseline"]["earlier_results"], 1);
    let again = folder.lines("again.jsonl", records.all());
    let _ = loaded(&again)
        .args(["--baseline", kept.as_str()])
        .finish()
        .expect_code(0);
}

#[test]
fn results_of_another_device_are_not_kept_beside_new_ones_and_nothing_is_measured() {
    let folder = RunFolder::new();
    let kept = folder.path("main.json");
    let run = folder.lines("run.jsonl", records());
    let _ = loaded(&run)
        .args(["--save-baseline", kept.as_str()])
        .finish()
        .expect_code(0);
    let part = paced()
        .json()
        .args(["walk", "--flush", "write", "--save-baseline", kept.as_str()]);
    let part = part.finish().expect_code(2);
    assert!(part.stderr.contains("keeps 1 result "), "{}", part.stderr);
    assert_eq!(part.stdout, "");
}

#[test]
fn what_filters_leave_out_is_not_called_removed() {
    let folder = RunFolder::new();
    let before = folder.lines("before.jsonl", records());
    let run = loaded(&before).json().args(["walk", "--baseline", &before]);
    let records = run.finish().expect_code(0).records();
    assert_eq!(comparison(&records)["removed"], json!([]));
    assert_eq!(comparison(&records)["rows"].as_array().map(Vec::len), Some(1));
}

#[test]
fn what_another_machine_has_its_part_in_is_not_called_removed() {
    let folder = RunFolder::new();
    let baseline = folder.path("before.json").into_string();
    let both = || {
        Run::on(&Fixture::of("paced"))
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
fn another_device_is_not_compared_unless_that_is_asked_for() {
    let folder = RunFolder::new();
    let before = folder.lines("before.jsonl", records());
    let mut other = slowed(records(), 4.0);
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
fn a_failed_benchmark_is_worse_than_a_regression_and_is_no_figure_afterwards() {
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
fn a_run_that_was_cut_short_is_a_baseline_with_a_warning() {
    let folder = RunFolder::new();
    let whole = folder.lines("whole.jsonl", records());
    let short = folder.lines("short.jsonl", &records()[..3]);
    let lenient = ["--baseline-lenient", &short];
    let compared = loaded(&whole).json().args(lenient).finish().expect_code(0);
    assert!(
        compared.stderr.contains("did not come to its end"),
        "{}",
        compared.stderr
    );
    assert_eq!(comparison(&compared.records())["new"].as_array().map(Vec::len), Some(1));
}

#[test]
fn files_can_be_compared_where_there_is_no_workspace() {
    let folder = RunFolder::new();
    let before = folder.lines("before.jsonl", records());
    let after = folder.lines("after.jsonl", &slowed(records(), 4.0));
    let run = Run::outside_of_workspaces(&folder.path("."));
    let run = run.args(["--load-baseline", &after, "--baseline", &before]);
    let finished = run.finish().expect_code(3);
    assert_eq!(finished.stderr, "");
}

/// Thirteen runs whose medians go up and down by a fifth.
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
            case["median_ns"] = (case["median_ns"].as_f64().expect("a number") * factor).into();
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

/// The files that no run may be made of, and what is said of each.
fn unusable(folder: &RunFolder) -> Vec<(String, &'static str)> {
    let good = folder.path("good.json");
    let run = folder.lines("run.jsonl", records());
    let _ = loaded(&run)
        .args(["--save-baseline", good.as_str()])
        .finish()
        .expect_code(0);
    let text = std::fs::read_to_string(good).expect("it is saved");
    let newer = text.replacen("\"format_version\":1", "\"format_version\":2", 1);
    vec![
        (folder.file("truncated.json", &text[..text.len() / 2]), "is truncated"),
        (
            folder.file("foreign.json", "{\"name\": \"left-pad\"}\n"),
            "is no stored run",
        ),
        (folder.file("newer.json", newer), "has format version 2"),
        (folder.file("notes.json", "buy milk\n"), "is not JSON"),
    ]
}

#[test]
fn what_is_no_stored_run_is_refused_by_name_before_anything_is_measured_and_left_alone() {
    let folder = RunFolder::new();
    for (file, words) in unusable(&folder) {
        let contents = std::fs::read(&file).expect("it is there");
        for option in ["--baseline", "--save-baseline"] {
            let refused = paced().json().args([option, &file]).finish().expect_code(2);
            assert_eq!(refused.stdout, "", "{option} {file}");
            let error = refused.errors()[0];
            assert!(error.contains(&file) && error.contains(words), "{error}");
            assert!(refused.stderr.contains("(hint: "), "{}", refused.stderr);
        }
        assert_eq!(std::fs::read(&file).expect("it is there"), contents);
    }
    assert!(
        folder.names().iter().all(|name| !name.starts_with('.')),
        "{:?}",
        folder.names()
    );
}

#[test]
fn an_edited_baseline_is_refused() {
    let folder = RunFolder::new();
    let saved = folder.path("saved.json");
    let run = folder.lines("run.jsonl", records());
    let _ = loaded(&run)
        .args(["--save-baseline", saved.as_str()])
        .finish()
        .expect_code(0);
    let mut text = std::fs::read_to_string(&saved).expect("it is saved");
    let median = text.find("\"median_ns\":").expect("there is one") + "\"median_ns\":".len();
    text.insert(median, '1');
    std::fs::write(&saved, text).expect("it can be edited");
    let refused = loaded(&run)
        .args(["--baseline", saved.as_str()])
        .finish()
        .expect_code(2);
    assert!(
        refused.errors()[0].contains("was changed after it was written"),
        "{}",
        refused.stderr
    );
    let edited = slowed(records(), 2.0).into_iter().map(|mut record| {
        if record["stats"].is_object() {
            record["stats"]["median_ns"] = 1.into();
        }
        record
    });
    let lines = folder.lines("edited.jsonl", &edited.collect::<Vec<_>>());
    let refused = loaded(&run).args(["--baseline", &lines]).finish().expect_code(2);
    assert!(refused.stderr.contains("its samples say"), "{}", refused.stderr);
}

/// A run of many cases, so that saving it takes a while.
fn many_cases(folder: &RunFolder, name: &str, factor: f64) -> String {
    let slowed = slowed(records(), factor);
    let (started, finished) = (slowed[0].clone(), slowed[slowed.len() - 1].clone());
    let result = slowed
        .iter()
        .find(|record| record["reason"] == "benchmark-complete")
        .expect("a result");
    let case = |n: u64| {
        let mut case = result.clone();
        case["params"]["n"] = n.into();
        case["case"] = format!("steps::stroll::n={n}").into();
        case
    };
    let mut records = vec![started];
    records.extend((0..500).map(case));
    records.push(finished);
    let last = records.len() - 1;
    records[last]["passed"] = 500.into();
    folder.lines(name, &records)
}

fn is_whole(file: &Utf8Path) -> bool {
    loaded(file.as_str()).args(["-q"]).finish().ending == Ending::Code(0)
}

#[test]
fn a_save_that_is_killed_leaves_the_old_run_or_the_new_one() {
    let folder = RunFolder::new();
    let kept = folder.path("kept.json");
    let runs = [many_cases(&folder, "a.jsonl", 1.0), many_cases(&folder, "b.jsonl", 2.0)];
    let saving = |run: &str| loaded(run).args(["-q", "--save-baseline", kept.as_str()]);
    let mut wholes = Vec::new();
    for run in &runs {
        let _ = saving(run).finish().expect_code(0);
        wholes.push(results_of(&kept));
    }
    let half_written = folder.path(".kept.json.tmp");
    let inode = || kept.metadata().expect("it is there").ino();
    let mut cut_off = 0;
    for attempt in 0..12 {
        let before = inode();
        let running = saving(&runs[attempt % 2]).start();
        wait_until("the save", Duration::from_secs(60), || {
            let length = half_written.metadata().map_or(0, |file| file.len());
            (length > 0 || inode() != before).then_some(())
        });
        std::thread::sleep(Duration::from_micros(1500 * attempt as u64));
        running.signal(Signal::KILL);
        let _ = running.finish();
        cut_off += u32::from(half_written.exists());
        assert!(wholes.contains(&results_of(&kept)), "attempt {attempt}");
    }
    println!("{cut_off} of 12 saves were cut off");
    assert!(is_whole(&kept));
    let _ = saving(&runs[0]).finish().expect_code(0);
    assert_eq!(
        folder.names(),
        ["a.jsonl", "b.jsonl", "kept.json"],
        "what was left is gone"
    );
}

/// What a stored run says, without when it was saved.
fn results_of(file: &Utf8Path) -> Value {
    let stored: Value =
        serde_json::from_str(&std::fs::read_to_string(file).expect("it is there")).expect("it is whole");
    stored["results"].clone()
}

#[test]
fn a_full_disk_leaves_the_old_run_and_is_told() {
    let folder = RunFolder::new();
    let kept = folder.path("kept.json");
    let small = folder.lines("small.jsonl", records());
    let large = many_cases(&folder, "large.jsonl", 1.0);
    let _ = loaded(&small)
        .args(["--save-baseline", kept.as_str()])
        .finish()
        .expect_code(0);
    let before = std::fs::read(&kept).expect("it is saved");
    // 64 blocks of 512 bytes are more than the small run and less than the large one.
    let limited = Run::after("trap '' XFSZ; ulimit -f 64", &Fixture::of("paced"));
    let full = limited
        .args(["--load-baseline", &large, "--save-baseline", kept.as_str()])
        .finish()
        .expect_code(110);
    assert!(
        full.errors()[0].contains("could not write") && full.errors()[0].contains("kept.json"),
        "{}",
        full.stderr
    );
    assert_eq!(std::fs::read(&kept).expect("it is there"), before);
    assert_eq!(folder.names(), ["kept.json", "large.jsonl", "small.jsonl"]);
}

#[test]
fn an_interrupted_run_is_not_saved_and_says_so() {
    let folder = RunFolder::new();
    let kept = folder.path("kept.json");
    let names = ["--exact", "answers::honest::n=600", "faults::loops_forever::n=600"];
    let run = Run::on(&Fixture::of("hostile")).briefly().json().args(names);
    let mut running = run
        .args(["--timeout", "10min", "--save-baseline", kept.as_str()])
        .start();
    running.wait_for_record("the case that hangs", |record| {
        record["reason"] == "benchmark-started" && record["benchmark"] == "faults::loops_forever"
    });
    running.wait_for_role(Role::Worker);
    running.signal(Signal::INT);
    let finished = running.finish().expect_code(130);
    assert!(
        finished.stderr.contains("did not come to its end"),
        "{}",
        finished.stderr
    );
    assert_eq!(folder.names(), [""; 0]);
}

#[test]
fn what_is_only_listed_or_built_is_not_saved() {
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
