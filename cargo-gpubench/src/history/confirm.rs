//! `--confirm`: measures the commits before and after each change alternating, and says whether one
//! of the commits between them is guilty.

use std::cmp::Reverse;
use std::fmt;

use camino::Utf8PathBuf;

use super::HistoryError;
use crate::broker::cases::{CaseSelection, NameFilter, NamePattern, SkipOrigin};
use crate::broker::options::{
    Action, CaseOrder, Export, ExportFormat, LibrarySource, MeasurementOptions, OpponentSource, OutputOptions,
    ResultOptions, RunOptions,
};
use crate::broker::{catch_interrupts, first_failure, first_of, on_device_of, run, status, worse};
use crate::cdylibs::{BuildOptions, WorkspaceFolders};
use crate::checkout::Checkout;
use crate::config::{CaseLayers, CaseSettings, Metrics, Modes};
use crate::git::Git;
use gpubench_contract::{
    BenchmarkHistory, ChangeConfirmation, ChangeOrigin, ComparisonRow, DeviceIdentity, HistoryChange, Metric, Mode,
    Record, is_full_hash, short_revision,
};
use gpubench_diagnostic::{ExitCode, Failure, InternalError, chain, print_warning, printable_line};
use gpubench_measure::clients::Interrupt;
use gpubench_report::OutputTarget;

/// Number of cases to name in a line; the rest are counted.
const CASES_NAMED: usize = 3;

/// The commits before and after a change.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Pair {
    before: String,
    after: String,
}

/// The changes between two commits that one run measures: those of a device, in one mode and
/// metric.
#[derive(Clone, Debug, PartialEq)]
struct Trial {
    pair: Pair,
    device: DeviceIdentity,
    gpu: Option<String>,
    mode: Mode,
    metric: Metric,
    /// The start of the first run after the latest of the changes.
    since: String,
    /// Full names of the cases.
    cases: Vec<String>,
}

/// A device of histories.
struct Place<'t> {
    device: &'t DeviceIdentity,
    gpu: &'t Option<String>,
    /// The options of a run on it. `None` if this machine lacks it.
    options: Option<RunOptions>,
}

/// What came out of all trials.
pub(super) struct Confirmed {
    /// The exit code of the worst run.
    pub(super) code: ExitCode,
    /// Why some changes could not be measured.
    pub(super) failures: Vec<Failure>,
}

/// Measures the commits around each change of the shown cases, the latest first, and adds what came
/// out to the changes. `settings` are those of a run. What a history depends on, as its device and
/// its mode, is as it was in the history. An interrupt ends it.
///
/// # Errors
/// There is no change between two commits, or none of them could be measured: this machine lacks
/// the device, the commits cannot be checked out or built, or the run fails.
pub(super) fn confirm(settings: &RunOptions, shown: &mut [Vec<BenchmarkHistory>]) -> Result<Confirmed, Failure> {
    let LibrarySource::Build(build) = &settings.libraries else {
        return Err(HistoryError::NoSources.into());
    };
    let trials = trials(shown);
    if trials.is_empty() {
        return Err(HistoryError::NothingToConfirm.into());
    }
    trials.iter().try_for_each(|trial| ensure_hashes(&trial.pair))?;
    let mut elsewhere = Vec::new();
    let mut places: Vec<Place<'_>> = Vec::new();
    for Trial { device, gpu, .. } in &trials {
        if places.iter().all(|place| (place.device, place.gpu) != (device, gpu)) {
            let there = on_device_of(device, gpu.as_deref(), settings);
            let options = there.map_err(|failure| elsewhere.push(failure)).ok();
            places.push(Place { device, gpu, options });
        }
    }
    let options_for = |trial: &Trial| {
        let is_there = |place: &&Place<'_>| (place.device, place.gpu) == (&trial.device, &trial.gpu);
        places.iter().find(is_there)?.options.clone()
    };
    let interrupt = catch_interrupts()?;
    let (mut code, mut measured, mut failures) = (ExitCode::Success, 0, Vec::new());
    for (position, trial) in trials.iter().enumerate() {
        let Some(options) = options_for(trial) else { continue };
        let verbosity = settings.output.verbosity;
        let count = format!("{} of {}", position + 1, trials.len());
        status(
            verbosity,
            "Confirming",
            format_args!("{} ({count}): {}", trial.pair, first_of(&trial.cases, CASES_NAMED)),
        );
        let ended = match trial.measure(&options, build, &interrupt) {
            Err(failure) => {
                let code = failure.exit_code();
                failures.push(failure);
                code
            }
            Ok((ended, rows)) => {
                measured += 1;
                code = worse(code, ended);
                trial.add(&rows, commits_between(build, &trial.pair), shown);
                ended
            }
        };
        if ended == ExitCode::Interrupted || interrupt.is_set() {
            break;
        }
    }
    if measured == 0 {
        failures.append(&mut elsewhere);
        first_failure(failures)?;
        return Err(HistoryError::NothingToConfirm.into());
    }
    // Changes on another machine do not make those on this one less certain.
    for other in elsewhere {
        print_warning(&format!("not every change is measured: {}", chain(other.as_error())));
    }
    Ok(Confirmed { code, failures })
}

