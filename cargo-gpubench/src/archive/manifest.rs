//! The manifest of an archive.

use std::collections::BTreeSet;

use camino::Utf8Path;
use serde::{Deserialize, Serialize};

use super::{ArchiveError, Digest};
use crate::config::CaseSettings;
use gpubench_contract::Revision;

/// The format version that this tool writes, and the newest that it reads.
pub const FORMAT: u32 = 1;

/// Name of the manifest's entry, always the first.
pub(super) const MANIFEST: &str = "manifest.json";

/// Most bytes of a manifest, which is read as a whole: enough for about forty thousand files.
pub(super) const LONGEST_MANIFEST: u64 = 16 << 20;

/// Most files of an archive: each is created, written and removed again.
const MOST_FILES: usize = 1 << 14;

/// The manifest of an archive, with every file in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the format.
    pub format: u32,
    /// Version of the tool that made the archive.
    pub tool_version: String,
    /// Version of `gpubench` that the libraries were built with.
    pub runtime_version: String,
    /// The platform of the libraries, for example `x86_64-unknown-linux-gnu`.
    pub target: String,
    /// Creation time of the archive, in UTC as RFC 3339.
    pub created_at: String,
    /// The revision of the sources; `None` outside a git repository, and in archives older than
    /// this field.
    #[serde(default)]
    pub revision: Option<Revision>,
    /// The benchmark libraries, in workspace order.
    pub libraries: Vec<ArchivedLibrary>,
    /// Kernels compiled ahead.
    pub kernels: Vec<ArchivedKernels>,
}

/// A benchmark library in an archive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchivedLibrary {
    /// Name of the package.
    pub package: String,
    /// Its version.
    pub version: String,
    /// The name of the example that the library is; `None` for the package's library.
    #[serde(default)]
    pub example: Option<String>,
    /// Name of the library in Rust.
    pub crate_name: String,
    /// The shared library.
    pub file: ArchivedFile,
    /// Shared libraries that it needs and that the build made.
    pub needs: Vec<ArchivedFile>,
    /// Libraries that single benchmarks name as their own.
    #[serde(default)]
    pub own_libraries: Vec<ArchivedOwnLibrary>,
    /// Measurement settings of its package.
    #[serde(default)]
    pub settings: CaseSettings,
}

/// The library of single benchmarks' own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchivedOwnLibrary {
    /// The path that the benchmarks name.
    pub named: String,
    /// The library.
    pub file: ArchivedFile,
}

/// Compiled kernels of one source for one target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchivedKernels {
    /// Digest of the source: its files and its options.
    pub source: Digest,
    /// The source's name in `cuda_source!`.
    pub source_name: String,
    /// Name expressions of the kernels.
    pub names: Vec<String>,
    /// The target: an architecture such as `sm_90`, or a level of processors such as `x86-64-v3`.
    pub target: String,
    /// The compiler's name, for people.
    pub compiler: String,
    /// The compiled image.
    pub file: ArchivedFile,
}

/// A file in an archive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchivedFile {
    /// Its path in the archive, with `/`.
    pub path: String,
    /// Its size in bytes.
    pub size: u64,
    /// Its SHA-256 digest.
    pub sha256: Digest,
}

impl ArchivedFile {
    /// Returns the path of the file in a folder.
    pub(super) fn below(&self, folder: &Utf8Path) -> camino::Utf8PathBuf {
        folder.join(&self.path)
    }
}

impl Manifest {
    /// Returns every file except the manifest.
    pub fn files(&self) -> impl Iterator<Item = &ArchivedFile> {
        let of_libraries = self.libraries.iter().flat_map(|library| {
            let own = library.own_libraries.iter().map(|own| &own.file);
            std::iter::once(&library.file).chain(&library.needs).chain(own)
        });
        of_libraries.chain(self.kernels.iter().map(|kernels| &kernels.file))
    }

    /// Checks the limit on the number of files.
    pub(super) fn refuse_many_files(&self, archive: &Utf8Path) -> Result<(), ArchiveError> {
        match self.files().count() {
            files if files > MOST_FILES => Err(ArchiveError::ManyFiles {
                archive: archive.to_owned(),
                files,
                most: MOST_FILES,
            }),
            _ => Ok(()),
        }
    }

    /// Returns the targets of the compiled kernels, each once.
    pub fn targets(&self) -> Vec<String> {
        let targets: BTreeSet<&String> = self.kernels.iter().map(|kernels| &kernels.target).collect();
        targets.into_iter().cloned().collect()
    }
}

/// The part of a manifest that every format version has.
#[derive(Debug, Deserialize)]
pub(super) struct Origin {
    pub(super) format: u32,
    pub(super) tool_version: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::SampleCount;

    /// Archives outlive the tool that made them: a renamed field cannot be read by other versions.
    #[test]
    fn the_manifest_has_these_fields() {
        let file = |path: &str| ArchivedFile {
            path: path.to_owned(),
            size: 3,
            sha256: Digest::from_bytes(b"abc"),
        };
        let manifest = Manifest {
            format: FORMAT,
            tool_version: "0.1.0".to_owned(),
            runtime_version: "0.1.0".to_owned(),
            target: "x86_64-unknown-linux-gnu".to_owned(),
            created_at: "2026-01-02T03:04:05Z".to_owned(),
            revision: Some(Revision {
                commit: "0123456789abcdef0123456789abcdef01234567".to_owned(),
                branch: Some("main".to_owned()),
                modified: true,
            }),
            libraries: vec![ArchivedLibrary {
                package: "tidy-kernels".to_owned(),
                version: "1.2.3".to_owned(),
                example: None,
                crate_name: "tidy_kernels".to_owned(),
                file: file("libraries/tidy-kernels/libtidy_kernels.so"),
                needs: vec![file("libraries/tidy-kernels/needed/libstd.so")],
                own_libraries: vec![ArchivedOwnLibrary {
                    named: "/build/out/libfast.so".to_owned(),
                    file: file("libraries/tidy-kernels/own/0/libfast.so"),
                }],
                settings: CaseSettings {
                    max_samples: Some(SampleCount::new(50)),
                    ..CaseSettings::default()
                },
            }],
            kernels: vec![ArchivedKernels {
                source: Digest::from_bytes(b"source"),
                source_name: "image.cu".to_owned(),
                names: vec!["blur<3>".to_owned()],
                target: "sm_90".to_owned(),
                compiler: "NVRTC 13.0".to_owned(),
                file: file("kernels/sm_90/0"),
            }],
        };
        insta::assert_json_snapshot!(manifest);
        let text = serde_json::to_string(&manifest).expect("it can be written");
        assert_eq!(
            serde_json::from_str::<Manifest>(&text).expect("it can be read"),
            manifest
        );
        let older = text.replace("\"revision\"", "\"of_no_meaning_yet\"");
        let older: Manifest = serde_json::from_str(&older).expect("it can be read");
        assert_eq!(older.revision, None);
        let paths: Vec<&str> = manifest.files().map(|file| &*file.path).collect();
        assert_eq!(
            paths,
            [
                "libraries/tidy-kernels/libtidy_kernels.so",
                "libraries/tidy-kernels/needed/libstd.so",
                "libraries/tidy-kernels/own/0/libfast.so",
                "kernels/sm_90/0"
            ]
        );
    }
}
