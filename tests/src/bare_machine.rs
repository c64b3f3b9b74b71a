//! A simulated machine with only the given programs installed.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use camino::{Utf8Path, Utf8PathBuf};

use crate::Run;

/// A machine with only the given programs on its path. Dropping it removes its folders.
pub struct BareMachine {
    _folder: tempfile::TempDir,
    /// The working directory and temporary directory of the tool.
    pub work: Utf8PathBuf,
    /// The only folder on the path.
    pub programs: Utf8PathBuf,
}

impl BareMachine {
    /// Creates a machine without programs.
    ///
    /// # Panics
    /// If its folders cannot be made.
    #[expect(clippy::new_without_default, reason = "a machine is made on purpose")]
    pub fn new() -> BareMachine {
        let folder = tempfile::tempdir().expect("a folder");
        let path = Utf8PathBuf::from_path_buf(folder.path().to_owned()).expect("a UTF-8 path");
        let (work, programs) = (path.join("work"), path.join("programs"));
        fs::create_dir(&work).expect("a folder");
        fs::create_dir(&programs).expect("a folder");
        BareMachine {
            _folder: folder,
            work,
            programs,
        }
    }

    /// Creates a machine with the programs that compile kernels for the CPU device.
    ///
    /// # Panics
    /// If this machine has no C++ compiler.
    pub fn with_a_cpp_compiler() -> BareMachine {
        let machine = BareMachine::new();
        for program in ["c++", "as", "ld"] {
            symlink(on_path(program), machine.programs.join(program)).expect("a link");
        }
        machine
    }

    /// Returns a run of an archive on this machine.
    pub fn run(&self, archive: &Utf8Path) -> Run {
        Run::from_archive(archive, &self.work, &self.programs)
    }

    /// Returns the names of the files left in the working directory.
    ///
    /// # Panics
    /// If the folder is missing.
    pub fn left(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.work).expect("a folder").flatten();
        entries
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect()
    }
}

fn on_path(program: &str) -> PathBuf {
    let path = std::env::var_os("PATH").expect("a path");
    std::env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
        .unwrap_or_else(|| panic!("there is no `{program}`"))
}
