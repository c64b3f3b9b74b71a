//! Files and folders below a folder of a stranger, opened without following a link.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags, fstat, open, openat};
use rustix::io::Errno;

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Opens the folder itself, whose name the user gave.
pub(crate) fn open_root(path: &Path) -> io::Result<OwnedFd> {
    Ok(open(path, FOLDER, Mode::empty())?)
}

/// Opens a folder below `root`. `path` is one of [`inside`](crate::entry_path::inside), or empty
/// for the root.
pub(crate) fn open_folder(root: impl AsFd, path: &str) -> io::Result<OwnedFd> {
    let mut folder = openat(root, ".", FOLDER, Mode::empty())?;
    for part in path.split('/').filter(|part| !part.is_empty()) {
        folder = openat(&folder, part, FOLDER | OFlags::NOFOLLOW, Mode::empty())?;
    }
    Ok(folder)
}

/// Opens a file below `root`, as [`open_folder`].
///
/// # Errors
/// It cannot be opened, or it or a folder that it is in is no longer one.
pub(crate) fn open_file(root: impl AsFd, path: &str) -> io::Result<File> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let folder = open_folder(root, folder)?;
    // Opening a pipe would wait for its writer.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = openat(&folder, name, flags, Mode::empty())?;
    match FileType::from_raw_mode(fstat(&file)?.st_mode) {
        FileType::RegularFile => Ok(File::from(file)),
        _ => Err(Errno::INVAL.into()),
    }
}
