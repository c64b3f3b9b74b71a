//! The command from its options to its exit code.
#![forbid(unsafe_code)]

use std::sync::{Arc, atomic::AtomicBool};

use signal_hook::consts::{SIGINT, SIGTERM};

use super::options::{Action, RunOptions, Verbosity};
use crate::{
    build::{Built, build_cdylibs},
    error::{ExpectedError, print_warning},
    exit_code::ExitCode,
};

/// Does what the options say.
///
/// # Errors
///
/// Whatever keeps the run from having a result for every selected case. A benchmark that fails is a result.
pub fn run(options: &RunOptions) -> Result<ExitCode, ExpectedError> {
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&interrupted)).map_err(|source| ExpectedError::Internal {
            what: "cannot listen to signals".to_owned(),
            source: source.into(),
        })?;
    }
    let built = build_cdylibs(&options.build, &interrupted)?;
    for notice in &built.notices {
        print_warning(notice);
    }
    match options.action {
        Action::Build => {
            if options.output.verbosity > Verbosity::Quiet {
                name_libraries(&built);
            }
            Ok(ExitCode::Success)
        }
        Action::List | Action::Measure => Err(ExpectedError::Internal {
            what: "cannot go on after the build".to_owned(),
            source: "the author process is not connected".into(),
        }),
    }
}

/// As `cargo bench --no-run` names its executables.
fn name_libraries(built: &Built) {
    for library in &built.libraries {
        anstream::eprintln!(
            "     Library {} v{} ({})",
            library.package,
            library.version,
            library.library
        );
    }
}
