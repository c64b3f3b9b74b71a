//! Where a workspace is, without a look at what is in it.

use std::process::Stdio;

use camino::{Utf8Path, Utf8PathBuf};

use super::cargo::Cargo;

/// The root of the workspace that a manifest, or the current folder, belongs to; nothing where
/// there is none, or no cargo.
pub fn workspace_root(manifest: Option<&Utf8Path>) -> Option<Utf8PathBuf> {
    let mut command = Cargo::from_environment().command("locate-project");
    command.args(["--workspace", "--message-format", "plain"]);
    if let Some(manifest) = manifest {
        command.args(["--manifest-path", manifest.as_str()]);
    }
    // That there is no manifest is cargo's to complain about when something is to be built.
    let answer = command.stderr(Stdio::null()).output().ok()?;
    let path = String::from_utf8(answer.stdout).ok()?;
    let manifest = Utf8Path::new(path.trim_end_matches('\n'));
    manifest
        .parent()
        .filter(|_| answer.status.success())
        .map(Utf8Path::to_owned)
}
