//! What a sample measures.

use std::borrow::Cow;
use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::units::{Quantity, in_unit};

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
    /// The unit of times.
    const NANOSECONDS: &str = "ns";

    /// The name and the unit of counted instructions.
    const INSTRUCTIONS: &str = "instructions";

    /// Returns the metric for the time of a call, in nanoseconds.
    pub fn time() -> Metric {
        Metric {
            name: Cow::Borrowed("time"),
            unit: Cow::Borrowed(Metric::NANOSECONDS),
            better: Better::Lower,
        }
    }

    /// Returns the metric for the instructions that the kernels of a call execute: of warps on a
    /// GPU, of threads of the processor on the CPU device.
    pub fn instructions() -> Metric {
        Metric {
            name: Cow::Borrowed(Metric::INSTRUCTIONS),
            unit: Cow::Borrowed(Metric::INSTRUCTIONS),
            better: Better::Lower,
        }
    }

    /// Whether the metric is a count, which is the same each time the same work is done.
    pub fn is_count(&self) -> bool {
        self.unit == Metric::INSTRUCTIONS
    }

    /// Whether the metric is a time. If so, the step of the device's clock limits its resolution,
    /// and work divided by it is a rate.
    pub fn is_time(&self) -> bool {
        self.unit == Metric::NANOSECONDS
    }

    /// Formats a value for people: `1.204 ms`.
    pub fn quantity(&self, value: f64) -> Quantity {
        in_unit(value, &self.unit)
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
