//! The terminal report: a tree with one line for each finished case, failures explained below it,
//! and a progress line meanwhile.
//!
//! Human output is no contract: it may change in any release.

mod changes;
mod columns;
mod comparison;
mod details;
mod explanation;
mod progress;
mod ranking;
mod remarks;
mod reporter;
mod several;
mod style;
mod table;
mod tree;

pub use comparison::{comparison_page, runs_page};
pub use explanation::{RepeatedCommand, is_plain};
pub use reporter::{Detail, ProgressDisplay, TerminalOptions, TerminalReporter};
pub use several::comparisons_page;
pub use style::{Color, Styling};
