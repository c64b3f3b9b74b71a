//! The JSON of NVBench's `--json`, version 1 of its format.

use serde::Deserialize;
use serde_json::Value;

/// The parts that a comparison needs.
#[derive(Debug, Deserialize)]
pub(super) struct File {
    pub(super) meta: Meta,
    #[serde(default)]
    pub(super) devices: Option<Vec<Device>>,
    #[serde(default)]
    pub(super) benchmarks: Option<Vec<Benchmark>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Meta {
    pub(super) version: Versions,
}

#[derive(Debug, Deserialize)]
pub(super) struct Versions {
    pub(super) json: Version,
    pub(super) nvbench: Version,
}

#[derive(Debug, Deserialize)]
pub(super) struct Version {
    pub(super) major: u64,
    pub(super) string: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Device {
    pub(super) id: i64,
    pub(super) name: String,
    /// Ten times the compute capability: 900.
    pub(super) sm_version: Option<u64>,
    pub(super) number_of_sms: Option<u64>,
    pub(super) l2_cache_size: Option<u64>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Benchmark {
    pub(super) name: String,
    #[serde(default)]
    pub(super) states: Option<Vec<State>>,
}

/// A case.
#[derive(Debug, Deserialize)]
pub(super) struct State {
    pub(super) device: Option<i64>,
    /// Null without axes.
    #[serde(default)]
    pub(super) axis_values: Option<Vec<NamedValue>>,
    #[serde(default)]
    pub(super) summaries: Option<Vec<Summary>>,
    #[serde(default)]
    pub(super) is_skipped: bool,
    #[serde(default)]
    pub(super) skip_reason: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Summary {
    pub(super) tag: String,
    #[serde(default)]
    data: Vec<NamedValue>,
}

/// A value of an axis or a summary. Numbers are strings, so that no digit is lost.
#[derive(Debug, Deserialize)]
pub(super) struct NamedValue {
    pub(super) name: String,
    #[serde(rename = "type")]
    pub(super) kind: String,
    value: Value,
}

impl NamedValue {
    /// Returns the value as text.
    pub(super) fn text(&self) -> String {
        match &self.value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }
}

impl State {
    /// Returns the number of a summary. `None` if the state has none of this tag, or it is not
    /// finite.
    pub(super) fn number(&self, tag: &str) -> Option<f64> {
        let summary = self.summaries.iter().flatten().find(|summary| summary.tag == tag)?;
        let value = summary.data.iter().find(|value| value.name == "value")?;
        value.text().parse().ok().filter(|number: &f64| number.is_finite())
    }
}
