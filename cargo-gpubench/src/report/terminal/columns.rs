//! The columns of the table and how they give way where the terminal is narrow.

use anstyle::Style;

use super::style::{BAD, DOUBTFUL, FAINT, GOOD, PLAIN, Styling, TITLE};
use super::text::{in_one_line, padded, width};
use crate::printable::printable_line;
use crate::report::units::{Quantity, byte_rate, flop_rate, percent};
use crate::report::{BenchmarkComplete, Metric, Stats, wording};
use crate::verdict::{Grade, Verdict};

/// A column behind the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Verdict,
    Value,
    Interval,
    Cv,
    Samples,
    Bytes,
    OfPeak,
    Flops,
    Grade,
}

use Column::*;

/// All columns, in order.
const ALL: [Column; 9] = [Verdict, Value, Interval, Cv, Samples, Bytes, OfPeak, Flops, Grade];

/// Columns in the order in which they give way. Verdict and median always stay, and the grade goes last: no time stands without it for
/// as long as there is room.
const DROPPED_FIRST: [Column; 7] = [Samples, Cv, Flops, Bytes, OfPeak, Interval, Grade];

/// Spaces between columns.
const GAP: usize = 2;

/// Whether the device's peak bandwidth is known, and bandwidths can be shown as shares of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Peak {
    /// It is.
    Known,
    /// It is not, as on the CPU device.
    Unknown,
}

/// Which columns are shown, and how wide names are.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    /// Columns of a name with its branches.
    pub name: usize,
    /// Columns of a whole line.
    pub line: usize,
    shown: Vec<Column>,
}

/// A text and its style.
struct Cell {
    text: String,
    style: Style,
}

impl Columns {
    /// Columns for a line of `line` columns and names of the given widths. A name wider than half of a line stands on a line of its own and does not
    /// count: one long name must not cost every other case its figures.
    pub(super) fn fit(line: usize, names: impl IntoIterator<Item = usize>, peak: Peak) -> Columns {
        let name = names.into_iter().filter(|name| *name <= line / 2).max().unwrap_or(0);
        let mut columns = Columns {
            name,
            line,
            shown: ALL.to_vec(),
        };
        if peak == Peak::Unknown {
            columns.shown.retain(|column| *column != OfPeak);
        }
        for dropped in DROPPED_FIRST {
            if columns.width() <= line {
                break;
            }
            columns.shown.retain(|column| *column != dropped);
        }
        columns
    }

    /// Without figures.
    pub(super) fn verdict_only(mut self) -> Columns {
        self.shown.retain(|column| *column == Verdict);
        self
    }

    fn width(&self) -> usize {
        self.name + self.shown.iter().map(|column| GAP + column.width()).sum::<usize>()
    }

    /// The titles, to stand behind a package's name.
    pub(super) fn titles(&self, metric: &Metric, styling: Styling) -> String {
        let cells = self.shown.iter().map(|column| Cell {
            text: column.title(metric),
            style: FAINT,
        });
        self.joined(cells, styling)
    }

    /// What stands behind the name of a case.
    pub(super) fn figures(&self, result: &BenchmarkComplete, styling: Styling) -> String {
        match (&result.stats, result.verdict) {
            (Some(stats), Verdict::Pass) => {
                let cells = self.shown.iter().map(|column| column.cell(result, stats));
                self.joined(cells, styling)
            }
            _ => self.outcome(result, styling),
        }
    }

    /// A verdict in words, in place of figures that it takes the meaning from.
    fn outcome(&self, result: &BenchmarkComplete, styling: Styling) -> String {
        let (sign, style) = sign_of(result.verdict);
        let verdict = format!("{sign} {}", result.verdict);
        let reason = match (result.verdict, result.cause, &result.message) {
            (Verdict::Skipped, _, Some(message)) => format!(": {}", printable_line(message)),
            (_, Some(cause), _) => format!(": {cause}"),
            _ => String::new(),
        };
        let room = self.line.saturating_sub(self.name + GAP + width(&verdict));
        let reason = in_one_line(&reason, room);
        format!("{}{}{}", " ".repeat(GAP), styling.paint(style, &verdict), reason)
    }

    fn joined(&self, cells: impl Iterator<Item = Cell>, styling: Styling) -> String {
        let mut line = String::new();
        let mut owed = 0;
        for (cell, column) in cells.zip(&self.shown) {
            let text = cell.text.trim_end();
            let leading = text.len() - text.trim_start().len();
            line.push_str(&" ".repeat(owed + GAP + leading));
            line.push_str(&styling.paint(cell.style, text.trim_start()));
            owed = column.width().saturating_sub(width(text));
        }
        line
    }
}

impl Column {
    fn width(self) -> usize {
        match self {
            Verdict => 7,
            Value => 8,
            Interval => 7,
            Cv => 6,
            Samples => 4,
            Bytes => 10,
            OfPeak => 7,
            Flops => 13,
            Grade => 9,
        }
    }

