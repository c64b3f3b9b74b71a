//! The page of several runs, each beside the first.

use std::collections::HashMap;

use super::changes::sign_of;
use super::style::{DOUBTFUL, FAINT, PLAIN, TITLE};
use super::tally::tally;
use super::text::{in_one_line, padded, width, wrapped};
use super::{Detail, TerminalOptions};
use crate::printable::printable_line;
use crate::report::units::change;
use crate::report::wording::{left_out, one_run, phrases};
use crate::report::{ChangeVerdict, ComparisonComplete, ComparisonRow};

/// Columns of a median.
const BASELINE: usize = 8;

/// Columns of a change with its sign, and of a run's name above it at most.
const CHANGE: usize = 9;
const LONGEST_TITLE: usize = 20;

/// Spaces between columns.
const GAP: usize = 2;

/// A line for every benchmark with the first run's median, and a column for each other run with its change. All comparisons have the same baseline.
pub fn comparisons_page(comparisons: &[ComparisonComplete], options: TerminalOptions) -> String {
    let Some(first) = comparisons.first() else {
        return String::new();
    };
    let table = Table::of(comparisons, options);
    let mut page = legend(first, comparisons, options);
    page += &table.text();
    for comparison in comparisons {
        page += &summary(comparison, options);
    }
    page + &options
        .styling
        .paint(FAINT, "Intervals and remarks are shown where two runs are compared.")
        + "\n"
}

/// Which run is which, and what was not alike.
fn legend(first: &ComparisonComplete, comparisons: &[ComparisonComplete], options: TerminalOptions) -> String {
    let styling = options.styling;
    let runs = std::iter::once(&first.baseline).chain(comparisons.iter().map(|comparison| &comparison.candidate));
    let names: Vec<String> = runs.clone().map(|run| printable_line(&run.name)).collect();
    let widest = names.iter().map(|name| width(name)).max().unwrap_or(0);
    let lines = runs.zip(&names).map(|(run, name)| {
        let phrases: Vec<String> = phrases(run).iter().map(|phrase| printable_line(phrase)).collect();
        let gap = " ".repeat(widest - width(name) + GAP);
        let lines = wrapped(&phrases.join(" · "), options.width.saturating_sub(widest + GAP));
        let rest = lines.join(&format!("\n{}", " ".repeat(widest + GAP)));
        format!("{}{gap}{rest}\n", styling.paint(TITLE, name))
    });
    let differences = comparisons.iter().flat_map(|comparison| {
        let name = printable_line(&comparison.candidate.name);
        let sign = styling.paint(DOUBTFUL, "!");
        let one_run = one_run(comparison);
        let said = comparison.differences.iter().cloned().chain(one_run);
        said.map(move |difference| format!("{sign} {name}: {}\n", printable_line(&difference)))
    });
    lines.chain(differences).collect()
}

/// Benchmarks of the first run, and what became of each in the others.
struct Table<'a> {
    lines: Vec<Line<'a>>,
    runs: Vec<String>,
    options: TerminalOptions,
}

/// A benchmark; an entry for every run beside the first.
struct Line<'a> {
    name: String,
    baseline: Option<String>,
    changes: Vec<Option<&'a ComparisonRow>>,
}

impl<'a> Table<'a> {
    fn of(comparisons: &'a [ComparisonComplete], options: TerminalOptions) -> Table<'a> {
        let mut lines: Vec<Line<'a>> = Vec::new();
        let mut position_of: HashMap<&str, usize> = HashMap::new();
        for (run, comparison) in comparisons.iter().enumerate() {
            for row in comparison.by_relevance() {
                let position = *position_of.entry(&row.baseline_case).or_insert_with(|| {
                    lines.push(Line {
                        name: in_one_line(&printable_line(&row.baseline_case), usize::MAX),
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
        Table {
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
        let columns = self.columns();
        let figures = GAP + BASELINE + columns.iter().map(|column| GAP + column).sum::<usize>();
        let room = self.options.width.saturating_sub(figures);
        let names = self.lines.iter().map(|line| width(&line.name));
        let widest = names.filter(|name| *name <= room).max().unwrap_or(0);
        let titles = self
            .runs
            .iter()
            .zip(&columns)
            .map(|(name, column)| right(&in_one_line(name, *column), *column));
        let titles = std::iter::once(right("baseline", BASELINE)).chain(titles);
        let titles: String = titles.map(|title| format!("  {title}")).collect();
        let mut text = format!(
            "\n{}{}\n",
            " ".repeat(widest),
            self.options.styling.paint(FAINT, &titles)
        );
        for line in &self.lines {
            text += &self.line(line, widest, &columns);
        }
        text
    }

    /// How wide the column of each run is: its name is shown whole where the line has room for half of a benchmark's name beside it.
    fn columns(&self) -> Vec<usize> {
        let wide: Vec<usize> = self
            .runs
            .iter()
            .map(|name| width(name).clamp(CHANGE, LONGEST_TITLE))
            .collect();
        let needed = GAP + BASELINE + wide.iter().map(|column| GAP + column).sum::<usize>();
        if needed <= self.options.width / 2 {
            wide
        } else {
            vec![CHANGE; self.runs.len()]
        }
    }

    fn line(&self, line: &Line<'_>, widest: usize, columns: &[usize]) -> String {
        let name = if width(&line.name) <= widest {
            padded(&line.name, widest)
        } else {
            format!("{}\n{}", line.name, " ".repeat(widest))
        };
        let baseline = line.baseline.clone().unwrap_or("-".to_owned());
        let changes = line.changes.iter().zip(columns);
        let changes: String = changes
            .map(|(row, column)| format!("  {}", self.change(*row, *column)))
            .collect();
        format!("{name}  {}{}\n", right(&baseline, BASELINE), changes.trim_end())
    }

    /// `+3.04% ✗`.
    fn change(&self, row: Option<&ComparisonRow>, column: usize) -> String {
        let Some(row) = row else {
            return right("-  ", column);
        };
        let figure = row
            .change
            .as_ref()
            .map_or("-".to_owned(), |figures| change(figures.ratio));
        let (sign, style) = sign_of(row.verdict);
        let style = if row.verdict == ChangeVerdict::NoChange {
            PLAIN
        } else {
            style
        };
        let text = format!("{figure} {sign}");
        let missing = column.saturating_sub(width(&text));
        format!("{}{}", " ".repeat(missing), self.options.styling.paint(style, &text))
    }
}

fn right(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(width(text))))
}

/// `after: ✗ 2 regressed, = 3 no change, 1 removed`.
fn summary(comparison: &ComparisonComplete, options: TerminalOptions) -> String {
    let counts = tally(comparison, |verdict, count| {
        let (sign, style) = sign_of(verdict);
        options.styling.paint(style, &format!("{sign} {count}"))
    });
    let counts = counts.unwrap_or_else(|| "nothing to compare".to_owned());
    let hidden = comparison.left_out.as_ref();
    let hidden = hidden.map_or_else(String::new, |said| format!("; {}", left_out(said)));
    let lines = wrapped(
        &format!("{}: {counts}{hidden}", printable_line(&comparison.candidate.name)),
        options.width,
    );
    format!("\n{}\n", lines.join("\n  "))
}
