//! Standard output has one reader: of the options that ask for it, one may be given.

use super::UsageError;
use crate::broker::options::{ExportFormat, MessageFormat, OutputOptions, PageTarget};
use gpubench_report::OutputTarget;

/// Looks whether several options of a run ask for standard output.
///
/// # Errors
/// They do.
pub(super) fn refuse_to_mix(output: &OutputOptions, page: Option<&PageTarget>) -> Result<(), UsageError> {
    let format = match output.format {
        MessageFormat::Human => None,
        MessageFormat::Json => Some("--message-format json"),
    };
    let exports = output.exports.iter();
    let exports = exports
        .filter(|export| export.outlet == OutputTarget::StandardOutput)
        .map(|export| match export.format {
            ExportFormat::Json => "--export-json -",
            ExportFormat::Csv => "--export-csv -",
            ExportFormat::Markdown => "--export-markdown -",
            ExportFormat::Junit => "--export-junit -",
        });
    let page = page.filter(|page| **page == PageTarget::OutputTarget(OutputTarget::StandardOutput));
    refuse_two(format.into_iter().chain(exports).chain(page.map(|_| "--report html=-")))
}

/// Looks whether more than one of some options is there, all of which ask for standard output.
///
/// # Errors
/// There is.
pub(super) fn refuse_two(options: impl IntoIterator<Item = &'static str>) -> Result<(), UsageError> {
    let mut options = options.into_iter();
    match (options.next(), options.next()) {
        (Some(one), Some(other)) => Err(UsageError::StandardOutputTaken { one, other }),
        _ => Ok(()),
    }
}
