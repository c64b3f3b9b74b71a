//! Cache files, each stored with its size and digest. A file's name depends only on the inputs. A
//! full disk, a crash or an editor can change the contents; a changed file counts as missing.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use gpubench_diagnostic::{Place, TemporaryFolder, hexadecimal};
use sha2::{Digest as _, Sha256};

use super::scratch::PREFIX;

/// Writes a file atomically: other processes see the whole file or none.
pub(super) fn keep(path: &Path, contents: &[u8]) -> io::Result<()> {
    write_whole(path, contents)?;
    let size = contents.len() as u64;
    write_whole(
        &digest_file(path),
        description(size, Sha256::new_with_prefix(contents)).as_bytes(),
    )
}

/// Returns whether a file exists and is unchanged since it was written.
pub(super) fn is_intact(path: &Path) -> bool {
    let Ok(expected) = fs_err::read_to_string(digest_file(path)) else {
        return false;
    };
    // If the size differs, there is no need to read the file.
    let size = fs_err::metadata(path)
        .map(|metadata| metadata.len())
        .unwrap_or_default();
    expected.starts_with(&format!("{size} ")) && digest(path).is_ok_and(|digest| description(size, digest) == expected)
}

fn digest(path: &Path) -> io::Result<Sha256> {
    let mut file = fs_err::File::open(path)?;
    let (mut digest, mut piece) = (Sha256::new(), vec![0; 64 << 10]);
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(digest),
            length => digest.update(&piece[..length]),
        }
    }
}

fn description(size: u64, digest: Sha256) -> String {
    format!("{size} {}\n", hexadecimal(&digest.finalize()))
}

fn digest_file(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".sha256");
    name.into()
}

fn write_whole(path: &Path, contents: &[u8]) -> io::Result<()> {
    let place = Place::of_entry(path)?;
    let folder = TemporaryFolder::new_in(&place.folder(), PREFIX)?;
    let file = folder.path().join("contents");
    fs_err::write(&file, contents)?;
    fs_err::rename(&file, place.path())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_file_counts_as_missing() {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("below/image.so");
        assert!(!is_intact(&path));
        keep(&path, b"an image").expect("it is written");
        assert!(is_intact(&path));
        for damaged in [&b"an imagE"[..], b"an imag", b"", b"an image "] {
            std::fs::write(&path, damaged).expect("it is there");
            assert!(!is_intact(&path), "{damaged:?}");
        }
        keep(&path, b"").expect("it is written");
        assert!(is_intact(&path));
        std::fs::remove_file(digest_file(&path)).expect("it is there");
        assert!(!is_intact(&path));
    }
}
