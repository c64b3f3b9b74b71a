//! The GPU's state round the samples of a case.

use std::ops::Range;
use std::time::{Duration, Instant};

use super::clients::{descends_from_here, others_among};
use super::{Gauge, Reading, ThrottleReasons};
use gpubench_contract::GpuEnvironment;

/// What reading the throttle reasons may cost a sample; where it costs more, it is done behind
/// every few samples.
const BUDGET: Duration = Duration::from_micros(50);
/// Readings whose median is taken for the cost of one.
const TRIALS: usize = 9;
/// However slow the driver is, no more samples than this go by without a reading.
const RAREST: usize = 64;

/// The instruments of the run's GPU, where there are any.
#[derive(Default)]
pub struct Telemetry {
    gauge: Option<Box<dyn Gauge>>,
    /// Samples between two readings of the throttle reasons.
    cadence: usize,
    case: Case,
    /// The case as it was before it was measured once more.
    first: Option<Case>,
}

/// What is kept of the case at hand.
#[derive(Default)]
struct Case {
    before: Reading,
    errors_before: Option<u64>,
    other_clients: Option<u32>,
    samples: usize,
    /// Those that the readings so far stand for.
    read: usize,
    throttled: Vec<ThrottledSamples>,
    seen: ThrottleReasons,
}

/// Samples behind which the GPU was found throttled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThrottledSamples {
    /// Their positions.
    pub samples: Range<usize>,
    /// Why; only reasons that disturb a measurement.
    pub reasons: ThrottleReasons,
}

/// What was seen of a GPU round the samples of a case.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// Its state before its first window (of a case that was measured twice, before the measurement
    /// that counts) and after its last, and what came in between. Of other processes there are as
    /// many as before or after, whichever were more.
    pub gpu: GpuEnvironment,
    /// Every reason for throttling that was seen, harmless ones included.
    pub throttle_reasons: Option<ThrottleReasons>,
    /// Samples that were throttled.
    pub throttled: Vec<ThrottledSamples>,
}

impl Telemetry {
    /// Reads through `gauge`, or not at all.
    pub fn through(gauge: Option<Box<dyn Gauge>>) -> Telemetry {
        let mut telemetry = Telemetry {
            gauge,
            ..Telemetry::default()
        };
        telemetry.cadence = telemetry
            .gauge
            .as_deref_mut()
            .map_or(1, |gauge| cadence_for(cost_of_reading(gauge)));
        telemetry
    }

    /// The state now.
    pub fn now(&mut self) -> Option<Reading> {
        self.gauge.as_deref_mut().map(|gauge| gauge.reading())
    }

    /// A case begins. The referee must have its context.
    pub fn begin_case(&mut self) {
        self.case = Case::default();
        self.first = None;
        if let Some(gauge) = self.gauge.as_deref_mut() {
            // What came between two cases belongs to neither.
            gauge.xids();
            self.case.errors_before = gauge.uncorrected_errors();
        }
        self.look_before();
    }

    /// The case is measured once more, and only what is seen from now on counts. Memory errors and
    /// Xids stay the case's, in whichever measurement they came.
    pub fn begin_again(&mut self) {
        self.read_up_to(self.case.samples);
        let again = Case {
            errors_before: self.case.errors_before,
            ..Case::default()
        };
        self.first = Some(std::mem::replace(&mut self.case, again));
        self.look_before();
    }

    /// The case could not be measured once more: what was seen before that counts after all.
    pub fn go_back(&mut self) {
        if let Some(first) = self.first.take() {
            self.case = first;
        }
    }

    fn look_before(&mut self) {
        let Some(gauge) = self.gauge.as_deref_mut() else {
            return;
        };
        let before = gauge.reading();
        self.case.seen.extend(before.throttle_reasons.iter().flatten());
        self.case.before = before;
        self.case.other_clients = other_clients(gauge);
    }

    /// Other processes with a compute context on the GPU when the case began or now, whichever were
    /// more; `None` where that is not known.
    pub fn other_clients(&mut self) -> Option<u32> {
        if let Some(gauge) = self.gauge.as_deref_mut() {
            self.case.other_clients = self.case.other_clients.max(other_clients(gauge));
        }
        self.case.other_clients
    }

    /// A sample has been taken; there are `samples` now.
    pub fn after_sample(&mut self, samples: usize) {
        self.case.samples = samples;
        if samples.saturating_sub(self.case.read) >= self.cadence {
            self.read_up_to(samples);
        }
    }

    /// A case has ended with `samples` samples; nothing where there are no instruments.
    pub fn end_case(&mut self, samples: usize) -> Option<Observation> {
        self.read_up_to(samples);
        let gauge = self.gauge.as_deref_mut()?;
        let Case {
            before,
            errors_before,
            other_clients: others_before,
            samples: _,
            read: _,
            throttled,
            mut seen,
        } = std::mem::take(&mut self.case);
        let after = gauge.reading();
        seen.extend(after.throttle_reasons.iter().flatten());
        let errors = gauge.uncorrected_errors();
        let others = others_before.max(other_clients(gauge));
        Some(Observation {
            throttle_reasons: after.throttle_reasons.is_some().then_some(seen),
            throttled,
            gpu: GpuEnvironment {
                before: before.state(),
                after: Some(after.state()),
                persistence_mode: gauge.is_persistent(),
                uncorrected_ecc_errors: errors,
                // The counter starts anew where the driver is loaded anew.
                new_uncorrected_ecc_errors: errors.zip(errors_before).map(|(now, then)| now.saturating_sub(then)),
                xids: gauge.xids(),
                other_clients: others.map(u64::from),
            },
        })
    }

    /// Reads, where there are samples that no reading stands for.
    fn read_up_to(&mut self, samples: usize) {
        if samples <= self.case.read {
            return;
        }
        let Some(gauge) = self.gauge.as_deref_mut() else {
            return;
        };
        let fresh = self.case.read..samples;
        self.case.read = samples;
        let reasons = gauge.throttle_reasons().unwrap_or_default();
        self.case.seen.extend(&reasons);
        let disturbing: ThrottleReasons = reasons.into_iter().filter(|reason| reason.disturbs()).collect();
        if !disturbing.is_empty() {
            self.case.throttled.push(ThrottledSamples {
                samples: fresh,
                reasons: disturbing,
            });
        }
    }
}

fn other_clients(gauge: &mut dyn Gauge) -> Option<u32> {
    others_among(&gauge.compute_processes()?, descends_from_here)
}

fn cost_of_reading(gauge: &mut dyn Gauge) -> Duration {
    let mut costs = [Duration::ZERO; TRIALS];
    for cost in &mut costs {
        let began = Instant::now();
        gauge.throttle_reasons();
        *cost = began.elapsed();
    }
    costs.sort();
    costs[TRIALS / 2]
}

/// Samples between two readings that cost so much each.
pub(super) fn cadence_for(cost: Duration) -> usize {
    let samples = cost.as_nanos().div_ceil(BUDGET.as_nanos());
    usize::try_from(samples).unwrap_or(RAREST).clamp(1, RAREST)
}
