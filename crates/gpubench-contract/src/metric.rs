//! What a sample measures.

use std::borrow::Cow;
use std::cmp::Ordering;

use bytemuck::{CheckedBitPattern, NoUninit};
use serde::{Deserialize, Serialize};

use crate::units::{Quantity, in_unit, longest_unit};

/// What a sample measures: its name, its unit, and which direction is better.
///
/// Statistics, comparisons and reports depend only on the metric. Fields that end in `_ns` are
/// times whatever the metric is: host time, wall time, or a time of one of the clocks that check
/// the claims.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct Metric {
    /// Name in tables: `time`.
    pub name: Cow<'static, str>,
    /// Unit of the values: `ns`.
    pub unit: Cow<'static, str>,
    /// Which of two values is better.
    pub better: Better,
}

/// A metric that a run can be asked for.
#[derive(Clone, Copy, Debug)]
pub struct MetricRow {
    /// Its word in settings and its name in records.
    pub word: &'static str,
    /// Unit of its values.
    pub unit: &'static str,
    /// What it is an amount of.
    pub kind: MetricKind,
    /// Which of two values is better.
    pub better: Better,
}

/// What a metric is an amount of. What is read, and how, depends on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, CheckedBitPattern, NoUninit, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u32)]
pub enum MetricKind {
    /// The time of a call, in each mode.
    #[default]
    Time = 0,
    /// Instructions that the kernels of a call execute.
    Instructions = 1,
    /// Device memory that is in use during a call.
    Memory = 2,
    /// Energy. It is read after the times and is part of their results.
    Energy = 3,
    /// What the counters of the hardware have, by the names of `ncu`. It is part of other results.
    Hardware = 4,
}

/// The time of a call.
const TIME: MetricRow = MetricRow {
    word: "time",
    unit: "ns",
    kind: MetricKind::Time,
    better: Better::Lower,
};

/// The instructions that the kernels of a call execute.
const INSTRUCTIONS: MetricRow = MetricRow {
    word: "instructions",
    unit: "instructions",
    kind: MetricKind::Instructions,
    better: Better::Lower,
};

/// The most device memory that is in use at a time during a call.
const MEMORY: MetricRow = MetricRow {
    word: "memory",
    unit: "B",
    kind: MetricKind::Memory,
    better: Better::Lower,
};

/// The energy of a call.
const ENERGY: MetricRow = MetricRow {
    word: "energy",
    unit: "J",
    kind: MetricKind::Energy,
    better: Better::Lower,
};

/// The metrics that a run can be asked for, in the order of their results. The first is the
/// default.
pub const METRICS: &[MetricRow] = &[TIME, INSTRUCTIONS, MEMORY, ENERGY];

impl MetricRow {
    /// Returns the metric as it is in records.
    pub fn metric(&self) -> Metric {
        Metric {
            name: Cow::Borrowed(self.word),
            unit: Cow::Borrowed(self.unit),
            better: self.better,
        }
    }
}

impl MetricKind {
    /// Returns the kind of the metric with a name, if a run can be asked for it.
    pub fn named(name: &str) -> Option<MetricKind> {
        METRICS.iter().find(|row| row.word == name).map(|row| row.kind)
    }

    /// Whether such a metric has results of its own.
    pub fn has_results(self) -> bool {
        !matches!(self, MetricKind::Energy | MetricKind::Hardware)
    }

    /// Whether it is a count, which is the same each time the same work is done, in every mode.
    pub fn is_count(self) -> bool {
        !matches!(self, MetricKind::Time | MetricKind::Energy)
    }

    /// Whether it is read from counters: of a GPU, or of a program that runs the kernels.
    pub fn needs_counters(self) -> bool {
        matches!(self, MetricKind::Instructions | MetricKind::Hardware)
    }
}

/// Which of two values is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    /// Lower values are better, as for times.
    Lower,
    /// Higher values are better, as for rates.
    Higher,
}

impl Metric {
    /// Returns the metric for the time of a call, in nanoseconds.
    pub fn time() -> Metric {
        TIME.metric()
    }

    /// Returns the metric for the instructions that the kernels of a call execute: of warps on a
    /// GPU, of threads of the processor on the CPU device.
    pub fn instructions() -> Metric {
        INSTRUCTIONS.metric()
    }

