//! Errors of making or using an archive.

use std::error::Error;
use std::io;
use std::path::Path;

use camino::Utf8PathBuf;

use crate::cdylibs::TargetName;
use gpubench_contract::units::size;
use gpubench_device::FreezeError;
use gpubench_diagnostic::{ExitCode, Expected, is_full_disk};

/// An error of making or using an archive.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// The file cannot be opened.
    #[error("could not open the archive `{archive}`")]
    Missing {
        /// The file.
        archive: Utf8PathBuf,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// The file is not an archive.
    #[error("`{archive}` is not an archive of `cargo gpubench`")]
    NotAnArchive {
        /// The file.
        archive: Utf8PathBuf,
    },
    /// The archive is damaged.
    #[error("the archive `{archive}` is damaged: {damage}")]
    Damaged {
        /// The file.
        archive: Utf8PathBuf,
        /// The damage.
        damage: Damage,
    },
    /// An entry would be unpacked outside the folder.
    #[error("the archive `{archive}` has an entry outside its folder: `{entry}`")]
    Outside {
        /// The file.
        archive: Utf8PathBuf,
        /// The entry's path.
        entry: String,
    },
    /// An entry is a link, a device or an extension of another entry.
    #[error("the archive `{archive}` has an entry that is not a regular file: `{entry}`, {kind}")]
    NotPlain {
        /// The file.
        archive: Utf8PathBuf,
        /// The entry's path.
        entry: String,
        /// The kind of entry, for people.
        kind: String,
    },
    /// The archive's format is newer than this tool.
    #[error("the archive `{archive}` was made by cargo gpubench {made_by}; this tool, {ours}, cannot read its format")]
    Newer {
        /// The file.
        archive: Utf8PathBuf,
        /// The version that made it.
        made_by: String,
        /// This version.
        ours: &'static str,
    },
    /// The libraries are for another platform.
    #[error("the archive `{archive}` is for {made_for}, but this tool is for {here}")]
    OtherTarget {
        /// The file.
        archive: Utf8PathBuf,
        /// The libraries' platform.
        made_for: String,
        /// This tool's platform.
        here: String,
    },
    /// A library of the archive cannot be loaded on this machine.
    #[error("the library of {library} in the archive `{archive}` cannot be used on this machine")]
    Library {
        /// The file.
        archive: Utf8PathBuf,
        /// The library.
        library: TargetName,
        /// The loading error.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// The kernels were compiled only for other devices.
    #[error("the kernels in the archive `{archive}` are compiled for {}, but this device is {device}; they cannot be compiled here: {reason}", .compiled_for.join(", "))]
    OtherArchitecture {
        /// The file.
        archive: Utf8PathBuf,
        /// The targets of the kernels.
        compiled_for: Vec<String>,
        /// This device.
        device: String,
        /// Why they cannot be compiled here.
        reason: String,
    },
    /// The disk has too little space.
    #[error("the archive `{archive}` unpacks to {}, but `{folder}` has only {} free", size(*.needed), size(*.free))]
    NoRoom {
        /// The file.
        archive: Utf8PathBuf,
        /// The folder to unpack to.
        folder: Utf8PathBuf,
        /// Bytes of its files.
        needed: u64,
        /// Free bytes on the disk.
        free: u64,
    },
    /// The folder to unpack to is not empty.
    #[error("the folder `{folder}` is not empty")]
    FolderNotEmpty {
        /// The folder.
        folder: Utf8PathBuf,
    },
    /// The name of a file is too long for an archive.
    #[error("the name `{path}` is too long for an archive")]
    LongName {
        /// The name.
        path: String,
    },
    /// The archive's manifest would be too long to read.
    #[error("the archive's manifest would have {}; the limit is {}", size(*.length), size(*.longest))]
    LongManifest {
        /// Bytes of the manifest.
        length: u64,
        /// The limit in bytes.
        longest: u64,
    },
    /// The archive has too many files.
    #[error("the archive `{archive}` has {files} files; the limit is {most}")]
    ManyFiles {
        /// The archive.
        archive: Utf8PathBuf,
        /// Number of files in its manifest.
        files: usize,
        /// The limit.
        most: usize,
    },
    /// The user interrupts.
    #[error("interrupted")]
    Interrupted,
    /// A library changed after it was unpacked.
    #[error("`{path}` changed after it was unpacked")]
    Exchanged {
        /// The file.
        path: Utf8PathBuf,
    },
    /// A library that another needs, but that does not have its name.
    #[error("`{library}`, which another library of the archive needs, has no `SONAME` of that name")]
    Nameless {
        /// The name of the file.
        library: String,
    },
    /// An unpacked library cannot be frozen.
    #[error(transparent)]
    Incomplete(#[from] FreezeError),
    /// A path is not UTF-8.
    #[error("the path `{path}` is not UTF-8")]
    PathNotUtf8 {
        /// The path in printable form.
        path: String,
    },
    /// A library cannot be parsed.
    #[error("could not read which libraries `{library}` needs")]
    LibraryUnreadable {
        /// The library.
        library: Utf8PathBuf,
        /// The parse error.
        #[source]
        source: object::Error,
    },
    /// A file or a folder cannot be read or written.
    #[error("could not {action} `{path}`")]
    Io {
        /// The failed action.
        action: &'static str,
        /// The file or folder.
        path: Utf8PathBuf,
        /// The system's error.
        #[source]
        source: io::Error,
    },
}

/// The damage of an archive.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// The end is missing.
    #[error("it is truncated")]
    Truncated,
    /// The compressed data are invalid, or their checksum does not match.
    #[error("its contents do not match its checksum")]
    Contents,
    /// The archive has more than its manifest lists.
    #[error("it contains more than its manifest lists")]
    TooLong,
    /// The manifest is invalid.
    #[error("its manifest cannot be read: {0}")]
    Manifest(String),
    /// A file differs from the archived one.
    #[error("`{0}` is not the file that was archived")]
    File(String),
    /// A file of the manifest is missing.
    #[error("`{0}` is missing")]
    Absent(String),
    /// An entry is not in the manifest, or appears twice.
    #[error("its manifest does not list `{0}`")]
    Unlisted(String),
}

impl ArchiveError {
    /// Returns an [`ArchiveError::PathNotUtf8`].
    pub(crate) fn not_utf8(path: &Path) -> ArchiveError {
        ArchiveError::PathNotUtf8 {
            path: path.display().to_string(),
        }
    }

    /// Returns an [`ArchiveError::Io`] for `map_err`.
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
                "make one where the sources are: `cargo gpubench archive --archive-file FILE`"
            }
            Self::Damaged {
                damage: Damage::TooLong,
                ..
            } => "this file may have been tampered with: make it again",
            Self::Damaged { .. } => "copy it again from the machine that made it, or make it again",
            Self::Outside { .. } | Self::NotPlain { .. } => {
                "do not trust this file: `cargo gpubench archive` makes no such entries"
            }
            Self::Newer { made_by, ours, .. } => {
                &format!("install cargo gpubench {made_by} here, or make the archive again with {ours}")
            }
            Self::OtherTarget { here, .. } => &format!("make the archive on a machine like this one, {here}"),
            Self::Library { source, .. } => return Some(library_hint(&gpubench_diagnostic::chain(&**source))),
            Self::OtherArchitecture { device, .. } if device.starts_with("sm_") => &format!(
                "archive again with `--gpu-arch {device}`, or install NVRTC here: `pip install nvidia-cuda-nvrtc`"
            ),
            Self::OtherArchitecture { .. } => {
                "archive again on a machine with a C++ compiler, or install g++ or clang here"
            }
            Self::FolderNotEmpty { .. } => "name an empty or new folder, or add `--extract-overwrite`",
            Self::LongName { .. } => "shorten the name of the package, its library or the library that it needs",
            Self::LongManifest { .. } | Self::ManyFiles { .. } => {
                "make several archives, each for some of the packages: `--package NAME`"
            }
            Self::Nameless { library } => &format!("link it with `-Wl,-soname,{library}`, or statically"),
            Self::Exchanged { .. } => "run the archive again while nothing else writes to that folder",
            Self::NoRoom { .. } => &format!("free some disk space, {ELSEWHERE}"),
            error if is_full_disk(error) => &format!("the disk is full: free some space, {ELSEWHERE}"),
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

const ELSEWHERE: &str =
    "or name a folder on another disk with `TMPDIR` (with `--archive-file`, also with `--extract-to`)";

/// Returns a hint for a message of the dynamic linker.
fn library_hint(message: &str) -> String {
    if message.contains("version `") && message.contains("not found") {
        "this machine's system libraries are older than those of the machine that made the archive: archive again on a machine as old as this one".to_owned()
    } else if message.contains("cannot open shared object file") {
        "install the missing library here, add its folder to `LD_LIBRARY_PATH`, or link it statically".to_owned()
    } else if message.contains("failed to map segment") {
        "the folder may be mounted `noexec`: name another with `TMPDIR` (with `--archive-file`, also with `--extract-to`)"
            .to_owned()
    } else {
        format!("archive again with cargo gpubench {}", env!("CARGO_PKG_VERSION"))
    }
}
