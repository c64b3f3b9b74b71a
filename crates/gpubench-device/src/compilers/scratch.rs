//! The temporary directory of a compilation.

use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

use gpubench::catalog::Source;

use super::error::KernelBuildError;
use super::process::LONGEST_OUTPUT;
use gpubench_diagnostic::{AtMost, TemporaryFolder, open_regular_link_refused};

/// Begins the names of temporary folders in the cache.
pub(super) const PREFIX: &str = ".kernel-";
/// The folder of the crate's files, and a folder in it for each `..` that leaves the crate.
const ROOT: &str = "root";
const UP: &str = "up";

/// A directory with the source under its relative paths, a folder for added headers, and space for
/// the output. Removed on drop.
pub(super) struct Scratch {
    directory: TemporaryFolder,
    /// The crate's root inside the directory. It is deeper if paths leave the crate through `..`.
    root: PathBuf,
}

impl Scratch {
    pub(super) fn new(parent: &Path, source: &Source) -> Result<Scratch, KernelBuildError> {
        fs_err::create_dir_all(parent).map_err(KernelBuildError::io("create", parent))?;
        let directory = TemporaryFolder::new_in(parent, PREFIX).map_err(KernelBuildError::io("create", parent))?;
        let climbs = source
            .files
            .iter()
            .map(|file| climb(&file.path))
            .collect::<Result<Vec<_>, _>>()?;
        let depth = climbs.into_iter().max().unwrap_or(0);
        let root = directory
            .path()
            .join(ROOT)
            .join(PathBuf::from_iter(std::iter::repeat_n(UP, depth)));
        let scratch = Scratch { directory, root };
        for file in &source.files {
            write(&scratch.root.join(&file.path), &file.contents)?;
        }
        Ok(scratch)
    }

    /// Adds a generated file next to the crate's files.
    pub(super) fn add_unit(&self, name: &str, text: &str) -> Result<(), KernelBuildError> {
        write(&self.root.join(name), text.as_bytes())
    }

    /// Adds copies of libraries to link, since a compiler may not read where they are. Returns the
    /// copies.
    pub(super) fn add_libraries(&self, libraries: &[PathBuf]) -> Result<Vec<PathBuf>, KernelBuildError> {
        let folder = self.file("linked");
        let copies = libraries.iter().map(|library| {
            let copy = folder.join(library.file_name().unwrap_or_default());
            write(&copy, &read(library)?)?;
            Ok(copy)
        });
        copies.collect()
    }

    /// Adds headers for the compiler.
    pub(super) fn add_headers(&self, headers: &[(&str, &str)]) -> Result<(), KernelBuildError> {
        headers
            .iter()
            .try_for_each(|(path, text)| write(&self.shim().join(path), text.as_bytes()))
    }

    /// Returns the compiler's working directory. Paths in its messages are therefore relative to
    /// the crate's root.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the include directory of the added headers.
    pub(super) fn shim(&self) -> PathBuf {
        self.directory.path().join("shim")
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(super) fn directory(&self) -> &Path {
        self.directory.path()
    }
}

/// Returns how many directories above its start a path climbs.
fn climb(path: &str) -> Result<usize, KernelBuildError> {
    let refuse = || KernelBuildError::Unusable(format!("the path of the kernel source file `{path}` is not relative"));
    let mut depth = 0isize;
    let mut highest = 0isize;
    for component in Path::new(path).components() {
        match component {
            Component::ParentDir => depth -= 1,
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return Err(refuse()),
        }
        highest = highest.min(depth);
    }
    if path.is_empty() || path.contains(['"', '\n', '\\']) || highest < -64 {
        return Err(refuse());
    }
    Ok(highest.unsigned_abs())
}

/// Reads the output of a compiler, which may be anything but a link.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, KernelBuildError> {
    let whole = || {
        let mut contents = Vec::new();
        AtMost::new(open_regular_link_refused(path)?, LONGEST_OUTPUT).read_to_end(&mut contents)?;
        Ok(contents)
    };
    whole().map_err(KernelBuildError::io("read", path))
}

/// Writes a file, and creates its folders.
pub(super) fn write(path: &Path, contents: &[u8]) -> Result<(), KernelBuildError> {
    let write = || {
        if let Some(parent) = path.parent() {
            fs_err::create_dir_all(parent)?;
        }
        fs_err::write(path, contents)
    };
    write().map_err(KernelBuildError::io("write", path))
}
