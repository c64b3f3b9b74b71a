//! Workers under test that cheat: about their own times, and by going on between their windows.

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::behaviour::{behaviour, role};

/// A worker that cheats, from when it has loaded kernels of a case, or has queued a copy to its
/// buffers, until it ends.
pub(crate) struct Cheat {
    /// Locked as long as it lives.
    _goes_on: Option<File>,
}

impl Cheat {
    /// This process, where it is a worker that is to cheat.
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

/// How much longer a launch of an honest worker takes.
pub(crate) fn disturbance() -> Option<Duration> {
    let (folder, milliseconds) = behaviour().lingers.as_ref().filter(|_| role() == "worker")?;
    let is_locked = lock_file(folder).try_lock().is_err();
    is_locked.then(|| Duration::from_millis(u64::from(milliseconds.unsigned_abs())))
}

fn lock_file(folder: &Path) -> File {
    open(File::options().create(true).append(true), folder.join("goes-on"))
}

/// Whether it is one of the first few, which are counted by the files that they make in a folder.
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
