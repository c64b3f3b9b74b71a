//! The targets of a package that can have benchmarks, according to its manifest.

use cargo_metadata::{CrateType, DependencyKind, Package, Target, TargetKind};

use super::metadata::{RUNTIME_PACKAGE, Workspace};
use super::overlooked::Overlooked;
use super::package_metadata::{features_of, opted_out};
use super::{BuildNotice, CargoTarget, FeatureSelection, Unsuitable};

/// The targets of a package that can have benchmarks; at least one.
#[derive(Debug)]
pub(super) struct SuitableTargets {
    pub(super) targets: Vec<CargoTarget>,
    /// The examples that need other features.
    pub(super) left_out: Vec<BuildNotice>,
}

/// Returns the library, if it depends on the runtime, and the examples of type `cdylib`, if they
/// can depend on it.
///
/// # Errors
/// There are none; the reason is the one that the user can probably do something about.
pub(super) fn suitable_targets(
    workspace: &Workspace,
    package: &Package,
    features: &FeatureSelection,
) -> Result<SuitableTargets, Unsuitable> {
    if opted_out(package) {
        return Err(Unsuitable::OptedOut);
    }
    if package.name.as_str() == RUNTIME_PACKAGE {
        return Err(Unsuitable::IsRuntime);
    }
    let library = suitable_library(workspace, package);
    let mut targets: Vec<CargoTarget> = library.iter().map(|()| CargoTarget::Library).collect();
    let mut left_out = Vec::new();
    for example in examples(workspace, package) {
        let missing = missing_features(example, package, features);
        if missing.is_empty() {
            targets.push(CargoTarget::Example {
                name: example.name.clone(),
            });
        } else {
            left_out.push((example.name.clone(), missing));
        }
    }
    match (library, left_out.first()) {
        (Err(_), Some((example, features))) if targets.is_empty() => Err(Unsuitable::ExampleFeaturesOff {
            example: example.clone(),
            features: features.clone(),
        }),
        (Err(reason), None) if targets.is_empty() => Err(reason),
        _ => Ok(SuitableTargets {
            targets,
            left_out: left_out
                .into_iter()
                .map(|(example, features)| BuildNotice::ExampleLeftOut {
                    package: package.name.to_string(),
                    example,
                    features,
                })
                .collect(),
        }),
    }
}

/// Checks whether the library can have benchmarks.
fn suitable_library(workspace: &Workspace, package: &Package) -> Result<(), Unsuitable> {
    let on_runtime = workspace.depends_on_runtime(&package.id, &[DependencyKind::Normal]);
    let mut kinds = package.targets.iter().flat_map(|target| &target.kind);
    if kinds.clone().any(|kind| *kind == TargetKind::ProcMacro) {
        return Err(Unsuitable::ProcMacro);
    }
    if !on_runtime {
        return Err(without_runtime(package));
    }
    if !kinds.any(is_library) {
        return Err(Unsuitable::NoLibrary);
    }
    Ok(())
}

/// Returns the examples of type `cdylib`. An example can use the dependencies of tests, too.
fn examples<'a>(workspace: &Workspace, package: &'a Package) -> impl Iterator<Item = &'a Target> {
    let kinds = [DependencyKind::Normal, DependencyKind::Development];
    let on_runtime = workspace.depends_on_runtime(&package.id, &kinds);
    let targets = package.targets.iter().filter(move |_| on_runtime);
    targets.filter(|target| target.is_example() && target.crate_types.contains(&CrateType::CDyLib))
}

fn missing_features(example: &Target, package: &Package, features: &FeatureSelection) -> Vec<String> {
    let mut all = features.clone();
    all.features.extend(features_of(package));
    let enabled = all.enabled_in(package);
    let required = example.required_features.iter();
    required
        .filter(|feature| !enabled.contains(*feature))
        .cloned()
        .collect()
}

