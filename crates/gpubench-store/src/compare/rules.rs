//! What a comparison goes by.

use std::collections::HashMap;

use regex::Regex;

use super::CaseKey;
use gpubench_contract::{BenchmarkComplete, ThresholdSource};
use gpubench_stats::{Confidence, InterimAnalyses};

/// What a comparison goes by.
#[derive(Clone, Debug)]
pub struct Rules {
    /// The relative change that is noise in any case, as a fraction: `0.01` is 1 %.
    pub floor: f64,
    /// The same for benchmarks that have one of their own.
    pub floors: Floors,
    /// How sure intervals are.
    pub confidence: Confidence,
    /// What the history of the device says about single benchmarks.
    pub fences: Fences,
    /// How often benchmarks that were measured in turns were looked at.
    pub analyses: AnalysesTaken,
    /// Which benchmarks belong together.
    pub matching: Matching,
    /// What becomes of runs on different devices or in different modes.
    pub setups: Setups,
}

/// The relative change that is usual between neighbouring runs of a benchmark, as
/// [`history_fence`](gpubench_stats::history_fence) finds it.
pub type Fences = HashMap<CaseKey, f64>;

/// The relative change of single benchmarks that is noise in any case, as a fraction.
pub type Floors = HashMap<CaseKey, f64>;

/// How often each benchmark that was measured in turns was looked at while it was; those that are
/// not in it were looked at once.
pub type AnalysesTaken = HashMap<CaseKey, InterimAnalyses>;

/// Which benchmarks belong together.
#[derive(Clone, Debug, Default)]
pub enum Matching {
    /// Those of the same package, name and axis values.
    #[default]
    Names,
    /// Those in whose names the expression captures the same texts, from whatever package; others
    /// take no part.
    Groups(Regex),
}

impl Matching {
    /// Whether a benchmark can be matched at all.
    pub fn takes(&self, result: &BenchmarkComplete) -> bool {
        self.key(result).is_some()
    }

    /// What a benchmark is matched by; `None` for one that takes no part.
    pub(super) fn key(&self, result: &BenchmarkComplete) -> Option<CaseKey> {
        match self {
            Matching::Names => Some(CaseKey::of(result)),
            Matching::Groups(expression) => CaseKey::by_groups(expression, result),
        }
    }
}

/// What becomes of runs that were not measured alike: on another device, with another driver, in
/// another mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Setups {
    /// They are not compared.
    #[default]
    MustAgree,
    /// They are compared, and what differs is listed.
    MayDiffer,
}

/// The relative change that is taken for noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Threshold {
    /// As a fraction.
    pub value: f64,
    /// Where it comes from.
    pub source: ThresholdSource,
}

impl Rules {
    /// Changes below 1 % are noise.
    pub const FLOOR: f64 = 0.01;

    /// The threshold of a benchmark: the larger of the floor and its fence.
    pub fn threshold(&self, key: &CaseKey) -> Threshold {
        let floor = self.floors.get(key).copied().unwrap_or(self.floor);
        match self.fences.get(key) {
            Some(fence) if *fence > floor => Threshold {
                value: *fence,
                source: ThresholdSource::History,
            },
            _ => Threshold {
                value: floor,
                source: ThresholdSource::Floor,
            },
        }
    }
}

impl Default for Rules {
    fn default() -> Rules {
        Rules {
            floor: Rules::FLOOR,
            floors: Floors::new(),
            confidence: Confidence::DEFAULT,
            fences: Fences::new(),
            analyses: AnalysesTaken::new(),
            matching: Matching::default(),
            setups: Setups::default(),
        }
    }
}
