//! Whether others may compute on the GPU at the same time as the referee: then its clock bounds nothing.

use std::ffi::c_int;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use cudarc::driver::sys::CUdevice_attribute;

use super::choice::Gpu;
use crate::device::ClockBound;

/// Where the daemon of MPS listens, unless told otherwise.
const DEFAULT_PIPE_DIRECTORY: &str = "/tmp/nvidia-mps";

/// Whether phases of two processes can overlap on a GPU of this name.
pub(super) fn clock_bound(gpu: &Gpu, name: &str) -> ClockBound {
    if mps_is_used(gpu) {
        return ClockBound::Absent("the GPU is shared through MPS: kernels of several processes run at once".into());
    }
    if is_slice(name) {
        return ClockBound::Absent("the GPU is a MIG slice: others compute beside it and share its clocks".into());
    }
    if is_virtual(name) {
        return ClockBound::Absent("the GPU is a virtual one: others compute on it between the clock's stamps".into());
    }
    ClockBound::Exclusive
}

/// Whether contexts of this process are made through MPS.
pub(super) fn mps_is_used(gpu: &Gpu) -> bool {
    let attribute = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MPS_ENABLED;
    match gpu.attribute(attribute) {
        Ok(enabled) => enabled != 0 as c_int,
        // A driver that does not know the attribute: the daemon's control pipe tells.
        Err(_) => control_pipe_exists(&pipe_directory()),
    }
}

fn pipe_directory() -> PathBuf {
    std::env::var_os("CUDA_MPS_PIPE_DIRECTORY").map_or_else(|| PathBuf::from(DEFAULT_PIPE_DIRECTORY), PathBuf::from)
}

/// The pipes of a daemon that was killed stay; a daemon that is not there is worth an `advisory` less than one that is there is worth a `sealed`.
fn control_pipe_exists(directory: &Path) -> bool {
    fs_err::metadata(directory.join("control")).is_ok_and(|metadata| {
        let kind = metadata.file_type();
        kind.is_fifo() || kind.is_socket()
    })
}

/// `NVIDIA H100 80GB HBM3 MIG 1g.10gb`.
fn is_slice(name: &str) -> bool {
    name.split_whitespace().any(|word| word == "MIG")
}

/// `GRID T4-8Q`, `NVIDIA A16-2B`: profiles of virtual GPUs end in their gigabytes and a letter.
fn is_virtual(name: &str) -> bool {
    if name.split_whitespace().any(|word| word == "GRID" || word == "vGPU") {
        return true;
    }
    let Some((_, profile)) = name.rsplit_once('-') else {
        return false;
    };
    profile
        .strip_suffix(['Q', 'B', 'C', 'A'])
        .is_some_and(|size| !size.is_empty() && size.bytes().all(|digit| digit.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_and_virtual_gpus_are_told_by_their_names() {
        for whole in [
            "NVIDIA H200",
            "NVIDIA A100-SXM4-80GB",
            "NVIDIA GeForce RTX 4090",
            "Tesla T4",
        ] {
            assert!(!is_slice(whole) && !is_virtual(whole), "{whole}");
        }
        assert!(is_slice("NVIDIA H100 80GB HBM3 MIG 1g.10gb"));
        for profile in ["GRID T4-8Q", "NVIDIA A16-2B", "NVIDIA L40S-48C"] {
            assert!(is_virtual(profile), "{profile}");
        }
    }

    #[test]
    fn a_file_that_is_no_pipe_is_no_mps_daemon() {
        let directory = tempfile::tempdir().unwrap();
        assert!(!control_pipe_exists(directory.path()));
        fs_err::write(directory.path().join("control"), "").unwrap();
        assert!(!control_pipe_exists(directory.path()));
        let socket = directory.path().join("other");
        fs_err::create_dir(&socket).unwrap();
        let _listener = std::os::unix::net::UnixListener::bind(socket.join("control")).unwrap();
        assert!(control_pipe_exists(&socket));
    }
}
