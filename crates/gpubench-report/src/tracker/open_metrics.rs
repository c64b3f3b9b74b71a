//! OpenMetrics 1.0: a family of gauges for each kind of value, in base units.

use std::collections::{BTreeMap, HashSet};
use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};

use super::Point;
use gpubench_contract::{BenchmarkComplete, Metric, RunStarted, Verdict};
use gpubench_diagnostic::printable_line;

type Labels = Vec<(String, String)>;

/// Values of the same kind.
#[derive(Debug)]
struct Family {
    help: &'static str,
    unit: Option<Unit>,
    rows: Vec<(Labels, f64)>,
}

/// The families by name, without the unit.
#[derive(Debug, Default)]
struct Families(BTreeMap<String, Family>);

const VALUE: &str = "Value of each result that passed.";
const LOW: &str = "Lower bound of the 95% interval of the value.";
const HIGH: &str = "Upper bound of the 95% interval of the value.";
const PASSED: &str = "1 for each result that passed, 0 for each that failed.";
const BANDWIDTH: &str = "Bytes of a call, divided by its time.";
const COMPUTE: &str = "Declared floating-point operations of a call, divided by its time.";
const COUNTER: &str = "Declared counters of a call, divided by its time.";
const RUN: &str = "The run: its device, driver, tool and sources.";

/// Returns the text of the file.
pub(super) fn text(run: Option<&RunStarted>, results: &[BenchmarkComplete], points: &[Point<'_>]) -> String {
    let mut families = Families::default();
    for result in results.iter().filter(|result| result.verdict != Verdict::Skipped) {
        let passed = if result.verdict == Verdict::Pass { 1.0 } else { 0.0 };
        families.add("passed", PASSED, None, labels(result), passed);
    }
    for point in points {
        families.add_point(point);
    }
    for result in results.iter().filter(|result| result.verdict == Verdict::Pass) {
        families.add_rates(result);
    }
    let mut registry = Registry::with_prefix("gpubench");
    registry.register_collector(Box::new(families));
    if let Some(run) = run {
        registry.register("run", RUN.trim_end_matches('.'), Info::new(description(run)));
    }
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = encode(&mut text, &registry);
    text
}

impl Families {
    fn add(&mut self, name: &str, help: &'static str, unit: Option<Unit>, labels: Labels, value: f64) {
        let family = self.0.entry(name.to_owned()).or_insert(Family {
            help,
            unit,
            rows: Vec::new(),
        });
        if value.is_finite() {
            family.rows.push((labels, value));
        }
    }

    fn add_point(&mut self, point: &Point<'_>) {
        let (unit, worth) = base_unit(&point.metric);
        let name = safe(&point.metric.name);
        let [low, high] = point.interval.map_or([None; 2], |interval| interval.map(Some));
        let values = [
            (name.clone(), VALUE, Some(point.value)),
            (format!("{name}_low"), LOW, low),
            (format!("{name}_high"), HIGH, high),
        ];
        for (name, help, value) in values {
            if let Some(value) = value {
                self.add(&name, help, unit.clone(), labels(point.result), value * worth);
            }
        }
    }

    fn add_rates(&mut self, result: &BenchmarkComplete) {
        let rates = [
            (
                "bandwidth",
                BANDWIDTH,
                "bytes_per_second",
                result.throughput.bytes_per_s,
            ),
            ("compute", COMPUTE, "flops_per_second", result.throughput.flops_per_s),
        ];
        for (name, help, unit, rate) in rates {
            if let Some(rate) = rate {
                self.add(name, help, Some(Unit::Other(unit.to_owned())), labels(result), rate);
            }
        }
        for counter in &result.throughput.counters {
            let mut labels = labels(result);
            labels.push(("counter".to_owned(), counter.name.clone()));
            let unit = Some(Unit::Other("per_second".to_owned()));
            self.add("counter", COUNTER, unit, labels, counter.per_s);
        }
    }
}

impl Collector for Families {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        for (name, family) in &self.0 {
            let help = family.help.trim_end_matches('.');
            let mut descriptor = encoder.encode_descriptor(name, help, family.unit.as_ref(), MetricType::Gauge)?;
            for (labels, value) in &family.rows {
                ConstGauge::new(*value).encode(descriptor.encode_family(labels)?)?;
            }
        }
        Ok(())
    }
}

/// Returns the base unit of OpenMetrics for a metric, and the worth of the metric's unit in it.
fn base_unit(metric: &Metric) -> (Option<Unit>, f64) {
    match &*metric.unit {
        "ns" => (Some(Unit::Seconds), 1e-9),
        "B" => (Some(Unit::Bytes), 1.0),
        "J" => (Some(Unit::Joules), 1.0),
        _ => (None, 1.0),
    }
}

/// Returns what identifies a result. Axes are `param_NAME`, as in CSV.
fn labels(result: &BenchmarkComplete) -> Labels {
    let own = [
        ("package", result.package.clone()),
        ("benchmark", result.benchmark.clone()),
        ("case", result.case.clone()),
        ("mode", result.mode.as_str().to_owned()),
        ("device", result.device.name.clone()),
    ];
    let mut labels: Labels = own.map(|(name, value)| (name.to_owned(), value)).to_vec();
    let mut seen = HashSet::new();
    for (name, value) in &result.params.0 {
        let name = format!("param_{}", safe(name));
        // Two axes whose names differ only in letters that a label cannot have.
        if seen.insert(name.clone()) {
            labels.push((name, value.to_string()));
        }
    }
    harmless(labels)
}

/// Makes values harmless for whoever prints the file.
fn harmless(labels: Labels) -> Labels {
    let values = labels
        .into_iter()
        .map(|(name, value)| (name, printable_line(&value).to_string()));
    values.collect()
}

fn description(run: &RunStarted) -> Labels {
    let known = [
        ("run_id", Some(run.run_id.clone())),
        ("started_at", Some(run.started_at.clone())),
        ("tool_version", Some(run.tool_version.clone())),
        ("device", Some(run.device.name.clone())),
        ("driver", run.environment.driver.clone()),
        (
            "revision",
            run.revision.as_ref().map(|revision| revision.commit.clone()),
        ),
    ];
    let known = known
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)));
    harmless(known.collect())
}

/// Returns a name of letters, digits and `_`.
fn safe(name: &str) -> String {
    let letter = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '_' };
    name.chars().map(letter).collect()
}
