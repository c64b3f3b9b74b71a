//! A table that is printed row by row: its columns are chosen before the first row is known.

use std::borrow::Cow;

use anstyle::Style;

use super::style::{FAINT, Styling};
use gpubench_contract::units::Quantity;
use gpubench_diagnostic::layout::{padded, width};

/// Spaces between columns.
pub(super) const GAP: usize = 2;

/// What stands for a value that is not known.
pub(super) const NONE: &str = "-";

/// A text and its style.
pub(super) type Cell = (String, Style);

/// A column after the names; `K` says what it shows.
#[derive(Clone, Debug)]
pub(super) struct Column<K> {
    pub key: K,
    pub title: Cow<'static, str>,
    pub width: usize,
    pub align: Align,
}

/// At which end of their column texts and the title are set: words at the left, numbers at the
/// right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Right,
}

pub(super) use Align::{Left, Right};

impl<K> Column<K> {
    /// A column of `width` columns of a terminal.
    pub(super) const fn new(align: Align, key: K, width: usize, title: &'static str) -> Column<K> {
        Column {
            key,
            title: Cow::Borrowed(title),
            width,
            align,
        }
    }
}

/// Which columns are shown, and how wide names are.
#[derive(Clone, Debug)]
pub(super) struct Table<K> {
    /// The width of a name.
    pub name: usize,
    columns: Vec<Column<K>>,
    pub styling: Styling,
}

impl<K: Copy + PartialEq> Table<K> {
    /// A table for names of the given widths. A name wider than `longest` stands on a line of its
    /// own and does not count: one long name must not cost every other row its figures.
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

    /// Drops the first of these groups of columns without which a row fits a line of `line`
    /// columns, or else the last; then names have what is left.
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

    /// Whether a column is shown.
    pub(super) fn shows(&self, key: K) -> bool {
        self.columns.iter().any(|column| column.key == key)
    }

    /// The width of a row.
    pub(super) fn width(&self) -> usize {
        self.name + self.columns.iter().map(|column| GAP + column.width).sum::<usize>()
    }

    /// The titles, to stand after a name.
    pub(super) fn titles(&self) -> String {
        self.cells(|column| (column.title.to_string(), FAINT))
    }

    /// A cell for each column, to stand after a name.
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

    /// A row of a name and what stands after it: on the next line, after `continued`, where the
    /// name is too long.
    pub(super) fn row(&self, name: &str, continued: &str, cells: &str) -> String {
        if width(name) <= self.name {
            format!("{}{cells}\n", padded(name, self.name))
        } else {
            format!("{name}\n{}{cells}\n", padded(continued, self.name))
        }
    }
}

/// A number and its unit, padded to the width of the column's widest unit: numbers end at one
/// column and units begin at one.
pub(super) fn aligned(quantity: Option<Quantity>, widest_unit: usize) -> String {
    match quantity {
        Some(Quantity { number, unit }) => format!("{number} {}", padded(&unit, widest_unit)),
        None => NONE.to_owned(),
    }
}
