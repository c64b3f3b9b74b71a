//! Which packages of a build lie in folders of this machine.

use camino::Utf8PathBuf;

use super::cargo::Cargo;
use super::compiler::Compiler;
use super::metadata::Workspace;
use super::{BuildError, BuildOptions};

/// The folders of the packages that a build reads where they lie: the workspace's own and those that manifests name by a path.
///
/// # Errors
/// Cargo does not start or cannot resolve the dependencies.
pub fn local_packages(options: &BuildOptions) -> Result<Vec<Utf8PathBuf>, BuildError> {
    let workspace = Workspace::load(&Cargo::from_environment(), &Compiler::ask()?, options)?;
    Ok(workspace.local_packages())
}
