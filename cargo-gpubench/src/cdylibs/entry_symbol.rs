//! Checks whether a built library has benchmarks. Reads the symbol table, because loading the
//! library would run its constructors.

use camino::Utf8Path;
use gpubench::abi::ENTRY_SYMBOL;
use gpubench_device::FrozenFile;
use object::{Object, ObjectSymbol};

use super::BuildError;

/// Returns whether `library` exports the runtime's entry point. Reads its frozen copy. The linker
/// drops the runtime if nothing in the library refers to it.
///
/// # Errors
///
/// The file cannot be read or is not a shared library.
pub(super) fn has_entry_point(library: &Utf8Path, code: &FrozenFile) -> Result<bool, BuildError> {
    let unreadable = |source| BuildError::LibraryUnreadable {
        library: library.to_owned(),
        source,
    };
    let bytes = fs_err::read(code.path()).map_err(|error| unreadable(error.into()))?;
    let file = object::File::parse(&*bytes).map_err(|error| unreadable(error.into()))?;
    Ok(file
        .dynamic_symbols()
        .any(|symbol| symbol.is_definition() && symbol.name_bytes() == Ok(ENTRY_SYMBOL.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_file_is_not_a_library() {
        let file = tempfile::Builder::new().suffix(".so").tempfile().expect("a file");
        fs_err::write(file.path(), "not a library").expect("written");
        let path = Utf8Path::from_path(file.path()).expect("a UTF-8 path");
        let code = FrozenFile::copy_of(file.path()).expect("a copy");
        assert!(matches!(
            has_entry_point(path, &code),
            Err(BuildError::LibraryUnreadable { .. })
        ));
    }
}
