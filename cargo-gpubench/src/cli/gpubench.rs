//! `cargo gpubench`.
#![forbid(unsafe_code)]

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
    /// Each name is one that `--exact` accepts. With several packages it has the package in front.
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
    #[arg(long, help_heading = HEADING, conflicts_with_all = ["list", "no_run", "profile_time", "save_baseline", "baseline", "baseline_lenient", "against", "history", "report"])]
    test: bool,

    /// Call every case again and again for this long, for a profiler that the command runs under
    ///
    /// Seconds, or a time with a unit. Every call is checked; nothing is analysed, saved or compared. Choose the case to be looked at with a filter; with `--nvtx` the
    /// profiler knows its calls by name.
    #[arg(long, value_name = "TIME", help_heading = HEADING, conflicts_with_all = ["list", "no_run", "save_baseline", "baseline", "baseline_lenient", "against", "history", "report"])]
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
Exit codes: 0 fine, 1 internal error, 2 usage, 3 a regression against a baseline, 4 nothing selected, 92 the configuration needs a newer tool, 96 a device or compiler is missing, \
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
        } = self;
        let (device, measurement) = measurement.into_options();
        let color = color(output.color, env::var("CARGO_TERM_COLOR").ok().as_deref());
        let page = output.report.clone().map(|ReportArgument(target)| target);
        let output = output.into_options(color);
        let results = baseline.into_options(page);
        refuse_to_overwrite(results.runs_read(), output.files().chain(results.page_file()))?;
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
mod tests {
    use std::time::Duration;

    use gpubench::catalog::DeviceKind;

    use super::*;
    use crate::{
        archive::{ExtractTo, Occupied},
        broker::{
            cases::{IgnoredSelection, NameFilter},
            options::{
                ArchivedLibraries, CaseOptions, DeviceChoice, ExportFormat, MasterSeed, MessageFormat, UserOutput,
                Verbosity,
            },
        },
        build::{BuildOptions, CargoColor, CargoProgress, DefaultFeatures, PackageSelection, Profile},
        cli::{Environment, Unsettled, Verb, settle},
        device::cuda::Architecture,
        report::Color,
    };

    fn parse(arguments: &[&str]) -> Result<GpubenchArguments, Unsettled> {
        let all = ["cargo-gpubench", "gpubench"].iter().chain(arguments);
        let all: Vec<_> = all.map(Into::into).collect();
        match settle(&all, &Environment::default(), &|_| None)?.verb {
            Verb::Gpubench(arguments) => Ok(*arguments),
            other => panic!("another verb: {other:?}"),
        }
    }

    fn options(arguments: &[&str]) -> RunOptions {
        parse(arguments).expect("arguments").into_options().expect("options")
    }

    fn build(options: &RunOptions) -> &BuildOptions {
        match &options.libraries {
            LibrarySource::Build(build) => build,
            LibrarySource::Archive(archived) => panic!("an archive: {archived:?}"),
        }
    }

    fn refusal(arguments: &[&str]) -> String {
        match parse(arguments) {
            Err(Unsettled::CommandLine(error)) => {
                assert_eq!(error.exit_code(), 2);
                error.to_string()
            }
            Err(Unsettled::Expected(error)) => crate::error::chain(&error),
            Ok(arguments) => arguments.into_command().expect_err("a refusal").to_string(),
        }
    }

    #[test]
    fn the_defaults_are_those_of_the_design() {
        let options = options(&[]);
        assert_eq!(options.action, Action::Measure);
        assert_eq!(options.device.choice, DeviceChoice::Auto);
        assert_eq!(options.measurement.seed, MasterSeed::Fresh);
        assert_eq!(options.measurement.flush_bytes, None);
        let CaseOptions {
            workers,
            stopping,
            limits,
        } = options.measurement.everywhere();
        assert_eq!(workers.get(), 5);
        assert_eq!(
            (stopping.target_cv, stopping.min_samples, stopping.max_samples),
            (0.01, 20, 1000)
        );
        assert_eq!(stopping.max_time, Duration::from_secs(2));
        assert_eq!(
            (limits.window, limits.reference),
            (Duration::from_secs(10), Duration::from_secs(60))
        );
        assert!(matches!(build(&options).packages, PackageSelection::Default));
        assert_eq!(build(&options).compilation.profile, Profile::Gpubench);
    }

