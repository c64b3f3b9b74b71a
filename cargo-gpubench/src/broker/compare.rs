//! `cargo gpubench compare`: reads, compares and shows stored runs.

use std::collections::BTreeSet;

use regex::Regex;

use super::BaselineError;
use super::options::{JudgingOptions, Verbosity};
use super::places::PlaceOptions;
use super::reporting::{exit_code_of, warn_of_undecided};
use super::stored::fences::fences;
use super::stored::stored_run::{load_baseline, load_run};
use gpubench_contract::{Arrangement, BenchmarkComplete, ComparedRun, ComparisonComplete, DeviceMatrix};
use gpubench_diagnostic::{ExitCode, Failure, chain, print_warning};
use gpubench_report::{
    Color, Detail, GITHUB_LIMIT, Gate, GateResult, JsonReporter, Output, OutputTarget, Reporter, TerminalOptions,
    comparison_markdown, comparison_page, comparisons_page, device_matrix_markdown, device_matrix_page, runs_page,
};
use gpubench_store::compare::{Matching, NamedRun, Rules, Setups, compare, device_matrix};
use gpubench_store::{Home, RunName, StoredRun, load};

/// The options of `cargo gpubench compare`.
#[derive(Clone, Debug)]
pub struct CompareOptions {
    /// The runs: each is compared with the first. If empty, the baselines are listed.
    pub runs: Vec<RunName>,
    /// Shows only benchmarks whose names match one of these; all if empty.
    pub filters: Vec<Regex>,
    /// Shows only benchmarks that changed by at least this, as a fraction.
    pub least_change: Option<f64>,
    /// How benchmarks are paired.
    pub matching: Matching,
    /// What counts as a change.
    pub judging: JudgingOptions,
    /// The folders of runs and histories.
    pub places: PlaceOptions,
    /// The format on standard output.
    pub format: ComparisonFormat,
    /// Whether standard output is coloured.
    pub color: Color,
    /// How much is shown.
    pub verbosity: Verbosity,
    /// Where the comparison is also written as Markdown.
    pub export_markdown: Option<OutputTarget>,
}

/// The format of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum ComparisonFormat {
    /// A table
    #[default]
    Human,
    /// One JSON object a line
    Json,
    /// A comment for a pull request
    Markdown,
}

/// Compares stored runs and shows what changed.
///
/// # Errors
/// A run cannot be read, no benchmark matches the filters or groups, or the comparison cannot be
/// written.
pub fn compare_runs(options: &CompareOptions) -> Result<ExitCode, Failure> {
    if options.runs.is_empty() {
        return list(&options.places.home()?, options);
    }
    let home = options.places.home_of(&options.runs)?;
    let runs = runs(&home, options)?;
    let mut comparisons = comparisons(&runs, &home, options)?;
    let devices = devices(&runs, options);
    let have_benchmarks_in_common = comparisons.iter().any(|comparison| !comparison.rows.is_empty());
    let undecided: BTreeSet<String> = comparisons.iter().filter_map(ComparisonComplete::undecided).collect();
    if let Some(least) = options.least_change {
        comparisons
            .iter_mut()
            .for_each(|comparison| comparison.keep_changes_of(least));
    }
    show(&comparisons, devices.as_ref(), options)?;
    undecided.iter().for_each(|undecided| warn_of_undecided(undecided));
    Ok(match outcome(&comparisons, options.judging.gate) {
        ExitCode::Success | ExitCode::Inconclusive if !have_benchmarks_in_common => ExitCode::NothingSelected,
        outcome => outcome,
    })
}

/// Lists the baselines with a description of each; only their names with `--quiet`.
fn list(home: &Home, options: &CompareOptions) -> Result<ExitCode, Failure> {
    let names = home.known();
    let page = match options.verbosity {
        Verbosity::Quiet => names.iter().map(|name| format!("{name}\n")).collect(),
        Verbosity::Normal | Verbosity::Verbose => {
            let runs: Vec<ComparedRun> = names.iter().filter_map(|name| known_of(name, home)).collect();
            runs_page(&runs, TerminalOptions::of_stdout(options.color))
        }
    };
    Output::stdout().print(&page)?;
    Ok(ExitCode::Success)
}

/// Describes a baseline. Warns if it cannot be read.
fn known_of(name: &str, home: &Home) -> Option<ComparedRun> {
    let run = name.parse().map(|name| load(&RunName::Baseline(name), home)).ok()?;
    run.inspect_err(|error| print_warning(&chain(error)))
        .ok()
        .map(|run| NamedRun { name, run: &run }.described())
}

