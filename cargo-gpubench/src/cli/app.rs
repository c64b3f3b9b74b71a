//! The command and its verbs.

use camino::{Utf8Path, Utf8PathBuf};
use clap::builder::styling::{AnsiColor, Styles};
use clap::{Arg, CommandFactory, Parser, Subcommand};

use super::examples::illustrated;
use super::gpubench::rows_of;
use super::settings::RunArguments;
use super::{Environment, GpubenchArguments, Settled, Unsettled, settle};
use crate::build::workspace_root;
use crate::config::{Group, folder_with_configuration};
use gpubench_diagnostic::{Failure, print_to_stderr, print_warning};
use gpubench_measure::probe::Target;
use gpubench_report::OutputError;

/// As cargo colours its own help.
const STYLES: Styles = Styles::styled()
    .header(AnsiColor::BrightGreen.on_default().bold())
    .usage(AnsiColor::BrightGreen.on_default().bold())
    .literal(AnsiColor::BrightCyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default())
    .error(AnsiColor::BrightRed.on_default().bold())
    .valid(AnsiColor::BrightCyan.on_default().bold())
    .invalid(AnsiColor::Yellow.on_default().bold());

/// What `-h` shows; `--help` shows every option.
const MOST_USED: [&str; 10] = [
    "against",
    "baseline",
    "device",
    "list",
    "max_time",
    "quiet",
    "report",
    "save_baseline",
    "test",
    "verbose",
];

/// What the executable `cargo-gpubench` is started with.
///
/// Cargo starts it as `cargo-gpubench gpubench …`, so its help is that of `cargo`.
#[derive(Debug, Parser)]
#[command(name = "cargo-gpubench", bin_name = "cargo", styles = STYLES, max_term_width = 100)]
#[command(about = "Benchmarks of GPU kernels, every output checked")]
pub struct App {
    /// The role this process has.
    #[command(subcommand)]
    pub verb: Verb,
}

/// The role this process has.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Benchmark GPU kernels: every call with fresh inputs, every output checked
    ///
    /// Builds the library of every selected package, finds its `#[gpubench]` functions and measures
    /// each of their cases in a fresh process. Cargo's options mean what they mean to
    /// `cargo bench`.
    ///
    /// Every option can also be given by an environment variable, `--max-time` by
    /// `GPUBENCH_MAX_TIME`, and most by a profile in `.config/gpubench.toml`. The command line
    /// counts before the environment, and that before the profile.
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
    /// Looks at a driver, which may crash or hang, and prints what it finds
    #[command(name = "__probe", hide = true)]
    Probe {
        /// What is looked at.
        target: Target,
    },
}

/// The whole command line as clap describes it, with an example for every option.
pub(super) fn described() -> clap::Command {
    App::command().mut_subcommand("gpubench", |verb| {
        let most_used = |option: Arg| {
            let is_most_used = MOST_USED.contains(&option.get_id().as_str());
            option.hide_short_help(!is_most_used)
        };
        illustrated(verb.mut_args(most_used), &RunArguments::rows()).mut_subcommands(|below| {
            let rows = rows_of(below.get_name());
            illustrated(below, &rows)
        })
    })
}

/// The verb with all its options.
pub(super) fn described_verb() -> clap::Command {
    let app = described();
    app.find_subcommand("gpubench").expect("the verb is there").clone()
}

/// What this process was started for, with its environment and its configuration. A command line
/// that is none, or that asks for help, ends the process.
///
/// # Errors
/// The environment or the configuration makes no sense.
pub fn parse() -> Result<Verb, Failure> {
    let arguments: Vec<_> = std::env::args_os().collect();
    let find_workspace = |manifest: Option<&Utf8Path>| {
        workspace_root(manifest).or_else(|| {
            let here = Utf8PathBuf::from_path_buf(std::env::current_dir().ok()?).ok()?;
            folder_with_configuration(&here)
        })
    };
    match settle(&arguments, &Environment::of_process(), &find_workspace) {
        Ok(Settled {
            verb,
            unknown_variables,
            warnings,
        }) => {
            unknown_variables.iter().for_each(|variable| print_warning(variable));
            warnings.iter().for_each(|warning| print_warning(warning));
            Ok(verb)
        }
        Err(Unsettled::CommandLine(error)) if error.use_stderr() => {
            print_to_stderr(&error.render().ansi());
            std::process::exit(error.exit_code())
        }
        Err(Unsettled::CommandLine(help)) => match help.print() {
            Ok(()) => std::process::exit(help.exit_code()),
            Err(source) => Err(OutputError::Unwritten {
                what: "the help".to_owned(),
                source,
            }
            .into()),
        },
        Err(Unsettled::Expected(error)) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The help of `cargo gpubench`, at a fixed width and without the values of this process's
    /// environment.
    fn help(render: impl Fn(&mut clap::Command) -> String) -> String {
        let mut app = described().term_width(100);
        app.build();
        let gpubench = app.find_subcommand_mut("gpubench").expect("the verb");
        render(gpubench)
    }

    #[test]
    fn verify_app() {
        App::command().debug_assert();
    }

    #[test]
    fn short_help_fits_a_screen_of_40_lines() {
        let text = help(|command| command.render_help().to_string());
        assert!(text.lines().count() <= 40, "{text}");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn long_help_explains_every_option() {
        insta::assert_snapshot!(help(|command| command.render_long_help().to_string()));
    }

    #[test]
    fn help_fits_a_terminal_of_80_columns() {
        let mut app = described().term_width(80);
        app.build();
        let gpubench = app.find_subcommand_mut("gpubench").expect("the verb");
        let own = [gpubench.render_help(), gpubench.render_long_help()];
        let below: Vec<_> = gpubench
            .get_subcommands_mut()
            .map(clap::Command::render_long_help)
            .collect();
        for help in own.into_iter().chain(below) {
            for line in help.to_string().lines() {
                assert!(line.chars().count() <= 80, "{line}");
            }
        }
    }

    #[test]
    fn help_of_a_comparison_has_examples() {
        let text = help(|command| {
            let compare = command.find_subcommand_mut("compare").expect("the subcommand");
            compare.render_long_help().to_string()
        });
        insta::assert_snapshot!(text);
    }

    #[test]
    fn every_option_has_a_help_text_and_a_heading() {
        let app = App::command();
        let gpubench = app.find_subcommand("gpubench").expect("the verb");
        for argument in gpubench.get_arguments().filter(|argument| !argument.is_positional()) {
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
