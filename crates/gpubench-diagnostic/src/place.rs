//! Places for files that the tool writes. A link of another user could lead a user with more rights
//! to any file, and in a folder like `/tmp` everybody can put one where an output is expected.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat, fstat, fstatfs, mkdirat, openat, readlinkat, unlinkat};
use rustix::io::Errno;

/// The most links on the way to a place, as the kernel has it.
const MOST_LINKS: usize = 40;

/// A link that is not followed.
#[derive(Debug, thiserror::Error)]
#[error(
    "`{link}` is a link of another user, and outputs go through none (hint: name the place that it leads to, or another one)"
)]
pub struct LinkOfAnother {
    link: String,
}

/// The name of a file, which may be missing, in an open folder. Only links of this user and of root
/// lead there, so whoever can change other links or folders on the way cannot move it.
#[derive(Debug)]
pub struct Place {
    folder: OwnedFd,
    name: OsString,
    leads_to: LeadsTo,
}

/// What has the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LeadsTo {
    /// Something in the folder, or nothing.
    Entry(Option<FileType>),
    /// An open file, as `/dev/stdout` does: a link of the kernel to something without a path.
    OpenFile,
}

/// What happens where a folder of a path is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MissingFolder {
    IsAnError,
    IsCreated,
}

/// What happens with a link at the end of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LastLink {
    IsFollowed,
    IsThePlace,
}

impl Place {
    /// Finds the place of a path.
    ///
    /// # Errors
    /// A link of another user is on the way ([`LinkOfAnother`]), or a folder is missing.
    pub fn from_path(path: impl AsRef<Path>) -> io::Result<Place> {
        find(path.as_ref(), MissingFolder::IsAnError, LastLink::IsFollowed)
    }

    /// Finds the place of a path. Creates missing folders.
    ///
    /// # Errors
    /// A link of another user is on the way ([`LinkOfAnother`]), or a folder cannot be created.
    pub fn with_folders(path: impl AsRef<Path>) -> io::Result<Place> {
        find(path.as_ref(), MissingFolder::IsCreated, LastLink::IsFollowed)
    }

    /// Finds the place of a path that is a link itself, if there is one. Creates missing folders.
    ///
    /// # Errors
    /// As [`with_folders`](Place::with_folders).
    pub fn of_entry(path: impl AsRef<Path>) -> io::Result<Place> {
        find(path.as_ref(), MissingFolder::IsCreated, LastLink::IsThePlace)
    }

    /// Returns a path of the place, valid while it exists in this process.
    pub fn path(&self) -> PathBuf {
        self.folder().join(&self.name)
    }

    /// Returns a path of the folder, valid while the place exists in this process.
    pub fn folder(&self) -> PathBuf {
        format!("/proc/self/fd/{}", self.folder.as_raw_fd()).into()
    }

    /// Returns the name of the file.
    pub fn name(&self) -> &OsStr {
        &self.name
    }

    /// Checks that a file can be here, or is.
    ///
    /// # Errors
    /// Here is a folder, a pipe, a socket or a device.
    pub fn ensure_replaceable(&self) -> io::Result<()> {
        match self.leads_to {
            LeadsTo::Entry(None | Some(FileType::RegularFile)) => Ok(()),
            LeadsTo::Entry(Some(FileType::Directory)) => Err(io::ErrorKind::IsADirectory.into()),
            _ => Err(io::Error::other("it is a device or a pipe and cannot be replaced")),
        }
    }

    /// Opens the file for writing, empty, or the pipe or device that is here. A file with several
    /// names is replaced, because somebody may have given it this one.
    ///
    /// # Errors
    /// It cannot be opened or created, or is another user's pipe.
    pub fn create(&self) -> io::Result<File> {
        let mut options = File::options();
        options.write(true).create(true).truncate(false);
        if self.leads_to == LeadsTo::OpenFile {
            return options.truncate(true).open(self.path());
        }
        if self.leads_to == LeadsTo::Entry(Some(FileType::Fifo)) {
            let owner = std::fs::symlink_metadata(self.path())?.uid();
            if !is_trusted(owner) {
                return Err(io::Error::other("it is a pipe of another user"));
            }
        }
        options.custom_flags(OFlags::NOFOLLOW.bits() as i32);
        let file = options.open(self.path())?;
        let opened = file.metadata()?;
        if !opened.is_file() {
            return Ok(file);
        }
        if opened.nlink() > 1 {
            unlinkat(&self.folder, &self.name, AtFlags::empty())?;
            return options.create_new(true).open(self.path());
        }
        file.set_len(0)?;
        Ok(file)
    }
}

