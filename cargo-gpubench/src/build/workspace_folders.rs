//! Where a workspace and what is built from it lie.

use std::process::Stdio;

use camino::{Utf8Path, Utf8PathBuf};
use cargo_metadata::Metadata;

use super::cargo::{Cargo, CargoArguments};
use super::metadata::absolute;
use super::{BuildError, ManifestOptions};

/// Where a workspace and what is built from it lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkspaceFolders {
    /// The workspace's own folder.
    pub root: Utf8PathBuf,
    /// Cargo's target directory, where the tool may keep its own files too.
    pub target: Utf8PathBuf,
}

impl WorkspaceFolders {
    /// Asks cargo, which neither builds nor resolves anything for it. `target_dir` is the option of
    /// that name.
    ///
    /// # Errors
    /// Cargo does not start or fails: there is no workspace, for example.
    pub fn find(manifest: &ManifestOptions, target_dir: Option<&Utf8Path>) -> Result<WorkspaceFolders, BuildError> {
        let metadata = without_dependencies(manifest, Stdio::inherit())?;
        Ok(WorkspaceFolders {
            root: metadata.workspace_root,
            target: match target_dir {
                Some(target_dir) => absolute(target_dir)?,
                None => metadata.target_directory,
            },
        })
    }
}

/// Asks cargo about a workspace, which resolves nothing for it; `complaints` get what cargo says
/// besides.
pub(super) fn without_dependencies(manifest: &ManifestOptions, complaints: Stdio) -> Result<Metadata, BuildError> {
    let cargo = Cargo::from_environment();
    let mut command = cargo.command("metadata");
    command.args(["--format-version", "1", "--no-deps"]);
    manifest.add_to(&mut command);
    let answer = command.stderr(complaints).output().map_err(cargo.not_started())?;
    match answer.status.success() {
        true => serde_json::from_slice(&answer.stdout).map_err(|source| BuildError::MetadataUnreadable { source }),
        false => Err(BuildError::MetadataFailed { status: answer.status }),
    }
}
