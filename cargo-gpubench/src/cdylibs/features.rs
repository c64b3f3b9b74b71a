//! Features of the built packages.

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
    fn lists_are_split_at_commas_and_spaces() {
        assert_eq!(
            FeatureSelection::split(&["a,b c".to_owned(), " d".to_owned()]),
            ["a", "b", "c", "d"]
        );
    }
}
