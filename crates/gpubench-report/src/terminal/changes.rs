//! The columns of a comparison, and which of them a narrow terminal drops.

use anstyle::Style;

use super::style::{BAD, DOUBTFUL, FAINT, GOOD, PLAIN, Styling, TITLE};
use super::table::{Cell, Column, GAP, Left, NONE, Right, Table, value, value_width};
use crate::wording::{change_sign, interval, level};
use gpubench_contract::units::{change, percent};
use gpubench_contract::{ChangeVerdict, ComparedResult, ComparisonRow, ThresholdSource};
use gpubench_diagnostic::layout::{in_one_line, width};
use gpubench_diagnostic::printable_line;

/// The contents of a column after the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Figure {
    Verdict,
    Baseline,
    Candidate,
    Change,
    Drift,
    Interval,
    Threshold,
}

use Figure::*;

/// All columns, in order.
const ALL: [Column<Figure>; 7] = [
    Column::new(Left, Verdict, 14, "verdict"),
    Column::new(Right, Baseline, 8, "baseline"),
    Column::new(Right, Candidate, 9, "candidate"),
    Column::new(Right, Change, 7, "change"),
    Column::new(Right, Drift, 7, "drift"),
    Column::new(Right, Interval, 18, "interval"),
    Column::new(Right, Threshold, 9, "threshold"),
];

/// The order in which a narrow terminal drops columns. Verdict and change always remain.
const DROPPED: [&[Figure]; 8] = [
    &[],
    &[Threshold],
    &[Interval],
    &[Interval, Threshold],
    &[Baseline, Interval, Threshold],
    &[Candidate, Interval, Threshold],
    &[Baseline, Candidate, Interval, Threshold],
    &[Baseline, Candidate, Drift, Interval, Threshold],
];

/// Marks a threshold that comes from the history.
pub(super) const FROM_HISTORY: &str = "*";

/// Returns the columns for these rows and a line of `line` columns. The longest name may take two
/// fifths of the line.
pub(super) fn table_for(line: usize, rows: &[&ComparisonRow], styling: Styling) -> Table<Figure> {
    let names = rows.iter().map(|row| width(&name_of(row)));
    let confidence = rows.iter().find_map(|row| Some(row.change.as_ref()?.confidence));
    let mut columns = ALL.to_vec();
    // Alternating runs have no drift between them.
    if !rows.iter().any(|row| drift_of(row).is_some()) {
        columns.retain(|column| column.key != Drift);
    }
    if let (Some(confidence), Some(column)) = (confidence, columns.iter_mut().find(|column| column.key == Interval)) {
        column.title = format!("{} interval", level(confidence)).into();
    }
    let values = value_width(rows.iter().map(|row| &row.metric));
    for column in &mut columns {
        if matches!(column.key, Baseline | Candidate) {
            column.width = column.width.max(values);
        }
    }
    Table::new(columns, names, line * 2 / 5, styling).fit(line, DROPPED)
}

/// Returns a row, on two lines if the name is too long.
pub(super) fn row_of(row: &ComparisonRow, table: &Table<Figure>) -> String {
    let figures = if row.has_failed() {
        // A failed row has no values, and its verdict needs their space.
        let (failed, style) = failed(row);
        " ".repeat(GAP) + &table.styling.paint(style, &failed)
    } else {
        table.cells(|column| column.key.cell(row))
    };
    let line = table.row(&name_of(row), "", &figures);
    let against = row.baseline_name().map(|other| {
        let against = format!("  against {}", printable_line(other));
        table.styling.paint(FAINT, &against) + "\n"
    });
    line + &against.unwrap_or_default()
}

impl Figure {
    fn cell(self, row: &ComparisonRow) -> Cell {
        let figures = row.change.as_ref();
        let of_result = |result: &ComparedResult| value(&row.metric, result.value);
        let (text, style) = match self {
            Verdict => {
                let (sign, style) = sign_of(row.verdict);
                (Some(format!("{sign} {}", row.verdict)), style)
            }
            Baseline => (Some(of_result(&row.baseline)), PLAIN),
            Candidate => (Some(of_result(&row.candidate)), PLAIN),
            Change => {
                let style = match row.verdict {
                    ChangeVerdict::Regressed | ChangeVerdict::Improved => TITLE,
                    _ => PLAIN,
                };
                (figures.map(|figures| change(figures.ratio)), style)
            }
            Drift => (drift_of(row).map(change), FAINT),
            Interval => (figures.map(|figures| interval(figures.interval)), PLAIN),
            Threshold => {
                let threshold = figures.map(|figures| match figures.threshold_source {
                    ThresholdSource::Floor => percent(figures.threshold),
                    ThresholdSource::History => percent(figures.threshold) + FROM_HISTORY,
                });
                (threshold, FAINT)
            }
        };
        (text.unwrap_or_else(|| NONE.to_owned()), style)
    }
}

/// Returns `✗ now fails: wrong-output`, or `✗ failed: wrong-output` if it is not known to have
/// passed before.
fn failed(row: &ComparisonRow) -> Cell {
    let (sign, style) = sign_of(ChangeVerdict::NowFails);
    let word = match row.verdict {
        ChangeVerdict::NowFails => row.verdict.to_string(),
        _ => "failed".to_owned(),
    };
    (format!("{sign} {word}: {}", row.candidate.verdict), style)
}

/// Returns the machine's drift between the runs.
fn drift_of(row: &ComparisonRow) -> Option<f64> {
    row.change.as_ref()?.drift
}

fn name_of(row: &ComparisonRow) -> String {
    in_one_line(&printable_line(&row.label()), usize::MAX)
}

/// Returns a verdict's sign, for readers who skim.
pub(super) fn sign_of(verdict: ChangeVerdict) -> (char, Style) {
    let style = match verdict {
        ChangeVerdict::NowFails | ChangeVerdict::Regressed => BAD,
        ChangeVerdict::Improved => GOOD,
        ChangeVerdict::Inconclusive | ChangeVerdict::NotCompared => DOUBTFUL,
        ChangeVerdict::WithinNoise => PLAIN,
        ChangeVerdict::NoChange => FAINT,
    };
    (change_sign(verdict), style)
}
