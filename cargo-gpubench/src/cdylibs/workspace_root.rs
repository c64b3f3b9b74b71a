//! Locates a workspace without reading its packages.

use std::process::Stdio;

use camino::{Utf8Path, Utf8PathBuf};

use super::cargo::Cargo;

/// Returns the workspace root of a manifest or the current folder; `None` without a workspace or
/// cargo.
pub fn workspace_root(manifest: Option<&Utf8Path>) -> Option<Utf8PathBuf> {
    let mut command = Cargo::to_look().command("locate-project");
    command.args(["--workspace", "--message-format", "plain"]);
    if let Some(manifest) = manifest {
        command.args(["--manifest-path", manifest.as_str()]);
    }
    // Cargo reports a missing manifest when something is built.
    let answer = command.stderr(Stdio::null()).output().ok()?;
    let path = String::from_utf8(answer.stdout).ok()?;
    let manifest = Utf8Path::new(path.trim_end_matches('\n'));
    manifest
        .parent()
        .filter(|_| answer.status.success())
        .map(Utf8Path::to_owned)
}
