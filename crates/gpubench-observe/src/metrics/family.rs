//! Families of metrics, and how prometheus-client writes them.

use std::collections::BTreeMap;
use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, MetricEncoder};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Unit;

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
}

impl Family {
    pub(super) fn counter(name: &'static str, labels: &'static [&'static str], help: &'static str) -> Self {
        Self::new(Kind::Counter, name, labels, help)
    }

    pub(super) fn gauge(name: &'static str, labels: &'static [&'static str], help: &'static str) -> Self {
        Self::new(Kind::Gauge, name, labels, help)
    }

    fn new(kind: Kind, name: &'static str, labels: &'static [&'static str], help: &'static str) -> Self {
        Self {
            name,
            help,
            unit: None,
            kind,
            labels: labels.to_vec(),
            rows: BTreeMap::new(),
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
        let own = self.labels.iter().copied().skip(1).zip(values.map(str::to_owned));
        let labels = program.iter().cloned().chain(own).collect();
        *self.rows.entry(labels).or_default() += number;
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
            Kind::Gauge => "",
        };
        format!("{}{unit}{end}", self.name)
    }

    fn encode(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let kind = match self.kind {
            Kind::Counter => MetricType::Counter,
            Kind::Gauge => MetricType::Gauge,
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
        Ok(())
    }

    fn encode_number(&self, number: f64, row: MetricEncoder<'_>) -> fmt::Result {
        match self.kind {
            Kind::Counter => ConstCounter::new(number).encode(row),
            Kind::Gauge => ConstGauge::new(number).encode(row),
        }
    }
}

/// Families in the order of the page.
#[derive(Clone, Debug)]
pub(super) struct Families(pub(super) Vec<Family>);

impl Collector for Families {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|family| family.encode(&mut encoder))
    }
}
