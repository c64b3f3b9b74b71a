//! The folder that an archive is unpacked to.

use std::fs::File;
use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use gpubench_diagnostic::{Place, Purpose, TemporaryFolder};

use super::ArchiveError;

/// The target of unpacking.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ExtractTo {
    /// A new temporary folder, removed when the run ends.
    #[default]
    Temporary,
    /// This folder, which remains.
    Kept {
        /// The folder.
        folder: Utf8PathBuf,
        /// Whether to replace files of the same names. If not, the folder must be empty.
        overwrite: bool,
    },
}

/// An existing folder to unpack to. Dropping it removes a temporary folder.
#[derive(Debug)]
pub struct ExtractionFolder {
    path: Utf8PathBuf,
    _temporary: Option<TemporaryFolder>,
}

impl ExtractionFolder {
    /// Prepares the folder.
    ///
    /// # Errors
    /// It cannot be created, is not a folder, or is not empty although it must be.
    pub(super) fn prepare(wanted: &ExtractTo) -> Result<ExtractionFolder, ArchiveError> {
        match wanted {
            ExtractTo::Temporary => ExtractionFolder::temporary(),
            ExtractTo::Kept { folder, overwrite } => {
                // The place of any file in it.
                let place = Place::of_entry(folder.join("file")).map_err(ArchiveError::io("create", folder))?;
                let path = place.folder().read_link().map_err(ArchiveError::io("open", folder))?;
                let path = Utf8PathBuf::from_path_buf(path).map_err(|path| ArchiveError::not_utf8(&path))?;
                let mut entries = fs_err::read_dir(&path).map_err(ArchiveError::io("read", folder))?;
                if !overwrite && entries.next().is_some() {
                    let folder = folder.clone();
                    return Err(ArchiveError::FolderNotEmpty { folder });
                }
                Ok(ExtractionFolder { path, _temporary: None })
            }
        }
    }

    fn temporary() -> Result<ExtractionFolder, ArchiveError> {
        let parent = std::env::temp_dir();
        let shown = Utf8PathBuf::from(parent.to_string_lossy().into_owned());
        let in_parent = |action| ArchiveError::io(action, &*shown);
        let temporary = TemporaryFolder::new(Purpose::Archive).map_err(in_parent("create a folder in"))?;
        let path = temporary.path().canonicalize().map_err(in_parent("open"))?;
        let path = Utf8PathBuf::from_path_buf(path).map_err(|path| ArchiveError::not_utf8(&path))?;
        Ok(ExtractionFolder {
            path,
            _temporary: Some(temporary),
        })
    }

    /// Returns the absolute path.
    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// Creates a file and its parent folders. Replaces an existing file instead of writing into it:
    /// it may be a link, or in use.
    pub(super) fn create(&self, path: &Utf8Path) -> Result<File, ArchiveError> {
        let path = self.path.join(path);
        let io = |action| ArchiveError::io(action, &*path);
        let place = Place::of_entry(&path).map_err(io("create"))?;
        match std::fs::remove_file(place.path()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(io("replace")(error)),
            _ => File::create_new(place.path()).map_err(io("create")),
        }
    }
}
