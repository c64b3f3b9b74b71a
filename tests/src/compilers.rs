//! GPU compilers and their tools. They need no GPU.

use std::process::Command;

use crate::fixture::repository;

/// Returns the folder of a pinned NVRTC.
///
/// # Panics
/// If it cannot be installed.
pub fn nvrtc() -> String {
    packages("12")
}

/// Installs Python packages and returns their folder.
fn packages(name: &str) -> String {
    let script = repository().join(".ci/cuda-tools");
    let found = Command::new(script).arg(name).output().expect("the script runs");
    let stderr = String::from_utf8_lossy(&found.stderr);
    assert!(found.status.success(), "`{name}` could not be installed: {stderr}");
    String::from_utf8(found.stdout).expect("a path").trim().to_owned()
}
