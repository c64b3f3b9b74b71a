//! The HTML report, written by a run or made from stored results. The browser tests check its
//! appearance.
#![forbid(unsafe_code)]

use camino::Utf8Path;
use gpubench_tests::{Finished, Fixture, Run, RunFolder};

const CASE: &str = "sums::one_thread_a_row::rows=33,cols=100";

fn text_of(path: &Utf8Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns a run of one case.
fn measured(arguments: &[&str]) -> Finished {
    let run = Run::on(&Fixture::new("tidy")).briefly().args(["--exact", CASE]);
    run.args(arguments.iter().copied()).finish()
}

/// Returns a run of `cargo gpubench report`.
fn reported(arguments: &[&str]) -> Finished {
    let run = Run::on_verb("report", &Fixture::new("tidy"));
    run.args(arguments.iter().copied()).finish()
}

/// Writes the records of a run to a file.
fn export(folder: &RunFolder, name: &str) -> String {
    let path = folder.path(name).into_string();
    let _ = measured(&["--export-json", &path]).expect_code(0);
    path
}

#[test]
fn a_run_writes_its_report_and_prints_the_path_to_standard_error() {
    let folder = RunFolder::new();
    let page = folder.path("new folder/page.html");
    let finished = measured(&["--report", &format!("html={page}"), "--message-format", "json"]).expect_code(0);
    assert_eq!(finished.records().results().count(), 1);
    let address = format!("file://{}", page.as_str().replace(' ', "%20"));
    assert!(
        finished.stderr.contains(&format!("Report {address}\n")),
        "{}",
        finished.stderr
    );
    let html = text_of(&page);
    assert!(html.contains("one_thread_a_row") && html.contains("rows=33,"), "{html}");
    assert!(html.contains("Times of the CPU device say nothing about a GPU."));
}

#[test]
fn a_report_without_a_path_is_in_the_target_directory() {
    let finished = measured(&["--report", "html"]).expect_code(0);
    let path = finished
        .stderr
        .lines()
        .find_map(|line| line.trim_start().strip_prefix("Report file://"));
    let page = Utf8Path::new(path.expect("the run prints the path"));
    assert!(page.ends_with("gpubench/report.html"), "{page}");
    assert!(text_of(page).starts_with("<!DOCTYPE html>"));
}

#[test]
fn an_unknown_report_format_is_refused_with_the_known_ones() {
    let finished = measured(&["--report", "pdf"]).expect_code(2);
    assert!(
        finished.stderr.contains("`pdf`") && finished.stderr.contains("`html=FILE`"),
        "{}",
        finished.stderr
    );
}

#[test]
fn an_unwritable_report_is_an_error_before_anything_is_measured() {
    let finished = measured(&["--report", "html=/proc/no/page.html", "--message-format", "json"]).expect_code(110);
    assert!(
        finished.stderr.contains("could not write `/proc/no/page.html`"),
        "{}",
        finished.stderr
    );
    assert_eq!(finished.stdout, "");
}

#[test]
fn a_report_of_stored_results_has_their_comparison_and_history() {
    let folder = RunFolder::new();
    let (first, second) = (export(&folder, "first.jsonl"), export(&folder, "second.jsonl"));
    let page = folder.path("page.html");
    let _ = reported(&[&second, &first, "--compare", &first, "-o", page.as_str()]).expect_code(0);
    let html = text_of(&page);
    assert!(html.contains("Compared with") && html.contains("first.jsonl"), "{html}");
    assert!(html.contains("1 earlier run and this one"), "{html}");
}

#[test]
fn a_run_with_other_measurement_settings_is_not_in_the_history() {
    let folder = RunFolder::new();
    let this = export(&folder, "this.jsonl");
    let other = text_of(Utf8Path::new(&this)).replace("\"flush_bytes\":262144", "\"flush_bytes\":524288");
    let other = folder.file("other.jsonl", other);
    let page = folder.path("page.html");
    let finished = reported(&[&other, &this, "-o", page.as_str()]).expect_code(0);
    assert!(finished.stderr.contains("is left out"), "{}", finished.stderr);
    assert!(!text_of(&page).contains("earlier run"));
}

#[test]
fn missing_files_and_other_files_are_refused_by_name() {
    let folder = RunFolder::new();
    let foreign = folder.file("foreign.json", "{\"format\": \"shopping-list\"}");
    for (name, reason) in [
        ("./missing.json", "no file"),
        (foreign.as_str(), "shopping-list"),
        ("no-such-baseline", "no baseline"),
    ] {
        let finished = reported(&[name, "-o", folder.path("page.html").as_str()]).expect_code(2);
        assert!(finished.stderr.contains(reason), "{name}: {}", finished.stderr);
    }
    assert!(!folder.path("page.html").exists());
}
