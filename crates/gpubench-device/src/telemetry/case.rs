//! The state of the GPU before, during and after a case.

use std::ops::Range;
use std::time::{Duration, Instant};

use super::clients::{descends_from_here, others_among};
use super::energy::next_reading;
use super::{EnergyReading, Gauge, Reading, ThrottleReasons};
use crate::{Backend, Facts};
use gpubench_contract::GpuEnvironment;

/// The time that reading the clock and the throttle reasons may cost per sample. If it costs more,
/// it is not done after every sample.
const BUDGET: Duration = Duration::from_micros(50);
/// Number of trial readings; their median is the cost of one.
const TRIALS: usize = 9;
/// The most samples between two readings, however slow the driver is.
const RAREST: usize = 64;

/// The telemetry of the run's GPU, if it has any.
#[derive(Default)]
pub struct Telemetry {
    gauge: Option<Box<dyn Gauge>>,
    /// Samples between two readings of the clock and the throttle reasons.
    cadence: usize,
    case: Case,
    /// The first measurement, while the case is measured again.
    first: Option<Case>,
}

/// The observations of the current case.
#[derive(Default)]
struct Case {
    before: Reading,
    errors_before: Option<u64>,
    other_clients: Option<u32>,
    samples: usize,
    /// The samples that the readings so far cover.
    read: usize,
    throttled: Vec<ThrottledSamples>,
    seen: ThrottleReasons,
    /// The clocks of the readings so far, with the number of samples that each reading covers up
    /// to.
    clocks_hz: Vec<(usize, f64)>,
}

/// What is known about the latest samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Throttling {
    /// The GPU has not been asked since.
    Unknown,
    /// The GPU does not throttle.
    Absent,
    /// The GPU was found throttled after this many samples, which it had not been asked about
    /// before.
    Found(usize),
}

/// Samples after which the GPU was found throttled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThrottledSamples {
    /// The positions of the samples.
    pub samples: Range<usize>,
    /// The reasons; only those that disturb a measurement.
    pub reasons: ThrottleReasons,
}

/// The state of a GPU before, during and after a case.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// The state before the first window and after the last, and errors in between. If the case was
    /// measured twice, "before" is before the measurement that counts. The number of other
    /// processes is the larger of the two counts.
    pub gpu: GpuEnvironment,
    /// All throttle reasons seen, harmless ones included.
    pub throttle_reasons: Option<ThrottleReasons>,
    /// The throttled samples.
    pub throttled: Vec<ThrottledSamples>,
}

impl Telemetry {
    /// Returns the telemetry of an open device.
    pub fn new(facts: &Facts) -> Telemetry {
        Telemetry::through((Backend::for_facts(facts).gauge)(facts))
    }

    /// Returns telemetry that reads through `gauge`, or reads nothing without one.
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

    /// Returns the current state.
    pub fn now(&mut self) -> Option<Reading> {
        self.gauge.as_deref_mut().map(|gauge| gauge.reading())
    }

    /// Begins a case. The referee must already have its context.
    pub fn begin_case(&mut self) {
        self.case = Case::default();
        self.first = None;
        if let Some(gauge) = self.gauge.as_deref_mut() {
            // Discards errors from between two cases.
            gauge.xids();
            self.case.errors_before = gauge.uncorrected_errors();
        }
        self.read_before();
    }

    /// Begins the second measurement of a case. Earlier observations no longer count, but memory
    /// errors and Xids of both measurements do.
    pub fn begin_again(&mut self) {
        self.read_up_to(self.case.samples);
        let again = Case {
            errors_before: self.case.errors_before,
            ..Case::default()
        };
        self.first = Some(std::mem::replace(&mut self.case, again));
        self.read_before();
    }

    /// Restores the observations of the first measurement, because there is no second one.
    pub fn go_back(&mut self) {
        if let Some(first) = self.first.take() {
            self.case = first;
        }
    }

    fn read_before(&mut self) {
        let Some(gauge) = self.gauge.as_deref_mut() else {
            return;
        };
        let before = gauge.reading();
        self.case.seen.extend(before.throttle_reasons.iter().flatten());
        self.case.before = before;
        self.case.other_clients = other_clients(gauge);
    }

