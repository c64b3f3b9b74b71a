//! The results of several devices on the terminal.

use super::columns::{sign_of, style_of};
use super::comparison::named_runs;
use super::options::TerminalOptions;
use super::remarks::{below_the_table, noted};
use super::style::{FAINT, GOOD, PLAIN, Styling};
use super::table::{Column, GAP, Left, Table, value, value_width};
use crate::devices::{MISSING, lower_grade, notes, remarks, standing};
use gpubench_contract::{ComparedRun, DeviceCell, DeviceMatrix, DeviceRow, Grade, Standing};
use gpubench_diagnostic::layout::{fitted, folded, in_one_line, padded, width, wrapped};
use gpubench_diagnostic::printable_line;

/// Maximum width of a device's name above its column. The list of the runs has all of it.
const LONGEST_TITLE: usize = 72;

/// Returns the runs, and a row for each case with a column for each run. If the columns do not fit
/// a line, there are several tables.
pub fn device_matrix_page(matrix: &DeviceMatrix, options: TerminalOptions) -> String {
    let differences = matrix.differences.iter();
    let differences = differences.map(|difference| noted(&printable_line(difference), options));
    let notes = notes(matrix).into_iter().map(str::to_owned);
    let notes = marks(matrix, options.styling).into_iter().chain(notes);
    let page = [
        legend(matrix, options),
        differences.collect(),
        Tables::new(matrix, options).text(),
        "\n".to_owned(),
        notes.map(|note| note + "\n").collect(),
        below_the_table(&remarks(matrix), options),
    ];
    fitted(&page.concat(), options.width)
}

/// Returns the runs, with the titles of those that the name of the device does not tell.
fn legend(matrix: &DeviceMatrix, options: TerminalOptions) -> String {
    let columns = &matrix.columns;
    let own = |title: &str, run: &ComparedRun| match title == run.device.name {
        true => String::new(),
        false => printable_line(title),
    };
    let titles = columns.iter().map(|column| own(&column.title, &column.run));
    let titles: Vec<String> = titles.collect();
    let widest = titles.iter().map(|title| width(title) + GAP).max().unwrap_or(0);
    let widest = if widest == GAP { 0 } else { widest };
    let titles: Vec<String> = titles.iter().map(|title| padded(title, widest)).collect();
    let runs = titles.iter().zip(columns);
    let runs: Vec<(&str, &ComparedRun)> = runs.map(|(title, column)| (&**title, &column.run)).collect();
    named_runs(&runs, options)
}

/// The mark of a grade after a value. The one of most values has none.
fn mark(grade: Option<Grade>) -> &'static str {
    match grade {
        None | Some(Grade::Sealed) => "",
        Some(Grade::Sandboxed) => "¹",
        Some(Grade::Unverified) => "²",
    }
}

/// Returns the marks of grades and their meaning. `None` if no value has one.
fn marks(matrix: &DeviceMatrix, styling: Styling) -> Option<String> {
    let cells = || matrix.rows.iter().flat_map(|row| row.cells.iter().flatten());
    let grades = Grade::ALL
        .iter()
        .filter(|grade| cells().any(|cell| lower_grade(cell) == Some(**grade)));
    let marks = grades.map(|grade| {
        format!(
            "{} {}",
            mark(Some(*grade)),
            styling.paint(style_of(*grade), grade.as_str())
        )
    });
    let marks: Vec<String> = marks.collect();
    (!marks.is_empty()).then(|| marks.join("  "))
}

/// The tables: one, or one for each group of columns that fits a line.
struct Tables<'a> {
    matrix: &'a DeviceMatrix,
    names: Vec<String>,
    /// The text of each cell, row by row.
    cells: Vec<Vec<String>>,
    /// Width of a column.
    column: usize,
    options: TerminalOptions,
}

