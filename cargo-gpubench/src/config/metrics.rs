//! What is read of a case's calls.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::Value;
use gpubench_contract::Metric;
use gpubench_diagnostic::{closest, suggestion};

/// What is read of a case's calls: time, instructions, and metrics of the hardware with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metrics {
    results: Results,
    /// Names of hardware metrics. Each list is made once, when settings are parsed.
    hardware: &'static [String],
}

/// The metrics that have results of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Results {
    Time,
    Instructions,
    Both,
}

/// An invalid list of metrics.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InvalidMetrics {
    /// A word is not a metric.
    #[error(
        "unknown metric `{word}`; the metrics are `time`, `instructions` and `ncu:NAME` with a metric of `ncu`{}",
        suggestion(closest(word, WORDS))
    )]
    Unknown {
        /// The word.
        word: String,
    },
    /// A metric appears twice.
    #[error("duplicate metric `{word}`")]
    Twice {
        /// The metric.
        word: String,
    },
}

const WORDS: [&str; 2] = ["time", "instructions"];

/// What begins the names of hardware metrics.
const HARDWARE: &str = "ncu:";

/// What each name of a hardware metric contains, as in `dram__bytes.sum`.
const OF_HARDWARE: &str = "__";

impl Value for Metrics {}

impl Metrics {
    /// The time alone.
    pub const TIME: Metrics = Metrics {
        results: Results::Time,
        hardware: &[],
    };

    /// Returns the metrics of a result.
    pub fn from_metric(metric: &Metric) -> Metrics {
        Metrics {
            results: if metric.is_count() {
                Results::Instructions
            } else {
                Results::Time
            },
            hardware: &[],
        }
    }

    /// Returns the metrics that have results of their own.
    pub fn results(&self) -> Vec<Metric> {
        match self.results {
            Results::Time => vec![Metric::time()],
            Results::Instructions => vec![Metric::instructions()],
            Results::Both => vec![Metric::time(), Metric::instructions()],
        }
    }

    /// Returns the names of the hardware metrics.
    pub fn hardware(&self) -> &'static [String] {
        self.hardware
    }

    /// Whether there are times.
    pub fn times(&self) -> bool {
        self.results != Results::Instructions
    }

    /// Whether instructions are counted.
    pub fn counts_instructions(&self) -> bool {
        self.results != Results::Time
    }
}

impl FromStr for Metrics {
    type Err = InvalidMetrics;

    fn from_str(text: &str) -> Result<Metrics, InvalidMetrics> {
        let mut words: Vec<&str> = Vec::new();
        let mut hardware: Vec<String> = Vec::new();
        for word in text.split(',').map(str::trim) {
            let twice = || InvalidMetrics::Twice { word: word.to_owned() };
            let name = match word.strip_prefix(HARDWARE) {
                Some(name) => Some(name),
                // The names after the first need no prefix.
                None => Some(word).filter(|_| !hardware.is_empty() && word.contains(OF_HARDWARE)),
            };
            match name {
                Some(name) if hardware.iter().any(|known| known == name) => return Err(twice()),
                Some(name) if name.contains(OF_HARDWARE) && is_plain(name) => hardware.push(name.to_owned()),
                None if words.contains(&word) => return Err(twice()),
                None if WORDS.contains(&word) => words.push(word),
                _ => return Err(InvalidMetrics::Unknown { word: word.to_owned() }),
            }
        }
        let results = match (words.contains(&"time"), words.contains(&"instructions")) {
            (true, true) => Results::Both,
            (false, true) => Results::Instructions,
            // Hardware metrics have no result of their own.
            (_, false) => Results::Time,
        };
        Ok(Metrics {
            results,
            hardware: Vec::leak(hardware),
        })
    }
}

fn is_plain(name: &str) -> bool {
    name.bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'))
}

impl fmt::Display for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.results {
            Results::Time => "time",
            Results::Instructions => "instructions",
            Results::Both => "time,instructions",
        })?;
        self.hardware.iter().try_for_each(|name| write!(f, ",{HARDWARE}{name}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> String {
        text.parse::<Metrics>()
            .map_or_else(|error| error.to_string(), |metrics| metrics.to_string())
    }

    #[test]
    fn metrics_are_read_and_shown() {
        for (text, shown) in [
            ("time", "time"),
            ("instructions", "instructions"),
            ("instructions, time", "time,instructions"),
            ("ncu:dram__bytes.sum", "time,ncu:dram__bytes.sum"),
            (
                "instructions,ncu:dram__bytes.sum,lts__t_sector_hit_rate.pct",
                "instructions,ncu:dram__bytes.sum,ncu:lts__t_sector_hit_rate.pct",
            ),
        ] {
            assert_eq!(parsed(text), shown, "{text}");
            assert_eq!(parsed(shown), shown);
        }
    }

    #[test]
    fn other_words_are_refused() {
        let unknown = "unknown metric `instruction`; the metrics are `time`, `instructions` and `ncu:NAME` with a metric of `ncu`";
        assert!(parsed("instruction").starts_with(unknown), "{}", parsed("instruction"));
        assert!(parsed("dram__bytes.sum").starts_with("unknown metric `dram__bytes.sum`"));
        assert!(parsed("ncu:dram bytes").starts_with("unknown metric"));
        assert_eq!(parsed("time,time"), "duplicate metric `time`");
        assert_eq!(parsed("ncu:a__b.sum,a__b.sum"), "duplicate metric `a__b.sum`");
    }
}
