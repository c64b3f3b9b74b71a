//! Which packages of a workspace can have benchmarks, without resolving what they depend on.

use std::process::Stdio;

use camino::Utf8PathBuf;

use super::ManifestOptions;
use super::metadata::RUNTIME_PACKAGE;
use super::workspace_folders::without_dependencies;

/// The workspace here, as far as cargo knows it without looking at dependencies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BenchmarkPackages {
    /// The names of its packages that depend on the runtime.
    pub names: Vec<String>,
    /// Its target directory.
    pub target_directory: Option<Utf8PathBuf>,
}

/// The packages of the workspace here that can have benchmarks. None where cargo cannot say.
pub fn packages_with_benchmarks() -> BenchmarkPackages {
    let Ok(metadata) = without_dependencies(&ManifestOptions::default(), Stdio::null()) else {
        return BenchmarkPackages::default();
    };
    let on_runtime = metadata.packages.iter().filter(|package| {
        let mut dependencies = package.dependencies.iter();
        dependencies.any(|dependency| dependency.name == RUNTIME_PACKAGE)
    });
    BenchmarkPackages {
        names: on_runtime.map(|package| package.name.to_string()).collect(),
        target_directory: Some(metadata.target_directory),
    }
}
