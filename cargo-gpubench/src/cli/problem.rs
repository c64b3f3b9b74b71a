//! `cargo gpubench problem`.

use camino::Utf8PathBuf;
use clap::{ValueEnum, ValueHint};

use super::UsageError;
use super::output::verbosity;
use super::settings::CargoArguments;
use crate::archive::ExtractTo;
use crate::broker::options::{LibrarySource, MessageFormat, OutputOptions};
use crate::broker::{ProblemAction, ProblemOptions, StarterForm};
use crate::config::{Value, settings};
use gpubench_report::Color;

/// What to do with problems.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ProblemVerb {
    /// List the problems, with the first paragraph of each statement
    List,
    /// Show what a contestant needs to know
    Show,
    /// Write the file that a submission begins with
    Starter,
}

impl Value for ProblemVerb {}
impl Value for StarterForm {}

settings! {
    /// The options of `cargo gpubench problem`.
    #[command(after_long_help = EXAMPLES)]
    pub(super) struct ProblemArguments {
        /// What to do
        #[arg(value_name = "COMMAND", default_value = "list")]
        verb: ProblemVerb => Line "list", common;

        /// The problem: its path, or the end of it
        #[arg(value_name = "NAME")]
        name: Option<String> => Line "show row_sums", common;

        /// What the submission is, for `starter` [default: cuda]
        #[arg(long, value_name = "FORM", help_heading = "Starter")]
        form: Option<StarterForm> => Line "starter row_sums --form library", common;

        /// Write the starter to this file, which must not exist
        ///
        /// A library has its description in a file of its own, with the ending `.toml`, which is
        /// written too. Without this option, the starter is printed.
        #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Starter")]
        output: Option<Utf8PathBuf> => Line "starter row_sums --output solution.cu", common;

        /// Write standard output for people or for programs
        ///
        /// `list` and `show` write one JSON object for each problem.
        #[arg(long, value_name = "FORMAT", help_heading = "Output")]
        message_format: Option<MessageFormat> => Line "list --message-format json", common;

        /// Show only results, warnings and errors
        #[arg(short, long, help_heading = "Output")]
        quiet: bool => Line "list --quiet";

        /// Take the problems from this archive instead of building their crates
        #[arg(long, value_name = "FILE", conflicts_with = "CargoArguments", value_hint = ValueHint::FilePath,
            help_heading = "Build")]
        archive_file: Option<Utf8PathBuf> => Line "list --archive-file problems.tar.gz";

        #[command(flatten)]
        cargo: CargoArguments;
    }
}

const EXAMPLES: &str = "\
Examples:
  cargo gpubench problem list                               the problems
  cargo gpubench problem show row_sums                      one with its tensors
  cargo gpubench problem starter row_sums -o solution.cu    a submission to it";

impl ProblemVerb {
    fn name(self) -> &'static str {
        match self {
            ProblemVerb::List => "list",
            ProblemVerb::Show => "show",
            ProblemVerb::Starter => "starter",
        }
    }
}

impl ProblemArguments {
    /// Checks that the arguments belong to the command, and returns the options.
    ///
    /// # Errors
    /// One does not, or a name is missing.
    pub(super) fn into_options(self, color: Color) -> Result<ProblemOptions, UsageError> {
        let verb = self.verb.name();
        let refuse = |argument: &str, of| {
            Err(UsageError::NotOfProblem {
                verb,
                argument: argument.to_owned(),
                of,
            })
        };
        if self.verb != ProblemVerb::Starter {
            if self.form.is_some() {
                return refuse("--form", "starter");
            }
            if self.output.is_some() {
                return refuse("--output", "starter");
            }
        } else if self.message_format.is_some() {
            return refuse("--message-format", "show");
        }
        let name = |name: Option<String>| name.ok_or(UsageError::NoProblemName { verb });
        let action = match self.verb {
            ProblemVerb::List => match self.name {
                None => ProblemAction::List,
                Some(name) => return refuse(&name, "show"),
            },
            ProblemVerb::Show => ProblemAction::Show(name(self.name)?),
            ProblemVerb::Starter => ProblemAction::Starter {
                name: name(self.name)?,
                form: self.form.unwrap_or_default(),
                output: self.output,
            },
        };
        let output = OutputOptions {
            color,
            verbosity: verbosity(self.quiet, false),
            ..OutputOptions::default()
        };
        Ok(ProblemOptions {
            libraries: match self.archive_file {
                Some(archive) => LibrarySource::Archive {
                    archive,
                    extract_to: ExtractTo::Temporary,
                },
                None => LibrarySource::Build(self.cargo.into_options(&output)),
            },
            action,
            format: self.message_format.unwrap_or_default(),
            verbosity: output.verbosity,
        })
    }
}
