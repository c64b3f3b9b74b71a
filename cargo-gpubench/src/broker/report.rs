//! `cargo gpubench report`: makes a page from stored runs.

use camino::Utf8Path;

use super::options::{JudgingOptions, Verbosity};
use super::places::PlaceOptions;
use super::status::status;
use super::stored::fences::fences;
use super::stored::stored_run::{load_baseline, load_run};
use gpubench_contract::{Arrangement, ComparisonComplete, DeviceIdentity, DeviceMatrix};
use gpubench_diagnostic::{ExitCode, Failure, print_warning};
use gpubench_report::{HtmlReport, OutputTarget, address};
use gpubench_store::compare::{NamedRun, compare, device_matrix};
use gpubench_store::history::{History, HistoryEntry};
use gpubench_store::{Home, RunName, StoreError, StoredRun, ensure_inside};

/// The options of `cargo gpubench report`.
#[derive(Clone, Debug)]
pub struct ReportOptions {
    /// Stored runs, at least one. The page reports the latest; the others are its past.
    pub runs: Vec<RunName>,
    /// Stored runs to compare the reported one with.
    pub compare: Vec<RunName>,
    /// What counts as a change.
    pub judging: JudgingOptions,
    /// The folders of runs and histories.
    pub places: PlaceOptions,
    /// The page to write; by default, `gpubench/report.html` in the target directory.
    pub output: Option<OutputTarget>,
}

/// Writes a page about stored runs.
///
/// # Errors
/// A run or a history cannot be read, or the page cannot be written.
pub fn report(options: &ReportOptions) -> Result<ExitCode, Failure> {
    let home = options.places.home_of(options.runs.iter().chain(&options.compare))?;
    let mut runs = load_all(&options.runs, &home, load_run)?;
    runs.sort_by_cached_key(|(_, run)| began(&run.run.started_at));
    // clap requires at least one.
    let Some(((name, run), others)) = runs.split_last() else {
        return Ok(ExitCode::Success);
    };
    let past = options.places.past(&run.run, &home)?;
    let fences = past.as_ref().map(|past| fences(past, &run.results)).unwrap_or_default();
    let candidate = NamedRun { name, run };
    let baselines = load_all(&options.compare, &home, load_baseline)?;
    let mut earlier: Vec<&(String, StoredRun)> = baselines.iter().collect();
    earlier.sort_by_cached_key(|(_, run)| began(&run.run.started_at));
    let devices = device_matrix(&latest_of_each_device(earlier.into_iter().chain(&runs)));
    let comparisons: Vec<ComparisonComplete> = baselines
        .iter()
        .map(|(name, run)| {
            let rules = options.judging.rules(fences.clone());
            compare(NamedRun { name, run }, candidate, Arrangement::Apart, &rules)
        })
        .collect();
    let report = HtmlReport {
        run,
        comparisons: &comparisons,
        devices: devices.as_ref(),
        history: &earlier_entries(past, others, run, devices.as_ref()),
    };
    let output = match &options.output {
        Some(output) => output.clone(),
        None => default_page(&options.places)?,
    };
    output.write(&report.page())?;
    if let Some(file) = output.file() {
        status(Verbosity::Normal, "Report", address(file));
    }
    Ok(ExitCode::Success)
}

/// Returns the default page of runs; outside a workspace, a file in the current folder.
///
/// # Errors
/// A link leads out of the target directory or the current folder.
fn default_page(places: &PlaceOptions) -> Result<OutputTarget, StoreError> {
    let page = match places.home() {
        Ok(home) => home.page(),
        Err(_) => ensure_inside("gpubench-report.html".into(), Utf8Path::new(".")),
    };
    page.map(OutputTarget::File)
}

/// How a run is read: a run, or what a run is compared with.
type Load = fn(&RunName, &Home) -> Result<StoredRun, StoreError>;

fn load_all(names: &[RunName], home: &Home, load: Load) -> Result<Vec<(String, StoredRun)>, StoreError> {
    names
        .iter()
        .map(|name| Ok((name.to_string(), load(name, home)?)))
        .collect()
}

/// Returns when a run began, as a sort key. Invalid times sort first.
fn began(started_at: &str) -> Option<jiff::Timestamp> {
    started_at.parse().ok()
}

/// Returns the runs without those that are followed by one on the same device. Other GPUs of the
/// same kind are other devices.
fn latest_of_each_device<'a>(runs: impl Iterator<Item = &'a (String, StoredRun)>) -> Vec<NamedRun<'a>> {
    let mut latest: Vec<NamedRun<'a>> = Vec::new();
    for (name, run) in runs {
        let uses = |run: &StoredRun| (run.run.device.uuids.clone(), run.run.environment.host.clone());
        let is_other =
            |other: &NamedRun<'_>| !other.run.run.device.is_model_of(&run.run.device) || uses(other.run) != uses(run);
        latest.retain(is_other);
        latest.push(NamedRun { name, run });
    }
    latest
}

/// Returns the history and the other named runs, each run once, oldest first. Warns of runs that
/// the page leaves out.
fn earlier_entries(
    past: Option<History>,
    others: &[(String, StoredRun)],
    latest: &StoredRun,
    devices: Option<&DeviceMatrix>,
) -> Vec<HistoryEntry> {
    let is_a_column = |run: &StoredRun| {
        let mut columns = devices.into_iter().flat_map(|devices| &devices.columns);
        columns.any(|column| column.run.run_id == run.run.run_id)
    };
    let mut entries = past.map_or_else(Vec::new, |past| past.entries);
    for (name, run) in others {
        if DeviceIdentity::from_run(&run.run) != DeviceIdentity::from_run(&latest.run) {
            if !is_a_column(run) {
                print_warning(&format!(
                    "`{name}` is left out: its device or measurement settings differ from those of the latest run"
                ));
            }
        } else if entries.iter().all(|entry| entry.run_id != run.run.run_id) {
            entries.push(HistoryEntry::from_run(run));
        }
    }
    entries.sort_by_cached_key(|entry| began(&entry.started_at));
    entries
}
