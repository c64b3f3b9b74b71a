//! The shared libraries that a library needs and that the build made.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use object::Object;

use super::ArchiveError;
use crate::cdylibs::has_name_of_its_file;

/// Returns every library in `search`'s folders that `library` needs, directly or through others, by
/// the name under which it is needed. Libraries that are not found there belong to the system.
///
/// # Errors
/// A library cannot be read.
pub(super) fn needed_from(
    library: &Utf8Path,
    search: &[Utf8PathBuf],
) -> Result<BTreeMap<String, Utf8PathBuf>, ArchiveError> {
    let mut found = BTreeMap::new();
    let mut unread = vec![library.to_owned()];
    while let Some(library) = unread.pop() {
        for name in names_needed_by(&library)? {
            if found.contains_key(&name) {
                continue;
            }
            let mut places = search.iter().map(|folder| folder.join(&name));
            if let Some(file) = places.find(|file| file.is_file()) {
                unread.push(file.clone());
                found.insert(name, file);
            }
        }
    }
    Ok(found)
}

/// Checks that a needed library is found by its own name once it is loaded. The libraries of an
/// archive are loaded one by one, in a sandbox, and no folder is searched for them.
///
/// # Errors
/// It has another name, or none.
pub(super) fn refuse_nameless(library: &Utf8Path) -> Result<(), ArchiveError> {
    if has_name_of_its_file(library) {
        Ok(())
    } else {
        Err(ArchiveError::Nameless {
            library: library.file_name().unwrap_or_default().to_owned(),
        })
    }
}

/// The linker treats a name with `/` as a path and searches no folders.
fn names_needed_by(library: &Utf8Path) -> Result<Vec<String>, ArchiveError> {
    let bytes = fs_err::read(library).map_err(ArchiveError::io("read", library))?;
    let unreadable = |source| ArchiveError::LibraryUnreadable {
        library: library.to_owned(),
        source,
    };
    let file = object::File::parse(&*bytes).map_err(unreadable)?;
    let mut names = Vec::new();
    for needed in file.import_libraries().map_err(unreadable)? {
        let name = String::from_utf8_lossy(needed.map_err(unreadable)?.name()).into_owned();
        if !name.is_empty() && !name.contains('/') {
            names.push(name);
        }
    }
    Ok(names)
}
