//! The library of a benchmark's own. This process reads its header and copies it, and never loads
//! it.

use std::collections::BTreeMap;
use std::io::{self, Read};

use camino::{Utf8Path, Utf8PathBuf};
use object::elf::{ELFCLASS64, ELFDATA2LSB, ELFMAG, EM_AARCH64, EM_X86_64, ET_DYN};

use gpubench_device::FrozenFile;
use gpubench_diagnostic::{chain, open_regular, printable_line};

/// Most bytes of a library: each has a copy in memory during the run.
const MOST_BYTES: u64 = 512 << 20;

/// Where the libraries are that benchmarks name.
#[derive(Clone, Debug)]
pub enum OwnLibraries {
    /// On disk. Relative paths start at the root of the package.
    OnDisk,
    /// In copies, by the path that the benchmark names.
    Copied(BTreeMap<String, FrozenFile>),
}

/// Why a benchmark's own library cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OwnLibraryError {
    /// The file cannot be read.
    #[error(
        "cannot read its library `{path}` (hint: if a build script makes it, the build says why it did not; otherwise `library = ..` names a file that the package lacks)"
    )]
    Unreadable {
        /// The file.
        path: Utf8PathBuf,
        /// The operating system's reason.
        #[source]
        source: io::Error,
    },
    /// An archive does not have it.
    #[error("the archive does not have its library `{path}` (hint: it was missing when the archive was made)")]
    NotArchived {
        /// The path that the benchmark names.
        path: String,
    },
    /// It would take too much memory.
    #[error("its library `{path}` is larger than {} MiB (hint: link large libraries dynamically)", MOST_BYTES >> 20)]
    TooLarge {
        /// The file.
        path: Utf8PathBuf,
    },
    /// It is something else.
    #[error(
        "its library `{path}` is {found}, not a shared library for {} (hint: {hint})",
        std::env::consts::ARCH
    )]
    Other {
        /// The file.
        path: Utf8PathBuf,
        /// What the file is.
        found: &'static str,
        /// What to do.
        hint: &'static str,
    },
}

impl OwnLibraryError {
    /// Returns the message with its causes in a line. The path is a text of the crate, which must
    /// not control a terminal.
    pub fn printable(&self) -> String {
        printable_line(&chain(self))
    }
}

impl OwnLibraries {
    /// Returns a copy of the library that a benchmark of the package at `root` names.
    ///
    /// # Errors
    /// If it is no shared library for this machine.
    pub fn copy(&self, root: &Utf8Path, named: &str) -> Result<FrozenFile, OwnLibraryError> {
        match self {
            OwnLibraries::OnDisk => copy_of(&root.join(named)),
            OwnLibraries::Copied(copies) => match copies.get(named) {
                Some(copy) => Ok(copy.clone()),
                None => Err(OwnLibraryError::NotArchived { path: named.to_owned() }),
            },
        }
    }
}

/// Copies a shared library.
fn copy_of(path: &Utf8Path) -> Result<FrozenFile, OwnLibraryError> {
    let unreadable = |source| OwnLibraryError::Unreadable {
        path: path.to_owned(),
        source,
    };
    let file = open_regular(path).map_err(unreadable)?;
    if file.metadata().map_err(unreadable)?.len() > MOST_BYTES {
        return Err(OwnLibraryError::TooLarge { path: path.to_owned() });
    }
    let name = path.file_name().unwrap_or_default();
    let copy = FrozenFile::of_contents(name, file.take(MOST_BYTES)).map_err(unreadable)?;
    let mut header = Vec::new();
    let read = open_regular(copy.path()).and_then(|copy| copy.take(HEADER_BYTES).read_to_end(&mut header));
    read.map_err(unreadable)?;
    match foreign(&header) {
        None => Ok(copy),
        Some((found, hint)) => Err(OwnLibraryError::Other {
            path: path.to_owned(),
            found,
            hint,
        }),
    }
}

/// The bytes of an ELF header up to the processor.
const HEADER_BYTES: u64 = 20;

