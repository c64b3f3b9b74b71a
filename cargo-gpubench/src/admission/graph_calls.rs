//! The number of calls in a graph.

use std::num::NonZeroU32;

use gpubench::catalog::{Recording, Tensor};
use gpubench_device::Facts;
use gpubench_protocol::window::{Allocations, CodePlacement};
use gpubench_protocol::wire::{MAX_ALLOCATIONS, MAX_BUFFERS, MAX_OUTPUTS};

use super::memory_needed_in_turns;

/// The number of calls in a graph unless the user sets it, as in FlashInfer's benchmark.
const DEFAULT_CALLS: u32 = 10;

/// Most bytes of the tensors of all calls, unless the user sets the number of calls. Making and
/// checking the inputs and outputs of a window takes longer with every call, and a call that moves
/// so much is long enough that a launch costs next to nothing.
const DEFAULT_BYTES: u64 = 1 << 28;

/// Nanoseconds that the calls of a graph fill: further calls are left out, unless the user sets
/// their number. A launch is less than 0.2 % of that.
const DEFAULT_NS: f64 = 1e6;

/// Returns how many calls of `recording` a graph holds: `wanted`, or a default that depends on the
/// size of its tensors and on `call_ns`, the time of a call in an earlier mode, but at most as many
/// as their buffers and the device's free memory allow. Each call has its own tensors and scratch.
/// `rivals` are measured alternately with the case, and their graphs have as many calls.
pub fn calls_in_graph(
    recording: &Recording,
    rivals: &[&Recording],
    facts: &Facts,
    wanted: Option<NonZeroU32>,
    call_ns: Option<f64>,
) -> NonZeroU32 {
    let placement = CodePlacement::new(recording, facts.kernels_run_in);
    let outputs = recording
        .tensors
        .iter()
        .filter(|tensor| tensor.role.is_output())
        .count();
    let sides = || std::iter::once(&recording).chain(rivals);
    let scratch = || sides().map(|side| side.plan.scratch.len());
    let of_side = recording.tensors.len() + scratch().max().unwrap_or(0);
    let of_all = Allocations::of(&recording.tensors, scratch()).number();
    let bytes = recording.tensors.iter().map(Tensor::bytes).fold(0, u64::saturating_add);
    let wished = match wanted {
        Some(wanted) => wanted.get().into(),
        // At least two, so that there is something to amortise.
        None => u64::from(DEFAULT_CALLS)
            .min(DEFAULT_BYTES / bytes.max(1))
            .min(call_ns.map_or(u64::MAX, |call_ns| (DEFAULT_NS / call_ns).ceil() as u64))
            .max(2),
    };
    let possible = [
        (MAX_BUFFERS / of_side.max(1)) as u64,
        (MAX_ALLOCATIONS / of_all.max(1)) as u64,
        (MAX_OUTPUTS / outputs.max(1)) as u64,
        facts.free_memory.unwrap_or(u64::MAX) / memory_needed_in_turns(&placement, rivals.iter().copied()).max(1),
    ];
    let calls = possible.into_iter().fold(wished, u64::min);
    u32::try_from(calls)
        .ok()
        .and_then(NonZeroU32::new)
        .unwrap_or(NonZeroU32::MIN)
}

#[cfg(test)]
mod tests {
    use gpubench::catalog::{DType, Fill, Reference, Role, Tolerance, Work};
    use gpubench::plan::Plan;

    use super::*;

    const MIB: u64 = 1 << 20;

    /// A case with `inputs` inputs and one output, each of `mib` MiB.
    fn recording(inputs: usize, mib: u64) -> Recording {
        let tensor = |role| Tensor {
            name: "x".to_owned(),
            dtype: DType::U8,
            shape: vec![mib * MIB],
            role,
            fill: Fill::Bits,
            tolerance: Tolerance::Exact,
        };
        let inputs = (0..inputs).map(|_| tensor(Role::Input));
        Recording {
            tensors: inputs.chain([tensor(Role::Output)]).collect(),
            work: Work::default(),
            plan: Plan::default(),
            reference: Reference::Author,
            execution: Default::default(),
        }
    }

    fn calls(recording: &Recording, free_mib: u64, wanted: Option<u32>) -> u32 {
        let mut facts = gpubench_device::cpu::facts(std::num::NonZeroUsize::MIN);
        facts.free_memory = Some(free_mib * MIB);
        calls_in_graph(recording, &[], &facts, wanted.and_then(NonZeroU32::new), None).get()
    }

    #[test]
    fn a_graph_has_ten_calls_or_fewer_if_they_are_large() {
        let plenty = 100 << 10;
        assert_eq!(calls(&recording(1, 1), plenty, None), 10);
        assert_eq!(calls(&recording(1, 25), plenty, None), 5);
        assert_eq!(calls(&recording(1, 5_000), plenty, None), 2);
        assert_eq!(calls(&recording(1, 100), plenty, Some(20)), 20);
    }

    #[test]
    fn a_graph_has_fewer_calls_if_they_are_known_to_be_slow() {
        let facts = gpubench_device::cpu::facts(std::num::NonZeroUsize::MIN);
        let calls = |wanted, call_ns| calls_in_graph(&recording(1, 1), &[], &facts, wanted, Some(call_ns)).get();
        assert_eq!(
            [99e3, 101e3, 300e3, 999e3, 8e6].map(|call_ns| calls(None, call_ns)),
            [10, 10, 4, 2, 2]
        );
        assert_eq!(calls(NonZeroU32::new(10), 8e6), 10);
    }

    #[test]
    fn a_graph_has_no_more_calls_than_buffers_outputs_and_memory_allow() {
        let plenty = 100 << 10;
        assert_eq!(calls(&recording(8, 1), plenty, None), 64 / 9);
        assert_eq!(calls(&recording(0, 1), plenty, Some(100)), 60);
        // Three copies of the input and one for the author, five of the output and one for the
        // author.
        assert_eq!(calls(&recording(1, 1), 35, None), 3);
        assert_eq!(calls(&recording(1, 1), 1, None), 1);
    }

    #[test]
    fn a_rival_has_outputs_and_scratch_of_its_own_in_the_graph() {
        let mut facts = gpubench_device::cpu::facts(std::num::NonZeroUsize::MIN);
        let mut calls = |rivals: &[&Recording], free_mib| {
            facts.free_memory = Some(free_mib * MIB);
            calls_in_graph(&recording(1, 1), rivals, &facts, NonZeroU32::new(100), None).get()
        };
        let mut rival = recording(1, 1);
        assert_eq!(calls(&[], 100 << 10), 32);
        assert_eq!(calls(&[&rival], 100 << 10), 32);
        assert_eq!(calls(&[&rival; 6], 100 << 10), 192 / 8);
        assert_eq!([calls(&[], 100), calls(&[&rival], 100)], [10, 9]);
        rival.plan.scratch = vec![MIB; 6];
        assert_eq!(calls(&[&rival], 100 << 10), 64 / 8);
        assert_eq!(calls(&[&rival], 34), 2);
    }
}
