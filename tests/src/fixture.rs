//! The crates the tool is run on.

use std::fs::File;

use camino::{Utf8Path, Utf8PathBuf};

use crate::tool::tool;

/// The root of the repository.
///
/// # Panics
/// Never: this package lies in the repository.
pub fn repository() -> &'static Utf8Path {
    Utf8Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the package is in a workspace")
}

/// A crate of `fixtures/`, a workspace of its own.
#[derive(Clone, Debug)]
pub struct Fixture {
    directory: Utf8PathBuf,
}

impl Fixture {
    /// The crate of this name. It is built from the dependencies that the repository is locked to,
    /// so that nothing is downloaded for it.
    ///
    /// # Panics
    /// When there is none.
    pub fn of(name: &str) -> Fixture {
        let directory = repository().join("tests/fixtures").join(name);
        assert!(directory.join("Cargo.toml").exists(), "there is no fixture `{name}`");
        lock_dependencies(&directory);
        Fixture { directory }
    }

    /// A crate that a test has made, which has dependencies of the repository's and no others.
    ///
    /// # Panics
    /// When there is none.
    pub fn made_in(directory: &Utf8Path) -> Fixture {
        assert!(
            directory.join("Cargo.toml").exists(),
            "there is no crate in `{directory}`"
        );
        lock_dependencies(directory);
        Fixture {
            directory: directory.to_owned(),
        }
    }

    /// Where it is.
    pub fn directory(&self) -> &Utf8Path {
        &self.directory
    }

    /// The target directory that all fixtures share, so that what they depend on is compiled once.
    ///
    /// # Panics
    /// Never: an executable lies in a profile's directory in the target directory.
    pub fn target_directory() -> Utf8PathBuf {
        tool().ancestors().nth(2).expect("a target directory").join("fixtures")
    }
}

/// Gives the crate the repository's lockfile, from which cargo drops what the crate does not need.
fn lock_dependencies(directory: &Utf8Path) {
    let ours = repository().join("Cargo.lock");
    let theirs = directory.join("Cargo.lock");
    std::fs::create_dir_all(Fixture::target_directory()).expect("a directory");
    let guard = File::create(Fixture::target_directory().join("lockfiles.lock")).expect("a lock file");
    guard.lock().expect("the lock is free at some time");
    let modified = |path: &Utf8Path| path.metadata().and_then(|metadata| metadata.modified());
    let is_current = modified(&theirs).is_ok_and(|theirs| theirs >= modified(&ours).expect("there is a lockfile"));
    if !is_current {
        std::fs::copy(&ours, &theirs).expect("the lockfile can be copied");
        File::open(&theirs)
            .and_then(|file| file.set_modified(std::time::SystemTime::now()))
            .expect("touched");
    }
}
