//! The runtime in a manifest.

use camino::{Utf8Path, Utf8PathBuf};
use toml_edit::Value;

/// Returns the value of `gpubench = ..` in a manifest. A tool that was built in its repository uses
/// the runtime there, as long as it has the tool's version. Any other uses the published one.
pub(super) fn runtime_dependency() -> String {
    match of_repository() {
        Some(folder) => format!("{{ path = {} }}", Value::from(folder.as_str())),
        None => Value::from(env!("CARGO_PKG_VERSION")).to_string(),
    }
}

fn of_repository() -> Option<Utf8PathBuf> {
    let folder = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).parent()?.join("gpubench");
    let manifest = fs_err::read_to_string(folder.join("Cargo.toml")).ok()?;
    let manifest: toml::Table = manifest.parse().ok()?;
    let name = manifest.get("package")?.get("name")?.as_str()?;
    (name == "gpubench" && has_the_version(&folder, &manifest)).then_some(folder)
}

/// Returns whether a package has the tool's version, itself or from its workspace.
fn has_the_version(folder: &Utf8Path, manifest: &toml::Table) -> bool {
    let version_of = |table: &toml::Value| Some(table.get("version")?.as_str()?.to_owned());
    let own = manifest.get("package").and_then(version_of);
    let of_workspace = || {
        let text = fs_err::read_to_string(folder.parent()?.join("Cargo.toml")).ok()?;
        let workspace: toml::Table = text.parse().ok()?;
        workspace.get("workspace")?.get("package").and_then(version_of)
    };
    own.or_else(of_workspace).as_deref() == Some(env!("CARGO_PKG_VERSION"))
}
