//! Writes an archive.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};

use camino::{Utf8Path, Utf8PathBuf};
use flate2::Compression;
use flate2::write::GzEncoder;
use gpubench::catalog::Source;
use gpubench_store::Replacement;

use super::manifest::{LONGEST_MANIFEST, MANIFEST};
use super::needed::{needed_from, refuse_nameless};
use super::{
    ArchiveError, ArchivedFile, ArchivedKernels, ArchivedLibrary, ArchivedOwnLibrary, Digest, FORMAT, Manifest,
    source_digest,
};
use crate::cdylibs::{Built, BuiltLibrary, CargoTarget};
use gpubench_contract::Revision;

/// The contents of an archive.
#[derive(Debug)]
pub struct Contents {
    manifest: Manifest,
    /// The bytes of each file of the manifest, by its path in the archive. Other builds may replace
    /// the files that were read.
    files: BTreeMap<String, Vec<u8>>,
}

impl Contents {
    /// Returns the libraries of a build of sources at `revision`, with the shared libraries that
    /// they need and that the build made.
    ///
    /// # Errors
    /// A library cannot be read.
    pub fn new(built: &Built, revision: Option<Revision>) -> Result<Contents, ArchiveError> {
        let mut contents = Contents {
            manifest: Manifest {
                format: FORMAT,
                tool_version: env!("CARGO_PKG_VERSION").to_owned(),
                runtime_version: built.runtime_version.clone(),
                target: built.target.clone(),
                created_at: jiff::Timestamp::now().to_string(),
                revision,
                libraries: Vec::new(),
                kernels: Vec::new(),
            },
            files: BTreeMap::new(),
        };
        for library in &built.libraries {
            let archived = contents.library(library)?;
            contents.manifest.libraries.push(archived);
        }
        Ok(contents)
    }

    /// Returns the same contents without the time of today, so that the archive of the same build
    /// is the same file.
    #[must_use]
    pub fn without_time(mut self) -> Contents {
        self.manifest.created_at = jiff::Timestamp::UNIX_EPOCH.to_string();
        self
    }

    fn library(&mut self, library: &BuiltLibrary) -> Result<ArchivedLibrary, ArchiveError> {
        let folder = folder_of(library);
        let name = library.library.file_name().unwrap_or(&library.crate_name);
        let code = code_of(library)?;
        let file = self.file(format!("{folder}/{name}"), &code)?;
        let needs = needed_from(&code, &library.library_path)?
            .into_iter()
            .map(|(name, place)| {
                refuse_nameless(&place)?;
                self.file(format!("{folder}/needed/{name}"), &place)
            })
            .collect::<Result<_, _>>()?;
        Ok(ArchivedLibrary {
            package: library.package.clone(),
            example: example_of(library),
            version: library.version.clone(),
            crate_name: library.crate_name.clone(),
            file,
            needs,
            own_libraries: Vec::new(),
            settings: library.settings,
        })
    }

    /// Adds the libraries that benchmarks of a library name as their own: the path that they name,
    /// and the file.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn add_own_libraries(
        &mut self,
        library: &BuiltLibrary,
        own: impl Iterator<Item = (String, Utf8PathBuf)>,
    ) -> Result<(), ArchiveError> {
        let mut archived = Vec::new();
        for (number, (named, place)) in own.enumerate() {
            let name = place.file_name().unwrap_or("library");
            let file = self.file(format!("{}/own/{number}/{name}", folder_of(library)), &place)?;
            archived.push(ArchivedOwnLibrary { named, file });
        }
        let mut libraries = self.manifest.libraries.iter_mut();
        let is_of = |one: &&mut ArchivedLibrary| one.package == library.package && one.example == example_of(library);
        if let Some(library) = libraries.find(is_of) {
            library.own_libraries = archived;
        }
        Ok(())
    }

    /// Adds kernels that `compiler`, a name for people, compiled from a source into one file for
    /// `target`: `sm_90`, or a level of processors.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn add_kernels(
        &mut self,
        source: &Source,
        names: Vec<String>,
        target: &str,
        compiler: &str,
        image: &Utf8Path,
    ) -> Result<(), ArchiveError> {
        let number = self.manifest.kernels.len();
        let file = self.file(format!("kernels/{target}/{number}"), image)?;
        self.manifest.kernels.push(ArchivedKernels {
            source: source_digest(source),
            source_name: source.name.clone(),
            names,
            target: target.to_owned(),
            compiler: compiler.to_owned(),
            file,
        });
        Ok(())
    }

    fn file(&mut self, path: String, place: &Utf8Path) -> Result<ArchivedFile, ArchiveError> {
        let named = tar::Header::new_ustar().set_path(&path);
        named.map_err(|_| ArchiveError::LongName { path: path.clone() })?;
        let bytes = fs_err::read(place).map_err(ArchiveError::io("read", place))?;
        let (size, sha256) = (bytes.len() as u64, Digest::from_bytes(&bytes));
        self.files.insert(path.clone(), bytes);
        Ok(ArchivedFile { path, size, sha256 })
    }
}

