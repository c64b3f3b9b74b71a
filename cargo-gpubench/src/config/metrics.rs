//! What is read of a case's calls.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::Value;
use gpubench_contract::{METRICS, Metric, MetricKind, MetricRow};
use gpubench_diagnostic::{closest, suggestion};

/// What is read of a case's calls: metrics of the table, and metrics of the hardware with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metrics {
    /// Whether each row of the table is asked for.
    asked: [bool; METRICS.len()],
    /// Names of hardware metrics. Each list is made once, when settings are parsed.
    hardware: &'static [String],
}

/// An invalid list of metrics.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InvalidMetrics {
    /// A word is not a metric.
    #[error(
        "unknown metric `{word}`; the metrics are {} and `ncu:NAME` with a metric of `ncu`{}",
        listed(),
        suggestion(closest(word, METRICS.iter().map(|row| row.word)))
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

/// What begins the names of hardware metrics.
const HARDWARE: &str = "ncu:";

/// What each name of a hardware metric contains, as in `dram__bytes.sum`.
const OF_HARDWARE: &str = "__";

impl Value for Metrics {}

impl Metrics {
    /// The time alone.
    pub const TIME: Metrics = Metrics {
        asked: {
            let mut asked = [false; METRICS.len()];
            asked[0] = true;
            asked
        },
        hardware: &[],
    };

    /// Returns the metrics of a result.
    pub fn from_metric(metric: &Metric) -> Metrics {
        Metrics::of_rows(|row| row.word == metric.name)
    }

    /// Returns the chosen rows, and the time if none of them has results, or if one is read after
    /// times.
    fn of_rows(is_chosen: impl Fn(&MetricRow) -> bool) -> Metrics {
        let mut metrics = Metrics::TIME;
        for (asked, row) in metrics.asked.iter_mut().zip(METRICS) {
            *asked = is_chosen(row);
        }
        metrics.asked[0] |= metrics.results().next().is_none() || metrics.ask_for(MetricKind::Energy);
        metrics
    }

    /// Returns the rows that are asked for.
    fn rows(&self) -> impl Iterator<Item = &'static MetricRow> + use<> {
        let rows = METRICS.iter().zip(self.asked);
        rows.filter_map(|(row, is_asked)| is_asked.then_some(row))
    }

    /// Returns the metrics that have results of their own.
    pub fn results(&self) -> impl Iterator<Item = &'static MetricRow> + use<> {
        self.rows().filter(|row| row.kind.has_results())
    }

    /// Whether a metric of a kind is asked for.
    pub fn ask_for(&self, kind: MetricKind) -> bool {
        self.rows().any(|row| row.kind == kind)
    }

    /// Returns the same metrics without those that need counters.
    pub fn without_counts(self) -> Metrics {
        Metrics::of_rows(|row| !row.kind.needs_counters() && self.rows().any(|asked| asked.word == row.word))
    }

    /// Whether a device counts something: instructions, or what its hardware metrics need.
    pub fn need_counters(&self) -> bool {
        self.counts_instructions() || !self.hardware.is_empty()
    }

    /// Returns the names of the hardware metrics.
    pub fn hardware(&self) -> &'static [String] {
        self.hardware
    }

    /// Whether there are times.
    pub fn times(&self) -> bool {
        self.ask_for(MetricKind::Time)
    }

    /// Whether instructions are counted.
    pub fn counts_instructions(&self) -> bool {
        self.ask_for(MetricKind::Instructions)
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
                None if MetricKind::named(word).is_some() => words.push(word),
                _ => return Err(InvalidMetrics::Unknown { word: word.to_owned() }),
            }
        }
        Ok(Metrics {
            hardware: Vec::leak(hardware),
            ..Metrics::of_rows(|row| words.contains(&row.word))
        })
    }
}

fn listed() -> String {
    let words: Vec<String> = METRICS.iter().map(|row| format!("`{}`", row.word)).collect();
    words.join(", ")
}

fn is_plain(name: &str) -> bool {
    name.bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'))
}

impl fmt::Display for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<&str> = self.rows().map(|row| row.word).collect();
        f.write_str(&words.join(","))?;
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
            ("energy", "time,energy"),
            ("memory", "memory"),
            ("energy,instructions", "time,instructions,energy"),
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
        let unknown = "unknown metric `instruction`; the metrics are `time`, `instructions`, `memory`, `energy` and `ncu:NAME` with a metric of `ncu`";
        assert!(parsed("instruction").starts_with(unknown), "{}", parsed("instruction"));
        assert!(parsed("dram__bytes.sum").starts_with("unknown metric `dram__bytes.sum`"));
        assert!(parsed("ncu:dram bytes").starts_with("unknown metric"));
        assert_eq!(parsed("time,time"), "duplicate metric `time`");
        assert_eq!(parsed("ncu:a__b.sum,a__b.sum"), "duplicate metric `a__b.sum`");
    }

    #[test]
    fn energy_is_no_result_and_needs_no_counter() {
        let read = |text: &str| text.parse::<Metrics>().expect("metrics");
        let words = |metrics: Metrics| metrics.results().map(|row| row.word).collect::<Vec<_>>();
        assert_eq!(words(read("energy")), ["time"]);
        assert_eq!(words(read("energy,instructions")), ["time", "instructions"]);
        assert_eq!(words(read("instructions")), ["instructions"]);
        assert!(!read("energy,memory").need_counters());
        assert!(read("instructions").need_counters() && read("ncu:a__b.sum").need_counters());
        assert_eq!(read("energy,instructions").without_counts(), read("energy"));
        assert_eq!(read("memory,instructions").without_counts(), read("memory"));
        assert_eq!(read("instructions").without_counts(), Metrics::TIME);
    }
}
