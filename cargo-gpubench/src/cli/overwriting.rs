//! A command must not write to a file that it reads: measurements would be lost, even if the
//! command fails.

use camino::Utf8Path;

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
    let read: Vec<&Utf8Path> = read.into_iter().filter_map(file_of).collect();
    let mut written = written.into_iter();
    match written.find(|file| read.iter().any(|read| is_same(read, file))) {
        None => Ok(()),
        Some(file) => Err(UsageError::OutputIsInput { file: file.to_owned() }),
    }
}

/// Named baselines are not files that a user can name as an output.
fn file_of(name: &RunName) -> Option<&Utf8Path> {
    match name {
        RunName::File(path) => Some(path),
        RunName::Baseline(_) => None,
    }
}

/// A file can have many names: `a.json`, `./a.json`, a link to it.
fn is_same(one: &Utf8Path, other: &Utf8Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    }
}

#[cfg(test)]
mod tests {
    use camino::Utf8PathBuf;

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
    fn a_missing_file_is_recognised_by_its_name() {
        let read = ["not-there.json".parse().expect("a name")];
        assert!(refuse_to_overwrite(&read, [Utf8Path::new("not-there.json")]).is_err());
        assert!(refuse_to_overwrite(&read, [Utf8Path::new("neither.json")]).is_ok());
    }
}
