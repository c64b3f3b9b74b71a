//! A folder with stored runs, and the real command.

use std::process::Command;

use assert_cmd::assert::{Assert, OutputAssertExt};
use camino::{Utf8Path, Utf8PathBuf};
use gpubench_store::{StoredRun, save};

/// A folder with stored runs.
pub(crate) struct Folder {
    folder: tempfile::TempDir,
}

impl Folder {
    pub(crate) fn empty() -> Folder {
        Folder {
            folder: tempfile::tempdir().expect("a folder"),
        }
    }

    pub(crate) fn path(&self, name: &str) -> Utf8PathBuf {
        Utf8Path::from_path(self.folder.path()).expect("UTF-8").join(name)
    }

    pub(crate) fn save(&self, name: &str, run: &StoredRun) {
        save(&self.path(name), run).expect("it is saved");
    }

    /// Returns the command with arguments, without settings from the environment.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-gpubench"));
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("GPUBENCH_") {
                command.env_remove(name);
            }
        }
        command.arg("gpubench").args(arguments).current_dir(self.folder.path());
        command.env_remove("CARGO_TARGET_DIR");
        command
    }

    pub(crate) fn compare(&self, arguments: &[&str]) -> Assert {
        self.command(&[&["compare", "--color", "never"], arguments].concat())
            .assert()
    }
}
