//! `cargo gpubench history`.

use super::UsageError;
use super::selection::expressions;
use super::settings::PlaceArguments;
use crate::broker::options::MessageFormat;
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

        #[command(flatten)]
        places: PlaceArguments;

        /// Write standard output for people or for programs
        #[arg(long, value_name = "FORMAT", default_value = "human", help_heading = "Output")]
        message_format: MessageFormat => Line "--message-format json > results.jsonl", common;
    }
}

impl HistoryArguments {
    /// Checks the filters.
    ///
    /// # Errors
    /// A filter is not a regular expression.
    pub(super) fn into_options(self) -> Result<TrendOptions, UsageError> {
        Ok(TrendOptions {
            filters: expressions(self.filters)?,
            places: self.places.into_options(),
            format: self.message_format,
        })
    }
}
