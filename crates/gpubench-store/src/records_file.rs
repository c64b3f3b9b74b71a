//! A file with the records of a run, which a later run goes on with if this one is killed.

use std::fs::File;
use std::io::{self, Write as _};
use std::ops::ControlFlow;
use std::os::unix::fs::MetadataExt as _;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};

use super::contradiction::check;
use super::error::LEFT_ALONE;
use super::json_lines::run_of_lines;
use super::lock::lock_within;
use super::read::{Kind, LONGEST, kind_of};
use super::{Replacement, StoreError, StoredRun};
use gpubench_diagnostic::{Place, create_regular, read_at_most};

/// A file of records that only this process writes. A kill loses at most the line that is being
/// written.
#[derive(Debug)]
pub struct RecordsFile {
    path: Utf8PathBuf,
    /// Its lock is that of the open file, and moves with it when the file is replaced.
    file: File,
    /// Whether it had only a part of the first record.
    is_cut_off: bool,
}

/// How the first record begins.
const BEGINNING: &[u8] = b"{\"reason\":\"run-started\"";

impl RecordsFile {
    /// Opens the file, or creates an empty one with its folders. Also returns the run whose records
    /// it has, without those that a kill cut off. `None` if there are none, or only a part of the
    /// first.
    ///
    /// # Errors
    /// Another process writes to it, it cannot be read or written, or it has anything but the
    /// records of one run.
    pub fn open(path: &Utf8Path) -> Result<(RecordsFile, Option<StoredRun>), StoreError> {
        let file = locked(path).map_err(StoreError::not_written(path))?;
        let text = read_at_most(path, LONGEST).map_err(StoreError::unreadable(path))?;
        let shared = text.len().min(BEGINNING.len());
        let is_cut_off = !text.is_empty() && !text.contains(&b'\n') && text[..shared] == BEGINNING[..shared];
        let run = match text.is_empty() || is_cut_off {
            true => None,
            false => Some(run_of(path, &text)?),
        };
        let opened = RecordsFile {
            path: path.to_owned(),
            file,
            is_cut_off,
        };
        Ok((opened, run))
    }

    /// Whether it had only a part of the first record when it was opened, so that nothing is lost
    /// by beginning anew.
    pub fn is_cut_off(&self) -> bool {
        self.is_cut_off
    }

    /// Returns its path.
    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// Replaces all records atomically: a kill leaves either the old or the new ones.
    ///
    /// # Errors
    /// They cannot be written.
    pub fn replace(&mut self, text: &str) -> io::Result<()> {
        let replacement = Replacement::new(&self.path)?;
        self.file = replacement.filled_by(
            |error| error,
            |mut file| {
                file.write_all(text.as_bytes())?;
                file.try_clone()
            },
        )?;
        Ok(())
    }

    /// Appends a line.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn append(&mut self, line: &str) -> io::Result<()> {
        self.file.write_all(line.as_bytes())
    }
}

/// Opens the file and takes its lock, without waiting.
fn locked(path: &Utf8Path) -> io::Result<File> {
    let place = Place::with_folders(path)?;
    place.ensure_replaceable()?;
    loop {
        let file = create_regular(place.path(), 0o666)?;
        lock_within(&file, path, Duration::ZERO, |_| ControlFlow::Continue(()))?;
        let opened = file.metadata()?;
        // The previous holder of the lock may have replaced the file.
        let is_there = |there: &std::fs::Metadata| (there.dev(), there.ino()) == (opened.dev(), opened.ino());
        if std::fs::symlink_metadata(place.path()).as_ref().is_ok_and(is_there) {
            return Ok(file);
        }
    }
}

