//! Where a page is followed: a folder with the repository beside it, and commands in it.

use std::fs::File;

use camino::{Utf8Path, Utf8PathBuf};
use gpubench_tests::{Ending, Fixture, Run, repository, tool};

/// Short measurements: what is compared is not how long they take. A file, and no variables, so
/// that the command which runs a case again stays as short as a reader sees it.
const BRIEFLY: &str =
    "[profile.default]\nmin-samples = 4\nmax-samples = 4\nflush-bytes = '256KiB'\nworkers = 3\nthreads = 2\n";

/// A folder for one page. Pages take turns: they share a target directory.
pub(crate) struct Sandbox {
    _turn: File,
    folder: Utf8PathBuf,
    target: Utf8PathBuf,
}

impl Sandbox {
    /// An empty folder, in which `gpubench` is the repository. Its path is always the same, so that
    /// cargo knows again what it has built.
    ///
    /// # Panics
    /// When it cannot be made.
    pub(crate) fn new() -> Sandbox {
        let target = Fixture::target_directory().with_file_name("book");
        std::fs::create_dir_all(&target).expect("a folder");
        let turn = File::create(target.join("turn.lock")).expect("a file");
        turn.lock().expect("the lock is free at some time");
        for left in ["gpubench/baselines", "gpubench/history"] {
            let _ = std::fs::remove_dir_all(target.join(left));
        }
        let key = repository().as_str().bytes().fold(5381_u64, |key, byte| key.wrapping_mul(33) ^ u64::from(byte));
        let folder = Utf8PathBuf::try_from(std::env::temp_dir()).expect("a path in UTF-8");
        let folder = folder.join(format!("gpubench-book-{key:016x}"));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder");
        std::os::unix::fs::symlink(repository(), folder.join("gpubench")).expect("a link");
        Sandbox {
            _turn: turn,
            folder,
            target,
        }
    }

    /// Writes a file of the page.
    ///
    /// # Panics
    /// When it cannot be written.
    pub(crate) fn write(&self, path: &Utf8Path, text: &str) {
        let path = self.folder.join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }

    /// The text of a file of the page.
    ///
    /// # Panics
    /// When it is not there.
    pub(crate) fn read(&self, path: &Utf8Path) -> String {
        std::fs::read_to_string(self.folder.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Runs a command line, and gives all it prints and how it ends. A crate gets the lockfile of
    /// the repository, so that nothing is downloaded for it.
    ///
    /// # Panics
    /// When it ends by a signal.
    pub(crate) fn run(&self, folder: &Utf8Path, command: &str) -> (String, i32) {
        let folder = self.folder.join(folder);
        if folder.join("Cargo.toml").exists() {
            let _ = Fixture::made_in(&folder);
            if std::env::var_os("GPUBENCH_UPDATE_BOOK").is_none() {
                std::fs::create_dir_all(folder.join(".config")).expect("a folder");
                std::fs::write(folder.join(".config/gpubench.toml"), BRIEFLY).expect("a file");
            }
        }
        // The other revision is checked out into the target directory, which must not be in a workspace.
        let target = if command.contains("--against") {
            &self.folder.join("target")
        } else {
            &self.target
        };
        let programs = tool().parent().expect("a folder");
        let path = std::env::var("PATH").unwrap_or_default();
        let finished = Run::of_shell(&format!("exec 2>&1\n{command}"), &folder)
            .env("PATH", &format!("{programs}:{path}"))
            .env("CARGO_TARGET_DIR", target.as_str())
            .env("CARGO_NET_OFFLINE", "true")
            .env("CARGO_TERM_COLOR", "never")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_AUTHOR_NAME", "A Reader")
            .env("GIT_AUTHOR_EMAIL", "reader@example.org")
            .env("GIT_COMMITTER_NAME", "A Reader")
            .env("GIT_COMMITTER_EMAIL", "reader@example.org")
            .finish();
        match finished.ending {
            Ending::Code(code) => (finished.stdout, code),
            ending => panic!("`{command}` ended with {ending:?}:\n{}", finished.stdout),
        }
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        // What a failed test leaves is for a person to look at.
        if !std::thread::panicking() {
            let _ = std::fs::remove_dir_all(&self.folder);
        }
    }
}
