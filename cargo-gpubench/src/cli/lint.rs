//! `cargo gpubench lint`.

use gpubench_report::OutputTarget;

use super::UsageError;
use super::output::verbosity;
use super::settings::{CargoArguments, SelectionArguments};
use crate::broker::cases::SkipOrigin;
use crate::broker::options::OutputOptions;
use crate::broker::{Fixing, LintOptions};
use crate::config::{CaseSettings, TimeLimit, settings};
use gpubench_report::Color;

settings! {
    /// The options of `cargo gpubench lint`.
    #[command(after_long_help = EXAMPLES)]
    pub(super) struct LintArguments {
        /// Write tolerances that reject wrong answers and accept right ones
        ///
        /// Changes `rtol` and `atol` in the attribute, by a power of ten, where they are numbers.
        /// It shows what it changes. Flaws of inputs remain. The exit code is the same as without
        /// it; run `lint` again.
        #[arg(long, help_heading = "Fix")]
        fix: bool => Line "--fix", common;

        /// With `--fix`, also change files with changes that are not committed
        #[arg(long, requires = "fix", help_heading = "Fix")]
        allow_dirty: bool => Line "--fix --allow-dirty", common;

        /// Write the findings to this file as SARIF 2.1.0; `-` is standard output
        ///
        /// Services for code scanning show them next to the source. With `-`, the text for people
        /// goes to standard error.
        #[arg(long, value_name = "FILE", help_heading = "Output")]
        export_sarif: Option<OutputTarget> => Line "--export-sarif lint.sarif", common;

        /// Show only findings, warnings and errors
        #[arg(short, long, help_heading = "Output")]
        quiet: bool => Line "--quiet";

        /// Stop the trials of a case after this time
        ///
        /// A case always has two calls of its reference and those with changed inputs.
        #[arg(long, value_name = "DURATION", default_value_t = TimeLimit::seconds(5), help_heading = "Limits")]
        trial_time: TimeLimit => Line "--trial-time 1min";

        /// Give up if a reference, a generator or a benchmark function takes longer than this
        #[arg(long, value_name = "DURATION", default_value_t = CaseSettings::BUILT_IN.complete().reference_timeout, help_heading = "Limits")]
        reference_timeout: TimeLimit => Line "--reference-timeout 5min";

        #[command(flatten)]
        selection: SelectionArguments;

        #[command(flatten)]
        cargo: CargoArguments;
    }
}

const EXAMPLES: &str = "\
Examples:
  cargo gpubench lint                              the problems of this package
  cargo gpubench lint --workspace softmax          cases whose names contain `softmax`
  cargo gpubench lint --export-sarif lint.sarif    for code scanning
  cargo gpubench lint --fix                        mend tolerances that a factor mends

The exit code is 7 if a problem has a flaw, 100 if a case could not be judged, and 4 if none was.";

impl LintArguments {
    /// Checks the filters and returns the options. `gpubench` is the described command line.
    ///
    /// # Errors
    /// A filter is no regular expression, or an option.
    pub(super) fn into_options(self, color: Color, gpubench: &clap::Command) -> Result<LintOptions, UsageError> {
        let output = OutputOptions {
            color,
            verbosity: verbosity(self.quiet, false),
            ..OutputOptions::default()
        };
        Ok(LintOptions {
            build: self.cargo.into_options(&output),
            cases: self.selection.into_selection(SkipOrigin::CommandLine, gpubench)?,
            trial_time: self.trial_time.duration(),
            within: self.reference_timeout.duration(),
            sarif: self.export_sarif,
            fix: match (self.fix, self.allow_dirty) {
                (true, false) => Fixing::CleanFiles,
                (true, true) => Fixing::AllFiles,
                (false, _) => Fixing::Nothing,
            },
            verbosity: output.verbosity,
        })
    }
}
