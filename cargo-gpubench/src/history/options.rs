//! What `cargo gpubench history` is asked to do.

use regex::Regex;

use crate::broker::PlaceOptions;
use crate::broker::options::MessageFormat;

/// What `cargo gpubench history` is asked to do.
#[derive(Clone, Debug)]
pub struct TrendOptions {
    /// Shows the cases whose name, with or without its package, matches any of these; if empty,
    /// all.
    pub filters: Vec<Regex>,
    /// Where histories are.
    pub places: PlaceOptions,
    /// Format of standard output: for people or for programs.
    pub format: MessageFormat,
}
