//! The workspace as `cargo metadata` describes it.

use std::collections::HashSet;
use std::io::{self, Read};
use std::process::Stdio;
use std::thread;

use camino::{Utf8Path, Utf8PathBuf};
use cargo_metadata::{DependencyKind, Metadata, Node, Package, PackageId};

use super::cargo::{Cargo, CargoArguments, pass_on, stopped_by_interrupt};
use super::compiler::Compiler;
use super::package_metadata::features_of;
use super::suitable_targets::is_library;
use super::{BuildError, BuildOptions, FeatureSelection};
use gpubench_diagnostic::AtMost;
use gpubench_report::Color;

/// The package that a library with benchmarks depends on.
pub(super) const RUNTIME_PACKAGE: &str = "gpubench";

/// What cargo's resolver prints when two packages claim the runtime's `links` key.
const LINKS_CONFLICT: &str = "links to the native library `gpubench`";

/// What cargo prints when no selected package has a requested feature: `the package 'a' does not
/// contain these features: …`, or `none of the selected packages contains this feature: …`.
const NO_FEATURE: [&str; 4] = [
    "contain this feature: ",
    "contain these features: ",
    "contains this feature: ",
    "contains these features: ",
];

/// A resolved workspace.
#[derive(Debug)]
pub(super) struct Workspace {
    metadata: Metadata,
    pub(super) target_directory: Utf8PathBuf,
}

impl Workspace {
    /// Loads the workspace with `cargo metadata`.
    ///
    /// # Errors
    ///
    /// Cargo does not start or fails, or several versions of the runtime are in the graph.
    pub(super) fn load(cargo: &Cargo, compiler: &Compiler, options: &BuildOptions) -> Result<Self, BuildError> {
        let mut metadata = described(cargo, compiler, options)?;
        let wanted: Vec<String> = metadata
            .workspace_packages()
            .into_iter()
            .flat_map(features_of)
            .collect();
        if !wanted.is_empty() {
            // The dependencies of a package depend on the features that its manifest asks for.
            let mut options = options.clone();
            options.features.features.extend(wanted);
            metadata = described(cargo, compiler, &options)?;
        }
        refuse_several_runtimes(&metadata)?;
        let target_directory = match &options.compilation.target_dir {
            Some(directory) => absolute(directory)?,
            None => metadata.target_directory.clone(),
        };
        Ok(Self {
            metadata,
            target_directory,
        })
    }

    /// Returns whether a directory belongs to this build, so that its libraries may be loaded.
    pub(super) fn is_build_output(&self, directory: &Utf8Path) -> bool {
        let build_directory = self.metadata.build_directory.as_deref();
        directory.starts_with(&self.target_directory)
            || build_directory.is_some_and(|build| directory.starts_with(build))
    }

    /// Returns the folders of all packages that a library may contain.
    pub(super) fn folders(&self) -> Vec<&Utf8Path> {
        let packages = self.metadata.packages.iter();
        packages.filter_map(|package| package.manifest_path.parent()).collect()
    }

    /// Returns every package of the workspace.
    pub(super) fn members(&self) -> Vec<&Package> {
        self.metadata.workspace_packages()
    }

    /// Returns the packages that cargo builds if none is named.
    ///
    /// # Errors
    ///
    /// Cargo is older than 1.71 and does not report them.
    pub(super) fn default_members(&self) -> Result<Vec<&Package>, BuildError> {
        if !self.metadata.workspace_default_members.is_available() {
            return Err(BuildError::MetadataIncomplete {
                what: "the default members, which cargo 1.71 and later report",
            });
        }
        Ok(self.metadata.workspace_default_packages())
    }

    /// Returns whether a package depends on the runtime directly, by one of these kinds of
    /// dependencies.
    pub(super) fn depends_on_runtime(&self, package: &PackageId, kinds: &[DependencyKind]) -> bool {
        self.node(package).is_some_and(|node| {
            node.deps.iter().any(|dependency| {
                dependency.dep_kinds.iter().any(|kind| kinds.contains(&kind.kind))
                    && self.metadata[&dependency.pkg].name.as_str() == RUNTIME_PACKAGE
            })
        })
    }

    /// Returns the package with a library that can have benchmarks, and that has the name of a
    /// crate which links it: an example of `package`.
    pub(super) fn library_named(&self, crate_name: &str, package: &Package) -> Option<&Package> {
        let mut seen = HashSet::from([&package.id]);
        let mut unread = vec![&package.id];
        while let Some(id) = unread.pop() {
            let candidate = &self.metadata[id];
            let mut targets = candidate.targets.iter();
            if self.depends_on_runtime(id, &[DependencyKind::Normal])
                && targets
                    .any(|target| target.kind.iter().any(is_library) && target.name.replace('-', "_") == crate_name)
            {
                return Some(candidate);
            }
            let dependencies = self.node(id).into_iter().flat_map(|node| &node.dependencies);
            unread.extend(dependencies.filter(|dependency| seen.insert(dependency)));
        }
        None
    }

