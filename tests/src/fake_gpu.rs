//! A fake GPU: the double of the CUDA driver and of NVRTC, installed where the tool finds it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

use camino::{Utf8Path, Utf8PathBuf};
use tempfile::TempDir;

use crate::fixture::Fixture;
use crate::run::Run;
use crate::tool::artifact;

/// Folders with the double's libraries and with the files that its processes share.
#[derive(Debug)]
pub struct FakeGpu {
    libraries: TempDir,
    shared: TempDir,
}

/// Driver resources that a process has acquired and not released, by kind.
pub type Ledger = BTreeMap<String, i64>;

impl FakeGpu {
    /// Creates a GPU as described in `tests/fake-cuda/README.md`.
    ///
    /// # Panics
    /// If the double does not build.
    pub fn new() -> FakeGpu {
        FakeGpu::writing_in(&std::env::temp_dir())
    }

    /// Same as [`new`](FakeGpu::new), for runs with host code. Their sandbox allows only `/dev/shm`
    /// as a shared folder.
    ///
    /// # Panics
    /// Same as [`new`](FakeGpu::new).
    pub fn for_host_code() -> FakeGpu {
        FakeGpu::writing_in(Path::new("/dev/shm"))
    }

    fn writing_in(folder: &Path) -> FakeGpu {
        let gpu = FakeGpu {
            libraries: tempfile::tempdir().expect("a folder can be made"),
            shared: tempfile::tempdir_in(folder).expect("a folder can be made"),
        };
        std::fs::create_dir(gpu.shared.path().join("dev")).expect("a folder can be made");
        for name in ["libcuda.so.1", "libnvrtc.so.12"] {
            let link = gpu.libraries.path().join(name);
            std::os::unix::fs::symlink(library(), link).expect("a link can be made");
        }
        gpu
    }

    /// Same as [`new`](FakeGpu::new), with NVML: the GPU has clocks, which can be locked.
    ///
    /// # Panics
    /// Same as [`new`](FakeGpu::new).
    pub fn with_clocks() -> FakeGpu {
        let gpu = FakeGpu::new();
        let link = gpu.libraries.path().join("libnvidia-ml.so.1");
        std::os::unix::fs::symlink(library(), link).expect("a link can be made");
        gpu
    }

    /// Same as [`new`](FakeGpu::new), with CUPTI.
    ///
    /// # Panics
    /// Same as [`new`](FakeGpu::new).
    pub fn with_cupti() -> FakeGpu {
        FakeGpu::new().and_cupti()
    }

    /// Installs CUPTI, too.
    ///
    /// # Panics
    /// Same as [`new`](FakeGpu::new).
    #[must_use]
    pub fn and_cupti(self) -> FakeGpu {
        let link = self.libraries.path().join("libcupti.so.13");
        std::os::unix::fs::symlink(library(), link).expect("a link can be made");
        self
    }

    /// Returns how often processes took the counters of the GPU.
    pub fn counters_taken(&self) -> usize {
        let text = std::fs::read_to_string(self.shared.path().join("counters")).unwrap_or_default();
        text.lines().count()
    }

    /// Returns the locked clock in MHz, if the clock is locked.
    pub fn locked_clock(&self) -> Option<u32> {
        let text = std::fs::read_to_string(self.shared.path().join("locked_clock")).ok()?;
        // While a process writes it, the file is empty.
        text.parse().ok()
    }

    /// Returns each `lock MHZ` and `unlock` so far.
    pub fn clock_changes(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.shared.path().join("clock_changes")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Returns the path of the NVRTC double, for `--nvrtc`.
    ///
    /// # Panics
    /// Never: the folder's name is UTF-8.
    pub fn nvrtc(&self) -> String {
        let path = self.libraries.path().join("libnvrtc.so.12");
        path.to_str().expect("the name is text").to_owned()
    }

    /// Returns the file with the time of this GPU's own clock, for `FAKE_CUDA_CLOCK`.
    pub fn clock(&self) -> String {
        format!("{}/clock", self.folder())
    }

    /// Returns the folder that the processes share.
    pub fn folder(&self) -> String {
        text(&self.shared)
    }

    /// Returns a run of a subcommand that finds the driver.
    pub fn run_of_verb(&self, verb: &str, fixture: &Fixture) -> Run {
        Run::on_verb(verb, fixture).env("LD_LIBRARY_PATH", &text(&self.libraries))
    }

    /// Returns a run that finds the driver and chooses its compiler.
    ///
    /// # Panics
    /// Same as [`FakeGpu::nvrtc`].
    pub fn run_without_nvrtc(&self, fixture: &Fixture) -> Run {
        Run::on(fixture)
            .env("LD_LIBRARY_PATH", &text(&self.libraries))
            .env("FAKE_CUDA_LEDGER", &self.folder())
            .env("FAKE_CUDA_DOORBELL", &format!("{}/dev/nvidia0", self.folder()))
            .env("FAKE_NVML", &self.folder())
    }

    /// Returns a run that finds the driver, and the compiler with `--nvrtc`.
    ///
    /// # Panics
    /// Same as [`FakeGpu::nvrtc`].
    pub fn run(&self, fixture: &Fixture) -> Run {
        self.run_without_nvrtc(fixture).args(["--nvrtc", &self.nvrtc()])
    }

    /// Returns a run like [`run`](FakeGpu::run) of another command.
    ///
    /// # Panics
    /// Same as [`FakeGpu::nvrtc`].
    pub fn finding(&self, run: Run) -> Run {
        run.env("LD_LIBRARY_PATH", &text(&self.libraries))
            .args(["--nvrtc", &self.nvrtc()])
    }

    /// Returns the resources that the processes of a role still had when they ended.
    ///
    /// # Panics
    /// If a ledger is damaged.
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
        .map(|line| entry(line).unwrap_or_else(|| panic!("`{line}` is not a ledger entry")))
        .collect()
}

fn library() -> &'static Utf8Path {
    static LIBRARY: OnceLock<Utf8PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| artifact(&["--package", "fake-cuda"], "fake_cuda"))
}
