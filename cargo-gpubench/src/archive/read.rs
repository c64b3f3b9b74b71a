//! Reading an archive.

use std::fs::File;
use std::io::{self, Read, Seek};

use camino::{Utf8Path, Utf8PathBuf};
use flate2::read::GzDecoder;

use super::entry_path::inside;
use super::manifest::{LONGEST_MANIFEST, MANIFEST, Origin};
use super::{ArchiveError, Damage, FORMAT, Manifest};

/// The first two bytes of what gzip makes.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// An archive whose checksum is right.
pub(super) struct Archive {
    pub(super) path: Utf8PathBuf,
    file: File,
}

impl Archive {
    /// Opens an archive and reads all of it once, so that nothing is done with a damaged one.
    ///
    /// # Errors
    /// It is not there, is something else or is damaged.
    pub(super) fn open(path: &Utf8Path) -> Result<Archive, ArchiveError> {
        let missing = |source| ArchiveError::Missing {
            archive: path.to_owned(),
            source,
        };
        let mut archive = Archive {
            path: path.to_owned(),
            file: File::open(path).map_err(missing)?,
        };
        archive.refuse_other_files()?;
        let mut contents = archive.contents()?;
        let copied = io::copy(&mut contents, &mut io::sink());
        drop(contents);
        copied.map_err(|error| archive.unreadable(error))?;
        Ok(archive)
    }

    /// Reads the manifest and gives the entries behind it to `each`, in order.
    ///
    /// # Errors
    /// The manifest cannot be used, an entry is none that an archive has, or `each` fails.
    pub(super) fn read<T>(
        &self,
        begin: impl FnOnce(&Manifest) -> Result<T, ArchiveError>,
        each: impl Fn(&mut T, &Utf8Path, &mut dyn Read) -> Result<(), ArchiveError>,
    ) -> Result<(Manifest, T), ArchiveError> {
        let mut tar = tar::Archive::new(self.contents()?);
        let mut entries = tar.entries().map_err(|error| self.unreadable(error))?;
        let mut first = entries
            .next()
            .and_then(Result::ok)
            .filter(|entry| &*entry.path_bytes() == MANIFEST.as_bytes())
            .ok_or_else(|| self.not_an_archive())?;
        let manifest = self.manifest(&mut first)?;
        let mut state = begin(&manifest)?;
        for entry in entries {
            let mut entry = entry.map_err(|error| self.unreadable(error))?;
            let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
            let path = inside(&name).ok_or_else(|| ArchiveError::Outside {
                archive: self.path.clone(),
                entry: printable(&name),
            })?;
            if entry.header().entry_type() != tar::EntryType::Regular {
                return Err(ArchiveError::NotPlain {
                    archive: self.path.clone(),
                    entry: printable(&name),
                });
            }
            each(&mut state, &path, &mut entry)?;
        }
        Ok((manifest, state))
    }

    fn manifest(&self, entry: &mut impl Read) -> Result<Manifest, ArchiveError> {
        let unusable = |error: serde_json::Error| self.damaged(Damage::Manifest(error.to_string()));
        let mut text = Vec::new();
        let read = entry.take(LONGEST_MANIFEST).read_to_end(&mut text);
        read.map_err(|error| self.unreadable(error))?;
        let origin: Origin = serde_json::from_slice(&text).map_err(unusable)?;
        if origin.format > FORMAT {
            return Err(ArchiveError::Newer {
                archive: self.path.clone(),
                made_by: printable(&origin.tool_version),
                ours: env!("CARGO_PKG_VERSION"),
            });
        }
        serde_json::from_slice(&text).map_err(unusable)
    }

    /// What is in it, from the start.
    fn contents(&self) -> Result<GzDecoder<io::BufReader<&File>>, ArchiveError> {
        let mut file = &self.file;
        file.rewind().map_err(ArchiveError::io("read", &*self.path))?;
        Ok(GzDecoder::new(io::BufReader::new(file)))
    }

    fn refuse_other_files(&mut self) -> Result<(), ArchiveError> {
        let mut magic = [0; GZIP.len()];
        match self.file.read_exact(&mut magic) {
            Ok(()) if magic == GZIP => Ok(()),
            Ok(()) => Err(self.not_an_archive()),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Err(self.not_an_archive()),
            Err(error) => Err(ArchiveError::io("read", &*self.path)(error)),
        }
    }

    fn not_an_archive(&self) -> ArchiveError {
        ArchiveError::NotAnArchive {
            archive: self.path.clone(),
        }
    }

    pub(super) fn damaged(&self, damage: Damage) -> ArchiveError {
        ArchiveError::Damaged {
            archive: self.path.clone(),
            damage,
        }
    }

    /// What the decoder says is about the contents; all else is the system's.
    pub(super) fn unreadable(&self, error: io::Error) -> ArchiveError {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => self.damaged(Damage::Truncated),
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => self.damaged(Damage::Contents),
            _ if error.raw_os_error().is_none() => self.damaged(Damage::Contents),
            _ => ArchiveError::io("read", &*self.path)(error),
        }
    }
}

/// Names in a file from elsewhere must not reach the terminal as commands.
fn printable(name: &str) -> String {
    name.escape_debug().to_string()
}
