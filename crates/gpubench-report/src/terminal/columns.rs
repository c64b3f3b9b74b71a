//! The columns of the table, and which of them a narrow terminal drops.

use anstyle::Style;

use super::style::{BAD, DOUBTFUL, FAINT, GOOD, PLAIN, Styling, TITLE};
use super::table::{Cell, Column, GAP, Left, NONE, NUMBER, Right, Table, aligned, value, value_width};
use crate::wording;
use gpubench_contract::units::{byte_rate, counter_rate, flop_rate, percent};
use gpubench_contract::{BenchmarkComplete, Grade, Metric, Readings, Stats, Verdict};
use gpubench_diagnostic::layout::{in_one_line, padded, width};
use gpubench_diagnostic::printable_line;

/// The contents of a column after the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Figure {
    Reading,
    Verdict,
    Value,
    Interval,
    Cv,
    Samples,
    Bytes,
    OfPeak,
    Flops,
    Counter,
    Grade,
}

use Figure::*;

/// All columns, in order.
const ALL: [Column<Figure>; 11] = [
    Column::new(Left, Reading, 4, "mode"),
    Column::new(Left, Verdict, 7, "verdict"),
    Column::new(Right, Value, 8, "time"),
    Column::new(Right, Interval, 7, "± 95%"),
    Column::new(Right, Cv, 6, "cv"),
    Column::new(Right, Samples, 4, "n"),
    Column::new(Right, Bytes, 10, "bandwidth"),
    Column::new(Right, OfPeak, 7, "of peak"),
    Column::new(Right, Flops, 13, "compute"),
    Column::new(Right, Counter, 7, "counter"),
    Column::new(Left, Grade, 9, "grade"),
];

/// The order in which a narrow terminal drops columns. Mode, verdict and median always remain. The
/// grade is dropped last, because it qualifies the time.
const DROPPED_FIRST: &[Figure] = &[Samples, Cv, Flops, Bytes, OfPeak, Counter, Interval, Grade];

/// Returns the `wanted` columns that fit a line of `line` columns with names of these widths. The
/// longest name may take half of the line. Only if `readings` differ, there is a column for them.
/// `metrics` are those of the values. `counters` are the first of each case. Without any, there is
/// no column for them.
pub(super) fn table_for(
    line: usize,
    names: impl IntoIterator<Item = usize>,
    readings: &Readings,
    metrics: &[Metric],
    counters: &[&str],
    wanted: impl Fn(Figure) -> bool,
    styling: Styling,
) -> Table<Figure> {
    let is_wanted = |key| match key {
        Reading => readings.differ(),
        Counter => !counters.is_empty() && wanted(key),
        _ => wanted(key),
    };
    let mut columns: Vec<_> = ALL.into_iter().filter(|column| is_wanted(column.key)).collect();
    if let Some(column) = columns.first_mut().filter(|column| column.key == Reading) {
        let widths = readings.iter().map(|reading| width(&reading.to_string()));
        column.width = widths.chain([column.width]).max().unwrap_or_default();
    }
    if let Some(column) = columns.iter_mut().find(|column| column.key == Value) {
        let titles = metrics.iter().map(|metric| width(&metric.name));
        let widths = titles.chain([value_width(metrics), column.width]);
        column.width = widths.max().unwrap_or_default();
    }
    if let Some(column) = columns.iter_mut().find(|column| column.key == Counter) {
        let units = counters
            .iter()
            .map(|name| width(&format!("G {}/s", printable_line(name))));
        column.width = units
            .map(|unit| NUMBER + unit)
            .chain([column.width])
            .max()
            .unwrap_or_default();
    }
    let dropped = (0..=DROPPED_FIRST.len()).map(|count| &DROPPED_FIRST[..count]);
    Table::new(columns, names, line / 2, styling).fit(line, dropped)
}

/// Returns the titles, to print after a package's name.
pub(super) fn titles(table: &Table<Figure>, metric: &Metric) -> String {
    table.cells(|column| {
        let title = if column.key == Value {
            &metric.name
        } else {
            &column.title
        };
        (title.to_string(), FAINT)
    })
}

/// Returns the text after the name of a case, for a line of `line` columns.
pub(super) fn figures(table: &Table<Figure>, result: &BenchmarkComplete, line: usize) -> String {
    match (&result.stats, result.verdict) {
        (Some(stats), Verdict::Pass) => table.cells(|column| column.key.cell(result, stats, column.width)),
        _ => outcome(table, result, line),
    }
}

