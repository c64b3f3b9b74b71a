//! How long and how often is measured.

use std::num::NonZeroUsize;
use std::time::Duration;

use crate::broker::cases::Case;
use crate::config::{CaseLayers, CaseNames, CaseSettings};
use gpubench_contract::{Flush, Method};
use gpubench_device::Facts;
use gpubench_measure::measurement::PassCriteria;
use gpubench_stats::{InterimAnalyses, StopRule};

/// How long and how often is measured.
#[derive(Clone, Debug)]
pub struct MeasurementOptions {
    /// Where the inputs and their order come from.
    pub seed: MasterSeed,
    /// Bytes that the cold method flushes; what the device asks for where it is not said. 0 chooses
    /// the warm method.
    pub flush_bytes: Option<u64>,
    /// How the flush goes through them.
    pub flush: Flush,
    /// Seed of the order in which blocks and their threads run on the CPU device; 0 is their own
    /// order, as where it is not said.
    pub schedule: Option<u64>,
    /// What becomes of other runs on the device.
    pub other_runs: OtherRuns,
    /// What may differ from case to case.
    pub cases: CaseLayers,
}

/// What becomes of other runs that measure on the same device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OtherRuns {
    /// They are waited for.
    #[default]
    Awaited,
    /// `--no-wait`: it measures beside them.
    Ignored,
}

/// How long and how often one case is measured.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseOptions {
    /// How many fresh workers the case's samples come from.
    pub workers: NonZeroUsize,
    /// Whether a comparison in turns may have more of them: not where somebody has said how many.
    pub analyses: InterimAnalyses,
    /// The relative change that is taken for noise, as a fraction.
    pub noise_threshold: f64,
    /// When there are enough samples, on a device whose clock has no steps.
    pub stopping: StopRule,
    /// What it must meet beside being right.
    pub criteria: PassCriteria,
    /// How long one window may take before it counts as hung: a call of the kernel with everything
    /// around it.
    pub window_within: Duration,
    /// How long one CPU reference or CPU generator may take.
    pub reference_within: Duration,
}

impl MeasurementOptions {
    /// How calls are measured on a device, and how many bytes are flushed before each.
    pub fn method(&self, facts: &Facts) -> (Method, u64) {
        match self.flush_bytes.unwrap_or(facts.flush_bytes) {
            0 => (Method::Warm, 0),
            bytes => (Method::Cold, bytes),
        }
    }

    /// What holds for a case whose package asks for `package`.
    pub fn of_case(&self, case: &Case, package: CaseSettings) -> CaseOptions {
        let (name, full_name) = (case.name(), case.full_name());
        let names = CaseNames {
            name: &name,
            full_name: &full_name,
        };
        CaseOptions::from(self.cases.said_of_case(names, package))
    }

    /// What holds where no single case is meant.
    pub fn everywhere(&self) -> CaseOptions {
        CaseOptions::from(self.cases.said_everywhere())
    }
}

impl From<CaseSettings> for CaseOptions {
    /// Of what was said; the rest is built in.
    fn from(said: CaseSettings) -> Self {
        let settings = said.complete();
        Self {
            workers: settings.workers.number(),
            analyses: match said.workers {
                Some(_) => InterimAnalyses::Once,
                None => InterimAnalyses::UntilDecided,
            },
            noise_threshold: settings.noise_threshold.value(),
            stopping: StopRule {
                target_cv: settings.target_cv.value(),
                min_samples: settings.min_samples.number().get(),
                max_samples: settings.max_samples.number().get(),
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

/// Where the master seed of a run comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MasterSeed {
    /// The operating system draws it.
    #[default]
    Fresh,
    /// `--seed`.
    Pinned([u8; 32]),
}
