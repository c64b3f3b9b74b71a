use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use gpubench_contract::{Record, Revision, WorkerShare};
use gpubench_diagnostic::{Expected, Explanation, chain};
use gpubench_stats::summary;
use gpubench_testing::{SampleRun, every_verdict, on_gpu};

/// Returns the records of a run, one per line, as in an export.
fn lines(run: &SampleRun) -> String {
    let line = |record: &Record| serde_json::to_string(record).unwrap() + "\n";
    run.records().iter().map(line).collect()
}

/// Returns a run as it is stored.
pub(crate) fn stored(run: &SampleRun) -> StoredRun {
    StoredRun {
        format: FORMAT.to_owned(),
        format_version: FORMAT_VERSION,
        saved_at: "2026-11-20T13:44:00Z".to_owned(),
        revision: Some(Revision {
            commit: "0123456789abcdef0123456789abcdef01234567".to_owned(),
            branch: Some("main".to_owned()),
            modified: false,
        }),
        run: run.started.clone(),
        results: run.results.clone(),
        finished: Some(run.finished.clone()),
    }
}

struct Folder {
    path: Utf8PathBuf,
    _kept: TempDir,
}

impl Folder {
    fn home(&self) -> Home {
        Home::in_target_directory(&self.path)
    }

    /// Writes a file and returns its path.
    fn file(&self, name: &str, text: impl AsRef<[u8]>) -> Utf8PathBuf {
        let path = self.path.join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Returns the text of an error without the folder's name.
    fn message(&self, error: &StoreError) -> String {
        let text = Explanation(error).to_string();
        anstream::adapter::strip_str(&text)
            .to_string()
            .replace(self.path.as_str(), "FOLDER")
    }
}

fn folder() -> Folder {
    let kept = tempfile::tempdir().unwrap();
    Folder {
        path: Utf8PathBuf::from_path_buf(kept.path().to_owned()).unwrap(),
        _kept: kept,
    }
}

fn text(run: &StoredRun) -> String {
    String::from_utf8(layout::text_of(run).unwrap()).unwrap()
}

/// Returns the text of an edited run with a correct digest.
fn rewritten(edit: impl FnOnce(&mut StoredRun)) -> String {
    let mut run = stored(&every_verdict());
    edit(&mut run);
    text(&run)
}

fn name(text: &str) -> RunName {
    text.parse().unwrap()
}

#[test]
fn a_saved_run_reads_back_unchanged() {
    let folder = folder();
    for run in [every_verdict(), on_gpu()] {
        let run = stored(&run);
        let destination = Destination::new(&name("main"), &folder.home()).unwrap();
        destination.save(&run, &Replaced::All).unwrap();
        assert_eq!(destination.path(), folder.path.join("gpubench/baselines/main.json"));
        assert_eq!(load(&name("main"), &folder.home()).unwrap(), run);
    }
    assert_eq!(folder.home().known(), ["main"]);
}

#[test]
fn a_file_with_a_word_that_was_renamed_is_refused_with_the_new_one() {
    let hint = |error| {
        let refused = StoreError::refused_by_json("run.json".into(), "does not match its format")(error);
        refused.hint().unwrap()
    };
    let grade = serde_json::from_str::<gpubench_contract::Grade>("\"advisory\"").unwrap_err();
    assert!(hint(grade).starts_with("`advisory` is called `unverified` now"));
    let work = r#"{"calls": 1, "kernels": 1.0, "copies": 0.0, "fills": 0.0, "busy_ns": 1.0, "span_ns": 1.0}"#;
    let work = serde_json::from_str::<gpubench_contract::DeviceWork>(work).unwrap_err();
    assert!(hint(work).starts_with("`fills` is called `memsets` now"));
}

#[test]
fn nothing_but_the_run_is_left_in_the_folder() {
    let folder = folder();
    let destination = Destination::new(&name("main"), &folder.home()).unwrap();
    assert_eq!(
        folder.path.join("gpubench/baselines").read_dir_utf8().unwrap().count(),
        0,
        "checking leaves no file"
    );
    destination.save(&stored(&on_gpu()), &Replaced::All).unwrap();
    let files: Vec<_> = folder
        .path
        .join("gpubench/baselines")
        .read_dir_utf8()
        .unwrap()
        .collect();
    assert_eq!(files.len(), 1);
}

#[test]
fn a_file_of_any_name_can_be_a_run() {
    let folder = folder();
    let path = folder.path.join("new/folder/run.json");
    Destination::new(&name(path.as_str()), &Home::ABSENT)
        .unwrap()
        .save(&stored(&on_gpu()), &Replaced::All)
        .unwrap();
    assert_eq!(load(&name(path.as_str()), &Home::ABSENT).unwrap(), stored(&on_gpu()));
}

#[test]
fn a_symbolic_link_is_kept() {
    let folder = folder();
    let file = folder.file("real.json", text(&stored(&on_gpu())));
    let link = folder.path.join("link.json");
    std::os::unix::fs::symlink(&file, &link).unwrap();
    save(&link, &stored(&every_verdict())).unwrap();
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert_eq!(read(&file).unwrap(), stored(&every_verdict()));
}

#[test]
fn the_lines_of_an_export_are_a_run() {
    let folder = folder();
    let path = folder.path.join("run.jsonl");
    let mut run = every_verdict();
    run.started.revision = stored(&run).revision;
    std::fs::write(&path, lines(&run)).unwrap();
    let read = read(&path).unwrap();
    assert_eq!(read.results, run.results);
    assert_eq!(read.revision, run.started.revision);
    assert_eq!((read.run, read.finished), (run.started, Some(run.finished)));
}

#[test]
fn records_that_later_versions_add_are_ignored() {
    let folder = folder();
    let path = folder.path.join("run.jsonl");
    let mut lines = lines(&on_gpu());
    lines += "{\"reason\":\"added-later\",\"schema_version\":2}\n\n";
    std::fs::write(&path, lines).unwrap();
    assert_eq!(read(&path).unwrap().results, on_gpu().results);
}

#[test]
fn a_stored_run_has_a_line_for_each_result() {
    let run = stored(&every_verdict());
    let text = text(&run);
    assert_eq!(text.lines().count(), 9 + run.results.len());
    assert!(
        text.lines().nth(7).unwrap().starts_with(r#"{"schema_version":2,"#),
        "{text}"
    );
}

#[test]
fn errors_name_the_file_and_a_remedy() {
    let folder = folder();
    let whole = text(&stored(&every_verdict()));
    let json = serde_json::from_str::<serde_json::Value>(&whole).unwrap();
    let mut older = json.clone();
    older["format_version"] = 1.into();
    let mut newer = json.clone();
    newer["format_version"] = 3.into();
    newer["run"]["tool_version"] = "0.9.0".into();
    let mut incomplete = json;
    incomplete["results"][0].as_object_mut().unwrap().remove("samples");
    let lines = lines(&on_gpu());
    let files = [
        ("empty", String::new()),
        ("truncated", whole[..whole.len() / 2].to_owned()),
        ("notes", "buy milk\n".to_owned()),
        ("list", "[1, 2]".to_owned()),
        ("package", r#"{"name": "left-pad", "version": "1.0.0"}"#.to_owned()),
        (
            "other",
            r#"{"format": "gpubench-history", "format_version": 2}"#.to_owned(),
        ),
        ("older", older.to_string()),
        (
            "older_lines",
            lines.replace("\"schema_version\":2", "\"schema_version\":1"),
        ),
        ("newer", newer.to_string()),
        (
            "newer_lines",
            lines.replace("\"schema_version\":2", "\"schema_version\":3"),
        ),
        ("incomplete", incomplete.to_string()),
        ("trailing", whole.clone() + "}"),
        ("two_runs", lines.clone() + &lines),
        (
            "no_run",
            lines.lines().skip(1).map(|line| line.to_owned() + "\n").collect(),
        ),
        ("truncated_lines", lines[..lines.len() - 100].to_owned()),
        ("broken_lines", lines.replacen("\"samples\":[", "\"samples\":[null,", 1)),
        ("edited", whole.replacen("1204000", "1203000", 1)),
        (
            "edited_name",
            whole.replacen("Example Processor 9000", "Example Processor 9001", 1),
        ),
        (
            "without_digest",
            whole.lines().filter(|line| !line.contains("sha256")).collect(),
        ),
    ];
    let mut message = String::new();
    for (name, contents) in files {
        let path = folder.file(name, &contents);
        let error = read(&path).expect_err(name);
        assert_eq!(error.exit_code().number(), 2, "{name}");
        message += &(folder.message(&error) + "\n");
    }
    // The column of a missing field grows with each field that results gain.
    insta::with_settings!({ filters => [(r"column \d{3,}", "column N")] }, {
        insta::assert_snapshot!(message);
    });
}

/// The file is sparse: it uses no disk space, and it is not read.
#[test]
fn a_file_that_is_too_long_is_rejected_unread() {
    let folder = folder();
    let path = folder.file("long.json", "");
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    file.set_len(1 << 40).unwrap();
    let error = read(&path).unwrap_err();
    let text = gpubench_diagnostic::chain(&error);
    assert!(
        text.contains("long.json") && text.contains("longer than 512 MiB"),
        "{text}"
    );
}

#[test]
fn an_unknown_baseline_lists_the_existing_ones() {
    let folder = folder();
    let missing = |text: &str, home: &Home| folder.message(&load(&name(text), home).unwrap_err());
    let mut message = missing("main", &folder.home());
    save(&folder.path.join("gpubench/baselines/main.json"), &stored(&on_gpu())).unwrap();
    message += &missing("feature", &folder.home());
    save(&folder.path.join("gpubench/baselines/v1.json"), &stored(&on_gpu())).unwrap();
    message += &missing("mian", &folder.home());
    message += &missing("feature", &folder.home());
    message += &missing("feature", &Home::ABSENT);
    message += &missing("elsewhere/run.json", &folder.home());
    insta::assert_snapshot!(message);
    assert!(missing("html", &folder.home()).contains("`cargo gpubench --report html` writes a page about a new run"));
}

#[test]
fn only_stored_runs_of_known_versions_are_replaced() {
    let folder = folder();
    let whole = text(&stored(&every_verdict()));
    let newer = whole.replacen("\"format_version\":2", "\"format_version\":3", 1);
    let others = ["", "buy milk\n", "{}", &whole[..whole.len() - 9], &newer];
    for other in others {
        let path = folder.file("mine.json", other);
        let refused = [
            Destination::new(&name(path.as_str()), &folder.home())
                .map(|_| ())
                .unwrap_err(),
            save(&path, &stored(&on_gpu())).unwrap_err(),
        ];
        for error in refused {
            assert!(error.to_string().contains("mine.json"), "{error}");
        }
        assert_eq!(std::fs::read_to_string(&path).unwrap(), other);
        assert_eq!(folder.path.read_dir_utf8().unwrap().count(), 1);
    }
    let older = folder.file(
        "mine.json",
        whole.replacen("\"format_version\":2", "\"format_version\":1", 1),
    );
    assert!(matches!(read(&older), Err(StoreError::Older { .. })));
    let destination = Destination::new(&name(older.as_str()), &folder.home()).unwrap();
    destination.save(&stored(&on_gpu()), &Replaced::None).unwrap();
    assert_eq!(read(&older).unwrap(), stored(&on_gpu()), "it is recorded again");
    let edited = folder.file("mine.json", whole.replacen("1204000", "1203000", 1));
    save(&edited, &stored(&on_gpu())).unwrap();
    assert_eq!(read(&edited).unwrap(), stored(&on_gpu()));
}

#[test]
fn the_temporary_file_of_a_killed_save_is_reused() {
    let folder = folder();
    let path = folder.file("main.json", text(&stored(&on_gpu())));
    folder.file(".main.json.tmp", vec![b'x'; 1 << 20]);
    assert_eq!(read(&path).unwrap(), stored(&on_gpu()));
    save(&path, &stored(&every_verdict())).unwrap();
    assert_eq!(read(&path).unwrap(), stored(&every_verdict()));
    assert_eq!(folder.path.read_dir_utf8().unwrap().count(), 1);
}

#[test]
fn a_file_that_another_process_keeps_locked_is_an_error_with_that_process() {
    let folder = folder();
    let path = folder.home().place(&name("main")).unwrap();
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let temporary = path.with_file_name(".main.json.tmp");
    let held = std::fs::File::create(&temporary).unwrap();
    held.lock().unwrap();
    let error = Destination::new(&name("main"), &folder.home()).unwrap_err();
    let text = gpubench_diagnostic::chain(&error);
    let holder = format!("was locked by process {} (`", std::process::id());
    assert!(text.contains(temporary.as_str()) && text.contains(&holder), "{text}");
}

#[test]
fn an_unwritable_path_is_found_before_the_run() {
    let folder = folder();
    let file = folder.file("file", "");
    for path in [file.join("run.json"), folder.path.join("folder.json")] {
        std::fs::create_dir_all(folder.path.join("folder.json")).unwrap();
        let error = Destination::new(&name(path.as_str()), &folder.home()).unwrap_err();
        assert!(
            matches!(error, StoreError::NotWritten { .. } | StoreError::Unreadable { .. }),
            "{error:?}"
        );
    }
}

#[test]
fn concurrent_saves_leave_one_complete_run() {
    let folder = folder();
    let path = folder.path.join("main.json");
    let runs = [stored(&every_verdict()), stored(&on_gpu())];
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let (path, run) = (&path, &runs[writer % 2]);
            scope.spawn(move || (0..10).for_each(|_| save(path, run).unwrap()));
        }
        let path = &path;
        scope.spawn(move || {
            for _ in 0..20 {
                match read(path) {
                    Ok(_) => {}
                    Err(StoreError::Unreadable { source, .. }) => assert_eq!(source.kind(), io::ErrorKind::NotFound),
                    Err(error) => panic!("{error}"),
                }
            }
        });
    });
    assert!(runs.contains(&read(&path).unwrap()));
    assert_eq!(folder.path.read_dir_utf8().unwrap().count(), 1);
}

