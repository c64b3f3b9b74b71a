//! Options whose values may differ from case to case.

use clap::Args;

use super::measurement::HEADING;
use crate::config::{CaseSettings, Percent, SampleCount, TimeLimit, WorkerCount};

/// The fields are named as those of [`CaseSettings`]; the defaults are its built-in ones.
#[derive(Debug, Args)]
#[command(next_help_heading = HEADING)]
pub(super) struct CaseArguments {
    /// Give up on a case when one call takes longer than this
    ///
    /// Everything around the call counts, too: `10s`, `500ms`, `2min`. The case fails with the verdict `timeout`.
    #[arg(long, value_name = "DURATION", default_value = "10s")]
    timeout: TimeLimit,

    /// Give up on a case when its CPU reference or generator takes longer than this for one call
    #[arg(long, value_name = "DURATION", default_value = "60s")]
    reference_timeout: TimeLimit,

    /// Measure each case by this many fresh processes, one after another [default: 5 on the CPU device, 5 or 10 on a GPU]
    ///
    /// Two processes that run the same code differ by more than the samples inside one of them: their medians tell how far a result can be reproduced. Unless a number is given, there are 5 on the CPU
    /// device; on a GPU 5 where they say the case's median to 0.5% or a tick of the clock, else 10. Limits on samples and time are the case's, and are divided. A comparison wants at least 3. With
    /// `--against`, a number that is given is that of the rounds; otherwise there are 5, and where those do not decide 10 or 20. `--workers 1` is the shortest run.
    #[arg(long, value_name = "N", default_value = "10", hide_default_value = true)]
    workers: WorkerCount,

    /// Stop sampling when the coefficient of variation is below this many percent
    ///
    /// The samples of a short kernel never get there; for those a narrow confidence interval of the median is enough.
    #[arg(long, value_name = "PERCENT", default_value = "1")]
    target_cv: Percent,

    /// Take at least this many samples of a case
    #[arg(long, value_name = "N", default_value = "20")]
    min_samples: SampleCount,

    /// Take at most this many samples of a case
    #[arg(long, value_name = "N", default_value = "1000")]
    max_samples: SampleCount,

    /// Take no more samples of a case after this time, but at least those of `--min-samples`
    #[arg(long, value_name = "DURATION", default_value = "2s")]
    max_time: TimeLimit,
}

impl CaseArguments {
    /// Every setting of these, wherever its value comes from.
    pub(super) fn settings(&self) -> CaseSettings {
        let Self {
            timeout,
            reference_timeout,
            workers,
            target_cv,
            min_samples,
            max_samples,
            max_time,
        } = *self;
        CaseSettings {
            timeout: Some(timeout),
            reference_timeout: Some(reference_timeout),
            workers: Some(workers),
            target_cv: Some(target_cv),
            min_samples: Some(min_samples),
            max_samples: Some(max_samples),
            max_time: Some(max_time),
            noise_threshold: None,
        }
    }
}