/// Walks from folder to folder. Each is open before its entries are looked at, so that nobody can
/// exchange it meanwhile.
fn find(path: &Path, missing: MissingFolder, last: LastLink) -> io::Result<Place> {
    let mut folder = open_folder(".".as_ref())?;
    let mut rest = reversed(path);
    let mut links = 0;
    while let Some(part) = rest.pop() {
        let there = match part.as_bytes() {
            b"/" | b".." => {
                folder = openat(
                    &folder,
                    &part,
                    OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC,
                    Mode::empty(),
                )?;
                continue;
            }
            _ => openat(
                &folder,
                &part,
                OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC,
                Mode::empty(),
            ),
        };
        let there = match there {
            Err(Errno::NOENT) if rest.is_empty() => return Ok(Place::entry(folder, part, None)),
            Err(Errno::NOENT) if missing == MissingFolder::IsCreated => {
                match mkdirat(&folder, &part, Mode::from_bits_truncate(0o777)) {
                    Ok(()) | Err(Errno::EXIST) => rest.push(part),
                    Err(error) => return Err(error.into()),
                }
                continue;
            }
            there => there?,
        };
        let found = fstat(&there)?;
        match FileType::from_raw_mode(found.st_mode) {
            FileType::Symlink if last == LastLink::IsFollowed || !rest.is_empty() => {
                links += 1;
                refuse(&found, links, path, &part)?;
                let is_of_the_kernel = fstatfs(&folder)?.f_type == rustix::fs::PROC_SUPER_MAGIC;
                if !is_of_the_kernel {
                    let target = readlinkat(&there, "", Vec::new())?;
                    rest.extend(reversed(OsStr::from_bytes(target.as_bytes()).as_ref()));
                } else if rest.is_empty() {
                    return Ok(Place {
                        folder,
                        name: part,
                        leads_to: LeadsTo::OpenFile,
                    });
                } else {
                    folder = openat(&folder, &part, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
                }
            }
            kind if rest.is_empty() => return Ok(Place::entry(folder, part, Some(kind))),
            _ => folder = there,
        }
    }
    // A path that ends with `..`, or none.
    Err(io::ErrorKind::InvalidFilename.into())
}

impl Place {
    fn entry(folder: OwnedFd, name: OsString, kind: Option<FileType>) -> Place {
        let leads_to = LeadsTo::Entry(kind);
        Place { folder, name, leads_to }
    }
}

fn open_folder(path: &Path) -> io::Result<OwnedFd> {
    Ok(openat(
        CWD,
        path,
        OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC,
        Mode::empty(),
    )?)
}

/// Returns the parts of a path, the first one last.
fn reversed(path: &Path) -> Vec<OsString> {
    let parts = path.components().filter(|part| *part != Component::CurDir);
    parts.rev().map(|part| part.as_os_str().to_owned()).collect()
}

fn refuse(link: &Stat, links: usize, path: &Path, name: &OsStr) -> io::Result<()> {
    if links > MOST_LINKS {
        return Err(Errno::LOOP.into());
    }
    if is_trusted(link.st_uid) {
        Ok(())
    } else {
        Err(io::Error::other(LinkOfAnother {
            link: if path.file_name() == Some(name) {
                path.display().to_string()
            } else {
                format!("{}` on the way to `{}", name.display(), path.display())
            },
        }))
    }
}

/// Whether this process does what the user says: root, the user of this process, or the one who
/// became root for it.
fn is_trusted(user: u32) -> bool {
    let own = rustix::process::geteuid();
    let before = std::env::var("SUDO_UID").ok().filter(|_| own.is_root());
    user == 0 || user == own.as_raw() || before.is_some_and(|before| before.parse() == Ok(user))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::unix::fs::{chown, lchown, symlink};

    use super::*;

    /// A user that this process is not.
    const BOB: u32 = 4_242;

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Folder {
            let path = std::env::temp_dir().join(format!("gpubench-place-{name}-{}", std::process::id()));
            let _ = std::fs::remove_dir_all(&path);
            std::fs::create_dir(&path).unwrap();
            Folder(path.canonicalize().unwrap())
        }

        fn at(&self, name: &str) -> PathBuf {
            self.0.join(name)
        }

        fn text(&self, name: &str) -> String {
            std::fs::read_to_string(self.at(name)).unwrap()
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    fn written(path: &Path) -> io::Result<()> {
        Place::with_folders(path)?.create()?.write_all(b"written")
    }

    fn is_refused(path: &Path) -> bool {
        let refused = |place: io::Result<Place>| {
            place.is_err_and(|error| error.get_ref().is_some_and(|error| error.is::<LinkOfAnother>()))
        };
        refused(Place::from_path(path)) && refused(Place::with_folders(path))
    }

    #[test]
    fn links_of_this_user_are_followed_wherever_they_are() {
        let folder = Folder::new("own");
        std::fs::create_dir(folder.at("real")).unwrap();
        symlink("real", folder.at("short")).unwrap();
        symlink(folder.at("real/../dangling"), folder.at("real/long")).unwrap();
        written(&folder.at("short/file")).unwrap();
        written(&folder.at("short/long")).unwrap();
        assert_eq!(
            (folder.text("real/file"), folder.text("dangling")),
            ("written".into(), "written".into())
        );
        assert!(folder.at("real/long").symlink_metadata().unwrap().is_symlink());
        symlink("loop", folder.at("loop")).unwrap();
        assert_eq!(
            Place::from_path(folder.at("loop")).unwrap_err().raw_os_error(),
            Some(Errno::LOOP.raw_os_error())
        );
    }

    #[test]
    fn missing_folders_are_created_only_on_request() {
        let folder = Folder::new("missing");
        let path = folder.at("a/b/file");
        assert_eq!(Place::from_path(&path).unwrap_err().kind(), io::ErrorKind::NotFound);
        written(&path).unwrap();
        assert_eq!(folder.text("a/b/file"), "written");
        for none in ["", "/", "..", "a/.."] {
            assert!(Place::from_path(none).is_err(), "{none:?}");
        }
    }

    #[test]
    fn links_of_another_user_are_not_followed_anywhere() {
        let folder = Folder::new("links");
        std::fs::create_dir(folder.at("victim")).unwrap();
        std::fs::write(folder.at("victim/file"), "as it was").unwrap();
        for (name, target) in [
            ("file", "victim/file"),
            ("dangling", "victim/new"),
            ("folder", "victim"),
        ] {
            symlink(target, folder.at(name)).unwrap();
            // Only root can give a link away.
            if lchown(folder.at(name), Some(BOB), None).is_err() {
                return;
            }
        }
        symlink("file", folder.at("own link to it")).unwrap();
        for name in ["file", "dangling", "folder/file", "folder/new/new", "own link to it"] {
            assert!(is_refused(&folder.at(name)), "{name}");
        }
        assert_eq!(folder.text("victim/file"), "as it was");
        assert_eq!(std::fs::read_dir(folder.at("victim")).unwrap().count(), 1);
        let error = Place::from_path(folder.at("folder/file")).unwrap_err().to_string();
        assert!(error.starts_with("`folder` on the way to `/"), "{error}");
    }

    #[test]
    fn another_name_of_a_file_does_not_change_it() {
        let folder = Folder::new("names");
        std::fs::write(folder.at("victim"), "as it was").unwrap();
        std::fs::hard_link(folder.at("victim"), folder.at("output")).unwrap();
        written(&folder.at("output")).unwrap();
        assert_eq!(
            (folder.text("victim"), folder.text("output")),
            ("as it was".into(), "written".into())
        );
        written(&folder.at("output")).unwrap();
        assert_eq!(folder.text("output"), "written", "it was emptied before");
    }

    #[test]
    fn pipes_and_devices_are_opened_but_not_pipes_of_another_user() {
        let folder = Folder::new("pipes");
        written("/dev/null".as_ref()).unwrap();
        let (mut reader, writer) = io::pipe().unwrap();
        written(format!("/dev/fd/{}", writer.as_raw_fd()).as_ref()).unwrap();
        drop(writer);
        assert_eq!(io::read_to_string(&mut reader).unwrap(), "written");
        let pipe = folder.at("pipe");
        assert!(
            std::process::Command::new("mkfifo")
                .arg(&pipe)
                .status()
                .unwrap()
                .success()
        );
        let reading = std::thread::spawn({
            let pipe = pipe.clone();
            move || std::fs::read_to_string(pipe).unwrap()
        });
        written(&pipe).unwrap();
        assert_eq!(reading.join().unwrap(), "written");
        let place = Place::from_path(&pipe).unwrap();
        assert!(
            place.ensure_replaceable().is_err() && Place::from_path(&folder.0).unwrap().ensure_replaceable().is_err()
        );
        if chown(&pipe, Some(BOB), None).is_ok() {
            assert_eq!(written(&pipe).unwrap_err().to_string(), "it is a pipe of another user");
        }
    }
}
