//! The archives of this machine, by digest: its agents get each of them once.

use std::fs::{DirBuilder, File};
use std::io::{self, Read as _, Write};
use std::ops::ControlFlow;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::time::{Duration, SystemTime};

use camino::{Utf8Path, Utf8PathBuf};

use super::message::ArchiveFacts;
use crate::archive::Digest;
use crate::config::require_own;
use crate::turn::lock_file;
use gpubench_diagnostic::{ExitCode, Expected, open_regular_link_refused};
use gpubench_measure::clients::Interrupt;
use gpubench_store::{LockError, Replacement, lock_within};

/// How long an archive that nobody uses stays.
const KEPT: Duration = Duration::from_secs(14 * 24 * 3600);

/// The longest wait for another agent that gets the archive.
const LONGEST_WAIT: Duration = Duration::from_secs(3600);

/// The archive cannot be had.
#[derive(Debug, thiserror::Error)]
pub(super) enum NodeArchiveError {
    /// There is no place for it.
    #[error("cannot keep the archive in `{folder}`")]
    Unkept {
        folder: Utf8PathBuf,
        #[source]
        source: io::Error,
    },
    /// Another agent of this machine did not get it in time.
    #[error("another agent of this machine is getting the archive")]
    Busy(#[source] LockError),
    /// The head sent something else.
    #[error("the archive that came has {came} bytes and the digest {digest}, not the {wanted} bytes of {sha256}")]
    Other {
        came: u64,
        digest: Digest,
        wanted: u64,
        sha256: Digest,
    },
    /// The head ended in the middle of it.
    #[error("the run ended while the archive came")]
    Ended,
}

impl Expected for NodeArchiveError {
    fn exit_code(&self) -> ExitCode {
        ExitCode::OutputFailed
    }

    fn hint(&self) -> Option<String> {
        match self {
            NodeArchiveError::Unkept { .. } => {
                Some("set `XDG_CACHE_HOME` to a folder of the machine with room for it".to_owned())
            }
            _ => None,
        }
    }
}

/// Returns the file of an archive on this machine. If it is not there, `receive` writes it, while
/// other agents of this machine wait.
///
/// # Errors
/// It cannot be kept, or what came is something else.
pub(super) fn obtain(
    folder: &Utf8Path,
    wanted: &ArchiveFacts,
    interrupt: &Interrupt,
    receive: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<Utf8PathBuf, NodeArchiveError> {
    let unkept = |source| NodeArchiveError::Unkept {
        folder: folder.to_owned(),
        source,
    };
    own_folder(folder).map_err(unkept)?;
    let path = folder.join(format!("{}.tar.gz", wanted.sha256));
    let lock = folder.join(format!("{}.lock", wanted.sha256));
    let _lock = locked(&lock, interrupt).map_err(|error| match error {
        LockError::Io(source) => unkept(source),
        LockError::GivenUp { .. } => NodeArchiveError::Ended,
        held @ LockError::Held { .. } => NodeArchiveError::Busy(held),
    })?;
    if is_there(&path, wanted) {
        // It has been used now.
        if let Ok(file) = File::options().append(true).open(&path) {
            let _ = file.set_modified(SystemTime::now());
        }
        return Ok(path);
    }
    remove_unused(folder);
    let digested = Replacement::new(&path).map_err(unkept)?.filled_by(unkept, |file| {
        let mut copy = Digesting::of(file);
        let received = receive(&mut copy);
        let (came, digest) = copy.finish();
        received.map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => NodeArchiveError::Ended,
            _ => unkept(error),
        })?;
        if (came, &digest) == (wanted.bytes, &wanted.sha256) {
            Ok(())
        } else {
            Err(NodeArchiveError::Other {
                came,
                digest,
                wanted: wanted.bytes,
                sha256: wanted.sha256.clone(),
            })
        }
    });
    digested.map(|()| path)
}

/// Locks a file, and waits while another agent gets the archive.
fn locked(lock: &Utf8Path, interrupt: &Interrupt) -> Result<File, LockError> {
    let file = lock_file(lock)?;
    lock_within(&file, lock, LONGEST_WAIT, |_| match interrupt.is_set() {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    })?;
    Ok(file)
}

/// A file and the digest of what is written to it.
struct Digesting<'f> {
    file: &'f File,
    digest: crate::archive::Digester,
    bytes: u64,
}

