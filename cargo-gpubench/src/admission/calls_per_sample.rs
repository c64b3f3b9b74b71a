//! The number of calls in a sample.

use std::num::NonZeroU32;

use gpubench::catalog::{Recording, Tensor};
use gpubench_contract::units::{counted, size};
use gpubench_contract::{CacheTreatment, Launching, Mode};
use gpubench_device::Facts;
use gpubench_protocol::window::CodePlacement;
use gpubench_protocol::wire::{MAX_OUTPUTS, MAX_WINDOW_BUFFERS};

use super::memory_needed_in_turns;

/// The number of cold calls in a graph unless the user sets it, as in FlashInfer's benchmark.
const COLD_CALLS: u32 = 10;

/// Most bytes of the tensors of all calls, unless the user sets the number of calls. Making and
/// checking the inputs and outputs of a window takes longer with every call, and a call that moves
/// so much is long enough that a launch costs next to nothing.
const MOST_BYTES: u64 = 1 << 28;

/// Nanoseconds that the calls of a graph fill: further calls are left out, unless the user sets
/// their number. A launch is less than 0.2 % of that.
const COLD_NS: f64 = 1e6;

/// Least number of hot calls. Fewer would spread the first launch, which nothing hides, over too
/// few calls.
const FEWEST_HOT_CALLS: u32 = 8;

/// Nanoseconds that hot calls fill, unless the user sets their number. The first launch, which
/// nothing hides, takes about 2 µs, or 6 % of that. Every further call makes the window longer by a
/// digest of its outputs, and so the bound on its time wider.
const HOT_NS: f64 = 32e3;

/// What a call in an earlier mode takes that hot calls do not, in nanoseconds: its launch.
const LAUNCH_NS: f64 = 2_000.0;

/// Least time of a call, in nanoseconds, and most of its bytes and operations in a nanosecond: to
/// guess how long a call takes that no earlier mode has timed. A guess that is too short costs
/// time, since more calls are made and checked than needed.
const GUESSED_NS: f64 = 1_000.0;
const GUESSED_BYTES_PER_NS: f64 = 2_000.0;
const GUESSED_OPERATIONS_PER_NS: f64 = 1_000.0;

/// Returns how many calls of `recording` a sample of `mode` has: `wanted`, or a default that
/// depends on the size of its tensors and on `call_ns`, the time of a call in an earlier mode, but
/// at most as many as their buffers, the cache and the device's free memory allow. Each call has
/// its own tensors and scratch. `rivals` are measured alternately with the case, and their samples
/// have as many calls.
pub fn calls_per_sample(
    mode: Mode,
    recording: &Recording,
    rivals: &[&Recording],
    facts: &Facts,
    wanted: Option<NonZeroU32>,
    call_ns: Option<f64>,
) -> NonZeroU32 {
    let wished = match (mode.launching(), mode.cache()) {
        (Launching::Alone, _) => return NonZeroU32::MIN,
        (_, CacheTreatment::Touched) => wished_hot(recording, wanted, call_ns),
        (_, CacheTreatment::Flushed | CacheTreatment::Left) => wished_cold(recording, wanted, call_ns),
    };
    let calls = wished.min(possible(mode, recording, rivals, facts));
    u32::try_from(calls)
        .ok()
        .and_then(NonZeroU32::new)
        .unwrap_or(NonZeroU32::MIN)
}

/// Returns the notice about a sample with fewer calls than the user asked for, if it has fewer.
pub fn fewer_calls(mode: Mode, wanted: Option<NonZeroU32>, calls: u64) -> Option<String> {
    let wanted = wanted?.get();
    let is_less = mode.launching() != Launching::Alone && calls < wanted.into();
    is_less.then(|| {
        format!(
            "a sample has {} instead of {wanted}: a window, the memory of the device or, for hot calls, half of its \
             cache has no room for more",
            counted(calls, "call")
        )
    })
}

/// Returns why the hot calls of a case cannot have tensors of their own, if they cannot.
pub(super) fn too_large_for_hot_calls(mode: Mode, recording: &Recording, facts: &Facts) -> Option<String> {
    let is_hot = mode.cache() == CacheTreatment::Touched;
    if !is_hot || possible(mode, recording, &[], facts) >= FEWEST_HOT_CALLS.into() {
        return None;
    }
    let of_call = size(bytes_of_call(recording));
    let cache = size(facts.device.l2_bytes);
    let buffers = recording.tensors.len() + recording.plan.scratch.len();
    Some(format!(
        "too large, use `--mode graph`: hot calls each have tensors of their own, at least {FEWEST_HOT_CALLS} sets in \
         half of a cache of {cache}, and a set of this case has {buffers} buffers with {of_call}"
    ))
}

