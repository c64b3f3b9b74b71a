//! The columns of a comparison and how they give way where the terminal is narrow.

use anstyle::Style;

use super::style::{BAD, DOUBTFUL, FAINT, GOOD, PLAIN, Styling, TITLE};
use super::text::{in_one_line, padded, width};
use crate::printable::printable_line;
use crate::report::units::{Quantity, change, percent};
use crate::report::wording::change_sign;
use crate::report::{ChangeVerdict, ComparedResult, ComparisonRow, Metric, ThresholdSource};

/// A column behind the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Verdict,
    Baseline,
    Candidate,
    Change,
    Interval,
    Threshold,
}

use Column::*;

/// All columns, in order.
const ALL: [Column; 6] = [Verdict, Baseline, Candidate, Change, Interval, Threshold];

/// What is shown in any case, then the others in the order in which they are given room.
const ALWAYS: [Column; 2] = [Verdict, Change];
const AS_FITS: [Column; 4] = [Candidate, Baseline, Interval, Threshold];

/// Spaces between columns.
const GAP: usize = 2;

/// What stands for a value that is not known.
const NONE: &str = "-";

/// Behind a threshold that comes from the history.
pub(super) const FROM_HISTORY: &str = "*";

/// Which columns are shown, and how wide names are.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    name: usize,
    shown: Vec<Column>,
    styling: Styling,
    confidence: Option<f64>,
}

impl Columns {
    /// Columns for some rows and a line of `line` columns. A name wider than two fifths of a line stands on a line of its own and does not count.
    pub(super) fn fit(line: usize, rows: &[&ComparisonRow], styling: Styling) -> Columns {
        let names = rows.iter().map(|row| width(&name_of(row)));
        let name = names.filter(|name| *name <= line * 2 / 5).max().unwrap_or(0);
        let mut shown = ALWAYS.to_vec();
        for column in AS_FITS {
            let all = shown.iter().chain([&column]);
            if name + all.map(|column| GAP + column.width()).sum::<usize>() <= line {
                shown.push(column);
            }
        }
        Columns {
            name,
            shown: ALL.into_iter().filter(|column| shown.contains(column)).collect(),
            styling,
            confidence: rows.iter().find_map(|row| Some(row.change.as_ref()?.confidence)),
        }
    }

    /// Whether thresholds are shown.
    pub(super) fn show_thresholds(&self) -> bool {
        self.shown.contains(&Threshold)
    }

    /// The line above the rows.
    pub(super) fn titles(&self) -> String {
        let cells = self.shown.iter().map(|column| (column.title(self.confidence), FAINT));
        format!("{}{}\n", " ".repeat(self.name), self.joined(cells))
    }

    /// A row, on two lines where its name is too long.
    pub(super) fn row(&self, row: &ComparisonRow) -> String {
        let name = name_of(row);
        let figures = if row.has_failed() {
            // It has no figures, and how it fails needs their room.
            self.joined(std::iter::once(failed(row)))
        } else {
            self.joined(self.shown.iter().map(|column| column.cell(row)))
        };
        let name = if width(&name) <= self.name {
            padded(&name, self.name)
        } else {
            format!("{name}\n{}", " ".repeat(self.name))
        };
        let line = format!("{name}{figures}\n");
        match row.baseline_name() {
            Some(other) => {
                line + &self
                    .styling
                    .paint(FAINT, &format!("  against {}", printable_line(other)))
                    + "\n"
            }
            None => line,
        }
    }

    fn joined(&self, cells: impl Iterator<Item = (String, Style)>) -> String {
        let mut line = String::new();
        let mut owed = 0;
        for ((text, style), column) in cells.zip(&self.shown) {
            let text = text.trim_end();
            let leading = text.len() - text.trim_start().len();
            line.push_str(&" ".repeat(owed + GAP + leading));
            line.push_str(&self.styling.paint(style, text.trim_start()));
            owed = column.width().saturating_sub(width(text));
        }
        line
    }
}

impl Column {
    fn width(self) -> usize {
        match self {
            Verdict => 14,
            Baseline => 8,
            Candidate => 9,
            Change => 7,
            Interval => 18,
            Threshold => 9,
        }
    }

    fn title(self, confidence: Option<f64>) -> String {
        match self {
            Verdict => "verdict".to_owned(),
            Baseline => self.right("baseline"),
            Candidate => self.right("candidate"),
            Change => self.right("change"),
            Interval => match confidence {
                Some(confidence) => self.right(&format!("{} interval", level(confidence))),
                None => self.right("interval"),
            },
            Threshold => self.right("threshold"),
        }
    }

    fn cell(self, row: &ComparisonRow) -> (String, Style) {
        let figures = row.change.as_ref();
        match self {
            Verdict => {
                let (sign, style) = sign_of(row.verdict);
                (format!("{sign} {}", row.verdict), style)
            }
            Baseline => (self.value(&row.metric, &row.baseline), PLAIN),
            Candidate => (self.value(&row.metric, &row.candidate), PLAIN),
            Change => {
                let style = match row.verdict {
                    ChangeVerdict::Regressed | ChangeVerdict::Improved => TITLE,
                    _ => PLAIN,
                };
                (
                    self.right(&figures.map_or(NONE.to_owned(), |figures| change(figures.ratio))),
                    style,
                )
            }
            Interval => {
                let interval = figures.map_or(NONE.to_owned(), |figures| interval(figures.interval));
                (self.right(&interval), PLAIN)
            }
            Threshold => {
                let threshold = figures.map_or(NONE.to_owned(), |figures| {
                    let source = match figures.threshold_source {
                        ThresholdSource::Floor => "",
                        ThresholdSource::History => FROM_HISTORY,
                    };
                    percent(figures.threshold) + source
                });
                (self.right(&threshold), FAINT)
            }
        }
    }

    fn value(self, metric: &Metric, result: &ComparedResult) -> String {
        match result.value.map(|value| metric.quantity(value)) {
            Some(Quantity { number, unit }) => self.right(&format!("{number} {}", padded(&unit, 2))),
            None => self.right(NONE),
        }
    }

    /// A text at the right of its column.
    fn right(self, text: &str) -> String {
        let missing = self.width().saturating_sub(width(text));
        format!("{}{text}", " ".repeat(missing))
    }
}

/// `✗ now fails: wrong-output`, or `✗ failed: wrong-output` where it is not known to have passed.
fn failed(row: &ComparisonRow) -> (String, Style) {
    let (sign, style) = sign_of(ChangeVerdict::NowFails);
    let word = match row.verdict {
        ChangeVerdict::NowFails => row.verdict.to_string(),
        _ => "failed".to_owned(),
    };
    (format!("{sign} {word}: {}", row.candidate.verdict), style)
}

fn name_of(row: &ComparisonRow) -> String {
    in_one_line(&printable_line(&row.case), usize::MAX)
}

/// `99%`, `99.9%`.
pub(in crate::report) fn level(confidence: f64) -> String {
    // As many digits as were asked for: 0.999 times 100 is not 99.9.
    format!("{}%", (confidence * 1e8).round() / 1e6)
}

/// `-0.42% to +1.10%`.
pub(in crate::report) fn interval([low, high]: [f64; 2]) -> String {
    format!("{} to {}", change(low), change(high))
}

/// The sign of a verdict, which says the same as its word for eyes that skim.
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
