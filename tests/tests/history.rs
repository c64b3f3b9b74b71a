//! Histories: adding runs to them, also from several processes at once, and showing them.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;

use gpubench_tests::{Fixture, Run, RunFolder};
use serde_json::Value;

fn recorded(folder: &str) -> Run {
    let run = Run::on(&Fixture::new("paced"))
        .briefly()
        .args(["walk", "--workers", "1"]);
    run.args(["--history", "--history-dir", folder])
}

fn shown(folder: &str) -> Run {
    Run::on_verb("history", &Fixture::new("paced")).args(["--history-dir", folder])
}

#[test]
fn concurrent_runs_lose_no_records() {
    let folder = RunFolder::new();
    let history = folder.path("history").into_string();
    // The first run builds everything that the others need.
    let _ = recorded(&history).finish().expect_code(0);
    for _ in 0..3 {
        let at_once: Vec<_> = (0..4).map(|_| recorded(&history).start()).collect();
        for running in at_once {
            let _ = running.finish().expect_code(0);
        }
    }
    let records = shown(&history).json().finish().expect_code(0).records();
    let runs = records.the("benchmark-history")["runs"].as_array().expect("a list");
    let ids: BTreeSet<&str> = runs.iter().filter_map(|run| run["run_id"].as_str()).collect();
    assert_eq!((runs.len(), ids.len()), (13, 13));
    assert!(
        records.the("benchmark-history")["usual_change"].is_f64(),
        "there are more than ten runs"
    );
}

#[test]
fn host_code_that_locks_a_history_cannot_block_a_run() {
    let folder = RunFolder::new();
    let history = folder.path("history").into_string();
    let _ = recorded(&history).finish().expect_code(0);
    let files = folder.path("history").read_dir_utf8().expect("a folder").flatten();
    let mut locks = files.filter(|file| file.path().extension() == Some("lock"));
    let lock = locks.next().expect("a lock").into_path();
    let _ = recorded(&history)
        .env("PACED_HOLDS", lock.as_str())
        .finish()
        .expect_code(0);
    let records = shown(&history).json().finish().expect_code(0).records();
    let runs = records.the("benchmark-history")["runs"].as_array().expect("a list");
    assert_eq!(runs.len(), 2);
}

#[test]
fn a_history_has_a_line_per_run_and_the_case_names_of_the_list() {
    let folder = RunFolder::new();
    let history = folder.path("history").into_string();
    for _ in 0..2 {
        let added = recorded(&history).finish().expect_code(0);
        assert!(added.stderr.contains("Recorded run "), "{}", added.stderr);
    }
    let listed = Run::on(&Fixture::new("paced"))
        .args(["--list", "walk"])
        .finish()
        .expect_code(0)
        .stdout;
    let page = shown(&history)
        .args([&*format!("^{}$", listed.trim_end())])
        .finish()
        .expect_code(0)
        .stdout;
    assert!(
        page.lines()
            .any(|line| line == format!("{}  2 runs, times in UTC", listed.trim_end())),
        "{page}"
    );
    let by_full_name = shown(&history)
        .args(["^paced::steps::walk::n=1000$"])
        .finish()
        .expect_code(0)
        .stdout;
    assert_eq!(by_full_name, page);
    let rows = page.lines().filter(|line| line.starts_with("20"));
    assert_eq!(rows.count(), 2, "{page}");
}

#[test]
fn an_export_for_otava_names_its_files_and_the_next_command_and_is_found_from_any_folder() {
    let folder = RunFolder::new();
    let history = folder.path("history").into_string();
    let _ = recorded(&history).finish().expect_code(0);
    let otava = folder.path("otava");
    let export = shown(&history).args(["--export-otava", otava.as_str()]);
    let exported = export.finish().expect_code(0).stderr;
    let expected = format!(
        "    Exported `otava.yaml` and 1 CSV file to `{otava}`; \
         next: `otava analyze --config-file {otava}/otava.yaml all`\n"
    );
    assert_eq!(exported, expected);
    let configuration = std::fs::read_to_string(otava.join("otava.yaml")).expect("it can be read");
    let file = configuration
        .lines()
        .find_map(|line| line.trim().strip_prefix("file: "));
    let file: String = serde_json::from_str(file.expect("a file")).expect("a text");
    assert!(
        file.starts_with('/') && std::fs::exists(&file).expect("a path"),
        "{file}"
    );
}

#[test]
fn without_a_history_a_hint_says_how_to_start_one() {
    let folder = RunFolder::new();
    let nothing = shown(folder.path("nothing").as_str()).finish().expect_code(4);
    assert!(nothing.errors()[0].contains("no history in"), "{}", nothing.stderr);
    assert!(
        nothing.stderr.contains("`cargo gpubench --history`"),
        "{}",
        nothing.stderr
    );
    let history = folder.path("history").into_string();
    let _ = recorded(&history).finish().expect_code(0);
    let unknown = shown(&history)
        .args(["paced::steps::wlak::n=1000"])
        .finish()
        .expect_code(4);
    assert!(
        unknown.stderr.contains("did you mean `paced::steps::walk::n=1000`?"),
        "{}",
        unknown.stderr
    );
}

#[test]
fn a_damaged_history_is_refused_before_anything_is_measured_and_not_changed() {
    let folder = RunFolder::new();
    let history = folder.path("history").into_string();
    let _ = recorded(&history).finish().expect_code(0);
    let file = std::fs::read_dir(&history)
        .expect("there is a folder")
        .flatten()
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .expect("there is a history");
    let text = std::fs::read_to_string(&file).expect("it can be read");
    std::fs::write(&file, format!("{text}half a li")).expect("it can be written");
    let repaired = recorded(&history).finish().expect_code(0);
    assert!(
        repaired.stderr.contains("removed the incomplete last line"),
        "{}",
        repaired.stderr
    );
    let repaired = std::fs::read_to_string(&file).expect("it can be read");
    assert_eq!((repaired.lines().count(), repaired.starts_with(&text)), (3, true));
    for (version, message) in [(1, "is a history in format version 1"), (3, "has format version 3")] {
        let other = text.replacen("\"format_version\":2", &format!("\"format_version\":{version}"), 1);
        std::fs::write(&file, &other).expect("it can be written");
        let refused = recorded(&history).json().finish().expect_code(2);
        assert_eq!(refused.stdout, "");
        assert!(refused.errors()[0].contains(message), "{}", refused.stderr);
        assert_eq!(std::fs::read_to_string(&file).expect("it can be read"), other);
    }
}

#[test]
fn every_line_of_a_history_follows_its_schema() {
    let folder = RunFolder::new();
    let history = folder.path("history");
    let _ = recorded(history.as_str()).finish().expect_code(0);
    let files = history.read_dir_utf8().expect("there is a folder").flatten();
    let file = files
        .map(|entry| entry.into_path())
        .find(|path| path.extension() == Some("jsonl"));
    let text = std::fs::read_to_string(file.expect("there is a history")).expect("it can be read");
    let schemas = [
        "gpubench-history-head-v2.schema.json",
        "gpubench-history-entry-v2.schema.json",
    ];
    assert_eq!(text.lines().count(), 2);
    for (line, schema) in text.lines().zip(schemas) {
        let path = gpubench_tests::repository()
            .join("crates/gpubench-store/schema")
            .join(schema);
        let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).expect("it is there")).expect("JSON");
        let line = serde_json::from_str(line).expect("JSON");
        assert!(
            jsonschema::validator_for(&schema).expect("a schema").is_valid(&line),
            "{line:#}"
        );
    }
}
