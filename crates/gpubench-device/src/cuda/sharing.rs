//! Whether others may compute on the GPU at the same time as the referee: then its clock bounds
//! nothing.

use std::ffi::c_int;

use cudarc::driver::sys::CUdevice_attribute;

use super::choice::Gpu;
use super::mps::mps_daemon;
use crate::ClockBound;

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
        Err(_) => mps_daemon().is_some(),
    }
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
}