/// Returns why a library does not depend on the runtime, even if its manifest names it.
fn without_runtime(package: &Package) -> Unsuitable {
    let named = package
        .dependencies
        .iter()
        .filter(|dependency| dependency.name == RUNTIME_PACKAGE);
    let optional = named.clone().find(|dependency| dependency.optional);
    if let Some(dependency) = optional {
        let name = dependency.rename.as_ref().unwrap_or(&dependency.name);
        let turns_on = |values: &[String]| {
            let mut values = values.iter().map(|value| value.strip_prefix("dep:").unwrap_or(value));
            values.any(|value| value == name)
        };
        // A feature that the user declared explains more than the implicit one of the dependency.
        let by_own = package
            .features
            .iter()
            .find(|(feature, values)| *feature != name && turns_on(values));
        let feature = by_own.map_or(name, |(feature, _)| feature).clone();
        return Unsuitable::FeatureOff { feature };
    }
    if named
        .clone()
        .any(|dependency| dependency.kind == DependencyKind::Development)
    {
        Unsuitable::DevRuntime {
            overlooked: Overlooked::in_package(package),
        }
    } else {
        Unsuitable::NoRuntime
    }
}

pub(super) fn is_library(kind: &TargetKind) -> bool {
    matches!(
        kind,
        TargetKind::Lib | TargetKind::RLib | TargetKind::DyLib | TargetKind::CDyLib | TargetKind::StaticLib
    )
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::cdylibs::metadata::sample::{target, workspace};

    fn example(name: &str, crate_type: &str, required: &[&str]) -> Value {
        let mut example = target("example");
        example["name"] = json!(name);
        example["crate_types"] = json!([crate_type]);
        example["required-features"] = json!(required);
        example
    }

    /// Returns the targets of a package with these targets, dependency and features.
    fn targets(runtime: Value, targets: &[Value], features: &[&str]) -> Result<SuitableTargets, Unsuitable> {
        let fields = json!({
            "targets": targets,
            "features": { "cuda": [], "all": ["cuda", "dep:other"] },
            "dependencies": [{ "name": "gpubench", "req": "*", "kind": runtime, "optional": false,
                "uses_default_features": true, "features": [], "source": null, "target": null,
                "rename": null, "registry": null }],
        });
        let workspace = workspace(&[("kernels", Some(runtime), fields)], &[]);
        let features = FeatureSelection {
            features: features.iter().map(|feature| (*feature).to_owned()).collect(),
            ..FeatureSelection::default()
        };
        suitable_targets(&workspace, workspace.members()[0], &features)
    }

    fn named(targets: &[&str]) -> Vec<CargoTarget> {
        let named = |name: &&str| match *name {
            "lib" => CargoTarget::Library,
            name => CargoTarget::Example { name: name.to_owned() },
        };
        targets.iter().map(named).collect()
    }

    #[test]
    fn examples_of_type_cdylib_may_use_dev_dependencies_and_the_library_may_not() {
        let all = [
            target("lib"),
            example("gpu", "cdylib", &[]),
            example("program", "bin", &[]),
            example("more", "cdylib", &[]),
        ];
        let of = |kind: Value| targets(kind, &all, &[]).expect("targets").targets;
        assert_eq!(of(json!("dev")), named(&["gpu", "more"]));
        assert_eq!(of(Value::Null), named(&["lib", "gpu", "more"]));
        assert!(matches!(targets(json!("build"), &all, &[]), Err(Unsuitable::NoRuntime)));
    }

    #[test]
    fn examples_do_not_need_a_library() {
        for other in ["bin", "proc-macro", "cdylib"] {
            let all = [target(other), example("gpu", "cdylib", &[])];
            let found = targets(json!("dev"), &all, &[]).expect("targets").targets;
            assert_eq!(found, named(&["gpu"]), "{other}");
        }
    }

    #[test]
    fn an_example_whose_features_are_off_is_left_out_and_told() {
        let all = [target("lib"), example("gpu", "cdylib", &["cuda"])];
        for on in ["cuda", "all", "kernels/cuda"] {
            let found = targets(json!("dev"), &all, &[on]).expect("targets").targets;
            assert_eq!(found, named(&["gpu"]), "{on}");
        }
        assert_eq!(
            targets(json!("dev"), &all, &[]).expect_err("nothing is left"),
            Unsuitable::ExampleFeaturesOff {
                example: "gpu".to_owned(),
                features: vec!["cuda".to_owned()]
            }
        );
        let found = targets(Value::Null, &all, &[]).expect("the library");
        assert_eq!(found.targets, named(&["lib"]));
        assert_eq!(
            found.left_out[0].to_string(),
            "example `gpu` of package `kernels` is left out, because it needs a feature that is off (hint: try `--features cuda`)"
        );
    }
}