    fn node(&self, package: &PackageId) -> Option<&Node> {
        let nodes = &self.metadata.resolve.as_ref()?.nodes;
        nodes.iter().find(|node| node.id == *package)
    }

    /// Returns the version of the runtime that the packages depend on. There is exactly one:
    /// several are an error, and a library with benchmarks needs one.
    pub(super) fn runtime_version(&self) -> String {
        let runtime = |package: &&Package| package.name.as_str() == RUNTIME_PACKAGE;
        let found = self.metadata.packages.iter().find(runtime);
        found.map(|package| package.version.to_string()).unwrap_or_default()
    }

    #[cfg(test)]
    pub(super) fn from_metadata(metadata: Metadata) -> Self {
        Self {
            target_directory: metadata.target_directory.clone(),
            metadata,
        }
    }
}

/// Returns the folders of the packages that a build reads in place: those of the workspace and
/// those that manifests name by path. Cargo neither fetches nor unpacks them.
///
/// # Errors
/// Cargo does not start or cannot resolve the dependencies.
pub fn local_packages(options: &BuildOptions) -> Result<Vec<Utf8PathBuf>, BuildError> {
    let Workspace { metadata, .. } = Workspace::load(&Cargo::from_environment(), &Compiler::ask()?, options)?;
    let local = metadata.packages.iter().filter(|package| package.source.is_none());
    let folders = local.filter_map(|package| package.manifest_path.parent());
    Ok(folders.map(Utf8Path::to_owned).collect())
}

/// Returns whether a manifest of the workspace names the runtime, whatever features it needs.
///
/// # Errors
/// Cargo does not start or cannot resolve the dependencies.
pub fn names_runtime(options: &BuildOptions) -> Result<bool, BuildError> {
    let options = BuildOptions {
        features: FeatureSelection::default(),
        ..options.clone()
    };
    let workspace = Workspace::load(&Cargo::from_environment(), &Compiler::ask()?, &options)?;
    let mut dependencies = workspace
        .members()
        .into_iter()
        .flat_map(|package| &package.dependencies);
    Ok(dependencies.any(|dependency| dependency.name == RUNTIME_PACKAGE))
}

pub(super) fn absolute(directory: &Utf8Path) -> Result<Utf8PathBuf, BuildError> {
    camino::absolute_utf8(directory).map_err(|source| BuildError::TargetDirectory {
        directory: directory.to_owned(),
        source,
    })
}

fn described(cargo: &Cargo, compiler: &Compiler, options: &BuildOptions) -> Result<Metadata, BuildError> {
    let answer = ask_cargo(cargo, compiler, options)?;
    serde_json::from_str(&answer).map_err(|source| BuildError::MetadataUnreadable { source })
}

/// Most bytes of the output of `cargo metadata`. Each package can add arbitrary metadata.
const LONGEST_METADATA: u64 = 512 << 20;

/// Runs `cargo metadata`. Forwards its standard error while it runs, and searches it for a known
/// conflict.
///
/// Without a platform, cargo would need the packages of every platform, and `--offline` would fail
/// for packages that were never built here.
fn ask_cargo(cargo: &Cargo, compiler: &Compiler, options: &BuildOptions) -> Result<String, BuildError> {
    let mut command = cargo.command("metadata");
    command.args(["--format-version", "1", "--filter-platform", &compiler.host]);
    options.manifest.add_to(&mut command);
    options.features.add_to(&mut command);
    command.args(options.quiet.then_some("--quiet"));
    color_through_a_pipe(options.color).add_to(&mut command);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());

    let mut child = command.spawn().map_err(cargo.not_started())?;
    let errors = child.stderr.take().map(|stderr| thread::spawn(move || pass_on(stderr)));
    let mut answer = String::new();
    if let Some(stdout) = child.stdout.take() {
        let mut stdout = AtMost::new(stdout, LONGEST_METADATA);
        stdout.read_to_string(&mut answer).map_err(cargo.lost())?;
    }
    let status = child.wait().map_err(cargo.lost())?;
    let errors = errors.and_then(|reader| reader.join().ok()).unwrap_or_default();

    if status.success() {
        Ok(answer)
    } else if stopped_by_interrupt(status) {
        Err(BuildError::Interrupted)
    } else {
        let errors = String::from_utf8_lossy(&errors);
        let complaint = anstream::adapter::strip_str(&errors).to_string();
        Err(if complaint.contains(LINKS_CONFLICT) {
            BuildError::SeveralRuntimes { versions: Vec::new() }
        } else if NO_FEATURE.iter().any(|words| complaint.contains(words)) {
            BuildError::FeatureNotFound
        } else {
            BuildError::MetadataFailed { status }
        })
    }
}

