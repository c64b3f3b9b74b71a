//! Detects whether others can run work on the GPU at the same time as the referee. If so, the
//! referee's clock bounds nothing.

use super::choice::Gpu;
use crate::ClockBound;

/// Returns whether work of two processes can overlap on a GPU of this name.
pub(super) fn clock_bound(gpu: &Gpu, name: &str) -> ClockBound {
    if gpu.uses_mps() {
        return ClockBound::Absent("the GPU is shared through MPS: kernels of several processes run at once".into());
    }
    if is_slice(name) {
        return ClockBound::Absent(
            "the GPU is a MIG slice: other slices run at the same time and share its clocks".into(),
        );
    }
    if is_virtual(name) {
        return ClockBound::Absent(
            "the GPU is virtual: other virtual machines may run work on it between two timestamps".into(),
        );
    }
    ClockBound::Exclusive
}

/// Recognizes `NVIDIA H100 80GB HBM3 MIG 1g.10gb`.
fn is_slice(name: &str) -> bool {
    name.split_whitespace().any(|word| word == "MIG")
}

/// Recognizes `GRID T4-8Q` and `NVIDIA A16-2B`: profiles of virtual GPUs end with their gigabytes
/// and a letter.
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
    fn slices_and_virtual_gpus_are_recognized_by_name() {
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
