//! Options of measurement.

use std::num::{NonZeroU32, NonZeroUsize};
use std::time::Duration;

use camino::Utf8PathBuf;

use crate::broker::cases::Case;
use crate::config::{CaseLayers, CaseNames, CaseSettings, Modes, SampleCount, Switch, WorkerCount};
use gpubench_contract::{Flush, Metric, MetricKind};
use gpubench_device::Facts;
use gpubench_device::clocks::ClockSetting;
use gpubench_measure::measurement::{Energy, EvidenceUse, PassCriteria, Rest};
use gpubench_stats::{InterimAnalyses, StopRule};

/// Options of measurement.
#[derive(Clone, Debug)]
pub struct MeasurementOptions {
    /// The source of the seed for inputs and their order.
    pub seed: MasterSeed,
    /// Bytes to flush before each cold call; by default, as many as the device needs. If they are
    /// 0, calls are warm by default.
    pub flush_bytes: Option<u64>,
    /// How the flush accesses them.
    pub flush: Flush,
    /// Seed of the order in which the CPU device runs blocks and threads. 0, the default, is their
    /// natural order.
    pub schedule: Option<u64>,
    /// What to do about other runs on the device.
    pub other_runs: OtherRuns,
    /// Whether it is shown what a call asks of the driver.
    pub audit: Audit,
    /// Whether records have the evidence of each window.
    pub evidence: EvidenceUse,
    /// The folder in which callgrind's profiles are kept, if they are.
    pub keep_callgrind: Option<Utf8PathBuf>,
    /// The folder in which the tensors of wrong calls are kept, if they are.
    pub keep_wrong_outputs: Option<Utf8PathBuf>,
    /// The clock to lock while cases are measured.
    pub lock_clocks: Option<ClockSetting>,
    /// Settings that may differ from case to case.
    pub cases: CaseLayers,
}

/// Whether it is shown what a call asks of the driver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Audit {
    /// It is not.
    #[default]
    Left,
    /// `--audit`: in windows of their own after the samples.
    Made,
}

/// What to do about other runs that measure on the same device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OtherRuns {
    /// Wait for them.
    #[default]
    Awaited,
    /// `--no-wait`: measure at the same time.
    Ignored,
}

/// The measurement settings of one case.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseOptions {
    /// Number of calls in a graph, if the user set it.
    pub calls_per_sample: Option<NonZeroU32>,
    /// Number of fresh workers that measure the case's samples.
    pub workers: NonZeroUsize,
    /// Whether an interleaved comparison may add workers. It may not if the user set their number.
    pub analyses: InterimAnalyses,
    /// The relative change that counts as noise, as a fraction.
    pub noise_threshold: f64,
    /// Least time of each worker's warm-up on the device.
    pub warmup_time: Duration,
    /// Whether the energy of a call is measured too.
    pub energy: Energy,
    /// Whether the device rests after each window.
    pub rest: Rest,
    /// When there are enough samples, on a device with a continuous clock.
    pub stopping: StopRule,
    /// What the case must meet besides correct outputs.
    pub criteria: PassCriteria,
    /// Time limit of one window: the call with everything before and after it.
    pub window_within: Duration,
    /// Time limit of one CPU reference or CPU generator.
    pub reference_within: Duration,
}

impl MeasurementOptions {
    /// Returns the bytes to flush before each cold call on a device.
    pub fn flushed_bytes(&self, facts: &Facts) -> u64 {
        self.flush_bytes.unwrap_or(facts.flush_bytes)
    }

    /// Returns the options for a result of a case in one of its modes, which share its time. Its
    /// benchmark and its package have the settings `own`.
    pub fn of_result(&self, case: &Case, own: CaseSettings, metric: &Metric) -> CaseOptions {
        let given = self.settings_of(case, own);
        let options = if metric.is_count() {
            CaseOptions::counting(given)
        } else {
            CaseOptions::from(given)
        };
        options.shared_by(case.modes)
    }