/// Returns what a file with this beginning is, with a hint, unless it is a shared library for this
/// machine.
fn foreign(header: &[u8]) -> Option<(&'static str, &'static str)> {
    let link = "link it with `-shared`";
    let [identity @ .., kind_low, kind_high, machine_low, machine_high] = header else {
        return Some(("no ELF file", link));
    };
    if header.len() < HEADER_BYTES as usize || !identity.starts_with(&ELFMAG) {
        return Some(("no ELF file", link));
    }
    let here = if cfg!(target_arch = "aarch64") {
        EM_AARCH64
    } else {
        EM_X86_64
    };
    let machine = u16::from_le_bytes([*machine_low, *machine_high]);
    if (identity[4], identity[5]) != (ELFCLASS64.0, ELFDATA2LSB.0) || machine != here.0 {
        return Some((
            "a file for another processor",
            "compile it on this machine, or for its processor",
        ));
    }
    if u16::from_le_bytes([*kind_low, *kind_high]) == ET_DYN.0 {
        None
    } else {
        Some(("an object file or a program", link))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text of the error for a file with these contents.
    fn refused(contents: &[u8]) -> String {
        let folder = tempfile::tempdir().expect("a folder");
        let root = Utf8Path::from_path(folder.path()).expect("a path in UTF-8");
        fs_err::write(root.join("libx.so"), contents).expect("written");
        let error = OwnLibraries::OnDisk
            .copy(root, "libx.so")
            .expect_err("it is no library");
        error.to_string().replace(root.as_str(), "[root]")
    }

    fn header(class: u8, order: u8, kind: u8, machine: u8) -> Vec<u8> {
        let mut header = vec![
            0x7f, b'E', b'L', b'F', class, order, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, kind, 0, machine, 0,
        ];
        header.resize(64, 0);
        header
    }

    const HERE: u8 = if cfg!(target_arch = "aarch64") { 183 } else { 62 };
    const ELSEWHERE: u8 = if cfg!(target_arch = "aarch64") { 62 } else { 183 };

    #[test]
    fn a_file_that_is_no_shared_library_for_this_machine_is_named() {
        for (contents, found) in [
            (Vec::new(), "no ELF file"),
            (b"\x7fELF".to_vec(), "no ELF file"),
            (b"!<arch>\nan archive of objects".to_vec(), "no ELF file"),
            (b"GROUP ( libc.so.6 ) # a script for the linker".to_vec(), "no ELF file"),
            (header(2, 1, 3, ELSEWHERE), "a file for another processor"),
            (header(1, 1, 3, 3), "a file for another processor"),
            (header(2, 2, 3, HERE), "a file for another processor"),
            (header(2, 1, 1, HERE), "an object file or a program"),
            (header(2, 1, 2, HERE), "an object file or a program"),
            (header(2, 1, 4, HERE), "an object file or a program"),
        ] {
            let text = refused(&contents);
            assert!(
                text.starts_with(&format!("its library `[root]/libx.so` is {found}, not a")),
                "{text}"
            );
            assert!(text.contains("(hint: "), "{text}");
        }
    }

    #[test]
    fn a_shared_library_is_copied() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = Utf8Path::from_path(folder.path()).expect("a path in UTF-8");
        let path = root.join("libx.so");
        fs_err::write(&path, header(2, 1, 3, HERE)).expect("written");
        for named in ["libx.so", path.as_str()] {
            let copy = OwnLibraries::OnDisk.copy(root, named).expect("it is one");
            assert_eq!(fs_err::read(copy.path()).expect("readable"), header(2, 1, 3, HERE));
        }
    }

    #[test]
    fn folders_pipes_and_large_files_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = Utf8Path::from_path(folder.path()).expect("a path in UTF-8");
        let of = |named: &str| {
            let error = OwnLibraries::OnDisk.copy(root, named).expect_err("it is no library");
            error.printable()
        };
        fs_err::create_dir(root.join("folder")).expect("created");
        let made = std::process::Command::new("mkfifo").arg(root.join("pipe")).status();
        assert!(made.expect("it runs").success());
        let large = fs_err::File::create(root.join("large")).expect("created");
        large.set_len(MOST_BYTES + 1).expect("set");
        assert!(of("folder").contains("directory"), "{}", of("folder"));
        assert!(of("pipe").contains("is a pipe"), "{}", of("pipe"));
        assert!(of("large").contains("is larger than 512 MiB"), "{}", of("large"));
        assert!(of("missing").contains("No such file"), "{}", of("missing"));
        assert!(of("/dev/zero").contains("not a file"), "{}", of("/dev/zero"));
        let hostile = of("x\n::error::\u{1b}[2J");
        assert!(!hostile.contains(char::is_control), "{hostile}");
    }
}
