//! The tool's settings in a manifest: `[package.metadata.gpubench]`.

use cargo_metadata::Package;
use serde_json::{Map, Value};

use super::{BuildError, BuildNotice};
use crate::config::CaseSettings;
use gpubench_contract::renamed;
use gpubench_diagnostic::closest;

const BENCHMARKS: &str = "benchmarks";
const FEATURES: &str = "features";

/// Measurement settings of the package.
#[derive(Debug, Default)]
pub(super) struct PackageMetadata {
    pub(super) settings: CaseSettings,
    /// Features that its benchmarks need, in addition to those of the command line.
    pub(super) features: Vec<String>,
    /// Keys that have no effect.
    pub(super) unknown: Vec<BuildNotice>,
}

impl PackageMetadata {
    /// Reads the manifest's table.
    ///
    /// # Errors
    /// A value is invalid, or two values contradict each other.
    pub(super) fn from_package(package: &Package) -> Result<Self, BuildError> {
        let mut metadata = Self::default();
        let wrong = |key: &str, source: Box<dyn std::error::Error + Send + Sync>| BuildError::PackageMetadata {
            manifest: package.manifest_path.clone(),
            key: key.to_owned(),
            source,
        };
        for (key, value) in table(package).into_iter().flatten() {
            if key == BENCHMARKS {
                continue;
            }
            if key == FEATURES {
                metadata.features = features(value).ok_or_else(|| wrong(key, "it is not a list of strings".into()))?;
                continue;
            }
            if let Some(new) = renamed(key) {
                return Err(wrong(key, format!("it is called `{new}` now").into()));
            }
            if !CaseSettings::KEYS.contains(&key.as_str()) {
                let known = CaseSettings::KEYS.iter().copied().chain([BENCHMARKS, FEATURES]);
                metadata.unknown.push(BuildNotice::UnknownMetadata {
                    package: package.name.to_string(),
                    key: key.clone(),
                    closest: closest(key, known).map(str::to_owned),
                });
                continue;
            }
            let set = match value {
                Value::String(text) => metadata.settings.set(key, text),
                Value::Number(number) => metadata.settings.set(key, &number.to_string()),
                Value::Bool(flag) if CaseSettings::is_switch(key) => metadata.settings.set(key, &flag.to_string()),
                _ => return Err(wrong(key, "it is neither a string nor a number".into())),
            };
            set.map_err(|error| wrong(key, error.into()))?;
        }
        let consistent = metadata.settings.consistent();
        consistent.map_err(|error| wrong("min-samples", error.into()))?;
        Ok(metadata)
    }
}

fn features(value: &Value) -> Option<Vec<String>> {
    value
        .as_array()?
        .iter()
        .map(|feature| feature.as_str().map(str::to_owned))
        .collect()
}

/// Returns the features that a package's benchmarks need, in cargo's form for one of several
/// packages: `kernels/bench`.
pub(super) fn features_of(package: &Package) -> Vec<String> {
    let value = table(package).and_then(|table| table.get(FEATURES));
    let features = value.and_then(features).unwrap_or_default();
    features
        .iter()
        .map(|feature| format!("{}/{feature}", package.name))
        .collect()
}

fn table(package: &Package) -> Option<&Map<String, Value>> {
    package.metadata.get("gpubench")?.as_object()
}

/// Returns whether the manifest sets `benchmarks = false`.
pub(super) fn opted_out(package: &Package) -> bool {
    table(package).and_then(|table| table.get(BENCHMARKS)) == Some(&Value::Bool(false))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::cdylibs::metadata::sample::package;
    use crate::config::{SampleCount, Switch};

    fn metadata(table: Value) -> Result<PackageMetadata, BuildError> {
        PackageMetadata::from_package(&package("a", json!({ "metadata": { "gpubench": table } })))
    }

    #[test]
    fn a_package_sets_the_measurement_of_its_cases() {
        let read = metadata(json!({ "benchmarks": true, "max-samples": 30, "timeout": "1min" })).expect("settings");
        assert_eq!(read.settings.max_samples, Some(SampleCount::new(30)));
        assert_eq!(read.settings.entries().len(), 2);
        assert!(read.unknown.is_empty());
    }

    #[test]
    fn a_package_turns_switches_on_and_off() {
        for (flag, switch) in [(true, Switch::On), (false, Switch::Off)] {
            let read = metadata(json!({ "cooldown": flag })).expect("a switch");
            assert_eq!(read.settings.cooldown, Some(switch));
        }
    }

    #[test]
    fn a_package_names_the_features_of_its_benchmarks() {
        let table = json!({ "features": ["bench", "wide"] });
        assert_eq!(metadata(table.clone()).expect("features").features, ["bench", "wide"]);
        let package = package("a", json!({ "metadata": { "gpubench": table } }));
        assert_eq!(features_of(&package), ["a/bench", "a/wide"]);
        let error = metadata(json!({ "features": "bench" })).expect_err("no list");
        assert!(gpubench_diagnostic::chain(&error).ends_with("it is not a list of strings"));
    }

    #[test]
    fn an_unknown_key_is_a_notice_with_a_suggestion() {
        let read = metadata(json!({ "timeot": "1min" })).expect("no error");
        assert_eq!(
            read.unknown[0].to_string(),
            "unknown key `timeot` in `[package.metadata.gpubench]` of package `a` has no effect (hint: did you mean `timeout`?)"
        );
    }

    #[test]
    fn a_key_that_was_renamed_is_refused_with_its_new_name() {
        let error = metadata(json!({ "sleep-after-run": true })).expect_err("an old word");
        let error = gpubench_diagnostic::chain(&error);
        assert!(
            error.contains("`sleep-after-run`") && error.ends_with("it is called `cooldown` now"),
            "{error}"
        );
    }

    #[test]
    fn an_invalid_value_is_an_error_that_names_the_manifest() {
        for (table, reason) in [
            (json!({ "timeout": 10 }), "must be a number with a unit"),
            (json!({ "timeout": true }), "neither a string nor a number"),
            (json!({ "min-samples": 3, "max-samples": 2 }), "is more than"),
        ] {
            let error = metadata(table).expect_err(reason);
            let text = gpubench_diagnostic::chain(&error);
            assert!(text.contains("`/w/a/Cargo.toml`") && text.contains(reason), "{text}");
        }
    }
}
