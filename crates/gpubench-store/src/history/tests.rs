use camino::{Utf8Path, Utf8PathBuf};
use tempfile::TempDir;

use super::*;
use crate::StoreError;
use crate::tests::stored;
use gpubench_contract::{ChangeOrigin, DeviceIdentity, Metric, Mode, Revision};
use gpubench_diagnostic::{Expected, chain};
use gpubench_testing::on_gpu;

struct Folder {
    path: Utf8PathBuf,
    _kept: TempDir,
}

fn folder() -> Folder {
    let kept = tempfile::tempdir().unwrap();
    Folder {
        path: Utf8PathBuf::from_path_buf(kept.path().join("history")).unwrap(),
        _kept: kept,
    }
}

fn identity() -> DeviceIdentity {
    DeviceIdentity::from_run(&on_gpu().started)
}

fn entry(run_id: &str, value: f64) -> HistoryEntry {
    HistoryEntry {
        run_id: run_id.to_owned(),
        started_at: "2026-11-20T13:43:00Z".to_owned(),
        tool_version: "0.1.0".to_owned(),
        revision: None,
        cases: vec![HistoryCase {
            case: "suite::axpy".to_owned(),
            mode: Mode::Cold,
            metric: Metric::time(),
            gpu: None,
            value,
            twin_ns: None,
            ci95: Some([value * 0.99, value * 1.01]),
            n: 30,
            workers: 5,
        }],
    }
}

fn file(folder: &Utf8Path) -> Utf8PathBuf {
    file::path_of(folder, &identity())
}

fn read(folder: &Utf8Path) -> History {
    of_device(folder, &identity()).unwrap().unwrap()
}

fn ids(history: &History) -> Vec<&str> {
    history.entries.iter().map(|entry| entry.run_id.as_str()).collect()
}

#[test]
fn entries_read_back_in_the_order_of_the_appends() {
    let folder = folder();
    assert_eq!(of_device(&folder.path, &identity()).unwrap(), None);
    for (run_id, value) in [("a", 100.0), ("b", 103.0), ("c", 0.1 + 0.2)] {
        append(&folder.path, &identity(), &entry(run_id, value)).unwrap();
    }
    let history = read(&folder.path);
    assert_eq!(history.identity, identity());
    assert_eq!(history.entries[2], entry("c", 0.1 + 0.2));
    let values: Vec<f64> = history
        .values("suite::axpy", Mode::Cold, &Metric::time(), None)
        .iter()
        .map(|past| past.value)
        .collect();
    assert_eq!(values, [100.0, 103.0, 0.1 + 0.2]);
    assert!(
        history
            .values("suite::other", Mode::Cold, &Metric::time(), None)
            .is_empty()
    );
}

#[test]
fn the_modes_of_a_case_have_separate_values() {
    let folder = folder();
    let mut both = entry("a", 100.0);
    both.cases.push(HistoryCase {
        mode: Mode::Warm,
        value: 40.0,
        ..both.cases[0].clone()
    });
    append(&folder.path, &identity(), &both).unwrap();
    let history = read(&folder.path);
    let values = |mode| history.values("suite::axpy", mode, &Metric::time(), None)[0].value;
    assert_eq!((values(Mode::Cold), values(Mode::Warm)), (100.0, 40.0));
}

/// Returns the entries of a case that is 5 % slower from a run on, each run of a commit of its own.
fn with_step(runs: usize, step: usize) -> Vec<HistoryEntry> {
    let run = |position: usize| {
        let slower = if position < step { 1.0 } else { 1.05 };
        let mut entry = entry(
            &position.to_string(),
            1e4 * slower * (1.0 + (position % 3) as f64 / 1e3),
        );
        entry.revision = Some(Revision {
            commit: format!("c{position}"),
            branch: None,
            modified: position == step,
        });
        entry
    };
    (0..runs).map(run).collect()
}

#[test]
fn a_change_names_the_nearest_commits_without_local_changes() {
    let entries = with_step(30, 20);
    let found = changes(&Series::all(&entries)).remove(0);
    assert_eq!((found.len(), found[0].run), (1, 20));
    let commits = (
        found[0].last_commit_before.as_deref(),
        found[0].first_commit_after.as_deref(),
    );
    assert_eq!(
        commits,
        (Some("c19"), Some("c21")),
        "the sources of run 20 were modified"
    );
    assert_eq!((found[0].drift, found[0].origin), (None, ChangeOrigin::Case));
}

