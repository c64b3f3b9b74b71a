//! Unpacks an archive into a folder.

use std::collections::HashMap;
use std::env::consts::ARCH;
use std::io::Read;
use std::sync::atomic::AtomicBool;

use camino::{Utf8Path, Utf8PathBuf};

use super::digest::CopyError;
use super::needed::refuse_nameless;
use super::read::Archive;
use super::{ArchiveError, ArchivedFile, ArchivedLibrary, Damage, Digest, ExtractTo, ExtractionFolder, Manifest};
use crate::cdylibs::{Built, BuiltLibrary, CargoTarget, Coverage, LibraryForm, OwnLibraries, freeze_libraries};
use gpubench_device::FrozenFile;

/// An unpacked archive. Every file is verified.
#[derive(Debug)]
pub struct Unpacked {
    /// The folder; a temporary folder is removed with it.
    pub folder: ExtractionFolder,
    /// The manifest.
    pub manifest: Manifest,
}

impl Unpacked {
    /// Returns the libraries in the form of a build.
    ///
    /// # Errors
    /// A library changed after it was unpacked, or there is no memory for its copy.
    pub fn built(&self) -> Result<Built, ArchiveError> {
        Ok(Built {
            libraries: self
                .manifest
                .libraries
                .iter()
                .map(|library| self.library(library))
                .collect::<Result<_, _>>()?,
            coverage: Coverage::Part,
            target_directory: self.folder.path().to_owned(),
            target: self.manifest.target.clone(),
            runtime_version: self.manifest.runtime_version.clone(),
            notices: Vec::new(),
        })
    }

    fn library(&self, archived: &ArchivedLibrary) -> Result<BuiltLibrary, ArchiveError> {
        let folder = self.folder.path();
        let parent_of = |file: &ArchivedFile| file.below(folder).parent().map(Utf8Path::to_owned);
        let mut library_path: Vec<Utf8PathBuf> = archived.needs.iter().filter_map(parent_of).collect();
        library_path.dedup();
        let library = archived.file.below(folder);
        let check = |path: &Utf8Path, copy: &FrozenFile| {
            let mut files = std::iter::once(&archived.file).chain(&archived.needs);
            if files.any(|file| file.below(folder) == path && file.sha256.is_of(copy)) {
                Ok(())
            } else {
                Err(ArchiveError::Exchanged { path: path.to_owned() })
            }
        };
        let code = freeze_libraries(&library, &library_path, check)?;
        archived
            .needs
            .iter()
            .try_for_each(|needed| refuse_nameless(&needed.below(folder)))?;
        let own_libraries = archived.own_libraries.iter().map(|own| {
            let path = own.file.below(folder);
            let copy = FrozenFile::copy_of(path.as_std_path())?;
            if own.file.sha256.is_of(&copy) {
                Ok((own.named.clone(), copy))
            } else {
                Err(ArchiveError::Exchanged { path })
            }
        });
        let own_libraries = OwnLibraries::Copied(own_libraries.collect::<Result<_, _>>()?);
        Ok(BuiltLibrary {
            package: archived.package.clone(),
            target: match &archived.example {
                Some(name) => CargoTarget::Example { name: name.clone() },
                None => CargoTarget::Library,
            },
            crate_name: archived.crate_name.clone(),
            version: archived.version.clone(),
            root: folder.to_owned(),
            library,
            form: LibraryForm::Cdylib,
            code,
            // The copies are loaded by themselves, in a sandbox. In a folder that the linker
            // searches, they could replace the libraries of this tool's own processes.
            library_path: Vec::new(),
            own_libraries,
            settings: archived.settings,
        })
    }
}

/// Verifies an archive and unpacks it.
///
/// # Errors
/// The file is not an archive, is damaged, newer than this tool, for another platform, or has too
/// many files; the folder cannot be created or written; or the user interrupts.
pub fn unpack(archive: &Utf8Path, to: &ExtractTo, interrupted: &AtomicBool) -> Result<Unpacked, ArchiveError> {
    let archive = Archive::open(archive, interrupted)?;
    let manifest = archive.manifest()?;
    manifest.refuse_many_files(&archive.path)?;
    let folder = ExtractionFolder::prepare(to)?;
    refuse_larger_than_disk(&archive.path, &manifest, &folder)?;
    archive.verify(&manifest)?;
    refuse_other_platform(&archive.path, &manifest.target)?;
    let expected = manifest.files().map(|file| (file.path.clone(), file.clone())).collect();
    let mut unpacking = Unpacking { folder, expected };
    archive.files(&manifest, |path, contents| unpacking.file(&archive, path, contents))?;
    let Unpacking { folder, expected } = unpacking;
    match expected.into_keys().min() {
        Some(absent) => Err(archive.damaged(Damage::Absent(absent))),
        None => Ok(Unpacked { folder, manifest }),
    }
}

/// Checks the free space. The manifest lists everything that will be written: [`Archive::verify`]
/// refuses an archive with more.
fn refuse_larger_than_disk(
    archive: &Utf8Path,
    manifest: &Manifest,
    folder: &ExtractionFolder,
) -> Result<(), ArchiveError> {
    let needed = manifest.files().fold(0, |sum: u64, file| sum.saturating_add(file.size));
    let disk = rustix::fs::statvfs(folder.path().as_std_path());
    let disk = disk.map_err(|error| ArchiveError::io("look at", folder.path())(error.into()))?;
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    if needed <= free {
        return Ok(());
    }
    Err(ArchiveError::NoRoom {
        archive: archive.to_owned(),
        folder: folder.path().to_owned(),
        needed,
        free,
    })
}

/// An archive being unpacked: the folder, and the files still to come.
struct Unpacking {
    folder: ExtractionFolder,
    expected: HashMap<String, ArchivedFile>,
}

impl Unpacking {
    fn file(
        &mut self,
        archive: &Archive<'_>,
        path: &Utf8Path,
        mut contents: &mut dyn Read,
    ) -> Result<(), ArchiveError> {
        let expected = self
            .expected
            .remove(path.as_str())
            .ok_or_else(|| archive.damaged(Damage::Unlisted(path.to_string())))?;
        let mut file = self.folder.create(path)?;
        let unwritten = || ArchiveError::io("write", self.folder.path().join(path));
        let copied = Digest::while_copying(&mut contents, &mut file);
        let (size, sha256) = copied.map_err(|error| match error {
            CopyError::Read(error) => archive.unreadable(error),
            CopyError::Write(error) => unwritten()(error),
        })?;
        if (size, sha256) != (expected.size, expected.sha256) {
            return Err(archive.damaged(Damage::File(expected.path)));
        }
        Ok(())
    }
}

/// Refuses another platform. This tool's own processes load the libraries, so the processor and the
/// C library must match. Only the dynamic linker can tell versions of the C library apart.
fn refuse_other_platform(archive: &Utf8Path, made_for: &str) -> Result<(), ArchiveError> {
    let libc = if cfg!(target_env = "musl") { "musl" } else { "gnu" };
    let mut parts = made_for.split('-');
    let same_processor = parts.next() == Some(ARCH);
    let same_libc = parts.next_back() == Some(libc);
    if same_processor && same_libc && made_for.contains("-linux-") {
        return Ok(());
    }
    Err(ArchiveError::OtherTarget {
        archive: archive.to_owned(),
        made_for: made_for.escape_debug().to_string(),
        here: format!("{ARCH}-unknown-linux-{libc}"),
    })
}
