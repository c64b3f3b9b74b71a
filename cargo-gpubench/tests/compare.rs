//! `cargo gpubench compare` with real files and the real command.

mod run_folder;

use gpubench_contract::DeviceIdentity;
use gpubench_contract::Record;
use gpubench_contract::Verdict;
use gpubench_report::{JsonReporter, Output, Reporter};
use gpubench_store::history::{HistoryEntry, append};
use gpubench_store::testing::{Size, on_gpu, run};
use predicates::prelude::*;
use predicates::str::{contains, is_match};
use run_folder::Folder;

const SIZE: Size = Size {
    workers: 5,
    samples: 20,
};

impl Folder {
    /// Returns a folder with `before.json`, `same.json` of the same code, and `slower.json`, in
    /// which `axpy` takes 3 % longer.
    fn new() -> Folder {
        let folder = Folder::empty();
        folder.save("before.json", &run(1, &[("axpy", 1e5), ("softmax", 2e6)], SIZE));
        folder.save("same.json", &run(2, &[("axpy", 1e5), ("softmax", 2e6)], SIZE));
        folder.save("slower.json", &run(3, &[("axpy", 1.03e5), ("softmax", 2e6)], SIZE));
        folder
    }

    fn make_workspace(&self) {
        let manifest = "[package]\nname = \"x\"\nedition = \"2024\"\n";
        fs_err::write(self.path("Cargo.toml"), manifest).expect("a manifest");
        fs_err::create_dir_all(self.path("src")).expect("a folder");
        fs_err::write(self.path("src/lib.rs"), "").expect("a library");
    }
}

#[test]
fn a_kernel_that_is_3_percent_slower_exits_with_3_and_has_a_row() {
    Folder::new()
        .compare(&["before.json", "slower.json"])
        .code(3)
        .stdout(is_match(r"(?m)^axpy     ✗ regressed     100\.\d µs   10[23]\.\d µs   \+[23]\.\d\d%").expect("a regex"))
        .stdout(is_match(r"(?m)^softmax  = no change").expect("a regex"))
        .stdout(contains("1 regressed, 1 no change"))
        .stderr("");
}

#[test]
fn equal_code_and_a_tolerated_regression_exit_with_0() {
    let folder = Folder::new();
    folder
        .compare(&["before.json", "same.json"])
        .success()
        .stdout(contains("2 no change"));
    folder
        .compare(&["before.json", "slower.json", "--no-fail-on-regression"])
        .success()
        .stdout(contains("1 regressed"));
    folder
        .compare(&["before.json", "slower.json", "--noise-threshold", "5%"])
        .success()
        .stdout(contains("1 within noise"));
}

#[test]
fn lines_of_json_are_records_of_the_machine_contract() {
    let folder = Folder::new();
    let assert = folder
        .compare(&["before.json", "slower.json", "same.json", "--message-format", "json"])
        .code(3);
    let text = String::from_utf8(assert.get_output().stdout.clone()).expect("UTF-8");
    let names: Vec<String> = text
        .lines()
        .map(|line| match serde_json::from_str(line).expect("a record") {
            Record::ComparisonComplete(comparison) => comparison.candidate.name,
            other => panic!("another record: {other:?}"),
        })
        .collect();
    assert_eq!(names, ["slower.json", "same.json"]);
}

#[test]
fn the_comment_for_a_pull_request_goes_to_standard_output_and_to_a_file() {
    let folder = Folder::new();
    let assert = folder
        .compare(&[
            "before.json",
            "slower.json",
            "--message-format",
            "markdown",
            "--export-markdown",
            "comment.md",
        ])
        .code(3)
        .stdout(contains("| ❌ **regressed** | `axpy` |"))
        .stdout(contains("<summary>1 without a change</summary>"));
    let written = fs_err::read(folder.path("comment.md")).expect("the file");
    assert_eq!(written, assert.get_output().stdout);
}

#[test]
fn several_runs_are_each_compared_with_the_first() {
    Folder::new()
        .compare(&["before.json", "same.json", "slower.json"])
        .code(3)
        .stdout(is_match(r"(?m)^axpy +100\.\d µs +[-+]?0\.\d\d% = +\+[23]\.\d\d% ✗$").expect("a regex"))
        .stdout(contains("slower.json: ✗ 1 regressed, = 1 no change"));
}