#[test]
fn a_change_of_the_gpu_is_a_break_and_no_change_of_level() {
    let mut entries = with_step(40, 20);
    for (position, entry) in entries.iter_mut().enumerate() {
        let gpu = if position < 20 { "GPU-a" } else { "GPU-b" };
        entry.cases[0].gpu = Some(gpu.to_owned());
    }
    let series = Series::all(&entries);
    let of_each: Vec<_> = series.iter().map(|series| (series.gpu, series.runs.len())).collect();
    assert_eq!(of_each, [(Some("GPU-b"), 20), (Some("GPU-a"), 20)]);
    assert_eq!(changes(&series), [[], []]);
}

#[test]
fn the_fence_of_a_gpu_comes_from_its_runs_and_from_those_of_unknown_ones() {
    let mut history = History {
        identity: identity(),
        entries: with_step(3, 3),
        tail: Tail::Whole,
    };
    history.entries[1].cases[0].gpu = Some("GPU-a".to_owned());
    history.entries[2].cases[0].gpu = Some("GPU-b".to_owned());
    let runs = |gpu| history.values("suite::axpy", Mode::Cold, &Metric::time(), gpu).len();
    assert_eq!((runs(Some("GPU-a")), runs(Some("GPU-c")), runs(None)), (2, 1, 3));
}

#[test]
fn a_drift_of_the_machine_is_known_from_the_twins() {
    let mut entries = with_step(40, 20);
    for (position, entry) in entries.iter_mut().enumerate() {
        entry.cases[0].twin_ns = Some(if position < 20 { 2e3 } else { 2.1e3 });
    }
    let found = changes(&Series::all(&entries)).remove(0);
    assert_eq!(found[0].origin, ChangeOrigin::Machine);
    assert!((found[0].drift.unwrap() - 1.05).abs() < 1e-9);
}

#[test]
fn small_changes_of_counts_matter() {
    let counted = |metric: Metric| {
        let mut entries = with_step(40, 20);
        for (position, entry) in entries.iter_mut().enumerate() {
            entry.cases[0].value = if position < 20 { 1e6 } else { 1.004e6 };
            entry.cases[0].metric = metric.clone();
        }
        changes(&Series::all(&entries)).remove(0).len()
    };
    assert_eq!((counted(Metric::instructions()), counted(Metric::time())), (1, 0));
}

#[test]
fn entries_of_older_versions_have_neither_gpu_nor_twin() {
    let line = r#"{"run_id":"a","started_at":"2026-11-20T13:43:00Z","tool_version":"0.1.0","revision":null,"cases":[{"case":"suite::axpy","value":100.0,"ci95":null,"n":30,"workers":5}]}"#;
    let folder = folder();
    std::fs::create_dir_all(&folder.path).unwrap();
    let head = serde_json::to_string(&HistoryHead::new(identity())).unwrap();
    std::fs::write(file(&folder.path), format!("{head}\n{line}\n")).unwrap();
    let case = &read(&folder.path).entries[0].cases[0];
    assert_eq!((case.gpu.as_deref(), case.twin_ns), (None, None));
}

#[test]
fn entries_without_a_mode_are_warm_if_nothing_was_flushed() {
    let folder = folder();
    let without_flush = DeviceIdentity {
        flush: None,
        flush_bytes: Some(0),
        ..identity()
    };
    append(&folder.path, &without_flush, &entry("a", 100.0)).unwrap();
    let text = std::fs::read_to_string(file::path_of(&folder.path, &without_flush)).unwrap();
    assert!(!text.contains("\"mode\""), "{text}");
    let history = of_device(&folder.path, &without_flush).unwrap().unwrap();
    assert_eq!(history.entries[0].cases[0].mode, Mode::Warm);
}

