//! The options of the terminal report.

use std::io::{self, IsTerminal};

use super::style::{Color, Styling};
use gpubench_diagnostic::layout::{UNBOUNDED, columns_of};

/// Width of a table if lines are unbounded, so that one long name does not widen every row.
const UNBOUNDED_TABLE: usize = 120;

/// Minimum width of a page. A narrower terminal wraps it.
pub(super) const LEAST_WIDTH: usize = 30;

/// The options of the terminal report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalOptions {
    /// Columns per line. [`UNBOUNDED`] disables wrapping.
    pub width: usize,
    /// Use of colours.
    pub styling: Styling,
    /// Use of the progress line.
    pub progress: ProgressDisplay,
    /// Amount of output per case.
    pub detail: Detail,
}

/// The amount of output per case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// Only failures and the summary.
    Brief,
    /// One line per result.
    #[default]
    Table,
    /// Quartiles, overheads, windows and the stop reason below each line.
    Full,
}

/// The place of the progress line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgressDisplay {
    /// On standard error, if that is a terminal.
    Stderr,
    /// Nowhere.
    Hidden,
}

impl TerminalOptions {
    /// Returns the options for standard output.
    pub fn of_stdout(color: Color) -> TerminalOptions {
        TerminalOptions {
            width: columns_of(&io::stdout()),
            styling: Styling::new(color, &io::stdout()),
            progress: ProgressDisplay::Stderr,
            detail: Detail::Table,
        }
    }

    /// Returns the options for standard error, when standard output has another report. If both are
    /// the same terminal, there is no progress line: the report would be written into it.
    pub fn of_stderr(color: Color) -> TerminalOptions {
        TerminalOptions {
            width: columns_of(&io::stderr()),
            styling: Styling::new(color, &io::stderr()),
            progress: if io::stdout().is_terminal() {
                ProgressDisplay::Hidden
            } else {
                ProgressDisplay::Stderr
            },
            detail: Detail::Table,
        }
    }

    /// Returns the width of a table in columns.
    pub(super) fn table_width(self) -> usize {
        match self.width {
            UNBOUNDED => UNBOUNDED_TABLE,
            width => width.max(LEAST_WIDTH),
        }
    }
}
