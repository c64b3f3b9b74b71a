//! The physical floor: the least time in which a call's bytes can come from memory.

use gpubench::catalog::{Recording, Role, Tensor};

use gpubench_contract::{CacheState, Mode};
use gpubench_device::Facts;

/// Decoys are replaced after the flush, so these lines of an input are in the cache: one in
/// sixteen, and at least eight of 128 bytes.
const DECOY_SHARE: u64 = 16;
const FEWEST_DECOY_BYTES: u64 = 8 * 128;

/// Returns the least time in nanoseconds that a call can take after a cache flush of `flush_bytes`:
/// the declared bytes that must cross the memory interface, divided by the peak bandwidth. Returns
/// `None` if the peak is unknown, no bytes are declared, the mode is not cold, or the flush is
/// smaller than the cache.
///
/// Three kinds of declared bytes do not count. Written bytes can stay in the cache, up to its size,
/// and reach memory later. The input lines that replaced decoys are in the cache already. Bytes
/// beyond the size of the tensors, as of a second pass, may come from the cache.
pub fn floor_ns(recording: &Recording, facts: &Facts, mode: Mode, flush_bytes: u64) -> Option<f64> {
    let cache = facts.device.l2_bytes;
    let (declared, peak) = (recording.work.bytes?, facts.peak_bandwidth?);
    let is_cold = CacheState::new(mode, flush_bytes, cache) == CacheState::Cold;
    if !is_cold || peak.is_nan() || peak <= 0.0 {
        return None;
    }
    let bytes = |tensor: &Tensor| tensor.elements().saturating_mul(tensor.dtype.size() as u64);
    let sum_of = |counts: fn(Role) -> bool, of: &dyn Fn(&Tensor) -> u64| -> u64 {
        let counted = recording.tensors.iter().filter(|tensor| counts(tensor.role));
        counted.map(of).fold(0, u64::saturating_add)
    };
    let is_written = |role| matches!(role, Role::Output | Role::InOut | Role::Scratch);
    let (read, written) = (sum_of(Role::is_input, &bytes), sum_of(is_written, &bytes));
    let revealed = sum_of(Role::is_input, &|tensor| {
        let bytes = bytes(tensor);
        bytes.min((bytes / DECOY_SHARE).max(FEWEST_DECOY_BYTES))
    });
    let must_pass = declared
        .min(read.saturating_add(written))
        .saturating_sub(written.min(cache))
        .saturating_sub(revealed.min(cache));
    Some(must_pass as f64 / peak * 1e9)
}

#[cfg(test)]
mod tests {
    use gpubench::catalog::{DType, Fill, Reference, Tolerance, Work};
    use gpubench::plan::Plan;

    use super::*;

    const MIB: u64 = 1 << 20;

    fn facts() -> Facts {
        let mut facts = gpubench_device::cpu::facts(std::num::NonZeroUsize::MIN);
        (facts.device.l2_bytes, facts.peak_bandwidth) = (60 * MIB, Some(1e9 * MIB as f64));
        facts
    }

    /// A copy of `mib` MiB with `declared` bytes.
    fn copy(mib: u64, declared: Option<u64>) -> Recording {
        let tensor = |name: &str, role| Tensor {
            name: name.to_owned(),
            dtype: DType::U8,
            shape: vec![mib * MIB],
            role,
            fill: Fill::Poison,
            tolerance: Tolerance::Exact,
            record: None,
        };
        Recording {
            tensors: vec![tensor("x", Role::Input), tensor("y", Role::Output)],
            work: Work {
                bytes: declared,
                flops: None,
                counters: Vec::new(),
            },
            plan: Plan::default(),
            reference: Reference::Author,
            execution: Default::default(),
            call: None,
        }
    }

    /// The floor in MiB at a peak of one MiB per nanosecond.
    fn floor(recording: &Recording) -> Option<f64> {
        floor_ns(recording, &facts(), Mode::Cold, 120 * MIB).map(f64::round)
    }

    #[test]
    fn the_floor_counts_reads_without_decoys_and_writes_beyond_the_cache_size() {
        assert_eq!(floor(&copy(256, Some(512 * MIB))), Some(512.0 - 60.0 - 16.0));
        assert_eq!(floor(&copy(32, Some(64 * MIB))), Some(32.0 - 2.0));
        // The cache holds no more input lines than its size.
        assert_eq!(floor(&copy(2048, Some(4096 * MIB))), Some(4096.0 - 60.0 - 60.0));
    }

    #[test]
    fn fewer_declared_bytes_lower_the_floor() {
        assert_eq!(floor(&copy(256, Some(100 * MIB))), Some(100.0 - 60.0 - 16.0));
        assert_eq!(floor(&copy(256, Some(MIB))), Some(0.0));
    }

    #[test]
    fn declaring_more_bytes_than_the_tensors_have_does_not_raise_the_floor() {
        assert_eq!(floor(&copy(32, Some(u64::MAX))), floor(&copy(32, Some(64 * MIB))));
    }

    #[test]
    fn every_role_is_read_written_or_both() {
        let floor_of = |role| {
            let mut recording = copy(256, Some(u64::MAX));
            recording.tensors.truncate(1);
            recording.tensors[0].role = role;
            floor(&recording)
        };
        let (revealed, kept_in_cache) = (16.0, 60.0);
        for (role, expected) in [
            (Role::Input, 256.0 - revealed),
            (Role::Constant, 256.0 - revealed),
            (Role::Output, 256.0 - kept_in_cache),
            (Role::Scratch, 256.0 - kept_in_cache),
            (Role::InOut, 512.0 - revealed - kept_in_cache),
        ] {
            assert_eq!(floor_of(role), Some(expected), "{role:?}");
        }
    }

    #[test]
    fn at_least_eight_lines_of_an_input_are_decoys() {
        let floor_of = |bytes| {
            let mut recording = copy(1, Some(bytes));
            recording.tensors.truncate(1);
            recording.tensors[0].shape = vec![bytes];
            let facts = Facts {
                peak_bandwidth: Some(1e9),
                ..facts()
            };
            floor_ns(&recording, &facts, Mode::Cold, 60 * MIB).map(f64::round)
        };
        assert_eq!(floor_of(1_000), Some(0.0));
        assert_eq!(floor_of(4_096), Some(4_096.0 - 1_024.0));
        assert_eq!(floor_of(1 << 20), Some((1 << 20) as f64 * 15.0 / 16.0));
    }

    #[test]
    fn there_is_no_floor_without_a_peak_declared_bytes_or_a_full_flush() {
        assert_eq!(floor(&copy(256, None)), None);
        let copied = copy(256, Some(MIB));
        assert_eq!(floor_ns(&copied, &facts(), Mode::Cold, 59 * MIB), None);
        assert_eq!(floor_ns(&copied, &facts(), Mode::Warm, 120 * MIB), None);
        for peak_bandwidth in [None, Some(0.0), Some(-1.0), Some(f64::NAN)] {
            let unknown = Facts {
                peak_bandwidth,
                ..facts()
            };
            assert_eq!(floor_ns(&copied, &unknown, Mode::Cold, 120 * MIB), None);
        }
    }
}
