//! Locks on files: none is waited for without an end, or without a word of who holds it.

use std::fmt;
use std::fs::{File, TryLockError};
use std::io;
use std::ops::ControlFlow;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use thiserror::Error;

/// The longest that another process may hold the lock on a file that it writes: writing takes
/// milliseconds.
pub(crate) const WRITING: Duration = Duration::from_secs(if cfg!(test) { 2 } else { 10 });

/// How long it takes at first, and later, to notice that a lock is free.
const FIRST_LOOK: Duration = Duration::from_millis(1);
const LATER_LOOK: Duration = Duration::from_millis(50);

/// Why a lock is not ours.
#[derive(Debug, Error)]
pub enum LockError {
    /// Somebody else held it all the time.
    #[error("`{path}` was locked by {holder} for {}", seconds(*.waited))]
    Held {
        /// The file with the lock.
        path: Utf8PathBuf,
        /// Who has it.
        holder: Holder,
        /// How long it was waited for.
        waited: Duration,
    },
    /// Whoever waited does not want it any more.
    #[error("the wait for the lock on `{path}` was ended")]
    GivenUp {
        /// The file with the lock.
        path: Utf8PathBuf,
    },
    /// The file system has no locks, for example.
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

/// The process that holds a lock, as well as the system tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Its number, and its name while it runs; not those of a process in another container.
    process: Option<(u32, Option<String>)>,
}

impl Holder {
    /// Who holds the lock on an open file.
    pub fn of(file: &File) -> Holder {
        let locks = std::fs::read_to_string("/proc/locks").unwrap_or_default();
        let process = file.metadata().ok().and_then(|file| process_in(&locks, &file));
        Holder {
            process: process.map(|process| (process, name_of(process))),
        }
    }
}

impl Holder {
    /// Its number, where the system tells.
    pub fn process(&self) -> Option<u32> {
        self.process.as_ref().map(|(process, _)| *process)
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.process {
            Some((process, Some(name))) => write!(f, "process {process} (`{name}`)"),
            Some((process, None)) => write!(f, "process {process}, which ended and left it to a child,"),
            None => f.write_str("a process that the system does not name"),
        }
    }
}

/// Takes the lock on an open file, or fails when another process held it for all of `limit`. While
/// it is held, `waiting` is told by whom every now and then, and may end the wait.
///
/// # Errors
/// Another process holds it, the wait was ended, or the file cannot be locked.
pub fn lock_within(
    file: &File,
    path: &Utf8Path,
    limit: Duration,
    mut waiting: impl FnMut(&Holder) -> ControlFlow<()>,
) -> Result<(), LockError> {
    let began = Instant::now();
    let mut pause = FIRST_LOOK;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(error)) => return Err(error.into()),
            Err(TryLockError::WouldBlock) => {}
        }
        let (path, holder) = (|| path.to_owned(), Holder::of(file));
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
        pause = (pause * 2).min(LATER_LOOK);
    }
}

/// Takes the lock on a file that other processes hold only to write something.
pub(crate) fn lock_to_write(file: &File, path: &Utf8Path) -> io::Result<()> {
    lock_within(file, path, WRITING, |_| ControlFlow::Continue(())).map_err(io::Error::from)
}

/// A line is `1: FLOCK ADVISORY WRITE 4711 08:01:131090 0 EOF`; of one that waits, `->` is the
/// second word. File systems that span several devices have another device there than in the
/// metadata, so that only the inode counts.
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
    fn a_lock_that_stays_held_is_an_error_that_names_file_and_holder() {
        let (_folder, path) = file();
        let held = opened(&path);
        held.lock().expect("nobody has it");
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
    fn whoever_waits_may_give_up() {
        let (_folder, path) = file();
        let held = opened(&path);
        held.lock().expect("nobody has it");
        let asked = Cell::new(0);
        let refused = lock_within(&opened(&path), &path, Duration::MAX, |_| {
            asked.set(asked.get() + 1);
            match asked.get() {
                2 => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            }
        });
        assert!(matches!(refused, Err(LockError::GivenUp { .. })), "{refused:?}");
    }
}
