//! GPU compilers and their tools. They need no GPU.

use gpubench_diagnostic::testing::CUDA_12;

use crate::fixture::repository;

/// Returns the folder of a pinned NVRTC.
///
/// # Panics
/// If it cannot be installed.
#[track_caller]
pub fn nvrtc() -> String {
    CUDA_12.folder(repository().as_std_path()).display().to_string()
}
