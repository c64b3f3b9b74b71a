//! `cargo gpubench report`: from stored runs to a page.

use super::options::ReportOptions;
use crate::error::{ExpectedError, print_warning};
use crate::exit_code::ExitCode;
use crate::report::HtmlReport;
use crate::report::html::{announcement, write_page};
use crate::store::history::HistoryEntry;
use crate::store::{DeviceIdentity, Home, RunName, StoreError, StoredRun, load};

/// Writes a page about stored runs.
///
/// # Errors
/// A run cannot be read, or the page cannot be written.
pub fn report(options: &ReportOptions) -> Result<ExitCode, ExpectedError> {
    let home = Home::Absent;
    let load_all = |names: &[RunName]| {
        names
            .iter()
            .map(|name| load(name, &home))
            .collect::<Result<Vec<_>, StoreError>>()
    };
    let mut runs = load_all(&options.runs)?;
    runs.sort_by_cached_key(began);
    // clap asks for one at least.
    let Some(latest) = runs.pop() else {
        return Ok(ExitCode::Success);
    };
    let history: Vec<HistoryEntry> = runs
        .iter()
        .filter(|run| is_comparable(run, &latest))
        .map(HistoryEntry::of)
        .collect();
    let report = HtmlReport {
        run: &latest,
        comparisons: &[],
        history: &history,
    };
    write_page(&options.output, &report)?;
    anstream::eprint!("{}", announcement(&options.output));
    Ok(ExitCode::Success)
}

/// When a run began, as something that can be ordered; texts that are no moments go first.
fn began(run: &StoredRun) -> Option<jiff::Timestamp> {
    run.run.started_at.parse().ok()
}

/// Whether times of one run can stand in the history of another; a run whose times cannot is warned of.
fn is_comparable(run: &StoredRun, latest: &StoredRun) -> bool {
    let is_comparable = DeviceIdentity::of(&run.run) == DeviceIdentity::of(&latest.run);
    if !is_comparable {
        print_warning(&format!(
            "the run of {} on {} is left out: its device or how it was measured differs from the latest run's, on {}",
            run.run.started_at, run.run.device.name, latest.run.device.name
        ));
    }
    is_comparable
}
