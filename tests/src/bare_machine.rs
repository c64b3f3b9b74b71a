//! A machine that has no programs but those it is given.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use camino::{Utf8Path, Utf8PathBuf};

use crate::Run;

/// A machine that has nothing but what is given to it. Its folders are gone with the value.
pub struct BareMachine {
    _folder: tempfile::TempDir,
    /// Where the tool runs and puts its temporary files.
    pub work: Utf8PathBuf,
    /// All that is on its path.
    pub programs: Utf8PathBuf,
}

impl BareMachine {
    /// One without any program.
    ///
    /// # Panics
    /// When its folders cannot be made.
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

    /// One with what compiles kernels of the CPU device.
    ///
    /// # Panics
    /// When this machine has no such compiler.
    pub fn with_a_cpp_compiler() -> BareMachine {
        let machine = BareMachine::new();
        for program in ["c++", "as", "ld"] {
            symlink(on_path(program), machine.programs.join(program)).expect("a link");
        }
        machine
    }

    /// A run of an archive.
    pub fn run(&self, archive: &Utf8Path) -> Run {
        Run::from_archive(archive, &self.work, &self.programs)
    }

    /// What is left in the folder it works in.
    ///
    /// # Panics
    /// When the folder is gone.
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
