//! Builds the libraries and examples of the selected packages as cdylibs.

use std::io;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use camino::{Utf8Path, Utf8PathBuf};
use cargo_metadata::{Artifact, CrateType, Package, TargetKind};

use super::build_target::{AskedTarget, BuildTarget};
use super::c_runtime;
use super::cargo::{Cargo, CargoArguments, Complaints, stopped_by_interrupt};
use super::cargo_messages::{BuildingCargo, Outputs};
use super::compiler::Compiler;
use super::entry_symbol::has_entry_point;
use super::frozen_libraries::freeze_libraries;
use super::metadata::Workspace;
use super::origin::{ForeignPackage, Owner, foreign_packages, owner};
use super::overlooked::Overlooked;
use super::own_library::OwnLibraries;
use super::package_metadata::PackageMetadata;
use super::select::{Request, SelectedPackage, select_packages};
use super::suitable_targets::is_library;
use super::{BuildError, BuildNotice, BuildOptions, CargoTarget, Coverage, Profile, TargetName};
use crate::config::CaseSettings;
use gpubench_device::cgroup::MemoryWatch;
use gpubench_device::{FreezeError, FrozenFile};

/// The profile of benchmark builds: the user's `bench` profile, plus the user's
/// `[profile.gpubench]`.
///
/// `cargo rustc --profile bench` would build a test harness instead of a library.
const PROFILE: &str = "gpubench";

/// Options of cargo for the profile. Work such as `2 * m * n * k`, and sizes of grids, must not
/// wrap silently.
const PROFILE_OPTIONS: [&str; 6] = [
    "--profile",
    PROFILE,
    "--config",
    r#"profile.gpubench.inherits="bench""#,
    "--config",
    "profile.gpubench.overflow-checks=true",
];

/// How often an example is built until its copy has benchmarks of its own package. One that links
/// only those of others never has.
const ATTEMPTS: usize = 2;

/// The result of a build.
#[derive(Clone, Debug)]
pub struct Built {
    /// The libraries with benchmarks, in workspace order; at least one after [`build_cdylibs`].
    pub libraries: Vec<BuiltLibrary>,
    /// Whether the workspace may have more libraries with benchmarks.
    pub coverage: Coverage,
    /// Cargo's target directory, which also holds the tool's caches.
    pub target_directory: Utf8PathBuf,
    /// The platform of the libraries, for example `x86_64-unknown-linux-gnu`.
    pub target: String,
    /// Version of `gpubench` in the libraries.
    pub runtime_version: String,
    /// Warnings for the user.
    pub notices: Vec<BuildNotice>,
}

/// The library of one package, or an example of it.
#[derive(Clone, Debug)]
pub struct BuiltLibrary {
    /// Name of the package.
    pub package: String,
    /// What of the package it is.
    pub target: CargoTarget,
    /// Its name in Rust, as in `module_path!`.
    pub crate_name: String,
    /// The package's version.
    pub version: String,
    /// The directory of its manifest.
    pub root: Utf8PathBuf,
    /// The shared library.
    pub library: Utf8PathBuf,
    /// What its code is.
    pub form: LibraryForm,
    /// The frozen copies to load: the libraries that it needs, then the library.
    pub code: Vec<FrozenFile>,
    /// Folders of the libraries that it needs. A process that loads it puts them first in
    /// `LD_LIBRARY_PATH`.
    pub library_path: Vec<Utf8PathBuf>,
    /// The libraries that single benchmarks name as their own.
    pub own_libraries: OwnLibraries,
    /// Measurement settings of the package's manifest.
    pub settings: CaseSettings,
}

/// What the files of a library are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LibraryForm {
    /// A cdylib with benchmarks or problems.
    #[default]
    Cdylib,
    /// No code: one file with the contents of tensors, for a problem without a crate.
    StoredTensors,
}

impl BuiltLibrary {
    /// Whether it comes from an archive.
    pub fn is_archived(&self) -> bool {
        matches!(self.own_libraries, OwnLibraries::Copied(_))
    }

    /// Returns what it is, for messages.
    pub fn name(&self) -> TargetName {
        TargetName {
            package: self.package.clone(),
            target: self.target.clone(),
        }
    }

    /// Returns the folders of the libraries that it needs, as operating-system paths.
    pub fn search_path(&self) -> Vec<PathBuf> {
        let paths = self.library_path.iter();
        paths.map(|path| path.clone().into_std_path_buf()).collect()
    }
}

