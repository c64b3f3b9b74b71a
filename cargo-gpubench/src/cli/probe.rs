//! `cargo gpubench probe`.

use std::ffi::OsString;

use crate::config::{Value, settings};

impl Value for OsString {}

settings! {
    /// The options of `cargo gpubench probe`.
    #[command(override_usage = USAGE)]
    pub(super) struct ProbeArguments {
        /// What `gpubench-probe` observes, with its options
        #[arg(value_name = "ARGUMENTS", trailing_var_arg = true, num_args = 0..)]
        arguments: Vec<OsString> => Line "-- python train.py --steps 7", common;
    }
}

const USAGE: &str = "cargo gpubench probe [OPTIONS] -- <COMMAND>...
       cargo gpubench probe [OPTIONS] --pid <PID>
       cargo gpubench probe [OPTIONS] --system";
