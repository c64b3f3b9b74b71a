//! How a result was measured, and the keys by which results are found.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use super::{BenchmarkComplete, BenchmarkStarted, ComparisonRow, DeviceRow, Metric, MetricKind, Mode, Params};

/// How a result was measured: the mode of its calls, and the metric that was read. A run can have
/// several readings of a case, each with its own result.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reading {
    /// The mode.
    pub mode: Mode,
    /// The metric's name.
    pub metric: Cow<'static, str>,
}

/// Package, benchmark and axis values. The order of the axes and the form of the case name do not
/// matter.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CaseKey(String);

/// A case and its reading. No two results of a run have the same key.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ResultKey {
    /// The case.
    pub case: CaseKey,
    /// How it was measured.
    pub reading: Reading,
}

/// The different readings of some results, in order of appearance. With a single one, a report need
/// not name it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Readings(Vec<Reading>);

/// The keys of a run's results, by case.
#[derive(Clone, Debug, Default)]
pub struct ResultKeys(HashMap<CaseKey, Vec<Reading>>);

impl Reading {
    /// The mode of records from before records had one.
    pub(crate) fn first_mode() -> Mode {
        Mode::Cold
    }

    /// Returns the reading with a metric in a mode.
    pub fn new(mode: Mode, metric: &Metric) -> Reading {
        Reading {
            mode,
            metric: metric.name.clone(),
        }
    }

    /// Whether the metric is a count, as [`Metric::is_count`] says.
    pub fn is_of_counts(&self) -> bool {
        MetricKind::named(&self.metric).is_some_and(MetricKind::is_count)
    }

    /// Returns the words that distinguish the reading from the usual one, the time of cold calls.
    pub fn words(&self) -> Vec<&str> {
        let usual = Reading::new(Reading::first_mode(), &Metric::time());
        let mode = (self.mode != usual.mode).then(|| self.mode.as_str());
        let metric = (self.metric != usual.metric).then_some(&*self.metric);
        mode.into_iter().chain(metric).collect()
    }

    /// Returns a name with the words of the reading: `blur [warm]`, or `blur` for the usual one.
    pub fn label(&self, name: &str) -> String {
        let words = self.words();
        if words.is_empty() {
            name.to_owned()
        } else {
            format!("{name} [{}]", words.join(", "))
        }
    }
}

impl fmt::Display for Reading {
    /// Writes the mode, and the metric if it is not the time: `cold`, `cold, instructions`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of_time = self.metric == Metric::time().name;
        if of_time {
            f.pad(self.mode.as_str())
        } else {
            f.pad(&format!("{}, {}", self.mode, self.metric))
        }
    }
}

impl Readings {
    /// Whether there are several.
    pub fn differ(&self) -> bool {
        self.0.len() > 1
    }

    /// Returns the readings.
    pub fn iter(&self) -> impl Iterator<Item = &Reading> {
        self.0.iter()
    }
}

impl FromIterator<Reading> for Readings {
    fn from_iter<I: IntoIterator<Item = Reading>>(readings: I) -> Readings {
        let mut different = Vec::new();
        for reading in readings {
            if !different.contains(&reading) {
                different.push(reading);
            }
        }
        Readings(different)
    }
}

impl CaseKey {
    /// Returns the key of a case.
    pub fn new(package: &str, benchmark: &str, params: &Params) -> CaseKey {
        let values = params.0.iter();
        let mut params: Vec<String> = values.map(|(name, value)| format!("{name}={value:?}")).collect();
        params.sort();
        CaseKey(format!("{package} {benchmark} {}", params.join(" ")))
    }

    /// Returns a key that only cases of the same group have.
    pub fn of_group(group: &[&str]) -> CaseKey {
        CaseKey(group.join("\u{0}"))
    }
}

impl ResultKeys {
    /// Returns the readings of a case.
    pub fn readings(&self, case: &CaseKey) -> &[Reading] {
        self.0.get(case).map_or(&[], Vec::as_slice)
    }

    /// Returns the key of the result among `others` that a result of this run is compared with: the
    /// one with the same reading, or else the only one of a case that has a single reading in both
    /// runs.
    pub fn counterpart(&self, key: &ResultKey, others: &ResultKeys) -> Option<ResultKey> {
        let own = self.readings(&key.case);
        let reading = match others.readings(&key.case) {
            theirs if theirs.contains(&key.reading) => &key.reading,
            [only] if own.iter().all(|reading| *reading == key.reading) => only,
            _ => return None,
        };
        Some(ResultKey {
            case: key.case.clone(),
            reading: reading.clone(),
        })
    }
}

