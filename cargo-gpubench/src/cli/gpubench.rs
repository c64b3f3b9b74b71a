//! `cargo gpubench`.

use clap::{Args, Subcommand};

use super::UsageError;
use super::app::described_verb;
use super::archive::ArchiveArguments;
use super::compare::CompareArguments;
use super::completions::CompletionsArguments;
use super::doctor::DoctorArguments;
use super::history::HistoryArguments;
use super::man::{ManArguments, Manual};
use super::overwriting::refuse_to_overwrite;
use super::report::ReportArguments;
use super::settings::{RunArguments, UnpackArguments};
use super::show_config::{SettingOrigins, ShowConfigArguments};
use super::standard_output::refuse_to_mix;
use crate::archive::ExtractTo;
use crate::broker::options::{Action, ArchiveOptions, LibrarySource, RunOptions};
use crate::broker::{CompareOptions, ReportOptions};
use crate::config::{Group, Read, Row, Values};
use crate::doctor::DoctorOptions;
use crate::history::TrendOptions;
use gpubench_report::Color;

/// Every option of `cargo gpubench`, settled.
#[derive(Debug, Args)]
#[command(version, display_name = "cargo-gpubench", after_help = MORE, after_long_help = EXIT_CODES)]
#[command(override_usage = "cargo gpubench [OPTIONS] [FILTERS]...\n       cargo gpubench <COMMAND>")]
pub struct GpubenchArguments {
    #[command(subcommand)]
    subcommand: Option<GpubenchSubcommand>,

    #[command(flatten)]
    run: RunArguments,

    /// What a command that runs a case again repeats.
    #[arg(skip)]
    repeated: Vec<String>,

    /// Every setting with its source.
    #[arg(skip)]
    in_force: SettingOrigins,
}

/// Declares the subcommands: the name of each, and its arguments.
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

        /// The rows of a subcommand's settings.
        pub(super) fn rows_of(subcommand: &str) -> Vec<Row> {
            match subcommand {
                $($name => <$arguments>::rows(),)+
                _ => Vec::new(),
            }
        }
    };
}

subcommands! {
    /// Build the libraries into an archive, for machines that have no cargo
    ///
    /// Builds what a run would build, and packs it into one file that
    /// `cargo-gpubench gpubench --archive-file FILE` runs on another machine of the same platform,
    /// without cargo, sources or network.
    "archive" => Archive(ArchiveArguments);

    /// Compare stored runs: what regressed, what improved, and how sure that is
    ///
    /// Each run is compared with the first: the ratio of times with its interval, and a verdict for
    /// every benchmark. Times of another device, driver or timing mode are not compared.
    "compare" => Compare(CompareArguments);

    /// Say what this machine can measure, what it cannot, and what each gap costs
    ///
    /// Looks at the compilers, the GPU's driver, its clocks and its other users, and at what the
    /// operating system offers, and changes nothing. Exits with 0 when the device can measure, else
    /// with 96.
    "doctor" => Doctor(DoctorArguments);

    /// Show the settings that a run would have, and where each comes from
    ///
    /// From the environment, from the profile, or built in; the command line would count before all
    /// of them.
    "show-config" => ShowConfig(ShowConfigArguments);

    /// Print a script that lets a shell complete `cargo gpubench`
    ///
    /// For bash, load it in `~/.bashrc`: `source <(cargo gpubench completions bash)`.
    "completions" => Completions(CompletionsArguments);

    /// Print the manual page, or write all pages to a folder
    "man" => Man(ManArguments);

    /// Show how the times of benchmarks went from run to run
    ///
    /// Shows what runs with `--history` added, a plot for each case and device, with the largest
    /// jumps and the revisions they are at.
    "history" => History(HistoryArguments);

    /// Write a page about a stored run: distributions, roofline, comparisons, history
    ///
    /// The page is one file that needs no network and no script: it can be mailed, archived or
    /// shown by a CI server.
    "report" => Report(ReportArguments);
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

const MORE: &str =
    "FILTERS are regular expressions for the names of cases. `--help` shows every option, with examples.";

const EXIT_CODES: &str = "\
Exit codes: 0 fine, 1 internal error, 2 usage, 3 a regression against a baseline, 4 nothing selected, 6 too little could be judged (--fail-on-inconclusive), 92 the configuration needs a newer tool, 96 a device or compiler is missing, \
100 a benchmark failed, 101 a build failed, 102 cargo metadata failed, 103 an archive could not be made or used, 104 listing failed, \
110 output could not be written, 130 interrupted";

impl GpubenchArguments {
    /// Reads the values of a run, and those of the subcommand that was asked for.
    pub(super) fn of(
        run: &Values<'_>,
        below: Option<&(&str, Values<'_>)>,
        repeated: Vec<String>,
        in_force: SettingOrigins,
    ) -> Self {
        Self {
            subcommand: below.and_then(|(name, values)| GpubenchSubcommand::read(name, values)),
            run: RunArguments::read(run, ""),
            repeated,
            in_force,
        }
    }

    /// Whether output is coloured.
    pub fn color(&self) -> Color {
        self.run.output.color()
    }

    /// What the command line asks for.
    ///
    /// # Errors
    ///
    /// As [`into_options`](Self::into_options).
    pub fn into_command(mut self) -> Result<Command, UsageError> {
        use GpubenchSubcommand as Below;
        let color = self.color();
        let Some(subcommand) = self.subcommand.take() else {
            return Ok(Command::Run(Box::new(self.into_options()?)));
        };
        Ok(match subcommand {
            Below::Archive(arguments) => Command::Archive(Box::new(arguments.into_options(color))),
            Below::Compare(arguments) => Command::Compare(Box::new(arguments.into_options(color)?)),
            Below::Doctor(arguments) => Command::Doctor(arguments.into_options()),
            Below::ShowConfig(arguments) => Command::Print("the configuration", arguments.text(&self.in_force)),
            Below::Completions(arguments) => Command::Print("the script", arguments.text(&described_verb())),
            Below::Man(arguments) => arguments.into_command(&described_verb()),
            Below::History(arguments) => Command::History(arguments.into_options()?),
            Below::Report(arguments) => Command::Report(arguments.into_options()?),
        })
    }

    /// Checks what concerns several options at once, and says what a run is to do.
    ///
    /// # Errors
    ///
    /// Options that make no sense, by themselves or together.
    pub fn into_options(self) -> Result<RunOptions, UsageError> {
        let run = self.run;
        let action = action(&run);
        let page = run.output.report.clone();
        let (device, measurement) = run.measurement.into_options(self.in_force.cases);
        let output = run.output.into_options();
        let results = run.baseline.into_options(page);
        refuse_to_overwrite(results.runs_read(), output.files().chain(results.page_file()))?;
        refuse_to_mix(&output, results.page.as_ref())?;
        Ok(RunOptions {
            action,
            cases: run.selection.into_selection()?,
            libraries: match run.unpack.into_libraries() {
                Some(archived) => archived,
                None => LibrarySource::Build(run.cargo.into_options(&output)),
            },
            device,
            measurement,
            fail_fast: run.fail_fast,
            nvtx: run.nvtx,
            output,
            results,
            repeated: self.repeated,
        })
    }
}

/// clap admits at most one of them.
fn action(run: &RunArguments) -> Action {
    match run.profile_time {
        Some(time) => Action::Profile(time.duration()),
        None if run.list => Action::List,
        None if run.no_run => Action::Build,
        None if run.test => Action::Test,
        None => Action::Measure,
    }
}

impl UnpackArguments {
    /// The archive to run from, if there is one.
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
