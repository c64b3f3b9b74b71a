//! `cargo gpubench doctor`.

use super::settings::DeviceArguments;
use crate::broker::options::MessageFormat;
use crate::config::settings;
use crate::doctor::DoctorOptions;

settings! {
    /// Every option of `cargo gpubench doctor`.
    pub(super) struct DoctorArguments {
        #[command(flatten)]
        device: DeviceArguments;

        /// Write the findings for people or for programs
        #[arg(long, value_name = "FORMAT", default_value = "human", help_heading = "Output options")]
        message_format: MessageFormat => Line "--message-format json > results.jsonl";
    }
}

impl DoctorArguments {
    /// Says what is to be looked at.
    pub(super) fn into_options(self) -> DoctorOptions {
        DoctorOptions {
            device: self.device.into_options(None),
            format: self.message_format,
        }
    }
}
