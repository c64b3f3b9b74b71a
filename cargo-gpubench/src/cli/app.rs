//! The command line as clap sees it.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use super::GpubenchArguments;
use gpubench_device::clocks::ClockSetting;
use gpubench_measure::probe::Target;
use gpubench_report::HELP_STYLES;

/// The name of the cargo subcommand.
pub(super) const GPUBENCH: &str = "gpubench";

/// The command line of the executable `cargo-gpubench`.
///
/// Cargo starts it as `cargo-gpubench gpubench …`, so its help names `cargo`.
#[derive(Debug, Parser)]
#[command(name = "cargo-gpubench", bin_name = "cargo", styles = HELP_STYLES, max_term_width = 100)]
#[command(about = "Benchmark GPU kernels and check every output")]
pub struct App {
    /// The role of this process.
    #[command(subcommand)]
    pub verb: Verb,
}

/// The role of this process.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Benchmark GPU kernels: every call with fresh inputs, every output checked
    ///
    /// Builds the library of every selected package, finds its `#[gpubench]` functions and measures
    /// each of their cases in fresh processes.
    Gpubench(Box<GpubenchArguments>),
    /// Runs a crate's host code; the socket to the broker is standard input
    #[command(name = "__author", hide = true)]
    Author,
    /// Generates inputs and checks outputs; the socket to the broker is standard input
    #[command(name = "__referee", hide = true)]
    Referee,
    /// Runs one case; the socket to the broker is standard input
    #[command(name = "__worker", hide = true)]
    Worker,
    /// Compiles one source with NVRTC; the request is on standard input, the answer on standard
    /// output
    #[command(name = "__nvrtc", hide = true)]
    Nvrtc,
    /// Checks a driver, which may crash or hang, and prints the result
    #[command(name = "__probe", hide = true)]
    Probe {
        /// The driver to check.
        target: Target,
    },
    /// Locks the clocks of a device until standard input closes
    #[command(name = "__clocks", hide = true)]
    Clocks {
        /// The kind of the device.
        device: String,
        /// The identity of the device.
        identity: String,
        /// The clock.
        setting: ClockSetting,
        /// The file to lock meanwhile.
        lock_file: PathBuf,
    },
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn verify_app() {
        App::command().debug_assert();
    }

    #[test]
    fn every_option_has_a_help_text_and_a_heading() {
        let app = App::command();
        let gpubench = app.find_subcommand("gpubench").expect("the verb");
        for argument in gpubench.get_arguments() {
            let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
            assert!(!help.is_empty(), "`{}` has no help", argument.get_id());
            assert!(
                argument.get_help_heading().is_some(),
                "`{}` has no heading",
                argument.get_id()
            );
        }
    }
}
