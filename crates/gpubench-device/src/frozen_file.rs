//! Code as it is handed to a role: a copy that nobody can change any more.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use fs_err::File;
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, fstat, memfd_create};

/// A copy of a file in memory that is sealed: whoever holds its descriptor, nobody can write to it,
/// cut it, lengthen it or take the seals off.
///
/// What is loaded from it is what was copied, whatever becomes of the file meanwhile. Clones are
/// the same copy; it is gone when the last is.
#[derive(Clone, Debug)]
pub struct FrozenFile {
    descriptor: Arc<OwnedFd>,
}

/// Why there is no sealed copy.
#[derive(Debug, thiserror::Error)]
pub enum FreezeError {
    /// The file cannot be read, or there is no memory for its copy.
    #[error("cannot copy `{}` into sealed memory", path.display())]
    Copy {
        /// The file.
        path: PathBuf,
        /// The operating system's reason.
        #[source]
        source: io::Error,
    },
    /// What was received can still be changed.
    #[error("code was received that can still be changed")]
    Incomplete,
}

/// Tells copies apart, in every process that holds them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CopyIdentity {
    device: u64,
    inode: u64,
}

/// All that keeps the contents as they are, and the seals themselves.
const SEALS: SealFlags = SealFlags::WRITE
    .union(SealFlags::SHRINK)
    .union(SealFlags::GROW)
    .union(SealFlags::SEAL);

/// Longest name that the kernel takes for such a file.
const LONGEST_NAME: usize = 249;

impl FrozenFile {
    /// Copies a file and seals the copy.
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

    /// Takes a descriptor that came from another process.
    ///
    /// # Errors
    /// When it is of anything but a sealed copy.
    pub fn received(descriptor: OwnedFd) -> Result<FrozenFile, FreezeError> {
        match fcntl_get_seals(&descriptor) {
            Ok(seals) if seals.contains(SEALS) => Ok(FrozenFile {
                descriptor: Arc::new(descriptor),
            }),
            _ => Err(FreezeError::Incomplete),
        }
    }

    /// A path under which this process can open the copy while it holds this value or a clone of
    /// it.
    pub fn path(&self) -> PathBuf {
        format!("/proc/self/fd/{}", self.descriptor.as_raw_fd()).into()
    }

    /// A path for the dynamic linker, which knows what it has loaded by its path: the same for
    /// every descriptor of a copy, and no other copy's as long as the process lives.
    ///
    /// # Errors
    /// When the operating system does not tell copies apart.
    pub fn path_for_linker(&self) -> io::Result<PathBuf> {
        static LOADED: Mutex<BTreeMap<CopyIdentity, FrozenFile>> = Mutex::new(BTreeMap::new());
        let identity = self.identity()?;
        let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(loaded.entry(identity).or_insert_with(|| self.clone()).path())
    }

    /// Which copy it is.
    ///
    /// # Errors
    /// When the operating system does not tell.
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

fn copy(file: &mut File, name: &str) -> io::Result<FrozenFile> {
    let descriptor = memfd_create(name, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
    let mut copy = std::fs::File::from(descriptor);
    io::copy(file, &mut copy)?;
    fcntl_add_seals(&copy, SEALS)?;
    Ok(FrozenFile {
        descriptor: Arc::new(copy.into()),
    })
}

/// The name it is listed under in maps of memory.
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
    fn a_copy_stays_as_it_was_when_the_file_changes() {
        let file = file(b"as it was");
        let sealed = FrozenFile::copy_of(file.path()).expect("a copy");
        fs_err::write(file.path(), b"exchanged").expect("written");
        assert_eq!(fs_err::read(sealed.path()).expect("readable"), b"as it was");
    }

    #[test]
    fn nobody_who_holds_a_copy_can_change_it() {
        let sealed = FrozenFile::copy_of(file(b"as it was").path()).expect("a copy");
        let theirs = sealed.as_fd().try_clone_to_owned().expect("a descriptor");
        assert!(ftruncate(&theirs, 0).is_err());
        assert!(rustix::io::write(&theirs, b"x").is_err());
        assert!(fcntl_add_seals(&theirs, SealFlags::FUTURE_WRITE).is_err());
        let mut reopened = fs_err::OpenOptions::new()
            .write(true)
            .open(sealed.path())
            .expect("it can be opened");
        assert!(reopened.write_all(b"x").is_err());
        assert_eq!(fs_err::read(sealed.path()).expect("readable"), b"as it was");
    }

    #[test]
    fn what_is_not_sealed_is_not_received() {
        let sealed = FrozenFile::copy_of(file(b"code").path()).expect("a copy");
        let descriptor = sealed.as_fd().try_clone_to_owned().expect("a descriptor");
        let received = FrozenFile::received(descriptor).expect("it is sealed");
        assert_eq!(received.identity().ok(), sealed.identity().ok());
        let open = memfd_create("open", MemfdFlags::ALLOW_SEALING).expect("a descriptor");
        fcntl_add_seals(&open, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL).expect("sealed in size");
        let plain = OwnedFd::from(file(b"code").into_file());
        for descriptor in [open, plain] {
            assert!(matches!(FrozenFile::received(descriptor), Err(FreezeError::Incomplete)));
        }
    }

    #[test]
    fn a_path_for_the_linker_is_one_copys_and_stays_that_when_its_descriptors_are_closed() {
        let first = FrozenFile::copy_of(file(b"first").path()).expect("a copy");
        let duplicate = FrozenFile::received(first.as_fd().try_clone_to_owned().expect("a descriptor"));
        let path = first.path_for_linker().expect("a path");
        let duplicate = duplicate.expect("it is sealed");
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
    fn a_file_that_is_not_there_is_named() {
        let error = FrozenFile::copy_of(Path::new("/no/such/file.so")).expect_err("there is none");
        assert_eq!(error.to_string(), "cannot copy `/no/such/file.so` into sealed memory");
    }

    #[test]
    fn names_are_cut_to_what_the_kernel_takes() {
        assert_eq!(name_of(Path::new("/a/libb.so")), "libb.so");
        assert_eq!(name_of(&PathBuf::from("ü".repeat(200))).len(), 248);
        assert_eq!(name_of(Path::new("/")), "");
    }
}
