//! Results as comma-separated values (RFC 4180): one row per result, values in the unit of their
//! metric, empty fields for unknown values.
//!
//! The columns and their order are fixed. Later versions append columns, before those of the axes
//! and, last, the counters.

use super::{Output, OutputError, Reporter};
use gpubench_contract::{
    BenchmarkComplete, BenchmarkStarted, Change, ComparisonComplete, ComparisonRow, ParamValue, RunFinished,
    RunStarted, Stats,
};
use gpubench_diagnostic::{csv_field, csv_text};

/// The value of a result in one column.
type Value = fn(&Row<'_>) -> Field;

/// Columns before those of the axes. The columns from `baseline` on are empty without a comparison.
const COLUMNS: [(&str, Value); 44] = [
    ("package", |row| text(Some(&row.result.package))),
    ("benchmark", |row| text(Some(&row.result.benchmark))),
    ("case", |row| text(Some(&row.result.case))),
    ("device", |row| text(Some(&row.result.device.name))),
    ("mode", |row| text(Some(row.result.mode))),
    ("verdict", |row| text(Some(row.result.verdict))),
    ("cause", |row| text(row.result.cause)),
    ("grade", |row| text(row.result.grade)),
    ("n", |row| number(row.stats().map(|stats| stats.n))),
    ("metric", |row| text(Some(&row.result.metric.name))),
    ("unit", |row| text(Some(&row.result.metric.unit))),
    ("value", |row| number(row.stats().map(|stats| stats.value))),
    ("ci95_low", |row| {
        number(row.stats().and_then(|stats| stats.ci95).map(|[low, _]| low))
    }),
    ("ci95_high", |row| {
        number(row.stats().and_then(|stats| stats.ci95).map(|[_, high]| high))
    }),
    ("median", |row| number(row.stats().map(|stats| stats.median))),
    ("mean", |row| number(row.stats().map(|stats| stats.mean))),
    ("stddev", |row| number(row.stats().and_then(|stats| stats.stddev))),
    ("cv", |row| number(row.stats().and_then(|stats| stats.cv))),
    ("min", |row| number(row.stats().map(|stats| stats.min))),
    ("q1", |row| number(row.stats().map(|stats| stats.q1))),
    ("q3", |row| number(row.stats().map(|stats| stats.q3))),
    ("max", |row| number(row.stats().map(|stats| stats.max))),
    ("bytes_per_s", |row| number(row.result.throughput.bytes_per_s)),
    ("flops_per_s", |row| number(row.result.throughput.flops_per_s)),
    ("stop", |row| text(row.result.stop.as_ref().map(|stop| stop.reason))),
    ("message", |row| text(row.result.message.as_ref())),
    ("of_peak_bandwidth", |row| {
        number(row.result.throughput.of_peak_bandwidth)
    }),
    ("of_peak_flops", |row| number(row.result.throughput.of_peak_flops)),
    ("grade_reason", |row| text(row.result.grade_reason.as_ref())),
    ("baseline", |row| {
        text(row.comparison.map(|comparison| &comparison.baseline.name))
    }),
    ("baseline_value", |row| {
        number(row.compared.and_then(|compared| compared.baseline.value))
    }),
    ("ratio", |row| number(row.change().map(|change| change.ratio))),
    ("ratio_low", |row| number(row.change().map(|change| change.interval[0]))),
    ("ratio_high", |row| {
        number(row.change().map(|change| change.interval[1]))
    }),
    ("confidence", |row| number(row.change().map(|change| change.confidence))),
    ("threshold", |row| number(row.change().map(|change| change.threshold))),
    ("threshold_source", |row| {
        text(row.change().map(|change| change.threshold_source.as_str()))
    }),
    ("change_verdict", |row| text(row.change_verdict())),
    ("change_remark", |row| {
        text(row.compared.and_then(|compared| compared.remark.as_ref()))
    }),
    ("drift", |row| number(row.change().and_then(|change| change.drift))),
    ("reference_value", |row| number(row.result.reference.map(|of| of.value))),
    ("speedup", |row| number(row.result.reference.map(|of| of.speedup))),
    ("speedup_low", |row| {
        number(row.result.reference.and_then(|of| of.ci95).map(|[low, _]| low))
    }),
    ("speedup_high", |row| {
        number(row.result.reference.and_then(|of| of.ci95).map(|[_, high]| high))
    }),
];

/// Writes one row per result, as soon as it has its verdict. If there will be a comparison, it
/// writes all rows at the end of the run. Every axis of a selected case has a column `param_<axis>`
/// after the others, and every counter then a column `counter_<name>_per_s`.
pub struct CsvReporter {
    output: Output,
    axes: Vec<String>,
    counters: Vec<String>,
    /// Results that wait for the comparison. `None` if each is written immediately.
    waiting: Option<Vec<BenchmarkComplete>>,
    comparison: Option<ComparisonComplete>,
}

impl CsvReporter {
    /// Returns a reporter that writes to `output`.
    pub fn new(output: Output) -> CsvReporter {
        CsvReporter {
            output,
            axes: Vec::new(),
            counters: Vec::new(),
            waiting: None,
            comparison: None,
        }
    }

    /// Keeps the rows until the end of the run, to add the comparison.
    pub fn awaiting_a_comparison(self) -> CsvReporter {
        CsvReporter {
            waiting: Some(Vec::new()),
            ..self
        }
    }

    fn write_row(&mut self, fields: &[Field]) -> Result<(), OutputError> {
        self.output.print(&line(fields))
    }
}

impl Reporter for CsvReporter {
    fn run_started(&mut self, _: &RunStarted, cases: &[BenchmarkStarted]) -> Result<(), OutputError> {
        self.axes = axes_of(cases);
        let titles = COLUMNS.iter().map(|(title, _)| *title);
        self.counters = counters_of(cases);
        self.output.print(&header(titles, &self.axes, &self.counters))
    }

    fn benchmark_complete(&mut self, result: &BenchmarkComplete) -> Result<(), OutputError> {
        match &mut self.waiting {
            None => {
                let row = Row {
                    result,
                    comparison: None,
                    compared: None,
                };
                self.write_row(&row.fields(&self.axes, &self.counters))
            }
            Some(waiting) => {
                waiting.push(result.clone());
                Ok(())
            }
        }
    }

    fn comparison_complete(&mut self, comparison: &ComparisonComplete) -> Result<(), OutputError> {
        self.comparison = Some(comparison.clone());
        Ok(())
    }

    fn run_finished(&mut self, _: &RunFinished) -> Result<(), OutputError> {
        let waiting = self.waiting.take().unwrap_or_default();
        let comparison = self.comparison.take();
        let rows = comparison
            .as_ref()
            .map(ComparisonComplete::rows_by_result)
            .unwrap_or_default();
        for result in &waiting {
            let row = Row {
                result,
                comparison: comparison.as_ref(),
                compared: rows.get(&result.key()).copied(),
            };
            self.write_row(&row.fields(&self.axes, &self.counters))?;
        }
        Ok(())
    }
}

/// Returns the names of all axes in order of appearance, without duplicates.
pub(super) fn axes_of(cases: &[BenchmarkStarted]) -> Vec<String> {
    let mut axes: Vec<String> = Vec::new();
    for (name, _) in cases.iter().flat_map(|case| &case.params.0) {
        if !axes.contains(name) {
            axes.push(name.clone());
        }
    }
    axes
}

/// A case and its comparison, if there is one.
struct Row<'a> {
    result: &'a BenchmarkComplete,
    comparison: Option<&'a ComparisonComplete>,
    compared: Option<&'a ComparisonRow>,
}

