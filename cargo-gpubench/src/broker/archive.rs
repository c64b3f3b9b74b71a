//! `cargo gpubench archive`: from options to an archive.

use super::authors::{AuthorSettings, Authors};
use super::options::{ArchiveOptions, Verbosity};
use crate::archive::{Contents, write};
use crate::build::build_cdylibs;
use crate::clients::{Interrupt, Output, adopt_orphans};
use crate::error::{ExpectedError, print_warning};
use crate::exit_code::ExitCode;
use crate::report::units::size;

/// Builds the selected packages and archives their libraries.
///
/// # Errors
/// What keeps the archive from being made.
pub fn archive(options: &ArchiveOptions) -> Result<ExitCode, ExpectedError> {
    let interrupt = Interrupt::catch().map_err(|source| ExpectedError::Internal {
        what: "cannot listen to signals".to_owned(),
        source: source.into(),
    })?;
    let built = build_cdylibs(&options.build, interrupt.flag())?;
    built.notices.iter().for_each(|notice| print_warning(notice));
    adopt_orphans();
    let settings = AuthorSettings {
        within: options.within,
        output: Output::Captured,
        interrupt: &interrupt,
    };
    // A library that cannot be listed here cannot be listed there either.
    let (_authors, _catalogs) = Authors::start(&built.libraries, settings)?;
    let contents = Contents::of(&built)?;
    if interrupt.is_set() {
        return Err(ExpectedError::Interrupted);
    }
    let written = write(&contents, &options.archive)?;
    if options.output.verbosity > Verbosity::Quiet {
        let libraries = counted(built.libraries.len(), "library", "libraries");
        anstream::eprintln!(
            "    Archived {libraries}, {} to {}",
            size(written.size),
            options.archive
        );
    }
    Ok(ExitCode::Success)
}

fn counted(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}
