//! Reads an archive.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::sync::atomic::{AtomicBool, Ordering};

use camino::{Utf8Path, Utf8PathBuf};
use flate2::read::GzDecoder;

use super::entry_path::inside;
use super::manifest::{LONGEST_MANIFEST, MANIFEST, Origin};
use super::{ArchiveError, Damage, FORMAT, Manifest};
use gpubench_contract::units::size;
use gpubench_diagnostic::{AtMost, is_too_much, open_regular};

/// The first two bytes of a gzip file.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// A file that starts like an archive.
pub(super) struct Archive<'a> {
    pub(super) path: Utf8PathBuf,
    file: File,
    interrupted: &'a AtomicBool,
}

impl<'a> Archive<'a> {
    /// Opens an archive. Reading stops once `interrupted` is set.
    ///
    /// # Errors
    /// The file does not exist, or is not an archive.
    pub(super) fn open(path: &Utf8Path, interrupted: &'a AtomicBool) -> Result<Archive<'a>, ArchiveError> {
        let missing = |source| ArchiveError::Missing {
            archive: path.to_owned(),
            source,
        };
        let mut archive = Archive {
            path: path.to_owned(),
            file: open_regular(path).map_err(missing)?,
            interrupted,
        };
        archive.refuse_other_files()?;
        Ok(archive)
    }

    /// Reads the manifest, and nothing after it.
    ///
    /// # Errors
    /// The manifest is missing or unusable.
    pub(super) fn manifest(&self) -> Result<Manifest, ArchiveError> {
        let mut tar = tar::Archive::new(self.contents(most_of_file(LONGEST_MANIFEST))?);
        let entries = tar.entries().map_err(|error| self.unreadable(error))?;
        // Raw entries: tar does not collect long names of extensions in memory.
        let mut first = match entries.raw(true).next() {
            Some(Ok(first)) if &*first.path_bytes() == MANIFEST.as_bytes() => first,
            Some(Err(error)) if self.is_interrupted() => return Err(self.unreadable(error)),
            // An entry that tar cannot parse has the kind `Other`. Decompression and read errors
            // have other kinds.
            Some(Err(error)) if error.kind() != io::ErrorKind::Other => return Err(self.unreadable(error)),
            _ => return Err(self.not_an_archive()),
        };
        self.refuse_unless_plain(&first, MANIFEST)?;
        if first.size() > LONGEST_MANIFEST {
            let longest = format!("it is longer than {}", size(LONGEST_MANIFEST));
            return Err(self.damaged(Damage::Manifest(longest)));
        }
        self.parse(&mut first)
    }

    /// Reads the whole archive once, so that a damaged one is never used.
    ///
    /// # Errors
    /// It is damaged, or longer than its manifest says.
    pub(super) fn verify(&self, manifest: &Manifest) -> Result<(), ArchiveError> {
        let mut contents = self.contents(most_bytes(manifest))?;
        let copied = io::copy(&mut contents, &mut io::sink());
        copied.map(drop).map_err(|error| self.unreadable(error))
    }

    /// Passes the entries after the manifest to `each`, in order.
    ///
    /// # Errors
    /// An entry is not valid in an archive, or `each` fails.
    pub(super) fn files(
        &self,
        manifest: &Manifest,
        mut each: impl FnMut(&Utf8Path, &mut dyn Read) -> Result<(), ArchiveError>,
    ) -> Result<(), ArchiveError> {
        let mut tar = tar::Archive::new(self.contents(most_bytes(manifest))?);
        let entries = tar.entries().map_err(|error| self.unreadable(error))?;
        for entry in entries.raw(true).skip(1) {
            let mut entry = entry.map_err(|error| self.unreadable(error))?;
            let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
            self.refuse_unless_plain(&entry, &name)?;
            let path = inside(&name).ok_or_else(|| ArchiveError::Outside {
                archive: self.path.clone(),
                entry: printable(&name),
            })?;
            each(&path, &mut entry)?;
        }
        Ok(())
    }

    fn refuse_unless_plain(&self, entry: &tar::Entry<'_, impl Read>, name: &str) -> Result<(), ArchiveError> {
        match entry.header().entry_type() {
            tar::EntryType::Regular => Ok(()),
            kind => Err(ArchiveError::NotPlain {
                archive: self.path.clone(),
                entry: printable(name),
                kind: kind_of(kind),
            }),
        }
    }

    fn parse(&self, entry: &mut impl Read) -> Result<Manifest, ArchiveError> {
        let unusable = |error: serde_json::Error| self.damaged(Damage::Manifest(error.to_string()));
        let mut text = Vec::new();
        let read = entry.read_to_end(&mut text);
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

    /// Returns the decompressed contents from the start. Reading fails after `most` bytes.
    fn contents(&self, most: u64) -> Result<Wanted<'a, impl Read>, ArchiveError> {
        let mut file = &self.file;
        file.rewind().map_err(ArchiveError::io("read", &*self.path))?;
        Ok(Wanted {
            from: AtMost::new(GzDecoder::new(io::BufReader::new(file)), most),
            interrupted: self.interrupted,
        })
    }

    fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
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

    /// Converts a read error. Errors of the decoder are about the contents; all others are the
    /// system's.
    pub(super) fn unreadable(&self, error: io::Error) -> ArchiveError {
        match error.kind() {
            _ if self.is_interrupted() => ArchiveError::Interrupted,
            _ if is_too_much(&error) => self.damaged(Damage::TooLong),
            io::ErrorKind::UnexpectedEof => self.damaged(Damage::Truncated),
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => self.damaged(Damage::Contents),
            _ if error.raw_os_error().is_none() => self.damaged(Damage::Contents),
            _ => ArchiveError::io("read", &*self.path)(error),
        }
    }
}

/// A reader that fails once the user interrupts.
struct Wanted<'a, R> {
    from: R,
    interrupted: &'a AtomicBool,
}

