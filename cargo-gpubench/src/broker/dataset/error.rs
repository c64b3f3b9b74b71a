//! Why the files are no problem.

use std::io;

use camino::Utf8PathBuf;

use gpubench_diagnostic::{ExitCode, Expected, printable_line};
use gpubench_trace::{CaseError, WrongDocument};

/// A definition with its workloads cannot be graded against.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DatasetError {
    /// A file cannot be read.
    #[error("cannot read `{path}`")]
    Unreadable {
        path: Utf8PathBuf,
        #[source]
        source: io::Error,
    },
    /// A file is not what it should be.
    #[error("`{path}` is no file of {what}")]
    Document {
        path: Utf8PathBuf,
        what: &'static str,
        #[source]
        source: WrongDocument,
    },
    /// The file of workloads is empty.
    #[error("`{path}` has no workloads")]
    NoWorkloads { path: Utf8PathBuf },
    /// A workload is of another definition.
    #[error("the workload in line {line} of `{path}` is for the definition `{}`, not for `{}`", printable_line(.of), printable_line(.definition))]
    OtherDefinition {
        path: Utf8PathBuf,
        line: usize,
        of: String,
        definition: String,
    },
    /// Two workloads have one name.
    #[error("the workloads in lines {first} and {second} of `{path}` are both called `{}`", printable_line(.uuid))]
    SameWorkload {
        path: Utf8PathBuf,
        uuid: String,
        first: usize,
        second: usize,
    },
    /// No workload can be measured.
    #[error("no workload of `{path}` can be measured: the first, `{}` in line {line}, cannot", printable_line(.uuid))]
    NoCase {
        path: Utf8PathBuf,
        line: usize,
        uuid: String,
        #[source]
        source: Box<CaseError>,
    },
    /// An output would replace tensors of a workload.
    #[error("`{file}` has tensors of a workload, and would be overwritten")]
    OutputIsInput { file: Utf8PathBuf },
    /// There is no place for the files of the reference.
    #[error("cannot write the files of the reference")]
    Temporary(#[source] io::Error),
}

impl Expected for DatasetError {
    fn exit_code(&self) -> ExitCode {
        match self {
            DatasetError::Temporary(_) => ExitCode::OutputFailed,
            _ => ExitCode::Usage,
        }
    }

    fn hint(&self) -> Option<String> {
        Some(match self {
            DatasetError::Unreadable { .. } | DatasetError::Temporary(_) => return None,
            DatasetError::Document { what, .. } => format!("`docs/reference/traces.md` has the fields of {what}"),
            DatasetError::NoWorkloads { .. } => "each line is a workload, or a trace without an evaluation".to_owned(),
            DatasetError::OtherDefinition { .. } => "name the workloads of this definition".to_owned(),
            DatasetError::SameWorkload { .. } => "give each workload a `uuid` of its own".to_owned(),
            DatasetError::NoCase { source, .. } => return source.hint(),
            DatasetError::OutputIsInput { .. } => "choose another output file".to_owned(),
        })
    }
}
