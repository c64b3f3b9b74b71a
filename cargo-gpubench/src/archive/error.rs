//! Why an archive cannot be made or used.

use std::error::Error;
use std::io;
use std::path::Path;

use camino::Utf8PathBuf;

use gpubench_contract::units::size;
use gpubench_device::FreezeError;
use gpubench_diagnostic::{ExitCode, Expected};

/// Why an archive cannot be made or used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// The file cannot be opened.
    #[error("could not open the archive `{archive}`")]
    Missing {
        /// The file.
        archive: Utf8PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// The file is something else.
    #[error("`{archive}` is not an archive of `cargo gpubench`")]
    NotAnArchive {
        /// The file.
        archive: Utf8PathBuf,
    },
    /// The archive is not as it was made.
    #[error("the archive `{archive}` is damaged: {damage}")]
    Damaged {
        /// The file.
        archive: Utf8PathBuf,
        /// What is wrong with it.
        damage: Damage,
    },
    /// An entry would be unpacked to somewhere else.
    #[error("the archive `{archive}` has an entry that leads out of its folder: `{entry}`")]
    Outside {
        /// The file.
        archive: Utf8PathBuf,
        /// The entry's path.
        entry: String,
    },
    /// An entry is a link, a device or something that extends another entry.
    #[error("the archive `{archive}` has an entry that is no plain file: `{entry}`, {kind}")]
    NotPlain {
        /// The file.
        archive: Utf8PathBuf,
        /// The entry's path.
        entry: String,
        /// What it is instead, for people.
        kind: String,
    },
    /// The archive's format is newer than this tool.
    #[error(
        "the archive `{archive}` was made by cargo gpubench {made_by} in a format that this tool, {ours}, does not know"
    )]
    Newer {
        /// The file.
        archive: Utf8PathBuf,
        /// The version that made it.
        made_by: String,
        /// This version.
        ours: &'static str,
    },
    /// The libraries are for another platform.
    #[error("the archive `{archive}` is for {made_for}, and this tool is for {here}")]
    OtherTarget {
        /// The file.
        archive: Utf8PathBuf,
        /// The libraries' platform.
        made_for: String,
        /// This tool's platform.
        here: String,
    },
    /// A library of the archive cannot be loaded on this machine.
    #[error("the library of `{package}` in the archive `{archive}` cannot be used on this machine")]
    Library {
        /// The file.
        archive: Utf8PathBuf,
        /// The package.
        package: String,
        /// How loading it failed.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// The kernels were compiled for other devices only.
    #[error("the kernels in the archive `{archive}` are compiled for {}, and this device is {device}; they cannot be compiled here: {reason}", .compiled_for.join(", "))]
    OtherArchitecture {
        /// The file.
        archive: Utf8PathBuf,
        /// What they are compiled for.
        compiled_for: Vec<String>,
        /// This device.
        device: String,
        /// Why they cannot be compiled here.
        reason: String,
    },
    /// There is not enough room for what is in it.
    #[error("the archive `{archive}` unpacks to {}, and `{folder}` has room for {}", size(*.needed), size(*.free))]
    NoRoom {
        /// The file.
        archive: Utf8PathBuf,
        /// Where it was to be unpacked to.
        folder: Utf8PathBuf,
        /// Bytes of its files.
        needed: u64,
        /// Bytes that are free there.
        free: u64,
    },
    /// The folder to unpack to is in use.
    #[error("the folder `{folder}` is not empty")]
    FolderNotEmpty {
        /// The folder.
        folder: Utf8PathBuf,
    },
    /// The name of a file that goes into the archive is longer than names in archives are.
    #[error("`{path}` is longer than a name in an archive may be")]
    LongName {
        /// The name.
        path: String,
    },
    /// The archive would list more than is read again.
    #[error("the archive would have a manifest of {}, and at most {} are read", size(*.length), size(*.longest))]
    LongManifest {
        /// Bytes of its manifest.
        length: u64,
        /// Most bytes of one.
        longest: u64,
    },
    /// The archive holds more files than are unpacked.
    #[error("the archive `{archive}` has {files} files, and at most {most} are unpacked")]
    ManyFiles {
        /// The archive.
        archive: Utf8PathBuf,
        /// How many its manifest lists.
        files: usize,
        /// Most files of one.
        most: usize,
    },
    /// The user wants no more of it.
    #[error("interrupted")]
    Interrupted,
    /// A file that goes into the archive is not what it was when the archive was begun.
    #[error("`{path}` changed while it was being archived")]
    Changed {
        /// The file.
        path: Utf8PathBuf,
    },
    /// A library is not what was unpacked.
    #[error("`{path}` was changed after it was unpacked")]
    Exchanged {
        /// The file.
        path: Utf8PathBuf,
    },
    /// What was unpacked cannot be kept as it is.
    #[error(transparent)]
    Incomplete(#[from] FreezeError),
    /// A path is not UTF-8.
    #[error("the path `{path}` is not UTF-8")]
    PathNotUtf8 {
        /// The path, as well as it can be shown.
        path: String,
    },
    /// A library cannot be understood.
    #[error("could not read which libraries `{library}` needs")]
    LibraryUnreadable {
        /// The library.
        library: Utf8PathBuf,
        /// What is wrong with it.
        #[source]
        source: object::Error,
    },
    /// A file or a folder cannot be read or written.
    #[error("could not {action} `{path}`")]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file or folder.
        path: Utf8PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
}

/// In what way an archive is not as it was made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// The end is missing.
    #[error("it ends too early")]
    Truncated,
    /// The compressed data make no sense, or their checksum is another.
    #[error("its contents do not match its checksum")]
    Contents,
    /// There is more than the manifest lists.
    #[error("it holds more than its manifest lists")]
    TooLong,
    /// The manifest makes no sense.
    #[error("its manifest cannot be read: {0}")]
    Manifest(String),
    /// A file is not the one that was archived.
    #[error("`{0}` is not what was archived")]
    File(String),
    /// A file that the manifest lists is not there.
    #[error("`{0}` is missing")]
    Absent(String),
    /// An entry that the manifest does not list, or for a second time.
    #[error("its manifest does not list `{0}`")]
    Unlisted(String),
}