/// Loads the runs, with the results that the filters choose.
fn runs(home: &Home, options: &CompareOptions) -> Result<Vec<(String, StoredRun)>, Failure> {
    options
        .runs
        .iter()
        .enumerate()
        .map(|(position, name)| {
            let load = if position == 0 { load_baseline } else { load_run };
            let run = chosen(name, load(name, home)?, &options.filters)?;
            must_match(name, &run, &options.matching)?;
            Ok((name.to_string(), run))
        })
        .collect()
}

/// Returns the results of several devices next to each other. `None` if there are not several, and
/// if they shall be compared as if they were one, or under other names.
fn devices(runs: &[(String, StoredRun)], options: &CompareOptions) -> Option<DeviceMatrix> {
    let are_compared = options.judging.setups == Setups::MayDiffer || !matches!(options.matching, Matching::Names);
    let runs = runs.iter().map(|(name, run)| NamedRun { name, run });
    device_matrix(&runs.collect::<Vec<_>>()).filter(|_| !are_compared)
}

/// Compares each run with the first.
fn comparisons(
    runs: &[(String, StoredRun)],
    home: &Home,
    options: &CompareOptions,
) -> Result<Vec<ComparisonComplete>, Failure> {
    let contestants = || runs.iter().map(|(name, run)| NamedRun { name, run });
    let Some(baseline) = contestants().next() else {
        return Ok(Vec::new());
    };
    contestants()
        .skip(1)
        .map(|candidate| {
            let rules = rules(candidate.run, home, options)?;
            Ok(compare(baseline, candidate, Arrangement::Apart, &rules))
        })
        .collect()
}

/// Returns a run with only the results that the filters choose.
fn chosen(name: &RunName, mut run: StoredRun, filters: &[Regex]) -> Result<StoredRun, Failure> {
    if !filters.is_empty() {
        run.results.retain(|result| {
            let full = result.full_name();
            filters
                .iter()
                .any(|filter| filter.is_match(&full) || filter.is_match(&result.case))
        });
        if run.results.is_empty() {
            return Err(BaselineError::NothingFits {
                stored: name.to_string(),
                file: None,
            }
            .into());
        }
    }
    Ok(run)
}

/// Refuses a run in which `-g` matches nothing: there is nothing to compare.
fn must_match(name: &RunName, run: &StoredRun, matching: &Matching) -> Result<(), BaselineError> {
    match matching {
        Matching::Groups(expression) if !run.results.iter().any(|result| matching.takes(result)) => {
            Err(BaselineError::NothingMatches {
                stored: name.to_string(),
                expression: expression.to_string(),
                example: run.results.first().map(BenchmarkComplete::full_name),
            })
        }
        _ => Ok(()),
    }
}

fn rules(candidate: &StoredRun, home: &Home, options: &CompareOptions) -> Result<Rules, Failure> {
    let past = options.places.past(&candidate.run, home)?;
    let fences = past.map(|past| fences(&past, &candidate.results)).unwrap_or_default();
    Ok(Rules {
        matching: options.matching.clone(),
        ..options.judging.rules(fences)
    })
}

fn show(
    comparisons: &[ComparisonComplete],
    devices: Option<&DeviceMatrix>,
    options: &CompareOptions,
) -> Result<(), Failure> {
    // The results of another device are shown next to each other instead.
    let is_shown = |comparison: &&ComparisonComplete| {
        devices.is_none() || comparison.baseline.device.is_model_of(&comparison.candidate.device)
    };
    let shown: Vec<ComparisonComplete> = comparisons.iter().filter(is_shown).cloned().collect();
    let page = |terminal| page(&shown, devices, options, terminal);
    let mut stdout = Output::stdout();
    match options.format {
        // Standard output is reserved for the export.
        ComparisonFormat::Human if options.export_markdown == Some(OutputTarget::StandardOutput) => {
            Output::stderr().print(&page(TerminalOptions::of_stderr(options.color)))?;
        }
        ComparisonFormat::Human => {
            stdout.print(&page(TerminalOptions::of_stdout(options.color)))?;
        }
        ComparisonFormat::Markdown => stdout.print(&comment(&shown, devices))?,
        ComparisonFormat::Json => {
            let mut lines = JsonReporter::new(stdout);
            for comparison in comparisons {
                lines.comparison_complete(comparison)?;
            }
            if let Some(devices) = devices {
                lines.device_matrix(devices)?;
            }
        }
    }
    if let Some(outlet) = &options.export_markdown {
        outlet.open()?.print(&comment(&shown, devices))?;
    }
    Ok(())
}