/// Cold calls: at least two by default, so that there is something to amortise.
fn wished_cold(recording: &Recording, wanted: Option<NonZeroU32>, call_ns: Option<f64>) -> u64 {
    if let Some(wanted) = wanted {
        return wanted.get().into();
    }
    let of_call = recording.tensors.iter().map(Tensor::bytes).fold(0, u64::saturating_add);
    u64::from(COLD_CALLS)
        .min(MOST_BYTES / of_call.max(1))
        .min(call_ns.map_or(u64::MAX, |call_ns| (COLD_NS / call_ns).ceil() as u64))
        .max(2)
}

fn wished_hot(recording: &Recording, wanted: Option<NonZeroU32>, call_ns: Option<f64>) -> u64 {
    let guessed_ns = || {
        let moved = recording.work.bytes.unwrap_or_else(|| bytes_of_call(recording));
        let computed = recording.work.flops.unwrap_or_default();
        let of_memory = moved as f64 / GUESSED_BYTES_PER_NS;
        GUESSED_NS
            .max(of_memory)
            .max(computed as f64 / GUESSED_OPERATIONS_PER_NS)
    };
    let filling = || {
        let call_ns = call_ns.map(|call_ns| (call_ns - LAUNCH_NS).max(GUESSED_NS));
        (HOT_NS / call_ns.unwrap_or_else(guessed_ns)).ceil() as u64
    };
    wanted
        .map_or_else(filling, |wanted| wanted.get().into())
        .max(FEWEST_HOT_CALLS.into())
}

/// Returns the largest possible number of calls.
fn possible(mode: Mode, recording: &Recording, rivals: &[&Recording], facts: &Facts) -> u64 {
    let placement = CodePlacement::new(recording, facts.kernels_run_in);
    let outputs = recording.tensors.iter().filter(|tensor| tensor.role.is_output());
    let sides = || std::iter::once(&recording).chain(rivals);
    let scratch = || sides().map(|side| side.plan.scratch.len());
    let of_side = recording.tensors.len() + scratch().max().unwrap_or(0);
    let in_cache = match mode.cache() {
        CacheTreatment::Touched => facts.device.l2_bytes / 2 / bytes_of_call(recording).max(1),
        CacheTreatment::Flushed | CacheTreatment::Left => u64::MAX,
    };
    [
        (MAX_WINDOW_BUFFERS / of_side.max(1)) as u64,
        (MAX_OUTPUTS / outputs.map(Tensor::parts).sum::<usize>().max(1)) as u64,
        facts.free_memory.unwrap_or(u64::MAX) / memory_needed_in_turns(&placement, rivals.iter().copied()).max(1),
        in_cache,
    ]
    .into_iter()
    .fold(u64::MAX, u64::min)
}

