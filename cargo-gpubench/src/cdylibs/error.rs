//! Errors and warnings of the build.

use std::io;
use std::process::ExitStatus;

use camino::Utf8PathBuf;
use thiserror::Error;

use super::{ForeignPackage, Overlooked, TargetName};
use gpubench_contract::units::size;
use gpubench_device::FreezeError;
use gpubench_diagnostic::{ExitCode, Expected, suggestion};

/// An error of the build.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A built library cannot be frozen.
    #[error(transparent)]
    Incomplete(#[from] FreezeError),
    /// Cargo cannot be started.
    #[error("could not start `{program}`")]
    CargoNotStarted {
        /// The started program.
        program: String,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// The output of cargo cannot be read.
    #[error("lost the connection to `{program}`")]
    CargoLost {
        /// The started program.
        program: String,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// `cargo metadata` failed and printed why.
    #[error("`cargo metadata` failed ({status})")]
    MetadataFailed {
        /// The exit status.
        status: ExitStatus,
    },
    /// No selected package has a requested feature.
    #[error("no selected package has a requested feature")]
    FeatureNotFound,
    /// The output of `cargo metadata` cannot be parsed.
    #[error("could not parse the output of `cargo metadata`")]
    MetadataUnreadable {
        /// The parse error.
        #[source]
        source: serde_json::Error,
    },
    /// The output of `cargo metadata` lacks a required part.
    #[error("`cargo metadata` did not report {what}")]
    MetadataIncomplete {
        /// The missing part.
        what: &'static str,
    },
    /// A manifest's `[package.metadata.gpubench]` has an invalid value.
    #[error("invalid value of `{key}` in `[package.metadata.gpubench]` of `{manifest}`")]
    PackageMetadata {
        /// The manifest.
        manifest: Utf8PathBuf,
        /// The key.
        key: String,
        /// The reason.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A relative `--target-dir` cannot be resolved.
    #[error("could not resolve `--target-dir {directory}`")]
    TargetDirectory {
        /// The requested directory.
        directory: Utf8PathBuf,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// Several versions of the runtime are in one dependency graph.
    #[error("the dependency graph has several versions of `gpubench`{}", in_parentheses(.versions))]
    SeveralRuntimes {
        /// The versions, if cargo names them.
        versions: Vec<String>,
    },
    /// No package of the workspace matches a `--package`.
    #[error("no package of this workspace matches `--package {spec}`")]
    PackageNotFound {
        /// The requested package.
        spec: String,
        /// Every package of the workspace.
        members: Vec<String>,
        /// The package that the user probably meant.
        closest: Option<String>,
    },
    /// Several packages match a `--package` that is not a pattern.
    #[error("`--package {spec}` matches several packages: {}", .candidates.join(", "))]
    PackageAmbiguous {
        /// The requested package.
        spec: String,
        /// Identifiers of the matching packages.
        candidates: Vec<String>,
    },
    /// A package requested by name cannot have benchmarks.
    #[error("package `{package}` {reason}")]
    Unsuitable {
        /// The package.
        package: String,
        /// The reason.
        reason: Unsuitable,
    },
    /// No selected package can have benchmarks.
    #[error("no package with benchmarks is selected")]
    NoSuitablePackage {
        /// The selected packages, with the reason for each.
        considered: Vec<(String, Unsuitable)>,
    },
    /// The libraries of a package lack the runtime's entry point.
    #[error("package `{package}` has no `#[gpubench]` functions")]
    NoBenchmarks {
        /// The package.
        package: String,
        /// Where they may be.
        overlooked: Option<Overlooked>,
    },
    /// An example has the name of a library that it links.
    #[error("{library} has the name of the library of package `{namesake}`, which can have benchmarks, too")]
    Namesake {
        /// The example.
        library: TargetName,
        /// The package of the library.
        namesake: String,
    },
    /// All of several libraries lack the runtime's entry point.
    #[error("none of the selected packages has `#[gpubench]` functions")]
    NoBenchmarksAnywhere,
    /// Cargo could not build a library and printed why.
    #[error("could not build {library} ({status})")]
    Failed {
        /// The library.
        library: TargetName,
        /// The exit status.
        status: ExitStatus,
        /// The memory limit of the control group, in bytes, if a process was killed because of it.
        exceeded: Option<u64>,
    },
    /// A shared library needs a shared C runtime.
    #[error(
        "could not build {library} as a shared library, because cargo is configured to link the C runtime statically (`crt-static`)"
    )]
    StaticRuntime {
        /// The library.
        library: TargetName,
    },
    /// Cargo returns a build of another checkout, even after cleaning.
    #[error("the library that cargo built for {library} contains {}, from another checkout", in_list(.packages))]
    OtherCheckout {
        /// The library.
        library: TargetName,
        /// The other checkout's packages in the library.
        packages: Vec<ForeignPackage>,
    },
    /// Cargo succeeded but reported no library.
    #[error("cargo built {library} but reported no shared library")]
    NoLibrary {
        /// The library.
        library: TargetName,
    },
    /// The library from cargo is not readable, or not a shared library.
    #[error("could not read the built library `{library}`")]
    LibraryUnreadable {
        /// The library.
        library: Utf8PathBuf,
        /// The reason.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The compiler did not report its platform and library folder.
    #[error("could not query `{program}`")]
    CompilerSilent {
        /// The started program.
        program: String,
        /// The reason.
        #[source]
        source: io::Error,
    },
    /// A signal interrupted the build.
    #[error("interrupted while building")]
    Interrupted,
}

impl BuildError {
    /// Returns the requested package that does not exist or cannot have benchmarks.
    pub fn unusable_package(&self) -> Option<&str> {
        match self {
            Self::PackageNotFound { spec, .. } => Some(spec),
            Self::Unsuitable { package, .. } | Self::NoBenchmarks { package, .. } => Some(package),
            _ => None,
        }
    }

    /// Returns what is lacking if what was requested does not exist or has no benchmarks. A failed
    /// build is neither.
    pub fn lack_of_benchmarks(&self) -> Option<String> {
        match self {
            Self::NoSuitablePackage { considered } => Some(match &considered[..] {
                [(package, reason)] => format!("package `{package}` {reason}"),
                _ => self.to_string(),
            }),
            Self::PackageNotFound { .. }
            | Self::Unsuitable { .. }
            | Self::NoBenchmarks { .. }
            | Self::NoBenchmarksAnywhere => Some(self.to_string()),
            _ => None,
        }
    }
}

impl Expected for BuildError {
    fn exit_code(&self) -> ExitCode {
        match self {
            Self::CargoNotStarted { .. }
            | Self::MetadataFailed { .. }
            | Self::FeatureNotFound
            | Self::MetadataUnreadable { .. }
            | Self::MetadataIncomplete { .. }
            | Self::SeveralRuntimes { .. } => ExitCode::MetadataFailed,
            Self::PackageNotFound { .. } | Self::PackageAmbiguous { .. } | Self::Unsuitable { .. } => ExitCode::Usage,
            Self::NoSuitablePackage { .. } | Self::NoBenchmarks { .. } | Self::NoBenchmarksAnywhere => {
                ExitCode::NothingSelected
            }
            Self::PackageMetadata { .. } | Self::Namesake { .. } => ExitCode::Usage,
            Self::TargetDirectory { .. }
            | Self::CargoLost { .. }
            | Self::Failed { .. }
            | Self::StaticRuntime { .. }
            | Self::NoLibrary { .. }
            | Self::OtherCheckout { .. }
            | Self::LibraryUnreadable { .. }
            | Self::Incomplete(_)
            | Self::CompilerSilent { .. } => ExitCode::BuildFailed,
            Self::Interrupted => ExitCode::Interrupted,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Failed {
                exceeded: Some(limit), ..
            } => Some(format!(
                "a process was killed because its control group may use at most {} of memory; `--build-jobs 1` needs less",
                size(*limit)
            )),
            Self::StaticRuntime { .. } => Some(
                "set `RUSTFLAGS=\"-C target-feature=-crt-static\"` for this command; it replaces the flags of cargo's configuration"
                    .to_owned(),
            ),
            Self::CargoNotStarted { .. } => Some(format!("add cargo to `PATH` or set `CARGO`; {NO_CARGO}")),
            Self::CompilerSilent { .. } => Some(format!("add rustc to `PATH` or set `RUSTC`; {NO_CARGO}")),
            Self::SeveralRuntimes { .. } => Some(
                "make every crate with benchmarks depend on the same version of `gpubench`; \
                 with two copies, each registers only some of the benchmarks"
                    .to_owned(),
            ),
            Self::PackageNotFound {
                closest: Some(closest), ..
            } => Some(format!("did you mean `{closest}`?")),
            Self::PackageNotFound { members, .. } => Some(format!("the workspace has: {}", members.join(", "))),
            Self::PackageAmbiguous { .. } => Some("use one of these identifiers".to_owned()),
            Self::Unsuitable { reason, .. } => Some(reason.remedy()),
            Self::NoSuitablePackage { considered } => Some(nothing_suitable(considered)),
            Self::NoBenchmarks {
                overlooked: Some(overlooked),
                ..
            } => Some(Overlooked::remedy(Some(overlooked))),
            Self::NoBenchmarks { .. } | Self::NoBenchmarksAnywhere => {
                let hint = "put `#[gpubench]` on a function in the library, or in an example with `crate-type = [\"cdylib\"]` in its `[[example]]`; \
                            other examples, `benches/`, `tests/` and `#[cfg(test)]` are not searched";
                Some(hint.to_owned())
            }
            Self::Namesake { .. } => Some("give the example another `name` in its `[[example]]`".to_owned()),
            Self::OtherCheckout { .. } => Some(
                "two checkouts share a target directory and build at the same time: give each a separate one with `--target-dir`"
                    .to_owned(),
            ),
            _ => None,
        }
    }
}

fn in_list(packages: &[ForeignPackage]) -> String {
    let packages: Vec<String> = packages.iter().map(ForeignPackage::to_string).collect();
    packages.join(", ")
}

/// How to run benchmarks where nothing can be built.
const NO_CARGO: &str = "without cargo, `--archive-file FILE` runs an archive made on another machine";

/// Why a package cannot have benchmarks.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Unsuitable {
    /// It has no library.
    #[error("has no library for benchmarks")]
    NoLibrary,
    /// Its library is a procedural macro.
    #[error("is a procedural macro, which cannot have benchmarks")]
    ProcMacro,
    /// It does not depend on the runtime.
    #[error("does not depend on `gpubench`")]
    NoRuntime,
    /// It depends on the runtime through a feature that is not enabled.
    #[error("depends on `gpubench` only with a feature that is not enabled")]
    FeatureOff {
        /// The feature.
        feature: String,
    },
    /// Only its tests and examples depend on the runtime, and no example is a cdylib.
    #[error("has `gpubench` only in `[dev-dependencies]`, and no example with `crate-type = [\"cdylib\"]`")]
    DevRuntime {
        /// Where its benchmarks may be.
        overlooked: Option<Overlooked>,
    },
    /// Its only targets that can have benchmarks need features that are not enabled.
    #[error("has an example `{example}`, which needs {}", features_off(.features))]
    ExampleFeaturesOff {
        /// The first such example.
        example: String,
        /// The features.
        features: Vec<String>,
    },
    /// It is the runtime itself.
    #[error("is the runtime itself and has no benchmarks")]
    IsRuntime,
    /// It sets `benchmarks = false`.
    #[error("sets `benchmarks = false` in its manifest")]
    OptedOut,
}

impl Unsuitable {
    fn remedy(&self) -> String {
        let remedy = match self {
            Self::FeatureOff { feature } => {
                return format!(
                    "try `--features {feature}`, or set `features = [\"{feature}\"]` in its `[package.metadata.gpubench]`"
                );
            }
            Self::DevRuntime { overlooked } => return Overlooked::remedy(overlooked.as_ref()),
            Self::ExampleFeaturesOff { features, .. } => {
                return format!(
                    "try `--features {}`, or set `features = {features:?}` in its `[package.metadata.gpubench]`",
                    features.join(",")
                );
            }
            Self::NoLibrary => {
                "move the benchmarks to `src/lib.rs`, or to an example with `crate-type = [\"cdylib\"]` in its `[[example]]`"
            }
            Self::ProcMacro => "put the benchmarks in a library that uses the macro",
            Self::NoRuntime => {
                "add `gpubench = { path = \"…/gpubench\" }` to its `[dependencies]`, or to its `[dev-dependencies]` if the benchmarks are in an example"
            }
            Self::IsRuntime => "select a package that depends on it",
            Self::OptedOut => "remove `benchmarks = false` from its `[package.metadata.gpubench]`",
        };
        remedy.to_owned()
    }
}

/// Explains why no package is suitable. Most packages have nothing to do with the runtime, so the
/// text names only the others.
fn nothing_suitable(considered: &[(String, Unsuitable)]) -> String {
    if let [(package, reason)] = considered {
        return format!("package `{package}` {reason}: {}", reason.remedy());
    }
    let remarkable: Vec<_> = considered
        .iter()
        .filter(|(_, reason)| !matches!(reason, Unsuitable::NoRuntime | Unsuitable::IsRuntime))
        .map(|(package, reason)| format!("`{package}` {reason}"))
        .collect();
    match &remarkable[..] {
        [] if considered.is_empty() => "no package is selected".to_owned(),
        [] => format!(
            "none of the {} packages depends on `gpubench`: add it to the `[dependencies]` of the package with the benchmarks",
            considered.len()
        ),
        _ if remarkable.len() == considered.len() => remarkable.join("; "),
        _ => format!("{}; no other package depends on `gpubench`", remarkable.join("; ")),
    }
}

fn features_off(features: &[String]) -> String {
    match features {
        [_] => "a feature that is off".to_owned(),
        _ => "features that are off".to_owned(),
    }
}

fn in_parentheses(versions: &[String]) -> String {
    if versions.is_empty() {
        String::new()
    } else {
        format!(" ({})", versions.join(", "))
    }
}

/// A warning of the build.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BuildNotice {
    /// No package matches an `--exclude`.
    #[error("no package of this workspace matches `--exclude {spec}`")]
    ExcludedNotFound {
        /// The requested package.
        spec: String,
    },
    /// A package that was not requested by name depends on the runtime but has no benchmarks.
    #[error("package `{package}` has no `#[gpubench]` functions")]
    NoBenchmarks {
        /// The package.
        package: String,
    },
    /// An example needs features that are not enabled.
    #[error(
        "example `{example}` of package `{package}` is left out, because it needs {} (hint: try `--features {}`)",
        features_off(.features), .features.join(",")
    )]
    ExampleLeftOut {
        /// The package.
        package: String,
        /// The example.
        example: String,
        /// The features.
        features: Vec<String>,
    },
    /// The target directory had another checkout's build of the library.
    #[error("the target directory contained {}, from another checkout; cargo built the library again", in_list(.packages))]
    OtherCheckout {
        /// The other checkout's packages in the library.
        packages: Vec<ForeignPackage>,
    },
    /// An unknown key in a manifest's `[package.metadata.gpubench]`.
    #[error(
        "unknown key `{key}` in `[package.metadata.gpubench]` of package `{package}` has no effect{}",
        suggestion(.closest.as_ref())
    )]
    UnknownMetadata {
        /// The package.
        package: String,
        /// The key.
        key: String,
        /// The known key that the user probably meant.
        closest: Option<String>,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hint(considered: &[(&str, Unsuitable)]) -> String {
        let considered = considered
            .iter()
            .map(|(package, reason)| (package.to_string(), reason.clone()))
            .collect();
        BuildError::NoSuitablePackage { considered }.hint().expect("a hint")
    }

    #[test]
    fn a_single_unsuitable_package_has_a_hint() {
        assert_eq!(
            hint(&[("a", Unsuitable::NoLibrary)]),
            "package `a` has no library for benchmarks: move the benchmarks to `src/lib.rs`, or to an example with `crate-type = [\"cdylib\"]` in its `[[example]]`"
        );
    }

    #[test]
    fn among_many_packages_only_those_with_a_special_reason_are_named() {
        use Unsuitable::{NoRuntime, OptedOut, ProcMacro};
        assert_eq!(
            hint(&[("a", NoRuntime), ("b", NoRuntime)]),
            "none of the 2 packages depends on `gpubench`: add it to the `[dependencies]` of the package with the benchmarks"
        );
        assert_eq!(
            hint(&[("a", OptedOut), ("b", NoRuntime)]),
            "`a` sets `benchmarks = false` in its manifest; no other package depends on `gpubench`"
        );
        assert_eq!(
            hint(&[("a", OptedOut), ("b", ProcMacro)]),
            "`a` sets `benchmarks = false` in its manifest; `b` is a procedural macro, which cannot have benchmarks"
        );
    }
}
