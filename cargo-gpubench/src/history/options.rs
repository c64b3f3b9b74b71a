//! What `cargo gpubench history` is asked to do.

use regex::Regex;

use crate::broker::PlaceOptions;
use crate::broker::options::MessageFormat;

/// What `cargo gpubench history` is asked to do.
#[derive(Clone, Debug)]
pub struct TrendOptions {
    /// At least one is found in the name of a case that is shown, with the package in front or without; without any, all are shown.
    pub filters: Vec<Regex>,
    /// Where histories are.
    pub places: PlaceOptions,
    /// Who reads standard output.
    pub format: MessageFormat,
}
