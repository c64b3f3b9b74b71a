//! The reports of a run, and what is done with its results.

use std::collections::BTreeMap;
use std::time::Instant;

use super::against::results::OtherResults;
use super::dataset::TraceReporter;
use super::grading::Solutions;
use super::lanes::context::LaneContext;
use super::lanes::expected::PastDurations;
use super::lanes::job::Job;
use super::options::{ExportFormat, MessageFormat, OnSkip, OutputOptions, RunOptions, Verbosity};
use super::resumption::Resumed;
use super::stored::bookkeeping::{Bookkeeping, ResultPlan};
use gpubench_contract::{
    BenchmarkComplete, BenchmarkStarted, Cause, ComparisonComplete, RunEnd, RunFinished, RunStarted, SchemaVersion,
    Verdict,
};
use gpubench_diagnostic::{ExitCode, Expected, Failure, in_backticks, print_error, print_warning};
use gpubench_measure::measurement::RunMode;
use gpubench_protocol::window::Seeds;
use gpubench_report::{
    CsvReporter, Detail, GateResult, JsonReporter, JunitReporter, MarkdownReporter, Output, OutputError, Phase,
    Progress, ProgressDisplay, RankingReporter, RecordsReporter, Reporter, Reporters, RewardReporter, SamplesReporter,
    TerminalOptions, TerminalReporter, TrackerReporter,
};
use gpubench_store::{contests, graded};

/// How submissions are scored, besides the rule of their problem.
#[derive(Clone, Debug)]
pub(super) struct Scoring {
    /// The submission that the others are compared with.
    pub(super) over: Option<String>,
    /// What traces are written of.
    pub(super) solutions: Option<Solutions>,
}

/// The reporters of a run, and what is done with its results.
pub(super) struct Reporting {
    reporters: Reporters,
    bookkeeping: Bookkeeping,
    /// The run's first record.
    run: RunStarted,
    results: Vec<BenchmarkComplete>,
    /// Results that wait for an earlier one of the run, by position.
    waiting: BTreeMap<u64, BenchmarkComplete>,
    /// The first records of results that an earlier run had, by position.
    resumed: BTreeMap<u64, BenchmarkStarted>,
    format: MessageFormat,
    on_skip: OnSkip,
    /// How submissions are scored, if there are some.
    scoring: Option<Scoring>,
    began: Instant,
    /// The first reporter's failure. The other reporters continue; the run ends with this failure.
    failure: Option<OutputError>,
}

impl Reporting {
    /// Opens the requested outputs and announces the run.
    ///
    /// # Errors
    /// A file cannot be created, or the history of the device cannot be used.
    pub(super) fn begin(
        options: &RunOptions,
        plan: ResultPlan,
        run: RunStarted,
        cases: &[BenchmarkStarted],
        scoring: Option<Scoring>,
        resumed: Option<Resumed>,
    ) -> Result<Reporting, Failure> {
        let began = Instant::now();
        let solutions = scoring.as_ref().and_then(|scoring| scoring.solutions.as_ref());
        let mut reporters = reporters(options, solutions)?;
        let mut waiting = BTreeMap::new();
        if let Some(resumed) = resumed {
            let (file, results) = resumed.into_parts();
            reporters.push(Box::new(RecordsReporter::begin(file, &run, results.values())?));
            waiting = results;
        }
        let started = cases.iter().filter(|started| waiting.contains_key(&started.index));
        let started = started.map(|started| (started.index, started.clone())).collect();
        let mut reporting = Reporting {
            reporters: Reporters(reporters),
            bookkeeping: plan.begin(&run)?,
            run: run.clone(),
            results: Vec::new(),
            waiting,
            resumed: started,
            format: options.output.format,
            on_skip: options.on_skip,
            scoring,
            began,
            failure: None,
        };
        reporting.notify(|reporter| reporter.run_started(&run, cases));
        reporting.report_waiting();
        Ok(reporting)
    }

