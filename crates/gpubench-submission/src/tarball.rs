//! Tarballs of strangers, read into memory.

use std::io::{self, Read};

use flate2::read::GzDecoder;
use gpubench_diagnostic::{AtMost, is_too_much};
use tar::EntryType;

use crate::entry_path::{inside, shown};
use crate::error::ReadError;
use crate::limits::Limits;
use crate::tree::{Held, Tree};

/// The first two bytes of a gzip file.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Where a tar archive has its magic number.
const MAGIC: std::ops::Range<usize> = 257..262;

/// Whether bytes start like a tarball, compressed or not.
pub(crate) fn is_tarball(bytes: &[u8]) -> bool {
    bytes.starts_with(&GZIP) || bytes.get(MAGIC) == Some(b"ustar")
}

/// Reads a tarball. `shown_path` is its name in messages.
///
/// # Errors
/// It is damaged or too large, or has an entry that is neither a file nor a folder in it.
pub(crate) fn read(bytes: &[u8], shown_path: &str, limits: &Limits) -> Result<Tree, ReadError> {
    let mut tree = Tree::new(shown_path, &format!("{shown_path}:"));
    if bytes.starts_with(&GZIP) {
        read_from(GzDecoder::new(bytes), &mut tree, limits)?;
    } else {
        read_from(bytes, &mut tree, limits)?;
    }
    Ok(tree.without_common_folder())
}

fn read_from(contents: impl Read, tree: &mut Tree, limits: &Limits) -> Result<(), ReadError> {
    let path = tree.shown.clone();
    let damaged = |source: io::Error| match () {
        () if is_too_much(&source) => ReadError::Large {
            path: path.clone(),
            what: "everything in a tarball",
            most: limits.total,
        },
        () => ReadError::Damaged {
            path: path.clone(),
            source,
        },
    };
    let mut tar = tar::Archive::new(AtMost::new(contents, limits.total));
    let mut seen = 0;
    for entry in tar.entries().map_err(damaged)? {
        let mut entry = entry.map_err(damaged)?;
        seen += 1;
        if seen > limits.entries {
            let most = limits.entries;
            return Err(ReadError::ManyEntries { path, most });
        }
        let name = entry.path_bytes().into_owned();
        let kind = entry.header().entry_type();
        match kind {
            EntryType::Regular | EntryType::Directory => {}
            // A comment, as `git archive` writes it.
            EntryType::XGlobalHeader => continue,
            other => {
                let (entry, kind) = (shown(&name), kind_of(other));
                return Err(ReadError::NotPlain { path, entry, kind });
            }
        }
        let inside = inside(&name).map_err(|reason| ReadError::BadPath {
            path: path.clone(),
            entry: shown(&name),
            reason,
        })?;
        let Some(inside) = inside.filter(|path| !is_hidden(path)) else {
            continue;
        };
        if kind == EntryType::Directory {
            tree.add_folder(&inside, limits)?;
        } else {
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).map_err(damaged)?;
            if bytes.len() as u64 != entry.size() {
                return Err(damaged(io::ErrorKind::UnexpectedEof.into()));
            }
            tree.add(inside, Held::Bytes(bytes), limits)?;
        }
    }
    // The checksum is at the end.
    let mut rest = tar.into_inner();
    io::copy(&mut rest, &mut io::sink()).map(drop).map_err(damaged)
}

/// Whether a file or a folder that it is in is hidden: `.git`, `._sum.cu`.
pub(crate) fn is_hidden(path: &str) -> bool {
    path.split('/').any(|part| part.starts_with('.'))
}

fn kind_of(kind: EntryType) -> &'static str {
    match kind {
        EntryType::Symlink | EntryType::Link => "a link",
        EntryType::Char | EntryType::Block => "a device",
        EntryType::Fifo => "a pipe",
        EntryType::GNUSparse => "a sparse file",
        _ => "of an unknown kind",
    }
}
