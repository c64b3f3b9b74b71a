//! Cheating workers: they claim false times, or keep working between windows.

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::behaviour::{behaviour, role};

/// The state of a cheating worker. Cheating starts when the worker loads kernels of a case or
/// queues a copy to its buffers, and lasts until the worker ends.
pub(crate) struct Cheat {
    /// Holds the lock while the worker lives.
    _goes_on: Option<File>,
}

impl Cheat {
    /// Returns the state if this process is a worker that should cheat.
    pub(crate) fn begin() -> Option<Cheat> {
        (role() == "worker" && is_counted()).then(|| Cheat {
            _goes_on: behaviour().lingers.as_ref().map(|(folder, _)| {
                let file = lock_file(folder);
                file.lock_shared().expect("a file can be locked");
                file
            }),
        })
    }
}

/// Returns the delay that lingering cheats cause for a launch of an honest worker.
pub(crate) fn disturbance() -> Option<Duration> {
    let (folder, milliseconds) = behaviour().lingers.as_ref().filter(|_| role() == "worker")?;
    let is_locked = lock_file(folder).try_lock().is_err();
    is_locked.then(|| Duration::from_millis(u64::from(milliseconds.unsigned_abs())))
}

fn lock_file(folder: &Path) -> File {
    open(File::options().create(true).append(true), folder.join("goes-on"))
}

/// Whether this process is among the first `processes`. Each of them creates a numbered file in the
/// folder.
fn is_counted() -> bool {
    let Some((folder, processes)) = &behaviour().cheats else {
        return true;
    };
    (1..=*processes).any(|number| {
        let path = folder.join(number.to_string());
        match File::create_new(&path) {
            Ok(_) => true,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => false,
            Err(error) => panic!("cannot create `{}`: {error}", path.display()),
        }
    })
}

fn open(options: &std::fs::OpenOptions, path: PathBuf) -> File {
    options
        .open(&path)
        .unwrap_or_else(|error| panic!("cannot open `{}`: {error}", path.display()))
}
