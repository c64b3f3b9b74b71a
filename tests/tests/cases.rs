//! Lists of cases: `cases(..)` in the attribute, and what the command line makes of them.
#![forbid(unsafe_code)]

use gpubench_tests::{Fixture, Run};

fn shapes() -> Run {
    Run::on(&Fixture::new("shapes")).args(["--device", "cpu"])
}

/// Returns the names that a selection lists, without the benchmark's name.
fn listed(selection: &[&str]) -> Vec<String> {
    let words = ["--list"].iter().chain(selection).copied();
    let finished = shapes().args(words).finish().expect_code(0);
    let names = finished
        .stdout
        .lines()
        .map(|line| line.split_once("::").expect("params").1);
    names.map(str::to_owned).collect()
}

#[test]
fn each_tuple_is_one_case_and_groups_and_axes_multiply_out() {
    assert_eq!(
        listed(&["in_blocks"]),
        [
            "rows=1,cols=96,gain=2.0,threads=64,kind=few",
            "rows=1,cols=96,gain=2.0,threads=128,kind=many",
            "rows=16,cols=32,gain=0.5,threads=64,kind=few",
            "rows=16,cols=32,gain=0.5,threads=128,kind=many",
            "rows=3,cols=5,gain=1.5,threads=64,kind=few",
            "rows=3,cols=5,gain=1.5,threads=128,kind=many",
        ]
    );
    assert_eq!(listed(&["in_blocks::rows=16", "--skip", "few"]).len(), 1);
    assert_eq!(
        listed(&["multiplied", "--include-ignored"]),
        [
            "gain=2.0,rows=2,cols=4,threads=32,last=true",
            "gain=2.0,rows=2,cols=4,threads=64,last=false",
            "gain=2.0,rows=3,cols=4,threads=32,last=true",
            "gain=2.0,rows=3,cols=4,threads=64,last=false",
        ]
    );
    let parts = ["slice:1/2", "slice:2/2"].map(|part| listed(&["in_blocks", "--partition", part]));
    assert_eq!(parts.map(|names| names.len()), [3, 3]);
}

#[test]
fn every_case_of_a_list_passes_and_its_record_has_the_values() {
    let finished = shapes()
        .json()
        .args(["--test", "--include-ignored"])
        .finish()
        .expect_code(0);
    let records = finished.records();
    assert_eq!(
        records.results().filter(|result| result["verdict"] == "pass").count(),
        19
    );
    let result = records.result("in_blocks::rows=3,cols=5,gain=1.5,threads=128,kind=many");
    let params = serde_json::json!({"rows": 3, "cols": 5, "gain": 1.5, "threads": 128, "kind": "many"});
    assert_eq!(result["params"], params);
    assert_eq!(result["own_axes"].to_string(), r#"["threads","kind"]"#);
}

#[test]
fn values_for_all_axes_of_a_group_are_combined_and_for_some_are_refused() {
    let others = ["--axis", "threads=32,64", "--axis", "kind=x"];
    let chosen = ["in_blocks::rows=3", "in_blocks::.*gain=2"];
    assert_eq!(
        listed(&[&chosen[..], &others].concat()),
        [
            "rows=1,cols=96,gain=2.0,threads=32,kind=x",
            "rows=1,cols=96,gain=2.0,threads=64,kind=x",
            "rows=3,cols=5,gain=1.5,threads=32,kind=x",
            "rows=3,cols=5,gain=1.5,threads=64,kind=x",
        ]
    );
    let refused = shapes()
        .args(["--list", "in_blocks", "--axis", "rows=8"])
        .finish()
        .expect_code(2);
    let (_, error) = refused.stderr.split_once("error: ").expect("an error");
    insta::assert_snapshot!(error, @r"
    `in_blocks`: the values of `rows`, `cols`, `gain` belong together, and there are none for `cols`, `gain`
    (hint: add `--axis cols=..` and `--axis gain=..`, or choose among the cases with a filter such as `rows=1`)
    ");
}

#[test]
fn cases_come_from_the_columns_and_keys_of_files() {
    assert_eq!(
        listed(&["from_files", "--skip", "cols=32"]),
        [
            "cols=96,rows=1,gain=2.0,threads=64,kind=\"few, but enough\"",
            "cols=96,rows=1,gain=2.0,threads=128,kind=many",
            "cols=5,rows=3,gain=1.5,threads=64,kind=\"few, but enough\"",
            "cols=5,rows=3,gain=1.5,threads=128,kind=many",
        ]
    );
}

#[test]
fn a_range_of_powers_lists_them() {
    let others = [
        "--axis",
        "cols=3",
        "--axis",
        "gain=2",
        "--axis",
        "threads=32",
        "--axis",
        "kind=x",
    ];
    let names = listed(&[&["in_blocks", "--axis", "rows=2^4:2^8:2,7"], &others[..]].concat());
    let rows: Vec<_> = names.iter().filter_map(|name| name.split(',').next()).collect();
    assert_eq!(rows, ["rows=16", "rows=64", "rows=256", "rows=7"]);
}

#[test]
fn cases_that_cannot_be_listed_fail_their_benchmark_with_the_reason() {
    let words = ["--features", "mistaken", "--test", "partial", "misread"];
    let finished = shapes().args(words).finish().expect_code(100);
    let reasons = [
        "cannot be listed: the values of `rows`, `cols`, `gain` belong together, and there are none for `cols`, `gain`",
        "cannot be listed: src/shapes/mistaken.csv:3: `many`, the value of `threads`, is not a u32 (at src/lib.rs:",
    ];
    for reason in reasons {
        assert!(finished.stdout.contains(reason), "{}", finished.stdout);
    }
}

#[test]
fn a_baseline_is_paired_by_the_values_of_a_case() {
    let folder = tempfile::tempdir().expect("a folder");
    let baseline = folder.path().join("saved").to_str().expect("UTF-8").to_owned();
    let run = |words: &[&str]| {
        shapes()
            .briefly()
            .json()
            .args(["in_blocks"])
            .args(words.iter().copied())
    };
    let _ = run(&["--save-baseline", &baseline]).finish().expect_code(0);
    let other = [
        "--axis",
        "rows=3",
        "--axis",
        "cols=5,6",
        "--axis",
        "gain=1.5",
        "--axis",
        "threads=64",
        "--axis",
        "kind=few",
    ];
    let refused = run(&[&other[..], &["--baseline", &baseline]].concat())
        .finish()
        .expect_code(2);
    let lacking: Vec<_> = refused
        .stderr
        .lines()
        .filter(|line| line.starts_with("  in_blocks"))
        .collect();
    assert_eq!(lacking, ["  in_blocks::rows=3,cols=6,gain=1.5,threads=64,kind=few"]);
}

#[test]
fn an_attribute_sets_the_samples_and_workers_and_the_command_line_replaces_them() {
    let measured = |words: &[&str]| {
        let run = shapes().args(["--flush-bytes", "256KiB"]).json();
        let run = run.args(["--ignored", "--exact", "set::rows=3,cols=5,gain=1.5"]);
        let records = run.args(words.iter().copied()).finish().expect_code(0).records();
        let result = records.results().next().expect("a result").clone();
        let count = |key: &str| result[key].as_array().expect("a list").len();
        (count("samples"), count("workers"))
    };
    assert_eq!(measured(&[]), (3, 2));
    assert_eq!(
        measured(&["--max-samples", "6", "--min-samples", "6", "--workers", "3"]),
        (6, 3)
    );
}