impl FromIterator<ResultKey> for ResultKeys {
    fn from_iter<I: IntoIterator<Item = ResultKey>>(keys: I) -> ResultKeys {
        let mut by_case: HashMap<CaseKey, Vec<Reading>> = HashMap::new();
        for ResultKey { case, reading } in keys {
            let readings = by_case.entry(case).or_default();
            if !readings.contains(&reading) {
                readings.push(reading);
            }
        }
        ResultKeys(by_case)
    }
}

/// Keys and names of records about one result.
macro_rules! about_a_result {
    ($($record:ty),+) => {
        $(impl $record {
            /// Returns how the result is measured.
            pub fn reading(&self) -> Reading {
                Reading::new(self.mode, &self.metric)
            }

            /// Returns the key of the result.
            pub fn key(&self) -> ResultKey {
                ResultKey {
                    case: CaseKey::new(&self.package, &self.benchmark, &self.params),
                    reading: self.reading(),
                }
            }

            /// Returns the name of the case with the reading: `image::blur [warm]`. No two results
            /// of a run have the same.
            pub fn label(&self) -> String {
                self.reading().label(&self.case)
            }
        })+
    };
}

about_a_result!(BenchmarkStarted, BenchmarkComplete, ComparisonRow, DeviceRow);

#[cfg(test)]
mod tests {
    use super::*;

    fn key(case: &str, mode: Mode, metric: &'static str) -> ResultKey {
        ResultKey {
            case: CaseKey::of_group(&[case]),
            reading: Reading {
                mode,
                metric: metric.into(),
            },
        }
    }

    #[test]
    fn a_label_names_only_what_is_unusual() {
        let label = |mode, metric| key("blur", mode, metric).reading.label("blur");
        assert_eq!(label(Mode::Cold, "time"), "blur");
        assert_eq!(label(Mode::Warm, "time"), "blur [warm]");
        assert_eq!(label(Mode::Cold, "instructions"), "blur [instructions]");
        assert_eq!(label(Mode::Warm, "instructions"), "blur [warm, instructions]");
    }

    #[test]
    fn a_result_is_compared_with_the_one_of_the_same_reading() {
        let [cold, warm] = [Mode::Cold, Mode::Warm].map(|mode| key("blur", mode, "time"));
        let both: ResultKeys = [cold.clone(), warm.clone()].into_iter().collect();
        let one: ResultKeys = [cold.clone()].into_iter().collect();
        assert_eq!(both.counterpart(&cold, &one), Some(cold.clone()));
        assert_eq!(both.counterpart(&warm, &one), None, "new");
        assert_eq!(one.counterpart(&cold, &both), Some(cold.clone()));
        assert_eq!(both.counterpart(&warm, &both), Some(warm));
        assert_eq!(one.counterpart(&cold, &ResultKeys::default()), None);
    }

    #[test]
    fn single_readings_of_a_case_are_compared_even_if_they_differ() {
        let [cold, warm] = [Mode::Cold, Mode::Warm].map(|mode| key("blur", mode, "time"));
        let [one, other] = [&cold, &warm].map(|key| [key.clone()].into_iter().collect::<ResultKeys>());
        assert_eq!(one.counterpart(&cold, &other), Some(warm));
    }

    #[test]
    fn readings_are_different_ones_in_their_order() {
        let reading = |mode, metric| key("blur", mode, metric).reading;
        let several = [
            reading(Mode::Warm, "time"),
            reading(Mode::Cold, "time"),
            reading(Mode::Warm, "time"),
            reading(Mode::Warm, "memory"),
        ];
        let readings: Readings = several.clone().into_iter().collect();
        assert_eq!(
            readings.iter().collect::<Vec<_>>(),
            [&several[0], &several[1], &several[3]]
        );
        assert!(readings.differ());
        let same: Readings = [several[0].clone(), several[2].clone()].into_iter().collect();
        assert!(!same.differ() && !Readings::default().differ());
        assert_eq!(several[0].to_string(), "warm");
        assert_eq!(several[3].to_string(), "warm, memory");
        assert!(several[3].is_of_counts() && !several[0].is_of_counts());
    }
}
