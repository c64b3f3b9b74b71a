//! A folder for tests.

use camino::Utf8PathBuf;

/// A temporary folder, removed when dropped.
pub(crate) struct TestFolder {
    _folder: tempfile::TempDir,
    pub(crate) path: Utf8PathBuf,
}

impl TestFolder {
    pub(crate) fn new() -> TestFolder {
        let folder = tempfile::tempdir().expect("a folder");
        let path = Utf8PathBuf::from_path_buf(folder.path().to_owned()).expect("a UTF-8 path");
        TestFolder { _folder: folder, path }
    }
}
