//! Telling whoever listens what happens in a run, and counting how it ends.

use std::time::Instant;

use super::against::opponent::OtherResults;
use super::cases::{Case, Naming};
use super::options::{ExportFormat, LibrarySource, MessageFormat, ProgressShown, RunOptions, Verbosity};
use super::stored::bookkeeping::Bookkeeping;
use crate::error::ExpectedError;
use gpubench_contract::Metric;
use gpubench_contract::{
    BenchmarkComplete, BenchmarkStarted, ComparisonComplete, Device, Environment, RunEnd, RunFinished, RunStarted,
    SchemaVersion,
};
use gpubench_contract::{Cause, Verdict};
use gpubench_diagnostic::ExitCode;
use gpubench_diagnostic::{print_error, print_warning};
use gpubench_measure::measurement::Purpose;
use gpubench_protocol::window::Seeds;
use gpubench_report::{
    CsvReporter, Detail, JsonReporter, JunitReporter, MarkdownReporter, Output, OutputError, Passage, Phase, Progress,
    ProgressDisplay, RepeatedCommand, Reporter, Reporters, TerminalOptions, TerminalReporter,
};

/// The listeners of a run, how many cases have ended in what way, and what becomes of their results.
pub(super) struct Reporting {
    reporters: Reporters,
    bookkeeping: Bookkeeping,
    /// The run's first record, once it has begun.
    run: Option<RunStarted>,
    results: Vec<BenchmarkComplete>,
    /// What came of the revision that they are measured in turns with.
    other: Option<OtherResults>,
    run_id: String,
    format: MessageFormat,
    naming: Naming,
    began: Instant,
    cases: u64,
    passed: u64,
    failed: u64,
    skipped: u64,
    compile_failed: u64,
    compiler_missing: u64,
    /// Published when the run has ended.
    seed: String,
    /// The first listener's failure. The others are still told everything; the run ends with it.
    failure: Option<OutputError>,
}

