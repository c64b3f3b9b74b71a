//! Cargo's own options, under the headings of cargo's own help.

use camino::Utf8PathBuf;
use clap::Args;

use crate::{
    broker::options::{OutputOptions, Verbosity},
    build::{
        BuildOptions, CargoColor, CargoOutput, CargoProgress, CompilationOptions, DefaultFeatures, FeatureSelection,
        ManifestOptions, PackageSelection, PackageSpec, Profile,
    },
};
use gpubench_report::Color;

const PACKAGES: &str = "Package selection";
const FEATURES: &str = "Feature selection";
const COMPILATION: &str = "Compilation options";
const MANIFEST: &str = "Manifest options";

#[derive(Debug, Args)]
pub(super) struct CargoArguments {
    /// Benchmark this package
    ///
    /// A name, `name@version`, a package identifier or a pattern such as `kernels-*`. May be given several times.
    #[arg(short, long, value_name = "SPEC", help_heading = PACKAGES)]
    package: Vec<PackageSpec>,

    /// Benchmark every package of the workspace that depends on `gpubench-runtime`
    #[arg(long, visible_alias = "all", help_heading = PACKAGES)]
    workspace: bool,

    /// Leave this package of the workspace out
    #[arg(long, value_name = "SPEC", help_heading = PACKAGES, requires = "workspace")]
    exclude: Vec<PackageSpec>,

    /// Activate these features, separated by commas or spaces
    #[arg(short = 'F', long, value_name = "FEATURES", help_heading = FEATURES)]
    features: Vec<String>,

    /// Activate all features of the selected packages
    #[arg(long, help_heading = FEATURES)]
    all_features: bool,

    /// Do not activate the `default` feature
    #[arg(long, help_heading = FEATURES)]
    no_default_features: bool,

    /// Build with this cargo profile
    ///
    /// The default is `gpubench`, which inherits `bench`; add to it with `[profile.gpubench]`.
    #[arg(long, value_name = "NAME", help_heading = COMPILATION, default_value = "gpubench")]
    cargo_profile: Profile,

    /// Put what is built into this directory
    #[arg(long, value_name = "DIRECTORY", help_heading = COMPILATION)]
    target_dir: Option<Utf8PathBuf>,

    /// Run this many compilers at a time
    #[arg(short = 'j', long, value_name = "N", help_heading = COMPILATION, value_parser = parse_jobs, allow_hyphen_values = true)]
    build_jobs: Option<String>,

    /// Use the package or workspace of this `Cargo.toml`
    #[arg(long, value_name = "PATH", help_heading = MANIFEST)]
    manifest_path: Option<Utf8PathBuf>,

    /// Require that `Cargo.lock` stays as it is
    #[arg(long, help_heading = MANIFEST)]
    locked: bool,

    /// Run without the network
    #[arg(long, help_heading = MANIFEST)]
    offline: bool,

    /// Like `--locked` and `--offline` together
    #[arg(long, help_heading = MANIFEST)]
    frozen: bool,

    /// Override a cargo configuration value
    #[arg(long, value_name = "KEY=VALUE|PATH", help_heading = MANIFEST)]
    config: Vec<String>,
}

/// Cargo's grammar: a number above zero, a negative one that counts from the number of processors, or `default`.
fn parse_jobs(text: &str) -> Result<String, String> {
    let is_number = text.parse::<i32>().is_ok_and(|jobs| jobs != 0);
    if is_number || text == "default" {
        Ok(text.to_owned())
    } else {
        Err("jobs are a number other than 0, or `default`".to_owned())
    }
}

impl CargoArguments {
    pub(super) fn into_options(self, output: &OutputOptions) -> BuildOptions {
        let Self {
            package,
            workspace,
            exclude,
            features,
            all_features,
            no_default_features,
            cargo_profile,
            target_dir,
            build_jobs,
            manifest_path,
            locked,
            offline,
            frozen,
            config,
        } = self;
        let lock_flags = [(locked, "--locked"), (offline, "--offline"), (frozen, "--frozen")];
        BuildOptions {
            packages: packages(package, workspace, exclude),
            features: FeatureSelection {
                features: FeatureSelection::split(&features),
                default_features: default_features(all_features, no_default_features),
            },
            manifest: ManifestOptions {
                manifest_path,
                lock_flags: lock_flags
                    .into_iter()
                    .filter_map(|(given, flag)| given.then_some(flag))
                    .collect(),
                config,
            },
            compilation: CompilationOptions {
                profile: cargo_profile,
                target_dir,
                jobs: build_jobs,
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
        color: match output.color {
            Color::Auto => CargoColor::Auto,
            Color::Always => CargoColor::Always,
            Color::Never => CargoColor::Never,
        },
        progress: match output.verbosity {
            Verbosity::Quiet => CargoProgress::Quiet,
            Verbosity::Normal | Verbosity::Verbose => CargoProgress::Shown,
        },
    }
}