    /// Returns how long the results of jobs took when they were last measured, if that is known.
    pub(super) fn past_durations(&self, jobs: &[Job<'_>], context: &LaneContext<'_>) -> PastDurations {
        let wanted = jobs.iter().map(|job| context.unmeasured(job)).collect();
        self.bookkeeping.past_durations(&self.run, wanted)
    }

    /// Reports the start of a case.
    pub(super) fn benchmark_started(&mut self, started: &BenchmarkStarted) {
        self.notify(|reporter| reporter.benchmark_started(started));
    }

    /// Reports the start of another phase.
    pub(super) fn phase(&mut self, phase: Phase) {
        let progress = Progress {
            phase,
            windows: 0,
            value: None,
            cv: None,
        };
        self.progress(&progress);
    }

    /// Reports the progress of the case.
    pub(super) fn progress(&mut self, progress: &Progress) {
        self.notify(|reporter| reporter.progress(progress));
    }

    /// Prints compiler messages if no table will show them.
    pub(super) fn show_compile_errors(&self, errors: &[&str]) {
        if self.format == MessageFormat::Json {
            errors.iter().for_each(|error| print_error(error));
        }
    }

    /// Reports the verdict of a case, after those of the cases before it in the run. Contests end
    /// in another order.
    pub(super) fn complete_in_order(&mut self, result: BenchmarkComplete) {
        self.waiting.insert(result.index, result);
        self.report_waiting();
    }

    /// Notes the verdict of a case whose turn has not come.
    pub(super) fn hold_back(&mut self, result: &BenchmarkComplete) {
        self.notify(|reporter| reporter.benchmark_held_back(result));
    }

    /// Reports the verdicts that wait for no other.
    fn report_waiting(&mut self) {
        while let Some(next) = self.waiting.remove(&(self.results.len() as u64)) {
            self.benchmark_complete(next);
        }
    }

    /// Reports the verdict of a case.
    pub(super) fn benchmark_complete(&mut self, result: BenchmarkComplete) {
        if let Some(started) = self.resumed.remove(&result.index) {
            self.benchmark_started(&started);
        }
        self.notify(|reporter| reporter.benchmark_complete(&result));
        self.results.push(result);
    }

    /// Ends a measured run and publishes the seed. `other` has the results of the baseline that the
    /// run alternated with. Returns the exit code.
    ///
    /// # Errors
    /// Something could not be written.
    pub(super) fn finish(
        mut self,
        end: RunEnd,
        seeds: &Seeds,
        other: Option<OtherResults>,
    ) -> Result<ExitCode, Failure> {
        let waiting = std::mem::take(&mut self.waiting);
        waiting.into_values().for_each(|result| self.benchmark_complete(result));
        let count = |counts: fn(Verdict) -> bool| self.count(|result| counts(result.verdict)) as u64;
        let finished = RunFinished {
            schema_version: SchemaVersion,
            run_id: self.run.run_id.clone(),
            passed: count(|verdict| verdict == Verdict::Pass),
            failed: count(Verdict::is_failure),
            skipped: count(|verdict| verdict == Verdict::Skipped),
            seed: seeds.revealed(),
            not_run: self.run.cases - self.results.len() as u64,
            end,
            wall_ns: self.began.elapsed().as_nanos() as u64,
        };
        self.conclude(finished, other)
    }

    fn count(&self, counts: impl Fn(&BenchmarkComplete) -> bool) -> usize {
        self.results.iter().filter(|result| counts(result)).count()
    }

    /// Compares the results, closes the reports and stores the results.
    ///
    /// # Errors
    /// Something could not be written. Everything else is still written.
    pub(super) fn conclude(mut self, finished: RunFinished, other: Option<OtherResults>) -> Result<ExitCode, Failure> {
        let of_results = self.exit_code_of_results();
        // A part of `--partition` may have no cases.
        let has_results = !self.results.is_empty();
        let results = std::mem::take(&mut self.results);
        let stored = self.bookkeeping.stored(self.run.clone(), results, finished.clone());
        let comparison = match other {
            None => self.bookkeeping.compare(&stored),
            Some(other) => self.bookkeeping.compare_interleaved(&stored, other),
        };
        let judged = comparison.as_ref().filter(|_| has_results);
        let passage = judged.map_or(GateResult::Open, |comparison| self.bookkeeping.passage(comparison));
        let undecided = judged.and_then(ComparisonComplete::undecided);
        for contest in contests(&stored) {
            self.notify(|reporter| reporter.contest_complete(&contest));
        }
        if let Some(Scoring { over, .. }) = self.scoring.clone() {
            let all = graded(&stored, over.as_deref());
            let rival = all.iter().find(|one| over.as_ref() == Some(&one.submission));
            if let Some(rival) = rival.filter(|rival| rival.score.is_none()) {
                print_warning(&format!(
                    "`{}` has no score, so there are no speed-ups",
                    rival.submission
                ));
            }
            for one in all {
                self.notify(|reporter| reporter.problem_complete(&one));
            }
        }
        if let Some(comparison) = &comparison {
            self.notify(|reporter| reporter.comparison_complete(comparison));
        }
        if self.format == MessageFormat::Human
            && comparison.is_none()
            && let Some(since) = self.bookkeeping.compare_with_last_run(&stored)
        {
            self.notify(|reporter| reporter.compared_with_last_run(&since));
        }
        self.notify(|reporter| reporter.run_finished(&finished));
        let mut failures: Vec<Failure> = self.failure.into_iter().map(Failure::from).collect();
        failures.extend(self.bookkeeping.keep(&stored).into_iter().map(Failure::from));
        let page = self.bookkeeping.write_page(&stored, comparison.as_slice());
        failures.extend(page.err().map(Failure::from));
        if let Some(undecided) = undecided {
            warn_of_undecided(&undecided);
        }
        if let Some(comparison) = judged.filter(|_| passage == GateResult::SideFailed) {
            print_error(&side_failed(comparison));
        }
        if finished.skipped > 0 && finished.passed + finished.failed == 0 {
            print_warning(
                &"every case was skipped, so nothing was checked (hint: `--fail-on-skip` makes this a failure)",
            );
        }
        first_failure(failures)?;
        let of_skips = (finished.skipped > 0 && self.on_skip == OnSkip::Fail).then_some(ExitCode::BenchmarkFailed);
        Ok(match finished.end {
            RunEnd::Interrupted => ExitCode::Interrupted,
            _ => of_results.or(of_skips).unwrap_or_else(|| exit_code_of(passage)),
        })
    }

    /// Returns the exit code if benchmarks failed, alone or alternating with others. A kernel that
    /// does not compile is not a failed benchmark, but it is a failed submission.
    fn exit_code_of_results(&self) -> Option<ExitCode> {
        let of = |cause| self.count(|result| result.cause == Some(cause));
        let (uncompiled, without_compiler) = (of(Cause::CompileFailed), of(Cause::CompilerMissing));
        let on_full_disk = of(Cause::DiskFull);
        let failed = self.count(|result| result.verdict.is_failure() || result.failed_alternating.is_some());
        let of_the_crate = if self.scoring.is_some() { 0 } else { uncompiled };
        if failed > of_the_crate + without_compiler + on_full_disk {
            Some(ExitCode::BenchmarkFailed)
        } else if on_full_disk > 0 {
            Some(ExitCode::OutputFailed)
        } else if uncompiled > 0 {
            Some(ExitCode::BuildFailed)
        } else {
            (without_compiler > 0).then_some(ExitCode::SetupMissing)
        }
    }

    fn notify(&mut self, each: impl Fn(&mut dyn Reporter) -> Result<(), OutputError>) {
        if let Err(failure) = self.reporters.tell(each)
            && !failure.is_broken_pipe()
        {
            self.failure.get_or_insert(failure);
        }
    }
}

/// Returns the exit code of a run or comparison without failed benchmarks.
pub(super) fn exit_code_of(passage: GateResult) -> ExitCode {
    match passage {
        GateResult::Open => ExitCode::Success,
        GateResult::Inconclusive => ExitCode::Inconclusive,
        GateResult::Regressed => ExitCode::Regression,
        GateResult::SideFailed => ExitCode::BenchmarkFailed,
    }
}

/// Returns which benchmarks are not compared because a side failed.
fn side_failed(comparison: &ComparisonComplete) -> String {
    let cases = in_backticks(comparison.rows_with_failed_side().map(|row| &row.case));
    format!(
        "a regression of {cases} could have gone unnoticed, since a side failed (hint: if the candidate mends a wrong \
         baseline, `--no-fail-on-regression` only shows this)"
    )
}

/// Warns of an undecided comparison: it must not look like one without a regression.
pub(super) fn warn_of_undecided(undecided: &str) {
    print_warning(&format!("{undecided}; a regression could have gone unnoticed"));
}

/// Returns the first failure as the result of the command, and prints the others.
pub(crate) fn first_failure(failures: Vec<Failure>) -> Result<(), Failure> {
    let mut failures = failures.into_iter();
    let Some(first) = failures.next() else { return Ok(()) };
    failures.for_each(|failure| failure.print());
    Err(first)
}

/// Returns the reporters: the one on the terminal and every export.
fn reporters(options: &RunOptions, solutions: Option<&Solutions>) -> Result<Vec<Box<dyn Reporter>>, OutputError> {
    let mut reporters: Vec<Box<dyn Reporter>> = vec![match options.output.format {
        MessageFormat::Human => Box::new(terminal_reporter(options)),
        MessageFormat::Json => Box::new(JsonReporter::new(Output::stdout())),
    }];
    let compares = options.results.compares();
    for export in &options.output.exports {
        let output = export.outlet.open()?;
        reporters.push(match export.format {
            ExportFormat::Traces => match solutions.cloned() {
                Some(Solutions { problem, names }) => Box::new(TraceReporter::new(output, problem, names)),
                // No option asks for traces of anything else.
                None => continue,
            },
            ExportFormat::Json => Box::new(JsonReporter::new(output)),
            ExportFormat::Csv if compares => Box::new(CsvReporter::new(output).awaiting_a_comparison()),
            ExportFormat::Csv => Box::new(CsvReporter::new(output)),
            ExportFormat::Samples => Box::new(SamplesReporter::new(output)),
            ExportFormat::Ranking => Box::new(RankingReporter::new(output)),
            ExportFormat::Markdown if compares => Box::new(MarkdownReporter::new(output).beside_a_comparison()),
            ExportFormat::Markdown => Box::new(MarkdownReporter::new(output)),
            ExportFormat::Junit => Box::new(JunitReporter::new(output).with_gate(options.results.judging.gate)),
            ExportFormat::Tracker(format) => Box::new(TrackerReporter::new(output, format)),
        });
    }
    if let Some(file) = &options.output.reward {
        let over = options.grading.as_ref().and_then(|grading| grading.over.as_ref());
        let over = over.map(|over| over.word().to_owned());
        reporters.push(Box::new(RewardReporter::new(file.clone(), over)));
    }
    Ok(reporters)
}

fn terminal_reporter(options: &RunOptions) -> TerminalReporter {
    let color = options.output.color;
    let (output, fitting) = if options.gives_standard_output_away() {
        (Output::stderr(), TerminalOptions::of_stderr(color))
    } else {
        (Output::stdout(), TerminalOptions::of_stdout(color))
    };
    let reporter = TerminalReporter::new(output, terminal_options(fitting, &options.output));
    match RunMode::from(options.action) {
        RunMode::Measure => reporter,
        RunMode::Test | RunMode::Profile(_) | RunMode::Audit(_) => reporter.without_figures(),
    }
}

fn terminal_options(fitting: TerminalOptions, output: &OutputOptions) -> TerminalOptions {
    TerminalOptions {
        progress: if output.hides_progress || output.verbosity == Verbosity::Quiet {
            ProgressDisplay::Hidden
        } else {
            fitting.progress
        },
        detail: match output.verbosity {
            Verbosity::Quiet => Detail::Brief,
            Verbosity::Normal => fitting.detail,
            Verbosity::Verbose => Detail::Full,
        },
        ..fitting
    }
}
