//! Telling whoever listens what happens in a run, and what becomes of its results.

use std::time::Instant;

use super::against::results::OtherResults;
use super::options::{ExportFormat, LibrarySource, MessageFormat, OutputOptions, RunOptions, Verbosity};
use super::stored::bookkeeping::{Bookkeeping, ResultPlan};
use gpubench_contract::{
    BenchmarkComplete, BenchmarkStarted, Cause, ComparisonComplete, Metric, RunEnd, RunFinished, RunStarted,
    SchemaVersion, Verdict,
};
use gpubench_diagnostic::{ExitCode, Expected, Failure, print_error, print_warning};
use gpubench_measure::measurement::RunMode;
use gpubench_protocol::window::Seeds;
use gpubench_report::{
    CsvReporter, Detail, GateResult, JsonReporter, JunitReporter, MarkdownReporter, Output, OutputError, Phase,
    Progress, ProgressDisplay, RepeatedCommand, Reporter, Reporters, TerminalOptions, TerminalReporter,
};

/// The listeners of a run, and what becomes of its results.
pub(super) struct Reporting {
    reporters: Reporters,
    bookkeeping: Bookkeeping,
    /// The run's first record.
    run: RunStarted,
    results: Vec<BenchmarkComplete>,
    format: MessageFormat,
    began: Instant,
    /// The first listener's failure. The others are still told everything; the run ends with it.
    failure: Option<OutputError>,
}

impl Reporting {
    /// Opens what the options ask for, and tells that the run begins.
    ///
    /// # Errors
    /// A file cannot be created, or the history of the device cannot be used.
    pub(super) fn begin(
        options: &RunOptions,
        plan: ResultPlan,
        run: RunStarted,
        cases: &[BenchmarkStarted],
    ) -> Result<Reporting, Failure> {
        let began = Instant::now();
        let reporters = Reporters(reporters(options)?);
        let mut reporting = Reporting {
            reporters,
            bookkeeping: plan.begin(&run)?,
            run: run.clone(),
            results: Vec::new(),
            format: options.output.format,
            began,
            failure: None,
        };
        reporting.tell(|reporter| reporter.run_started(&run, cases));
        Ok(reporting)
    }

    /// A case begins.
    pub(super) fn benchmark_started(&mut self, started: &BenchmarkStarted) {
        self.tell(|reporter| reporter.benchmark_started(started));
    }

    /// The run does something else.
    pub(super) fn phase(&mut self, phase: Phase) {
        let progress = Progress {
            phase,
            windows: 0,
            value: None,
            cv: None,
        };
        self.tell(|reporter| reporter.progress(&progress));
    }

    /// The case has another sample.
    pub(super) fn progress(&mut self, samples: &[f64], of_workers: &[&[f64]]) {
        let progress = Progress::of_samples(&Metric::time(), samples, of_workers);
        self.tell(|reporter| reporter.progress(&progress));
    }

    /// Shows what compilers say, where no table will.
    pub(super) fn show_compile_errors(&self, errors: &[&str]) {
        if self.format == MessageFormat::Json {
            errors.iter().for_each(|error| print_error(error));
        }
    }

    /// A case has its verdict.
    pub(super) fn benchmark_complete(&mut self, result: &BenchmarkComplete) {
        self.tell(|reporter| reporter.benchmark_complete(result));
        self.results.push(result.clone());
    }

