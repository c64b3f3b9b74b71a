//! `cargo gpubench doctor`.

use std::env;
use std::path::PathBuf;

use clap::Args;

use super::measurement::DeviceArgument;
use super::output::{MessageFormatArgument, color};
use crate::doctor::DoctorOptions;
use gpubench_report::Color;

/// Every option of `cargo gpubench doctor`.
#[derive(Debug, Args)]
pub(super) struct DoctorArguments {
    /// Look whether this device can measure
    ///
    /// As for a run: `auto`, `cpu`, `cuda` or `cuda:NUMBER`.
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    device: DeviceArgument,

    /// Look at this NVRTC, a library or a folder that has one
    #[arg(long, value_name = "PATH")]
    nvrtc: Option<PathBuf>,

    /// Write the findings for people or for programs
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    message_format: MessageFormatArgument,

    /// Colour the output
    #[arg(long, value_name = "WHEN")]
    color: Option<Color>,
}

impl DoctorArguments {
    /// Says what is to be looked at.
    pub(super) fn into_options(self) -> DoctorOptions {
        let Self {
            device,
            nvrtc,
            message_format,
            color: color_argument,
        } = self;
        DoctorOptions {
            device: device.options(None, nvrtc),
            format: message_format.into(),
            color: color(color_argument, env::var("CARGO_TERM_COLOR").ok().as_deref()),
        }
    }
}
