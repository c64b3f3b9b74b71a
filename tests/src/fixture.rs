//! The crates on which the tests run the tool.

use std::fs::File;

use camino::{Utf8Path, Utf8PathBuf};

use crate::tool::tool;

/// Returns the root of the repository.
///
/// # Panics
/// Never: this package lies in the repository.
pub fn repository() -> &'static Utf8Path {
    Utf8Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the package is in a workspace")
}

/// A crate with its own workspace, usually from `fixtures/`.
#[derive(Clone, Debug)]
pub struct Fixture {
    directory: Utf8PathBuf,
}

impl Fixture {
    /// Returns the fixture with this name. It uses the repository's lockfile, so cargo downloads
    /// nothing.
    ///
    /// # Panics
    /// If there is no such fixture.
    pub fn new(name: &str) -> Fixture {
        let directory = repository().join("tests/fixtures").join(name);
        assert!(directory.join("Cargo.toml").exists(), "there is no fixture `{name}`");
        lock_dependencies(&directory);
        Fixture { directory }
    }

    /// Returns a crate that a test has written. It may use only dependencies of the repository.
    ///
    /// # Panics
    /// If `directory` has no crate.
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

    /// Returns the crate's folder.
    pub fn directory(&self) -> &Utf8Path {
        &self.directory
    }

    /// Returns the target directory that all fixtures share, so that dependencies are compiled
    /// once.
    ///
    /// # Panics
    /// Never: the tool's executable is two levels below a target directory.
    pub fn target_directory() -> Utf8PathBuf {
        tool().ancestors().nth(2).expect("a target directory").join("fixtures")
    }
}

/// Copies the repository's lockfile to the crate. Cargo drops the entries that the crate does not
/// need.
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
