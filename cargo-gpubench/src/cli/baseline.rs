//! Options that say what results are compared with, and where they are kept.
#![forbid(unsafe_code)]

use camino::Utf8PathBuf;
use clap::{Args, builder::FalseyValueParser};

use super::fraction::Fraction;
use crate::broker::options::{
    BaselineOptions, HistoryOptions, JudgingOptions, Newcomers, OnRegression, Recording, ResultOptions, ResultSource,
};
use crate::store::RunName;

const HEADING: &str = "Baseline options";

#[derive(Debug, Args)]
#[command(next_help_heading = HEADING)]
pub(super) struct BaselineArguments {
    /// Save the results under this name
    ///
    /// A name, such as `main`, is a baseline in the target directory; with a path separator, or where it ends in `.json`, it is a file.
    /// What is there is replaced when the run has come to its end.
    #[arg(short, long, value_name = "NAME", env = "GPUBENCH_SAVE_BASELINE")]
    save_baseline: Option<RunName>,

    /// Compare the results with those saved under this name
    ///
    /// A regression makes the command exit with 3. A selected benchmark that the baseline lacks is an error before anything is measured.
    #[arg(
        short,
        long,
        visible_alias = "compare",
        value_name = "NAME",
        env = "GPUBENCH_BASELINE",
        conflicts_with = "baseline_lenient"
    )]
    baseline: Option<RunName>,

    /// Like `--baseline`, and benchmarks that the baseline lacks are listed as new
    #[arg(long, value_name = "NAME", env = "GPUBENCH_BASELINE_LENIENT")]
    baseline_lenient: Option<RunName>,

    /// Measure nothing, and take the results saved under this name instead
    ///
    /// With `--baseline` they are compared; filters choose among them.
    #[arg(long, value_name = "NAME", env = "GPUBENCH_LOAD_BASELINE", conflicts_with_all = ["list", "no_run", "archive_file"])]
    load_baseline: Option<RunName>,

    /// Keep nothing of this run: no baseline, no history
    ///
    /// It overrides what the environment and the configuration say.
    #[arg(long, env = "GPUBENCH_DISCARD_BASELINE", value_parser = FalseyValueParser::new())]
    discard_baseline: bool,

    /// Take changes below this for noise: `2%`, `0.02`
    ///
    /// Where the history of the device has ten runs and shows more noise, that counts.
    #[arg(long, value_name = "PERCENT", env = "GPUBENCH_NOISE_THRESHOLD", default_value = "1%")]
    noise_threshold: Fraction,

    /// How sure the intervals of a comparison are: `99%`, `0.99`
    #[arg(
        long,
        value_name = "PERCENT",
        env = "GPUBENCH_CONFIDENCE_LEVEL",
        default_value = "99%"
    )]
    confidence_level: Fraction,

    /// Exit with 0 even where a comparison finds a regression
    #[arg(long, env = "GPUBENCH_NO_FAIL_ON_REGRESSION", value_parser = FalseyValueParser::new())]
    no_fail_on_regression: bool,

    /// Add the medians of this run to the history of the device
    ///
    /// `cargo gpubench history` shows it. From ten runs on, comparisons take their noise threshold from it.
    #[arg(long, env = "GPUBENCH_HISTORY", value_parser = FalseyValueParser::new())]
    history: bool,

    /// Keep histories in this folder instead of the target directory
    #[arg(long, value_name = "DIRECTORY", env = "GPUBENCH_HISTORY_DIR")]
    history_dir: Option<Utf8PathBuf>,
}

impl BaselineArguments {
    pub(super) fn into_options(self) -> ResultOptions {
        let Self {
            save_baseline,
            baseline,
            baseline_lenient,
            load_baseline,
            discard_baseline,
            noise_threshold,
            confidence_level,
            no_fail_on_regression,
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
            save: save_baseline.filter(|_| !discard_baseline),
            judging: JudgingOptions {
                noise_threshold: noise_threshold.value(),
                confidence: confidence_level.value(),
                on_regression: if no_fail_on_regression {
                    OnRegression::Show
                } else {
                    OnRegression::Fail
                },
            },
            history: HistoryOptions {
                recording: if history && !discard_baseline {
                    Recording::On
                } else {
                    Recording::Off
                },
                folder: history_dir,
            },
        }
    }
}