/// Each edit has a correct digest, or is an edit of lines, which have none.
#[test]
fn contradictions_are_rejected_even_with_a_correct_digest() {
    let folder = folder();
    type Edit = fn(&mut StoredRun);
    let edits: [(&str, Edit); 4] = [
        ("removed", |run| {
            run.results[0].samples.pop();
        }),
        ("without_statistics", |run| run.results[0].stats = None),
        ("twice", |run| run.results[1] = run.results[0].clone()),
        ("workers", |run| {
            run.results[0].workers = vec![WorkerShare {
                samples: u64::MAX,
                value: None,
                placements: Vec::new(),
            }];
        }),
    ];
    let mut message = String::new();
    for (what, edit) in edits {
        let error = read(&folder.file("run.json", rewritten(edit))).expect_err(what);
        assert!(matches!(error, StoreError::Contradictory { .. }), "{what}: {error:?}");
        message += &(what.to_owned()
            + ": "
            + &gpubench_diagnostic::chain(&error).replace(folder.path.as_str(), "FOLDER")
            + "\n");
    }
    insta::assert_snapshot!(message);
}

#[test]
fn every_changed_byte_is_noticed() {
    let folder = folder();
    let whole = text(&stored(&on_gpu())).into_bytes();
    for position in (0..whole.len()).step_by(whole.len() / 200) {
        let mut changed = whole.clone();
        changed[position] = if changed[position] == b'1' { b'2' } else { b'1' };
        let path = folder.file("run.json", &changed);
        assert!(read(&path).is_err(), "byte {position}");
    }
}

