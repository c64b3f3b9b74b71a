//! `cargo gpubench history`.

use std::env;

use clap::Args;

use super::UsageError;
use super::output::{MessageFormatArgument, color};
use super::places::PlaceArguments;
use super::selection::expressions;
use crate::history::TrendOptions;
use gpubench_report::Color;

/// Every option of `cargo gpubench history`.
#[derive(Debug, Args)]
pub(super) struct HistoryArguments {
    /// Show the cases in whose names one of these regular expressions is found
    ///
    /// Names as `--list` prints them, or with their package in front: `suite::image::grayscale::width=1024,height=4096`. Without any, every case is shown.
    #[arg(value_name = "FILTERS")]
    filters: Vec<String>,

    #[command(flatten)]
    places: PlaceArguments,

    /// Write the histories for people or for programs
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    message_format: MessageFormatArgument,

    /// Colour the output
    #[arg(long, value_name = "WHEN")]
    color: Option<Color>,
}

impl HistoryArguments {
    /// Says what is to be shown.
    ///
    /// # Errors
    /// A filter is no regular expression.
    pub(super) fn into_options(self) -> Result<TrendOptions, UsageError> {
        let Self {
            filters,
            places,
            message_format,
            color: color_argument,
        } = self;
        Ok(TrendOptions {
            filters: expressions(filters)?,
            places: places.into_options(),
            format: message_format.into(),
            color: color(color_argument, env::var("CARGO_TERM_COLOR").ok().as_deref()),
        })
    }
}
