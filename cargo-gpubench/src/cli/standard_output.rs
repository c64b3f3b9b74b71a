//! At most one option may write to standard output, or to one file.

use super::UsageError;
use super::overwriting::{file_of, refuse_to_write_twice};
use crate::broker::options::{MessageFormat, OutputOptions, PageTarget, ResultOptions};
use gpubench_report::OutputTarget;

/// Checks that at most one option of a run writes to standard output, and to each file.
///
/// # Errors
/// Several do.
pub(super) fn refuse_to_mix(output: &OutputOptions, results: &ResultOptions) -> Result<(), UsageError> {
    let page = results.page.as_ref();
    let format = match output.format {
        MessageFormat::Human => None,
        MessageFormat::Json => Some("--message-format json"),
    };
    let files = output
        .exports
        .iter()
        .filter_map(|export| Some((export.format.option(), export.outlet.file()?)));
    let of_page = match page {
        Some(PageTarget::OutputTarget(target)) => target.file().map(|file| ("--report", file)),
        _ => None,
    };
    let of_trace = output.trace.as_deref().map(|file| ("--trace", file));
    let of_reward = output.reward.as_ref().map(|file| ("--reward", file.path()));
    let of_records = output.records.as_deref().map(|file| ("--resume", file));
    let saved = results.save.as_ref().and_then(file_of);
    let saved = saved.map(|file| ("--save-baseline", file));
    let written = files
        .chain(of_page)
        .chain(of_trace)
        .chain(of_reward)
        .chain(of_records)
        .chain(saved);
    refuse_to_write_twice(&written.collect::<Vec<_>>())?;
    let exports = output.exports.iter();
    let exports = exports.filter(|export| export.outlet == OutputTarget::StandardOutput);
    let exports = exports.map(|export| format!("{} -", export.format.option()));
    let page = page.filter(|page| **page == PageTarget::OutputTarget(OutputTarget::StandardOutput));
    let page = page.map(|_| "--report html=-".to_owned());
    refuse_two(format.map(str::to_owned).into_iter().chain(exports).chain(page))
}

/// Checks that at most one of these options is given. All of them write to standard output.
///
/// # Errors
/// There are several.
pub(super) fn refuse_two(options: impl IntoIterator<Item = String>) -> Result<(), UsageError> {
    let mut options = options.into_iter();
    match (options.next(), options.next()) {
        (Some(one), Some(other)) => Err(UsageError::StandardOutputTaken { one, other }),
        _ => Ok(()),
    }
}
