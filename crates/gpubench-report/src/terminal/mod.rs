//! The table people look at: a tree of packages, modules and benchmarks with a line for each case, printed as soon as the case is done;
//! explanations of failures below it; a progress line while it runs.
//!
//! Human output is no contract: it may change in any release.

mod changes;
mod columns;
mod comparison;
mod contest;
mod details;
mod explanation;
mod progress;
mod remarks;
mod reporter;
mod several;
mod style;
mod table;
mod text;
mod tree;

pub use comparison::comparison_page;
pub use explanation::RepeatedCommand;
pub use reporter::{Detail, ProgressDisplay, TerminalOptions, TerminalReporter};
pub use several::comparisons_page;
pub use style::{Color, Styling};
pub use text::wrapped;
