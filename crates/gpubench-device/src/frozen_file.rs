//! Immutable copies of code files for the roles.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use fs_err::File;
use gpubench_sandbox::is_traced;
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, fstat, memfd_create};

/// An immutable copy of a file, in a sealed memfd. No process that has the descriptor can write to
/// it, resize it or remove the seals.
///
/// Later changes to the file do not affect it. Clones share the copy; the last one frees it.
#[derive(Clone, Debug)]
pub struct FrozenFile {
    descriptor: Arc<OwnedFd>,
}

/// Why there is no frozen copy.
#[derive(Debug, thiserror::Error)]
pub enum FreezeError {
    /// The file cannot be read, or there is not enough memory for its copy.
    #[error("cannot make a read-only copy of `{}` in memory", path.display())]
    Copy {
        /// The file.
        path: PathBuf,
        /// The operating system's reason.
        #[source]
        source: io::Error,
    },
    /// A received descriptor is not frozen.
    #[error("the received code can still be changed")]
    Incomplete,
}

/// The identity of a copy, the same in every process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CopyIdentity {
    device: u64,
    inode: u64,
}

/// The seals that fix contents, size and the seals themselves.
const SEALS: SealFlags = SealFlags::WRITE
    .union(SealFlags::SHRINK)
    .union(SealFlags::GROW)
    .union(SealFlags::SEAL);

/// The longest memfd name that the kernel accepts.
const LONGEST_NAME: usize = 249;

impl FrozenFile {
    /// Copies a file and freezes the copy.
    ///
    /// # Errors
    /// When the file cannot be read, or there is no memory or descriptor for the copy.
    pub fn copy_of(path: &Path) -> Result<FrozenFile, FreezeError> {
        let copied = File::open(path).and_then(|mut file| copy(&mut file, &name_of(path)));
        copied.map_err(|source| FreezeError::Copy {
            path: path.to_owned(),
            source,
        })
    }

    /// Freezes a copy of everything that can be read. `name` shows it in
    /// `/proc/PID/maps`.
    ///
    /// # Errors
    /// When it cannot be read, or there is no memory or descriptor for the copy.
    pub fn of_contents(name: &str, mut contents: impl io::Read) -> io::Result<FrozenFile> {
        copy(&mut contents, &name_of(Path::new(name)))
    }

    /// Accepts a descriptor from another process.
    ///
    /// # Errors
    /// When it is not a frozen copy.
    pub fn received(descriptor: OwnedFd) -> Result<FrozenFile, FreezeError> {
        match fcntl_get_seals(&descriptor) {
            Ok(seals) if seals.contains(SEALS) => Ok(FrozenFile {
                descriptor: Arc::new(descriptor),
            }),
            _ => Err(FreezeError::Incomplete),
        }
    }

    /// Returns a path to the copy, valid in this process while this value or a clone lives.
    pub fn path(&self) -> PathBuf {
        // A debugger opens the libraries that this process has loaded, and is another process.
        let process = if is_traced() {
            std::process::id().to_string()
        } else {
            "self".to_owned()
        };
        format!("/proc/{process}/fd/{}", self.descriptor.as_raw_fd()).into()
    }

    /// Returns a path for the dynamic linker, which identifies libraries by path. All descriptors
    /// of a copy have the same path, and no other copy reuses it while the process lives.
    ///
    /// # Errors
    /// When the copy cannot be identified.
    pub fn path_for_linker(&self) -> io::Result<PathBuf> {
        static LOADED: Mutex<BTreeMap<CopyIdentity, FrozenFile>> = Mutex::new(BTreeMap::new());
        let identity = self.identity()?;
        let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(loaded.entry(identity).or_insert_with(|| self.clone()).path())
    }

    /// Returns the identity of the copy.
    ///
    /// # Errors
    /// When the operating system refuses.
    pub fn identity(&self) -> io::Result<CopyIdentity> {
        let stat = fstat(&self.descriptor)?;
        Ok(CopyIdentity {
            device: stat.st_dev,
            inode: stat.st_ino,
        })
    }
}

impl AsFd for FrozenFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

