//! Why something cannot be built, and what is worth a warning.

use std::io;
use std::process::ExitStatus;

use camino::Utf8PathBuf;
use thiserror::Error;

use super::ForeignPackage;
use gpubench_device::FreezeError;
use gpubench_diagnostic::{ExitCode, Expected, suggestion};

/// Why there is nothing to benchmark.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BuildError {
    /// What was built cannot be kept as it is.
    #[error(transparent)]
    Incomplete(#[from] FreezeError),
    /// Cargo cannot be started.
    #[error("could not start `{program}`")]
    CargoNotStarted {
        /// What was started.
        program: String,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// Cargo cannot be listened to.
    #[error("lost the connection to `{program}`")]
    CargoLost {
        /// What was listened to.
        program: String,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// `cargo metadata` failed; it has said why itself.
    #[error("`cargo metadata` failed ({status})")]
    MetadataFailed {
        /// How it ended.
        status: ExitStatus,
    },
    /// The answer of `cargo metadata` makes no sense.
    #[error("could not understand the answer of `cargo metadata`")]
    MetadataUnreadable {
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
    /// Something that must be in the answer of `cargo metadata` is not.
    #[error("the answer of `cargo metadata` lacks {what}")]
    MetadataIncomplete {
        /// What is missing.
        what: &'static str,
    },
    /// A manifest's `[package.metadata.gpubench]` makes no sense.
    #[error("the value of `{key}` in `[package.metadata.gpubench]` of `{manifest}` makes no sense")]
    PackageMetadata {
        /// The manifest.
        manifest: Utf8PathBuf,
        /// The key.
        key: String,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A relative `--target-dir` has no place to be relative to.
    #[error("could not find out where `--target-dir {directory}` is")]
    TargetDirectory {
        /// What was asked for.
        directory: Utf8PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// Several versions of the runtime are in one dependency graph.
    #[error("several versions of `gpubench-runtime` are in one dependency graph{}", in_parentheses(.versions))]
    SeveralRuntimes {
        /// The versions, where cargo got far enough to name them.
        versions: Vec<String>,
    },
    /// No package of the workspace fits a `--package`.
    #[error("no package of this workspace fits `--package {spec}`")]
    PackageNotFound {
        /// What was asked for.
        spec: String,
        /// Every package of the workspace.
        members: Vec<String>,
        /// The one that was probably meant.
        closest: Option<String>,
    },
    /// Several packages fit a `--package` that is no pattern.
    #[error("`--package {spec}` fits several packages: {}", .candidates.join(", "))]
    PackageAmbiguous {
        /// What was asked for.
        spec: String,
        /// Identifiers of those that fit.
        candidates: Vec<String>,
    },
    /// A package was asked for by name that cannot have benchmarks.
    #[error("package `{package}` {reason}")]
    Unsuitable {
        /// The package.
        package: String,
        /// Why it cannot.
        reason: Unsuitable,
    },
    /// None of the packages can have benchmarks.
    #[error("no package with benchmarks is selected")]
    NoSuitablePackage {
        /// Those that were looked at.
        considered: Vec<(String, Unsuitable)>,
    },
    /// A library does not contain the runtime's entry point.
    #[error("package `{package}` has no `#[gpubench]` functions")]
    NoBenchmarks {
        /// The package.
        package: String,
    },
    /// None of several libraries contains the runtime's entry point.
    #[error("none of the selected packages has `#[gpubench]` functions")]
    NoBenchmarksAnywhere,
    /// Cargo could not build a library; it has said why itself.
    #[error("could not build package `{package}` ({status})")]
    Failed {
        /// The package.
        package: String,
        /// How cargo ended.
        status: ExitStatus,
    },
    /// What cargo says is built is of another checkout, also after it was told to forget it.
    #[error("cargo gave {} for package `{package}`", in_list(.strangers))]
    OtherCheckout {
        /// The package.
        package: String,
        /// What is in its library.
        strangers: Vec<ForeignPackage>,
    },
    /// Cargo succeeded and named no library.
    #[error("cargo built package `{package}` but named no shared library")]
    NoLibrary {
        /// The package.
        package: String,
    },
    /// What cargo built is not readable, or no shared library.
    #[error("could not read the built library `{library}`")]
    LibraryUnreadable {
        /// The library.
        library: Utf8PathBuf,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The compiler did not say where it runs and where its own libraries are.
    #[error("could not ask `{program}` about itself")]
    CompilerSilent {
        /// What was started.
        program: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A signal asked to stop.
    #[error("interrupted while building")]
    Interrupted,
}

impl Expected for BuildError {
    fn exit_code(&self) -> ExitCode {
        match self {
            Self::CargoNotStarted { .. }
            | Self::MetadataFailed { .. }
            | Self::MetadataUnreadable { .. }
            | Self::MetadataIncomplete { .. }
            | Self::SeveralRuntimes { .. } => ExitCode::MetadataFailed,
            Self::PackageNotFound { .. } | Self::PackageAmbiguous { .. } | Self::Unsuitable { .. } => ExitCode::Usage,
            Self::NoSuitablePackage { .. } | Self::NoBenchmarks { .. } | Self::NoBenchmarksAnywhere => {
                ExitCode::NothingSelected
            }
            Self::PackageMetadata { .. } => ExitCode::Usage,
            Self::TargetDirectory { .. }
            | Self::CargoLost { .. }
            | Self::Failed { .. }
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
            Self::CargoNotStarted { .. } => Some(format!("cargo must be in `PATH`, or named by `CARGO`; {NO_CARGO}")),
            Self::CompilerSilent { .. } => Some(format!("rustc must be in `PATH`, or named by `RUSTC`; {NO_CARGO}")),
            Self::SeveralRuntimes { .. } => Some(
                "make every crate with benchmarks depend on the same version of `gpubench-runtime`; \
                 two copies would each hold half of the benchmarks"
                    .to_owned(),
            ),
            Self::PackageNotFound {
                closest: Some(closest), ..
            } => Some(format!("did you mean `{closest}`?")),
            Self::PackageNotFound { members, .. } => Some(format!("its packages are: {}", members.join(", "))),
            Self::PackageAmbiguous { .. } => Some("name one by its identifier".to_owned()),
            Self::Unsuitable { reason, .. } => Some(reason.remedy()),
            Self::NoSuitablePackage { considered } => Some(nothing_suitable(considered)),
            Self::NoBenchmarks { .. } | Self::NoBenchmarksAnywhere => {
                let hint = "write `#[gpubench]` on a function that is part of its library: a module below `src/`, behind a feature if need be; \
                            `benches/`, `tests/` and `#[cfg(test)]` are not part of it";
                Some(hint.to_owned())
            }
            Self::OtherCheckout { .. } => Some(
                "two checkouts share a target directory and build at the same time: give one of them its own by `--target-dir`"
                    .to_owned(),
            ),
            _ => None,
        }
    }
}

fn in_list(strangers: &[ForeignPackage]) -> String {
    let strangers: Vec<String> = strangers.iter().map(ForeignPackage::to_string).collect();
    strangers.join(", ")
}

/// What runs benchmarks where nothing can be built.
const NO_CARGO: &str = "`--archive-file FILE` runs what `cargo gpubench archive` made elsewhere";

/// Why a package cannot have benchmarks.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Unsuitable {
    /// It has no library.
    #[error("has no library, and benchmarks live in libraries")]
    NoLibrary,
    /// Its library is a procedural macro.
    #[error("is a procedural macro, which cannot have benchmarks")]
    ProcMacro,
    /// It does not depend on the runtime.
    #[error("does not depend on `gpubench-runtime`")]
    NoRuntime,
    /// It depends on the runtime with a feature that is off.
    #[error("depends on `gpubench-runtime` only with a feature that is off")]
    FeatureOff {
        /// The feature.
        feature: String,
    },
    /// Only its tests depend on the runtime.
    #[error("has `gpubench-runtime` among its `[dev-dependencies]`, which its library does not see")]
    DevRuntime,
    /// It is the runtime itself.
    #[error("is what benchmarks are written with, and has none")]
    IsRuntime,
    /// It says `benchmarks = false`.
    #[error("says in its manifest that it has no benchmarks")]
    OptedOut,
}

impl Unsuitable {
    fn remedy(&self) -> String {
        let remedy = match self {
            Self::FeatureOff { feature } => {
                return format!(
                    "try `--features {feature}`, or say `features = [\"{feature}\"]` in its `[package.metadata.gpubench]`"
                );
            }
            Self::DevRuntime => {
                "make it an optional dependency, `gpubench-runtime = { …, optional = true }`, with a feature \
                 `bench = [\"dep:gpubench-runtime\"]`, and try `--features bench`"
            }
            Self::NoLibrary => "move the benchmarks to `src/lib.rs`",
            Self::ProcMacro => "put the benchmarks in a library that uses the macro",
            Self::NoRuntime => {
                "add `gpubench-runtime = { path = \"…/gpubench-runtime\" }` to its `[dependencies]`; with `optional = true` the library's users need not have it"
            }
            Self::IsRuntime => "select a package that depends on it",
            Self::OptedOut => "remove `benchmarks = false` from its `[package.metadata.gpubench]`",
        };
        remedy.to_owned()
    }
}

/// Of many packages most have nothing to do with the runtime; what is worth saying is why the
/// others were left out.
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
        [] if considered.is_empty() => "the selection of packages is empty".to_owned(),
        [] => format!("none of {} packages depends on `gpubench-runtime`", considered.len()),
        _ if remarkable.len() == considered.len() => remarkable.join("; "),
        _ => format!(
            "{}; no other package depends on `gpubench-runtime`",
            remarkable.join("; ")
        ),
    }
}

fn in_parentheses(versions: &[String]) -> String {
    if versions.is_empty() {
        String::new()
    } else {
        format!(" ({})", versions.join(", "))
    }
}

/// Something odd that stops nothing.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BuildNotice {
    /// An `--exclude` that fits no package.
    #[error("no package of this workspace fits `--exclude {spec}`")]
    ExcludedNotFound {
        /// What was asked for.
        spec: String,
    },
    /// A package that was not asked for by name has the runtime but no benchmarks.
    #[error("package `{package}` has no `#[gpubench]` functions")]
    NoBenchmarks {
        /// The package.
        package: String,
    },
    /// Cargo had the library of another checkout for this one's.
    #[error("the target directory had {}: built again", in_list(.strangers))]
    OtherCheckout {
        /// What was in the library.
        strangers: Vec<ForeignPackage>,
    },
    /// A key in a manifest's `[package.metadata.gpubench]` that is not known.
    #[error(
        "the key `{key}` in `[package.metadata.gpubench]` of package `{package}` is not known and has no effect{}",
        suggestion(.closest.as_ref())
    )]
    UnknownMetadata {
        /// The package.
        package: String,
        /// The key.
        key: String,
        /// The known one that was probably meant.
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
    fn one_package_is_told_what_to_do() {
        assert_eq!(
            hint(&[("a", Unsuitable::NoLibrary)]),
            "package `a` has no library, and benchmarks live in libraries: move the benchmarks to `src/lib.rs`"
        );
    }

    #[test]
    fn of_many_packages_the_odd_ones_are_named() {
        use Unsuitable::{NoRuntime, OptedOut, ProcMacro};
        assert_eq!(
            hint(&[("a", NoRuntime), ("b", NoRuntime)]),
            "none of 2 packages depends on `gpubench-runtime`"
        );
        assert_eq!(
            hint(&[("a", OptedOut), ("b", NoRuntime)]),
            "`a` says in its manifest that it has no benchmarks; no other package depends on `gpubench-runtime`"
        );
        assert_eq!(
            hint(&[("a", OptedOut), ("b", ProcMacro)]),
            "`a` says in its manifest that it has no benchmarks; `b` is a procedural macro, which cannot have benchmarks"
        );
    }
}
