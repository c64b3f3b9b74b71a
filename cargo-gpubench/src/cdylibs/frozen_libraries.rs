//! Frozen copies of a package's shared libraries, in dependency order.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use object::elf::{DT_NEEDED, DT_RPATH, DT_RUNPATH, DT_SONAME, DynamicTag, FileHeader64};
use object::read::elf::ElfFile;

use gpubench_device::{FreezeError, FrozenFile};

/// Returns frozen copies of a library and the libraries that it needs, directly or through others;
/// the library itself is last. Searches the folders of `search` and those that a library names
/// relative to itself (`$ORIGIN`). The dynamic linker sees a copy as a file of `/proc/self/fd`,
/// where `$ORIGIN` leads nowhere.
///
/// Leaves out system libraries, and libraries whose `SONAME` is not the name under which they are
/// needed: the dynamic linker would not accept a copy, and finds them by path.
///
/// # Errors
/// A file cannot be copied, or `check` refuses the copy of a path.
pub(crate) fn freeze_libraries<E: From<FreezeError>>(
    library: &Utf8Path,
    search: &[Utf8PathBuf],
    check: impl Fn(&Utf8Path, &FrozenFile) -> Result<(), E>,
) -> Result<Vec<FrozenFile>, E> {
    let mut sealing = Freezing {
        search,
        check,
        seen: BTreeSet::new(),
        files: Vec::new(),
    };
    let file = sealing.freeze(library)?;
    sealing.take_needed_by(&file)?;
    sealing.files.push(file.copy);
    Ok(sealing.files)
}

/// Whether the dynamic linker knows a loaded library by the name of its file.
pub(crate) fn has_name_of_its_file(library: &Utf8Path) -> bool {
    let bytes = fs_err::read(library).unwrap_or_default();
    strings(&bytes, DT_SONAME).last().map(String::as_str) == library.file_name()
}

struct Freezing<'a, C> {
    search: &'a [Utf8PathBuf],
    check: C,
    seen: BTreeSet<String>,
    files: Vec<FrozenFile>,
}

/// A copy, and the entries that the dynamic linker reads in it.
struct Library {
    copy: FrozenFile,
    needed: Vec<String>,
    name: Option<String>,
    /// Folders that the library names relative to its own folder.
    origin_folders: Vec<Utf8PathBuf>,
}

impl<E: From<FreezeError>, C: Fn(&Utf8Path, &FrozenFile) -> Result<(), E>> Freezing<'_, C> {
    fn freeze(&self, path: &Utf8Path) -> Result<Library, E> {
        let copy = FrozenFile::copy_of(path.as_std_path())?;
        (self.check)(path, &copy)?;
        let bytes = fs_err::read(copy.path()).map_err(|source| FreezeError::Copy {
            path: path.as_std_path().to_owned(),
            source,
        })?;
        Ok(Library {
            copy,
            needed: strings(&bytes, DT_NEEDED),
            name: strings(&bytes, DT_SONAME).pop(),
            origin_folders: folders_of_origin(path, &bytes),
        })
    }

    fn take_needed_by(&mut self, library: &Library) -> Result<(), E> {
        for name in &library.needed {
            // The linker treats a name with `/` as a path.
            if name.contains('/') || !self.seen.insert(name.clone()) {
                continue;
            }
            let folders = self.search.iter().chain(&library.origin_folders);
            let mut places = folders.map(|folder| folder.join(name));
            let Some(place) = places.find(|place| place.is_file()) else {
                continue;
            };
            let needed = self.freeze(&place)?;
            self.take_needed_by(&needed)?;
            if needed.name.as_ref() == Some(name) {
                self.files.push(needed.copy);
            }
        }
        Ok(())
    }
}

/// Returns the folders of a library's `RUNPATH` or `RPATH` that begin with `$ORIGIN`: the library's
/// folder, with links resolved. The linker finds all other folders by itself.
fn folders_of_origin(path: &Utf8Path, library: &[u8]) -> Vec<Utf8PathBuf> {
    let path = path.canonicalize_utf8().unwrap_or_else(|_| path.to_owned());
    let Some(origin) = path.parent() else {
        return Vec::new();
    };
    let lists = match strings(library, DT_RUNPATH) {
        none if none.is_empty() => strings(library, DT_RPATH),
        runpath => runpath,
    };
    let below = |entry: &str| {
        let rest = entry
            .strip_prefix("$ORIGIN")
            .or_else(|| entry.strip_prefix("${ORIGIN}"))?;
        (rest.is_empty() || rest.starts_with('/')).then(|| origin.join(rest.trim_start_matches('/')))
    };
    lists
        .iter()
        .flat_map(|list| list.split(':'))
        .filter_map(below)
        .collect()
}

