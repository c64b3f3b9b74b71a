//! `cargo gpubench calibrate`.

use clap::ValueHint;

use super::UsageError;
use super::output::verbosity;
use super::settings::DeviceChoiceArguments;
use super::standard_output::refuse_two;
use crate::broker::options::{Audit, MasterSeed, MeasurementOptions, MessageFormat, OtherRuns, OutputOptions};
use crate::calibrate::CalibrateOptions;
use crate::config::{CaseLayers, CaseSettings, Modes, TimeLimit, settings};
use gpubench_contract::Flush;
use gpubench_measure::measurement::Energy;
use gpubench_report::{Color, OutputTarget};

settings! {
    /// The options of `cargo gpubench calibrate`.
    pub(super) struct CalibrateArguments {
        /// Calibrate these modes: `cold`, `warm`, `hot`, `graph`, or several as in `cold,graph`
        #[arg(long, value_name = "MODES", default_value = "cold,warm,hot,graph", help_heading = "Measure")]
        mode: Modes => Line "--mode cold,graph", common;

        /// Stop sampling a kernel after this time, which its modes share
        #[arg(long, value_name = "DURATION", default_value_t = CaseSettings::BUILT_IN.complete().max_time, help_heading = "Measure")]
        max_time: TimeLimit => Line "--max-time 500ms", common;

        #[command(flatten)]
        device: DeviceChoiceArguments;

        /// Do not wait for other runs on the same device
        #[arg(long, help_heading = "Machine")]
        no_wait: bool => Line "--no-wait";

        /// Write standard output for people or for programs
        ///
        /// `json` writes the records of both runs, then a `calibration-complete` record.
        #[arg(long, value_name = "FORMAT", default_value = "human", help_heading = "Output")]
        message_format: MessageFormat => Line "--message-format json > calibration.jsonl", common;

        /// Also write the records to this file as JSON lines
        ///
        /// The lines are those of `--message-format json`. `-` is standard output; the tables then
        /// go to standard error.
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
        export_json: Option<OutputTarget> => Line "--export-json calibration.jsonl", common;

        /// Do not show what is being measured
        #[arg(short, long, help_heading = "Output")]
        quiet: bool => Line "--quiet";
    }
}

impl CalibrateArguments {
    /// Checks the rules that clap cannot express.
    ///
    /// # Errors
    /// Records would be written to standard output twice.
    pub(super) fn into_options(self, color: Color) -> Result<CalibrateOptions, UsageError> {
        let format = (self.message_format == MessageFormat::Json).then_some("--message-format json");
        let export = (self.export_json == Some(OutputTarget::StandardOutput)).then_some("--export-json -");
        refuse_two(format.into_iter().chain(export))?;
        let settings = CaseSettings {
            mode: Some(self.mode),
            max_time: Some(self.max_time),
            ..CaseSettings::default()
        };
        Ok(CalibrateOptions {
            device: self.device.into_options(),
            measurement: MeasurementOptions {
                seed: MasterSeed::Fresh,
                flush_bytes: None,
                flush: Flush::Read,
                schedule: None,
                other_runs: match self.no_wait {
                    true => OtherRuns::Ignored,
                    false => OtherRuns::Awaited,
                },
                energy: Energy::Ignored,
                audit: Audit::Left,
                lock_clocks: None,
                cases: CaseLayers {
                    given: settings,
                    ..CaseLayers::default()
                },
            },
            output: OutputOptions {
                format: self.message_format,
                color,
                verbosity: verbosity(self.quiet, false),
                ..OutputOptions::default()
            },
            export: self.export_json,
        })
    }
}
