//! Cases from files: `cases((m, n) = csv("shapes.csv"))`.
//!
//! The files are text in the library, and are read when axes are listed: only there the types of
//! the axes are known.

mod csv;
mod json;

pub(crate) use json::Reader as JsonReader;

use crate::axis::{AxisParam, article};
use crate::catalog::{Axis, AxisValue};

/// The format of a file.
#[derive(Clone, Copy)]
pub enum CaseFormat {
    /// A header with names, then a line for each case.
    Csv,
    /// A list of objects or of lists.
    Json,
}

/// One case of a file: a cell for each axis.
struct Row {
    /// Line of the file, from 1.
    line: usize,
    cells: Vec<Cell>,
}

/// An unparsed value.
#[derive(Debug, PartialEq)]
pub enum Cell {
    /// A field of CSV: a number, a truth value or text.
    Field(String),
    /// A number or a truth value of JSON.
    Literal(String),
    /// A string of JSON.
    Text(String),
}

/// What is wrong, and the line.
struct Wrong(usize, String);

/// Makes a value of a cell, or returns the name of the type that it is not of.
pub type CellReader = fn(&Cell) -> Result<AxisValue, &'static str>;

/// Returns a value as the type of its axis.
///
/// # Errors
/// It is of another type, whose name is returned.
pub fn cell<'a, T: AxisParam<'a>>(cell: &Cell) -> Result<AxisValue, &'static str> {
    T::parse(cell).ok_or(T::NAME)
}

/// Returns the axes with the values of a file. `file` is its name in messages.
///
/// # Errors
/// The file has another form, lacks an axis, or has a value of another type. The message has the
/// file and the line.
pub(crate) fn read(
    format: CaseFormat,
    file: &str,
    text: &str,
    names: &[&str],
    cells: &[CellReader],
) -> Result<Axis, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let rows = match format {
        CaseFormat::Csv => csv::rows(text, names),
        CaseFormat::Json => json::rows(text, names),
    };
    let at = |Wrong(line, what)| format!("{file}:{line}: {what}");
    let rows = rows.map_err(at)?;
    if rows.is_empty() {
        return Err(format!("{file}: there are no cases"));
    }
    let values = rows.iter().map(|Row { line, cells: found }| {
        let values = found.iter().zip(cells).zip(names);
        let values = values.map(|((found, cell), name)| {
            let wrong = |expected| {
                format!(
                    "`{}`, the value of `{name}`, is not {}",
                    found.shown(),
                    article(expected)
                )
            };
            cell(found).map_err(|expected| at(Wrong(*line, wrong(expected))))
        });
        values.collect::<Result<Vec<_>, _>>()
    });
    Ok(Axis {
        names: names.iter().map(|name| (*name).to_owned()).collect(),
        values: values.collect::<Result<Vec<_>, _>>()?,
    })
}

impl Cell {
    /// Returns what numbers and truth values are parsed from.
    pub(crate) fn literal(&self) -> Option<&str> {
        match self {
            Cell::Field(text) | Cell::Literal(text) => Some(text),
            Cell::Text(_) => None,
        }
    }

    /// Returns the text of a string.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Cell::Field(text) | Cell::Text(text) => Some(text),
            Cell::Literal(_) => None,
        }
    }

    fn shown(&self) -> String {
        match self {
            Cell::Field(text) | Cell::Literal(text) => text.clone(),
            Cell::Text(text) => format!("{text:?}"),
        }
    }
}

/// Returns the position of a name among those of a file.
fn position(name: &str, known: &[String], what: &str) -> Result<usize, String> {
    let mut positions = (0..known.len()).filter(|position| known[*position] == name);
    match (positions.next(), positions.next()) {
        (Some(position), None) => Ok(position),
        (Some(_), Some(_)) => Err(format!("the {what} `{name}` is there twice")),
        (None, _) => Err(format!("there is no {what} `{name}`, only `{}`", known.join("`, `"))),
    }
}

#[cfg(test)]
mod tests;