/// Returns the strings of a tag in the dynamic section. Returns none if the file has no such
/// section; the linker reports that better.
fn strings(library: &[u8], tag: DynamicTag) -> Vec<String> {
    let Ok(file) = ElfFile::<FileHeader64<object::Endianness>>::parse(library) else {
        return Vec::new();
    };
    let Ok(table) = file.elf_dynamic_table() else {
        return Vec::new();
    };
    let entries = table.iter().filter(|entry| entry.tag == tag);
    let strings = entries.filter_map(|entry| table.string(entry).ok());
    strings.map(|text| String::from_utf8_lossy(text).into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::test_folder::TestFolder;

    impl TestFolder {
        /// Links `lib<name>.so`, with or without a `SONAME`.
        fn library(&self, name: &str, soname: Option<&str>, needs: &[&str]) -> Utf8PathBuf {
            self.library_with(name, soname, needs, &[])
        }

        /// Links `lib<name>.so` with options for the linker.
        fn library_with(&self, name: &str, soname: Option<&str>, needs: &[&str], options: &[&str]) -> Utf8PathBuf {
            let library = self.path.join(format!("lib{name}.so"));
            let source = self.path.join(format!("{name}.cpp"));
            fs_err::write(&source, format!("int {name}() {{ return 0; }}\n")).expect("written");
            let mut compiler = Command::new("c++");
            compiler
                .args([
                    "-shared",
                    "-fPIC",
                    "-Wl,--no-as-needed",
                    "-o",
                    library.as_str(),
                    source.as_str(),
                ])
                .arg(format!("-L{}", self.path))
                .args(soname.map(|soname| format!("-Wl,-soname,{soname}")))
                .args(options)
                .args(needs.iter().map(|needed| format!("-l{needed}")));
            assert!(compiler.status().expect("a C++ compiler").success());
            library
        }

        fn freeze(&self, library: &Utf8Path) -> Vec<FrozenFile> {
            let any = |_: &Utf8Path, _: &FrozenFile| Ok::<(), FreezeError>(());
            freeze_libraries(library, std::slice::from_ref(&self.path), any).expect("readable libraries")
        }
    }

    fn contents(files: &[FrozenFile]) -> Vec<Vec<u8>> {
        files
            .iter()
            .map(|file| fs_err::read(file.path()).expect("readable"))
            .collect()
    }

    #[test]
    fn a_library_follows_its_dependencies_and_system_libraries_are_left_out() {
        let place = TestFolder::new();
        let innermost = place.library("innermost", Some("libinnermost.so"), &[]);
        let inner = place.library("inner", Some("libinner.so"), &["innermost"]);
        let outer = place.library("outer", None, &["inner", "innermost", "c"]);
        let expected: Vec<_> = [innermost, inner, outer.clone()]
            .iter()
            .map(|path| fs_err::read(path).expect("readable"))
            .collect();
        assert_eq!(contents(&place.freeze(&outer)), expected);
    }

    #[test]
    fn libraries_next_to_the_original_are_found() {
        for tag in ["-Wl,--enable-new-dtags", "-Wl,--disable-new-dtags"] {
            let place = TestFolder::new();
            let built = place.library("inner", Some("libinner.so"), &[]);
            let origin = ["-Wl,-rpath,/nowhere:$ORIGIN/own", tag];
            let outer = place.library_with("outer", None, &["inner"], &origin);
            fs_err::create_dir(place.path.join("own")).expect("a folder");
            let inner = place.path.join("own/libinner.so");
            fs_err::rename(built, &inner).expect("moved");
            let expected = [inner, outer.clone()].map(|path| fs_err::read(path).expect("readable"));
            assert_eq!(contents(&place.freeze(&outer)), expected);
        }
    }

    #[test]
    fn a_library_with_another_soname_is_left_to_the_linker() {
        let place = TestFolder::new();
        place.library("inner", None, &[]);
        let outer = place.library("outer", None, &["inner"]);
        assert_eq!(place.freeze(&outer).len(), 1);
    }

    #[test]
    fn a_file_that_is_no_library_has_no_dependencies() {
        let place = TestFolder::new();
        let file = place.path.join("text");
        fs_err::write(&file, "no library").expect("written");
        assert_eq!(contents(&place.freeze(&file)), [b"no library"]);
    }
}