impl<'f> Digesting<'f> {
    fn of(file: &'f File) -> Digesting<'f> {
        Digesting {
            file,
            digest: crate::archive::Digester::default(),
            bytes: 0,
        }
    }

    fn finish(self) -> (u64, Digest) {
        (self.bytes, self.digest.finish())
    }
}

impl Write for Digesting<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.digest.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Returns the digest and the size of a file.
///
/// # Errors
/// It cannot be read.
pub(super) fn facts_of(path: &Utf8Path) -> io::Result<ArchiveFacts> {
    let mut file = open_regular_link_refused(path)?;
    let (mut digest, mut bytes) = (crate::archive::Digester::default(), 0);
    let mut piece = vec![0; 64 << 10];
    loop {
        let read = file.read(&mut piece)?;
        if read == 0 {
            let sha256 = digest.finish();
            return Ok(ArchiveFacts { sha256, bytes });
        }
        digest.update(&piece[..read]);
        bytes += read as u64;
    }
}

fn is_there(path: &Utf8Path, wanted: &ArchiveFacts) -> bool {
    facts_of(path).is_ok_and(|there| there == *wanted)
}

/// Returns the folder of archives: among this user's caches, else among temporary files.
pub(super) fn folder() -> Utf8PathBuf {
    let from = |name: &str| std::env::var(name).ok().map(Utf8PathBuf::from);
    let cache = from("XDG_CACHE_HOME").or_else(|| from("HOME").map(|home| home.join(".cache")));
    let user = rustix::process::geteuid().as_raw();
    match cache.filter(|folder| folder.is_absolute()) {
        Some(cache) => cache.join("gpubench").join("archives"),
        None => Utf8PathBuf::from_path_buf(std::env::temp_dir())
            .unwrap_or_else(|_| "/tmp".into())
            .join(format!("gpubench-archives-{user}")),
    }
}

/// Creates the folder, which nobody else may write to.
fn own_folder(folder: &Utf8Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let metadata = folder.symlink_metadata()?;
    let is_own = metadata.is_dir() && metadata.uid() == rustix::process::geteuid().as_raw();
    if !is_own || metadata.mode() & 0o022 != 0 {
        return Err(io::Error::other("it is not a folder that only this user can write to"));
    }
    // Whoever can replace a folder on the way can replace an archive after its digest was checked.
    require_own(folder).map_err(|foreign| io::Error::other(foreign.why()))
}

/// Removes archives that nobody has used for long.
fn remove_unused(folder: &Utf8Path) {
    let Ok(entries) = fs_err::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let age = entry.metadata().and_then(|metadata| metadata.modified());
        let age = age.map(|modified| modified.elapsed().unwrap_or_default());
        if age.is_ok_and(|age| age > KEPT) && entry.file_name().to_string_lossy().ends_with(".tar.gz") {
            // Another agent may have removed it.
            let _ = fs_err::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn folder() -> (tempfile::TempDir, Utf8PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = Utf8PathBuf::from_path_buf(folder.path().join("archives")).expect("UTF-8");
        (folder, path)
    }

    fn facts(bytes: &[u8]) -> ArchiveFacts {
        ArchiveFacts {
            sha256: Digest::from_bytes(bytes),
            bytes: bytes.len() as u64,
        }
    }

    fn got(folder: &Utf8Path, wanted: &ArchiveFacts, sent: Option<&[u8]>) -> Result<Utf8PathBuf, NodeArchiveError> {
        obtain(folder, wanted, &Interrupt::default(), |file| {
            file.write_all(sent.expect("it is there already"))
        })
    }

    #[test]
    fn a_folder_that_another_user_can_replace_keeps_no_archive() {
        let (kept, folder) = folder();
        std::fs::set_permissions(kept.path(), Permissions::from_mode(0o777)).expect("permissions");
        let wanted = facts(b"an archive");
        let error = got(&folder, &wanted, Some(b"an archive")).expect_err("it can be replaced");
        let said = gpubench_diagnostic::chain(&error);
        assert!(said.contains("every user can change"), "{said}");
    }

    #[test]
    fn an_archive_comes_once_and_a_damaged_one_again() {
        let (_kept, folder) = folder();
        let wanted = facts(b"an archive");
        let path = got(&folder, &wanted, Some(b"an archive")).expect("it came");
        assert_eq!(got(&folder, &wanted, None).expect("it is there"), path);
        std::fs::write(&path, "another one").expect("it is written");
        got(&folder, &wanted, Some(b"an archive")).expect("it came again");
        assert_eq!(facts_of(&path).expect("it is read"), wanted);
    }

    #[test]
    fn another_archive_is_refused_and_not_kept() {
        let (_kept, folder) = folder();
        let wanted = facts(b"an archive");
        let error = got(&folder, &wanted, Some(b"an Archive")).expect_err("another digest");
        assert!(matches!(error, NodeArchiveError::Other { came: 10, .. }), "{error}");
        let error = got(&folder, &wanted, Some(&b"an archive"[..9])).expect_err("a part");
        assert!(matches!(error, NodeArchiveError::Other { came: 9, .. }), "{error}");
        assert!(!folder.join(format!("{}.tar.gz", wanted.sha256)).exists());
    }

    #[test]
    fn a_folder_that_others_can_write_to_is_refused() {
        use std::os::unix::fs::PermissionsExt as _;
        let (_kept, folder) = folder();
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o777)).expect("permissions");
        let error = got(&folder, &facts(b"x"), Some(b"x")).expect_err("anybody could exchange it");
        assert!(matches!(error, NodeArchiveError::Unkept { .. }), "{error}");
    }
}
