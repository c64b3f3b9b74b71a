//! Tables whose rows are all known, for a line of a given width.

use anstyle::Style;

use super::figures::count;
use crate::terminal::style::{FAINT, PLAIN};
use gpubench_diagnostic::layout::{UNBOUNDED, in_one_line, width};
use gpubench_diagnostic::printable_line;

/// Spaces between columns.
const GAP: usize = 2;
/// The width of tables in files and pipes.
const IN_FILES: usize = 120;
/// The least width of the column of names.
const LEAST_NAME: usize = 8;

/// Whether a column is there on narrow terminals, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    /// Always.
    Any,
    /// If a line has at least this many columns.
    From(usize),
}

/// A column of figures, right-aligned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Figure {
    pub(super) title: &'static str,
    pub(super) room: Room,
}

/// A table: names on the left, figures on the right.
#[derive(Clone, Debug)]
pub(super) struct Grid {
    title: &'static str,
    figures: Vec<Figure>,
    rows: Vec<Row>,
    left_out: u64,
}

#[derive(Clone, Debug)]
struct Row {
    name: String,
    style: Style,
    cells: Vec<String>,
}

impl Grid {
    /// Returns an empty table. `title` is that of the names.
    pub(super) fn new(title: &'static str, figures: impl IntoIterator<Item = (&'static str, Room)>) -> Self {
        let figures = figures.into_iter().map(|(title, room)| Figure { title, room });
        Self {
            title,
            figures: figures.collect(),
            rows: Vec::new(),
            left_out: 0,
        }
    }

    /// Says how many rows exist that the table does not have.
    pub(super) fn leaving_out(self, left_out: u64) -> Self {
        Self { left_out, ..self }
    }

    /// Adds a row.
    pub(super) fn row(&mut self, name: &str, cells: impl IntoIterator<Item = String>) {
        self.styled_row(name, PLAIN, cells);
    }

    /// Adds a row whose name has a style.
    pub(super) fn styled_row(&mut self, name: &str, style: Style, cells: impl IntoIterator<Item = String>) {
        self.rows.push(Row {
            name: printable_line(name),
            style,
            cells: cells.into_iter().collect(),
        });
    }

    /// Returns the number of rows, with the one that says how many are missing.
    pub(super) fn len(&self) -> usize {
        match self.rows.len() {
            0 => 0,
            rows => rows + usize::from(self.left_out > 0),
        }
    }

    /// Returns the lines of the table for lines of `columns` columns: the titles, then at most
    /// `rows` rows. The last one says how many are missing, unless it is the only one. The last
    /// columns are left out where there is no room for them.
    pub(super) fn lines(&self, columns: usize, rows: usize) -> Vec<String> {
        if self.rows.is_empty() || rows == 0 {
            return Vec::new();
        }
        // A file has no width, but long names would push the figures out of sight.
        let columns = if columns == UNBOUNDED { IN_FILES } else { columns };
        let is_shown = |figure: &Figure| match figure.room {
            Room::Any => true,
            Room::From(least) => columns >= least,
        };
        // One line has room for the first row, or for saying that there are more.
        let hidden = if self.len() > rows {
            self.rows.len().saturating_sub(rows.saturating_sub(1).max(1))
        } else {
            0
        };
        let shown = &self.rows[..self.rows.len() - hidden];
        let mut widths: Vec<(usize, usize)> = self
            .figures
            .iter()
            .enumerate()
            .filter(|(_, figure)| is_shown(figure))
            .map(|(place, figure)| {
                let cells = shown.iter().map(|row| width(&row.cells[place]));
                (place, cells.max().unwrap_or(0).max(width(figure.title)))
            })
            .collect();
        let taken = |widths: &[(usize, usize)]| widths.iter().map(|(_, width)| width + GAP).sum::<usize>();
        while !widths.is_empty() && taken(&widths) + LEAST_NAME > columns {
            widths.pop();
        }
        let taken = taken(&widths);
        let longest = shown.iter().map(|row| width(&row.name)).max().unwrap_or(0);
        let longest = longest.max(width(self.title));
        let name_width = longest.min(columns.saturating_sub(taken).max(LEAST_NAME));
        let line = |name: &str, style: Style, cells: &dyn Fn(usize) -> String| {
            let name = in_one_line(name, name_width);
            let fill = " ".repeat(name_width - width(&name));
            let cells = widths.iter().map(|(place, room)| {
                let cell = cells(*place);
                format!("{}{cell}", " ".repeat(GAP + room - width(&cell)))
            });
            format!("{style}{name}{style:#}{fill}{}", cells.collect::<String>())
        };
        let titles = line(self.title, PLAIN, &|place| self.figures[place].title.to_owned());
        let mut lines = vec![format!("{FAINT}{titles}{FAINT:#}")];
        lines.extend(
            shown
                .iter()
                .map(|row| line(&row.name, row.style, &|place| row.cells[place].clone())),
        );
        let missing = hidden as u64 + self.left_out;
        if missing > 0 && rows > 1 {
            lines.push(format!("{FAINT}… {} more{FAINT:#}", count(missing)));
        }
        lines
    }
}
