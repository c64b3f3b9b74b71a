//! What `cargo gpubench history` is asked to do.

use camino::Utf8PathBuf;
use regex::Regex;

use crate::broker::options::MessageFormat;
use crate::build::ManifestOptions;
use crate::report::Color;

/// What `cargo gpubench history` is asked to do.
#[derive(Clone, Debug)]
pub struct TrendOptions {
    /// At least one is found in the full name of a case that is shown; without any, all are shown.
    pub filters: Vec<Regex>,
    /// Where histories are; in the target directory where it is not said.
    pub folder: Option<Utf8PathBuf>,
    /// Where the workspace is.
    pub manifest: ManifestOptions,
    /// `--target-dir`.
    pub target_dir: Option<Utf8PathBuf>,
    /// Who reads standard output.
    pub format: MessageFormat,
    /// Whether it is coloured.
    pub color: Color,
}