/// Returns the trials that cover every change of the code, those of the latest changes first.
fn trials(shown: &[Vec<BenchmarkHistory>]) -> Vec<Trial> {
    let mut trials: Vec<Trial> = Vec::new();
    for history in shown.iter().flatten() {
        for change in &history.changes {
            let since = usize::try_from(change.run).ok().and_then(|run| history.runs.get(run));
            let (Some(pair), Some(since)) = (pair_of(change), since) else {
                continue;
            };
            let since = since.started_at.clone();
            match trials.iter_mut().find(|trial| trial.is_of(history, &pair)) {
                Some(trial) => {
                    trial.since = since.max(std::mem::take(&mut trial.since));
                    if !trial.cases.contains(&history.case) {
                        trial.cases.push(history.case.clone());
                    }
                }
                None => trials.push(Trial {
                    pair,
                    device: history.device.clone(),
                    gpu: history.gpu.clone(),
                    mode: history.mode,
                    metric: history.metric.clone(),
                    since,
                    cases: vec![history.case.clone()],
                }),
            }
        }
    }
    trials.sort_by_key(|trial| Reverse(trial.since.clone()));
    trials
}

/// Returns the commits around a change of a case. `None` if they are not known, or the same: then
/// it is no change of the code.
fn pair_of(change: &HistoryChange) -> Option<Pair> {
    let (before, after) = (change.last_commit_before.clone()?, change.first_commit_after.clone()?);
    (change.origin == ChangeOrigin::Case && before != after).then_some(Pair { before, after })
}

/// Checks that both commits are full hashes. A history is a file that anybody may have written, and
/// git takes other words for branches, pull requests and searches, whose code would then run.
fn ensure_hashes(pair: &Pair) -> Result<(), HistoryError> {
    match [&pair.before, &pair.after]
        .into_iter()
        .find(|commit| !is_full_hash(commit))
    {
        Some(commit) => Err(HistoryError::NoHash { commit: commit.clone() }),
        None => Ok(()),
    }
}

impl fmt::Display for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [after, before] = [&self.after, &self.before].map(|commit| short_revision(commit));
        write!(f, "{after} against {before}")
    }
}

impl Trial {
    fn is_of(&self, history: &BenchmarkHistory, pair: &Pair) -> bool {
        self.pair == *pair
            && self.device == history.device
            && self.gpu == history.gpu
            && self.mode == history.mode
            && self.metric == history.metric
    }

    /// Alternates between both commits, each in a checkout. Returns the rows of the comparison.
    fn measure(
        &self,
        options: &RunOptions,
        build: &BuildOptions,
        interrupt: &Interrupt,
    ) -> Result<(ExitCode, Vec<ComparisonRow>), Failure> {
        let target_dir = build.compilation.target_dir.as_deref();
        let WorkspaceFolders { target, .. } = WorkspaceFolders::find(&build.manifest, target_dir)?;
        let after = Checkout::make(&self.pair.after, build, &target, interrupt.flag())?;
        after.refuse_without_manifest()?;
        status(options.output.verbosity, "Building", format_args!("{}", after.name()));
        let kept = tempfile::tempdir().map_err(InternalError::because("cannot make a temporary folder"))?;
        let records = Utf8PathBuf::from_path_buf(kept.path().join("records.jsonl"));
        let records = records.map_err(|path| HistoryError::FolderName { path })?;
        let exact = |case: &String| NamePattern::Exact(case.clone());
        let options = RunOptions {
            action: Action::Measure,
            libraries: LibrarySource::Build(after.build_options(build)),
            cases: CaseSelection {
                names: NameFilter {
                    filters: self.cases.iter().map(exact).collect(),
                    skip: Vec::new(),
                    skip_origin: SkipOrigin::default(),
                },
                partition: None,
                ..options.cases.clone()
            },
            measurement: MeasurementOptions {
                cases: CaseLayers {
                    given: CaseSettings {
                        mode: Some(Modes::only(self.mode)),
                        metric: Some(Metrics::from_metric(&self.metric)),
                        ..options.measurement.cases.given
                    },
                    ..options.measurement.cases.clone()
                },
                ..options.measurement.clone()
            },
            order: CaseOrder::OneByOne,
            observer: None,
            fleet: None,
            output: OutputOptions {
                format: options.output.format,
                color: options.output.color,
                verbosity: options.output.verbosity,
                exports: vec![Export {
                    format: ExportFormat::Json,
                    outlet: OutputTarget::File(records.clone()),
                }],
                ..OutputOptions::default()
            },
            results: ResultOptions {
                against: Some(OpponentSource::Revision(self.pair.before.clone())),
                judging: options.results.judging,
                ..ResultOptions::default()
            },
            ..options.clone()
        };
        let code = run(&options)?;
        let text =
            fs_err::read_to_string(&records).map_err(InternalError::because("cannot read the records of the run"))?;
        let records: Result<Vec<Record>, _> = text.lines().map(serde_json::from_str).collect();
        let records = records.map_err(InternalError::because("cannot parse the records of the run"))?;
        let rows = records.into_iter().filter_map(|record| match record {
            Record::ComparisonComplete(comparison) => Some(comparison.rows),
            _ => None,
        });
        Ok((code, rows.flatten().collect()))
    }

