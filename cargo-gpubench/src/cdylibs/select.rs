//! Selection of packages: cargo's own selection, without packages that cannot have benchmarks.

use cargo_metadata::Package;

use super::metadata::Workspace;
use super::suitable_targets::{SuitableTargets, suitable_targets};
use super::{BuildError, BuildNotice, CargoTarget, FeatureSelection, PackageSpec};
use gpubench_diagnostic::closest;

/// The requested packages of the workspace: cargo's options of the same names.
#[derive(Clone, Debug, Default)]
pub enum PackageSelection {
    /// Cargo's default: the package of the current directory, or the default members.
    #[default]
    Default,
    /// `--package`, at least once.
    Named(Vec<PackageSpec>),
    /// `--workspace`, without every `--exclude`.
    Workspace {
        /// `--exclude`.
        exclude: Vec<PackageSpec>,
    },
}

impl PackageSelection {
    /// Returns the selection without a package that one of several `--package` names. `None` if
    /// none names it exactly, or nothing would be left.
    pub fn without(&self, package: &str) -> Option<PackageSelection> {
        let PackageSelection::Named(named) = self else {
            return None;
        };
        let left: Vec<_> = named
            .iter()
            .filter(|spec| spec.to_string() != package)
            .cloned()
            .collect();
        (!left.is_empty() && left.len() < named.len()).then_some(PackageSelection::Named(left))
    }
}

/// How many packages that can have benchmarks are built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// All packages of the workspace.
    Workspace,
    /// Possibly not all.
    Part,
}

/// The packages to build.
#[derive(Debug)]
pub(super) struct Selected<'a> {
    pub(super) packages: Vec<SelectedPackage<'a>>,
    pub(super) coverage: Coverage,
    pub(super) notices: Vec<BuildNotice>,
}

/// A package to build.
#[derive(Debug)]
pub(super) struct SelectedPackage<'a> {
    pub(super) package: &'a Package,
    pub(super) request: Request,
    /// What of it is built; at least one.
    pub(super) targets: Vec<CargoTarget>,
}

/// How a package was selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// By name: having no benchmarks is an error.
    ByName,
    /// With others: having no benchmarks is normal.
    AmongOthers,
}

/// Selects the packages to build.
///
/// # Errors
///
/// A name matches no package or several, a named package cannot have benchmarks, or no package is
/// left.
pub(super) fn select_packages<'a>(
    workspace: &'a Workspace,
    selection: &PackageSelection,
    features: &FeatureSelection,
) -> Result<Selected<'a>, BuildError> {
    let (asked, mut notices) = asked_for(workspace, selection)?;
    let mut packages = Vec::new();
    let mut considered = Vec::new();
    for (package, request) in asked {
        match (suitable_targets(workspace, package, features), request) {
            (Ok(SuitableTargets { targets, left_out }), _) => {
                notices.extend(left_out);
                packages.push(SelectedPackage {
                    package,
                    request,
                    targets,
                });
            }
            (Err(reason), Request::ByName) => {
                return Err(BuildError::Unsuitable {
                    package: package.name.to_string(),
                    reason,
                });
            }
            (Err(reason), Request::AmongOthers) => considered.push((package.name.to_string(), reason)),
        }
    }
    if packages.is_empty() {
        return Err(BuildError::NoSuitablePackage { considered });
    }
    let coverage = coverage(workspace, &packages, features);
    Ok(Selected {
        packages,
        coverage,
        notices,
    })
}

fn coverage(workspace: &Workspace, selected: &[SelectedPackage<'_>], features: &FeatureSelection) -> Coverage {
    let is_selected = |package: &Package| selected.iter().any(|selected| selected.package.id == package.id);
    let mut members = workspace.members().into_iter();
    if members.all(|member| is_selected(member) || suitable_targets(workspace, member, features).is_err()) {
        Coverage::Workspace
    } else {
        Coverage::Part
    }
}

/// The requested packages.
type Asked<'a> = Vec<(&'a Package, Request)>;

/// Returns the requested packages in workspace order, each once, and warnings about the selection.
fn asked_for<'a>(
    workspace: &'a Workspace,
    selection: &PackageSelection,
) -> Result<(Asked<'a>, Vec<BuildNotice>), BuildError> {
    let members = workspace.members();
    let (mut packages, mut specs, mut notices) = (members.clone(), &[][..], Vec::new());
    match selection {
        PackageSelection::Default => packages = workspace.default_members()?,
        PackageSelection::Named(named) => {
            named.iter().try_for_each(|spec| refuse_unless_clear(&members, spec))?;
            packages.retain(|package| named.iter().any(|spec| spec.fits(package)));
            specs = named;
        }
        PackageSelection::Workspace { exclude } => {
            packages.retain(|package| !exclude.iter().any(|spec| spec.fits(package)));
            let unknown = exclude
                .iter()
                .filter(|spec| !members.iter().any(|package| spec.fits(package)));
            notices.extend(unknown.map(|spec| BuildNotice::ExcludedNotFound { spec: spec.to_string() }));
        }
    }
    let selected = packages.into_iter().map(|package| {
        let by_name = specs.iter().any(|spec| !spec.is_pattern() && spec.fits(package));
        let request = if by_name { Request::ByName } else { Request::AmongOthers };
        (package, request)
    });
    Ok((selected.collect(), notices))
}

