//! The command that is observed, with its streams.

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::process::{Command, Stdio};

use super::MessageFormat;
use super::pseudo_terminal::PseudoTerminal;
use super::screen::Stream;
use super::{Liveliness, ProbeOptions};
use gpubench_report::OutputTarget;

/// A command that has not started yet.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) command: Command,
    /// The terminal that the command writes to, while the real one shows the screen.
    pub(super) terminal: Option<PseudoTerminal>,
}

/// Prepares a command. Its streams are those of the tool, but for two cases. If standard output has
/// records, what the command writes there goes to standard error. Where a screen is shown on its
/// terminal, the command gets another one, whose lines are printed above the screen.
pub(super) fn prepare(words: &[OsString], options: &ProbeOptions) -> Prepared {
    let mut words = words.iter();
    let mut command = Command::new(words.next().cloned().unwrap_or_default());
    command.args(words);
    if takes_standard_output(options) {
        command.stdout(Stdio::from(io::stderr()));
    }
    let shows_screen = options.liveliness == Liveliness::Live && Stream::Stderr.terminal().is_some();
    let terminal = shows_screen.then(PseudoTerminal::open).and_then(Result::ok);
    if let Some(terminal) = &terminal {
        let stdout_is_shown = io::stdout().is_terminal() || takes_standard_output(options);
        if let (true, Ok(stdout)) = (stdout_is_shown, terminal.stdio()) {
            command.stdout(stdout);
        }
        if let Ok(stderr) = terminal.stdio() {
            command.stderr(stderr);
        }
    }
    Prepared { command, terminal }
}

/// Whether standard output has records or the page.
pub(super) fn takes_standard_output(options: &ProbeOptions) -> bool {
    let is_taken = |target: &Option<OutputTarget>| *target == Some(OutputTarget::StandardOutput);
    options.format == MessageFormat::Json || is_taken(&options.export) || is_taken(&options.page)
}
