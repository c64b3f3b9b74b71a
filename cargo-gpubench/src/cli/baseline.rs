//! Options that say what results are compared with, and where they are kept.

use camino::Utf8PathBuf;
use clap::{Args, ValueHint};

use super::judging::JudgingArguments;
use crate::broker::options::{
    BaselineOptions, HistoryOptions, Newcomers, OpponentSource, PageTarget, Recording, ResultOptions, ResultSource,
};
use crate::config::Fraction;
use gpubench_store::RunName;

const HEADING: &str = "Baseline options";

#[derive(Debug, Args)]
#[command(next_help_heading = HEADING)]
pub(super) struct BaselineArguments {
    /// Save the results under this name
    ///
    /// A name, such as `main`, is a baseline in the target directory; with a path separator, or where it ends in `.json`, it is a file.
    /// What is there is replaced when the run has come to its end; results of benchmarks that were not selected stay in it as they were.
    #[arg(short, long, value_name = "NAME")]
    save_baseline: Option<RunName>,

    /// Compare the results with those saved under this name
    ///
    /// A regression makes the command exit with 3. A selected benchmark that the baseline lacks is an error before anything is measured.
    #[arg(
        short,
        long,
        visible_alias = "compare",
        value_name = "NAME",
        conflicts_with = "baseline_lenient"
    )]
    baseline: Option<RunName>,

    /// Like `--baseline`, and benchmarks that the baseline lacks are listed as new
    #[arg(long, value_name = "NAME")]
    baseline_lenient: Option<RunName>,

    /// Measure nothing, and take the results saved under this name instead
    ///
    /// With `--baseline` they are compared; filters choose among them.
    #[arg(
        long,
        value_name = "NAME",
        conflicts_with_all = ["list", "no_run", "test", "profile_time", "archive_file", "axis", "ignored", "partition"]
    )]
    load_baseline: Option<RunName>,

    /// Measure in turns with another revision of the sources, and compare with that
    ///
    /// A branch, a tag or a hash: `cargo gpubench --against main`. The revision is checked out below the target directory and built as the sources here are; the windows of the two then take
    /// turns on the device, so that drift hits both alike. What is not committed is part of the sources here. A regression makes the command exit with 3. Where five rounds do not decide
    /// a case there are up to 20, unless `--workers` says how many.
    #[arg(
        long,
        value_name = "GIT-REV",
        conflicts_with_all = ["baseline", "baseline_lenient", "load_baseline", "archive_file", "list", "no_run"]
    )]
    against: Option<String>,

    /// Measure in turns with what is in this archive, and compare with that
    ///
    /// As `--against`, for machines without sources: `cargo-gpubench gpubench --archive-file new.tar.gz --against-archive old.tar.gz`. Without `--archive-file` the sources here are built and
    /// compared with the archive. It is unpacked to a temporary folder. A regression makes the command exit with 3.
    #[arg(
        long,
        value_name = "FILE",
        value_hint = ValueHint::FilePath,
        conflicts_with_all = ["against", "baseline", "baseline_lenient", "load_baseline", "list", "no_run"]
    )]
    against_archive: Option<Utf8PathBuf>,

    /// Keep nothing of this run: no baseline, no history
    ///
    /// It overrides what the environment and the configuration say.
    #[arg(long)]
    discard_baseline: bool,

    #[command(flatten)]
    judging: JudgingArguments,

    /// Add the medians of this run to the history of the device
    ///
    /// `cargo gpubench history` shows it. From ten runs on, comparisons take their noise threshold from it.
    #[arg(long)]
    history: bool,

    /// Keep histories in this folder instead of the target directory
    #[arg(long, value_name = "DIRECTORY", value_hint = ValueHint::DirPath)]
    history_dir: Option<Utf8PathBuf>,
}

impl BaselineArguments {
    pub(super) fn noise_threshold(&self) -> Fraction {
        self.judging.change.noise_threshold
    }

    pub(super) fn into_options(self, page: Option<PageTarget>) -> ResultOptions {
        let Self {
            save_baseline,
            baseline,
            baseline_lenient,
            load_baseline,
            against,
            against_archive,
            discard_baseline,
            judging,
            history,
            history_dir,
        } = self;
        let strict = baseline.map(|name| BaselineOptions {
            name,
            newcomers: Newcomers::Refused,
        });
        let lenient = baseline_lenient.map(|name| BaselineOptions {
            name,
            newcomers: Newcomers::Listed,
        });
        ResultOptions {
            source: load_baseline.map_or(ResultSource::Measured, ResultSource::Loaded),
            baseline: strict.or(lenient),
            against: against
                .map(OpponentSource::Revision)
                .or(against_archive.map(OpponentSource::Archive)),
            save: save_baseline.filter(|_| !discard_baseline),
            judging: judging.into_options(),
            history: HistoryOptions {
                recording: if history && !discard_baseline {
                    Recording::On
                } else {
                    Recording::Off
                },
                folder: history_dir,
            },
            page,
        }
    }
}
