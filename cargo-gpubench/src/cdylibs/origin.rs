//! Checks whether a library was built from the requested packages. If two checkouts share a target
//! directory, cargo cannot tell apart packages at the same place in their workspaces. It reuses a
//! build of the other checkout if the sources here are older.

use std::collections::BTreeSet;
use std::fmt;

use camino::{Utf8Path, Utf8PathBuf};
use gpubench::origin::{BEFORE_FOLDER, BEFORE_PACKAGE};
use gpubench_device::FrozenFile;
use gpubench_diagnostic::printable_line;

/// A package in a library that was built from another checkout.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ForeignPackage {
    /// Its name.
    pub package: String,
    /// The folder that it was built from.
    pub folder: Utf8PathBuf,
}

impl fmt::Display for ForeignPackage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (package, folder) = (printable_line(&self.package), printable_line(self.folder.as_str()));
        write!(f, "`{package}` of `{folder}`")
    }
}

/// Returns the packages in `code`, each with benchmarks or kernels, that were built outside
/// `folders`. Reads the frozen copy, which is what processes load.
///
/// # Errors
/// The copy cannot be read.
pub(super) fn foreign_packages(code: &FrozenFile, folders: &[&Utf8Path]) -> std::io::Result<Vec<ForeignPackage>> {
    let known: BTreeSet<Utf8PathBuf> = folders.iter().map(|folder| real(folder)).collect();
    let origins = origins(&fs_err::read(code.path())?);
    Ok(origins
        .into_iter()
        .filter(|origin| !known.contains(&real(&origin.folder)))
        .collect())
}

/// Whose benchmarks and kernels a library has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// Those of the package, perhaps with others.
    Package,
    /// Only those of other packages.
    Others,
    /// It has none.
    Nobody,
}

/// Returns whose benchmarks and kernels `code` has. Reads the frozen copy.
///
/// # Errors
/// The copy cannot be read.
pub(super) fn owner(code: &FrozenFile, package: &str) -> std::io::Result<Owner> {
    let origins = origins(&fs_err::read(code.path())?);
    Ok(if origins.iter().any(|origin| origin.package == package) {
        Owner::Package
    } else if origins.is_empty() {
        Owner::Nobody
    } else {
        Owner::Others
    })
}

/// Resolves the links of a folder. A missing folder is returned as is.
fn real(folder: &Utf8Path) -> Utf8PathBuf {
    folder.canonicalize_utf8().unwrap_or_else(|_| folder.to_owned())
}

fn origins(library: &[u8]) -> BTreeSet<ForeignPackage> {
    let mut found = BTreeSet::new();
    let mut rest = library;
    while let Some(at) = find(rest, BEFORE_PACKAGE) {
        rest = &rest[at + BEFORE_PACKAGE.len()..];
        // A path has at most 4096 bytes, and a name has fewer.
        let words = &rest[..rest.len().min(8192)];
        let end = words.iter().position(|byte| *byte == 1);
        let words = end.and_then(|end| std::str::from_utf8(&words[..end]).ok());
        if let Some((package, folder)) = words.and_then(|words| words.split_once(BEFORE_FOLDER)) {
            found.insert(ForeignPackage {
                package: package.to_owned(),
                folder: folder.into(),
            });
        }
    }
    found
}

fn find(bytes: &[u8], mark: &str) -> Option<usize> {
    let mark = mark.as_bytes();
    let firsts = bytes.iter().enumerate().filter(|(_, byte)| **byte == mark[0]);
    firsts.map(|(at, _)| at).find(|at| bytes[*at..].starts_with(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_package_in_a_library_is_found_with_its_folder() {
        let own = gpubench::__private::origin!();
        let library = format!("\u{7f}ELF{own}\0{own}{BEFORE_PACKAGE}b\u{2}/w/b\u{1}{BEFORE_PACKAGE}cut off");
        let found: Vec<_> = origins(library.as_bytes())
            .into_iter()
            .map(|origin| (origin.package, origin.folder))
            .collect();
        assert_eq!(
            found,
            [
                ("b".to_owned(), "/w/b".into()),
                ("cargo-gpubench".to_owned(), env!("CARGO_MANIFEST_DIR").into()),
            ]
        );
    }
}
