//! A case and its name.

use std::collections::HashSet;

use gpubench::catalog::{AxisValue, Params};

use crate::config::{Metrics, Modes};
use gpubench_contract::{CaseKey, Metric, MetricKind, MetricRow, Mode, ParamValue, Reading, ResultKey};
use gpubench_diagnostic::{is_printable, printable_line};

/// One benchmark at one point of its axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// The package.
    pub package: String,
    /// Position of its library among those of the run.
    pub library: usize,
    /// Position of the benchmark in the library's catalog.
    pub benchmark: usize,
    /// The benchmark's path: `image::grayscale`.
    pub path: String,
    /// A value for every axis, in axis order.
    pub params: Params,
    /// The modes in which it is measured.
    pub modes: Modes,
    /// What is read of its calls.
    pub metrics: Metrics,
    /// Names of its counters.
    pub counters: Vec<String>,
    /// Whether the case runs.
    pub disposition: Disposition,
}

/// Whether a selected case runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Disposition {
    /// It runs.
    Run,
    /// The device lacks a feature; the text says which: `needs a CUDA device`.
    Skip(String),
}

impl Disposition {
    /// Returns why the case does not run.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Run => None,
            Self::Skip(reason) => Some(reason),
        }
    }
}

/// The form in which names are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Naming {
    /// [`Case::name`]: only one package is selected.
    WithinPackage,
    /// [`Case::full_name`].
    AcrossPackages,
}

impl Naming {
    /// Returns the form for a run of `packages` packages.
    pub fn for_packages(packages: usize) -> Self {
        if packages > 1 {
            Self::AcrossPackages
        } else {
            Self::WithinPackage
        }
    }

    /// Returns the form that is not shown, but accepted.
    pub(super) fn other(self) -> Self {
        match self {
            Self::WithinPackage => Self::AcrossPackages,
            Self::AcrossPackages => Self::WithinPackage,
        }
    }
}

impl Case {
    /// Returns the name within the package: `path`, or `path::width=1024,height=4096`.
    pub fn name(&self) -> String {
        if self.params.is_empty() {
            return self.path.clone();
        }
        let params: Vec<_> = self
            .params
            .iter()
            .map(|(name, value)| format!("{name}={}", value_text(value)))
            .collect();
        format!("{}::{}", self.path, params.join(","))
    }

    /// Returns the axis values as records have them.
    pub fn params_in_record(&self) -> gpubench_contract::Params {
        let values = self.params.iter().map(|(name, of)| (name.clone(), value_in_record(of)));
        gpubench_contract::Params(values.collect())
    }

    /// Returns the name across packages: `package::name`.
    pub fn full_name(&self) -> String {
        format!("{}::{}", self.package, self.name())
    }

    /// Returns the modes and metrics of its results, in order. Counts are the same in every mode,
    /// so they are taken in the first.
    pub fn measured(&self) -> Vec<(Mode, Metric)> {
        let in_modes = |row: &'static MetricRow| {
            let most = if row.kind == MetricKind::Time { usize::MAX } else { 1 };
            self.modes.iter().take(most).map(|mode| (mode, row.metric()))
        };
        self.metrics.results().flat_map(in_modes).collect()
    }

    /// Returns the readings of its results, in order.
    pub fn readings(&self) -> impl Iterator<Item = Reading> + use<> {
        self.measured()
            .into_iter()
            .map(|(mode, metric)| Reading::new(mode, &metric))
    }

    /// Returns the keys of its results, in order.
    pub fn result_keys(&self) -> impl Iterator<Item = ResultKey> + use<> {
        let case = CaseKey::new(&self.package, &self.path, &self.params_in_record());
        self.readings().map(move |reading| ResultKey {
            case: case.clone(),
            reading,
        })
    }

    /// Returns the name in one of its forms.
    pub fn name_as(&self, naming: Naming) -> String {
        match naming {
            Naming::WithinPackage => self.name(),
            Naming::AcrossPackages => self.full_name(),
        }
    }
}

/// Returns the full names of some cases.
pub(crate) fn full_names(cases: &[Case]) -> HashSet<String> {
    cases.iter().map(Case::full_name).collect()
}