fn refuse_unless_clear(members: &[&Package], spec: &PackageSpec) -> Result<(), BuildError> {
    let fitting: Vec<_> = members.iter().filter(|package| spec.fits(package)).collect();
    match fitting.len() {
        0 => {
            let names: Vec<_> = members.iter().map(|package| package.name.to_string()).collect();
            let closest = closest(&spec.to_string(), names.iter().map(String::as_str)).map(str::to_owned);
            Err(BuildError::PackageNotFound {
                spec: spec.to_string(),
                members: names,
                closest,
            })
        }
        2.. if !spec.is_pattern() => Err(BuildError::PackageAmbiguous {
            spec: spec.to_string(),
            candidates: fitting.iter().map(|package| package.id.repr.clone()).collect(),
        }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::cdylibs::Unsuitable;
    use crate::cdylibs::metadata::sample::{target, workspace};

    const NORMAL: Option<Value> = Some(Value::Null);

    fn specs(texts: &[&str]) -> Vec<PackageSpec> {
        texts
            .iter()
            .map(|text| text.parse().expect("a specification"))
            .collect()
    }

    fn sample() -> Workspace {
        workspace(
            &[
                ("kernels", NORMAL, json!({})),
                ("more-kernels", NORMAL, json!({})),
                (
                    "tool",
                    NORMAL,
                    json!({ "metadata": { "gpubench": { "benchmarks": false } } }),
                ),
                ("macros", NORMAL, json!({ "targets": [target("proc-macro")] })),
                ("app", NORMAL, json!({ "targets": [target("bin")] })),
                ("plain", None, json!({})),
                ("tested", Some(json!("dev")), json!({})),
            ],
            &["kernels", "plain"],
        )
    }

    fn names(workspace: &Workspace, selection: &PackageSelection) -> Vec<String> {
        let selected = select_packages(workspace, selection, &FeatureSelection::default()).expect("a selection");
        selected
            .packages
            .iter()
            .map(|selected| selected.package.name.to_string())
            .collect()
    }

    fn refusal(selection: &PackageSelection) -> BuildError {
        select_packages(&sample(), selection, &FeatureSelection::default()).expect_err("a refusal")
    }

    #[test]
    fn the_default_is_what_cargo_builds_by_default() {
        assert_eq!(names(&sample(), &PackageSelection::Default), ["kernels"]);
    }

    #[test]
    fn the_workspace_is_reduced_to_packages_that_can_have_benchmarks() {
        assert_eq!(
            names(&sample(), &PackageSelection::Workspace { exclude: vec![] }),
            ["kernels", "more-kernels"]
        );
        let exclude = specs(&["kernels"]);
        assert_eq!(
            names(&sample(), &PackageSelection::Workspace { exclude }),
            ["more-kernels"]
        );
    }

    #[test]
    fn a_selection_knows_whether_it_leaves_out_a_package_that_can_have_benchmarks() {
        let coverage = |selection: &PackageSelection| {
            select_packages(&sample(), selection, &FeatureSelection::default()).map(|all| all.coverage)
        };
        let all = PackageSelection::Workspace { exclude: vec![] };
        let but_one = PackageSelection::Workspace {
            exclude: specs(&["kernels"]),
        };
        assert_eq!(coverage(&all).expect("a selection"), Coverage::Workspace);
        assert_eq!(coverage(&but_one).expect("a selection"), Coverage::Part);
        assert_eq!(
            coverage(&PackageSelection::Default).expect("a selection"),
            Coverage::Part
        );
    }

    #[test]
    fn one_of_several_named_packages_can_be_left_out() {
        let named = |names: &[&str]| PackageSelection::Named(specs(names));
        let left = |selection: &PackageSelection| selection.without("new").map(|left| format!("{left:?}"));
        let kernels = format!("{:?}", named(&["kernels"]));
        assert_eq!(left(&named(&["kernels", "new"])), Some(kernels));
        for selection in [named(&["new"]), named(&["kernels"]), PackageSelection::Default] {
            assert_eq!(left(&selection), None);
        }
    }

    #[test]
    fn an_exclude_without_matches_is_a_warning() {
        let workspace = sample();
        let selection = PackageSelection::Workspace {
            exclude: specs(&["typo"]),
        };
        let selected = select_packages(&workspace, &selection, &FeatureSelection::default()).expect("a selection");
        assert_eq!(
            selected.notices,
            [BuildNotice::ExcludedNotFound {
                spec: "typo".to_owned()
            }]
        );
    }

    #[test]
    fn a_pattern_skips_unsuitable_packages_and_a_name_does_not() {
        assert_eq!(
            names(&sample(), &PackageSelection::Named(specs(&["*"]))),
            ["kernels", "more-kernels"]
        );
        for (name, reason) in [
            ("plain", Unsuitable::NoRuntime),
            ("tested", Unsuitable::NoRuntime),
            ("app", Unsuitable::NoLibrary),
            ("macros", Unsuitable::ProcMacro),
            ("tool", Unsuitable::OptedOut),
        ] {
            let error = refusal(&PackageSelection::Named(specs(&[name])));
            assert!(
                matches!(&error, BuildError::Unsuitable { package, reason: r } if package == name && *r == reason),
                "{error}"
            );
        }
    }

    #[test]
    fn an_unknown_package_has_a_suggestion() {
        let error = refusal(&PackageSelection::Named(specs(&["kernel"])));
        assert!(matches!(error, BuildError::PackageNotFound { closest: Some(name), .. } if name == "kernels"));
    }

    #[test]
    fn an_empty_selection_explains_each_package() {
        let only_plain = workspace(&[("plain", None, json!({}))], &["plain"]);
        let error = select_packages(&only_plain, &PackageSelection::Default, &FeatureSelection::default())
            .expect_err("nothing left");
        assert!(matches!(
            error,
            BuildError::NoSuitablePackage { considered } if considered == [("plain".to_owned(), Unsuitable::NoRuntime)]
        ));
    }
}
