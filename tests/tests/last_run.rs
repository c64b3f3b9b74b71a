//! A run says what changed since the last one, and nothing that happens to the stored results of
//! the last one harms it.
#![forbid(unsafe_code)]

use camino::{Utf8Path, Utf8PathBuf};
use gpubench_tests::{Finished, Fixture, Run};

/// A target directory of its own, with what is already built of the shared one.
struct Target {
    _kept: tempfile::TempDir,
    path: Utf8PathBuf,
}

impl Target {
    fn new() -> Target {
        // Next to the shared one, so that it is on the same disk.
        let kept = tempfile::tempdir_in(Fixture::target_directory().parent().expect("a folder")).expect("a folder");
        let path = Utf8PathBuf::from_path_buf(kept.path().to_owned()).expect("UTF-8");
        Target { _kept: kept, path }
    }

    fn run(&self, options: &[&'static str]) -> Run {
        Run::on(&Fixture::new("paced"))
            .briefly()
            .comparing_with_last_run(&self.path)
            .args(options.iter().copied())
            .args(["steps::walk"])
    }

    fn finish(&self, options: &[&'static str]) -> Finished {
        self.run(options).finish().expect_code(0)
    }

    /// Returns the files of last results.
    fn files(&self) -> Vec<Utf8PathBuf> {
        files_below(&self.path.join("gpubench/last"))
    }
}

fn files_below(folder: &Utf8Path) -> Vec<Utf8PathBuf> {
    let Ok(entries) = folder.read_dir_utf8() else {
        return Vec::new();
    };
    let entries = entries.map(|entry| entry.expect("an entry").into_path());
    entries
        .flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] })
        .collect()
}

const SINCE: &str = "since the last run, ";

#[test]
fn the_second_run_is_compared_with_the_first_and_no_record_or_code_says_so() {
    let target = Target::new();
    let ignored = target.finish(&["--no-last-run"]);
    assert!(
        !ignored.stdout.contains("since") && target.files().is_empty(),
        "{}",
        ignored.stdout
    );
    let first = target.finish(&[]);
    assert!(!first.stdout.contains("since"), "{}", first.stdout);
    let [file] = &target.files()[..] else {
        panic!("{:?}", target.files())
    };
    assert_eq!(file.file_name(), Some("paced.json"));
    let second = target.finish(&[]);
    assert!(second.stdout.contains(SINCE), "{}", second.stdout);
    let ignored = target.finish(&["--no-last-run"]);
    assert!(!ignored.stdout.contains("since"), "{}", ignored.stdout);
    let records = target.finish(&["--message-format", "json"]).records();
    let reasons: Vec<String> = records
        .all()
        .iter()
        .map(|record| record["reason"].to_string())
        .collect();
    assert!(!reasons.contains(&"\"comparison-complete\"".to_owned()), "{reasons:?}");

    // Damage: the run passes, says what is wrong with which file, and leaves it alone.
    std::fs::write(file, "{").expect("a file");
    let damaged = target.finish(&[]);
    assert!(!damaged.stdout.contains("since"), "{}", damaged.stdout);
    for what in [
        "cannot compare with the last run",
        "cannot keep this run",
        "(hint: remove the file, or add `--no-last-run`)",
        file.as_str(),
        "is truncated",
    ] {
        assert!(damaged.stderr.contains(what), "{what}: {}", damaged.stderr);
    }
    assert_eq!(std::fs::read_to_string(file).expect("a file"), "{");

    // Times with another cache flush are those of another device.
    std::fs::remove_file(file).expect("a file");
    target.finish(&[]);
    let elsewhere = target.finish(&["--flush", "write"]);
    assert!(!elsewhere.stdout.contains("since"), "{}", elsewhere.stdout);
    assert_eq!(target.files().len(), 2);
}
