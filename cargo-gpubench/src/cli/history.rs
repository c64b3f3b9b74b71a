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

        /// Measure the commits before and after each change, alternating
        ///
        /// Checks both out, builds them and alternates between them, as `--against` does, for each
        /// change of the selected cases, the latest first. Needs commits without local changes on
        /// both sides of a change. Device, threads, flush, locked clock, mode and metric are those
        /// of the history, and other settings those of a run without options: from the profile and
        /// the environment. Refuses another device, processor or driver. The exit code is 3 if a
        /// commit is worse than the one before.
        #[arg(long, help_heading = "Measurement")]
        confirm: bool => Line "--confirm reduction", common;

        /// Write the histories to this folder as Apache Otava reads them
        ///
        /// Writes `otava.yaml`, a configuration for its option `--config-file`, and a CSV file with
        /// `time`, `commit`, `run`, `tool`, `value` and, if all runs have it, `twin` for each
        /// history. Replaces files of these names. `all` is the group of all histories. The
        /// configuration has the whole path of the folder: export again after moving it.
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
