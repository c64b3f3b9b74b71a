//! Waiting for another run, with a message like cargo's for its own locks.

use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use camino::Utf8Path;
use gpubench_diagnostic::{create_regular, print_to_stderr, printable_line};
use gpubench_store::{LockError, lock_within};

/// The longest wait for another run.
const LONGEST_WAIT: Duration = Duration::from_secs(3600);

/// Locks a file, creating it if necessary, and waits while another process holds the lock. A
/// message names `what` it waits for. Dropping the file releases the lock.
///
/// # Errors
/// The file cannot be created, another process holds it for longer than an hour, or Ctrl-C.
pub(crate) fn wait_for(path: &Utf8Path, what: &str, interrupted: &AtomicBool) -> Result<File, LockError> {
    let file = lock_file(path)?;
    let mut announced = false;
    lock_within(&file, path, LONGEST_WAIT, |holder| {
        if interrupted.load(Ordering::Relaxed) {
            return ControlFlow::Break(());
        }
        if !std::mem::replace(&mut announced, true) {
            let by_whom = printable_line(&format!("{holder} holds `{path}`"));
            print_to_stderr(&format_args!("    Blocking waiting for {what}: {by_whom}\n"));
        }
        ControlFlow::Continue(())
    })?;
    Ok(file)
}

/// Opens a lock file, creating it if necessary.
pub(crate) fn lock_file(path: &Utf8Path) -> io::Result<File> {
    create_regular(path, 0o600)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_in_place_of_a_lock_file_is_refused_without_waiting() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = Utf8Path::from_path(folder.path()).expect("UTF-8").join("device.lock");
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.expect("mkfifo").success());
        let waited = wait_for(&path, "another run", &AtomicBool::new(false));
        assert!(matches!(waited, Err(LockError::Io(_))), "{waited:?}");
    }
}
