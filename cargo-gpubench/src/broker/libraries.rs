//! The libraries of a run, built here or taken from an archive.

use super::authors::ListingError;
use super::options::LibrarySource;
use crate::archive::{ArchiveError, Unpacked, unpack};
use crate::build::{Built, build_cdylibs};
use crate::clients::Interrupt;
use crate::error::{ExpectedError, print_warning};

/// Libraries, and the folder they lie in where it goes with the run.
#[derive(Debug)]
pub(super) struct Libraries {
    /// What a build yields.
    pub(super) built: Built,
    /// The archive that it comes from.
    pub(super) unpacked: Option<Unpacked>,
}

impl Libraries {
    /// Builds, or unpacks.
    ///
    /// # Errors
    /// When the one or the other fails.
    pub(super) fn obtain(source: &LibrarySource, interrupt: &Interrupt) -> Result<Libraries, ExpectedError> {
        match source {
            LibrarySource::Build(options) => {
                let built = build_cdylibs(options, interrupt.flag())?;
                built.notices.iter().for_each(|notice| print_warning(notice));
                Ok(Libraries { built, unpacked: None })
            }
            LibrarySource::Archive(archived) => {
                let unpacked = unpack(&archived.archive, &archived.extract_to)?;
                Ok(Libraries {
                    built: unpacked.built(),
                    unpacked: Some(unpacked),
                })
            }
        }
    }

    /// A library that was built here could not be listed; one from elsewhere may not fit this machine.
    pub(super) fn explain(&self, error: ListingError) -> ExpectedError {
        match &self.unpacked {
            Some(_) if error.is_of_the_library() => ArchiveError::Library {
                package: error.package().to_owned(),
                source: Box::new(error),
            }
            .into(),
            _ => error.into(),
        }
    }
}
