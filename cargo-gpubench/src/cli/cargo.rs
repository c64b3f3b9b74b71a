//! Cargo's options.

use super::settings::CargoArguments;
use crate::broker::options::{OutputOptions, Verbosity};
use crate::cdylibs::{
    BuildOptions, CompilationOptions, FeatureSelection, ManifestOptions, PackageSelection, PackageSpec,
};

impl CargoArguments {
    pub(super) fn into_options(self, output: &OutputOptions) -> BuildOptions {
        let lock_flags = [
            self.locked.then_some("--locked"),
            self.offline.then_some("--offline"),
            self.frozen.then_some("--frozen"),
        ];
        // As in cargo, `--all-features` overrides `--no-default-features`.
        let feature_flag = if self.all_features {
            Some("--all-features")
        } else {
            self.no_default_features.then_some("--no-default-features")
        };
        BuildOptions {
            packages: packages(self.package, self.workspace, self.exclude),
            features: FeatureSelection {
                features: FeatureSelection::split(&self.features),
                flags: feature_flag.into_iter().collect(),
            },
            manifest: ManifestOptions {
                manifest_path: self.manifest_path,
                lock_flags: lock_flags.into_iter().flatten().collect(),
                config: self.config,
            },
            compilation: CompilationOptions {
                profile: self.cargo_profile,
                target_dir: self.target_dir,
                jobs: self.build_jobs,
            },
            color: output.color,
            quiet: output.verbosity == Verbosity::Quiet,
        }
    }
}

/// As in cargo, `--workspace` overrides `--package`.
fn packages(named: Vec<PackageSpec>, workspace: bool, exclude: Vec<PackageSpec>) -> PackageSelection {
    if workspace {
        PackageSelection::Workspace { exclude }
    } else if named.is_empty() {
        PackageSelection::Default
    } else {
        PackageSelection::Named(named)
    }
}
