//! `--confirm`: measures the commits before and after a change alternating, and says whether one of
//! the commits between them is guilty.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use camino::Utf8PathBuf;

use super::HistoryError;
use crate::broker::cases::{CaseSelection, NameFilter, NamePattern, SkipOrigin};
use crate::broker::options::{
    Action, CaseOrder, Export, ExportFormat, LibrarySource, OpponentSource, OutputOptions, ResultOptions, RunOptions,
};
use crate::broker::run;
use crate::cdylibs::{BuildOptions, WorkspaceFolders};
use crate::checkout::Checkout;
use crate::git::Git;
use gpubench_contract::{BenchmarkHistory, ChangeConfirmation, ChangeOrigin, ComparisonRow, HistoryChange, Record};
use gpubench_diagnostic::{ExitCode, Failure, InternalError, print_warning};
use gpubench_report::OutputTarget;

/// The commits before and after a change.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Pair {
    before: String,
    after: String,
}

/// Measures the commits around the latest change of the shown cases, and adds what came out to each
/// of their changes between the same commits. `settings` are those of a run.
///
/// # Errors
/// There is no change between two commits, the commits cannot be checked out or built, or the run
/// fails. An interrupted run is its exit code.
pub(super) fn confirm(settings: &RunOptions, shown: &mut [Vec<BenchmarkHistory>]) -> Result<ExitCode, Failure> {
    let LibrarySource::Build(build) = &settings.libraries else {
        return Err(HistoryError::NoSources.into());
    };
    let mut pairs = pairs(shown);
    let Some((_, pair)) = pairs.pop_last() else {
        return Err(HistoryError::NothingToConfirm.into());
    };
    pairs.retain(|_, other| *other != pair);
    if !pairs.is_empty() {
        print_warning(&"only the latest change is confirmed (hint: select a case whose latest change is another one)");
    }
    let mut cases: Vec<&str> = Vec::new();
    for history in shown.iter().flatten() {
        if history
            .changes
            .iter()
            .any(|change| pair_of(change).as_ref() == Some(&pair))
        {
            cases.push(&history.case);
        }
    }
    let (code, rows) = measure(settings, build, &pair, &cases)?;
    if code == ExitCode::Interrupted {
        return Ok(code);
    }
    let commits = commits_between(build, &pair);
    for history in shown.iter_mut().flatten() {
        let (case, mode, metric) = (history.case.clone(), history.mode, history.metric.clone());
        let is_meant = |row: &&ComparisonRow| {
            format!("{}::{}", row.package, row.case) == case && row.mode == mode && row.metric == metric
        };
        let Some(row) = rows.iter().find(is_meant) else {
            continue;
        };
        for change in history
            .changes
            .iter_mut()
            .filter(|change| pair_of(change).as_ref() == Some(&pair))
        {
            change.confirmation = Some(ChangeConfirmation {
                verdict: row.verdict,
                ratio: row.change.as_ref().map(|change| change.ratio),
                commits,
            });
        }
    }
    Ok(ExitCode::Success)
}

/// Returns the pairs of commits to measure, by the time of the change.
fn pairs(shown: &[Vec<BenchmarkHistory>]) -> BTreeMap<String, Pair> {
    let dated = |history: &BenchmarkHistory| -> Option<(String, Pair)> {
        let (change, pair) = history
            .changes
            .iter()
            .rev()
            .find_map(|change| Some((change, pair_of(change)?)))?;
        let run = history.runs.get(usize::try_from(change.run).ok()?)?;
        Some((run.started_at.clone(), pair))
    };
    shown.iter().flatten().filter_map(dated).collect()
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
    let is_hash = |commit: &str| matches!(commit.len(), 40 | 64) && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    match [&pair.before, &pair.after].into_iter().find(|commit| !is_hash(commit)) {
        Some(commit) => Err(HistoryError::NoHash { commit: commit.clone() }),
        None => Ok(()),
    }
}

/// Alternates between both commits, each in a checkout. Returns the rows of the comparison.
fn measure(
    settings: &RunOptions,
    build: &BuildOptions,
    pair: &Pair,
    cases: &[&str],
) -> Result<(ExitCode, Vec<ComparisonRow>), Failure> {
    ensure_hashes(pair)?;
    let target_dir = build.compilation.target_dir.as_deref();
    let WorkspaceFolders { target, .. } = WorkspaceFolders::find(&build.manifest, target_dir)?;
    let after = Checkout::make(&pair.after, build, &target, &AtomicBool::new(false))?;
    after.refuse_without_manifest()?;
    let kept = tempfile::tempdir().map_err(InternalError::because("cannot make a temporary folder"))?;
    let records = Utf8PathBuf::from_path_buf(kept.path().join("records.jsonl"));
    let records = records.map_err(|path| HistoryError::FolderName { path })?;
    let exact = |case: &&str| NamePattern::Exact((*case).to_owned());
    let options = RunOptions {
        action: Action::Measure,
        libraries: LibrarySource::Build(after.build_options(build)),
        cases: CaseSelection {
            names: NameFilter {
                filters: cases.iter().map(exact).collect(),
                skip: Vec::new(),
                skip_origin: SkipOrigin::default(),
            },
            partition: None,
            ..settings.cases.clone()
        },
        order: CaseOrder::OneByOne,
        observer: None,
        output: OutputOptions {
            format: settings.output.format,
            color: settings.output.color,
            verbosity: settings.output.verbosity,
            exports: vec![Export {
                format: ExportFormat::Json,
                outlet: OutputTarget::File(records.clone()),
            }],
            ..OutputOptions::default()
        },
        results: ResultOptions {
            against: Some(OpponentSource::Revision(pair.before.clone())),
            judging: settings.results.judging,
            ..ResultOptions::default()
        },
        ..settings.clone()
    };
    let code = run(&options)?;
    let text =
        fs_err::read_to_string(&records).map_err(InternalError::because("cannot read the records of the run"))?;
    let records = text.lines().filter_map(|line| serde_json::from_str(line).ok());
    let rows = records.filter_map(|record| match record {
        Record::ComparisonComplete(comparison) => Some(comparison.rows),
        _ => None,
    });
    Ok((code, rows.flatten().collect()))
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
    fn a_word_that_git_would_look_up_is_no_commit() {
        let hash = "0123456789abcdef0123456789abcdef01234567".to_owned();
        let pair = |after: &str| Pair {
            before: hash.clone(),
            after: after.to_owned(),
        };
        assert!(ensure_hashes(&pair(&hash)).is_ok());
        for word in [
            "main",
            "FETCH_HEAD",
            ":/text",
            "stash@{0}",
            "0123456",
            "--output=x",
            "",
            "g123456789abcdef0123456789abcdef01234567",
        ] {
            assert!(
                matches!(ensure_hashes(&pair(word)), Err(HistoryError::NoHash { .. })),
                "{word}"
            );
        }
    }

    #[test]
    fn only_a_change_of_the_case_between_two_known_commits_can_be_confirmed() {
        let of = |before, after, origin| pairs(&changed(before, after, origin)).into_values().collect::<Vec<_>>();
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
}