#[test]
fn every_truncation_is_reported_as_one() {
    let folder = folder();
    let whole = text(&stored(&on_gpu()));
    for length in (1..whole.trim_end().len()).step_by(whole.len() / 100) {
        let error = read(&folder.file("run.json", &whole[..length])).unwrap_err();
        assert!(error.to_string().contains(" is truncated: "), "{length}: {error:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn any_samples_read_back_exactly(samples in prop::collection::vec(0.0..1e15f64, 1..40)) {
        let folder = folder();
        let mut run = stored(&every_verdict());
        let result = &mut run.results[0];
        result.stats = summary(&[&samples]);
        result.samples = samples;
        let path = folder.path.join("run.json");
        save(&path, &run).unwrap();
        prop_assert_eq!(read(&path).unwrap(), run);
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in prop::collection::vec(any::<u8>(), 0..200)) {
        let folder = folder();
        prop_assert!(read(&folder.file("run.json", text)).is_err());
    }
}

fn schema_path() -> Utf8PathBuf {
    Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("schema")
}

#[test]
fn the_checked_in_schemas_match_the_files() {
    for (file, schema) in schema::all() {
        let path = schema_path().join(file);
        if std::env::var_os("GPUBENCH_UPDATE_SCHEMA").is_some() {
            std::fs::write(&path, serde_json::to_string_pretty(&schema).unwrap() + "\n").unwrap();
        }
        let checked_in: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        assert_eq!(
            checked_in, schema,
            "run this test with GPUBENCH_UPDATE_SCHEMA=1 and look at the difference"
        );
    }
}

#[test]
fn a_stored_run_matches_its_schema() {
    let (_, schema) = schema::all().remove(0);
    let validator = jsonschema::validator_for(&schema).unwrap();
    for run in [every_verdict(), on_gpu()] {
        let mut file: serde_json::Value = serde_json::from_str(&text(&stored(&run))).unwrap();
        let errors: Vec<String> = validator.iter_errors(&file).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}");
        file.as_object_mut().unwrap().remove("sha256");
        assert!(!validator.is_valid(&file));
    }
}

