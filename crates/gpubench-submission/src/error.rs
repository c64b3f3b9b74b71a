//! Errors of reading a submission.

use std::io;

use gpubench_diagnostic::{ExitCode, Expected, is_too_much};

use crate::entry_path::BadPath;
use crate::mistake::Mistake;
use crate::name::NotAName;

/// A submission that cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum ReadError {
    #[error("could not read the submission `{path}`")]
    Io {
        path: String,
        #[source]
        source: io::Error,
    },
    #[error("`{path}` is not a submission")]
    UnknownKind { path: String },
    #[error("`{path}` is not {expected}")]
    WrongContents { path: String, expected: &'static str },
    #[error("`{path}` has an entry that is neither a file nor a folder: `{entry}`, {kind}")]
    NotPlain {
        path: String,
        entry: String,
        kind: &'static str,
    },
    #[error("`{path}` has an entry with a bad path: `{entry}`: {reason}")]
    BadPath {
        path: String,
        entry: String,
        reason: BadPath,
    },
    #[error("`{path}` has two entries for `{entry}`")]
    Twice { path: String, entry: String },
    #[error("`{path}` has more than {most} files and folders")]
    ManyEntries { path: String, most: usize },
    #[error("`{path}` has more than {most} folders inside of each other")]
    Deep { path: String, most: usize },
    #[error("`{path}` is larger than a submission may be: {what} has at most {most} bytes")]
    Large {
        path: String,
        what: &'static str,
        most: u64,
    },
    #[error("the tarball `{path}` is damaged")]
    Damaged {
        path: String,
        #[source]
        source: io::Error,
    },
    #[error("`{path}` is not UTF-8")]
    NotUtf8 { path: String },
    #[error("`{path}` has no kernel: no `.cu`, `.ptx`, `.cubin`, `.fatbin` or `.so`")]
    NoMainFile { path: String },
    #[error("`{path}` has several files that could be the kernel: {}", .files.join(", "))]
    SeveralMainFiles { path: String, files: Vec<String> },
    #[error("`{path}` includes `{header}`, which is next to it and not part of the submission")]
    OthersHeader { path: String, header: String },
    #[error("`{path}` includes `{header}`, which is outside of the submission")]
    IncludeOutside { path: String, header: String },
    #[error("`{path}` is described twice: in {one} and in {other}")]
    DescribedTwice { path: String, one: String, other: String },
    #[error("`{path}` has no description")]
    NotDescribed { path: String },
    #[error("the name of `{path}` cannot be that of a submission")]
    Name {
        path: String,
        #[source]
        source: NotAName,
    },
    #[error(transparent)]
    Description(#[from] Mistake),
}

impl ReadError {
    /// Returns a function for `map_err`.
    pub(crate) fn io(path: &str) -> impl Fn(io::Error) -> ReadError + use<> {
        let path = path.to_owned();
        move |source| ReadError::Io {
            path: path.clone(),
            source,
        }
    }

    /// Returns a function for `map_err`, for a reader of at most `most` bytes.
    pub(crate) fn io_at_most(path: &str, what: &'static str, most: u64) -> impl Fn(io::Error) -> ReadError + use<> {
        let path = path.to_owned();
        move |source| match () {
            () if is_too_much(&source) => ReadError::Large {
                path: path.clone(),
                what,
                most,
            },
            () => ReadError::Io {
                path: path.clone(),
                source,
            },
        }
    }
}

impl Expected for ReadError {
    fn exit_code(&self) -> ExitCode {
        ExitCode::Usage
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::UnknownKind { .. } => {
                "name a `.cu`, `.ptx`, `.cubin`, `.fatbin` or `.so`, a folder or tarball with one, or `-` for standard input"
            }
            Self::NotPlain { .. } => "put the file itself there instead: links are never followed",
            Self::BadPath { .. } => "pack the folder again with plain names: `tar czf sum.tar.gz -C FOLDER .`",
            Self::ManyEntries { .. } | Self::Deep { .. } | Self::Large { .. } => {
                "leave only the kernel, its headers and `submission.toml` in it"
            }
            Self::Damaged { .. } => "copy it again from where it was made, or make it again",
            Self::NoMainFile { .. } => {
                "put the kernel into the folder itself, or name it in `submission.toml`: `file = \"sum.cu\"`"
            }
            Self::SeveralMainFiles { .. } => "name one in `submission.toml`: `file = \"sum.cu\"`",
            Self::OthersHeader { .. } => {
                "name the folder instead of the file: headers are read in a folder or tarball only"
            }
            Self::IncludeOutside { .. } => "put the header into the folder of the submission",
            Self::DescribedTwice { .. } => "keep one of them",
            Self::NotDescribed { .. } => {
                "say how it is launched in a comment, `/* gpubench`, or in `submission.toml`: `grid = \"ceil_div(n, 256)\"` and `block = 256`"
            }
            Self::Name { .. } => "give it one in its description: `name = \"one block a row\"`",
            Self::Description(_)
            | Self::Io { .. }
            | Self::WrongContents { .. }
            | Self::Twice { .. }
            | Self::NotUtf8 { .. } => return None,
        };
        Some(hint.to_owned())
    }
}