#[test]
fn entries_with_a_mode_keep_it_if_nothing_was_flushed() {
    let folder = folder();
    let without_flush = DeviceIdentity {
        flush: None,
        flush_bytes: Some(0),
        ..identity()
    };
    let mut graph = entry("a", 100.0);
    graph.cases[0].mode = Mode::Graph;
    append(&folder.path, &without_flush, &graph).unwrap();
    let history = of_device(&folder.path, &without_flush).unwrap().unwrap();
    assert_eq!(history.entries, [graph]);
}

#[test]
fn only_an_unmodified_commit_identifies_the_sources_of_a_run() {
    let folder = folder();
    let revision = |modified| Revision {
        commit: "0123456789".to_owned(),
        branch: None,
        modified,
    };
    for revision in [None, Some(revision(false)), Some(revision(true))] {
        let entry = HistoryEntry {
            revision,
            ..entry("a", 1.0)
        };
        append(&folder.path, &identity(), &entry).unwrap();
    }
    let history = read(&folder.path);
    let sources: Vec<Option<&str>> = history
        .values("suite::axpy", Mode::Cold, &Metric::time(), None)
        .iter()
        .map(|past| past.sources)
        .collect();
    assert_eq!(sources, [None, Some("0123456789"), None]);
}

#[test]
fn only_cases_that_passed_are_kept() {
    let run = stored(&on_gpu());
    let kept = HistoryEntry::from_run(&run);
    let passed = run
        .results
        .iter()
        .filter(|result| result.verdict == gpubench_contract::Verdict::Pass);
    assert_eq!(kept.cases.len(), passed.count());
    assert!(kept.cases.len() < run.results.len());
    assert_eq!(kept.cases[0].case, "suite::axpy::add_one::n=1024");
}

#[test]
fn each_device_has_a_separate_history() {
    let folder = folder();
    let other = DeviceIdentity {
        driver: None,
        ..identity()
    };
    append(&folder.path, &identity(), &entry("a", 1.0)).unwrap();
    append(&folder.path, &other, &entry("b", 1.0)).unwrap();
    assert_eq!(ids(&read(&folder.path)), ["a"]);
    assert_eq!(all(&folder.path).unwrap().len(), 2);
}

#[test]
fn a_history_keeps_the_latest_runs() {
    let folder = folder();
    append(&folder.path, &identity(), &entry("first", 1.0)).unwrap();
    let line = serde_json::to_string(&entry("filler", 1.0)).unwrap() + "\n";
    let text = std::fs::read_to_string(file(&folder.path)).unwrap();
    std::fs::write(file(&folder.path), text + &line.repeat(MOST_RUNS - 2)).unwrap();
    append(&folder.path, &identity(), &entry("500th", 1.0)).unwrap();
    assert_eq!(ids(&read(&folder.path))[0], "first");
    append(&folder.path, &identity(), &entry("501st", 1.0)).unwrap();
    let history = read(&folder.path);
    assert_eq!(history.entries.len(), MOST_RUNS);
    assert_eq!((ids(&history)[0], ids(&history)[MOST_RUNS - 1]), ("filler", "501st"));
}

#[test]
fn the_unfinished_line_of_a_killed_writer_is_skipped_and_then_cut_off() {
    let folder = folder();
    append(&folder.path, &identity(), &entry("a", 1.0)).unwrap();
    let whole = std::fs::read(file(&folder.path)).unwrap();
    let line = serde_json::to_vec(&entry("b", 1.0)).unwrap();
    for length in [1, line.len() / 2, line.len()] {
        std::fs::write(file(&folder.path), [&whole, &line[..length]].concat()).unwrap();
        let history = read(&folder.path);
        assert_eq!((ids(&history), history.tail), (vec!["a"], Tail::Unfinished), "{length}");
        let appended = append(&folder.path, &identity(), &entry("c", 1.0)).unwrap();
        assert_eq!(appended.tail, Tail::Unfinished);
        let history = read(&folder.path);
        assert_eq!((ids(&history), history.tail), (vec!["a", "c"], Tail::Whole), "{length}");
    }
}

