//! GPU compilers. They need no GPU.

use std::process::Command;

use crate::fixture::repository;

/// Returns the folder of a pinned NVRTC.
///
/// # Panics
/// If it cannot be installed.
pub fn nvrtc() -> String {
    let script = repository().join(".ci/cuda-tools");
    let found = Command::new(script).arg("12").output().expect("the script runs");
    let stderr = String::from_utf8_lossy(&found.stderr);
    assert!(found.status.success(), "NVRTC could not be installed: {stderr}");
    String::from_utf8(found.stdout).expect("a path").trim().to_owned()
}