fn copy(file: &mut impl io::Read, name: &str) -> io::Result<FrozenFile> {
    let descriptor = memfd_create(name, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
    let mut copy = std::fs::File::from(descriptor);
    io::copy(file, &mut copy)?;
    fcntl_add_seals(&copy, SEALS)?;
    Ok(FrozenFile {
        descriptor: Arc::new(copy.into()),
    })
}

/// Returns the name of the copy in `/proc/PID/maps`.
fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy().replace('\0', "");
    let end = (0..=name.len().min(LONGEST_NAME))
        .rev()
        .find(|end| name.is_char_boundary(*end));
    name[..end.unwrap_or(0)].to_owned()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use rustix::fs::ftruncate;

    use super::*;

    fn file(contents: &[u8]) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(contents).expect("written");
        file
    }

    #[test]
    fn a_copy_does_not_change_with_the_file() {
        let file = file(b"as it was");
        let frozen = FrozenFile::copy_of(file.path()).expect("a copy");
        fs_err::write(file.path(), b"replaced").expect("written");
        assert_eq!(fs_err::read(frozen.path()).expect("readable"), b"as it was");
    }

    #[test]
    fn contents_are_frozen_as_files_are() {
        let frozen = FrozenFile::of_contents("code", &b"as it was"[..]).expect("a copy");
        assert_eq!(fs_err::read(frozen.path()).expect("readable"), b"as it was");
        let descriptor = frozen.as_fd().try_clone_to_owned().expect("a descriptor");
        assert!(FrozenFile::received(descriptor).is_ok());
    }

    #[test]
    fn a_copy_cannot_be_changed_through_its_descriptor() {
        let frozen = FrozenFile::copy_of(file(b"as it was").path()).expect("a copy");
        let theirs = frozen.as_fd().try_clone_to_owned().expect("a descriptor");
        assert!(ftruncate(&theirs, 0).is_err());
        assert!(rustix::io::write(&theirs, b"x").is_err());
        assert!(fcntl_add_seals(&theirs, SealFlags::FUTURE_WRITE).is_err());
        let mut reopened = fs_err::OpenOptions::new()
            .write(true)
            .open(frozen.path())
            .expect("it can be opened");
        assert!(reopened.write_all(b"x").is_err());
        assert_eq!(fs_err::read(frozen.path()).expect("readable"), b"as it was");
    }

    #[test]
    fn only_frozen_descriptors_are_accepted() {
        let frozen = FrozenFile::copy_of(file(b"code").path()).expect("a copy");
        let descriptor = frozen.as_fd().try_clone_to_owned().expect("a descriptor");
        let received = FrozenFile::received(descriptor).expect("it is frozen");
        assert_eq!(received.identity().ok(), frozen.identity().ok());
        let open = memfd_create("open", MemfdFlags::ALLOW_SEALING).expect("a descriptor");
        fcntl_add_seals(&open, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL).expect("sealed in size");
        let plain = OwnedFd::from(file(b"code").into_file());
        for descriptor in [open, plain] {
            assert!(matches!(FrozenFile::received(descriptor), Err(FreezeError::Incomplete)));
        }
    }

    #[test]
    fn the_linker_path_of_a_copy_is_never_reused() {
        let first = FrozenFile::copy_of(file(b"first").path()).expect("a copy");
        let duplicate = FrozenFile::received(first.as_fd().try_clone_to_owned().expect("a descriptor"));
        let path = first.path_for_linker().expect("a path");
        let duplicate = duplicate.expect("it is frozen");
        assert_eq!(duplicate.path_for_linker().expect("a path"), path);
        drop((first, duplicate));
        let others: Vec<_> = (0..4)
            .map(|_| FrozenFile::copy_of(file(b"another").path()).expect("a copy"))
            .collect();
        for other in &others {
            assert_ne!(other.path_for_linker().expect("a path"), path);
        }
        assert_eq!(fs_err::read(path).expect("readable"), b"first");
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = FrozenFile::copy_of(Path::new("/no/such/file.so")).expect_err("there is none");
        assert_eq!(
            error.to_string(),
            "cannot make a read-only copy of `/no/such/file.so` in memory"
        );
    }

    #[test]
    fn names_are_cut_to_the_kernels_limit() {
        assert_eq!(name_of(Path::new("/a/libb.so")), "libb.so");
        assert_eq!(name_of(&PathBuf::from("ü".repeat(200))).len(), 248);
        assert_eq!(name_of(Path::new("/")), "");
    }
}
