//! Options that say what is taken for a change, and what a change for the worse means.

use clap::{Args, ValueEnum};

use crate::broker::options::JudgingOptions;
use crate::config::Fraction;
use gpubench_report::{Gate, OnInconclusive, OnRegression};
use gpubench_stats::Confidence;
use gpubench_store::compare::Setups;

const HEADING: &str = "Baseline options";

/// What is taken for a change.
#[derive(Debug, Args)]
#[command(next_help_heading = HEADING)]
pub(super) struct ChangeArguments {
    /// Take changes below this for noise: `2%`, `0.02`
    ///
    /// Where the history of the device has ten runs and shows more noise, that counts.
    #[arg(long, value_name = "PERCENT", default_value = "1%")]
    pub(super) noise_threshold: Fraction,

    /// How sure the intervals of a comparison are: `99%`, `0.99`
    #[arg(long, value_name = "PERCENT", default_value = "99%")]
    confidence_level: Fraction,

    /// Compare also what was measured on another device, with another driver or in another mode
    ///
    /// What differs is listed. Without the option such results are shown and not compared.
    #[arg(long)]
    allow_different_setups: bool,
}

/// What is taken for a change, and what a change for the worse means.
#[derive(Debug, Args)]
#[command(next_help_heading = HEADING)]
pub(super) struct JudgingArguments {
    #[command(flatten)]
    pub(super) change: ChangeArguments,

    /// Exit with 0 even where a comparison finds a regression
    #[arg(long)]
    no_fail_on_regression: bool,

    /// Exit with 6 where a comparison could not judge benchmarks that both sides have
    ///
    /// They are inconclusive, or not compared: measured on another device, without samples. `all` means every one of them, and where there are none; `any` means one is
    /// enough; `never` warns where nothing was judged. A regression counts more.
    #[arg(long, value_name = "WHEN", default_value = "never")]
    fail_on_inconclusive: InconclusiveArgument,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum InconclusiveArgument {
    /// It is shown, with a warning where nothing was judged
    Never,
    /// Where nothing was judged
    All,
    /// Where something was not
    Any,
}

impl From<InconclusiveArgument> for OnInconclusive {
    fn from(when: InconclusiveArgument) -> Self {
        match when {
            InconclusiveArgument::Never => Self::Show,
            InconclusiveArgument::All => Self::FailForAll,
            InconclusiveArgument::Any => Self::FailForAny,
        }
    }
}

impl ChangeArguments {
    /// A regression then makes a command fail, as is usual.
    pub(super) fn into_options(self) -> JudgingOptions {
        let Self {
            noise_threshold,
            confidence_level,
            allow_different_setups,
        } = self;
        JudgingOptions {
            noise_threshold: noise_threshold.value(),
            confidence: Confidence::new(confidence_level.value()).unwrap_or_default(),
            setups: if allow_different_setups {
                Setups::MayDiffer
            } else {
                Setups::MustAgree
            },
            gate: Gate::default(),
        }
    }
}

impl JudgingArguments {
    pub(super) fn into_options(self) -> JudgingOptions {
        let Self {
            change,
            no_fail_on_regression,
            fail_on_inconclusive,
        } = self;
        JudgingOptions {
            gate: Gate {
                on_regression: if no_fail_on_regression {
                    OnRegression::Show
                } else {
                    OnRegression::Fail
                },
                on_inconclusive: fail_on_inconclusive.into(),
            },
            ..change.into_options()
        }
    }
}
