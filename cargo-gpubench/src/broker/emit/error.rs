//! Why kernels were not printed.

use std::path::PathBuf;

use gpubench_device::compilers::NoListing;
use gpubench_device::cuda::DamagedImage;
use gpubench_diagnostic::{ExitCode, Expected};

/// Some kernels were not printed.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotEmitted {
    /// No selected case has kernels to print.
    #[error("no selected case has kernels for {target}")]
    NoKernels { target: String },
    /// A case has none, for the reason in a warning.
    #[error("some kernels could not be compiled for {target}")]
    Failed { target: String },
    /// An image has no such text.
    #[error("cannot print the kernels of `{source_name}`")]
    Unprintable {
        source_name: String,
        #[source]
        source: NoListing,
    },
    /// A compiled file cannot be used.
    #[error("cannot read the compiled kernels in `{}`", .path.display())]
    Damaged {
        path: PathBuf,
        #[source]
        source: DamagedImage,
    },
}

impl Expected for NotEmitted {
    fn exit_code(&self) -> ExitCode {
        match self {
            NotEmitted::NoKernels { .. } => ExitCode::NothingSelected,
            NotEmitted::Failed { .. } => ExitCode::BuildFailed,
            NotEmitted::Unprintable { source, .. } => source.exit_code(),
            NotEmitted::Damaged { .. } => ExitCode::Internal,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            NotEmitted::NoKernels { .. } => Some("`cargo gpubench --list` shows the cases".to_owned()),
            NotEmitted::Failed { .. } => None,
            NotEmitted::Unprintable { source, .. } => source.hint(),
            NotEmitted::Damaged { .. } => Some("remove the file, so that it is compiled again".to_owned()),
        }
    }
}