/// Returns the packages of some libraries, each once.
pub fn packages_of(libraries: &[BuiltLibrary]) -> Vec<String> {
    let mut packages: Vec<String> = libraries.iter().map(|library| library.package.clone()).collect();
    // The libraries of a package follow each other.
    packages.dedup();
    packages
}

/// Builds every library and example of the selected packages that can have benchmarks. Cargo's
/// diagnostics go to standard error.
///
/// Setting `interrupted` ends the build; the caller sets it in its signal handlers.
///
/// # Errors
///
/// Cargo cannot be started or fails, no selected package can have benchmarks, no library has
/// benchmarks, or the build is interrupted.
pub fn build_cdylibs(options: &BuildOptions, interrupted: &AtomicBool) -> Result<Built, BuildError> {
    let cargo = Cargo::from_environment();
    let platform = AskedTarget::ask(&cargo, &options.manifest);
    let compiler = Compiler::ask()?;
    let workspace = Workspace::load(&cargo, &compiler, options)?;
    let platform = platform.answer(&compiler.host);
    let selected = select_packages(&workspace, &options.packages, &options.features)?;
    let packages: Vec<_> = selected.packages.iter().map(|selected| selected.package).collect();

    let mut notices = selected.notices;
    let mut libraries = Vec::new();
    for SelectedPackage {
        package,
        request,
        targets,
    } in selected.packages
    {
        let PackageMetadata {
            settings,
            features,
            unknown,
        } = PackageMetadata::from_package(package)?;
        notices.extend(unknown);
        let before = libraries.len();
        for target in targets {
            let build = CdylibBuild {
                cargo: &cargo,
                host: &compiler.host,
                platform,
                workspace: &workspace,
                options,
                package,
                target,
                features: &features,
            };
            build.refuse_namesake()?;
            let make = || {
                let outputs = build.run(&packages, interrupted)?;
                outputs.into_library(&build, &compiler.library_directory, settings)
            };
            libraries.extend(build.with_benchmarks(make, &mut notices)?);
        }
        if libraries.len() > before {
            continue;
        }
        let (name, overlooked) = (package.name.to_string(), Overlooked::in_package(package));
        match request {
            Request::AmongOthers if packages.len() > 1 => notices.push(BuildNotice::NoBenchmarks { package: name }),
            _ => {
                return Err(BuildError::NoBenchmarks {
                    package: name,
                    overlooked,
                });
            }
        }
    }
    if libraries.is_empty() {
        return Err(BuildError::NoBenchmarksAnywhere);
    }
    Ok(Built {
        libraries,
        coverage: selected.coverage,
        target_directory: workspace.target_directory.clone(),
        target: compiler.host,
        runtime_version: workspace.runtime_version(),
        notices,
    })
}

/// One run of `cargo rustc`.
struct CdylibBuild<'a> {
    cargo: &'a Cargo,
    host: &'a str,
    platform: BuildTarget,
    workspace: &'a Workspace,
    options: &'a BuildOptions,
    package: &'a Package,
    target: CargoTarget,
    /// Features that the manifest asks for.
    features: &'a [String],
}

