//! Files of the cache, each with its size and its digest beside it. A disk that was full, a crash
//! or an editor may change what is kept under a name, which says only what went in: a file that is
//! not what was written is as good as none.

use std::io::{self, Read, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use gpubench_diagnostic::hexadecimal;
use sha2::{Digest as _, Sha256};

/// Keeps a file under a name, so that other processes see it whole or not at all.
pub(super) fn keep(path: &Path, contents: &[u8]) -> io::Result<()> {
    write_whole(path, contents)?;
    let size = contents.len() as u64;
    write_whole(
        &digest_file(path),
        description(size, Sha256::new_with_prefix(contents)).as_bytes(),
    )
}

/// Whether a file is there and is what was written.
pub(super) fn is_as_written(path: &Path) -> bool {
    let Ok(expected) = fs_err::read_to_string(digest_file(path)) else {
        return false;
    };
    // A file of another size need not be read.
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
    let folder = path.parent().unwrap_or(Path::new("."));
    fs_err::create_dir_all(folder)?;
    let mut file = tempfile::Builder::new()
        // As any new file: the user's mask takes away what it takes away.
        .permissions(std::fs::Permissions::from_mode(0o666))
        .tempfile_in(folder)?;
    file.write_all(contents)?;
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_not_what_was_written_is_none() {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("below/image.so");
        assert!(!is_as_written(&path));
        keep(&path, b"an image").expect("it is written");
        assert!(is_as_written(&path));
        for damaged in [&b"an imagE"[..], b"an imag", b"", b"an image "] {
            std::fs::write(&path, damaged).expect("it is there");
            assert!(!is_as_written(&path), "{damaged:?}");
        }
        keep(&path, b"").expect("it is written");
        assert!(is_as_written(&path));
        std::fs::remove_file(digest_file(&path)).expect("it is there");
        assert!(!is_as_written(&path));
    }
}
