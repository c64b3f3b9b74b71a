//! Archives of builds.

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::atomic::AtomicBool;

use camino::{Utf8Path, Utf8PathBuf};
use cargo_gpubench::archive::{ArchivedFile, ArchivedLibrary, Digest, ExtractTo, FORMAT, Manifest, unpack};
use cargo_gpubench::config::CaseSettings;
use flate2::Compression;
use flate2::write::GzEncoder;
use tar::Header;

/// Bytes of a block of a tar archive. A header is one block.
const BLOCK: usize = 512;

/// Where a header has its checksum, as eight characters.
const CHECKSUM: std::ops::Range<usize> = 148..156;

/// Where a header says that it is one.
const MAGIC: std::ops::Range<usize> = 257..262;

/// Unpacks a tar archive, with headers whose checksums are right. Whatever it says, nothing is
/// written outside of the folder, and what is unpacked are the files of the manifest.
pub fn run(data: &[u8]) {
    let outside = tempfile::tempdir().expect("a folder");
    let outside = Utf8Path::from_path(outside.path()).expect("a path in UTF-8");
    let (archive, folder) = (outside.join("a.tar.gz"), outside.join("inside"));
    std::fs::write(&archive, compressed(&with_checksums(data))).expect("room for the file");
    let to = ExtractTo::Kept {
        folder: folder.clone(),
        overwrite: false,
    };
    let unpacked = unpack(&archive, &to, &AtomicBool::new(false));
    let around: BTreeSet<Utf8PathBuf> = files_in(outside)
        .into_iter()
        .filter(|path| !path.starts_with(&folder))
        .collect();
    assert_eq!(around, BTreeSet::from([archive]));
    if let Ok(unpacked) = unpacked {
        let listed = unpacked.manifest.files().map(|file| folder.join(&file.path));
        assert_eq!(files_in(&folder), listed.collect());
        let _ = unpacked.built();
    }
}

/// Returns an archive of one library, and one with nothing.
pub fn seeds() -> Vec<Vec<u8>> {
    let contents: &[u8] = b"\x7fELF, or not";
    let path = "lib/libtidy.so";
    let file = ArchivedFile {
        path: path.to_owned(),
        size: contents.len() as u64,
        sha256: Digest::from_bytes(contents),
    };
    let library = ArchivedLibrary {
        package: "tidy".to_owned(),
        version: "0.1.0".to_owned(),
        example: None,
        crate_name: "tidy".to_owned(),
        file,
        needs: Vec::new(),
        own_libraries: Vec::new(),
        settings: CaseSettings::default(),
    };
    let manifest = |libraries| Manifest {
        format: FORMAT,
        tool_version: "0.1.0".to_owned(),
        runtime_version: "0.1.0".to_owned(),
        target: format!("{}-unknown-linux-gnu", std::env::consts::ARCH),
        created_at: "2026-01-02T03:04:05Z".to_owned(),
        revision: None,
        libraries,
        kernels: Vec::new(),
    };
    let text = |libraries| serde_json::to_vec(&manifest(libraries)).expect("it can be written");
    let seeds = vec![
        packed(&[("manifest.json", &text(vec![library])), (path, contents)]),
        packed(&[("manifest.json", &text(Vec::new()))]),
    ];
    assert!(
        is_unpacked(&seeds[0]),
        "a seed that no change has reached must be an archive"
    );
    seeds
}

fn is_unpacked(tar: &[u8]) -> bool {
    let archive = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(archive.path(), compressed(tar)).expect("room for the file");
    let path = Utf8Path::from_path(archive.path()).expect("a path in UTF-8");
    unpack(path, &ExtractTo::Temporary, &AtomicBool::new(false)).is_ok()
}

pub(crate) fn packed(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut tar = tar::Builder::new(Vec::new());
    for (path, contents) in entries {
        let mut header = Header::new_gnu();
        header.set_size(contents.len() as u64);
        header.set_mode(0o644);
        tar.append_data(&mut header, path, *contents).expect("memory takes it");
    }
    tar.into_inner().expect("memory takes it")
}

/// Returns the archive with the right checksum in each header. Without them, changes of headers
/// would only show that checksums are looked at.
pub(crate) fn with_checksums(data: &[u8]) -> Vec<u8> {
    let mut data = data.to_vec();
    for header in data.chunks_exact_mut(BLOCK).filter(|block| &block[MAGIC] == b"ustar") {
        header[CHECKSUM].fill(b' ');
        let sum: u32 = header.iter().copied().map(u32::from).sum();
        header[CHECKSUM].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    }
    data
}

fn compressed(tar: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(tar).expect("memory takes it");
    encoder.finish().expect("memory takes it")
}

/// Returns everything below a folder that is not a folder.
fn files_in(folder: &Utf8Path) -> BTreeSet<Utf8PathBuf> {
    let mut files = BTreeSet::new();
    for entry in folder.read_dir_utf8().into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            files.append(&mut files_in(entry.path()));
        } else {
            files.insert(entry.path().to_owned());
        }
    }
    files
}
