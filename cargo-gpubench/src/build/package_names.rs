//! Which packages of a workspace can have benchmarks, without resolving what they depend on.
#![forbid(unsafe_code)]

use std::process::Stdio;

use cargo_metadata::Metadata;

use super::cargo::Cargo;
use super::metadata::RUNTIME_PACKAGE;

/// The names of the packages of the workspace here that depend on the runtime. None where cargo cannot say.
pub fn packages_with_benchmarks() -> Vec<String> {
    let mut command = Cargo::from_environment().command("metadata");
    command.args(["--format-version", "1", "--no-deps"]);
    let answer = command.stderr(Stdio::null()).output().ok();
    let metadata: Option<Metadata> = answer.and_then(|answer| serde_json::from_slice(&answer.stdout).ok());
    let packages = metadata.map(|metadata| metadata.packages).unwrap_or_default();
    let on_runtime = packages.iter().filter(|package| {
        let mut dependencies = package.dependencies.iter();
        dependencies.any(|dependency| dependency.name == RUNTIME_PACKAGE)
    });
    on_runtime.map(|package| package.name.to_string()).collect()
}
