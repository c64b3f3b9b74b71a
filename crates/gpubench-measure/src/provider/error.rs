//! Why a command gave no expected outputs.

use std::io;
use std::time::Duration;

use gpubench::tensor_file::WrongFile;
use gpubench_diagnostic::printable_line;

/// Why a command gave no expected outputs.
#[derive(Debug, thiserror::Error)]
pub enum ProviderError {
    /// It could not be started.
    #[error("cannot start `{command}` in `{folder}`{hint}")]
    Start {
        /// The command.
        command: String,
        /// The folder that it was to run in.
        folder: String,
        /// A hint, or nothing.
        hint: &'static str,
        /// Why.
        source: io::Error,
    },
    /// It ended without success.
    #[error("`{command}` ended with {end}{output}")]
    Failed {
        /// The command.
        command: String,
        /// Its exit status.
        end: String,
        /// The end of its output, with what introduces it.
        output: String,
    },
    /// It did not end in time.
    #[error(
        "`{command}` did not end within {} (hint: raise `--reference-timeout`, which limits the whole run of a command)",
        humantime::format_duration(*within)
    )]
    Silent {
        /// The command.
        command: String,
        /// The time limit.
        within: Duration,
    },
    /// It did not write the file of outputs.
    #[error("`{command}` wrote no outputs (hint: its last argument is the path for them, a safetensors file){output}")]
    NoOutputs {
        /// The command.
        command: String,
        /// The end of its output, with what introduces it.
        output: String,
    },
    /// Its outputs have another form.
    #[error("the outputs of `{command}` cannot be used{}", tensor.as_ref().map(|name| format!(": `{}`", printable_line(name))).unwrap_or_default())]
    Outputs {
        /// The command.
        command: String,
        /// The output.
        tensor: Option<String>,
        /// What is wrong.
        source: WrongFile,
    },
    /// An output has a NaN.
    #[error(
        "the output `{tensor}` of `{command}` has a NaN at element {element} of set {set}, counted from 0 (hint: a NaN cannot show whether a kernel is right)"
    )]
    NotANumber {
        /// The command.
        command: String,
        /// The output.
        tensor: String,
        /// The set.
        set: u64,
        /// The element in the set.
        element: u64,
    },
    /// Too few sets of tensors fit.
    #[error(
        "the inputs and outputs of {fewest} calls have {bytes} bytes; the limit for a reference that is a command is {limit} (hint: choose a \
         smaller size with `--axis`, or write the reference in Rust)"
    )]
    TooLarge {
        /// Least number of calls.
        fewest: u32,
        /// What they have.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// The temporary files could not be used.
    #[error("cannot exchange tensors with `{command}`: {doing}")]
    Files {
        /// The command.
        command: String,
        /// What failed.
        doing: &'static str,
        /// Why.
        source: io::Error,
    },
    /// The user interrupted.
    #[error("interrupted")]
    Interrupted,
}
