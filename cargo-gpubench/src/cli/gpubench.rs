//! `cargo gpubench`.

use std::env;

use clap::{Args, Subcommand};

use super::{
    UsageError,
    app::described_verb,
    archive::ArchiveArguments,
    baseline::BaselineArguments,
    cargo::CargoArguments,
    compare::CompareArguments,
    completions::CompletionsArguments,
    configuration::ConfigurationArguments,
    doctor::DoctorArguments,
    habit::HabitArguments,
    history::HistoryArguments,
    man::{ManArguments, Manual},
    measurement::MeasurementArguments,
    output::{OutputArguments, color},
    overwriting::refuse_to_overwrite,
    profile_time::ProfileTime,
    report::{ReportArgument, ReportArguments},
    selection::SelectionArguments,
    show_config::{InForce, ShowConfigArguments},
    standard_output::refuse_to_mix,
    unpack::UnpackArguments,
};
use crate::broker::options::{Action, AfterFailure, Annotations, ArchiveOptions, LibrarySource, RunOptions};
use crate::broker::{CompareOptions, ReportOptions};
use crate::config::{CaseLayers, CaseSettings};
use crate::doctor::DoctorOptions;
use crate::history::TrendOptions;

const HEADING: &str = "Run options";

/// Every option of `cargo gpubench`.
#[derive(Debug, Args)]
#[command(version, display_name = "cargo-gpubench", after_help = EXIT_CODES)]
#[command(args_conflicts_with_subcommands = true)]
pub struct GpubenchArguments {
    #[command(subcommand)]
    subcommand: Option<GpubenchSubcommand>,

    #[command(flatten)]
    selection: SelectionArguments,

    /// Print the names of the selected cases, one a line, and run nothing
    ///
    /// Each name is one that `--exact` accepts. With several packages it has the package in front. With `--message-format json` it is a record a case, `benchmark-listed`.
    #[arg(long, help_heading = HEADING, conflicts_with = "no_run")]
    list: bool,

    /// Build the libraries and run nothing
    ///
    /// For machines that build for others, and to see whether everything compiles.
    #[arg(long, help_heading = HEADING)]
    no_run: bool,

    /// Call every case once and check it, without measuring
    ///
    /// One fresh process and one call a case, with fresh inputs: every element of every output is compared, and that all of it is there when the call has
    /// ended. Results have a verdict and no times, and are neither saved nor compared.
    #[arg(long, help_heading = HEADING, conflicts_with_all = ["list", "no_run", "profile_time", "save_baseline", "baseline", "baseline_lenient", "against", "against_archive", "history", "report"])]
    test: bool,

    /// Call every case again and again for this long, for a profiler that the command runs under
    ///
    /// Seconds, or a time with a unit. Every call is checked; nothing is analysed, saved or compared. Choose the case to be looked at with a filter; with `--nvtx` the
    /// profiler knows its calls by name.
    #[arg(long, value_name = "TIME", help_heading = HEADING, conflicts_with_all = ["list", "no_run", "save_baseline", "baseline", "baseline_lenient", "against", "against_archive", "history", "report"])]
    profile_time: Option<ProfileTime>,

    /// Stop after the first benchmark that fails
    ///
    /// Without it the others still run. Either way the command exits with 100.
    #[arg(long, help_heading = HEADING)]
    fail_fast: bool,

    /// Go on after a benchmark has failed, whatever the profile says
    #[arg(long, help_heading = HEADING, conflicts_with = "fail_fast")]
    no_fail_fast: bool,

    /// Mark every window as an NVTX range, for a profiler that the command runs under
    ///
    /// `nsys profile --trace=cuda,nvtx cargo gpubench --nvtx …` shows which kernels belong to which case and window. A profiler slows calls down.
    #[arg(long, help_heading = HEADING)]
    nvtx: bool,

    #[command(flatten)]
    habits: HabitArguments,

    #[command(flatten)]
    measurement: MeasurementArguments,

    #[command(flatten)]
    baseline: BaselineArguments,

    #[command(flatten)]
    output: OutputArguments,

    #[command(flatten)]
    unpack: UnpackArguments,

    #[command(flatten)]
    configuration: ConfigurationArguments,

    #[command(flatten)]
    cargo: CargoArguments,

    /// What a command that runs a case again repeats; known only when everything that speaks of it has been heard.
    #[arg(skip)]
    repeated: Vec<String>,
}

