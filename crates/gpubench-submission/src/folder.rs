//! Folders of strangers, listed without following links. Files are read only if they belong to the
//! submission.

use std::io;
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{AtFlags, Dir, FileType, statat};

use crate::beneath::{open_folder, open_root};
use crate::entry_path::{inside, shown};
use crate::error::ReadError;
use crate::limits::Limits;
use crate::tree::{Held, Tree};

/// Lists a folder. `shown_path` is its name in messages.
///
/// # Errors
/// It cannot be read, is too large, or has an entry that is neither a file nor a folder.
pub(crate) fn read(folder: &Path, shown_path: &str, limits: &Limits) -> Result<Tree, ReadError> {
    let mut tree = Tree::new(shown_path, &format!("{}/", shown_path.trim_end_matches('/')));
    let root = Arc::new(open_root(folder).map_err(ReadError::io(shown_path))?);
    // Paths of folders still to list, relative to the root.
    let mut open = vec![String::new()];
    while let Some(below) = open.pop() {
        let unreadable = ReadError::io(&tree.shown_path(&below));
        let folder = open_folder(&root, &below).map_err(&unreadable)?;
        for entry in Dir::read_from(&folder).map_err(io::Error::from).map_err(&unreadable)? {
            let entry = entry.map_err(io::Error::from).map_err(&unreadable)?;
            let name = entry.file_name().to_bytes();
            // `.git` may have thousands of files.
            if name.starts_with(b".") {
                continue;
            }
            let bad = |reason| ReadError::BadPath {
                path: shown_path.to_owned(),
                entry: shown(name),
                reason,
            };
            let Some(name) = inside(name).map_err(bad)? else {
                continue;
            };
            let path = match below.as_str() {
                "" => name,
                below => format!("{below}/{name}"),
            };
            inside(path.as_bytes()).map_err(bad)?;
            let kind = match entry.file_type() {
                FileType::Unknown => {
                    let found = statat(&folder, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW);
                    FileType::from_raw_mode(found.map_err(io::Error::from).map_err(&unreadable)?.st_mode)
                }
                known => known,
            };
            match kind {
                FileType::RegularFile => {
                    let held = Held::Disk {
                        root: root.clone(),
                        path: path.clone(),
                    };
                    tree.add(path, held, limits)?;
                }
                FileType::Directory => {
                    tree.add_folder(&path, limits)?;
                    open.push(path);
                }
                other => {
                    return Err(ReadError::NotPlain {
                        path: shown_path.to_owned(),
                        entry: path,
                        kind: kind_of(other),
                    });
                }
            }
        }
    }
    Ok(tree.without_common_folder())
}

fn kind_of(kind: FileType) -> &'static str {
    match kind {
        FileType::Symlink => "a link",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        FileType::Fifo => "a pipe",
        FileType::Socket => "a socket",
        _ => "of an unknown kind",
    }
}
