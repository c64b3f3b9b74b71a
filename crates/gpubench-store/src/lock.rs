//! File locks with a time limit and an error that names the holder.

use std::fmt;
use std::fs::{File, TryLockError};
use std::io;
use std::ops::ControlFlow;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use thiserror::Error;

/// How long to wait for another process that writes a file. Writing takes milliseconds.
pub(crate) const WRITING: Duration = Duration::from_secs(if cfg!(test) { 2 } else { 10 });

/// The pause between attempts, at first and later.
const FIRST_PAUSE: Duration = Duration::from_millis(1);
const LATER_PAUSE: Duration = Duration::from_millis(50);

/// Why a lock was not taken.
#[derive(Debug, Error)]
pub enum LockError {
    /// Another process held the lock for the whole time.
    #[error("`{path}` was locked by {holder} for {}", seconds(*.waited))]
    Held {
        /// The locked file.
        path: Utf8PathBuf,
        /// The process that holds the lock.
        holder: Holder,
        /// The time waited.
        waited: Duration,
    },
    /// The caller ended the wait.
    #[error("gave up waiting for the lock on `{path}`")]
    GivenUp {
        /// The locked file.
        path: Utf8PathBuf,
    },
    /// The lock failed, for example because the file system has no locks.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl From<LockError> for io::Error {
    fn from(error: LockError) -> io::Error {
        match error {
            LockError::Io(error) => error,
            held => io::Error::new(io::ErrorKind::WouldBlock, held),
        }
    }
}

/// The process that holds a lock, if the system knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The process ID and, while the process runs, its name. `None` for a process in another
    /// container.
    process: Option<(u32, Option<String>)>,
}

impl Holder {
    /// Returns the holder of the lock on an open file.
    pub fn from_file(file: &File) -> Holder {
        let locks = std::fs::read_to_string("/proc/locks").unwrap_or_default();
        let process = file.metadata().ok().and_then(|file| process_in(&locks, &file));
        Holder {
            process: process.map(|process| (process, name_of(process))),
        }
    }
}

impl Holder {
    /// Returns the process ID, if known.
    pub fn process(&self) -> Option<u32> {
        self.process.as_ref().map(|(process, _)| *process)
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.process {
            Some((process, Some(name))) => write!(f, "process {process} (`{name}`)"),
            Some((process, None)) => write!(f, "process {process} (ended; a child still has the lock)"),
            None => f.write_str("an unknown process"),
        }
    }
}

/// Takes the lock on an open file. Waits for at most `limit`. Meanwhile it calls `waiting`
/// regularly with the holder; `waiting` can end the wait.
///
/// # Errors
/// Another process holds the lock, `waiting` ended the wait, or the file cannot be locked.
pub fn lock_within(
    file: &File,
    path: &Utf8Path,
    limit: Duration,
    mut waiting: impl FnMut(&Holder) -> ControlFlow<()>,
) -> Result<(), LockError> {
    let began = Instant::now();
    let mut pause = FIRST_PAUSE;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(error)) => return Err(error.into()),
            Err(TryLockError::WouldBlock) => {}
        }
        let (path, holder) = (|| path.to_owned(), Holder::from_file(file));
        if waiting(&holder).is_break() {
            return Err(LockError::GivenUp { path: path() });
        }
        let waited = began.elapsed();
        if waited >= limit {
            return Err(LockError::Held {
                path: path(),
                holder,
                waited,
            });
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(LATER_PAUSE);
    }
}

/// Takes the lock on a file that other processes lock only briefly, to write.
pub(crate) fn lock_to_write(file: &File, path: &Utf8Path) -> io::Result<()> {
    lock_within(file, path, WRITING, |_| ControlFlow::Continue(())).map_err(io::Error::from)
}

/// A line looks like `1: FLOCK ADVISORY WRITE 4711 08:01:131090 0 EOF`. For a waiting process, the
/// second word is `->`. Only the inode is compared: file systems that span several devices have
/// another device here than in the metadata.
fn process_in(locks: &str, file: &std::fs::Metadata) -> Option<u32> {
    let inode = file.ino().to_string();
    locks.lines().find_map(|line| {
        let mut words = line.split_ascii_whitespace().skip(1);
        let is_lock = words.next() == Some("FLOCK");
        let process = words.nth(2)?.parse().ok().filter(|process| *process != 0)?;
        let place = words.next()?.rsplit(':').next()?;
        (is_lock && place == inode).then_some(process)
    })
}

fn name_of(process: u32) -> Option<String> {
    let name = std::fs::read_to_string(format!("/proc/{process}/comm")).ok()?;
    Some(gpubench_diagnostic::printable_line(name.trim()))
}

fn seconds(duration: Duration) -> String {
    format!("{} s", duration.as_secs())
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    fn file() -> (tempfile::TempDir, Utf8PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = Utf8PathBuf::from_path_buf(folder.path().join("lock")).expect("UTF-8");
        (folder, path)
    }

    fn opened(path: &Utf8Path) -> File {
        let file = File::options().create(true).truncate(false).write(true).open(path);
        file.expect("it can be opened")
    }

    #[test]
    fn a_lock_that_stays_held_is_an_error_with_its_file_and_holder() {
        let (_folder, path) = file();
        let held = opened(&path);
        held.lock().expect("it is free");
        let wait = |limit| lock_within(&opened(&path), &path, limit, |_| ControlFlow::Continue(()));
        let refused = wait(Duration::ZERO).expect_err("it is held");
        let text = refused.to_string();
        let holder = format!("locked by process {} (`", std::process::id());
        assert!(text.contains(path.as_str()) && text.contains(&holder), "{text}");
        assert_eq!(io::Error::from(refused).kind(), io::ErrorKind::WouldBlock);
        drop(held);
        wait(Duration::ZERO).expect("it is free again");
    }

    #[test]
    fn the_holder_is_a_process_with_a_lock_of_the_same_kind_on_the_same_file() {
        let (_folder, path) = file();
        let metadata = opened(&path).metadata().expect("it is there");
        let (inode, other) = (metadata.ino(), metadata.ino() + 1);
        let locks = format!(
            "1: POSIX  ADVISORY  WRITE 11 08:01:{inode} 0 EOF\n\
             2: FLOCK  ADVISORY  WRITE 12 08:01:{other} 0 EOF\n\
             3: FLOCK  ADVISORY  WRITE 0 08:01:{inode} 0 EOF\n\
             3: -> FLOCK  ADVISORY  WRITE 13 08:01:{inode} 0 EOF\n\
             4: FLOCK  ADVISORY  WRITE 14 00:2f:{inode} 0 EOF\n"
        );
        assert_eq!(process_in(&locks, &metadata), Some(14));
        assert_eq!(process_in("", &metadata), None);
    }

    #[test]
    fn a_wait_can_be_ended() {
        let (_folder, path) = file();
        let held = opened(&path);
        held.lock().expect("it is free");
        let calls = Cell::new(0);
        let refused = lock_within(&opened(&path), &path, Duration::MAX, |_| {
            calls.set(calls.get() + 1);
            match calls.get() {
                2 => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            }
        });
        assert!(matches!(refused, Err(LockError::GivenUp { .. })), "{refused:?}");
    }
}
