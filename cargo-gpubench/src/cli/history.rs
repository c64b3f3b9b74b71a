//! `cargo gpubench history`.

use camino::Utf8PathBuf;
use clap::ValueHint;

use super::UsageError;
use super::selection::expressions;
use super::settings::PlaceArguments;
use crate::broker::options::{LibrarySource, MessageFormat, RunOptions};
use crate::cdylibs::ManifestOptions;
use crate::config::settings;
use crate::history::TrendOptions;

settings! {
    /// The options of `cargo gpubench history`.
    pub(super) struct HistoryArguments {
        /// Show the cases that match one of these expressions
        ///
        /// The regular expressions may match any part of a name, with or without the package:
        /// `suite::image::grayscale::width=1024,height=4096`. Without filters, every case is shown.
        #[arg(value_name = "FILTERS")]
        filters: Vec<String> => Line "reduction '^image::.*width=1024'", common;

        /// Measure the commits before and after the latest change, alternating
        ///
        /// Checks both out, builds them and alternates between them, as `--against` does, for each
        /// selected case whose latest change lies between them. Needs commits without local changes
        /// on both sides of the change. Device, modes and other settings are those of a run without
        /// options: from the profile and the environment.
        #[arg(long, help_heading = "Measurement")]
        confirm: bool => Line "--confirm reduction", common;

        /// Write the histories to this folder as Apache Otava reads them
        ///
        /// Writes `otava.yaml`, a configuration for its option `--config`, and a CSV file with
        /// `time`, `commit`, `run`, `tool`, `value` and, if all runs have it, `twin` for each
        /// history. Replaces files of these names.
        #[arg(long, value_name = "DIRECTORY", value_hint = ValueHint::DirPath, help_heading = "Output")]
        export_otava: Option<Utf8PathBuf> => Line "--export-otava otava", common;

        #[command(flatten)]
        places: PlaceArguments;

        /// Write standard output for people or for programs
        #[arg(long, value_name = "FORMAT", default_value = "human", help_heading = "Output")]
        message_format: MessageFormat => Line "--message-format json > results.jsonl", common;
    }
}

impl HistoryArguments {
    /// Checks the filters. `run` returns the settings of a run.
    ///
    /// # Errors
    /// A filter is not a regular expression, or with `--confirm` a setting of a run is invalid.
    pub(super) fn into_options(
        self,
        run: impl FnOnce() -> Result<RunOptions, UsageError>,
    ) -> Result<TrendOptions, UsageError> {
        let places = self.places.into_options();
        let settings = || -> Result<Box<RunOptions>, UsageError> {
            let mut settings = run()?;
            if let LibrarySource::Build(build) = &mut settings.libraries {
                let ManifestOptions { manifest_path, .. } = &places.manifest;
                build.manifest.manifest_path = manifest_path.clone().or(build.manifest.manifest_path.take());
                let target_dir = &mut build.compilation.target_dir;
                *target_dir = places.target_dir.clone().or(target_dir.take());
            }
            Ok(Box::new(settings))
        };
        let confirm = self.confirm.then(settings).transpose()?;
        Ok(TrendOptions {
            filters: expressions(self.filters)?,
            places,
            format: self.message_format,
            otava: self.export_otava,
            confirm,
        })
    }
}