impl<R: Read> Read for Wanted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.interrupted.load(Ordering::Relaxed) {
            // Not `ErrorKind::Interrupted`: readers retry after that.
            Err(io::Error::other("interrupted"))
        } else {
            self.from.read(buffer)
        }
    }
}

/// Bytes of a header, and the block size of an entry's contents.
const BLOCK: u64 = 512;

/// Most bytes after the last entry: tar fills whole records with zeros.
const LONGEST_END: u64 = 64 << 10;

fn most_of_file(size: u64) -> u64 {
    size.div_ceil(BLOCK).saturating_add(1).saturating_mul(BLOCK)
}

/// Returns the most bytes of an archive with this manifest.
fn most_bytes(manifest: &Manifest) -> u64 {
    let files = manifest.files().map(|file| most_of_file(file.size));
    files.fold(most_of_file(LONGEST_MANIFEST) + LONGEST_END, u64::saturating_add)
}

/// Describes the kinds of entries that extend other entries or are not regular files.
fn kind_of(kind: tar::EntryType) -> String {
    let name = match kind {
        tar::EntryType::GNULongName => "a GNU long name",
        tar::EntryType::GNULongLink => "a GNU long link",
        tar::EntryType::GNUSparse => "a GNU sparse file",
        tar::EntryType::XHeader | tar::EntryType::XGlobalHeader => "a pax header",
        tar::EntryType::Symlink | tar::EntryType::Link => "a link",
        tar::EntryType::Directory => "a folder",
        tar::EntryType::Char | tar::EntryType::Block => "a device",
        tar::EntryType::Fifo => "a pipe",
        other => return format!("of type {:#04x}", other.as_byte()),
    };
    name.to_owned()
}

/// Makes a name printable: untrusted names must not control the terminal.
fn printable(name: &str) -> String {
    name.escape_debug().to_string()
}