impl Reporting {
    /// Opens what the options ask for.
    ///
    /// # Errors
    /// When a file cannot be created.
    pub(super) fn new(
        options: &RunOptions,
        naming: Naming,
        bookkeeping: Bookkeeping,
    ) -> Result<Reporting, ExpectedError> {
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
                ExportFormat::Junit => Box::new(JunitReporter::new(output).behind(options.results.judging.gate)),
            });
        }
        Ok(Reporting {
            reporters: Reporters(reporters),
            bookkeeping,
            run: None,
            results: Vec::new(),
            other: None,
            run_id: run_id(),
            format: options.output.format,
            naming,
            began: Instant::now(),
            cases: 0,
            passed: 0,
            failed: 0,
            skipped: 0,
            compile_failed: 0,
            compiler_missing: 0,
            seed: String::new(),
            failure: None,
        })
    }

    /// Announces a case.
    pub(super) fn announce(&self, case: &Case, index: usize) -> BenchmarkStarted {
        BenchmarkStarted {
            schema_version: SchemaVersion,
            run_id: self.run_id.clone(),
            package: case.package.clone(),
            benchmark: case.path.clone(),
            params: (&case.params).into(),
            case: case.name_as(self.naming),
            index: index as u64,
        }
    }

    /// The run begins.
    ///
    /// # Errors
    /// The history of the device cannot be used.
    pub(super) fn run_started(
        &mut self,
        device: Device,
        environment: Environment,
        seeds: &Seeds,
        packages: Vec<String>,
        cases: &[BenchmarkStarted],
    ) -> Result<(), ExpectedError> {
        self.cases = cases.len() as u64;
        self.seed = seeds.revealed();
        let started = RunStarted {
            schema_version: SchemaVersion,
            run_id: self.run_id.clone(),
            started_at: jiff::Timestamp::now().to_string(),
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            seed_commitment: seeds.commitment(),
            device,
            packages,
            cases: self.cases,
            environment,
            earlier_runs: Vec::new(),
        };
        self.begin(started, cases)
    }

    /// A run begins that was measured before.
    ///
    /// # Errors
    /// As [`run_started`](Self::run_started).
    pub(super) fn begin(&mut self, started: RunStarted, cases: &[BenchmarkStarted]) -> Result<(), ExpectedError> {
        self.bookkeeping.begin(&started)?;
        self.tell(|reporters| reporters.run_started(&started, cases));
        self.run = Some(started);
        Ok(())
    }

    /// A case begins.
    pub(super) fn benchmark_started(&mut self, started: &BenchmarkStarted) {
        self.tell(|reporters| reporters.benchmark_started(started));
    }

    /// The run does something else.
    pub(super) fn phase(&mut self, phase: Phase) {
        let progress = Progress {
            phase,
            windows: 0,
            value: None,
            cv: None,
        };
        self.tell(|reporters| reporters.progress(&progress));
    }

    /// The case has another sample.
    pub(super) fn progress(&mut self, samples: &[f64], of_workers: &[&[f64]]) {
        let progress = Progress::of_samples(&Metric::time(), samples, of_workers);
        self.tell(|reporters| reporters.progress(&progress));
    }

    /// Shows what compilers say, where no table will.
    pub(super) fn show_compile_errors(&self, errors: &[&str]) {
        if self.format == MessageFormat::Json {
            errors.iter().for_each(|error| print_error(error));
        }
    }

    /// A case has its verdict.
    pub(super) fn benchmark_complete(&mut self, result: &BenchmarkComplete) {
        match result.verdict {
            Verdict::Pass => self.passed += 1,
            Verdict::Skipped => self.skipped += 1,
            _ => self.failed += 1,
        }
        self.compile_failed += u64::from(result.cause == Some(Cause::CompileFailed));
        self.compiler_missing += u64::from(result.cause == Some(Cause::CompilerMissing));
        self.tell(|reporters| reporters.benchmark_complete(result));
        self.results.push(result.clone());
    }

    /// Notes what came of the revision that the cases were measured in turns with.
    pub(super) fn note_other(&mut self, other: OtherResults) {
        self.other = Some(other);
    }

    /// The run has ended; gives what the command exits with.
    ///
    /// # Errors
    /// When something could not be written.
    pub(super) fn finish(self, end: RunEnd) -> Result<ExitCode, ExpectedError> {
        let finished = RunFinished {
            schema_version: SchemaVersion,
            run_id: self.run_id.clone(),
            passed: self.passed,
            failed: self.failed,
            skipped: self.skipped,
            seed: self.seed.clone(),
            not_run: self.cases - self.passed - self.failed - self.skipped,
            end,
            wall_ns: self.began.elapsed().as_nanos() as u64,
        };
        self.conclude(finished)
    }

    /// Compares the results, closes the reports and keeps what is to be kept.
    ///
    /// # Errors
    /// When something could not be written; everything else is written all the same.
    pub(super) fn conclude(mut self, finished: RunFinished) -> Result<ExitCode, ExpectedError> {
        let end = finished.end;
        let results = std::mem::take(&mut self.results);
        let run = self.run.take();
        let stored = run.map(|run| self.bookkeeping.stored(run, results, finished.clone()));
        let other = self.other.take();
        let comparison = stored.as_ref().and_then(|stored| match other {
            None => self.bookkeeping.compare(stored),
            Some(other) => self.bookkeeping.compare_in_turns(stored, other),
        });
        // A part of `--partition` may have no case.
        let judged = comparison
            .as_ref()
            .filter(|_| self.passed + self.failed + self.skipped > 0);
        let passage = judged.map_or(Passage::Open, |comparison| self.bookkeeping.passage(comparison));
        let undecided = judged.and_then(ComparisonComplete::undecided);
        if let Some(comparison) = &comparison {
            self.tell(|reporters| reporters.comparison_complete(comparison));
        }
        self.tell(|reporters| reporters.run_finished(&finished));
        let mut failures: Vec<ExpectedError> = self.failure.into_iter().map(ExpectedError::Report).collect();
        if let Some(stored) = &stored {
            failures.extend(self.bookkeeping.keep(stored).into_iter().map(ExpectedError::Store));
            let page = self.bookkeeping.write_page(stored, comparison.as_slice());
            failures.extend(page.err().map(ExpectedError::Report));
        }
        if let Some(undecided) = undecided {
            warn_of_undecided(&undecided);
        }
        first_of(failures)?;
        Ok(match end {
            RunEnd::Interrupted => ExitCode::Interrupted,
            _ if self.failed > self.compile_failed + self.compiler_missing => ExitCode::BenchmarkFailed,
            _ if self.compile_failed > 0 => ExitCode::BuildFailed,
            _ if self.compiler_missing > 0 => ExitCode::SetupMissing,
            _ => exit_code_of(passage),
        })
    }

    fn tell(&mut self, what: impl FnOnce(&mut Reporters) -> Result<(), OutputError>) {
        if let Err(failure) = what(&mut self.reporters) {
            self.failure.get_or_insert(failure);
        }
    }
}

