//! `cargo gpubench`.

use std::ffi::OsString;

use camino::Utf8PathBuf;
use clap::{Args, Subcommand};

use super::UsageError;
use super::archive::ArchiveArguments;
use super::compare::CompareArguments;
use super::completions::CompletionsArguments;
use super::doctor::DoctorArguments;
use super::grade::GradeArguments;
use super::history::HistoryArguments;
use super::init::InitArguments;
use super::judge::JudgeArguments;
use super::lint::LintArguments;
use super::man::{ManArguments, Manual};
use super::new::NewArguments;
use super::observer::observer;
use super::overwriting::refuse_to_overwrite;
use super::probe::ProbeArguments;
use super::problem::ProblemArguments;
use super::report::ReportArguments;
use super::settings::{FleetArguments, RunArguments, UnpackArguments};
use super::show_config::{ActiveSettings, ShowConfigArguments};
use super::standard_output::refuse_to_mix;
use crate::archive::ExtractTo;
use crate::broker::cases::SkipOrigin;
use crate::broker::options::{
    Action, ArchiveOptions, CaseOrder, FleetOptions, LastRun, LibrarySource, ObserverChoice, OnSkip, RunOptions,
};
use crate::broker::{CompareOptions, JudgeOptions, LintOptions, ProblemOptions, ReportOptions};
use crate::config::{Group, Read, Row, Values};
use crate::doctor::DoctorOptions;
use crate::history::TrendOptions;
use crate::scaffold::{InitOptions, NewOptions};
use gpubench_report::Color;
use gpubench_sandbox::Rights;

/// The options of `cargo gpubench`, from the command line, the environment and the configuration.
#[derive(Debug, Args)]
#[command(version, display_name = "cargo-gpubench", disable_help_subcommand = true, after_help = MORE, after_long_help = EXIT_CODES)]
#[command(override_usage = "cargo gpubench [OPTIONS] [FILTERS]...  or  cargo gpubench <COMMAND>")]
pub struct GpubenchArguments {
    #[command(subcommand)]
    subcommand: Option<GpubenchSubcommand>,

    #[command(flatten)]
    run: RunArguments,

    /// The profiler's own arguments.
    #[arg(skip)]
    profiler_arguments: Vec<OsString>,

    /// The options that a command to repeat a case needs.
    #[arg(skip)]
    repeated: Vec<String>,

    /// Where the names to skip are from.
    #[arg(skip)]
    skip_origin: SkipOrigin,

    /// Every setting with its source.
    #[arg(skip)]
    active_settings: ActiveSettings,
}

