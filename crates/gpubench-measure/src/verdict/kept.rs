//! Evidence that a record has kept, from which the verdict can be decided again.

use std::num::NonZeroU32;

use gpubench::catalog::{Tensor, by_field};
use gpubench::codec;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::{Ending, Evidence, Execution, Judgement, RunEvidence, Surroundings, WindowEvidence, balance, judge};
use gpubench_contract::MetricKind;
use gpubench_device::ClockBound;
use gpubench_protocol::window::Gate;

/// Evidence as [`Evidence`] writes it into a record.
#[derive(Debug, Deserialize)]
pub struct KeptEvidence {
    #[serde(deserialize_with = "decoded")]
    tensors: Vec<Tensor>,
    calls: NonZeroU32,
    scratch: Vec<u64>,
    runs: Vec<KeptRun>,
    ending: Ending,
    metric: MetricKind,
    execution: Execution,
    gate: Gate,
    clock_bound: ClockBound,
    floor_ns: Option<f64>,
    surroundings: KeptSurroundings,
    open_sandboxes: Vec<String>,
}

/// The windows of one worker.
#[derive(Debug, Deserialize)]
struct KeptRun {
    windows: Vec<WindowEvidence>,
    controls: Vec<WindowEvidence>,
    single_controls: Vec<WindowEvidence>,
    last_call: u32,
}

/// What ran on the device besides.
#[derive(Debug, Deserialize)]
struct KeptSurroundings {
    controls_afterwards: Vec<WindowEvidence>,
    shortest_claim_ns: Option<f64>,
    loss: Option<String>,
    rivals: usize,
    other_clients: Option<u32>,
}

impl KeptEvidence {
    /// Returns the judgement on the evidence, as the run's judge gave it. What came later is not in
    /// it: what a sanitizer found, and calls that were counted or audited.
    pub fn judge(&self) -> Judgement {
        let evidence = self.evidence();
        judge(&evidence, balance(&evidence).as_ref())
    }

    fn evidence(&self) -> Evidence<'_> {
        let around = &self.surroundings;
        Evidence {
            tensors: &self.tensors,
            calls: self.calls,
            scratch: &self.scratch,
            runs: self.runs.iter().map(KeptRun::evidence).collect(),
            ending: self.ending.clone(),
            metric: self.metric,
            execution: &self.execution,
            gate: self.gate,
            clock_bound: &self.clock_bound,
            floor_ns: self.floor_ns,
            surroundings: Surroundings {
                controls_afterwards: &around.controls_afterwards,
                shortest_claim_ns: around.shortest_claim_ns,
                loss: around.loss.as_deref(),
                rivals: around.rivals,
                other_clients: around.other_clients,
            },
            open_sandboxes: &self.open_sandboxes,
        }
    }
}

impl KeptRun {
    fn evidence(&self) -> RunEvidence<'_> {
        RunEvidence {
            windows: &self.windows,
            controls: &self.controls,
            single_controls: &self.single_controls,
            last_call: self.last_call,
        }
    }
}

/// Reads tensors in the runtime's encoding. A tensor's size must have a number.
fn decoded<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Tensor>, D::Error> {
    let tensors: Vec<Tensor> = codec::decode(&Vec::<u8>::deserialize(deserializer)?).map_err(D::Error::custom)?;
    let has_size = |tensor: &Tensor| {
        let element = tensor.dtype.size() as u64;
        let mut extents = tensor.shape.iter();
        extents
            .try_fold(element, |size, extent| size.checked_mul(*extent))
            .is_some()
    };
    let parts = by_field(&tensors);
    match tensors.iter().chain(&parts).find(|tensor| !has_size(tensor)) {
        Some(tensor) => Err(D::Error::custom(format_args!(
            "the size of `{}` has no number",
            tensor.name
        ))),
        None => Ok(tensors),
    }
}