    #[test]
    fn what_is_given_arrives() {
        let options = options(&[
            "grayscale",
            "softmax",
            "--skip",
            "slow",
            "--include-ignored",
            "--axis",
            "width=1,2",
            "--device",
            "cpu",
            "--threads",
            "2",
            "--seed",
            "0xff",
            "--timeout",
            "500ms",
            "--reference-timeout",
            "1min",
            "--workers",
            "3",
            "--target-cv",
            "0.5",
            "--min-samples",
            "5",
            "--max-samples",
            "6",
            "--max-time",
            "3s",
            "--flush-bytes",
            "1MiB",
            "--fail-fast",
            "--message-format",
            "json",
            "--color",
            "never",
            "-q",
            "--export-csv",
            "a.csv",
            "--export-json",
            "a.json",
            "--no-capture",
            "-F",
            "a,b",
            "--no-default-features",
            "--workspace",
            "--exclude",
            "x",
            "--cargo-profile",
            "release",
            "-j",
            "3",
            "--locked",
            "--offline",
        ]);
        assert!(
            matches!(&options.cases.names, NameFilter::Search { filters, skip } if filters.len() == 2 && skip.len() == 1)
        );
        assert_eq!(options.cases.ignored, IgnoredSelection::Include);
        assert_eq!(options.cases.axes.len(), 1);
        assert_eq!(options.device.choice, DeviceChoice::Kind(DeviceKind::Cpu));
        assert_eq!(options.device.threads.map(|threads| threads.get()), Some(2));
        let mut seed = [0; 32];
        seed[31] = 0xff;
        assert_eq!(options.measurement.seed, MasterSeed::Pinned(seed));
        let CaseOptions {
            workers,
            stopping,
            limits,
        } = options.measurement.everywhere();
        assert_eq!(workers.get(), 3);
        assert_eq!(limits.window, Duration::from_millis(500));
        assert_eq!(limits.reference, Duration::from_secs(60));
        assert_eq!(stopping.target_cv, 0.005);
        assert_eq!(options.measurement.flush_bytes, Some(1 << 20));
        assert_eq!(options.after_failure, AfterFailure::Stop);
        assert_eq!(options.output.format, MessageFormat::Json);
        assert_eq!(options.output.verbosity, Verbosity::Quiet);
        assert_eq!(options.output.user_output, UserOutput::Shown);
        let formats: Vec<_> = options.output.exports.iter().map(|export| export.format).collect();
        assert_eq!(formats, [ExportFormat::Json, ExportFormat::Csv]);
        assert_eq!(build(&options).features.features, ["a", "b"]);
        assert_eq!(build(&options).features.default_features, DefaultFeatures::None);
        assert!(matches!(&build(&options).packages, PackageSelection::Workspace { exclude } if exclude.len() == 1));
        assert_eq!(
            build(&options).compilation.profile,
            Profile::Named("release".to_owned())
        );
        assert_eq!(build(&options).compilation.jobs.as_deref(), Some("3"));
        assert_eq!(build(&options).manifest.lock_flags, ["--locked", "--offline"]);
        assert_eq!(build(&options).output.color, CargoColor::Never);
        assert_eq!(build(&options).output.progress, CargoProgress::Quiet);
    }

