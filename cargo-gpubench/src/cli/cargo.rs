//! Cargo's own options, under the headings of cargo's own help.

use super::settings::CargoArguments;
use crate::broker::options::{OutputOptions, Verbosity};
use crate::build::{
    BuildOptions, CargoOutput, CargoProgress, CompilationOptions, DefaultFeatures, FeatureSelection, ManifestOptions,
    PackageSelection, PackageSpec,
};

/// Cargo's grammar: a number above zero, a negative one that counts from the number of processors, or `default`.
pub(super) fn parse_jobs(text: &str) -> Result<String, String> {
    let is_number = text.parse::<i32>().is_ok_and(|jobs| jobs != 0);
    if is_number || text == "default" {
        Ok(text.to_owned())
    } else {
        Err("jobs are a number other than 0, or `default`".to_owned())
    }
}

impl CargoArguments {
    pub(super) fn into_options(self, output: &OutputOptions) -> BuildOptions {
        let lock_flags = [
            (self.locked, "--locked"),
            (self.offline, "--offline"),
            (self.frozen, "--frozen"),
        ];
        let lock_flags = lock_flags.into_iter().filter(|(given, _)| *given);
        BuildOptions {
            packages: packages(self.package, self.workspace, self.exclude),
            features: FeatureSelection {
                features: FeatureSelection::split(&self.features),
                default_features: default_features(self.all_features, self.no_default_features),
            },
            manifest: ManifestOptions {
                manifest_path: self.manifest_path,
                lock_flags: lock_flags.map(|(_, flag)| flag).collect(),
                config: self.config,
            },
            compilation: CompilationOptions {
                profile: self.cargo_profile,
                target_dir: self.target_dir,
                jobs: self.build_jobs,
            },
            output: cargo_output(output),
        }
    }
}

/// As in cargo, `--workspace` makes `--package` superfluous.
fn packages(named: Vec<PackageSpec>, workspace: bool, exclude: Vec<PackageSpec>) -> PackageSelection {
    if workspace {
        PackageSelection::Workspace { exclude }
    } else if named.is_empty() {
        PackageSelection::Default
    } else {
        PackageSelection::Named(named)
    }
}

/// As in cargo, all features are all features.
fn default_features(all: bool, none: bool) -> DefaultFeatures {
    match (all, none) {
        (true, _) => DefaultFeatures::All,
        (_, true) => DefaultFeatures::None,
        _ => DefaultFeatures::Default,
    }
}

fn cargo_output(output: &OutputOptions) -> CargoOutput {
    CargoOutput {
        color: output.color,
        progress: match output.verbosity {
            Verbosity::Quiet => CargoProgress::Quiet,
            Verbosity::Normal | Verbosity::Verbose => CargoProgress::Shown,
        },
    }
}
