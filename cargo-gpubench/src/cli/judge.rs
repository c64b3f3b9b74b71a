//! `cargo gpubench judge`.

use super::settings::PlaceArguments;
use crate::broker::JudgeOptions;
use crate::config::settings;
use gpubench_store::RunName;

settings! {
    /// The options of `cargo gpubench judge`.
    #[command(after_long_help = EXAMPLES)]
    pub(super) struct JudgeArguments {
        /// The run: a baseline, or a file of `--export-json`, with the evidence of `--evidence`
        #[arg(value_name = "RUN")]
        run: RunName => Line "results.jsonl", common;

        #[command(flatten)]
        places: PlaceArguments;
    }
}

const EXAMPLES: &str = "\
Examples:
  cargo gpubench --evidence --export-json run.json   a run that keeps its evidence
  cargo gpubench judge run.json                      its verdicts, decided again";

impl JudgeArguments {
    /// Returns the options.
    pub(super) fn into_options(self) -> JudgeOptions {
        JudgeOptions {
            run: self.run,
            places: self.places.into_options(),
        }
    }
}
