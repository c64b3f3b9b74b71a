//! What is asked of cargo, as types.

use std::str::FromStr;

use camino::Utf8PathBuf;
use thiserror::Error;

use super::{FeatureSelection, PackageSelection};
use gpubench_report::Color;

/// Everything that says what is built and how.
#[derive(Clone, Debug, Default)]
pub struct BuildOptions {
    /// Which packages.
    pub packages: PackageSelection,
    /// Which of their features.
    pub features: FeatureSelection,
    /// Where the workspace is, and how its lockfile is treated.
    pub manifest: ManifestOptions,
    /// How they are compiled.
    pub compilation: CompilationOptions,
    /// Whether what cargo shows of its work is coloured.
    pub color: Color,
    /// Whether cargo shows warnings and errors only.
    pub quiet: bool,
}

/// Where the workspace is, and how its lockfile is treated: cargo's options of the same names.
#[derive(Clone, Debug, Default)]
pub struct ManifestOptions {
    /// `--manifest-path`.
    pub manifest_path: Option<Utf8PathBuf>,
    /// Those of `--locked`, `--offline` and `--frozen` that were given, as cargo spells them.
    pub lock_flags: Vec<&'static str>,
    /// `--config`, in the order given.
    pub config: Vec<String>,
}

/// How packages are compiled.
#[derive(Clone, Debug, Default)]
pub struct CompilationOptions {
    /// Cargo's profile.
    pub profile: Profile,
    /// `--target-dir`.
    pub target_dir: Option<Utf8PathBuf>,
    /// `--jobs`, as cargo reads it.
    pub jobs: Option<String>,
}

/// A cargo profile that a cdylib can be built under.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// `gpubench`, which inherits `bench` and lands in its own folder.
    #[default]
    Gpubench,
    /// A profile of cargo's or of the workspace.
    Named(String),
}

/// A profile under which `cargo rustc` does not build a library.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InvalidProfile {
    /// Cargo takes `test` and `check` for a mode, not for a profile.
    #[error("cargo builds no library under the profile `{0}`; use `dev`, `release`, `bench` or a profile of your own")]
    Mode(String),
    /// Not a name of a profile.
    #[error("`{0}` is not the name of a profile: letters, digits, `-` and `_`")]
    Name(String),
}

impl FromStr for Profile {
    type Err = InvalidProfile;

    /// `cargo rustc --profile bench` builds a test harness, so `bench` means the profile that
    /// inherits it.
    fn from_str(name: &str) -> Result<Self, InvalidProfile> {
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
        match name {
            "bench" | "gpubench" => Ok(Self::Gpubench),
            "test" | "check" => Err(InvalidProfile::Mode(name.to_owned())),
            _ if is_name => Ok(Self::Named(name.to_owned())),
            _ => Err(InvalidProfile::Name(name.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bench_profile_is_inherited_rather_than_named() {
        assert_eq!("bench".parse(), Ok(Profile::Gpubench));
        assert_eq!("release".parse(), Ok(Profile::Named("release".to_owned())));
    }

    #[test]
    fn modes_and_broken_names_are_no_profiles() {
        assert_eq!("test".parse::<Profile>(), Err(InvalidProfile::Mode("test".to_owned())));
        assert_eq!("a.b".parse::<Profile>(), Err(InvalidProfile::Name("a.b".to_owned())));
        assert_eq!("".parse::<Profile>(), Err(InvalidProfile::Name(String::new())));
    }
}