/// Returns a verdict in words, instead of values that it makes meaningless.
fn outcome(table: &Table<Figure>, result: &BenchmarkComplete, line: usize) -> String {
    let (verdict, style) = signed(result.verdict);
    let reason = match (result.verdict, result.cause, &result.message) {
        (Verdict::Skipped, _, Some(message)) => format!(": {}", printable_line(message)),
        (_, Some(cause), _) => format!(": {cause}"),
        _ => String::new(),
    };
    let reading = table.width_of(Reading).map(|column| {
        let reading = padded(&result.reading().to_string(), column);
        format!("{}{reading}", " ".repeat(GAP))
    });
    let reading = reading.unwrap_or_default();
    let room = line.saturating_sub(table.name + width(&reading) + GAP);
    let verdict = in_one_line(&verdict, room);
    let reason = in_one_line(&reason, room.saturating_sub(width(&verdict)));
    format!(
        "{reading}{}{}{}",
        " ".repeat(GAP),
        table.styling.paint(style, &verdict),
        reason
    )
}

impl Figure {
    /// Returns a cell of a column that is `width` terminal columns wide.
    fn cell(self, result: &BenchmarkComplete, stats: &Stats, width: usize) -> Cell {
        let throughput = &result.throughput;
        let text = match self {
            Reading => Some(result.reading().to_string()),
            Verdict => return signed(result.verdict),
            Value => return (value(&result.metric, Some(stats.value)), TITLE),
            // One sample has no spread.
            Interval => stats
                .relative_interval()
                .filter(|_| stats.n > 1)
                .map(|share| format!("±{}", percent(share))),
            Cv => stats.cv.map(percent),
            Samples => Some(stats.n.to_string()),
            Bytes => Some(aligned(throughput.bytes_per_s.map(byte_rate), 4)),
            OfPeak => throughput.of_peak_bandwidth.map(percent),
            Flops => Some(aligned(throughput.flops_per_s.map(flop_rate), 7)),
            Counter => throughput.counters.first().map(|counter| {
                let rate = counter_rate(&printable_line(&counter.name), counter.per_s);
                aligned(Some(rate), width.saturating_sub(NUMBER))
            }),
            Grade => {
                return match result.grade {
                    Some(grade) => (grade.to_string(), style_of(grade)),
                    None => (NONE.to_owned(), FAINT),
                };
            }
        };
        (text.unwrap_or_else(|| NONE.to_owned()), PLAIN)
    }
}

/// Returns a verdict with its sign.
fn signed(verdict: Verdict) -> Cell {
    let (sign, style) = sign_of(verdict);
    (format!("{sign} {verdict}"), style)
}

/// Returns a verdict's sign, for readers who skim.
pub(super) fn sign_of(verdict: Verdict) -> (char, Style) {
    let style = match verdict {
        Verdict::Pass => GOOD,
        Verdict::Skipped => DOUBTFUL,
        _ => BAD,
    };
    (wording::sign(verdict), style)
}

/// Returns the colour of a grade.
pub(super) fn style_of(grade: Grade) -> Style {
    match grade {
        Grade::Sealed => GOOD,
        Grade::Sandboxed => PLAIN,
        Grade::Unverified => DOUBTFUL,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_contract::Mode;

    fn shown(line: usize, wanted: fn(Figure) -> bool) -> Vec<Figure> {
        let table = table_for(line, [20], &Readings::default(), &[], &[], wanted, Styling::Plain);
        let keys = ALL.map(|column| column.key).into_iter();
        keys.filter(|key| table.shows(*key)).collect()
    }

    fn readings() -> Readings {
        let modes = Mode::ALL.iter();
        modes
            .map(|mode| gpubench_contract::Reading::new(*mode, &Metric::time()))
            .collect()
    }

    #[test]
    fn several_modes_have_a_column_that_is_never_dropped() {
        let table = table_for(30, [20], &readings(), &[], &[], |_| true, Styling::Plain);
        assert!(table.shows(Reading) && table.shows(Verdict) && table.shows(Value));
    }

    #[test]
    fn columns_are_dropped_in_the_stated_order() {
        let shown_at = |line| shown(line, |figure| figure != OfPeak);
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
    fn a_percentage_of_peak_is_dropped_after_the_bandwidth() {
        let shown_at = |line| shown(line, |_| true);
        assert_eq!(
            shown_at(120),
            [Verdict, Value, Interval, Cv, Samples, Bytes, OfPeak, Flops, Grade]
        );
        assert_eq!(shown_at(84), [Verdict, Value, Interval, Bytes, OfPeak, Grade]);
        assert_eq!(shown_at(74), [Verdict, Value, Interval, OfPeak, Grade]);
        assert_eq!(shown_at(60), [Verdict, Value, Interval, Grade]);
    }

    #[test]
    fn every_choice_of_columns_fits_its_line() {
        let (one, several) = (Readings::default(), readings());
        for line in 30..200 {
            for name in [0, 10, 30, 90] {
                for (unwanted, readings) in [(None, &one), (Some(OfPeak), &one), (None, &several)] {
                    let wanted = |figure| Some(figure) != unwanted;
                    let table = table_for(line, [name, 10], readings, &[], &["tokens"], wanted, Styling::Plain);
                    assert!(table.width() <= line, "{line} {name}");
                }
            }
        }
    }
}