#[derive(Debug, Subcommand)]
enum GpubenchSubcommand {
    /// Build the libraries into an archive, for machines that have no cargo
    ///
    /// Builds what a run would build, and packs it into one file that `cargo-gpubench gpubench --archive-file FILE` runs on another machine
    /// of the same platform, without cargo, sources or network.
    Archive(Box<ArchiveArguments>),
    /// Compare stored runs: what regressed, what improved, and how sure that is
    ///
    /// Each run is compared with the first: the ratio of medians with its interval, and a verdict for every benchmark. Times of another device, driver or timing mode are not compared.
    Compare(Box<CompareArguments>),
    /// Say what this machine can measure, what it cannot, and what each gap costs
    ///
    /// Looks at the compilers, the GPU's driver, its clocks and its other users, and at what the operating system offers, and changes nothing. Exits with 0 when
    /// the device can measure, else with 96.
    Doctor(DoctorArguments),
    /// Show the settings that a run would have, and where each comes from
    ///
    /// From the environment, from the profile, or built in; the command line would count before all of them.
    ShowConfig(ShowConfigArguments),
    /// Print a script that lets a shell complete `cargo gpubench`
    ///
    /// For bash, load it in `~/.bashrc`: `source <(cargo gpubench completions bash)`.
    Completions(CompletionsArguments),
    /// Print the manual page, or write all pages to a folder
    Man(ManArguments),
    /// Plot how the medians of benchmarks went from run to run
    ///
    /// Shows what runs with `--history` added, a plot for each case and device, with the largest jumps and the revisions they are at.
    History(HistoryArguments),
    /// Write a page about a stored run: distributions, roofline, comparisons, history
    ///
    /// The page is one file that needs no network and no script: it can be mailed, archived or shown by a CI server.
    Report(ReportArguments),
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
    /// A look at the machine.
    Doctor(DoctorOptions),
    /// A text for standard output, and what it is.
    Print(&'static str, String),
    /// Manual pages.
    Manual(Manual),
    /// A look at past runs.
    History(TrendOptions),
    /// A page about stored runs.
    Report(ReportOptions),
}

const EXIT_CODES: &str = "\
Exit codes: 0 fine, 1 internal error, 2 usage, 3 a regression against a baseline, 4 nothing selected, 6 too little could be judged (--fail-on-inconclusive), 92 the configuration needs a newer tool, 96 a device or compiler is missing, \
100 a benchmark failed, 101 a build failed, 102 cargo metadata failed, 103 an archive could not be made or used, 104 listing failed, \
110 output could not be written, 130 interrupted";

impl GpubenchArguments {
    /// Every setting of cases, wherever its value comes from.
    pub(super) fn case_settings(&self) -> CaseSettings {
        CaseSettings {
            noise_threshold: Some(self.baseline.noise_threshold()),
            ..self.measurement.case.settings()
        }
    }

    /// Takes what is in force, where that is to be shown.
    pub(super) fn show(&mut self, in_force: InForce) {
        if let Some(GpubenchSubcommand::ShowConfig(arguments)) = &mut self.subcommand {
            arguments.in_force = in_force;
        }
    }

    /// Says which settings hold for which cases.
    pub(super) fn set_case_layers(&mut self, cases: CaseLayers) {
        self.measurement.cases = cases;
    }

    /// Says what a command that runs a case again repeats.
    pub(super) fn set_repeated(&mut self, words: Vec<String>) {
        self.repeated = words;
    }

    /// What the command line asks for.
    ///
    /// # Errors
    ///
    /// As [`into_options`](Self::into_options).
    pub fn into_command(mut self) -> Result<Command, UsageError> {
        Ok(match self.subcommand.take() {
            Some(GpubenchSubcommand::Archive(arguments)) => Command::Archive(Box::new(arguments.into_options())),
            Some(GpubenchSubcommand::Compare(arguments)) => Command::Compare(Box::new(arguments.into_options()?)),
            Some(GpubenchSubcommand::Doctor(arguments)) => Command::Doctor(arguments.into_options()),
            Some(GpubenchSubcommand::ShowConfig(arguments)) => Command::Print("the configuration", arguments.text()),
            Some(GpubenchSubcommand::Completions(arguments)) => {
                Command::Print("the script", arguments.script(&described_verb()))
            }
            Some(GpubenchSubcommand::Man(arguments)) => Command::Manual(arguments.into_manual(&described_verb())),
            Some(GpubenchSubcommand::History(arguments)) => Command::History(arguments.into_options()?),
            Some(GpubenchSubcommand::Report(arguments)) => Command::Report(arguments.into_options()?),
            None => Command::Run(Box::new(self.into_options()?)),
        })
    }

    /// Checks what concerns several options at once, and says what a run is to do.
    ///
    /// # Errors
    ///
    /// Options that make no sense, by themselves or together.
    pub fn into_options(self) -> Result<RunOptions, UsageError> {
        let Self {
            subcommand: _,
            selection,
            list,
            no_run,
            test,
            profile_time,
            fail_fast,
            no_fail_fast: _,
            habits: _,
            nvtx,
            measurement,
            baseline,
            output,
            unpack,
            configuration: _,
            cargo,
            repeated,
        } = self;
        let (device, measurement) = measurement.into_options();
        let color = color(output.color, env::var("CARGO_TERM_COLOR").ok().as_deref());
        let page = output.report.clone().map(|ReportArgument(target)| target);
        let output = output.into_options(color);
        let results = baseline.into_options(page);
        refuse_to_overwrite(results.runs_read(), output.files().chain(results.page_file()))?;
        refuse_to_mix(&output, results.page.as_ref())?;
        Ok(RunOptions {
            action: match profile_time {
                Some(time) => Action::Profile(time.duration()),
                None => action(list, no_run, test),
            },
            cases: selection.into_selection()?,
            libraries: match unpack.into_libraries() {
                Some(archived) => LibrarySource::Archive(archived),
                None => LibrarySource::Build(cargo.into_options(&output)),
            },
            device,
            measurement,
            after_failure: if fail_fast {
                AfterFailure::Stop
            } else {
                AfterFailure::Continue
            },
            annotations: if nvtx { Annotations::Nvtx } else { Annotations::None },
            output,
            results,
            repeated,
        })
    }
}

/// clap admits at most one of them.
fn action(list: bool, no_run: bool, test: bool) -> Action {
    match (list, no_run, test) {
        (true, _, _) => Action::List,
        (_, true, _) => Action::Build,
        (_, _, true) => Action::Test,
        _ => Action::Measure,
    }
}

#[cfg(test)]
mod tests;
