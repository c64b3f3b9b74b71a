//! The build: a crate as a cdylib through cargo, and its kernels through a device compiler.
//!
//! [`build_cdylibs`] asks cargo for the packages of the workspace, keeps the targets that can have
//! benchmarks and builds each under a profile that inherits the user's `bench` profile: libraries,
//! and examples of type `cdylib`.
//! This module loads none of the libraries.

mod build_target;
mod c_runtime;
mod cargo;
mod cargo_messages;
mod cargo_target;
mod cdylib;
mod compiler;
mod entry_symbol;
mod error;
mod features;
mod frozen_libraries;
mod metadata;
mod options;
mod origin;
mod overlooked;
mod own_library;
mod package_metadata;
mod package_names;
mod package_spec;
mod select;
mod suitable_targets;
mod workspace_folders;
mod workspace_root;

pub(crate) use cargo::make_crate;
pub use cargo_target::{CargoTarget, TargetName};
pub use cdylib::{Built, BuiltLibrary, LibraryForm, build_cdylibs, packages_of};
pub use error::{BuildError, BuildNotice, Unsuitable};
pub use features::FeatureSelection;
pub(crate) use frozen_libraries::{freeze_libraries, has_name_of_its_file};
pub use metadata::{local_packages, names_runtime};
pub use options::{BuildOptions, CompilationOptions, InvalidProfile, ManifestOptions, Profile};
pub use origin::ForeignPackage;
pub use overlooked::Overlooked;
pub use own_library::{OwnLibraries, OwnLibraryError};
pub use package_names::{BenchmarkPackages, packages_with_benchmarks};
pub use package_spec::{InvalidPackageSpec, PackageSpec};
pub use select::{Coverage, PackageSelection};
pub use workspace_folders::WorkspaceFolders;
pub use workspace_root::workspace_root;
