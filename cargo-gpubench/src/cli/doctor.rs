//! `cargo gpubench doctor`.

use super::settings::DeviceArguments;
use crate::broker::options::MessageFormat;
use crate::config::settings;
use crate::doctor::DoctorOptions;

settings! {
    /// The options of `cargo gpubench doctor`.
    pub(super) struct DoctorArguments {
        #[command(flatten)]
        device: DeviceArguments;

        /// Write standard output for people or for programs
        #[arg(long, value_name = "FORMAT", default_value = "human", help_heading = "Output")]
        message_format: MessageFormat => Line "--message-format json > results.jsonl", common;
    }
}

impl DoctorArguments {
    pub(super) fn into_options(self) -> DoctorOptions {
        DoctorOptions {
            device: self.device.into_options(None),
            format: self.message_format,
        }
    }
}
