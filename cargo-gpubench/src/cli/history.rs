//! `cargo gpubench history`.
#![forbid(unsafe_code)]

use std::env;

use camino::Utf8PathBuf;
use clap::{Args, ValueHint};

use super::UsageError;
use super::output::{MessageFormatArgument, color};
use super::selection::expressions;
use crate::build::ManifestOptions;
use crate::history::TrendOptions;
use crate::report::Color;

/// Every option of `cargo gpubench history`.
#[derive(Debug, Args)]
pub(super) struct HistoryArguments {
    /// Show the cases in whose names one of these regular expressions is found
    ///
    /// Names have their package in front: `suite::image::grayscale::width=1024,height=4096`. Without any, every case is shown.
    #[arg(value_name = "FILTERS")]
    filters: Vec<String>,

    /// Look into this folder instead of the target directory
    #[arg(long, value_name = "DIRECTORY", value_hint = ValueHint::DirPath)]
    history_dir: Option<Utf8PathBuf>,

    /// Use the package or workspace of this `Cargo.toml`
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    manifest_path: Option<Utf8PathBuf>,

    /// Look into this target directory
    #[arg(long, value_name = "DIRECTORY", value_hint = ValueHint::DirPath)]
    target_dir: Option<Utf8PathBuf>,

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
            history_dir,
            manifest_path,
            target_dir,
            message_format,
            color: color_argument,
        } = self;
        Ok(TrendOptions {
            filters: expressions(filters)?,
            folder: history_dir,
            manifest: ManifestOptions {
                manifest_path,
                ..ManifestOptions::default()
            },
            target_dir,
            format: message_format.into(),
            color: color(color_argument, env::var("CARGO_TERM_COLOR").ok().as_deref()),
        })
    }
}
