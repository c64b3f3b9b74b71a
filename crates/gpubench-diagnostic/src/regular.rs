//! Opening of regular files only. A pipe or a device at an untrusted path could block forever.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Opens a file for reading.
///
/// # Errors
/// The file cannot be opened, or is a folder, a pipe, a socket or a device.
pub fn open_regular(path: impl AsRef<Path>) -> io::Result<File> {
    open(path.as_ref(), File::options().read(true), 0)
}

/// Opens a file for reading, which others could have exchanged for a link.
///
/// # Errors
/// The file cannot be opened, or is a link, a folder, a pipe, a socket or a device.
pub fn open_regular_link_refused(path: impl AsRef<Path>) -> io::Result<File> {
    open(path.as_ref(), File::options().read(true), libc::O_NOFOLLOW)
}

/// Opens a file for writing or locking, without truncating it. Creates it with this mode if there
/// is none. Does not follow a link.
///
/// # Errors
/// The file cannot be opened or created, or is a link, a folder, a pipe, a socket or a device.
pub fn create_regular(path: impl AsRef<Path>, mode: u32) -> io::Result<File> {
    let mut options = File::options();
    options.create(true).truncate(false).write(true).mode(mode);
    open(path.as_ref(), &mut options, libc::O_NOFOLLOW)
}

fn open(path: &Path, options: &mut OpenOptions, flags: i32) -> io::Result<File> {
    let other = || {
        io::Error::other(format!(
            "`{}` is a pipe, a socket or a device, not a file",
            path.display()
        ))
    };
    let opened = options.custom_flags(flags | libc::O_NONBLOCK).open(path);
    let file = opened.map_err(|error| match error.raw_os_error() {
        Some(libc::ENXIO) => other(),
        _ => error,
    })?;
    let metadata = file.metadata()?;
    if metadata.is_file() {
        Ok(file)
    } else if metadata.is_dir() {
        Err(io::Error::from_raw_os_error(libc::EISDIR))
    } else {
        Err(other())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pipes_sockets_and_devices_are_rejected_without_blocking() {
        let folder = std::env::temp_dir().join(format!("gpubench-regular-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let pipe = folder.join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        let socket = folder.join("socket");
        let _bound = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        for path in [&pipe, &socket, Path::new("/dev/zero")] {
            for opened in [open_regular(path), create_regular(path, 0o600)] {
                let expected = format!("`{}` is a pipe, a socket or a device, not a file", path.display());
                assert_eq!(opened.expect_err("it is not a file").to_string(), expected);
            }
        }
        let error = open_regular(&folder).expect_err("it is a folder");
        assert_eq!(error.kind(), io::ErrorKind::IsADirectory);
        let file = folder.join("file");
        assert!(open_regular(&file).is_err_and(|error| error.kind() == io::ErrorKind::NotFound));
        assert!(create_regular(&file, 0o600).is_ok() && open_regular(&file).is_ok());
        std::os::unix::fs::symlink(&file, folder.join("link")).unwrap();
        assert!(create_regular(folder.join("link"), 0o600).is_err());
        assert!(open_regular(folder.join("link")).is_ok());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