#[test]
fn exported_records_of_a_run_are_compared_like_a_stored_one() {
    let folder = Folder::new();
    let exported = run(3, &[("axpy", 1.2e5), ("softmax", 2e6)], SIZE);
    let mut lines = JsonReporter::new(Output::file(&folder.path("run.json")).expect("a file"));
    lines.run_started(&exported.run, &[]).expect("it is written");
    for result in &exported.results {
        lines.benchmark_complete(result).expect("it is written");
    }
    lines
        .run_finished(exported.finished.as_ref().expect("a last record"))
        .expect("it is written");
    folder
        .compare(&["before.json", "run.json"])
        .code(3)
        .stdout(contains("1 regressed"));
}

#[test]
fn filters_select_benchmarks_and_no_match_exits_with_4() {
    let folder = Folder::new();
    folder
        .compare(&["before.json", "slower.json", "-f", "^softmax"])
        .success()
        .stdout(contains("1 no change").and(contains("axpy").not()));
    folder
        .compare(&["before.json", "slower.json", "-f", "gemm"])
        .code(4)
        .stderr(contains("`before.json` has no case that matches the filters"));
    folder
        .compare(&["before.json", "slower.json", "--threshold", "2%"])
        .code(3)
        .stdout(contains("\nsoftmax").not())
        .stdout(contains(
            "1 change is below the threshold of 2.00% (`-t`) and not shown\n",
        ));
}

#[test]
fn hidden_small_changes_are_counted_and_a_regression_among_them_fails() {
    let folder = Folder::new();
    let hidden = "2 changes are below the threshold of 50.0% (`-t`) and not shown";
    folder
        .compare(&["before.json", "slower.json", "--threshold", "50%"])
        .code(3)
        .stdout(contains("axpy").not())
        .stdout(contains("1 regressed, 1 no change\n"))
        .stdout(contains(format!("{hidden}, 1 of them regressed\n")));
    folder
        .compare(&["before.json", "same.json", "-t", "50%", "--message-format", "markdown"])
        .success()
        .stdout(contains("### `cargo gpubench`: 2 no change\n").and(contains(hidden)));
    folder
        .compare(&["before.json", "same.json", "slower.json", "-t", "50%"])
        .code(3)
        .stdout(contains("same.json: = 2 no change; 2 changes are below"));
}

#[test]
fn groups_without_matches_exit_with_4() {
    Folder::new()
        .compare(&["before.json", "slower.json", "-g", "(gemm)"])
        .code(4)
        .stdout("")
        .stderr(contains("`before.json` has no case whose name matches `(gemm)`"))
        .stderr(contains("(hint: names start with the package, as in `suite::axpy`)"));
}

#[test]
fn a_kernel_that_fails_after_passing_exits_with_100() {
    let folder = Folder::new();
    let mut broken = run(7, &[("axpy", 1.1e5), ("softmax", 2e6)], SIZE);
    broken.results[1].verdict = Verdict::WrongOutput;
    let counts = broken.finished.as_mut().expect("a last record");
    (counts.passed, counts.failed) = (1, 1);
    folder.save("broken.json", &broken);
    folder
        .compare(&["before.json", "broken.json"])
        .code(100)
        .stdout(is_match(r"(?m)threshold\nsoftmax  ✗ now fails: wrong-output$").expect("a regex"))
        .stdout(contains("\n1 now fails, 1 regressed\n"));
}

#[test]
fn runs_without_common_benchmarks_exit_with_4() {
    let folder = Folder::new();
    folder.save("other.json", &run(4, &[("gemm", 1e6)], SIZE));
    folder
        .compare(&["before.json", "other.json"])
        .code(4)
        .stdout(contains("1 new, 2 removed"));
}

#[test]
fn an_incomplete_run_is_a_warning() {
    let folder = Folder::new();
    let mut partial = run(4, &[("axpy", 1e5)], SIZE);
    partial.finished = None;
    folder.save("partial.json", &partial);
    folder
        .compare(&["before.json", "partial.json"])
        .success()
        .stdout(contains("1 removed"))
        .stderr(contains("the run in `partial.json` is incomplete"));
}

