//! What shows people the names of cases.

use std::fmt;

use gpubench_diagnostic::printable_line;
use gpubench_report::shell_quoted;

/// What shows the names of cases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ShownBy {
    /// `--list`.
    #[default]
    List,
    /// `problem show`, the axes of the problem with this name.
    Problem(String),
    /// The file of `--workloads`.
    Workloads,
}

impl fmt::Display for ShownBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShownBy::List => f.write_str("`cargo gpubench --list` shows their names"),
            ShownBy::Problem(name) => {
                let name = shell_quoted(&printable_line(name));
                write!(f, "`cargo gpubench problem show {name}` shows the values of their axes")
            }
            ShownBy::Workloads => f.write_str("each line of `--workloads` is one"),
        }
    }
}