#[test]
fn a_temporary_file_that_is_a_link_or_not_a_file_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = Utf8Path::from_path(folder.path()).unwrap().join("run.json");
    let (temporary, elsewhere) = (folder.path().join(".run.json.tmp"), folder.path().join("precious"));
    std::fs::write(&elsewhere, "precious").unwrap();
    std::os::unix::fs::symlink(&elsewhere, &temporary).unwrap();
    assert!(Destination::new(&name(path.as_str()), &Home::ABSENT).is_err());
    std::fs::remove_file(&temporary).unwrap();
    // A second name of a file is as bad as a link to it.
    std::fs::hard_link(&elsewhere, &temporary).unwrap();
    assert!(Destination::new(&name(path.as_str()), &Home::ABSENT).is_err());
    assert!(temporary.exists());
    assert_eq!(std::fs::read_to_string(&elsewhere).unwrap(), "precious");
    std::fs::remove_file(&temporary).unwrap();
    let fifo = std::process::Command::new("mkfifo").arg(&temporary).status().unwrap();
    assert!(fifo.success());
    assert!(Destination::new(&name(path.as_str()), &Home::ABSENT).is_err());
    // The same must hold for the target itself.
    let fifo = Utf8Path::from_path(&temporary).unwrap();
    assert!(Destination::new(&name(fifo.as_str()), &Home::ABSENT).is_err());
    let error = chain(&read(fifo).unwrap_err());
    assert!(error.contains("is a pipe, a socket or a device, not a file"), "{error}");
}
