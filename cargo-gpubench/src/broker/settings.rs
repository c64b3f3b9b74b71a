//! What a run's options say of how its cases are measured, settled for its device.

use std::num::NonZeroUsize;

use gpubench::catalog::DeviceKind;

use super::against::opponent::Counterpart;
use super::against::question::Question;
use super::measurement::{Protocol, Purpose, Yardsticks};
use super::options::{AfterFailure, Annotations, CaseOptions, MasterSeed, RunOptions, StoppingOptions};
use crate::clients::{Interrupt, Output};
use crate::compare::Threshold;
use crate::device::{ClockBound, Facts, KernelPart};
use crate::error::ExpectedError;
use crate::report::{Flush, Mode, Peaks, ThresholdSource};
use crate::stats::{Confidence, Looks, StopRule, Turnout, WarmUpRule};
use crate::window::Seeds;
use crate::wire::{Begin, DeviceOrder, FlushKind};

/// How a run measures.
pub(super) struct RunSettings<'a> {
    pub(super) purpose: Purpose,
    pub(super) after_failure: AfterFailure,
    pub(super) annotations: Annotations,
    pub(super) seeds: Seeds,
    pub(super) flush_bytes: u64,
    pub(super) interrupt: &'a Interrupt,
    flush: FlushKind,
    output: Output,
    confidence: Confidence,
    device: DeviceOrder,
    facts: &'a Facts,
    clock_bound: ClockBound,
}

impl<'a> RunSettings<'a> {
    /// Draws the seed, where none is given.
    ///
    /// # Errors
    /// The operating system gives no random seed.
    pub(super) fn of(
        options: &RunOptions,
        device: DeviceOrder,
        facts: &'a Facts,
        interrupt: &'a Interrupt,
    ) -> Result<RunSettings<'a>, ExpectedError> {
        let purpose = Purpose::from(options.action);
        Ok(RunSettings {
            purpose,
            after_failure: options.after_failure,
            annotations: options.annotations,
            seeds: seeds(options.measurement.seed)?,
            flush_bytes: options.measurement.flush_bytes.unwrap_or(facts.flush_bytes),
            interrupt,
            flush: options.measurement.flush,
            output: options.user_output(),
            confidence: options.results.judging.confidence,
            device,
            facts,
            clock_bound: match purpose.is_timed() {
                true => facts.clock_bound.clone(),
                false => ClockBound::Absent("nothing is timed".into()),
            },
        })
    }

    /// How the referee measures.
    pub(super) fn begin(&self) -> Begin {
        Begin {
            master_seed: *self.seeds.master(),
            flush_bytes: self.flush_bytes,
            flush_kind: self.flush.number(),
            reserved: 0,
        }
    }

    /// How caches are flushed, and how many bytes that goes through.
    pub(super) fn flush(&self) -> (Flush, u64) {
        (self.flush.into(), self.flush_bytes)
    }

    /// Whether calls find their inputs in the cache.
    pub(super) fn mode(&self) -> Mode {
        match self.flush_bytes {
            0 => Mode::Warm,
            _ => Mode::Cold,
        }
    }

    /// How a case is measured, which may have a counterpart.
    pub(super) fn protocol_for(&self, case: &CaseOptions, counterpart: &Counterpart<'_>) -> Protocol<'_> {
        let stop = stop_rule(&case.stopping, self.facts);
        Protocol {
            purpose: self.purpose,
            turnout: self.turnout(case, counterpart),
            warm_up: WarmUpRule {
                tick_ns: self.facts.clock_tick_ns,
                ..WarmUpRule::default()
            },
            stop: match counterpart {
                // How far samples spread is no measure of how well the ratio of pairs is known.
                Counterpart::Ready(_) => StopRule { plateau: None, ..stop },
                _ => stop,
            },
            within: case.limits.window,
            reference_within: case.limits.reference,
            kernels_run_in: self.facts.kernels_run_in,
            device: self.device,
            output: self.output,
            clock_bound: &self.clock_bound,
            kernel_part: self.kernel_part(),
            seeds: &self.seeds,
            interrupt: self.interrupt,
        }
    }

    fn turnout(&self, case: &CaseOptions, counterpart: &Counterpart<'_>) -> Turnout {
        let CaseOptions { workers, looks, .. } = *case;
        match (counterpart, looks) {
            _ if !self.purpose.is_timed() => Turnout::exactly(NonZeroUsize::MIN),
            (Counterpart::Ready(_), _) => Turnout::exactly(looks.first(workers)),
            (_, Looks::Once) => Turnout::exactly(workers),
            (_, Looks::UntilDecided) => match self.facts.device.kind {
                DeviceKind::Cuda => Turnout::until_known(workers),
                // Its times are advisory: not worth twice the time.
                DeviceKind::Cpu => Turnout::first_of(workers),
            },
        }
    }

    /// What the rounds of a case and its counterpart are to decide.
    pub(super) fn question(&self, case: &CaseOptions) -> Question {
        Question {
            looks: case.looks,
            confidence: self.confidence,
            threshold: Threshold {
                value: case.noise_threshold,
                source: ThresholdSource::Floor,
            },
            tick_ns: self.facts.clock_tick_ns,
        }
    }

    /// What the samples of a case are held against.
    pub(super) fn yardsticks(&self, case: &CaseOptions) -> Yardsticks {
        Yardsticks {
            target_cv: case.stopping.target_cv,
            peaks: Peaks {
                bandwidth: self.facts.peak_bandwidth,
                flops: self.facts.peak_flops,
            },
            kernel_part: self.kernel_part(),
        }
    }

    fn kernel_part(&self) -> KernelPart {
        KernelPart::of_device(&self.facts.device.name)
    }
}

fn seeds(wanted: MasterSeed) -> Result<Seeds, ExpectedError> {
    match wanted {
        MasterSeed::Pinned(master) => Ok(Seeds::new(master)),
        MasterSeed::Fresh => Seeds::from_os().map_err(|source| ExpectedError::Internal {
            what: "the operating system gives no random seed".to_owned(),
            source: source.into(),
        }),
    }
}

fn stop_rule(stopping: &StoppingOptions, facts: &Facts) -> StopRule {
    StopRule {
        target_cv: stopping.target_cv,
        min_samples: stopping.min_samples as usize,
        max_samples: stopping.max_samples as usize,
        max_time: stopping.max_time,
        tick_ns: facts.clock_tick_ns,
        ..StopRule::default()
    }
}
