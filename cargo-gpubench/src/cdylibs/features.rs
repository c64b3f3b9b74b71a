//! Features of the built packages.

use std::collections::BTreeSet;

use cargo_metadata::Package;

/// The enabled features: cargo's options of the same names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FeatureSelection {
    /// `--features`, one feature per entry: `simd`, `package/simd`.
    pub features: Vec<String>,
    /// `--no-default-features` and `--all-features`, if given, in cargo's spelling.
    pub flags: Vec<&'static str>,
}

impl FeatureSelection {
    /// Splits cargo's lists: features are separated by commas or spaces.
    pub fn split(lists: &[String]) -> Vec<String> {
        lists
            .iter()
            .flat_map(|list| list.split([',', ' ']))
            .filter(|feature| !feature.is_empty())
            .map(str::to_owned)
            .collect()
    }

    /// Returns the selection for one of several packages.
    ///
    /// Cargo requires a feature to exist in at least one package of a build. The tool builds one
    /// package at a time, so each package gets the features that it has. An unknown feature goes to
    /// every package: cargo then reports it.
    pub(super) fn for_package(&self, package: &Package, selected: &[&Package]) -> Self {
        let known_here = |feature: &String| {
            knows_feature(package, feature) || !selected.iter().any(|other| knows_feature(other, feature))
        };
        Self {
            features: self
                .features
                .iter()
                .filter(|feature| known_here(feature))
                .cloned()
                .collect(),
            flags: self.flags.clone(),
        }
    }
}

impl FeatureSelection {
    /// Returns every feature of a package that the selection enables, directly or through others.
    /// Features of its dependencies are `dependency/feature`.
    pub(super) fn enabled_in(&self, package: &Package) -> BTreeSet<String> {
        let own = |feature: &String| match feature.split_once('/') {
            Some((owner, feature)) if owner == package.name.as_str() => feature.to_owned(),
            _ => feature.clone(),
        };
        let mut unread: Vec<String> = self.features.iter().map(own).collect();
        if self.flags.contains(&"--all-features") {
            unread.extend(package.features.keys().cloned());
        }
        if !self.flags.contains(&"--no-default-features") {
            unread.push("default".to_owned());
        }
        let mut enabled = BTreeSet::new();
        while let Some(feature) = unread.pop() {
            if enabled.insert(feature.clone()) {
                unread.extend(package.features.get(&feature).into_iter().flatten().cloned());
            }
        }
        enabled
    }
}

fn knows_feature(package: &Package, feature: &str) -> bool {
    let Some((owner, feature_of_owner)) = feature.split_once('/') else {
        return package.features.contains_key(feature);
    };
    let owner = owner.trim_end_matches('?');
    if owner == package.name.as_str() {
        return package.features.contains_key(feature_of_owner);
    }
    package
        .dependencies
        .iter()
        .any(|dependency| dependency.rename.as_ref().unwrap_or(&dependency.name) == owner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cdylibs::metadata::sample::package;

    fn selection(features: &[&str]) -> FeatureSelection {
        FeatureSelection {
            features: features.iter().map(|f| f.to_string()).collect(),
            ..Default::default()
        }
    }

    #[test]
    fn each_package_gets_the_features_it_knows() {
        let a = package("a", serde_json::json!({ "features": { "fast": [] } }));
        let b = package("b", serde_json::json!({ "features": { "wide": [] } }));
        let all = [&a, &b];
        let asked = selection(&["fast", "b/wide"]);
        assert_eq!(asked.for_package(&a, &all), selection(&["fast"]));
        assert_eq!(asked.for_package(&b, &all), selection(&["b/wide"]));
    }

    #[test]
    fn an_unknown_feature_goes_to_every_package_for_cargo_to_report() {
        let a = package("a", serde_json::json!({}));
        let b = package("b", serde_json::json!({}));
        assert_eq!(selection(&["typo"]).for_package(&b, &[&a, &b]), selection(&["typo"]));
    }

    #[test]
    fn features_enable_others_as_cargo_enables_them() {
        let features = serde_json::json!({ "default": ["fast"], "fast": ["wide", "dep/simd"], "wide": [], "odd": [] });
        let package = package("a", serde_json::json!({ "features": features }));
        let enabled = |features: &[&str], flags: &[&'static str]| {
            let flags = flags.to_vec();
            let selection = FeatureSelection {
                flags,
                ..selection(features)
            };
            Vec::from_iter(selection.enabled_in(&package))
        };
        assert_eq!(enabled(&[], &[]), ["default", "dep/simd", "fast", "wide"]);
        assert_eq!(enabled(&["a/odd", "wide"], &["--no-default-features"]), ["odd", "wide"]);
        assert_eq!(
            enabled(&[], &["--all-features"]),
            ["default", "dep/simd", "fast", "odd", "wide"]
        );
    }

    #[test]
    fn lists_are_split_at_commas_and_spaces() {
        assert_eq!(
            FeatureSelection::split(&["a,b c".to_owned(), " d".to_owned()]),
            ["a", "b", "c", "d"]
        );
    }
}
