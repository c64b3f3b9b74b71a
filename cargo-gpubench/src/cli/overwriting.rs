//! A command must not write to a file that it reads, and must not write two outputs to one file:
//! measurements would be lost, even if the command fails.

use camino::{Utf8Path, Utf8PathBuf};

use super::UsageError;
use gpubench_store::RunName;

/// Checks that no output file is one of the runs that are read.
///
/// # Errors
/// An output file is also an input.
pub(super) fn refuse_to_overwrite<'a>(
    read: impl IntoIterator<Item = &'a RunName>,
    written: impl IntoIterator<Item = &'a Utf8Path>,
) -> Result<(), UsageError> {
    refuse_to_overwrite_files(&read.into_iter().filter_map(file_of).collect::<Vec<_>>(), written)
}

/// Checks that no output file is one of the files that are read.
///
/// # Errors
/// An output file is also an input.
pub(super) fn refuse_to_overwrite_files<'a>(
    read: &[&Utf8Path],
    written: impl IntoIterator<Item = &'a Utf8Path>,
) -> Result<(), UsageError> {
    let mut written = written.into_iter();
    match written.find(|file| read.iter().any(|read| is_same(read, file))) {
        None => Ok(()),
        Some(file) => Err(UsageError::OutputIsInput { file: file.to_owned() }),
    }
}

/// Checks that no two options write to one file, given each option with its file.
///
/// # Errors
/// Two options name the same file, even by different names.
pub(super) fn refuse_to_write_twice(written: &[(&'static str, &Utf8Path)]) -> Result<(), UsageError> {
    for (position, (one, file)) in written.iter().enumerate() {
        let mut others = written[..position].iter();
        if let Some((other, _)) = others.find(|(_, other)| is_same(file, other)) {
            let (one, other, file) = (other, one, file.to_path_buf());
            return Err(UsageError::FileTaken { one, other, file });
        }
    }
    Ok(())
}

/// Named baselines are not files that a user can name as an output.
pub(super) fn file_of(name: &RunName) -> Option<&Utf8Path> {
    match name {
        RunName::File(path) => Some(path),
        RunName::Baseline(_) => None,
    }
}

/// A file can have many names: `a.json`, `./a.json`, a link to it.
fn is_same(one: &Utf8Path, other: &Utf8Path) -> bool {
    one == other || place(one).is_some_and(|one| place(other) == Some(one))
}

/// The most links from one to another that are followed, as by the system.
const MOST_LINKS: usize = 40;

/// Returns a file's path without links, even if the file does not exist yet.
fn place(file: &Utf8Path) -> Option<Utf8PathBuf> {
    let mut file = file.to_owned();
    for _ in 0..MOST_LINKS {
        if let Ok(place) = file.canonicalize_utf8() {
            return Some(place);
        }
        let folder = match file.parent()? {
            folder if folder == "" => Utf8Path::new("."),
            folder => folder,
        };
        let folder = folder.canonicalize_utf8().ok()?;
        match file.read_link_utf8() {
            Ok(target) => file = folder.join(target),
            Err(_) => return Some(folder.join(file.file_name()?)),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_recognised_by_all_its_names() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| Utf8PathBuf::from_path_buf(folder.path().join(name)).expect("UTF-8");
        std::fs::write(path("run.json"), "").expect("a file");
        std::os::unix::fs::symlink(path("run.json"), path("link")).expect("a link");
        let read = [RunName::File(path("run.json"))];
        let refused = |written: Utf8PathBuf| refuse_to_overwrite(&read, [&*written]).is_err();
        assert!(refused(path("run.json")) && refused(path("link")) && refused(path("./run.json")));
        assert!(!refused(path("other.json")));
    }

    #[test]
    fn one_file_for_two_outputs_is_recognised_by_all_its_names() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| Utf8PathBuf::from_path_buf(folder.path().join(name)).expect("UTF-8");
        std::fs::create_dir(path("below")).expect("a folder");
        std::os::unix::fs::symlink(folder.path(), path("link")).expect("a link");
        let refused = |one: &str, other: &str| {
            let (one, other) = (path(one), path(other));
            refuse_to_write_twice(&[("--export-csv", &one), ("--export-json", &other)]).is_err()
        };
        assert!(
            refused("a", "a") && refused("a", "below/../a") && refused("a", "link/a"),
            "none exists"
        );
        assert!(!refused("a", "b") && !refused("a", "below/a"));
        std::os::unix::fs::symlink("a", path("to-none")).expect("a link");
        assert!(refused("to-none", "a"));
        std::os::unix::fs::symlink("circle", path("circle")).expect("a link");
        assert!(!refused("circle", "a"));
        std::fs::write(path("a"), "").expect("a file");
        std::os::unix::fs::symlink(path("a"), path("to-a")).expect("a link");
        assert!(refused("to-a", "a"));
    }

    #[test]
    fn a_missing_file_is_recognised_by_its_name() {
        let read = ["not-there.json".parse().expect("a name")];
        assert!(refuse_to_overwrite(&read, [Utf8Path::new("not-there.json")]).is_err());
        assert!(refuse_to_overwrite(&read, [Utf8Path::new("neither.json")]).is_ok());
    }
}