impl ArchiveError {
    /// An [`ArchiveError::PathNotUtf8`].
    pub(crate) fn not_utf8(path: &Path) -> ArchiveError {
        ArchiveError::PathNotUtf8 {
            path: path.display().to_string(),
        }
    }

    /// An [`ArchiveError::Io`] for `map_err`.
    pub(super) fn io(action: &'static str, path: impl Into<Utf8PathBuf>) -> impl FnOnce(io::Error) -> ArchiveError {
        let path = path.into();
        move |source| ArchiveError::Io { action, path, source }
    }
}

impl Expected for ArchiveError {
    fn exit_code(&self) -> ExitCode {
        match self {
            Self::Interrupted => ExitCode::Interrupted,
            _ => ExitCode::ArchiveFailed,
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Missing { .. } | Self::NotAnArchive { .. } => {
                "`cargo gpubench archive --archive-file FILE` makes one where the sources are"
            }
            Self::Damaged {
                damage: Damage::TooLong,
                ..
            } => "do not trust where this file came from, or make it again",
            Self::Damaged { .. } => "copy it again from where it was made, or make it again",
            Self::Outside { .. } | Self::NotPlain { .. } => {
                "`cargo gpubench archive` makes no such entries: do not trust where this file came from"
            }
            Self::Newer { made_by, ours, .. } => {
                &format!("install cargo gpubench {made_by} here, or archive again with {ours}")
            }
            Self::OtherTarget { here, .. } => &format!("archive again on a machine like this one, {here}"),
            Self::Library { source, .. } => return Some(library_hint(&gpubench_diagnostic::chain(&**source))),
            Self::OtherArchitecture { device, .. } if device.starts_with("sm_") => &format!(
                "archive again with `--gpu-arch {device}`, or install NVRTC here: `pip install nvidia-cuda-nvrtc`"
            ),
            Self::OtherArchitecture { .. } => "archive again where a C++ compiler is, or install g++ or clang here",
            Self::FolderNotEmpty { .. } => {
                "name a folder that is empty or does not exist, or add `--extract-overwrite`"
            }
            Self::LongName { .. } => "give the package, its library or the library that it needs a shorter name",
            Self::LongManifest { .. } | Self::ManyFiles { .. } => {
                "make several archives, each of some packages: `--package NAME`"
            }
            Self::Exchanged { .. } => "run the archive again, where nothing else writes to that folder",
            Self::Changed { .. } => "archive again while nothing else builds",
            Self::NoRoom { .. } => &format!("free some of the disk, {ELSEWHERE}"),
            Self::Io { source, .. } if source.kind() == io::ErrorKind::StorageFull => {
                &format!("the disk is full: free some of it, {ELSEWHERE}")
            }
            Self::Interrupted
            | Self::PathNotUtf8 { .. }
            | Self::LibraryUnreadable { .. }
            | Self::Io { .. }
            | Self::Incomplete(_) => {
                return None;
            }
        };
        Some(hint.to_owned())
    }
}

const ELSEWHERE: &str = "or name a folder on another with `TMPDIR`, or `--extract-to` for `--archive-file`";

/// The dynamic linker says what is wrong in words of its own.
fn library_hint(message: &str) -> String {
    if message.contains("version `") && message.contains("not found") {
        "this machine's system libraries are older than those it was built with: archive again on a machine as old as this one".to_owned()
    } else if message.contains("cannot open shared object file") {
        "install the library that is missing here, or link it statically".to_owned()
    } else if message.contains("failed to map segment") {
        "the folder may be mounted `noexec`: name another with `TMPDIR`, or `--extract-to` for `--archive-file`"
            .to_owned()
    } else {
        format!("archive again with cargo gpubench {}", env!("CARGO_PKG_VERSION"))
    }
}
