//! The terminal report: a tree with one line per finished case, a progress line, and explanations
//! of failures at the end.
//!
//! The output for people has no stable format and may change in any release.

mod changes;
mod columns;
mod comparison;
mod contest;
mod details;
mod devices;
mod explanation;
mod functions;
mod grading;
mod last_run;
mod options;
pub(crate) mod probe;
mod progress;
mod ranking;
mod remarks;
mod reporter;
mod several;
mod style;
mod table;
mod tree;

pub use comparison::{comparison_page, runs_page};
pub use devices::device_matrix_page;
pub use options::{Detail, ProgressDisplay, TerminalOptions};
pub use probe::{ScreenSize, probe_line, probe_screen, probe_summary};
pub use reporter::TerminalReporter;
pub use several::comparisons_page;
#[cfg(feature = "clap")]
pub use style::HELP_STYLES;
pub use style::{Color, Styling};