/// Returns the bytes of the tensors and the scratch of a call.
fn bytes_of_call(recording: &Recording) -> u64 {
    let tensors = recording.tensors.iter().map(Tensor::bytes);
    tensors
        .chain(recording.plan.scratch.iter().copied())
        .fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use gpubench::catalog::{DType, Fill, Reference, Role, Tolerance, Work};
    use gpubench::plan::Plan;

    use super::*;

    #[test]
    fn fewer_calls_than_asked_for_are_told() {
        let told = |mode, wanted, calls| fewer_calls(mode, NonZeroU32::new(wanted), calls);
        let notice = told(Mode::Graph, 60, 32).expect("a notice");
        assert!(notice.starts_with("a sample has 32 calls instead of 60: "), "{notice}");
        assert_eq!(told(Mode::Graph, 32, 32), None);
        assert_eq!(told(Mode::Hot, 4, 8), None);
        assert_eq!(told(Mode::Cold, 60, 1), None);
        assert_eq!(told(Mode::Graph, 0, 2), None);
    }

    const KIB: u64 = 1 << 10;
    const MIB: u64 = 1 << 20;

    /// A case with `inputs` inputs and one output, each of `bytes` bytes.
    fn recording(inputs: usize, bytes: u64) -> Recording {
        let tensor = |role| Tensor {
            name: "x".to_owned(),
            dtype: DType::U8,
            shape: vec![bytes],
            role,
            fill: Fill::Bits,
            tolerance: Tolerance::Exact,
            record: None,
        };
        let inputs = (0..inputs).map(|_| tensor(Role::Input));
        Recording {
            tensors: inputs.chain([tensor(Role::Output)]).collect(),
            work: Work::default(),
            plan: Plan::default(),
            reference: Reference::Author,
            execution: Default::default(),
            call: None,
        }
    }

    fn facts(free_mib: u64) -> Facts {
        let mut facts = gpubench_device::cpu::facts(std::num::NonZeroUsize::MIN);
        facts.free_memory = Some(free_mib * MIB);
        facts.device.l2_bytes = 48 * MIB;
        facts
    }

    fn cold(recording: &Recording, free_mib: u64, wanted: Option<u32>) -> u32 {
        let wanted = wanted.and_then(NonZeroU32::new);
        calls_per_sample(Mode::Graph, recording, &[], &facts(free_mib), wanted, None).get()
    }

    fn hot(recording: &Recording, call_ns: Option<f64>) -> u32 {
        let calls = [Mode::Hot, Mode::HotGraph]
            .map(|mode| calls_per_sample(mode, recording, &[], &facts(100 << 10), None, call_ns).get());
        assert_eq!(calls[0], calls[1]);
        calls[0]
    }

    #[test]
    fn a_graph_has_ten_calls_or_fewer_if_they_are_large() {
        let plenty = 100 << 10;
        assert_eq!(cold(&recording(1, MIB), plenty, None), 10);
        assert_eq!(cold(&recording(1, 25 * MIB), plenty, None), 5);
        assert_eq!(cold(&recording(1, 5_000 * MIB), plenty, None), 2);
        assert_eq!(cold(&recording(1, 100 * MIB), plenty, Some(20)), 20);
    }

    #[test]
    fn a_graph_has_fewer_calls_if_they_are_known_to_be_slow() {
        let calls = |wanted, call_ns| {
            let recording = recording(1, MIB);
            calls_per_sample(Mode::Graph, &recording, &[], &facts(100 << 10), wanted, Some(call_ns)).get()
        };
        assert_eq!(
            [99e3, 101e3, 300e3, 999e3, 8e6].map(|call_ns| calls(None, call_ns)),
            [10, 10, 4, 2, 2]
        );
        assert_eq!(calls(NonZeroU32::new(10), 8e6), 10);
    }

    #[test]
    fn a_sample_has_no_more_calls_than_buffers_outputs_and_memory_allow() {
        let plenty = 100 << 10;
        assert_eq!(
            cold(&recording(8, MIB), plenty, Some(60)),
            (MAX_WINDOW_BUFFERS / 9) as u32
        );
        assert_eq!(cold(&recording(0, MIB), plenty, Some(1_000)), MAX_OUTPUTS as u32);
        // Three copies of the input and one for the author, five of the output and one for the
        // author.
        assert_eq!(cold(&recording(1, MIB), 35, None), 3);
        assert_eq!(cold(&recording(1, MIB), 1, None), 1);
    }

    #[test]
    fn a_rival_has_outputs_and_scratch_of_its_own() {
        let calls = |rivals: &[&Recording], free_mib| {
            let wanted = NonZeroU32::new(100);
            calls_per_sample(Mode::Graph, &recording(1, MIB), rivals, &facts(free_mib), wanted, None).get()
        };
        let mut rival = recording(1, MIB);
        assert_eq!(calls(&[], 1_000 << 10), MAX_OUTPUTS as u32);
        assert_eq!(calls(&[&rival; 6], 1_000 << 10), MAX_OUTPUTS as u32);
        assert_eq!([calls(&[], 100), calls(&[&rival], 100)], [10, 9]);
        rival.plan.scratch = vec![MIB; 6];
        assert_eq!(calls(&[&rival], 1_000 << 10), (MAX_WINDOW_BUFFERS / 8) as u32);
        assert_eq!(calls(&[&rival], 34), 2);
    }

    #[test]
    fn modes_without_several_calls_make_one() {
        for mode in [Mode::Cold, Mode::Warm] {
            let wanted = NonZeroU32::new(20);
            let calls = calls_per_sample(mode, &recording(1, 1), &[], &facts(1 << 10), wanted, None);
            assert_eq!(calls, NonZeroU32::MIN);
        }
    }

    #[test]
    fn hot_calls_fill_the_same_time_with_at_least_eight() {
        let small = recording(1, KIB);
        assert_eq!([2e3, 4e3, 1e6].map(|call_ns| hot(&small, Some(call_ns))), [32, 16, 8]);
        assert_eq!(hot(&small, None), 32);
        // 2 MiB take at least 1 µs to move.
        assert_eq!(hot(&recording(1, MIB), None), 12, "half of the cache holds no more");
    }

    #[test]
    fn hot_calls_that_do_not_fit_into_half_of_the_cache_are_refused() {
        let refused = |mode, bytes| too_large_for_hot_calls(mode, &recording(1, bytes), &facts(1 << 10));
        for mode in [Mode::Hot, Mode::HotGraph] {
            assert_eq!(refused(mode, 3 * MIB / 2), None);
            let reason = refused(mode, 3 * MIB / 2 + 1).expect("it is refused");
            assert!(reason.contains("`--mode graph`"), "{reason}");
        }
        for mode in [Mode::Cold, Mode::Warm, Mode::Graph] {
            assert_eq!(refused(mode, 100 * MIB), None);
        }
    }
}