    /// The title, set where the figures below it are: numbers end at the same column as their title.
    fn title(self, metric: &Metric) -> String {
        match self {
            Verdict => "verdict".to_owned(),
            Value => self.right(&metric.name),
            Interval => self.right("± 95%"),
            Cv => self.right("cv"),
            Samples => self.right("n"),
            Bytes => self.right("bandwidth"),
            OfPeak => self.right("of peak"),
            Flops => self.right("compute"),
            Grade => "grade".to_owned(),
        }
    }

    fn cell(self, result: &BenchmarkComplete, stats: &Stats) -> Cell {
        let (text, style) = match self {
            Verdict => {
                let (sign, style) = sign_of(result.verdict);
                (format!("{sign} {}", result.verdict), style)
            }
            Value => (self.aligned(Some(result.metric.quantity(stats.value))), TITLE),
            Interval => (
                self.right(
                    &stats
                        .relative_interval()
                        // One sample has no spread to tell of.
                        .filter(|_| stats.n > 1)
                        .map_or_else(none, |share| format!("±{}", percent(share))),
                ),
                PLAIN,
            ),
            Cv => (self.right(&stats.cv.map_or_else(none, percent)), PLAIN),
            Samples => (self.right(&stats.n.to_string()), PLAIN),
            Bytes => (self.aligned(result.throughput.bytes_per_s.map(byte_rate)), PLAIN),
            OfPeak => {
                let share = result.throughput.of_peak_bandwidth;
                (self.right(&share.map_or_else(none, percent)), PLAIN)
            }
            Flops => (self.aligned(result.throughput.flops_per_s.map(flop_rate)), PLAIN),
            Grade => match result.grade {
                Some(grade) => (grade.to_string(), style_of(grade)),
                None => (none(), FAINT),
            },
        };
        Cell { text, style }
    }

    /// A text at the right of its column.
    fn right(self, text: &str) -> String {
        let missing = self.width().saturating_sub(width(text));
        format!("{}{text}", " ".repeat(missing))
    }

    /// A number and its unit such that numbers end at one column and units begin at one.
    fn aligned(self, quantity: Option<Quantity>) -> String {
        let Some(Quantity { number, unit }) = quantity else {
            return self.right(&none());
        };
        let for_unit = match self {
            Value => 2,
            Bytes => 4,
            _ => 7,
        };
        self.right(&format!("{number} {}", padded(&unit, for_unit)))
    }
}

/// What stands for a value that is not known.
fn none() -> String {
    "-".to_owned()
}

/// The sign of a verdict, which says the same as its word for eyes that skim.
pub(super) fn sign_of(verdict: Verdict) -> (char, Style) {
    let style = match verdict {
        Verdict::Pass => GOOD,
        Verdict::Skipped => DOUBTFUL,
        _ => BAD,
    };
    (wording::sign(verdict), style)
}

fn style_of(grade: Grade) -> Style {
    match grade {
        Grade::Sealed => GOOD,
        Grade::Bracketed => PLAIN,
        Grade::Advisory => DOUBTFUL,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_give_way_in_the_stated_order() {
        let shown_at = |line| Columns::fit(line, [20], Peak::Unknown).shown;
        assert_eq!(
            shown_at(120),
            [Verdict, Value, Interval, Cv, Samples, Bytes, Flops, Grade]
        );
        assert_eq!(shown_at(99), [Verdict, Value, Interval, Cv, Bytes, Flops, Grade]);
        assert_eq!(shown_at(90), [Verdict, Value, Interval, Bytes, Flops, Grade]);
        assert_eq!(shown_at(75), [Verdict, Value, Interval, Bytes, Grade]);
        assert_eq!(shown_at(64), [Verdict, Value, Interval, Grade]);
        assert_eq!(shown_at(52), [Verdict, Value, Grade]);
        assert_eq!(shown_at(40), [Verdict, Value]);
        assert_eq!(shown_at(10), [Verdict, Value]);
    }

    #[test]
    fn a_share_of_the_peak_stays_longer_than_the_bandwidth_itself() {
        let shown_at = |line| Columns::fit(line, [20], Peak::Known).shown;
        assert_eq!(shown_at(120), ALL);
        assert_eq!(shown_at(84), [Verdict, Value, Interval, Bytes, OfPeak, Grade]);
        assert_eq!(shown_at(74), [Verdict, Value, Interval, OfPeak, Grade]);
        assert_eq!(shown_at(60), [Verdict, Value, Interval, Grade]);
    }

    #[test]
    fn every_choice_of_columns_fits_its_line() {
        for line in 40..200 {
            for name in [0, 10, 30, 90] {
                for peak in [Peak::Known, Peak::Unknown] {
                    let columns = Columns::fit(line, [name, 10], peak);
                    assert!(columns.width() <= line, "{line} {name}");
                }
            }
        }
    }
}
