//! Options of a run from an archive.

use camino::Utf8PathBuf;
use clap::Args;

use crate::archive::{ExtractTo, Occupied};
use crate::broker::options::ArchivedLibraries;

const HEADING: &str = "Archive options";

#[derive(Debug, Args)]
pub(super) struct UnpackArguments {
    /// Run what is in this archive instead of building
    ///
    /// `cargo gpubench archive` makes one. Neither cargo nor sources are needed here; cargo's options have no meaning.
    #[arg(long, value_name = "FILE", help_heading = HEADING, conflicts_with_all = ["CargoArguments", "no_run"])]
    archive_file: Option<Utf8PathBuf>,

    /// Unpack the archive to this folder and keep it
    ///
    /// Without it the archive is unpacked to a temporary folder, which is removed at the end.
    #[arg(long, value_name = "DIRECTORY", help_heading = HEADING, requires = "archive_file")]
    extract_to: Option<Utf8PathBuf>,

    /// Unpack even if the folder of `--extract-to` is not empty
    ///
    /// Files of the same names are replaced, others are left.
    #[arg(long, help_heading = HEADING, requires = "extract_to")]
    extract_overwrite: bool,
}

impl UnpackArguments {
    /// The archive to run from, if there is one.
    pub(super) fn into_libraries(self) -> Option<ArchivedLibraries> {
        let occupied = if self.extract_overwrite {
            Occupied::Overwritten
        } else {
            Occupied::Refused
        };
        let extract_to = match self.extract_to {
            Some(folder) => ExtractTo::Kept { folder, occupied },
            None => ExtractTo::Temporary,
        };
        self.archive_file
            .map(|archive| ArchivedLibraries { archive, extract_to })
    }
}
