//! How the command line ends.

use std::os::unix::process::ExitStatusExt;
use std::process::{self, ExitStatus};

use gpubench_diagnostic::ExitCode;

/// The exit code of an observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// The tool's own.
    Own(ExitCode),
    /// That of the observed command.
    Command(u8),
}

impl Ending {
    /// Returns the ending for a command with this status, as shells tell it: its exit code, or 128
    /// and the number of the signal that ended it.
    pub(super) fn from_status(status: ExitStatus) -> Self {
        let code = status.code().or_else(|| Some(128 + status.signal()?));
        // Codes are at most 255, and signals at most 64.
        Ending::Command(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX))
    }
}

impl From<Ending> for process::ExitCode {
    fn from(ending: Ending) -> Self {
        match ending {
            Ending::Own(code) => code.into(),
            Ending::Command(code) => code.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_ends_the_probe_with_its_own_code_and_a_signal_as_in_a_shell() {
        assert_eq!(Ending::from_status(ExitStatus::from_raw(0)), Ending::Command(0));
        assert_eq!(Ending::from_status(ExitStatus::from_raw(3 << 8)), Ending::Command(3));
        assert_eq!(Ending::from_status(ExitStatus::from_raw(11)), Ending::Command(139));
    }
}
