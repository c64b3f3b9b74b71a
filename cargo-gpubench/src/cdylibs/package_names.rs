//! Lists packages that can have benchmarks, without resolving dependencies.

use camino::Utf8PathBuf;

use super::ManifestOptions;
use super::cargo::Complaints;
use super::metadata::RUNTIME_PACKAGE;
use super::workspace_folders::without_dependencies;

/// The current workspace, without its dependencies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BenchmarkPackages {
    /// Names of its packages that depend on the runtime.
    pub names: Vec<String>,
    /// Its target directory.
    pub target_directory: Option<Utf8PathBuf>,
}

/// Returns the packages of the current workspace that can have benchmarks; `None` if cargo fails.
pub fn packages_with_benchmarks() -> BenchmarkPackages {
    let Ok(metadata) = without_dependencies(&ManifestOptions::default(), Complaints::Dropped) else {
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