    /// Returns the settings of a case, without built-in values. `package` has the settings of its
    /// package and its benchmark.
    pub(crate) fn settings_of(&self, case: &Case, package: CaseSettings) -> CaseSettings {
        let (name, full_name) = (case.name(), case.full_name());
        let names = CaseNames {
            name: &name,
            full_name: &full_name,
        };
        self.cases.settings_of_case(names, package)
    }

    /// Returns the options that apply to no particular case.
    pub fn everywhere(&self) -> CaseOptions {
        CaseOptions::from(self.cases.settings_everywhere())
    }
}

/// Number of samples of a count. They show whether the count depends on the inputs.
const COUNTS: SampleCount = SampleCount::new(3);

impl CaseOptions {
    /// Returns the same options for a single sample of one worker.
    pub fn once(&self) -> Self {
        Self {
            workers: NonZeroUsize::MIN,
            stopping: StopRule {
                min_samples: 1,
                max_samples: 1,
                ..self.stopping.clone()
            },
            ..self.clone()
        }
    }

    /// Fills in the defaults of counts: few samples of one worker, since counts hardly vary.
    fn counting(given: CaseSettings) -> Self {
        let settings = CaseSettings {
            workers: Some(WorkerCount::new(1)),
            min_samples: Some(COUNTS),
            max_samples: Some(COUNTS),
            ..CaseSettings::default()
        };
        Self {
            analyses: InterimAnalyses::Once,
            noise_threshold: given.complete().count_threshold.value(),
            ..Self::from(given.over(settings))
        }
    }
}

impl CaseOptions {
    /// Divides the time of a case among its modes.
    fn shared_by(mut self, modes: Modes) -> CaseOptions {
        self.stopping.max_time /= modes.iter().count() as u32;
        self
    }
}

impl From<CaseSettings> for CaseOptions {
    /// Fills in the built-in defaults for everything that is not set.
    fn from(given: CaseSettings) -> Self {
        let settings = given.complete();
        Self {
            calls_per_sample: given
                .calls_per_sample
                .and_then(|calls| NonZeroU32::try_from(calls.number()).ok()),
            workers: settings.workers.number(),
            analyses: match given.workers {
                Some(_) => InterimAnalyses::Once,
                None => InterimAnalyses::UntilDecided,
            },
            noise_threshold: settings.noise_threshold.value(),
            warmup_time: settings.warmup_time.duration().unwrap_or_default(),
            energy: if settings.metric.ask_for(MetricKind::Energy) {
                Energy::Measured
            } else {
                Energy::Ignored
            },
            rest: match settings.cooldown {
                Switch::Off => Rest::Skipped,
                Switch::On => Rest::Taken,
            },
            stopping: StopRule {
                target_cv: settings.target_cv.value(),
                min_samples: settings.min_samples.number().get(),
                max_samples: settings.max_samples.number().get(),
                sample_time: settings.sample_time.duration().unwrap_or(Duration::MAX),
                max_time: settings.max_time.duration(),
                ..StopRule::default()
            },
            criteria: PassCriteria {
                notices: settings.deny.into(),
                least_grade: settings.require_grade.into(),
            },
            window_within: settings.timeout.duration(),
            reference_within: settings.reference_timeout.duration(),
        }
    }
}

/// The source of a run's master seed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MasterSeed {
    /// Drawn by the operating system.
    #[default]
    Fresh,
    /// Set by `--seed`.
    Pinned([u8; 32]),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_modes_of_a_case_share_its_time() {
        let mut given = CaseSettings::default();
        given.set("sample-time", "100ms").expect("a setting");
        let alone = CaseOptions::from(given);
        let shared = alone.clone().shared_by("cold,warm".parse().expect("modes"));
        assert_eq!(shared.stopping.max_time, alone.stopping.max_time / 2);
        assert_eq!(shared.stopping.sample_time, Duration::from_millis(100));
        assert_eq!(shared.stopping.max_samples, alone.stopping.max_samples);
    }
}