/// Parses the whole lines. What follows the last of them was cut off.
fn run_of(path: &Utf8Path, text: &[u8]) -> Result<StoredRun, StoreError> {
    if let Kind::Stored(_) | Kind::NvBench = kind_of(path, text)? {
        let how = "is a file of another kind, not the records of a run";
        return Err(StoreError::refused(path, how, LEFT_ALONE));
    }
    let end = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
    let stored = run_of_lines(path, &text[..end])?;
    check(&stored).map_err(|source| StoreError::Contradictory {
        path: path.to_owned(),
        source,
    })?;
    match stored.results.iter().find(|result| result.run_id != stored.run.run_id) {
        None => Ok(stored),
        Some(other) => {
            let how = format!("has the result of `{}` from another run", other.label());
            Err(StoreError::refused(path, how, LEFT_ALONE))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_contract::Record;
    use gpubench_testing::{competition, submitted};

    fn line(record: &Record) -> String {
        serde_json::to_string(record).expect("JSON") + "\n"
    }

    /// Returns the records of a run: its start and each result.
    fn lines() -> Vec<String> {
        let run = submitted(competition());
        let started = line(&Record::RunStarted(Box::new(run.started)));
        let results = run.results.into_iter();
        let results = results.map(|result| line(&Record::BenchmarkComplete(Box::new(result))));
        std::iter::once(started).chain(results).collect()
    }

    fn folder() -> (tempfile::TempDir, Utf8PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = Utf8PathBuf::from_path_buf(folder.path().join("new/run.jsonl")).expect("UTF-8");
        (folder, path)
    }

    fn refused(path: &Utf8Path, text: &str) -> String {
        std::fs::write(path, text).expect("it is written");
        let error = RecordsFile::open(path).expect_err("it is refused");
        assert_eq!(
            std::fs::read_to_string(path).expect("a text"),
            text,
            "it stays as it was"
        );
        error.to_string()
    }

    #[test]
    fn records_up_to_the_last_whole_line_are_read() {
        let (_folder, path) = folder();
        let (file, none) = RecordsFile::open(&path).expect("it is created");
        assert!(none.is_none());
        drop(file);
        let lines = lines();
        let whole: usize = lines[..3].concat().len();
        let text = lines[..4].concat();
        for end in [whole, whole + 1, whole + 500, text.len() - 1] {
            std::fs::write(&path, &text[..end]).expect("it is written");
            let (_, run) = RecordsFile::open(&path).expect("it is read");
            assert_eq!(run.expect("a run").results.len(), 2, "{end}");
        }
    }

    #[test]
    fn a_part_of_the_first_record_is_nothing_to_lose() {
        let (_folder, path) = folder();
        drop(RecordsFile::open(&path).expect("it is created"));
        let started = lines().remove(0);
        for end in [1, 12, 40, started.len() - 1] {
            std::fs::write(&path, &started[..end]).expect("it is written");
            let (file, run) = RecordsFile::open(&path).expect("it begins anew");
            assert!(file.is_cut_off() && run.is_none(), "{end}");
        }
        std::fs::write(&path, &started).expect("it is written");
        let (file, run) = RecordsFile::open(&path).expect("it is read");
        assert!(!file.is_cut_off() && run.is_some());
    }

    #[test]
    fn anything_but_the_records_of_one_run_is_refused_and_stays() {
        let (_folder, path) = folder();
        drop(RecordsFile::open(&path).expect("it is created"));
        let lines = lines();
        let started = &lines[0];
        for (text, words) in [
            ("notes of mine\n".to_owned(), "is not JSON"),
            (lines[1].trim_end()[..40].to_owned(), "is truncated"),
            ("{\"format\":\"gpubench-run\"}".to_owned(), "another kind"),
            (started.repeat(2), "contains 2 runs"),
            (lines[1].clone(), "no `run-started` record"),
            (started.clone() + "{\n", "is truncated"),
            (started.clone() + "\0\0\n" + &lines[1], "is not JSON"),
            (started.clone() + &lines[1] + &lines[1], "contradicts itself"),
            (
                started.clone() + &lines[1].replace("\"run_id\":\"0f3a\"", "\"run_id\":\"0f3b\""),
                "from another run",
            ),
        ] {
            let error = refused(&path, &text);
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn only_one_process_writes_to_it_also_after_it_was_replaced() {
        let (_folder, path) = folder();
        let (mut file, _) = RecordsFile::open(&path).expect("it is free");
        let lines = lines();
        for replaced in [false, true] {
            if replaced {
                file.replace(&lines[..2].concat()).expect("it is written");
            }
            let error = RecordsFile::open(&path).expect_err("it is taken");
            let text = gpubench_diagnostic::chain(&error);
            assert!(text.contains("was locked by process"), "{text}");
        }
        file.append(&lines[2]).expect("it is written");
        assert_eq!(std::fs::read_to_string(&path).expect("a text"), lines[..3].concat());
        drop(file);
        let (_, run) = RecordsFile::open(&path).expect("it is free again");
        assert_eq!(run.expect("a run").results.len(), 2);
    }

    #[test]
    fn a_folder_a_pipe_and_a_device_are_refused() {
        let (_folder, path) = folder();
        std::fs::create_dir_all(&path).expect("a folder");
        assert!(RecordsFile::open(&path).is_err());
        let pipe = path.join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, pipe.as_std_path(), rustix::fs::Mode::RWXU).expect("a pipe");
        assert!(RecordsFile::open(&pipe).is_err());
        assert!(RecordsFile::open(Utf8Path::new("/dev/null")).is_err());
    }
}