/// Cargo's standard error is a pipe, so it cannot detect a terminal itself.
fn color_through_a_pipe(color: Color) -> Color {
    match color {
        Color::Auto => match anstream::AutoStream::choice(&io::stderr()) {
            anstream::ColorChoice::Never => Color::Never,
            _ => Color::Always,
        },
        decided => decided,
    }
}

fn refuse_several_runtimes(metadata: &Metadata) -> Result<(), BuildError> {
    let versions: Vec<_> = metadata
        .packages
        .iter()
        .filter(|package| package.name.as_str() == RUNTIME_PACKAGE)
        .map(|package| package.version.to_string())
        .collect();
    match versions.len() {
        0 | 1 => Ok(()),
        _ => Err(BuildError::SeveralRuntimes { versions }),
    }
}

/// Handwritten metadata for tests.
#[cfg(test)]
pub(super) mod sample {
    use serde_json::{Value, json};

    use super::*;

    /// Returns the identifier of the member `name`.
    pub(crate) fn id(name: &str) -> String {
        format!("path+file:///w/{name}#0.1.0")
    }

    fn package_json(name: &str, fields: Value) -> Value {
        let mut package = json!({
            "name": name, "version": "0.1.0", "id": id(name), "source": null,
            "dependencies": [], "features": {}, "manifest_path": format!("/w/{name}/Cargo.toml"),
            "targets": [target("lib")],
        });
        for (key, value) in fields.as_object().expect("fields are an object") {
            package[key] = value.clone();
        }
        package
    }

    /// Returns a target of one kind.
    pub(crate) fn target(kind: &str) -> Value {
        json!({ "name": "x", "kind": [kind], "crate_types": [kind], "src_path": "/w/x.rs", "edition": "2024" })
    }

    /// Returns a package of version 0.1.0 with a library; `fields` replace its default fields.
    pub(crate) fn package(name: &str, fields: Value) -> Package {
        serde_json::from_value(package_json(name, fields)).expect("a package")
    }

    /// Returns a workspace of packages. Each has a name, the kind of its dependency on the runtime
    /// if any, and replaced fields.
    pub(crate) fn workspace(packages: &[(&str, Option<Value>, Value)], default_members: &[&str]) -> Workspace {
        let members: Vec<_> = packages.iter().map(|(name, ..)| id(name)).collect();
        let runtime = package_json(RUNTIME_PACKAGE, json!({}));
        let all: Vec<_> = packages
            .iter()
            .map(|(name, _, fields)| package_json(name, fields.clone()))
            .chain([runtime])
            .collect();
        let nodes: Vec<_> = packages
            .iter()
            .map(|(name, kind, _)| {
                let deps: Vec<_> = kind
                    .iter()
                    .map(|kind| {
                        json!({ "name": "gpubench", "pkg": id(RUNTIME_PACKAGE), "dep_kinds": [{ "kind": kind, "target": null }] })
                    })
                    .collect();
                json!({ "id": id(name), "deps": deps, "dependencies": [], "features": [] })
            })
            .collect();
        let metadata = json!({
            "packages": all, "workspace_members": members,
            "workspace_default_members": default_members.iter().map(|name| id(name)).collect::<Vec<_>>(),
            "resolve": { "nodes": nodes, "root": null }, "workspace_root": "/w", "target_directory": "/w/target",
            "version": 1, "metadata": null,
        });
        Workspace::from_metadata(serde_json::from_value(metadata).expect("metadata"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn two_runtime_versions_in_one_graph_are_refused() {
        let two = json!({ "name": RUNTIME_PACKAGE, "version": "0.2.0" });
        let workspace = sample::workspace(&[("other-runtime", None, two)], &[]);
        let error = refuse_several_runtimes(&workspace.metadata).expect_err("two versions");
        assert_eq!(
            error.to_string(),
            "the dependency graph has several versions of `gpubench` (0.2.0, 0.1.0)"
        );
    }

    #[test]
    fn a_dependency_on_the_runtime_counts_by_its_kind() {
        let workspace = sample::workspace(
            &[
                ("normal", Some(json!(null)), json!({})),
                ("dev", Some(json!("dev")), json!({})),
                ("none", None, json!({})),
            ],
            &[],
        );
        let (normal, development) = (DependencyKind::Normal, DependencyKind::Development);
        let depends =
            |name: &str, kinds: &[_]| workspace.depends_on_runtime(&PackageId { repr: sample::id(name) }, kinds);
        assert!(depends("normal", &[normal]));
        assert!(!depends("dev", &[normal]));
        assert!(depends("dev", &[normal, development]));
        assert!(!depends("none", &[normal, development]));
    }
}
