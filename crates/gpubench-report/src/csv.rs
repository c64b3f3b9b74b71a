//! Results as comma-separated values (RFC 4180): one row a case, values in the unit of their metric, nothing where a value is not known.
//!
//! The columns are always the same ones, in the same order; later versions add theirs behind them, before those of the axes.

use super::wording::source_of_threshold;
use super::{Output, OutputError, Reporter};
use gpubench_contract::{
    BenchmarkComplete, BenchmarkStarted, ComparisonComplete, ComparisonRow, ParamValue, RunFinished, RunStarted,
};
use gpubench_diagnostic::printable;

/// Columns before those of the axes. Those from `baseline` on are empty where nothing was compared.
const COLUMNS: [&str; 39] = [
    "package",
    "benchmark",
    "case",
    "device",
    "mode",
    "verdict",
    "cause",
    "grade",
    "n",
    "metric",
    "unit",
    "value",
    "ci95_low",
    "ci95_high",
    "median",
    "mean",
    "stddev",
    "cv",
    "min",
    "q1",
    "q3",
    "max",
    "bytes_per_s",
    "flops_per_s",
    "stop",
    "message",
    "of_peak_bandwidth",
    "of_peak_flops",
    "grade_reason",
    "baseline",
    "baseline_value",
    "ratio",
    "ratio_low",
    "ratio_high",
    "confidence",
    "threshold",
    "threshold_source",
    "change_verdict",
    "change_remark",
];

/// Writes one row a case as soon as it has its verdict, or when the run has ended where there will be a comparison. Every axis of any selected case has a column
/// `param_<axis>` behind the others.
pub struct CsvReporter {
    output: Output,
    axes: Vec<String>,
    rows: Rows,
    comparison: Option<ComparisonComplete>,
}

/// What becomes of a result.
enum Rows {
    /// It is written.
    AtOnce,
    /// It waits for what the comparison says of it.
    Kept(Vec<BenchmarkComplete>),
}

impl CsvReporter {
    /// Writes to `output`.
    pub fn new(output: Output) -> CsvReporter {
        CsvReporter {
            output,
            axes: Vec::new(),
            rows: Rows::AtOnce,
            comparison: None,
        }
    }

    /// Keeps the rows until the end of the run, for what a comparison says of them.
    pub fn awaiting_a_comparison(self) -> CsvReporter {
        CsvReporter {
            rows: Rows::Kept(Vec::new()),
            ..self
        }
    }

    fn write_row(&mut self, fields: &[Field]) -> Result<(), OutputError> {
        let fields: Vec<String> = fields.iter().map(Field::written).collect();
        self.output.print(&(fields.join(",") + "\r\n"))
    }
}

impl Reporter for CsvReporter {
    fn run_started(&mut self, _: &RunStarted, cases: &[BenchmarkStarted]) -> Result<(), OutputError> {
        self.axes = axes_of(cases);
        let axes = self.axes.iter().map(|axis| format!("param_{axis}"));
        let header = COLUMNS.iter().map(ToString::to_string).chain(axes);
        let header: Vec<Field> = header.map(Field::Text).collect();
        self.write_row(&header)
    }

    fn benchmark_complete(&mut self, result: &BenchmarkComplete) -> Result<(), OutputError> {
        match &mut self.rows {
            Rows::AtOnce => {
                let row = row(result, None, &self.axes);
                self.write_row(&row)
            }
            Rows::Kept(results) => {
                results.push(result.clone());
                Ok(())
            }
        }
    }

    fn comparison_complete(&mut self, comparison: &ComparisonComplete) -> Result<(), OutputError> {
        self.comparison = Some(comparison.clone());
        Ok(())
    }

    fn run_finished(&mut self, _: &RunFinished) -> Result<(), OutputError> {
        let Rows::Kept(results) = std::mem::replace(&mut self.rows, Rows::AtOnce) else {
            return Ok(());
        };
        let comparison = self.comparison.take();
        let rows = comparison
            .as_ref()
            .map(ComparisonComplete::rows_by_case)
            .unwrap_or_default();
        for result in &results {
            let compared = comparison.as_ref().map(|comparison| Compared {
                baseline: &comparison.baseline.name,
                row: rows.get(&*result.case).copied(),
                is_new: comparison.new.contains(&result.case),
            });
            let row = row(result, compared.as_ref(), &self.axes);
            self.write_row(&row)?;
        }
        Ok(())
    }
}