/// Returns what `--list` prints: one case name per line, as `--exact` accepts it.
pub fn names(cases: &[Case], naming: Naming) -> String {
    let names = cases.iter().map(|case| printable_line(&case.name_as(naming)));
    names.map(|name| name + "\n").collect()
}

/// Formats a value as in a name, and as `--axis` accepts it.
///
/// A float is the shortest text that parses to the same number. A string that could be mistaken for
/// another value is a JSON string.
pub fn value_text(value: &AxisValue) -> String {
    match value {
        AxisValue::Bool(value) => value.to_string(),
        AxisValue::Int(value) => value.to_string(),
        AxisValue::Float(value) => format!("{value:?}"),
        AxisValue::Text(text) if is_plain(text) => text.clone(),
        AxisValue::Text(text) => quoted(text),
    }
}

/// Returns an axis value as records have it.
pub(in crate::broker) fn value_in_record(value: &AxisValue) -> ParamValue {
    match value {
        AxisValue::Int(value) => ParamValue::Int(*value),
        AxisValue::Float(value) => ParamValue::from(*value),
        AxisValue::Text(value) => ParamValue::Text(value.clone()),
        AxisValue::Bool(value) => ParamValue::Bool(*value),
    }
}

/// Returns a JSON string without invisible characters.
fn quoted(text: &str) -> String {
    let text = serde_json::Value::from(text).to_string();
    let escaped = |c: char| {
        c.encode_utf16(&mut [0; 2])
            .iter()
            .map(|unit| format!("\\u{unit:04x}"))
            .collect()
    };
    text.chars()
        .map(|c| if is_printable(c) { c.to_string() } else { escaped(c) })
        .collect()
}

fn is_plain(text: &str) -> bool {
    !text.is_empty()
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '+' | '.' | '/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_contract::Mode;

    fn case(params: &[(&str, AxisValue)]) -> Case {
        Case {
            package: "suite".to_owned(),
            library: 0,
            benchmark: 0,
            path: "image::grayscale".to_owned(),
            params: params
                .iter()
                .map(|(name, value)| (name.to_string(), value.clone()))
                .collect(),
            modes: Modes::only(Mode::Cold),
            metrics: Metrics::TIME,
            counters: Vec::new(),
            disposition: Disposition::Run,
        }
    }

    #[test]
    fn a_case_without_axes_is_named_by_its_path() {
        assert_eq!(case(&[]).name(), "image::grayscale");
        assert_eq!(case(&[]).full_name(), "suite::image::grayscale");
    }

    #[test]
    fn a_list_has_one_name_per_line() {
        let cases = [case(&[]), case(&[("n", AxisValue::Int(1))])];
        assert_eq!(
            names(&cases, Naming::AcrossPackages),
            "suite::image::grayscale\nsuite::image::grayscale::n=1\n"
        );
    }

    #[test]
    fn values_follow_axis_order() {
        let case = case(&[
            ("width", AxisValue::Int(1024)),
            ("density", AxisValue::Float(0.1)),
            ("kind", "f16".into_text()),
        ]);
        assert_eq!(case.name(), "image::grayscale::width=1024,density=0.1,kind=f16");
    }

    #[test]
    fn an_ambiguous_string_is_quoted() {
        assert_eq!(value_text(&"a,b=\"c\"\n".into_text()), r#""a,b=\"c\"\n""#);
        assert_eq!(value_text(&"".into_text()), "\"\"");
    }

    #[test]
    fn a_name_has_no_invisible_or_reordering_characters() {
        let hostile = "\u{202e}a\u{9b}\u{e0001}µ";
        let shown = value_text(&hostile.into_text());
        assert_eq!(shown, r#""\u202ea\u009b\udb40\udc01µ""#);
        assert_eq!(serde_json::from_str::<String>(&shown).expect("JSON"), hostile);
    }

    #[test]
    fn floats_are_short_and_exact() {
        assert_eq!(value_text(&AxisValue::Float(1e300)), "1e300");
        assert_eq!(value_text(&AxisValue::Float(2.0)), "2.0");
        assert_eq!(value_text(&AxisValue::Float(-0.0)), "-0.0");
    }

    trait IntoText {
        fn into_text(self) -> AxisValue;
    }

    impl IntoText for &str {
        fn into_text(self) -> AxisValue {
            AxisValue::Text(self.to_owned())
        }
    }
}
