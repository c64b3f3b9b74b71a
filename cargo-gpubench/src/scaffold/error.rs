//! Errors of making first files.

use std::io;

use camino::Utf8PathBuf;
use gpubench_diagnostic::{ExitCode, Expected};
use thiserror::Error;

use crate::cdylibs::BuildError;

/// An error of `cargo gpubench new` or `cargo gpubench init`.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ScaffoldError {
    /// Cargo could not make the crate. Cargo has said why.
    #[error("cargo could not make the crate `{path}`")]
    NotMade {
        /// The crate's folder.
        path: Utf8PathBuf,
    },
    /// There is something in the place of a new crate.
    #[error("`{path}` exists already")]
    PathExists {
        /// The crate's folder.
        path: Utf8PathBuf,
    },
    /// A package would have the name of one that it depends on.
    #[error("a package with benchmarks cannot be named `{name}`, because it depends on the package of that name")]
    NamedLikeDependency {
        /// The name.
        name: String,
    },
    /// Cargo cannot be started, or does not know the package.
    #[error(transparent)]
    Cargo(#[from] BuildError),
    /// There is no manifest, or it is that of a workspace only.
    #[error("`{manifest}` is not the manifest of a package, so there is no place for benchmarks")]
    NoPackage {
        /// The manifest.
        manifest: Utf8PathBuf,
    },
    /// A manifest cannot be read as TOML.
    #[error("cannot read `{manifest}`")]
    Manifest {
        /// The manifest.
        manifest: Utf8PathBuf,
        /// What is wrong with it.
        #[source]
        source: Box<toml::de::Error>,
    },
    /// A manifest has no place for an addition, or one that is not understood.
    #[error("cannot add an example and its dependency to `{manifest}`")]
    NotEditable {
        /// The manifest.
        manifest: Utf8PathBuf,
    },
    /// A manifest has an example with the name of the new one.
    #[error("`{manifest}` has an example `{example}` already")]
    ExampleDeclared {
        /// The manifest.
        manifest: Utf8PathBuf,
        /// The example.
        example: String,
    },
    /// Another package has the name of the runtime.
    #[error("the dependency `gpubench` in `{manifest}` is another package, `{package}`")]
    NameOfAnotherPackage {
        /// The manifest.
        manifest: Utf8PathBuf,
        /// The package.
        package: String,
    },
    /// A file's name has characters that are not visible, which would get into the example.
    #[error("the name of the file `{name}` has characters that cannot be shown")]
    NameOfFile {
        /// The name, escaped.
        name: String,
    },
    /// A file that would be written exists.
    #[error("`{path}` exists already")]
    Exists {
        /// The file.
        path: Utf8PathBuf,
    },
    /// There are no kernels to write benchmarks for.
    #[error("there is no kernel in {searched}")]
    NoKernels {
        /// Where they were searched.
        searched: String,
    },
    /// A file is neither CUDA C++ nor text.
    #[error("cannot read `{path}`")]
    Unreadable {
        /// The file.
        path: Utf8PathBuf,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// A file cannot be written.
    #[error("cannot write `{path}`")]
    Unwritable {
        /// The file.
        path: Utf8PathBuf,
        /// The system's error.
        #[source]
        source: io::Error,
    },
}

impl Expected for ScaffoldError {
    fn exit_code(&self) -> ExitCode {
        match self {
            ScaffoldError::Cargo(error) => error.exit_code(),
            ScaffoldError::Unwritable { .. } => ExitCode::OutputFailed,
            ScaffoldError::NoKernels { .. } => ExitCode::NothingSelected,
            ScaffoldError::NotMade { .. }
            | ScaffoldError::PathExists { .. }
            | ScaffoldError::NamedLikeDependency { .. }
            | ScaffoldError::NoPackage { .. }
            | ScaffoldError::NotEditable { .. }
            | ScaffoldError::ExampleDeclared { .. }
            | ScaffoldError::NameOfAnotherPackage { .. }
            | ScaffoldError::NameOfFile { .. }
            | ScaffoldError::Manifest { .. }
            | ScaffoldError::Exists { .. }
            | ScaffoldError::Unreadable { .. } => ExitCode::Usage,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            ScaffoldError::Cargo(error) => error.hint(),
            ScaffoldError::NoPackage { .. } => {
                Some("go to the folder of a package, or name its manifest with `--manifest-path`".into())
            }
            ScaffoldError::PathExists { .. } => Some(
                "choose another path; for the kernels of a package, go to its folder and run `cargo gpubench init`"
                    .into(),
            ),
            ScaffoldError::NamedLikeDependency { .. } => Some("choose another name with `--name`".into()),
            ScaffoldError::NotEditable { .. } => Some(
                "add `[[example]]` with `name` and `crate-type = [\"cdylib\"]`, and `gpubench` in `[dev-dependencies]`"
                    .into(),
            ),
            ScaffoldError::ExampleDeclared { .. } => Some("choose another name with `--example`".into()),
            ScaffoldError::NameOfAnotherPackage { package, .. } => Some(format!(
                "name it for its package: `{package} = ..` in place of `gpubench = {{ package = .. }}`"
            )),
            ScaffoldError::NameOfFile { .. } => {
                Some("rename the file, or name the others: `cargo gpubench init src/kernels.cu`".into())
            }
            ScaffoldError::Exists { .. } => Some("choose another name with `--example`, or remove the file".into()),
            ScaffoldError::NoKernels { .. } => Some("name the files: `cargo gpubench init src/kernels.cu`".into()),
            ScaffoldError::NotMade { .. }
            | ScaffoldError::Manifest { .. }
            | ScaffoldError::Unreadable { .. }
            | ScaffoldError::Unwritable { .. } => None,
        }
    }
}