    /// Adds what the rows say to the changes. Warns of cases without a row.
    fn add(&self, rows: &[ComparisonRow], commits: Option<u64>, shown: &mut [Vec<BenchmarkHistory>]) {
        for history in shown.iter_mut().flatten() {
            if !self.is_of(history, &self.pair) || !self.cases.contains(&history.case) {
                continue;
            }
            let is_meant = |row: &&ComparisonRow| {
                format!("{}::{}", row.package, row.case) == history.case
                    && row.mode == history.mode
                    && row.metric == history.metric
            };
            let Some(row) = rows.iter().find(is_meant) else {
                let case = printable_line(&history.case);
                print_warning(&format!(
                    "{} has no result of `{case}` on both sides (hint: it may be skipped, new or renamed there)",
                    self.pair
                ));
                continue;
            };
            for change in &mut history.changes {
                if pair_of(change).as_ref() == Some(&self.pair) {
                    change.confirmation = Some(ChangeConfirmation {
                        verdict: row.verdict,
                        ratio: row.change.as_ref().map(|change| change.ratio),
                        commits,
                    });
                }
            }
        }
    }
}

/// Returns how many commits the second one has that the first one lacks. `None` if git does not
/// say.
fn commits_between(build: &BuildOptions, pair: &Pair) -> Option<u64> {
    let manifest = build.manifest.manifest_path.as_deref();
    let folder = manifest
        .and_then(|manifest| manifest.parent())
        .filter(|folder| !folder.as_str().is_empty());
    let range = format!("{}..{}", pair.before, pair.after);
    let counted =
        Git::in_folder(folder.unwrap_or(".".into())).ask(&["rev-list", "--count", "--end-of-options", &range]);
    counted.ok()?.ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::tests::with_steps;
    use crate::history::trend::trends;

    /// Returns a history with a change after a commit and before another one.
    fn changed(before: Option<&str>, after: Option<&str>, origin: ChangeOrigin) -> Vec<Vec<BenchmarkHistory>> {
        let mut shown = trends(&[with_steps()]);
        let change = &mut shown[0][0].changes[0];
        change.origin = origin;
        change.last_commit_before = before.map(str::to_owned);
        change.first_commit_after = after.map(str::to_owned);
        shown[0][0].changes.truncate(1);
        shown
    }

    #[test]
    fn only_a_change_of_the_case_between_two_known_commits_can_be_confirmed() {
        let of = |before, after, origin| -> Vec<Pair> {
            let trials = trials(&changed(before, after, origin)).into_iter();
            trials.map(|trial| trial.pair).collect()
        };
        let pair = Pair {
            before: "a".to_owned(),
            after: "b".to_owned(),
        };
        assert_eq!(of(Some("a"), Some("b"), ChangeOrigin::Case), [pair]);
        assert_eq!(of(Some("a"), Some("b"), ChangeOrigin::Machine), []);
        assert_eq!(of(Some("a"), Some("a"), ChangeOrigin::Case), []);
        assert_eq!(of(None, Some("b"), ChangeOrigin::Case), []);
        assert_eq!(of(Some("a"), None, ChangeOrigin::Case), []);
    }

    #[test]
    fn changes_between_the_same_commits_are_one_trial_and_the_latest_is_first() {
        let mut shown = trends(&[with_steps()]);
        let mut other = shown[0][0].clone();
        other.case = "suite::axpy::other".to_owned();
        shown[0].push(other);
        let mut graph = shown[0][0].clone();
        graph.mode = Mode::Graph;
        shown[0].push(graph);
        let trials = trials(&shown);
        let described: Vec<(Mode, usize)> = trials.iter().map(|trial| (trial.mode, trial.cases.len())).collect();
        let of_each = [(Mode::Cold, 2), (Mode::Graph, 1)];
        assert_eq!(described, [of_each, of_each].concat());
        assert!(trials[0].since > trials[2].since);
    }
}
