//! The command's steps on standard error, as cargo tells of its own.

use std::fmt::Display;

use super::options::Verbosity;

/// `    Building the baseline`, unless the person wants quiet.
pub(super) fn status(verbosity: Verbosity, step: &str, what: impl Display) {
    if verbosity > Verbosity::Quiet {
        anstream::eprintln!("{step:>12} {what}");
    }
}