impl CdylibBuild<'_> {
    fn name(&self) -> TargetName {
        TargetName {
            package: self.package.name.to_string(),
            target: self.target.clone(),
        }
    }

    /// Refuses an example with the name of a library that it links: the module paths of their
    /// benchmarks would not differ.
    fn refuse_namesake(&self) -> Result<(), BuildError> {
        let CargoTarget::Example { name } = &self.target else {
            return Ok(());
        };
        match self.workspace.library_named(&name.replace('-', "_"), self.package) {
            None => Ok(()),
            Some(namesake) => Err(BuildError::Namesake {
                library: self.name(),
                namesake: namesake.name.to_string(),
            }),
        }
    }

    /// Builds a library; `None` if it has no benchmarks of its own.
    ///
    /// Examples of the same name in several packages are built to the same file, which another
    /// build can replace before it is copied. The copy is then another package's.
    fn with_benchmarks(
        &self,
        make: impl Fn() -> Result<BuiltLibrary, BuildError>,
        notices: &mut Vec<BuildNotice>,
    ) -> Result<Option<BuiltLibrary>, BuildError> {
        for _ in 0..ATTEMPTS {
            let library = self.of_this_checkout(&make, notices)?;
            let Some(code) = library.code.last() else {
                return Ok(None);
            };
            let owner = match self.target {
                CargoTarget::Library => Owner::Package,
                CargoTarget::Example { .. } => owner(code, &library.package).map_err(unreadable(&library))?,
            };
            match owner {
                Owner::Package => {
                    let has_benchmarks = has_entry_point(&library.library, code)?;
                    return Ok(has_benchmarks.then_some(library));
                }
                Owner::Others => {}
                Owner::Nobody => return Ok(None),
            }
        }
        Ok(None)
    }

    /// Builds a library. Builds it again without what cargo kept from another checkout.
    fn of_this_checkout(
        &self,
        make: impl Fn() -> Result<BuiltLibrary, BuildError>,
        notices: &mut Vec<BuildNotice>,
    ) -> Result<BuiltLibrary, BuildError> {
        let library = make()?;
        let packages = self.foreign_packages(&library)?;
        if packages.is_empty() {
            return Ok(library);
        }
        self.forget(&packages)?;
        let library = make()?;
        let still = self.foreign_packages(&library)?;
        if !still.is_empty() {
            return Err(BuildError::OtherCheckout {
                library: self.name(),
                packages: still,
            });
        }
        notices.push(BuildNotice::OtherCheckout { packages });
        Ok(library)
    }

    fn command(&self, selected: &[&Package]) -> Command {
        let BuildOptions {
            packages: _,
            features,
            manifest,
            compilation,
            color,
            quiet,
        } = self.options;
        let mut command = self.cargo.command("rustc");
        match &self.target {
            CargoTarget::Library => command.args(["--lib", "--crate-type", "cdylib"]),
            CargoTarget::Example { name } => command.args(["--example", name]),
        };
        command.args(["--package", &selector(self.package)]);
        match &compilation.profile {
            Profile::Gpubench => command.args(PROFILE_OPTIONS),
            Profile::Named(name) => command.args(["--profile", name]),
        };
        if let Some(jobs) = &compilation.jobs {
            command.args(["--jobs", jobs]);
        }
        if compilation.target_dir.is_some() {
            command.arg("--target-dir").arg(&self.workspace.target_directory);
        }
        self.platform.add_to(self.host, &mut command);
        manifest.add_to(&mut command);
        let mut features = features.for_package(self.package, selected);
        features.features.extend_from_slice(self.features);
        features.add_to(&mut command);
        color.add_to(&mut command);
        command.args(quiet.then_some("--quiet"));
        command.args(["--message-format", "json-render-diagnostics"]);
        command
    }

    /// Returns the packages in a library that were built from another checkout.
    fn foreign_packages(&self, library: &BuiltLibrary) -> Result<Vec<ForeignPackage>, BuildError> {
        let Some(code) = library.code.last() else {
            return Ok(Vec::new());
        };
        foreign_packages(code, &self.workspace.folders()).map_err(unreadable(library))
    }

    /// Cleans packages in the target directory, so that cargo builds them again.
    fn forget(&self, foreign_packages: &[ForeignPackage]) -> Result<(), BuildError> {
        let BuildOptions {
            manifest, compilation, ..
        } = self.options;
        for package in foreign_packages {
            let mut command = self.cargo.command("clean");
            command.args(["--quiet", "--package", &package.package]);
            match &compilation.profile {
                Profile::Gpubench => command.args(PROFILE_OPTIONS),
                Profile::Named(name) => command.args(["--profile", name]),
            };
            if compilation.target_dir.is_some() {
                command.arg("--target-dir").arg(&self.workspace.target_directory);
            }
            self.platform.add_to(self.host, &mut command);
            manifest.add_to(&mut command);
            // If cargo cannot clean a package, the second build returns it again, which is an
            // error.
            let answer = command.output().map_err(self.cargo.not_started())?;
            Complaints::Shown.show(&answer);
        }
        Ok(())
    }

    fn run(&self, selected: &[&Package], interrupted: &AtomicBool) -> Result<Outputs, BuildError> {
        let memory = MemoryWatch::begin();
        let cargo = BuildingCargo::start(self.command(selected)).map_err(self.cargo.not_started())?;
        let silent = self.options.quiet.then_some(&**self.package.name);
        let listened = cargo.listen(interrupted, silent);
        let (outputs, status) = listened.map_err(self.cargo.lost())?;
        if interrupted.load(Ordering::Relaxed) || stopped_by_interrupt(status) {
            return Err(BuildError::Interrupted);
        }
        if status.success() {
            return Ok(outputs);
        }
        let (library, exceeded) = (self.name(), memory.exceeded());
        Err(if exceeded.is_none() && c_runtime::is_static(self.command(selected)) {
            BuildError::StaticRuntime { library }
        } else {
            BuildError::Failed {
                library,
                status,
                exceeded,
            }
        })
    }
}

