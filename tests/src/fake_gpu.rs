//! A GPU that is none: the double of the CUDA driver and of NVRTC, where the tool finds it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

use camino::{Utf8Path, Utf8PathBuf};
use tempfile::TempDir;

use crate::fixture::Fixture;
use crate::run::Run;
use crate::tool::artifact;

/// Folders in which a run finds the double.
#[derive(Debug)]
pub struct FakeGpu {
    libraries: TempDir,
    shared: TempDir,
}

/// What a process has of the driver's and has not given back, by kind.
pub type Ledger = BTreeMap<String, i64>;

impl FakeGpu {
    /// A GPU as `tests/fake-cuda/README.md` describes it.
    ///
    /// # Panics
    /// When the double does not build.
    pub fn new() -> FakeGpu {
        FakeGpu::writing_in(&std::env::temp_dir())
    }

    /// As [`new`](FakeGpu::new), for runs with host code, which may write to no other folder of
    /// everybody's.
    ///
    /// # Panics
    /// As [`new`](FakeGpu::new).
    pub fn for_host_code() -> FakeGpu {
        FakeGpu::writing_in(Path::new("/dev/shm"))
    }

    fn writing_in(folder: &Path) -> FakeGpu {
        let gpu = FakeGpu {
            libraries: tempfile::tempdir().expect("a folder can be made"),
            shared: tempfile::tempdir_in(folder).expect("a folder can be made"),
        };
        for name in ["libcuda.so.1", "libnvrtc.so.12"] {
            let link = gpu.libraries.path().join(name);
            std::os::unix::fs::symlink(library(), link).expect("a link can be made");
        }
        gpu
    }

    /// The double of NVRTC, for `--nvrtc`.
    ///
    /// # Panics
    /// Never: the folder's name is text.
    pub fn nvrtc(&self) -> String {
        let path = self.libraries.path().join("libnvrtc.so.12");
        path.to_str().expect("the name is text").to_owned()
    }

    /// The folder that its processes write to.
    pub fn folder(&self) -> String {
        text(&self.shared)
    }

    /// A run that finds the driver; which compiler it uses is left to it.
    ///
    /// # Panics
    /// As [`FakeGpu::nvrtc`].
    pub fn run_without_nvrtc(&self, fixture: &Fixture) -> Run {
        Run::on(fixture)
            .env("LD_LIBRARY_PATH", &text(&self.libraries))
            .env("FAKE_CUDA_LEDGER", &self.folder())
    }

    /// A run that finds the driver, and the compiler with `--nvrtc`.
    ///
    /// # Panics
    /// As [`FakeGpu::nvrtc`].
    pub fn run(&self, fixture: &Fixture) -> Run {
        self.run_without_nvrtc(fixture).args(["--nvrtc", &self.nvrtc()])
    }

    /// What the processes of a role had when they ended.
    ///
    /// # Panics
    /// When a ledger is damaged.
    pub fn ledgers_of(&self, role: &str) -> Vec<Ledger> {
        let files = std::fs::read_dir(self.shared.path())
            .expect("the folder is there")
            .flatten();
        let of_role = files.filter(|file| file.file_name().to_string_lossy().starts_with(&format!("{role}-")));
        of_role.map(|file| read_ledger(&file.path())).collect()
    }
}

impl Default for FakeGpu {
    fn default() -> FakeGpu {
        FakeGpu::new()
    }
}

fn text(folder: &TempDir) -> String {
    folder.path().to_str().expect("the name is text").to_owned()
}

fn read_ledger(path: &Path) -> Ledger {
    let text = std::fs::read_to_string(path).expect("a ledger is text");
    let entry = |line: &str| {
        let (kind, count) = line.split_once(' ')?;
        Some((kind.to_owned(), count.trim().parse().ok()?))
    };
    text.lines()
        .map(|line| entry(line).unwrap_or_else(|| panic!("`{line}` is no entry")))
        .collect()
}

fn library() -> &'static Utf8Path {
    static LIBRARY: OnceLock<Utf8PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| artifact(&["--package", "fake-cuda"], "fake_cuda"))
}
