//! Paths of compiled kernel modules, by the position of their source in the catalog.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Encodes paths as `source number, length, bytes` after one another.
pub fn encode_modules<'a>(modules: impl IntoIterator<Item = (u32, &'a Path)>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (source, path) in modules {
        let path = path.as_os_str().as_bytes();
        bytes.extend_from_slice(&source.to_le_bytes());
        bytes.extend_from_slice(&(path.len() as u32).to_le_bytes());
        bytes.extend_from_slice(path);
    }
    bytes
}

/// Decodes what [`encode_modules`] made; `None` when it did not.
pub fn decode_modules(mut bytes: &[u8]) -> Option<Vec<(u32, PathBuf)>> {
    let mut modules = Vec::new();
    while !bytes.is_empty() {
        let (source, rest) = bytes.split_first_chunk::<4>()?;
        let (length, rest) = rest.split_first_chunk::<4>()?;
        let (path, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        modules.push((u32::from_le_bytes(*source), PathBuf::from(OsStr::from_bytes(path))));
        bytes = rest;
    }
    Some(modules)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_arrive_as_they_were_sent_and_damage_is_noticed() {
        let sent = [(0, Path::new("/a/b.so")), (7, Path::new("/weird\n name.so"))];
        let bytes = encode_modules(sent);
        let expected = sent.map(|(source, path)| (source, path.to_path_buf())).to_vec();
        assert_eq!(decode_modules(&bytes), Some(expected));
        assert_eq!(decode_modules(&bytes[..bytes.len() - 1]), None);
    }
}
