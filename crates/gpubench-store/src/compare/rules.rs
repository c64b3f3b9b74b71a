//! The rules of a comparison.

use std::collections::HashMap;

use regex::Regex;

use super::key::by_groups;
use gpubench_contract::{BenchmarkComplete, ResultKey, ThresholdSource};
use gpubench_stats::{Confidence, InterimAnalyses};

/// The rules of a comparison.
#[derive(Clone, Debug)]
pub struct Rules {
    /// The relative change that always counts as noise, as a fraction: `0.01` is 1 %.
    pub floor: f64,
    /// The relative change of a count that is too small to matter, as a fraction.
    pub count_floor: f64,
    /// The floors of single benchmarks. They override `floor` and
    /// `count_floor`.
    pub floors: Floors,
    /// The confidence level of the intervals.
    pub confidence: Confidence,
    /// The fences of single benchmarks from the device's history.
    pub fences: Fences,
    /// The interim analyses of benchmarks that alternated.
    pub analyses: AnalysesTaken,
    /// How benchmarks are matched.
    pub matching: Matching,
    /// Whether runs with different setups are compared.
    pub setups: Setups,
}

/// The normal relative change between consecutive runs of a benchmark, from
/// [`history_fence`](gpubench_stats::history_fence).
pub type Fences = HashMap<ResultKey, f64>;

/// The relative change of a benchmark that always counts as noise, as a fraction.
pub type Floors = HashMap<ResultKey, f64>;

/// The interim analyses of each benchmark that alternated. Benchmarks that are missing here were
/// analyzed once.
pub type AnalysesTaken = HashMap<ResultKey, InterimAnalyses>;

/// How the benchmarks of two runs are matched.
#[derive(Clone, Debug, Default)]
pub enum Matching {
    /// By package, name and axis values.
    #[default]
    Names,
    /// By the expression's captures in their full names, across packages. Other benchmarks are left
    /// out.
    Groups(Regex),
}

impl Matching {
    /// Whether a benchmark is not left out.
    pub fn takes(&self, result: &BenchmarkComplete) -> bool {
        self.key(result).is_some()
    }

    /// Returns the key of a result. `None` if its benchmark is left out.
    pub(super) fn key(&self, result: &BenchmarkComplete) -> Option<ResultKey> {
        match self {
            Matching::Names => Some(result.key()),
            Matching::Groups(expression) => Some(ResultKey {
                case: by_groups(expression, result)?,
                reading: result.reading(),
            }),
        }
    }
}

/// Whether runs with different setups are compared: another device, driver or timing mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Setups {
    /// They are not compared.
    #[default]
    MustAgree,
    /// They are compared, and the differences are listed.
    MayDiffer,
}

/// The relative change that counts as noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Threshold {
    /// The change, as a fraction.
    pub value: f64,
    /// Source of the threshold.
    pub source: ThresholdSource,
}

impl Rules {
    /// The default floor: changes below 1 % are noise.
    pub const FLOOR: f64 = 0.01;

    /// The default floor of counts: 0.2 %. Other compilers and libraries change counts by a few
    /// hundredths of a percent without any change of the kernels.
    pub const COUNT_FLOOR: f64 = 0.002;

    /// Returns the threshold of a benchmark: the larger of its floor and its fence.
    pub fn threshold(&self, key: &ResultKey) -> Threshold {
        let everywhere = if key.reading.is_of_counts() {
            self.count_floor
        } else {
            self.floor
        };
        let floor = self.floors.get(key).copied().unwrap_or(everywhere);
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
            count_floor: Rules::COUNT_FLOOR,
            floors: Floors::new(),
            confidence: Confidence::DEFAULT,
            fences: Fences::new(),
            analyses: AnalysesTaken::new(),
            matching: Matching::default(),
            setups: Setups::default(),
        }
    }
}
