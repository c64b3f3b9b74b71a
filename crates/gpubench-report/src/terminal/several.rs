//! The comparison of several runs with the first on the terminal.

use std::collections::HashMap;

use super::changes::sign_of;
use super::comparison::{comparison_page, named_runs, tally};
use super::options::{Detail, TerminalOptions};
use super::remarks::noted;
use super::style::{FAINT, PLAIN};
use super::table::{Cell, Column, GAP, NONE, Right, Table};
use crate::wording::{left_out, one_run};
use gpubench_contract::units::change;
use gpubench_contract::{ChangeVerdict, ComparisonComplete, ComparisonRow};
use gpubench_diagnostic::layout::{fitted, in_one_line, width};
use gpubench_diagnostic::printable_line;

/// Width of a median.
const BASELINE: usize = 8;

/// Width of a change with its sign, and maximum width of a run's name above it.
const CHANGE: usize = 9;
const LONGEST_TITLE: usize = 20;

/// Returns a line per benchmark, with the first run's median and the change in each other run. All
/// comparisons have the same baseline.
pub fn comparisons_page(comparisons: &[ComparisonComplete], options: TerminalOptions) -> String {
    let Some(first) = comparisons.first() else {
        return String::new();
    };
    if GAP + BASELINE + comparisons.len() * (GAP + CHANGE) > options.table_width() {
        let pages = comparisons
            .iter()
            .map(|comparison| comparison_page(comparison, options));
        return pages.collect::<Vec<_>>().join("\n");
    }
    let table = SideBySide::new(comparisons, options);
    let mut page = legend(first, comparisons, options);
    page += &table.text();
    for comparison in comparisons {
        page += &summary(comparison, options);
    }
    page += &options
        .styling
        .paint(FAINT, "Compare only two runs to see intervals and remarks.");
    fitted(&page, options.width) + "\n"
}

/// Returns the runs and their differences.
fn legend(first: &ComparisonComplete, comparisons: &[ComparisonComplete], options: TerminalOptions) -> String {
    let candidates = comparisons.iter().map(|comparison| &comparison.candidate);
    let runs: Vec<_> = std::iter::once(&first.baseline)
        .chain(candidates)
        .map(|run| ("", run))
        .collect();
    let differences = comparisons.iter().flat_map(|comparison| {
        let name = &comparison.candidate.name;
        let differences = comparison.differences.iter().cloned().chain(one_run(comparison));
        differences.map(move |difference| noted(&printable_line(&format!("{name}: {difference}")), options))
    });
    named_runs(&runs, options) + &differences.collect::<String>()
}

/// Benchmarks of the first run, with their rows in the other runs.
struct SideBySide<'a> {
    lines: Vec<Line<'a>>,
    runs: Vec<String>,
    options: TerminalOptions,
}

/// A benchmark in one mode, with an entry per other run.
struct Line<'a> {
    name: String,
    baseline: Option<String>,
    changes: Vec<Option<&'a ComparisonRow>>,
}

impl<'a> SideBySide<'a> {
    fn new(comparisons: &'a [ComparisonComplete], options: TerminalOptions) -> SideBySide<'a> {
        let mut lines: Vec<Line<'a>> = Vec::new();
        let mut position_of: HashMap<String, usize> = HashMap::new();
        for (run, comparison) in comparisons.iter().enumerate() {
            for row in comparison.by_relevance() {
                let name = row.reading().label(&row.baseline_case);
                let position = *position_of.entry(name.clone()).or_insert_with(|| {
                    lines.push(Line {
                        name: in_one_line(&printable_line(&name), usize::MAX),
                        baseline: row.baseline.value.map(|value| row.metric.quantity(value).to_string()),
                        changes: vec![None; comparisons.len()],
                    });
                    lines.len() - 1
                });
                lines[position].changes[run] = Some(row);
            }
        }
        if options.detail == Detail::Brief {
            lines.retain(|line| line.changes.iter().flatten().any(|row| !row.verdict.is_quiet()));
        }
        SideBySide {
            lines,
            runs: comparisons
                .iter()
                .map(|comparison| printable_line(&comparison.candidate.name))
                .collect(),
            options,
        }
    }

    fn text(&self) -> String {
        if self.lines.is_empty() {
            return String::new();
        }
        // Returns the baseline's column, then one per other run.
        let columns = self.widths().into_iter().zip(&self.runs).enumerate();
        let runs = columns.map(|(run, (width, name))| Column {
            title: in_one_line(name, width).into(),
            ..Column::new(Right, Some(run), width, "")
        });
        let columns: Vec<_> = std::iter::once(Column::new(Right, None, BASELINE, "baseline"))
            .chain(runs)
            .collect();
        let figures: usize = columns.iter().map(|column| GAP + column.width).sum();
        let names = self.lines.iter().map(|line| width(&line.name));
        let room = self.options.table_width().saturating_sub(figures);
        let table = Table::new(columns, names, room, self.options.styling);
        let rows = self.lines.iter().map(|line| {
            let cells = table.cells(|column| line.cell(column.key));
            table.row(&line.name, "", &cells)
        });
        format!("\n{}{}", table.row("", "", &table.titles()), rows.collect::<String>())
    }

    /// Returns the width of each run's column. It fits the run's name if half of the line remains
    /// for the benchmark's name.
    fn widths(&self) -> Vec<usize> {
        let wide: Vec<usize> = self
            .runs
            .iter()
            .map(|name| width(name).clamp(CHANGE, LONGEST_TITLE))
            .collect();
        let needed = GAP + BASELINE + wide.iter().map(|column| GAP + column).sum::<usize>();
        if needed <= self.options.table_width() / 2 {
            wide
        } else {
            vec![CHANGE; self.runs.len()]
        }
    }
}

impl Line<'_> {
    /// Returns the time in the first run, or `+3.04% ✗` for another run.
    fn cell(&self, run: Option<usize>) -> Cell {
        let Some(run) = run else {
            return (self.baseline.clone().unwrap_or_else(|| NONE.to_owned()), PLAIN);
        };
        let Some(row) = self.changes[run] else {
            return (format!("{NONE}  "), PLAIN);
        };
        let figure = row.change.as_ref().map(|figures| change(figures.ratio));
        let (sign, style) = match sign_of(row.verdict) {
            (sign, _) if row.verdict == ChangeVerdict::NoChange => (sign, PLAIN),
            signed => signed,
        };
        (format!("{} {sign}", figure.as_deref().unwrap_or(NONE)), style)
    }
}

/// `after: ✗ 2 regressed, = 3 no change, 1 removed`.
fn summary(comparison: &ComparisonComplete, options: TerminalOptions) -> String {
    let counts = tally(comparison, |verdict, count| {
        let (sign, style) = sign_of(verdict);
        options.styling.paint(style, &format!("{sign} {count}"))
    });
    let counts = counts.unwrap_or_else(|| "nothing to compare".to_owned());
    let hidden = comparison.left_out.as_ref();
    let hidden = hidden.map_or_else(String::new, |hidden| format!("; {}", left_out(hidden)));
    format!("\n{}: {counts}{hidden}\n", printable_line(&comparison.candidate.name))
}