    #[test]
    fn values_out_of_range_are_refused_with_a_reason() {
        for (arguments, reason) in [
            (&["--target-cv", "0"][..], "above 0"),
            (&["--target-cv=-1"], "above 0"),
            (&["--target-cv", "200"], "at most 100"),
            (&["--min-samples", "0"], "from 1 to"),
            (&["--workers", "0"], "from 1 to 64"),
            (&["--workers", "65"], "from 1 to 64"),
            (&["--threads", "0"], "1..=1024"),
            (&["--threads", "1025"], "1..=1024"),
            (&["--flush", "sideways"], "possible values"),
            (&["--seed", "xyz"], "hex"),
            (&["--timeout", "0s"], "longer than nothing"),
            (&["--flush-bytes", "8XB"], "unit"),
            (&["--axis", "width"], "name=value"),
            (&["--device", "tpu"], "none of `auto`, `cpu`, `cuda`"),
            (&["--package", "a@b"], "version"),
            (&["--cargo-profile", "test"], "no library"),
            (&["--exclude", "a"], "--workspace"),
            (&["--list", "--no-run"], "cannot be used with"),
            (&["--test", "--list"], "cannot be used with"),
            (&["--test", "--baseline", "main"], "cannot be used with"),
            (&["--test", "--against", "main"], "cannot be used with"),
            (&["--profile-time", "1", "--history"], "cannot be used with"),
            (&["--test", "--profile-time", "1"], "cannot be used with"),
            (&["--test", "--report", "html"], "cannot be used with"),
            (
                &["--load-baseline", "a", "--partition", "hash:1/2"],
                "cannot be used with",
            ),
            (&["--baseline", "a.json", "--export-json", "a.json"], "`a.json` is read"),
            (
                &["--load-baseline", "a.jsonl", "--report", "html=a.jsonl"],
                "`a.jsonl` is read",
            ),
            (&["report", "a.json", "--output", "a.json"], "`a.json` is read"),
            (
                &["report", "a", "--compare", "b.json", "-o", "b.json"],
                "`b.json` is read",
            ),
            (&["--profile-time", "0"], "longer than nothing"),
            (&["--ignored", "--include-ignored"], "cannot be used with"),
            (&["-q", "-v"], "cannot be used with"),
            (&["--build-jobs", "0"], "jobs"),
            (&["--archive-file", "a", "--package", "x"], "cannot be used with"),
            (&["--archive-file", "a", "--offline"], "cannot be used with"),
            (
                &["--archive-file", "a", "--cargo-profile", "gpubench"],
                "cannot be used with",
            ),
            (&["--archive-file", "a", "--no-run"], "cannot be used with"),
            (&["--extract-to", "a"], "--archive-file"),
            (&["--archive-file", "a", "--extract-overwrite"], "--extract-to"),
            (&["archive"], "--archive-file"),
            (&["archive", "--archive-file", "a", "--gpu-arch", "hopper"], "sm_90"),
            (&["archive", "--archive-file", "a", "--list"], "--list"),
        ] {
            let text = refusal(arguments);
            assert!(text.contains(reason), "{arguments:?}: {text}");
        }
    }

    #[test]
    fn samples_must_be_possible() {
        let text = refusal(&["--min-samples", "30", "--max-samples", "20"]);
        assert_eq!(text, "`--min-samples 30` is more than `--max-samples 20`");
    }

    #[test]
    fn a_filter_is_a_regex_unless_it_is_exact() {
        assert_eq!(
            refusal(&["reduce<("]),
            "the filter `reduce<(` is not a regular expression"
        );
        assert_eq!(refusal(&["--skip", "["]), "the filter `[` is not a regular expression");
        let options = options(&["--exact", "reduce<("]);
        assert!(matches!(&options.cases.names, NameFilter::Exact { filters, .. } if filters == &["reduce<("]));
    }

    #[test]
    fn a_run_from_an_archive_builds_nothing() {
        let libraries = |arguments| match options(arguments).libraries {
            LibrarySource::Archive(archived) => archived,
            LibrarySource::Build(build) => panic!("a build: {build:?}"),
        };
        let archive = || "a.tar.gz".into();
        assert_eq!(
            libraries(&["--archive-file", "a.tar.gz", "grayscale"]),
            ArchivedLibraries {
                archive: archive(),
                extract_to: ExtractTo::Temporary
            }
        );
        assert_eq!(
            libraries(&["--archive-file", "a.tar.gz", "--extract-to", "x", "--extract-overwrite"]),
            ArchivedLibraries {
                archive: archive(),
                extract_to: ExtractTo::Kept {
                    folder: "x".into(),
                    occupied: Occupied::Overwritten
                }
            }
        );
    }

