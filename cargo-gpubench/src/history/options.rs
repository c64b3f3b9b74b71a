//! The options of `cargo gpubench history`.

use camino::Utf8PathBuf;
use regex::Regex;

use crate::broker::PlaceOptions;
use crate::broker::options::{MessageFormat, RunOptions};

/// The options of `cargo gpubench history`.
#[derive(Clone, Debug)]
pub struct TrendOptions {
    /// Shows the cases whose name, with or without its package, matches any of these; all cases if
    /// empty.
    pub filters: Vec<Regex>,
    /// The folder of histories.
    pub places: PlaceOptions,
    /// Format of standard output: for people or for programs.
    pub format: MessageFormat,
    /// `--export-otava`: the folder for files that Apache Otava reads.
    pub otava: Option<Utf8PathBuf>,
    /// `--confirm`: the settings of the run that measures the commits around each change.
    pub confirm: Option<Box<RunOptions>>,
}
