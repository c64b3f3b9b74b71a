//! Families of metrics, and how prometheus-client writes them.

use std::collections::BTreeMap;
use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Unit;

use crate::ledger::Durations;

/// The labels of a program: its name, and whose it is.
pub(super) type ProgramLabels = [(&'static str, String)];

/// The label of a program.
pub(super) const PROGRAM: &str = "program";

/// The labels of a row, by name.
pub(super) type Labels = Vec<(&'static str, String)>;

/// What kind of number a family has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It only grows. Its name ends in `_total`.
    Counter,
    /// It grows and shrinks.
    Gauge,
    /// Times of calls, by their length.
    Histogram,
}

/// Metrics of the same name.
#[derive(Clone, Debug)]
pub(super) struct Family {
    /// The name without unit and `_total`.
    pub(super) name: &'static str,
    pub(super) help: &'static str,
    pub(super) unit: Option<Unit>,
    pub(super) kind: Kind,
    /// The names of its labels, in order.
    pub(super) labels: Vec<&'static str>,
    rows: BTreeMap<Labels, f64>,
    /// The rows of a histogram.
    durations: BTreeMap<Labels, Durations>,
}

impl Family {
    pub(super) fn counter(name: &'static str, labels: &'static [&'static str], help: &'static str) -> Self {
        Self::new(Kind::Counter, name, labels, help)
    }

    pub(super) fn gauge(name: &'static str, labels: &'static [&'static str], help: &'static str) -> Self {
        Self::new(Kind::Gauge, name, labels, help)
    }

    /// A histogram of times by program, in seconds.
    pub(super) fn histogram(name: &'static str, labels: &'static [&'static str], help: &'static str) -> Self {
        Self::new(Kind::Histogram, name, labels, help)
            .by_program()
            .in_unit(Unit::Seconds)
    }

    fn new(kind: Kind, name: &'static str, labels: &'static [&'static str], help: &'static str) -> Self {
        Self {
            name,
            help,
            unit: None,
            kind,
            labels: labels.to_vec(),
            rows: BTreeMap::new(),
            durations: BTreeMap::new(),
        }
    }

    /// Sets the unit, which becomes a part of the name.
    pub(super) fn in_unit(mut self, unit: Unit) -> Self {
        self.unit = Some(unit);
        self
    }

    /// Gives each row the labels of a program, before its own.
    pub(super) fn by_program(mut self) -> Self {
        self.labels.insert(0, PROGRAM);
        self
    }

    /// Adds to the row with these values of the labels.
    pub(super) fn add<const N: usize>(&mut self, values: [&str; N], number: f64) {
        let labels = self.labels.iter().copied().zip(values.map(str::to_owned)).collect();
        *self.rows.entry(labels).or_default() += number;
    }

    /// Adds to the row of a program with these values of the other labels.
    pub(super) fn add_of<const N: usize>(&mut self, program: &ProgramLabels, values: [&str; N], number: f64) {
        *self.rows.entry(self.labels_of(program, values)).or_default() += number;
    }

    /// Adds times to the histogram of a program with these values of the other labels, if there are
    /// any.
    pub(super) fn add_times<const N: usize>(&mut self, program: &ProgramLabels, values: [&str; N], times: &Durations) {
        if times.count() > 0 {
            self.durations
                .entry(self.labels_of(program, values))
                .or_default()
                .merge(times);
        }
    }

    fn labels_of<const N: usize>(&self, program: &ProgramLabels, values: [&str; N]) -> Labels {
        let own = self.labels.iter().copied().skip(1).zip(values.map(str::to_owned));
        program.iter().cloned().chain(own).collect()
    }

    /// Returns the whole name: `gpubench_cuda_copied_bytes_total`.
    #[cfg(test)]
    pub(super) fn full_name(&self) -> String {
        let unit = self
            .unit
            .as_ref()
            .map_or_else(String::new, |unit| format!("_{}", unit.as_str()));
        let end = match self.kind {
            Kind::Counter => "_total",
            Kind::Gauge | Kind::Histogram => "",
        };
        format!("{}{unit}{end}", self.name)
    }

    fn encode(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let kind = match self.kind {
            Kind::Counter => MetricType::Counter,
            Kind::Gauge => MetricType::Gauge,
            Kind::Histogram => MetricType::Histogram,
        };
        let mut metric = encoder.encode_descriptor(self.name, self.help, self.unit.as_ref(), kind)?;
        if self.labels.is_empty() {
            let number = self.rows.values().next();
            return number.map_or(Ok(()), |number| self.encode_number(*number, metric));
        }
        for (labels, number) in &self.rows {
            let labels: Vec<(&str, &str)> = labels.iter().map(|(name, value)| (*name, value.as_str())).collect();
            self.encode_number(*number, metric.encode_family(&labels.as_slice())?)?;
        }
        for (labels, times) in &self.durations {
            let labels: Vec<(&str, &str)> = labels.iter().map(|(name, value)| (*name, value.as_str())).collect();
            let labels = labels.as_slice();
            let mut row = metric.encode_family(&labels)?;
            let sum = times.total().as_secs_f64();
            row.encode_histogram::<NoLabelSet>(sum, times.count(), &buckets(times), None)?;
        }
        Ok(())
    }

    fn encode_number(&self, number: f64, row: MetricEncoder<'_>) -> fmt::Result {
        match self.kind {
            Kind::Counter => ConstCounter::new(number).encode(row),
            Kind::Gauge | Kind::Histogram => ConstGauge::new(number).encode(row),
        }
    }
}

/// Returns the longest time of each bucket, in seconds, and its calls. Each has one or two classes,
/// so that a histogram has 16 rows of them.
fn buckets(times: &Durations) -> Vec<(f64, u64)> {
    let mut buckets = Vec::new();
    let mut below = 0;
    for (place, (at_most, count)) in times.classes().enumerate() {
        let is_twice_a_power_of_ten = place % 3 == 1;
        match at_most {
            Some(_) if is_twice_a_power_of_ten => below = count,
            _ => {
                buckets.push((at_most.map_or(f64::INFINITY, |time| time.as_secs_f64()), below + count));
                below = 0;
            }
        }
    }
    buckets
}

/// Families in the order of the page.
#[derive(Clone, Debug)]
pub(super) struct Families(pub(super) Vec<Family>);

impl Collector for Families {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|family| family.encode(&mut encoder))
    }
}
