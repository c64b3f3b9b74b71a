//! The folders of a workspace and its builds.

use camino::{Utf8Path, Utf8PathBuf};
use cargo_metadata::Metadata;

use super::cargo::{Cargo, CargoArguments, Complaints};
use super::metadata::absolute;
use super::{BuildError, ManifestOptions};

/// The folders of a workspace and its builds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkspaceFolders {
    /// The workspace root.
    pub root: Utf8PathBuf,
    /// Cargo's target directory, which also holds the tool's files.
    pub target: Utf8PathBuf,
}

impl WorkspaceFolders {
    /// Asks cargo without building or resolving anything. `target_dir` is the value of
    /// `--target-dir`.
    ///
    /// # Errors
    /// Cargo does not start or fails, for example without a workspace.
    pub fn find(manifest: &ManifestOptions, target_dir: Option<&Utf8Path>) -> Result<WorkspaceFolders, BuildError> {
        let metadata = without_dependencies(manifest, Complaints::Shown)?;
        Ok(WorkspaceFolders {
            root: metadata.workspace_root,
            target: match target_dir {
                Some(target_dir) => absolute(target_dir)?,
                None => metadata.target_directory,
            },
        })
    }
}

/// Asks cargo about a workspace without resolving dependencies.
pub(super) fn without_dependencies(manifest: &ManifestOptions, complaints: Complaints) -> Result<Metadata, BuildError> {
    let cargo = Cargo::to_look();
    let mut command = cargo.command("metadata");
    command.args(["--format-version", "1", "--no-deps"]);
    manifest.add_to(&mut command);
    let answer = command.output().map_err(cargo.not_started())?;
    complaints.show(&answer);
    if answer.status.success() {
        serde_json::from_slice(&answer.stdout).map_err(|source| BuildError::MetadataUnreadable { source })
    } else {
        Err(BuildError::MetadataFailed { status: answer.status })
    }
}
