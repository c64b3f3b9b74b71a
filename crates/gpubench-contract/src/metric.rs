//! What the samples of a result are samples of.

use std::borrow::Cow;
use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::units::{Quantity, in_unit};

/// What is read for each sample: how it is called, what it is counted in, and which way is better.
///
/// Statistics, comparisons and reports know a metric and nothing else of what was read. A field in
/// `_ns` is a time whatever the metric is: of the host, of a clock that claims are checked by, of
/// the wall.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct Metric {
    /// What tables call it: `time`.
    pub name: Cow<'static, str>,
    /// The unit of its values: `ns`.
    pub unit: Cow<'static, str>,
    /// Which of two values is the better one.
    pub better: Better,
}

/// Which of two values is the better one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    /// The lower one, as of times.
    Lower,
    /// The higher one, as of rates.
    Higher,
}

impl Metric {
    /// The unit of times.
    const NANOSECONDS: &str = "ns";

    /// The time that a call takes, in nanoseconds.
    pub fn time() -> Metric {
        Metric {
            name: Cow::Borrowed("time"),
            unit: Cow::Borrowed(Metric::NANOSECONDS),
            better: Better::Lower,
        }
    }

    /// Whether it is a time: the step of the device's clock is then the step of its values, and
    /// work over it is a rate.
    pub fn is_time(&self) -> bool {
        self.unit == Metric::NANOSECONDS
    }

    /// A value for people: `1.204 ms`.
    pub fn quantity(&self, value: f64) -> Quantity {
        in_unit(value, &self.unit)
    }

    /// Two values as a range: `1.204 ms to 1.301 ms`.
    pub fn range(&self, [low, high]: [f64; 2]) -> String {
        format!("{} to {}", self.quantity(low), self.quantity(high))
    }
}

impl Better {
    /// Whether a value is worse than another, by their ratio.
    pub fn is_worse(self, ratio: f64) -> bool {
        match self {
            Better::Lower => ratio > 1.0,
            Better::Higher => ratio < 1.0,
        }
    }

    /// The better one of two values first.
    pub fn order(self, one: f64, other: f64) -> Ordering {
        match self {
            Better::Lower => one.total_cmp(&other),
            Better::Higher => other.total_cmp(&one),
        }
    }
}
