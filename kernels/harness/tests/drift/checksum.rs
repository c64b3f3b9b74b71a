//! The checksum by which generated files name their sources.

use std::path::Path;

/// Returns the 64-bit FNV-1a of all files, as 16 hexadecimal digits. Each file contributes its
/// path, a zero byte, its contents and a zero byte.
pub(crate) fn of_files(root: &Path, paths: &[&str]) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for path in paths {
        let text = std::fs::read(root.join(path)).unwrap_or_else(|error| panic!("`{path}`: {error}"));
        for &byte in path.as_bytes().iter().chain(&[0]).chain(&text).chain(&[0]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    format!("{hash:016x}")
}

/// Returns the sources of the PTX: every `.cuh`, `harness.cu` and the header, sorted.
pub(crate) fn ptx_sources(root: &Path) -> Vec<String> {
    let mut paths: Vec<String> = std::fs::read_dir(root.join("cuda"))
        .expect("the sources are in the package")
        .map(|entry| {
            entry
                .expect("a readable directory")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .filter(|name| name.ends_with(".cuh") || name == "harness.cu")
        .map(|name| format!("cuda/{name}"))
        .collect();
    paths.push("include/gb_harness.h".to_owned());
    paths.sort();
    paths
}