impl<'a> Tables<'a> {
    fn new(matrix: &'a DeviceMatrix, options: TerminalOptions) -> Tables<'a> {
        let rows = &matrix.rows;
        let values = value_width(rows.iter().map(|row| &row.metric));
        let has_marks = marks(matrix, options.styling).is_some();
        let marked = values + usize::from(has_marks);
        let texts = |row: &DeviceRow| {
            let cells = row.cells.iter();
            cells
                .map(|cell| text_of(row, cell.as_ref(), values, marked, options.styling))
                .collect()
        };
        let cells: Vec<Vec<String>> = rows.iter().map(texts).collect();
        let names = rows
            .iter()
            .map(|row| in_one_line(&printable_line(&row.label()), usize::MAX));
        Tables {
            names: names.collect(),
            column: cells.iter().flatten().map(|cell| width(cell)).max().unwrap_or(0),
            cells,
            matrix,
            options,
        }
    }

    fn text(&self) -> String {
        if self.names.is_empty() {
            return "\nno run has a result\n".to_owned();
        }
        let (line, column) = (self.options.table_width(), GAP + self.column);
        let count = self.matrix.columns.len();
        // Half of the names need no line of their own.
        let mut widths: Vec<usize> = self.names.iter().map(|name| width(name)).collect();
        widths.sort_unstable();
        let name = widths[widths.len() / 2].min(line * 2 / 5);
        let fitting = (line.saturating_sub(name) / column).max(1);
        // Columns are divided evenly, so that the last table is not much narrower.
        let each = count.div_ceil(count.div_ceil(fitting));
        let starts = (0..count).step_by(each);
        let tables = starts.map(|start| {
            let columns = start..count.min(start + each);
            let which = match columns.len() {
                1 => format!("device {} of {count}", columns.end),
                _ => format!("devices {} to {} of {count}", columns.start + 1, columns.end),
            };
            let which = self.options.styling.paint(FAINT, &which) + "\n";
            let which = if each < count { which } else { String::new() };
            format!(
                "\n{which}{}",
                self.table(columns.collect(), line.saturating_sub(column * each))
            )
        });
        tables.collect()
    }

    /// Returns a table of some devices, whose names of cases get at most `room` columns.
    fn table(&self, devices: Vec<usize>, room: usize) -> String {
        let titles: Vec<Vec<String>> = devices.iter().map(|device| self.title(*device)).collect();
        let columns = devices.iter().zip(0..);
        let columns = columns.map(|(device, place)| Column::new(Left, (*device, place), self.column, ""));
        let names = self.names.iter().map(|name| width(name));
        let table = Table::new(columns.collect(), names, room, self.options.styling);
        let lines = titles.iter().map(Vec::len).max().unwrap_or(0);
        let title = |line: usize| {
            let cells = table.cells(|column| {
                let (_, place): (usize, usize) = column.key;
                (titles[place].get(line).cloned().unwrap_or_default(), FAINT)
            });
            table.row("", "", cells.trim_end())
        };
        let rows = self.names.iter().zip(&self.cells).map(|(name, texts)| {
            let cells = table.cells(|column| (texts[column.key.0].clone(), PLAIN));
            table.row(name, "", &cells)
        });
        (0..lines).map(title).chain(rows).collect()
    }

    /// Returns the title of a column in lines.
    fn title(&self, device: usize) -> Vec<String> {
        let title = printable_line(&self.matrix.columns[device].title);
        let lines = wrapped(&in_one_line(&title, LONGEST_TITLE), self.column);
        let pieces = lines.iter().flat_map(|line| folded(line, self.column));
        pieces.map(|piece| piece.trim_start().to_owned()).collect()
    }
}

/// Returns the text of a cell, whose value takes `values` columns, and `marked` with its mark.
fn text_of(row: &DeviceRow, cell: Option<&DeviceCell>, values: usize, marked: usize, styling: Styling) -> String {
    let Some(cell) = cell else {
        return styling.paint(FAINT, MISSING);
    };
    let Some(of) = cell.value else {
        let (sign, style) = sign_of(cell.verdict);
        return styling.paint(style, &format!("{sign} {}", cell.verdict));
    };
    let shown = value(&row.metric, Some(of));
    let before = " ".repeat(values.saturating_sub(width(&shown)));
    let mark = mark(lower_grade(cell));
    let marked = padded(&format!("{before}{}{mark}", shown.trim_end()), marked);
    let style = match cell.standing {
        Some(Standing::Best) => GOOD,
        _ => PLAIN,
    };
    match standing(cell, &row.metric) {
        Some(standing) => format!("{marked} {}", styling.paint(style, &standing)),
        None => marked.trim_end().to_owned(),
    }
}