/// Returns a file with the code of a library: the frozen copy, because examples of the same name in
/// several packages are built to the same file.
fn code_of(library: &BuiltLibrary) -> Result<Utf8PathBuf, ArchiveError> {
    match library.code.last() {
        Some(code) => {
            let path = Utf8PathBuf::from_path_buf(code.path());
            path.map_err(|path| ArchiveError::not_utf8(&path))
        }
        None => Ok(library.library.clone()),
    }
}

fn example_of(library: &BuiltLibrary) -> Option<String> {
    match &library.target {
        CargoTarget::Library => None,
        CargoTarget::Example { name } => Some(name.clone()),
    }
}

/// Returns the folder of a library's files in the archive.
fn folder_of(library: &BuiltLibrary) -> String {
    match &library.target {
        CargoTarget::Library => format!("libraries/{}", library.package),
        CargoTarget::Example { name } => format!("libraries/{}/examples/{name}", library.package),
    }
}

/// Writes an archive and returns its size in bytes. Replaces an existing file when the new one is
/// complete.
///
/// # Errors
/// The folder is missing, or the file cannot be written.
pub fn write(contents: &Contents, archive: &Utf8Path) -> Result<u64, ArchiveError> {
    let folder = archive
        .parent()
        .filter(|folder| !folder.as_str().is_empty())
        .unwrap_or(Utf8Path::new("."));
    // The kernel may already refuse to follow a link of another user, and says less about it.
    match fs::metadata(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(ArchiveError::io("open", folder)(error)),
        _ => {}
    }
    let unwritten = |source| ArchiveError::io("write", archive)(source);
    let replacement = Replacement::new(archive).map_err(unwritten)?;
    replacement.filled_by(unwritten, |file| fill(contents, archive, file))
}

fn fill(contents: &Contents, archive: &Utf8Path, file: &File) -> Result<u64, ArchiveError> {
    let unwritten = || ArchiveError::io("write", archive);
    contents.manifest.refuse_many_files(archive)?;
    let manifest = serde_json::to_vec_pretty(&contents.manifest)
        .map_err(|error| ArchiveError::io("write the manifest of", archive)(error.into()))?;
    let length = manifest.len() as u64;
    if length > LONGEST_MANIFEST {
        let longest = LONGEST_MANIFEST;
        return Err(ArchiveError::LongManifest { length, longest });
    }
    let gzip = GzEncoder::new(io::BufWriter::new(file), Compression::default());
    let mut tar = tar::Builder::new(gzip);
    append(&mut tar, MANIFEST, &manifest).map_err(unwritten())?;
    for file in contents.manifest.files() {
        append(&mut tar, &file.path, &contents.files[&file.path]).map_err(unwritten())?;
    }
    let gzip = tar.into_inner().map_err(unwritten())?;
    let buffered = gzip.finish().map_err(unwritten())?;
    let file = buffered.into_inner().map_err(|error| unwritten()(error.into_error()))?;
    Ok(file.metadata().map_err(unwritten())?.len())
}

/// Returns the header of an entry. It has no machine or time, so that equal contents make equal
/// archives. The name must fit the header: readers refuse entries that extend others.
fn append(tar: &mut tar::Builder<impl Write>, path: &str, bytes: &[u8]) -> io::Result<()> {
    let mut header = tar::Header::new_ustar();
    header.set_path(path)?;
    header.set_entry_type(tar::EntryType::Regular);
    header.set_size(bytes.len() as u64);
    header.set_mode(0o644);
    header.set_mtime(0);
    header.set_cksum();
    tar.append(&header, bytes)
}