/// What a run or a comparison exits with where no benchmark failed.
pub(super) fn exit_code_of(passage: Passage) -> ExitCode {
    match passage {
        Passage::Open => ExitCode::Success,
        Passage::Inconclusive => ExitCode::Inconclusive,
        Passage::Regressed => ExitCode::Regression,
    }
}

/// A comparison that says nothing must not look like one without a regression.
pub(super) fn warn_of_undecided(undecided: &str) {
    print_warning(&format!("{undecided}; a regression would not have been seen"));
}

/// The command ends with one failure; the others are told before.
fn first_of(failures: Vec<ExpectedError>) -> Result<(), ExpectedError> {
    let mut failures = failures.into_iter();
    let Some(first) = failures.next() else { return Ok(()) };
    failures.for_each(|failure| failure.print());
    Err(first)
}

fn terminal_reporter(options: &RunOptions) -> TerminalReporter {
    let overridden = options.cases.axes.iter().map(|axis| axis.name.clone()).collect();
    let color = options.output.color;
    let (output, fitting) = match options.gives_standard_output_away() {
        true => (Output::stderr(), TerminalOptions::of_stderr(color)),
        false => (Output::stdout(), TerminalOptions::of_stdout(color)),
    };
    let program = match &options.libraries {
        LibrarySource::Archive(_) => "cargo-gpubench gpubench",
        LibrarySource::Build(_) => "cargo gpubench",
    };
    let reporter = TerminalReporter::new(output, terminal_options(fitting, options)).repeating(RepeatedCommand {
        program,
        options: options.repeated.clone(),
        overridden_axes: overridden,
    });
    match Purpose::from(options.action) {
        Purpose::Measure => reporter,
        Purpose::Test | Purpose::Profile(_) => reporter.without_figures(),
    }
}

fn terminal_options(fitting: TerminalOptions, options: &RunOptions) -> TerminalOptions {
    let fitting = match options.output.progress {
        ProgressShown::Auto => fitting,
        ProgressShown::Never => TerminalOptions {
            progress: ProgressDisplay::Hidden,
            ..fitting
        },
    };
    match options.output.verbosity {
        Verbosity::Quiet => TerminalOptions {
            progress: ProgressDisplay::Hidden,
            detail: Detail::Brief,
            ..fitting
        },
        Verbosity::Normal => fitting,
        Verbosity::Verbose => TerminalOptions {
            detail: Detail::Full,
            ..fitting
        },
    }
}

/// Sixteen random hexadecimal digits; the time where the system has no randomness to give.
fn run_id() -> String {
    let number = getrandom::u64().unwrap_or_else(|_| jiff::Timestamp::now().as_nanosecond() as u64);
    format!("{number:016x}")
}