#[test]
fn benchmarks_with_other_names_are_matched_by_groups() {
    let folder = Folder::new();
    folder.save("renamed.json", &run(5, &[("fast_axpy", 0.9e5), ("other", 1.0)], SIZE));
    folder
        .compare(&["before.json", "renamed.json", "-g", "(axpy)"])
        .success()
        .stdout(contains("fast_axpy  ✓ improved"))
        .stdout(contains("  against axpy\n"))
        .stdout(contains("other").not());
}

#[test]
fn another_device_is_shown_next_to_the_first_and_compared_only_on_request() {
    let folder = Folder::new();
    let other = run(6, &[("axpy", 2e5), ("softmax", 2e6)], SIZE);
    folder.save("b200.json", &on_gpu("NVIDIA B200", other));
    folder
        .compare(&["before.json", "b200.json"])
        .success()
        .stdout(contains("axpy     100.0 µs fastest  200.1 µs 2.00×"))
        .stdout(contains("They compare devices, not code."))
        .stdout(contains("compared").not());
    folder
        .compare(&["before.json", "b200.json", "--allow-different-setups"])
        .code(3)
        .stdout(contains("! device: NVIDIA H200 in the baseline"));
}

#[test]
fn an_edited_file_is_refused() {
    let folder = Folder::new();
    let text = fs_err::read_to_string(folder.path("slower.json")).expect("the file");
    fs_err::write(folder.path("slower.json"), text.replacen("axpy", "axpz", 1)).expect("it is written");
    folder
        .compare(&["before.json", "slower.json"])
        .code(2)
        .stdout("")
        .stderr(contains("`slower.json`").and(contains("hint")));
}

#[test]
fn the_history_of_a_workspace_defines_noise_for_files_too() {
    let folder = Folder::new();
    folder.compare(&["before.json", "slower.json"]).code(3);
    folder.make_workspace();
    let history = folder.path("target/gpubench/history");
    for seed in 0..12 {
        let median = if seed % 2 == 0 { 1e5 } else { 1.1e5 };
        let past = run(100 + seed, &[("axpy", median)], SIZE);
        append(
            &history,
            &DeviceIdentity::from_run(&past.run),
            &HistoryEntry::from_run(&past),
        )
        .expect("it is added");
    }
    folder
        .compare(&["before.json", "slower.json"])
        .success()
        .stdout(contains("axpy     ~ within noise").and(contains("from the device's history")))
        .stdout(contains("! the history is too noisy to detect changes below 1"));
}

#[test]
fn baselines_are_found_in_the_target_directory_and_a_typo_has_a_suggestion() {
    let folder = Folder::new();
    folder.make_workspace();
    folder.save("target/gpubench/baselines/main.json", &run(1, &[("axpy", 1e5)], SIZE));
    folder.save("target/gpubench/baselines/slow.json", &run(2, &[("axpy", 1.1e5)], SIZE));
    folder
        .compare(&["main", "slow"])
        .code(3)
        .stdout(contains("baseline   main"))
        .stdout(contains("1 regressed"));
    folder
        .compare(&["mian", "slow"])
        .code(2)
        .stderr(contains("there is no baseline `mian`"))
        .stderr(contains(
            "(hint: did you mean `main`? existing baselines: `main`, `slow`)",
        ));
}

#[test]
fn baselines_are_listed_with_details_or_only_by_name() {
    let folder = Folder::new();
    folder.make_workspace();
    folder.save("target/gpubench/baselines/main.json", &run(1, &[("axpy", 1e5)], SIZE));
    folder.save("target/gpubench/baselines/slow.json", &run(2, &[("axpy", 1.1e5)], SIZE));
    let listed = folder.compare(&["--baselines"]).success();
    listed
        .stdout(contains("main  ").and(contains("slow  ")).and(contains(" UTC · ")))
        .stdout(contains("NVIDIA H200"));
    std::fs::write(folder.path("target/gpubench/baselines/torn.json"), "{").expect("it is written");
    let listed = folder.compare(&["--baselines"]).success();
    listed
        .stdout(contains("slow  "))
        .stderr(contains("warning: ").and(contains("torn.json")));
    let names = folder.compare(&["--baselines", "--quiet"]).success();
    names.stdout("main\nslow\ntorn\n").stderr("");
}
