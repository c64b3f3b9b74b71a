//! The options of a build as types.

use std::str::FromStr;

use camino::Utf8PathBuf;
use thiserror::Error;

use super::{FeatureSelection, PackageSelection};
use gpubench_report::Color;

/// The options of a build.
#[derive(Clone, Debug, Default)]
pub struct BuildOptions {
    /// The selected packages.
    pub packages: PackageSelection,
    /// The enabled features.
    pub features: FeatureSelection,
    /// The workspace and the use of its lockfile.
    pub manifest: ManifestOptions,
    /// How packages are compiled.
    pub compilation: CompilationOptions,
    /// Whether cargo's output is coloured.
    pub color: Color,
    /// Whether cargo prints only warnings and errors.
    pub quiet: bool,
}

/// The workspace and the use of its lockfile: cargo's options of the same names.
#[derive(Clone, Debug, Default)]
pub struct ManifestOptions {
    /// `--manifest-path`.
    pub manifest_path: Option<Utf8PathBuf>,
    /// `--locked`, `--offline` and `--frozen`, if given, in cargo's spelling.
    pub lock_flags: Vec<&'static str>,
    /// `--config`, in the given order.
    pub config: Vec<String>,
}

/// How packages are compiled.
#[derive(Clone, Debug, Default)]
pub struct CompilationOptions {
    /// The cargo profile.
    pub profile: Profile,
    /// `--target-dir`.
    pub target_dir: Option<Utf8PathBuf>,
    /// `--jobs`, in cargo's syntax.
    pub jobs: Option<String>,
}

/// A cargo profile for building a cdylib.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// `gpubench`, which inherits `bench` and has a separate folder.
    #[default]
    Gpubench,
    /// A profile of cargo or of the workspace.
    Named(String),
}

/// A profile that `cargo rustc` cannot build a library with.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InvalidProfile {
    /// Cargo treats `test` and `check` as modes, not as profiles.
    #[error(
        "cargo cannot build a library with the profile `{0}` (hint: use `dev`, `release`, `bench` or a custom profile)"
    )]
    Mode(String),
    /// Not a valid profile name.
    #[error("`{0}` is not a valid profile name (hint: use letters, digits, `-` and `_`)")]
    Name(String),
}

impl FromStr for Profile {
    type Err = InvalidProfile;

    /// `cargo rustc --profile bench` builds a test harness, so `bench` selects the profile that
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
    fn bench_selects_the_profile_that_inherits_it() {
        assert_eq!("bench".parse(), Ok(Profile::Gpubench));
        assert_eq!("release".parse(), Ok(Profile::Named("release".to_owned())));
    }

    #[test]
    fn modes_and_invalid_names_are_not_profiles() {
        assert_eq!("test".parse::<Profile>(), Err(InvalidProfile::Mode("test".to_owned())));
        assert_eq!("a.b".parse::<Profile>(), Err(InvalidProfile::Name("a.b".to_owned())));
        assert_eq!("".parse::<Profile>(), Err(InvalidProfile::Name(String::new())));
    }
}
