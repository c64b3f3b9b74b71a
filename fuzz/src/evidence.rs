//! Evidence in a record, from which `cargo gpubench judge` decides a verdict again.

use std::borrow::Cow;
use std::num::NonZeroU32;

use bytemuck::Zeroable;
use gpubench::catalog::{DType, Fill, Role, Tensor, Tolerance};
use gpubench_contract::MetricKind;
use gpubench_device::ClockBound;
use gpubench_measure::verdict::{Ending, Evidence, Execution, KeptEvidence, RunEvidence, Surroundings, WindowEvidence};
use gpubench_protocol::window::Gate;
use gpubench_protocol::wire::{Claim, NOWHERE, OutputFacts, WindowFacts};

/// Reads evidence and judges it.
pub fn run(data: &[u8]) {
    if let Ok(evidence) = serde_json::from_slice::<KeptEvidence>(data) {
        let _ = evidence.judge();
    }
}

/// Returns the evidence of a right call, of wrong elements, and of a write out of bounds.
pub fn seeds() -> Vec<Vec<u8>> {
    let right = OutputFacts {
        elements: 100,
        matched: 100,
        first_wrong: NOWHERE,
        worst: NOWHERE,
        ..OutputFacts::zeroed()
    };
    let wrong = OutputFacts {
        matched: 90,
        unwritten: 3,
        first_wrong: 17,
        max_abs: f64::INFINITY,
        ..right
    };
    [(right, NOWHERE), (wrong, NOWHERE), (right, 0), (right, 1)]
        .map(|(output, redzone_buffer)| evidence(output, redzone_buffer))
        .into()
}

fn evidence(output: OutputFacts, redzone_buffer: u64) -> Vec<u8> {
    let window = |number| {
        let mut facts = Box::new(WindowFacts {
            window: number,
            output_count: 1,
            s1_ns: 1_000,
            s2_ns: 9_000,
            s3_ns: 9_900,
            redzone_buffer,
            redzone_offset: 400,
            redzone_bytes: 4,
            ..WindowFacts::zeroed()
        });
        facts.outputs[0] = output;
        let claim = Claim {
            elapsed_ns: 5_000.0,
            ..Claim::empty(number)
        };
        WindowEvidence::new(facts, Some(Box::new(claim)))
    };
    let windows = [1, 2, 3].map(window);
    let tensors = [Tensor {
        name: "y".to_owned(),
        dtype: DType::F32,
        shape: vec![4, 25],
        role: Role::Output,
        fill: Fill::Poison,
        tolerance: Tolerance::Close { rtol: 1e-5, atol: 0.0 },
        record: None,
    }];
    let bound = match redzone_buffer {
        NOWHERE => ClockBound::Exclusive,
        _ => ClockBound::Absent(Cow::Borrowed("nobody asked")),
    };
    let evidence = Evidence {
        tensors: &tensors,
        calls: NonZeroU32::MIN,
        scratch: &[64],
        runs: vec![RunEvidence {
            windows: &windows,
            controls: &windows[1..],
            single_controls: &[],
            last_call: 3,
        }],
        ending: Ending::Stopped,
        metric: MetricKind::Time,
        execution: &Execution::Sealed,
        gate: Gate::Stream,
        clock_bound: &bound,
        floor_ns: Some(10.0),
        surroundings: Surroundings::default(),
        open_sandboxes: &[],
    };
    serde_json::to_vec(&evidence).expect("evidence can be written")
}