    /// A measured run has ended; `other` is what came of the revision that it was measured in turns
    /// with. Gives what the command exits with, and publishes the seed.
    ///
    /// # Errors
    /// When something could not be written.
    pub(super) fn finish(self, end: RunEnd, seeds: &Seeds, other: Option<OtherResults>) -> Result<ExitCode, Failure> {
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

    /// Compares the results, closes the reports and keeps what is to be kept.
    ///
    /// # Errors
    /// When something could not be written; everything else is written all the same.
    pub(super) fn conclude(mut self, finished: RunFinished, other: Option<OtherResults>) -> Result<ExitCode, Failure> {
        let of_results = self.exit_code_of_results();
        // A part of `--partition` may have no case.
        let has_results = !self.results.is_empty();
        let results = std::mem::take(&mut self.results);
        let stored = self.bookkeeping.stored(self.run.clone(), results, finished.clone());
        let comparison = match other {
            None => self.bookkeeping.compare(&stored),
            Some(other) => self.bookkeeping.compare_in_turns(&stored, other),
        };
        let judged = comparison.as_ref().filter(|_| has_results);
        let passage = judged.map_or(GateResult::Open, |comparison| self.bookkeeping.passage(comparison));
        let undecided = judged.and_then(ComparisonComplete::undecided);
        if let Some(comparison) = &comparison {
            self.tell(|reporter| reporter.comparison_complete(comparison));
        }
        self.tell(|reporter| reporter.run_finished(&finished));
        let mut failures: Vec<Failure> = self.failure.into_iter().map(Failure::from).collect();
        failures.extend(self.bookkeeping.keep(&stored).into_iter().map(Failure::from));
        let page = self.bookkeeping.write_page(&stored, comparison.as_slice());
        failures.extend(page.err().map(Failure::from));
        if let Some(undecided) = undecided {
            warn_of_undecided(&undecided);
        }
        first_of(failures)?;
        Ok(match finished.end {
            RunEnd::Interrupted => ExitCode::Interrupted,
            _ => of_results.unwrap_or_else(|| exit_code_of(passage)),
        })
    }

    /// What the command exits with where benchmarks failed: a kernel that does not compile is no
    /// failed benchmark.
    fn exit_code_of_results(&self) -> Option<ExitCode> {
        let of = |cause| self.count(|result| result.cause == Some(cause));
        let (uncompiled, without_compiler) = (of(Cause::CompileFailed), of(Cause::CompilerMissing));
        if self.count(|result| result.verdict.is_failure()) > uncompiled + without_compiler {
            Some(ExitCode::BenchmarkFailed)
        } else if uncompiled > 0 {
            Some(ExitCode::BuildFailed)
        } else {
            (without_compiler > 0).then_some(ExitCode::SetupMissing)
        }
    }

    fn tell(&mut self, each: impl Fn(&mut dyn Reporter) -> Result<(), OutputError>) {
        if let Err(failure) = self.reporters.tell(each)
            && !failure.is_broken_pipe()
        {
            self.failure.get_or_insert(failure);
        }
    }
}

/// What a run or a comparison exits with where no benchmark failed.
pub(super) fn exit_code_of(passage: GateResult) -> ExitCode {
    match passage {
        GateResult::Open => ExitCode::Success,
        GateResult::Inconclusive => ExitCode::Inconclusive,
        GateResult::Regressed => ExitCode::Regression,
    }
}

/// A comparison that says nothing must not look like one without a regression.
pub(super) fn warn_of_undecided(undecided: &str) {
    print_warning(&format!("{undecided}; a regression would not have been seen"));
}

/// The command ends with one failure; the others are told before.
fn first_of(failures: Vec<Failure>) -> Result<(), Failure> {
    let mut failures = failures.into_iter();
    let Some(first) = failures.next() else { return Ok(()) };
    failures.for_each(|failure| failure.print());
    Err(first)
}

/// What is shown, and every export.
fn reporters(options: &RunOptions) -> Result<Vec<Box<dyn Reporter>>, OutputError> {
    let mut reporters: Vec<Box<dyn Reporter>> = vec![match options.output.format {
        MessageFormat::Human => Box::new(terminal_reporter(options)),
        MessageFormat::Json => Box::new(JsonReporter::new(Output::stdout())),
    }];
    let compares = options.results.compares();
    for export in &options.output.exports {
        let output = export.outlet.open()?;
        reporters.push(match export.format {
            ExportFormat::Json => Box::new(JsonReporter::new(output)),
            ExportFormat::Csv if compares => Box::new(CsvReporter::new(output).awaiting_a_comparison()),
            ExportFormat::Csv => Box::new(CsvReporter::new(output)),
            ExportFormat::Markdown if compares => Box::new(MarkdownReporter::new(output).beside_a_comparison()),
            ExportFormat::Markdown => Box::new(MarkdownReporter::new(output)),
            ExportFormat::Junit => Box::new(JunitReporter::new(output).with_gate(options.results.judging.gate)),
        });
    }
    Ok(reporters)
}

fn terminal_reporter(options: &RunOptions) -> TerminalReporter {
    let overridden = options.cases.axes.iter().map(|axis| axis.name.clone()).collect();
    let color = options.output.color;
    let (output, fitting) = match options.gives_standard_output_away() {
        true => (Output::stderr(), TerminalOptions::of_stderr(color)),
        false => (Output::stdout(), TerminalOptions::of_stdout(color)),
    };
    let program = match &options.libraries {
        LibrarySource::Archive { .. } => "cargo-gpubench gpubench",
        LibrarySource::Build(_) => "cargo gpubench",
    };
    let reporter =
        TerminalReporter::new(output, terminal_options(fitting, &options.output)).repeating(RepeatedCommand {
            program,
            options: options.repeated.clone(),
            overridden_axes: overridden,
        });
    match RunMode::from(options.action) {
        RunMode::Measure => reporter,
        RunMode::Test | RunMode::Profile(_) => reporter.without_figures(),
    }
}

fn terminal_options(fitting: TerminalOptions, output: &OutputOptions) -> TerminalOptions {
    TerminalOptions {
        progress: match output.hides_progress || output.verbosity == Verbosity::Quiet {
            true => ProgressDisplay::Hidden,
            false => fitting.progress,
        },
        detail: match output.verbosity {
            Verbosity::Quiet => Detail::Brief,
            Verbosity::Normal => fitting.detail,
            Verbosity::Verbose => Detail::Full,
        },
        ..fitting
    }
}
