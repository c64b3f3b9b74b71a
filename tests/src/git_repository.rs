//! Git repositories that tests make.

use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};

/// A repository in a temporary folder.
#[derive(Debug)]
pub struct GitRepository {
    _folder: tempfile::TempDir,
    root: Utf8PathBuf,
}

impl GitRepository {
    /// Makes the folder. `git init` makes it a repository.
    ///
    /// # Panics
    /// If there is no folder for temporary files.
    pub fn in_new_folder() -> GitRepository {
        let folder = tempfile::tempdir().expect("a folder");
        let root = Utf8Path::from_path(folder.path()).expect("the name is text");
        let root = root.canonicalize_utf8().expect("it is there");
        GitRepository { _folder: folder, root }
    }

    /// Returns the repository's folder, without symbolic links in its path.
    pub fn root(&self) -> &Utf8Path {
        &self.root
    }

    /// Runs git and returns what it prints.
    ///
    /// # Panics
    /// If git fails.
    pub fn git(&self, arguments: &[&str]) -> String {
        let author = ["-c", "user.name=nobody", "-c", "user.email=nobody@localhost"];
        let output = Command::new("git")
            .arg("-C")
            .arg(&self.root)
            .args(author)
            .args(arguments)
            .output()
            .expect("git runs");
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).expect("text")
    }

    /// Commits every file and returns the commit's hash.
    ///
    /// # Panics
    /// If nothing has changed.
    pub fn commit(&self, message: &str) -> String {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", message]);
        self.git(&["rev-parse", "HEAD"]).trim().to_owned()
    }
}