/// The names of all axes, each once, in the order in which they appear.
fn axes_of(cases: &[BenchmarkStarted]) -> Vec<String> {
    let mut axes: Vec<String> = Vec::new();
    for (name, _) in cases.iter().flat_map(|case| &case.params.0) {
        if !axes.contains(name) {
            axes.push(name.clone());
        }
    }
    axes
}

/// What a comparison says of a case.
struct Compared<'a> {
    baseline: &'a str,
    row: Option<&'a ComparisonRow>,
    is_new: bool,
}

fn row(result: &BenchmarkComplete, compared: Option<&Compared<'_>>, axes: &[String]) -> Vec<Field> {
    let stats = result.stats.as_ref();
    let mut row = vec![
        text(Some(&result.package)),
        text(Some(&result.benchmark)),
        text(Some(&result.case)),
        text(Some(&result.device.name)),
        text(Some(result.mode)),
        text(Some(result.verdict)),
        text(result.cause),
        text(result.grade),
        number(stats.map(|stats| stats.n)),
        text(Some(&result.metric.name)),
        text(Some(&result.metric.unit)),
        number(stats.map(|stats| stats.value)),
        number(stats.map(|stats| stats.ci95[0])),
        number(stats.map(|stats| stats.ci95[1])),
        number(stats.map(|stats| stats.median)),
        number(stats.map(|stats| stats.mean)),
        number(stats.and_then(|stats| stats.stddev)),
        number(stats.and_then(|stats| stats.cv)),
        number(stats.map(|stats| stats.min)),
        number(stats.map(|stats| stats.q1)),
        number(stats.map(|stats| stats.q3)),
        number(stats.map(|stats| stats.max)),
        number(result.throughput.bytes_per_s),
        number(result.throughput.flops_per_s),
        text(result.stop.as_ref().map(|stop| stop.reason)),
        text(result.message.as_ref()),
        number(result.throughput.of_peak_bandwidth),
        number(result.throughput.of_peak_flops),
        text(result.grade_reason.as_ref()),
    ];
    row.extend(comparison_fields(compared));
    row.extend(axes.iter().map(|axis| {
        let value = result.params.0.iter().find(|(name, _)| name == axis);
        match value.map(|(_, value)| value) {
            Some(ParamValue::Text(value)) => text(Some(value)),
            value => number(value),
        }
    }));
    row
}

/// What the comparison says of a case; empty where there is none.
fn comparison_fields(compared: Option<&Compared<'_>>) -> [Field; 10] {
    let row = compared.and_then(|compared| compared.row);
    let is_new = compared.is_some_and(|compared| compared.is_new);
    let change = row.and_then(|row| row.change.as_ref());
    [
        text(compared.map(|compared| compared.baseline)),
        number(row.and_then(|row| row.baseline.value)),
        number(change.map(|change| change.ratio)),
        number(change.map(|change| change.interval[0])),
        number(change.map(|change| change.interval[1])),
        number(change.map(|change| change.confidence)),
        number(change.map(|change| change.threshold)),
        text(change.map(source_of_threshold)),
        text(row.map(|row| row.verdict.as_str()).or(is_new.then_some("new"))),
        text(row.and_then(|row| row.remark.as_ref())),
    ]
}

/// A value of a row.
enum Field {
    /// A number, which the tool wrote itself.
    Number(String),
    /// A text, which anybody may have written.
    Text(String),
}

fn number(value: Option<impl ToString>) -> Field {
    Field::Number(value.map(|value| value.to_string()).unwrap_or_default())
}

fn text(value: Option<impl ToString>) -> Field {
    Field::Text(value.map(|value| value.to_string()).unwrap_or_default())
}

impl Field {
    fn written(&self) -> String {
        match self {
            Field::Number(number) => quoted(number),
            Field::Text(text) => quoted(&inert(&printable(text))),
        }
    }
}

/// A text that no spreadsheet takes for a formula: behind an apostrophe where it begins like one (OWASP, "CSV Injection").
fn inert(text: &str) -> String {
    let begins_like_a_formula = text
        .trim_start()
        .starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']);
    match begins_like_a_formula {
        true => format!("'{text}"),
        false => text.to_owned(),
    }
}

/// A field, in quotes where it holds a separator, a quote or a line break.
fn quoted(field: &str) -> String {
    if field.contains([',', ';', '"', '\r', '\n', '\'']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}
