//! A table that is printed row by row. Its columns are fixed before the first row is known.

use std::borrow::Cow;

use anstyle::Style;

use super::style::{FAINT, Styling};
use gpubench_contract::Metric;
use gpubench_contract::units::Quantity;
use gpubench_diagnostic::layout::{padded, width};

/// Spaces between columns.
pub(super) const GAP: usize = 2;

/// Placeholder for an unknown value.
pub(super) const NONE: &str = "-";

/// A text and its style.
pub(super) type Cell = (String, Style);

/// A column after the names. `K` identifies its contents.
#[derive(Clone, Debug)]
pub(super) struct Column<K> {
    pub key: K,
    pub title: Cow<'static, str>,
    pub width: usize,
    pub align: Align,
}

/// The alignment of a column: words left, numbers right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Right,
}

pub(super) use Align::{Left, Right};

impl<K> Column<K> {
    /// Returns a column that is `width` terminal columns wide.
    pub(super) const fn new(align: Align, key: K, width: usize, title: &'static str) -> Column<K> {
        Column {
            key,
            title: Cow::Borrowed(title),
            width,
            align,
        }
    }
}

/// The visible columns, and the width of names.
#[derive(Clone, Debug)]
pub(super) struct Table<K> {
    /// Width of a name.
    pub name: usize,
    columns: Vec<Column<K>>,
    pub styling: Styling,
}

impl<K: Copy + PartialEq> Table<K> {
    /// Returns a table for names of these widths. A name wider than `longest` gets a separate line
    /// and does not count, so that one long name does not cost all rows their values.
    pub(super) fn new(
        columns: Vec<Column<K>>,
        names: impl IntoIterator<Item = usize>,
        longest: usize,
        styling: Styling,
    ) -> Table<K> {
        Table {
            name: names.into_iter().filter(|name| *name <= longest).max().unwrap_or(0),
            columns,
            styling,
        }
    }

    /// Drops the first of these groups of columns that makes a row fit `line` columns, or else the
    /// last group. Names get the remaining width.
    pub(super) fn fit<'a>(mut self, line: usize, groups: impl IntoIterator<Item = &'a [K]>) -> Table<K>
    where
        K: 'a,
    {
        let all = std::mem::take(&mut self.columns);
        for dropped in groups {
            let kept = all.iter().filter(|column| !dropped.contains(&column.key));
            self.columns = kept.cloned().collect();
            if self.width() <= line {
                break;
            }
        }
        self.name = self.name.saturating_sub(self.width().saturating_sub(line));
        self
    }

    /// Returns whether a column is visible.
    pub(super) fn shows(&self, key: K) -> bool {
        self.columns.iter().any(|column| column.key == key)
    }

    /// Returns the width of a column. `None` if it is not visible.
    pub(super) fn width_of(&self, key: K) -> Option<usize> {
        let mut columns = self.columns.iter();
        columns.find(|column| column.key == key).map(|column| column.width)
    }

    /// Returns the width of a row.
    pub(super) fn width(&self) -> usize {
        self.name + self.columns.iter().map(|column| GAP + column.width).sum::<usize>()
    }

    /// Returns the titles, to print after a name.
    pub(super) fn titles(&self) -> String {
        self.cells(|column| (column.title.to_string(), FAINT))
    }

    /// Returns the cells of all columns, to print after a name.
    pub(super) fn cells(&self, cell: impl Fn(&Column<K>) -> Cell) -> String {
        let mut line = String::new();
        let mut owed = 0;
        for column in &self.columns {
            let (text, style) = cell(column);
            let before = match column.align {
                Align::Left => 0,
                Align::Right => column.width.saturating_sub(width(&text)),
            };
            let text = text.trim_end();
            line.push_str(&" ".repeat(owed + GAP + before));
            line.push_str(&self.styling.paint(style, text));
            owed = column.width.saturating_sub(before + width(text));
        }
        line
    }

    /// Returns a row: a name and the text after it. If the name is too long, the text goes to the
    /// next line, after `continued`.
    pub(super) fn row(&self, name: &str, continued: &str, cells: &str) -> String {
        if width(name) <= self.name {
            format!("{}{cells}\n", padded(name, self.name))
        } else {
            format!("{name}\n{}{cells}\n", padded(continued, self.name))
        }
    }
}

/// Letters of the longest number, and the space after it.
pub(super) const NUMBER: usize = 6;

/// Returns a value of a metric that the title or the row names, aligned with others of the metric.
pub(super) fn value(metric: &Metric, value: Option<f64>) -> String {
    aligned(
        value.map(|value| metric.in_column(value)),
        metric.longest_unit_in_column(),
    )
}

/// Returns the width of the widest of such values.
pub(super) fn value_width<'m>(metrics: impl IntoIterator<Item = &'m Metric>) -> usize {
    let widths = metrics
        .into_iter()
        .map(|metric| NUMBER + metric.longest_unit_in_column());
    widths.max().unwrap_or_default()
}

/// Returns a number and its unit, padded to the widest unit of the column, so that numbers and
/// units are aligned.
pub(super) fn aligned(quantity: Option<Quantity>, widest_unit: usize) -> String {
    match quantity {
        Some(Quantity { number, unit }) => format!("{number} {}", padded(&unit, widest_unit)),
        None => NONE.to_owned(),
    }
}