impl Outputs {
    fn into_library(
        self,
        build: &CdylibBuild<'_>,
        compiler_libraries: &Utf8Path,
        settings: CaseSettings,
    ) -> Result<BuiltLibrary, BuildError> {
        let package = build.package;
        let found = self.shared_library_of(build);
        let (artifact, library) = found.ok_or_else(|| BuildError::NoLibrary { library: build.name() })?;
        let library_path = self.library_path(build, library, compiler_libraries);
        Ok(BuiltLibrary {
            package: package.name.to_string(),
            target: build.target.clone(),
            crate_name: artifact.target.name.replace('-', "_"),
            version: package.version.to_string(),
            root: package.manifest_path.parent().unwrap_or(Utf8Path::new("/")).to_owned(),
            library: library.to_owned(),
            form: LibraryForm::Cdylib,
            code: freeze_libraries(library, &library_path, |_, _| Ok::<(), FreezeError>(()))?,
            library_path,
            own_libraries: OwnLibraries::OnDisk,
            settings,
        })
    }

    /// Returns the cdylib of the build's target. A library of type `cdylib` is built for examples,
    /// too.
    fn shared_library_of(&self, build: &CdylibBuild<'_>) -> Option<(&Artifact, &Utf8Path)> {
        let is_wanted = |artifact: &Artifact| match &build.target {
            CargoTarget::Library => artifact.target.kind.iter().any(is_library),
            CargoTarget::Example { name } => {
                artifact.target.kind.contains(&TargetKind::Example) && artifact.target.name == *name
            }
        };
        let is_cdylib = |artifact: &&Artifact| {
            artifact.package_id == build.package.id
                && artifact.target.crate_types.contains(&CrateType::CDyLib)
                && is_wanted(artifact)
        };
        self.artifacts.iter().filter(is_cdylib).find_map(|artifact| {
            let file = artifact.filenames.iter().find(|file| file.extension() == Some("so"))?;
            Some((artifact, file.as_path()))
        })
    }

    /// Returns the same paths as `cargo run` sets: paths inside the target directory that build
    /// scripts link from, the profile's directory, and the compiler's libraries.
    fn library_path(
        &self,
        build: &CdylibBuild<'_>,
        library: &Utf8Path,
        compiler_libraries: &Utf8Path,
    ) -> Vec<Utf8PathBuf> {
        let linked = self
            .build_scripts
            .iter()
            .flat_map(|script| &script.linked_paths)
            .map(|path| without_kind(path));
        let linked = linked.filter(|path| build.workspace.is_build_output(path) && path.is_dir());
        let profile = match &build.target {
            CargoTarget::Library => library.parent(),
            CargoTarget::Example { .. } => library.parent().and_then(Utf8Path::parent),
        };
        let own = profile
            .into_iter()
            .flat_map(|directory| [directory.join("deps"), directory.to_owned()]);
        let mut path: Vec<Utf8PathBuf> = Vec::new();
        for directory in linked
            .map(Utf8Path::to_owned)
            .chain(own)
            .chain([compiler_libraries.to_owned()])
        {
            if !path.contains(&directory) {
                path.push(directory);
            }
        }
        path
    }
}

fn unreadable(library: &BuiltLibrary) -> impl FnOnce(io::Error) -> BuildError {
    let library = library.library.clone();
    move |source| BuildError::LibraryUnreadable {
        library,
        source: source.into(),
    }
}

/// Strips the kind from a path such as `native=/dir`, as build scripts print it.
fn without_kind(path: &Utf8Path) -> &Utf8Path {
    const KINDS: [&str; 5] = ["dependency", "crate", "native", "framework", "all"];
    match path.as_str().split_once('=') {
        Some((kind, directory)) if KINDS.contains(&kind) => Utf8Path::new(directory),
        _ => path,
    }
}

/// Returns how cargo's `--package` names a package. Its id has its path, in which cargo would take
/// some characters for a pattern.
fn selector(package: &Package) -> String {
    match package.id.repr.contains(['[', ']', '*', '?']) {
        true => format!("{}@{}", package.name, package.version),
        false => package.id.repr.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_of_a_link_path_is_stripped() {
        assert_eq!(without_kind(Utf8Path::new("native=/w/target/out")), "/w/target/out");
        assert_eq!(without_kind(Utf8Path::new("/w/a=b")), "/w/a=b");
    }
}
