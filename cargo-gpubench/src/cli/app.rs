//! The command line as clap sees it.

use std::path::PathBuf;

use camino::{Utf8Path, Utf8PathBuf};
use clap::{CommandFactory, Parser, Subcommand};

use super::examples::illustrated;
use super::gpubench::rows_of;
use super::settings::RunArguments;
use super::{Environment, GpubenchArguments, Resolved, Unresolved, help, resolve};
use crate::cdylibs::workspace_root;
use crate::config::{Group, folder_with_configuration};
use gpubench_device::clocks::ClockSetting;
use gpubench_diagnostic::{Failure, print_to_stderr, print_warning};
use gpubench_measure::probe::Target;
use gpubench_report::{HELP_STYLES, OutputError};

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

/// Returns the command line for clap, with an example for every option.
pub(super) fn described() -> clap::Command {
    App::command().mut_subcommand(GPUBENCH, |gpubench| {
        let help = help::subcommand(&gpubench);
        let gpubench = gpubench.mut_subcommands(|below| {
            let rows = rows_of(below.get_name());
            illustrated(below, &rows)
        });
        illustrated(gpubench, &RunArguments::rows()).subcommand(help)
    })
}

/// Returns the command `cargo gpubench` for clap.
pub(super) fn described_verb() -> clap::Command {
    let app = described();
    app.find_subcommand(GPUBENCH).expect("the verb is there").clone()
}

/// Reads the command line, the environment and the configuration of this process. Prints help and
/// clap's errors, and ends the process after them.
///
/// # Errors
/// The environment or the configuration is invalid.
pub fn parse() -> Result<Verb, Failure> {
    let arguments: Vec<_> = std::env::args_os().collect();
    let find_workspace = |manifest: Option<&Utf8Path>| {
        workspace_root(manifest).or_else(|| {
            let here = Utf8PathBuf::from_path_buf(std::env::current_dir().ok()?).ok()?;
            folder_with_configuration(&here)
        })
    };
    match resolve(&arguments, &Environment::of_process(), &find_workspace) {
        Ok(Resolved {
            verb,
            unknown_variables,
            warnings,
            foreign_file,
        }) => {
            foreign_file.iter().for_each(|file| print_warning(file));
            unknown_variables.iter().for_each(|variable| print_warning(variable));
            warnings.iter().for_each(|warning| print_warning(warning));
            Ok(verb)
        }
        Err(Unresolved::CommandLine(error)) if error.use_stderr() => {
            print_to_stderr(&error.render().ansi());
            std::process::exit(error.exit_code())
        }
        Err(Unresolved::CommandLine(help)) => match help.print() {
            Ok(()) => std::process::exit(help.exit_code()),
            Err(source) => Err(OutputError::Unwritten {
                what: "the help".to_owned(),
                source,
            }
            .into()),
        },
        Err(Unresolved::Expected(error)) => Err(error),
    }
}

#[cfg(test)]
mod tests {
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