    /// Returns what it is an amount of. `None` for a metric that a run cannot be asked for.
    pub fn kind(&self) -> Option<MetricKind> {
        MetricKind::named(&self.name)
    }

    /// Whether the metric is a count, which is the same each time the same work is done.
    pub fn is_count(&self) -> bool {
        self.kind().is_some_and(MetricKind::is_count)
    }

    /// Whether the metric is a time. If so, the step of the device's clock limits its resolution,
    /// and work divided by it is a rate.
    pub fn is_time(&self) -> bool {
        self.kind() == Some(MetricKind::Time)
    }

    /// Formats a value for people: `1.204 ms`.
    pub fn quantity(&self, value: f64) -> Quantity {
        in_unit(value, &self.unit)
    }

    /// Formats a value for a column whose title or rows name the metric: `41.74 k` instructions.
    pub fn in_column(&self, value: f64) -> Quantity {
        in_unit(value, self.unit_in_column())
    }

    /// Returns the letters of the longest unit in such a column.
    pub fn longest_unit_in_column(&self) -> usize {
        longest_unit(self.unit_in_column())
    }

    fn unit_in_column(&self) -> &str {
        if self.unit == self.name { "" } else { &self.unit }
    }

    /// Formats two values as a range: `1.204 ms to 1.301 ms`.
    pub fn range(&self, [low, high]: [f64; 2]) -> String {
        format!("{} to {}", self.quantity(low), self.quantity(high))
    }
}

impl Better {
    /// Whether a change by a ratio makes a value worse.
    pub fn is_worse(self, ratio: f64) -> bool {
        match self {
            Better::Lower => ratio > 1.0,
            Better::Higher => ratio < 1.0,
        }
    }

    /// Orders two values, the better one first.
    pub fn order(self, one: f64, other: f64) -> Ordering {
        match self {
            Better::Lower => one.total_cmp(&other),
            Better::Higher => other.total_cmp(&one),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_has_its_own_word_and_the_first_is_the_time() {
        assert_eq!(METRICS[0].kind, MetricKind::Time);
        for row in METRICS {
            let same = METRICS.iter().filter(|other| other.word == row.word);
            assert_eq!(same.count(), 1, "{}", row.word);
            assert_eq!(MetricKind::named(row.word), Some(row.kind));
        }
    }

    #[test]
    fn the_name_decides_what_a_metric_is() {
        assert!(Metric::time().is_time() && !Metric::time().is_count());
        assert!(Metric::instructions().is_count() && !Metric::instructions().is_time());
        let other = Metric {
            name: "launches".into(),
            ..Metric::instructions()
        };
        assert!(!other.is_count(), "its unit does not decide");
    }

    #[test]
    fn each_kind_is_of_its_own_sort() {
        use MetricKind::*;
        for (kind, has_results, is_count, needs_counters) in [
            (Time, true, false, false),
            (Instructions, true, true, true),
            (Memory, true, true, false),
            (Energy, false, false, false),
            (Hardware, false, true, true),
        ] {
            let found = (kind.has_results(), kind.is_count(), kind.needs_counters());
            assert_eq!(found, (has_results, is_count, needs_counters), "{kind:?}");
        }
    }

    #[test]
    fn the_better_direction_decides_what_is_worse_and_what_comes_first() {
        assert!(Better::Lower.is_worse(1.1) && !Better::Lower.is_worse(0.9) && !Better::Lower.is_worse(1.0));
        assert!(Better::Higher.is_worse(0.9) && !Better::Higher.is_worse(1.1) && !Better::Higher.is_worse(1.0));
        assert_eq!(Better::Lower.order(1.0, 2.0), Ordering::Less);
        assert_eq!(Better::Higher.order(1.0, 2.0), Ordering::Greater);
    }

    #[test]
    fn a_unit_that_is_the_name_of_the_metric_is_left_out_of_a_column() {
        assert_eq!(Metric::instructions().in_column(5_000.0).to_string(), "5.000 k");
        assert_eq!(Metric::time().in_column(5_000.0).to_string(), "5.000 µs");
        assert_eq!(Metric::time().range([1.0, 2_000.0]), "1.000 ns to 2.000 µs");
    }
}
