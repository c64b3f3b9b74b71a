//! `cargo gpubench history`.

use super::UsageError;
use super::selection::expressions;
use super::settings::PlaceArguments;
use crate::broker::options::MessageFormat;
use crate::config::settings;
use crate::history::TrendOptions;

settings! {
    /// Every option of `cargo gpubench history`.
    pub(super) struct HistoryArguments {
        /// Show the cases in whose names one of these regular expressions is found
        ///
        /// Names as `--list` prints them, or with their package in front:
        /// `suite::image::grayscale::width=1024,height=4096`. Without any, every case is shown.
        #[arg(value_name = "FILTERS")]
        filters: Vec<String> => Line "reduction '^image::.*width=1024'";

        #[command(flatten)]
        places: PlaceArguments;

        /// Write the histories for people or for programs
        #[arg(long, value_name = "FORMAT", default_value = "human", help_heading = "Output options")]
        message_format: MessageFormat => Line "--message-format json > results.jsonl";
    }
}

impl HistoryArguments {
    /// Says what is to be shown.
    ///
    /// # Errors
    /// A filter is no regular expression.
    pub(super) fn into_options(self) -> Result<TrendOptions, UsageError> {
        Ok(TrendOptions {
            filters: expressions(self.filters)?,
            places: self.places.into_options(),
            format: self.message_format,
        })
    }
}
