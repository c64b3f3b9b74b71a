//! Where a workspace and what is built from it lie.

use std::process::Stdio;

use camino::{Utf8Path, Utf8PathBuf};
use serde::Deserialize;

use super::cargo::{Cargo, CargoArguments};
use super::metadata::absolute;
use super::{BuildError, ManifestOptions};

/// Where a workspace and what is built from it lie.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct WorkspaceFolders {
    /// The workspace's own folder.
    #[serde(rename = "workspace_root")]
    pub root: Utf8PathBuf,
    /// Cargo's target directory, where the tool may keep its own files too.
    #[serde(rename = "target_directory")]
    pub target: Utf8PathBuf,
}

impl WorkspaceFolders {
    /// Asks cargo, which neither builds nor resolves anything for it. `target_dir` is the option of that name.
    ///
    /// # Errors
    /// Cargo does not start or fails: there is no workspace, for example.
    pub fn find(manifest: &ManifestOptions, target_dir: Option<&Utf8Path>) -> Result<WorkspaceFolders, BuildError> {
        let cargo = Cargo::from_environment();
        let mut command = cargo.command("metadata");
        command.args(["--format-version", "1", "--no-deps"]);
        manifest.add_to(&mut command);
        let answer = command.stderr(Stdio::inherit()).output();
        let answer = answer.map_err(|source| BuildError::CargoNotStarted {
            program: cargo.program(),
            source,
        })?;
        if !answer.status.success() {
            return Err(BuildError::MetadataFailed { status: answer.status });
        }
        let mut folders: WorkspaceFolders =
            serde_json::from_slice(&answer.stdout).map_err(|source| BuildError::MetadataUnreadable { source })?;
        if let Some(target_dir) = target_dir {
            folders.target = absolute(target_dir)?;
        }
        Ok(folders)
    }
}