#[test]
fn a_file_that_is_not_a_history_is_rejected_and_unchanged() {
    let folder = folder();
    std::fs::create_dir_all(&folder.path).unwrap();
    let of_version = |format_version| {
        let head = HistoryHead {
            format_version,
            ..HistoryHead::new(identity())
        };
        serde_json::to_string(&head).unwrap() + "\n"
    };
    for (text, words) in [
        ("notes of mine\n".to_owned(), "not a history"),
        (r#"{"format":"other"}"#.to_owned(), "not a history"),
        (of_version(1), "a history in format version 1"),
        (of_version(3), "format version 3"),
    ] {
        std::fs::write(file(&folder.path), &text).unwrap();
        for error in [
            of_device(&folder.path, &identity()).unwrap_err(),
            append(&folder.path, &identity(), &entry("a", 1.0)).unwrap_err(),
        ] {
            assert!(chain(&error).contains(words), "{error}");
            assert!(error.hint().is_some());
        }
        assert_eq!(std::fs::read_to_string(file(&folder.path)).unwrap(), text);
    }
}

#[test]
fn a_folder_that_cannot_be_created_is_found_before_the_run() {
    let folder = folder();
    ensure_writable(&folder.path, &identity()).unwrap();
    assert_eq!(
        of_device(&folder.path, &identity()).unwrap(),
        None,
        "nothing is created"
    );
    let file = folder.path.join("file");
    std::fs::write(&file, "").unwrap();
    let error = ensure_writable(&file.join("history"), &identity()).unwrap_err();
    assert!(matches!(error, StoreError::NotWritten { .. }), "{error:?}");
}

#[test]
fn a_damaged_line_in_the_middle_is_named() {
    let folder = folder();
    append(&folder.path, &identity(), &entry("a", 1.0)).unwrap();
    append(&folder.path, &identity(), &entry("b", 1.0)).unwrap();
    let text = std::fs::read_to_string(file(&folder.path)).unwrap();
    std::fs::write(file(&folder.path), text.replacen("\"run_id\":\"a\"", "\"run_id\":7", 1)).unwrap();
    let error = of_device(&folder.path, &identity()).unwrap_err();
    assert!(matches!(error, StoreError::HistoryLine { line: 2, .. }), "{error}");
}

/// The writers are threads of one process. Locks belong to open files, so threads exclude each
/// other as processes do.
#[test]
fn concurrent_writers_lose_nothing() {
    let folder = folder();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let path = &folder.path;
            scope.spawn(move || {
                for run in 0..25 {
                    append(path, &identity(), &entry(&format!("{writer}-{run}"), 1.0)).unwrap();
                }
            });
        }
    });
    let history = read(&folder.path);
    let mut seen = ids(&history);
    seen.sort_unstable();
    seen.dedup();
    assert_eq!((seen.len(), history.entries.len()), (100, 100));
}

#[test]
fn a_lock_that_is_never_released_is_an_error_with_its_holder() {
    let folder = folder();
    append(&folder.path, &identity(), &entry("a", 1.0)).unwrap();
    let lock = file(&folder.path).with_extension("lock");
    let held = std::fs::File::open(&lock).unwrap();
    held.lock().unwrap();
    let error = append(&folder.path, &identity(), &entry("b", 1.0)).unwrap_err();
    let text = chain(&error);
    let holder = format!("`{lock}` was locked by process {} (`", std::process::id());
    assert!(text.contains(&holder), "{text}");
    assert!(error.hint().is_some_and(|hint| hint.contains("wait for that process")));
    drop(held);
    append(&folder.path, &identity(), &entry("c", 1.0)).unwrap();
    assert_eq!(ids(&read(&folder.path)), ["a", "c"]);
}

#[test]
fn a_history_of_half_a_header_begins_again() {
    let folder = folder();
    append(&folder.path, &identity(), &entry("a", 100.0)).unwrap();
    let path = file(&folder.path);
    let text = std::fs::read_to_string(&path).unwrap();
    let header = text.lines().next().unwrap();
    std::fs::write(&path, header).unwrap();
    assert_eq!(
        (ids(&read(&folder.path)), read(&folder.path).tail),
        (vec![], Tail::Unfinished)
    );
    let appended = append(&folder.path, &identity(), &entry("b", 101.0)).unwrap();
    assert_eq!(appended.tail, Tail::Unfinished);
    assert_eq!(
        (ids(&read(&folder.path)), read(&folder.path).tail),
        (vec!["b"], Tail::Whole)
    );
}
