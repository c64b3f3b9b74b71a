//! The smallest relevant change of each case.

use std::collections::HashMap;

use crate::cdylibs::BuiltLibrary;
use crate::config::{CaseLayers, CaseNames, CaseSettings};
use gpubench_contract::BenchmarkComplete;
use gpubench_store::compare::Floors;

/// The noise thresholds of the profile's overrides and the packages' manifests.
#[derive(Clone, Debug, Default)]
pub(crate) struct NoiseFloors {
    cases: CaseLayers,
    packages: HashMap<String, CaseSettings>,
}

impl NoiseFloors {
    /// Collects the thresholds of the settings of cases and of these libraries' manifests.
    pub(crate) fn new(cases: &CaseLayers, libraries: &[BuiltLibrary]) -> Self {
        let settings = |library: &BuiltLibrary| (library.package.clone(), library.settings);
        Self {
            cases: cases.clone(),
            packages: libraries.iter().map(settings).collect(),
        }
    }

    /// Returns the floors of these results.
    pub(crate) fn of_results(&self, results: &[BenchmarkComplete]) -> Floors {
        results
            .iter()
            .map(|result| (result.key(), self.of_result(result)))
            .collect()
    }

    fn of_result(&self, result: &BenchmarkComplete) -> f64 {
        let full_name = result.full_name();
        let within_package = full_name
            .strip_prefix(&result.package)
            .and_then(|name| name.strip_prefix("::"));
        let names = CaseNames {
            name: within_package.unwrap_or(&full_name),
            full_name: &full_name,
        };
        let package = self.packages.get(&result.package).copied().unwrap_or_default();
        let settings = self.cases.of_case(names, package);
        if result.metric.is_count() {
            settings.count_threshold.value()
        } else {
            settings.noise_threshold.value()
        }
    }
}