fn page(
    comparisons: &[ComparisonComplete],
    devices: Option<&DeviceMatrix>,
    options: &CompareOptions,
    terminal: TerminalOptions,
) -> String {
    let terminal = TerminalOptions {
        detail: match options.verbosity {
            Verbosity::Quiet => Detail::Brief,
            Verbosity::Normal | Verbosity::Verbose => Detail::Table,
        },
        ..terminal
    };
    let compared = match comparisons {
        [one] => comparison_page(one, terminal),
        several => comparisons_page(several, terminal),
    };
    let devices = devices.map(|devices| device_matrix_page(devices, terminal));
    let pages: Vec<String> = devices.into_iter().chain([compared]).collect();
    let pages = pages.iter().map(String::as_str).filter(|page| !page.is_empty());
    pages.collect::<Vec<_>>().join("\n")
}

/// Returns one comment for all comparisons and devices. Each gets an equal share of the maximum
/// length.
fn comment(comparisons: &[ComparisonComplete], devices: Option<&DeviceMatrix>) -> String {
    let parts = comparisons.len() + usize::from(devices.is_some());
    let room = GITHUB_LIMIT / parts.max(1) - 1;
    let comparisons = comparisons
        .iter()
        .map(|comparison| comparison_markdown(comparison, room));
    let devices = devices.map(|devices| device_matrix_markdown(devices, room));
    devices.into_iter().chain(comparisons).collect::<Vec<_>>().join("\n")
}

/// Returns the exit code. As for a run, a failed benchmark outweighs a slower one.
fn outcome(comparisons: &[ComparisonComplete], gate: Gate) -> ExitCode {
    if comparisons.iter().any(ComparisonComplete::has_newly_failed) {
        return ExitCode::BenchmarkFailed;
    }
    let passages = comparisons.iter().map(|comparison| gate.passage(comparison));
    exit_code_of(passages.max().unwrap_or(GateResult::Open))
}

#[cfg(test)]
mod tests {
    use gpubench_contract::ChangeVerdict;
    use gpubench_store::testing::{Size, run};
    use gpubench_testing::every_change;

    use super::*;

    fn stored() -> StoredRun {
        run(1, &[("axpy", 100.0), ("gemm", 200.0)], Size { workers: 3, samples: 4 })
    }

    fn name() -> RunName {
        "main".parse().map(RunName::Baseline).unwrap()
    }

    #[test]
    fn any_filter_may_match_a_full_name_or_a_case() {
        let run = stored();
        let (full, case) = (run.results[0].full_name(), run.results[0].case.clone());
        assert_ne!(full, case);
        let kept = |filters: &[&str]| {
            let filters: Vec<Regex> = filters.iter().map(|filter| Regex::new(filter).unwrap()).collect();
            chosen(&name(), stored(), &filters).ok().map(|run| run.results.len())
        };
        assert_eq!(kept(&[]), Some(2));
        assert_eq!(kept(&[&format!("^{full}$")]), Some(1));
        assert_eq!(kept(&[&format!("^{case}$")]), Some(1));
        assert_eq!(kept(&["axpy", "gemm"]), Some(2));
        assert_eq!(kept(&["nothing"]), None);
    }

    #[test]
    fn one_benchmark_that_an_expression_takes_is_enough() {
        let matches = |expression: &str| {
            let matching = Matching::Groups(Regex::new(expression).unwrap());
            must_match(&name(), &stored(), &matching).is_ok()
        };
        assert!(matches("(axpy)") && !matches("(nothing)"));
        assert!(must_match(&name(), &stored(), &Matching::Names).is_ok());
    }

    /// A comparison of which only rows of these verdicts are left.
    fn with(verdicts: &[ChangeVerdict]) -> ComparisonComplete {
        let mut comparison = every_change();
        comparison.rows.retain(|row| verdicts.contains(&row.verdict));
        assert_eq!(comparison.rows.is_empty(), verdicts.is_empty());
        comparison
    }

    #[test]
    fn the_worst_of_several_comparisons_is_the_outcome() {
        use ChangeVerdict::{Improved, NowFails, Regressed};
        let of = |verdicts: &[&[ChangeVerdict]]| {
            let comparisons: Vec<ComparisonComplete> = verdicts.iter().map(|verdicts| with(verdicts)).collect();
            outcome(&comparisons, Gate::default())
        };
        assert_eq!(of(&[]), ExitCode::Success);
        assert_eq!(of(&[&[Improved]]), ExitCode::Success);
        for (one, other) in [(0, 1), (1, 0)] {
            let rows = |verdict| {
                let mut rows: [&[ChangeVerdict]; 2] = [&[Improved]; 2];
                rows[one] = verdict;
                rows
            };
            assert_eq!(of(&rows(&[Regressed])), ExitCode::Regression, "{one} {other}");
            assert_eq!(of(&rows(&[NowFails])), ExitCode::BenchmarkFailed, "{one} {other}");
        }
        assert_eq!(of(&[&[NowFails], &[Regressed]]), ExitCode::BenchmarkFailed);
    }
}