    /// Returns the number of other processes with a compute context on the GPU, at the beginning of
    /// the case or now, whichever is larger; `None` if unknown.
    pub fn other_clients(&mut self) -> Option<u32> {
        if let Some(gauge) = self.gauge.as_deref_mut() {
            self.case.other_clients = self.case.other_clients.max(other_clients(gauge));
        }
        self.case.other_clients
    }

    /// Notes that a sample was taken; there are `samples` now.
    pub fn after_sample(&mut self, samples: usize) {
        self.case.samples = samples;
        if samples.saturating_sub(self.case.read) >= self.cadence {
            self.read_up_to(samples);
        }
    }

    /// Waits until the energy counter moves, and returns its new value, if there is one.
    pub fn energy(&mut self) -> Option<EnergyReading> {
        next_reading(self.gauge.as_deref_mut()?)
    }

    /// Returns what is known about the latest samples.
    pub fn throttling(&self) -> Throttling {
        let is_current = self.gauge.is_some() && self.case.read == self.case.samples && self.case.read > 0;
        match self.case.throttled.last() {
            _ if !is_current => Throttling::Unknown,
            Some(last) if last.samples.end == self.case.read => Throttling::Found(last.samples.len()),
            _ => Throttling::Absent,
        }
    }

    /// Notes that the latest samples were thrown away. Their throttle reasons still count as seen.
    pub fn throw_away(&mut self, samples: usize) {
        let case = &mut self.case;
        case.samples = case.samples.saturating_sub(samples);
        case.read = case.read.min(case.samples);
        let left = case.samples;
        case.clocks_hz.retain(|(until, _)| *until <= left);
        case.throttled.retain_mut(|throttled| {
            throttled.samples.end = throttled.samples.end.min(left);
            !throttled.samples.is_empty()
        });
    }

    /// Ends a case with `samples` samples. Returns `None` without a gauge.
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
            clocks_hz,
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
                sample_clock_hz: median(clocks_hz.into_iter().map(|(_, clock)| clock).collect()),
                persistence_mode: gauge.is_persistent(),
                uncorrected_ecc_errors: errors,
                // The counter restarts when the driver is reloaded.
                new_uncorrected_ecc_errors: errors.zip(errors_before).map(|(now, then)| now.saturating_sub(then)),
                xids: gauge.xids(),
                other_clients: others.map(u64::from),
            },
        })
    }

    /// Reads the clock and the throttle reasons, if some samples are not covered yet.
    fn read_up_to(&mut self, samples: usize) {
        if samples <= self.case.read {
            return;
        }
        let Some(gauge) = self.gauge.as_deref_mut() else {
            return;
        };
        let fresh = self.case.read..samples;
        self.case.read = samples;
        let clock = gauge.clock_hz().map(|clock| (samples, clock));
        self.case.clocks_hz.extend(clock);
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

/// Returns the upper median.
fn median(mut clocks_hz: Vec<f64>) -> Option<f64> {
    clocks_hz.sort_by(f64::total_cmp);
    clocks_hz.get(clocks_hz.len() / 2).copied()
}

fn other_clients(gauge: &mut dyn Gauge) -> Option<u32> {
    others_among(&gauge.compute_processes()?, descends_from_here)
}

fn cost_of_reading(gauge: &mut dyn Gauge) -> Duration {
    let mut costs = [Duration::ZERO; TRIALS];
    for cost in &mut costs {
        let began = Instant::now();
        gauge.clock_hz();
        gauge.throttle_reasons();
        *cost = began.elapsed();
    }
    costs.sort();
    costs[TRIALS / 2]
}

/// Returns the number of samples between two readings, for the cost of a reading.
pub(super) fn cadence_for(cost: Duration) -> usize {
    let samples = cost.as_nanos().div_ceil(BUDGET.as_nanos());
    usize::try_from(samples).unwrap_or(RAREST).clamp(1, RAREST)
}