    #[test]
    fn an_archive_is_made_of_what_a_run_would_build() {
        let arguments = parse(&[
            "archive",
            "--archive-file",
            "a.tar.gz",
            "--gpu-arch",
            "sm_90",
            "--gpu-arch",
            "8.0",
            "-p",
            "x",
            "--locked",
            "-q",
        ]);
        match arguments.expect("arguments").into_command().expect("a command") {
            Command::Archive(options) => {
                assert_eq!(options.archive, "a.tar.gz");
                assert_eq!(options.architectures, [90, 80].map(Architecture::of_capability));
                assert!(matches!(&options.build.packages, PackageSelection::Named(names) if names.len() == 1));
                assert_eq!(options.build.manifest.lock_flags, ["--locked"]);
                assert_eq!(options.output.verbosity, Verbosity::Quiet);
            }
            other => panic!("no archive: {other:?}"),
        }
    }

    #[test]
    fn a_doctor_is_asked_about_a_device() {
        let arguments = parse(&[
            "doctor",
            "--device",
            "cuda:1",
            "--message-format",
            "json",
            "--color",
            "never",
        ]);
        match arguments.expect("arguments").into_command().expect("a command") {
            Command::Doctor(options) => {
                assert_eq!(
                    (options.device.choice, options.device.ordinal),
                    (DeviceChoice::Kind(DeviceKind::Cuda), 1)
                );
                assert_eq!((options.format, options.color), (MessageFormat::Json, Color::Never));
            }
            other => panic!("no doctor: {other:?}"),
        }
    }

    #[test]
    fn a_filter_may_be_called_like_a_subcommand() {
        for arguments in [&["--", "archive"][..], &["other", "archive"]] {
            assert!(
                matches!(options(arguments).cases.names, NameFilter::Search { .. }),
                "{arguments:?}"
            );
        }
    }

    #[test]
    fn the_only_filter_may_be_a_misspelt_subcommand() {
        let subcommand = |arguments: &[&str]| options(arguments).cases.subcommand;
        assert_eq!(subcommand(&["comapre"]).as_deref(), Some("compare"));
        assert_eq!(subcommand(&["grayscale"]), None);
        assert_eq!(subcommand(&["comapre", "other"]), None);
    }

    #[test]
    fn help_is_a_subcommand_too() {
        let help = |arguments: &[&str]| match parse(arguments) {
            Err(Unsettled::CommandLine(error)) if error.exit_code() == 0 => error.to_string(),
            other => panic!("no help: {other:?}"),
        };
        let of_compare = help(&["help", "compare"]);
        assert!(of_compare.contains("Compare stored runs"), "{of_compare}");
        assert!(help(&["help"]).contains("Benchmark GPU kernels"));
    }

    #[test]
    fn a_run_measures_checks_or_serves_a_profiler() {
        assert_eq!(options(&[]).action, Action::Measure);
        assert_eq!(options(&["--test"]).action, Action::Test);
        assert_eq!(
            options(&["--profile-time", "5"]).action,
            Action::Profile(Duration::from_secs(5))
        );
    }

    #[test]
    fn what_cargo_bench_is_given_by_habit_changes_nothing() {
        let options = options(&["--bench", "--show-output", "--noplot", "--nocapture", "add1"]);
        assert_eq!(options.action, Action::Measure);
        assert_eq!(options.output.user_output, UserOutput::Shown);
    }

    #[test]
    fn filters_may_stand_behind_two_dashes() {
        assert!(
            matches!(options(&["--", "--odd"]).cases.names, NameFilter::Search { filters, .. } if filters.len() == 1)
        );
    }
}