/// Declares the subcommands, each with a name and its arguments.
macro_rules! subcommands {
    ($($(#[$doc:meta])+ $name:literal => $variant:ident($arguments:ty);)+) => {
        #[derive(Debug, Subcommand)]
        enum GpubenchSubcommand {
            $($(#[$doc])+ #[command(name = $name)] $variant(Box<$arguments>),)+
        }

        impl GpubenchSubcommand {
            fn read(name: &str, values: &Values<'_>) -> Option<Self> {
                match name {
                    $($name => Some(Self::$variant(Box::new(Read::read(values, name)))),)+
                    _ => None,
                }
            }
        }

        /// Returns the settings of a subcommand.
        pub(super) fn rows_of(subcommand: &str) -> Vec<Row> {
            match subcommand {
                $($name => <$arguments>::rows(),)+
                _ => Vec::new(),
            }
        }
    };
}

subcommands! {
    /// Make a crate with a kernel and its benchmark
    ///
    /// `cargo gpubench` runs it at once. The crate is made as `cargo new` makes one.
    "new" => New(NewArguments);

    /// Write a benchmark for each kernel of a package
    ///
    /// Reads the package's CUDA C++ and writes an example with one benchmark for each kernel:
    /// parameters, tensors and the launch, as far as the declarations tell. What they do not tell
    /// is marked `TODO`. The example is a cdylib, and the runtime a dev-dependency.
    "init" => Init(InitArguments);

    /// Find problems whose tolerance accepts wrong answers
    ///
    /// Needs no kernel. Makes the inputs and the expected outputs of each selected case, and tries
    /// answers of kernels that do no work: zeros, a constant, noise, the answer to other inputs,
    /// and others. Right answers with rounding errors must pass. References and generators run in
    /// the sandbox of a run, on the CPU device. The exit code is 7 if there is a finding.
    "lint" => Lint(LintArguments);

    /// List and show problems, and start a submission to one
    ///
    /// A problem is what kernels of other authors solve: its statement, its tensors, its cases and
    /// how outputs are compared. `list` and `show` say what a contestant may know, and never the
    /// values of hidden cases. `starter` writes the file that a submission begins with.
    "problem" => Problem(ProblemArguments);

    /// Grade kernels of others against a problem
    ///
    /// A submission is data: CUDA C++, PTX, compiled code or a library, and how it is launched. The
    /// crate has the problem: inputs, reference, tolerance and work. It is built as for a run, and
    /// its own benchmarks do not run. Every call is checked, and the exit code is 100 if a
    /// submission fails.
    "grade" => Grade(GradeArguments);

    /// Compare stored runs: regressions and improvements
    ///
    /// The first run is the baseline. For every benchmark of the others, the comparison has a
    /// verdict and the ratio of times with its interval. Times of another device, driver or timing
    /// mode are not compared.
    "compare" => Compare(CompareArguments);

    /// Write an HTML page about a stored run
    ///
    /// It shows distributions, a roofline, comparisons and the history. The page is one file that
    /// needs no network and no scripts, so it can be mailed, archived or shown by a CI server.
    "report" => Report(ReportArguments);

    /// Show how times changed from run to run
    ///
    /// Plots the runs with `--history`, for each case and device, and lists the largest jumps with
    /// their revisions.
    "history" => History(HistoryArguments);

    /// Decide the verdicts of a stored run again, from its evidence
    ///
    /// A run with `--evidence` keeps what its judge decided from. The exit code is 100 if a record
    /// says more than its evidence shows. What was found after the samples is not in the evidence,
    /// such as by calls that were counted, so a record may be stricter.
    "judge" => Judge(JudgeArguments);

    /// Pack the benchmarks for machines without cargo
    ///
    /// Builds what a run would build, and packs it into one file. On another machine of the same
    /// platform, `cargo-gpubench gpubench --archive-file FILE` runs the file without cargo, sources
    /// or network.
    "archive" => Archive(ArchiveArguments);

    /// Show what this machine can measure, and what limits it
    ///
    /// Checks the compilers, the GPU's driver, its clocks and its other users, and the operating
    /// system. Changes nothing. The exit code is 0 if the device can measure, otherwise 96.
    "doctor" => Doctor(DoctorArguments);

    /// Show what CUDA processes do, without rebuilding them
    ///
    /// Runs the program `gpubench-probe`, which is installed by itself: `cargo install
    /// gpubench-probe`. It starts a command, or looks at processes that run, and shows their
    /// memory, launches, copies and errors while they happen. `cargo gpubench probe --help` shows
    /// its options, which come after the word `probe`.
    "probe" => Probe(ProbeArguments);

    /// Show the settings of a run, and the source of each
    ///
    /// A setting comes from the environment, from the profile, or from the default. The command
    /// line overrides all of them.
    "show-config" => ShowConfig(ShowConfigArguments);

    /// Print a script for shell completion
    ///
    /// For bash, load it in `~/.bashrc`: `source <(cargo gpubench completions bash)`.
    "completions" => Completions(CompletionsArguments);

    /// Print the manual page, or write all pages to a folder
    "man" => Man(ManArguments);
}

/// What the command line asks for.
#[derive(Debug)]
pub enum Command {
    /// A run.
    Run(Box<RunOptions>),
    /// An archive.
    Archive(Box<ArchiveOptions>),
    /// A comparison of stored runs.
    Compare(Box<CompareOptions>),
    /// A check of the machine.
    Doctor(DoctorOptions),
    /// A new crate.
    New(NewOptions),
    /// Benchmarks for the kernels of a package.
    Init(InitOptions),
    /// A text for standard output.
    Print(String),
    /// Manual pages.
    Manual(Manual),
    /// An observation of processes, with these arguments of `gpubench-probe`.
    Probe(Vec<OsString>),
    /// The history of earlier runs.
    History(TrendOptions),
    /// Verdicts of a stored run, decided again.
    Judge(JudgeOptions),
    /// Problems, judged without a kernel.
    Lint(Box<LintOptions>),
    /// A page about stored runs.
    Report(ReportOptions),
    /// Problems for kernels elsewhere.
    Problem(Box<ProblemOptions>),
}

impl Command {
    /// Whether the command starts processes that run code of others, and ends what they leave.
    pub fn starts_roles(&self) -> bool {
        match self {
            Command::Run(_) | Command::Archive(_) | Command::Lint(_) | Command::Problem(_) => true,
            Command::History(options) => options.confirm.is_some(),
            _ => false,
        }
    }

    /// Returns what the command needs capabilities for, if its caller has some.
    pub fn rights(&self) -> Rights {
        match self {
            Command::Probe(_) => Rights::Observe,
            Command::Run(options) => options.rights(),
            Command::Doctor(_) => Rights::Observe,
            Command::History(options) => options.confirm.as_ref().map_or(Rights::None, |run| run.rights()),
            Command::Archive(_)
            | Command::Compare(_)
            | Command::New(_)
            | Command::Init(_)
            | Command::Print(..)
            | Command::Manual(_)
            | Command::Judge(_)
            | Command::Lint(_)
            | Command::Problem(_)
            | Command::Report(_) => Rights::None,
        }
    }
}

const MORE: &str = "FILTERS are regular expressions for case names. `--help` shows every option.";

const EXIT_CODES: &str = "\
Exit codes: 0 success, 1 internal error, 2 usage, 3 regression, 4 nothing selected, 6 too few cases could be judged \
(--fail-on-inconclusive), 7 `lint` found a flaw, 92 the configuration needs a newer version, 96 a device or compiler is missing, \
100 a case failed, 101 a build failed, 102 cargo metadata failed, 103 an archive failed, 104 listing failed, \
110 output could not be written, 130 interrupted";

impl GpubenchArguments {
    /// Reads the values of a run, and of the subcommand if there is one.
    pub(super) fn from_values(
        run: &Values<'_>,
        below: Option<&(&str, Values<'_>)>,
        profiler_arguments: Vec<OsString>,
        repeated: Vec<String>,
        active_settings: ActiveSettings,
    ) -> Self {
        Self {
            subcommand: below.and_then(|(name, values)| GpubenchSubcommand::read(name, values)),
            run: RunArguments::read(run, ""),
            profiler_arguments,
            repeated,
            skip_origin: match run.layered("skip") {
                Some(_) => SkipOrigin::Lower,
                None => SkipOrigin::CommandLine,
            },
            active_settings,
        }
    }

    /// Returns when output is coloured.
    pub fn color(&self) -> Color {
        self.run.output.color()
    }

    /// Returns the requested command. `gpubench` is the described command line.
    ///
    /// # Errors
    ///
    /// As [`into_options`](Self::into_options).
    pub fn into_command(mut self, gpubench: &clap::Command) -> Result<Command, UsageError> {
        use GpubenchSubcommand as Below;
        let color = self.color();
        let Some(subcommand) = self.subcommand.take() else {
            return Ok(Command::Run(Box::new(self.into_options(gpubench)?)));
        };
        Ok(match subcommand {
            Below::Archive(arguments) => Command::Archive(Box::new(arguments.into_options(color))),
            Below::Compare(arguments) => Command::Compare(Box::new(arguments.into_options(color)?)),
            Below::Doctor(arguments) => Command::Doctor(arguments.into_options()),
            Below::New(arguments) => Command::New(arguments.into_options()),
            Below::Init(arguments) => Command::Init(arguments.into_options()),
            Below::Probe(arguments) => Command::Probe(arguments.arguments),
            Below::ShowConfig(arguments) => Command::Print(arguments.text(&self.active_settings)),
            Below::Completions(arguments) => Command::Print(arguments.text(gpubench)),
            Below::Man(arguments) => Command::Manual(arguments.into_manual(gpubench)),
            Below::Grade(arguments) => Command::Run(Box::new(arguments.into_options(
                self.active_settings.cases,
                self.repeated,
                self.profiler_arguments,
                self.active_settings.file,
            )?)),
            Below::History(arguments) => Command::History(arguments.into_options(|| self.into_options(gpubench))?),
            Below::Judge(arguments) => Command::Judge(arguments.into_options()),
            Below::Lint(arguments) => Command::Lint(Box::new(arguments.into_options(color, gpubench)?)),
            Below::Problem(arguments) => Command::Problem(Box::new(arguments.into_options(color)?)),
            Below::Report(arguments) => Command::Report(arguments.into_options()?),
        })
    }

    /// Checks the rules that clap cannot express, and returns the options of the run. `gpubench` is
    /// the described command line.
    ///
    /// # Errors
    ///
    /// An option or a combination of options is invalid.
    pub fn into_options(self, gpubench: &clap::Command) -> Result<RunOptions, UsageError> {
        let run = self.run;
        let action = action(&run);
        let observer = observer(run.sanitize, run.profile_with, run.debugger, self.profiler_arguments);
        let page = run.output.report.clone();
        let (device, measurement) = run.measurement.into_options(self.active_settings.cases);
        let mut output = run.output.into_options();
        output.records = run.resume;
        output.hides_progress |= matches!(observer, Some(ObserverChoice::Debugger(_)));
        let mut results = run.baseline.into_options(page);
        if action != Action::Measure {
            results.last_run = LastRun::Ignored;
        }
        refuse_to_overwrite(results.runs_read(), output.files().chain(results.page_file()))?;
        refuse_to_mix(&output, &results)?;
        Ok(RunOptions {
            action,
            cases: run.selection.into_selection(self.skip_origin, gpubench)?,
            libraries: match run.unpack.into_libraries() {
                Some(archived) => archived,
                None => LibrarySource::Build(run.cargo.into_options(&output)),
            },
            device,
            measurement,
            order: if run.contest {
                CaseOrder::InContests
            } else {
                CaseOrder::OneByOne
            },
            fail_fast: run.fail_fast,
            on_skip: if run.fail_on_skip { OnSkip::Fail } else { OnSkip::Show },
            nvtx: run.nvtx,
            observer,
            output,
            results,
            repeated: self.repeated,
            grading: None,
            fleet: run.fleet.into_options(self.active_settings.file),
        })
    }
}

impl FleetArguments {
    /// Returns the agents to measure with, if there are some. They have the same configuration.
    pub(super) fn into_options(self, configuration: Option<Utf8PathBuf>) -> Option<FleetOptions> {
        (!self.runner.is_empty()).then(|| FleetOptions {
            runners: self.runner,
            agents: self.agents,
            silence: self.agent_silence.duration(),
            configuration,
        })
    }
}

/// clap accepts at most one of the options.
fn action(run: &RunArguments) -> Action {
    match run.profile_time {
        Some(time) => Action::Profile(time.duration()),
        None if run.list => Action::List,
        None if run.no_run => Action::Build,
        None if run.test || run.sanitize.is_some() || run.profile_with.is_some() || run.debugger.is_some() => {
            Action::Test
        }
        None => Action::Measure,
    }
}

impl UnpackArguments {
    /// Returns the archive to run, if there is one.
    fn into_libraries(self) -> Option<LibrarySource> {
        let overwrite = self.extract_overwrite;
        let kept = self.extract_to.map(|folder| ExtractTo::Kept { folder, overwrite });
        let extract_to = kept.unwrap_or(ExtractTo::Temporary);
        self.archive_file
            .map(|archive| LibrarySource::Archive { archive, extract_to })
    }
}

#[cfg(test)]
mod tests;