impl Row<'_> {
    fn stats(&self) -> Option<&Stats> {
        self.result.stats.as_ref()
    }

    fn change(&self) -> Option<&Change> {
        self.compared?.change.as_ref()
    }

    fn change_verdict(&self) -> Option<&'static str> {
        let is_new = || self.comparison?.new.contains(&self.result.label()).then_some("new");
        self.compared.map(|compared| compared.verdict.as_str()).or_else(is_new)
    }

    fn fields(&self, axes: &[String], counters: &[String]) -> Vec<Field> {
        let columns = COLUMNS.iter().map(|(_, field)| field(self));
        let rates = counters.iter().map(|name| {
            let mut own = self.result.throughput.counters.iter();
            number(own.find(|own| own.name == *name).map(|own| own.per_s))
        });
        columns.chain(params_of(self.result, axes)).chain(rates).collect()
    }
}

/// Returns the names of all counters in order of appearance, without duplicates.
fn counters_of(cases: &[BenchmarkStarted]) -> Vec<String> {
    let mut counters: Vec<String> = Vec::new();
    for name in cases.iter().flat_map(|case| &case.counters) {
        if !counters.contains(name) {
            counters.push(name.clone());
        }
    }
    counters
}

/// Returns a result's values of these axes.
pub(super) fn params_of(result: &BenchmarkComplete, axes: &[String]) -> impl Iterator<Item = Field> {
    axes.iter().map(|axis| {
        let value = result.params.0.iter().find(|(name, _)| name == axis);
        match value.map(|(_, value)| value) {
            Some(ParamValue::Text(value)) => text(Some(value)),
            value => number(value),
        }
    })
}

/// Returns the first line: the titles, then a column for each axis, then one for each counter.
pub(super) fn header<'a>(titles: impl Iterator<Item = &'a str>, axes: &[String], counters: &[String]) -> String {
    let axes = axes.iter().map(|axis| format!("param_{axis}"));
    let counters = counters.iter().map(|name| format!("counter_{name}_per_s"));
    let fields = titles.map(str::to_owned).chain(axes).chain(counters);
    let fields: Vec<Field> = fields.map(Field::Text).collect();
    line(&fields)
}

/// Returns a line with these fields.
pub(super) fn line(fields: &[Field]) -> String {
    let fields: Vec<String> = fields.iter().map(Field::written).collect();
    fields.join(",") + "\r\n"
}

/// A field of a row.
pub(super) enum Field {
    /// A number, formatted by the tool.
    Number(String),
    /// Untrusted text. It is kept on one line, because a CI log can interpret the start of a line
    /// as a command.
    Text(String),
}

pub(super) fn number(value: Option<impl ToString>) -> Field {
    Field::Number(value.map(|value| value.to_string()).unwrap_or_default())
}

pub(super) fn text(value: Option<impl ToString>) -> Field {
    Field::Text(value.map(|value| value.to_string()).unwrap_or_default())
}

impl Field {
    fn written(&self) -> String {
        match self {
            Field::Number(number) => csv_field(number),
            Field::Text(text) => csv_text(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::written;

    #[test]
    fn untrusted_text_starts_no_line() {
        let mut run = gpubench_testing::on_gpu();
        let before = written(&run, CsvReporter::new).lines().count();
        for result in &mut run.results {
            result.case += "\n::error::forged";
        }
        let text = written(&run, CsvReporter::new);
        assert_eq!(text.lines().count(), before);
        assert!(text.contains(" ::error::forged"), "{text}");
    }
}
